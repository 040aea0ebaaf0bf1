"""The element in other people's pages: the address of its script, and the lines that put a survey there."""

from __future__ import annotations

import hashlib
from html import escape
from typing import Final

from sottovoce.core.integrity import integrity_of

__all__ = ["ELEMENT", "script_name", "snippet_of"]

ELEMENT: Final = "element.js"
"""The file; it is served under a name that changes with what it holds, and never under this one."""

_LETTERS: Final = 16
"""Of the hash in a name: only to tell versions apart, since the integrity attribute names the whole hash."""


def script_name(script: bytes) -> str:
    """The name under which a script is served: another one for every other content.

    Examples
    --------
    >>> script_name(b"")
    'sottovoce-38b060a751ac9638.js'
    """
    return f"sottovoce-{hashlib.sha384(script).hexdigest()[:_LETTERS]}.js"


def snippet_of(address: str, script: bytes, survey_id: str, key: str) -> str:
    """The lines for a page: the script with its integrity, and the element with the survey's id and the pinned key.

    Parameters
    ----------
    address
        Where browsers reach the collector.
    key
        The collector's public key in base64url.
    """
    source = f"{address}/embed/{script_name(script)}"
    return (
        f'<script type="module" crossorigin="anonymous" referrerpolicy="no-referrer"\n  src="{escape(source)}"\n'
        f'  integrity="{integrity_of(script)}"></script>\n'
        f'<sottovoce-survey collector="{escape(address)}"\n  survey="{escape(survey_id)}"\n'
        f'  key="{escape(key)}"></sottovoce-survey>\n'
    )
