"""The built files of the pages: read once when the process starts, packed once, and named by what they hold."""

from __future__ import annotations

import gzip
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Final

from sottovoce.core.errors import ServiceError
from sottovoce.core.integrity import integrity_of

__all__ = ["ASSETS_VARIABLE", "ELEMENT", "PAGES", "File", "Form", "load_files", "script_name", "snippet_of"]

ELEMENT: Final = "element.js"
"""The file; it is served under a name that changes with what it holds, and never under this one."""

_LETTERS: Final = 16
"""Letters of the hash in a name, which only tells versions apart: the integrity attribute has the whole hash."""


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
        The address at which browsers reach the collector.
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


ASSETS_VARIABLE: Final = "SOTTOVOCE_TEST_ASSETS"
"""A variable for tests of the pages: a folder whose files are served instead of those of the package."""

PAGES: Final = ("dashboard.html", "survey.html")
"""Served at addresses of their own, as the element is; all others under /assets."""

_MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".txt": "text/plain; charset=utf-8",
}


@dataclass(frozen=True)
class Form:
    """Bytes as they are sent, and what changes whenever they do."""

    body: bytes
    etag: str


@dataclass(frozen=True)
class File:
    """One file, ready to be sent as it is or packed."""

    name: str
    media_type: str
    plain: Form
    packed: Form | None
    """The content compressed by gzip; None if that is not shorter."""


def load_files(environ: Mapping[str, str] | None = None) -> Mapping[str, File]:
    """Every file of the pages, by its name.

    Examples
    --------
    >>> files = load_files({})
    >>> set(PAGES) <= set(files), files["icon.svg"].media_type
    (True, 'image/svg+xml')
    """
    other = (os.environ if environ is None else environ).get(ASSETS_VARIABLE)
    folder: Traversable = Path(other) if other else resources.files("sottovoce.collector.pages") / "assets"
    try:
        files = {file.name: _file(file.name, file.read_bytes()) for file in folder.iterdir() if _served(file)}
    except OSError:
        files = {}
    missing = [name for name in sorted((*PAGES, ELEMENT)) if name not in files]
    if missing:
        raise ServiceError(
            f"the pages lack {', '.join(missing)}: this package was not installed whole; install it again", "pages"
        )
    return MappingProxyType(dict(sorted(files.items())))


def _served(file: Traversable) -> bool:
    return file.is_file() and Path(file.name).suffix in _MEDIA_TYPES


def _file(name: str, content: bytes) -> File:
    # Without the time of packing: the same file gives the same bytes in every process.
    packed = gzip.compress(content, 9, mtime=0)
    return File(
        name, _MEDIA_TYPES[Path(name).suffix], _form(content), _form(packed) if len(packed) < len(content) else None
    )


def _form(body: bytes) -> Form:
    return Form(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
