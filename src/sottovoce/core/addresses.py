"""Addresses: files such as s3://bucket/folder, through fsspec; and hosts that are this machine and need no TLS."""

from __future__ import annotations

import ipaddress
import re
from importlib import import_module
from typing import Any

from sottovoce.core.errors import MissingExtraError, SottovoceError

__all__ = ["file_system", "is_address", "is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address, IPv6 with or without brackets, is of this machine alone (RFC 1122, RFC 4291)."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Whether a name is an address, not a path.

    Examples
    --------
    >>> is_address("s3://bucket/folder"), is_address("folder/file")
    (True, False)
    """
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", name) is not None


def file_system(address: str, what: str, kind: type[SottovoceError]) -> tuple[Any, str]:
    """The file system of an address or a path, and the path in it.

    Parameters
    ----------
    address
        It is not repeated in errors, nor is their cause: both may hold a password.
    what
        What the address is, as the beginning of an error.
    kind
        The error for an address that nothing can be made of.

    Raises
    ------
    MissingExtraError
        If fsspec, or the package that it needs for this kind of address, is not installed.

    Examples
    --------
    >>> file_system("nonsense://x", "objects", MissingExtraError)
    Traceback (most recent call last):
    sottovoce.core.errors.MissingExtraError: objects is not an address that fsspec understands: ...
    """
    try:
        url_to_fs = import_module("fsspec.core").url_to_fs
    except ImportError:
        raise MissingExtraError(f"{what}: files by address need fsspec: pip install 'sottovoce[objects]'").at(
            what
        ) from None
    try:
        files, root = url_to_fs(address)
    except ImportError:
        scheme = address.split(":", 1)[0]
        raise MissingExtraError(
            f"{what} is an address of the kind {scheme}, for which fsspec needs another package: pip install s3fs for "
            "s3, gcsfs for gs, adlfs for abfs"
        ).at(what) from None
    except Exception:
        raise kind(
            f"{what} is not an address that fsspec understands: give a folder, or a URL such as s3://bucket/folder"
        ).at(what) from None
    return files, str(root)
