"""The integrity of a script: what a browser compares a file with before it runs it."""

from __future__ import annotations

import base64
import hashlib

__all__ = ["integrity_of"]


def integrity_of(script: bytes) -> str:
    """The `integrity` attribute for these bytes: their SHA-384, as Subresource Integrity (W3C, 2016) writes it.

    Examples
    --------
    >>> integrity_of(b"")
    'sha384-OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb'
    """
    return "sha384-" + base64.b64encode(hashlib.sha384(script).digest()).decode()
