"""The types of settings: from what an operator wrote to the value, or a ValueError."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = [
    "Read",
    "database",
    "duration",
    "file",
    "folder",
    "host",
    "objects",
    "one_of",
    "origin",
    "origins",
    "seconds",
    "switch",
    "text",
    "whole",
]

Read: TypeAlias = Callable[[object], Any]
"""From what was given to the setting's value; raises ValueError when it is not allowed."""

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}

_YES: Final = ("yes", "true", "1")
_NO: Final = ("no", "false", "0")

_ORIGIN: Final = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+")


def text(given: object) -> str:
    """Any text without a NUL."""
    if not isinstance(given, str) or "\0" in given:
        raise ValueError
    return given


def whole(smallest: int, largest: int, *, or_zero: bool = False) -> Read:
    """A whole number in a range, as people write it: 1000, 1,000 or 1e3; with `or_zero` also 0."""

    def read(given: object) -> int:
        if isinstance(given, bool) or not isinstance(given, (int, str)):
            raise ValueError
        try:
            exact = Decimal(given.strip().replace(",", "") if isinstance(given, str) else given)
        except InvalidOperation:
            raise ValueError from None
        if not exact.is_finite() or exact.adjusted() > 30 or exact != exact.to_integral_value():
            raise ValueError
        number = int(exact)
        if not smallest <= number <= largest and not (or_zero and number == 0):
            raise ValueError
        return number

    return read


def seconds(smallest: float, largest: float) -> Read:
    """A number in a range."""

    def read(given: object) -> float:
        if isinstance(given, bool) or not isinstance(given, (int, float, str)):
            raise ValueError
        number = float(given)
        if not math.isfinite(number) or not smallest <= number <= largest:
            raise ValueError
        return number

    return read


def duration(smallest: float, largest: float) -> Read:
    """Seconds in a range, as a number or as people write them: 90s, 15m, 6h, 2d.

    Examples
    --------
    >>> [duration(0, 1e6)(given) for given in ("6h", "90s", 600)]
    [21600.0, 90.0, 600.0]
    """

    def read(given: object) -> float:
        written = re.fullmatch(r"\s*([0-9.]+)\s*([smhd])\s*", given) if isinstance(given, str) else None
        if written is None:
            return float(seconds(smallest, largest)(given))
        return float(seconds(smallest, largest)(float(written[1]) * _UNITS[written[2]]))

    return read


def one_of(*words: str) -> Read:
    """One of these words, in any case of letters."""

    def read(given: object) -> str:
        word = text(given).lower()
        if word not in words:
            raise ValueError
        return word

    return read


def switch(given: object) -> bool:
    """Yes or no, as people, shells and TOML write it.

    Examples
    --------
    >>> switch("yes"), switch("0"), switch(True)
    (True, False, True)
    """
    if isinstance(given, bool):
        return given
    word = text(given).lower()
    if word not in _YES + _NO:
        raise ValueError
    return word in _YES


def host(given: object) -> str:
    """An address or a host name."""
    name = text(given).strip("[]")
    if not re.fullmatch(r"[0-9A-Za-z_.:%-]{1,253}", name):
        raise ValueError
    return name


def folder(given: object) -> Path:
    """A folder's name; ~ is the home folder."""
    name = str(given) if isinstance(given, Path) else text(given)
    if not name:
        raise ValueError
    return Path(name).expanduser()


def file(given: object) -> str:
    """A file's name, or empty for none."""
    name = str(given) if isinstance(given, Path) else text(given)
    return str(Path(name).expanduser()) if name else ""


def database(given: object) -> str:
    """The address of a PostgreSQL database, or empty for none."""
    url = text(given)
    if url and not re.match(r"postgres(ql)?://.", url):
        raise ValueError
    return url


def objects(given: object) -> str:
    """A folder or a URL of fsspec's, or empty for none; ~ is the home folder."""
    if isinstance(given, Path):
        given = str(given)
    address = text(given)
    # A cache in between would answer for the storage; what is in memory is one process's, and gone with it.
    if "::" in address or address.lower().startswith("memory:"):
        raise ValueError
    return address if not address or "://" in address else str(Path(address).expanduser())


def origin(given: object) -> str:
    """One web origin without a slash at its end, or empty for none."""
    name = text(given).removesuffix("/")
    if name and not _ORIGIN.fullmatch(name):
        raise ValueError
    return name


def origins(given: object) -> tuple[str, ...]:
    """Web origins, as a list or with commas between them."""
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",") if part.strip()]
    if not isinstance(given, (list, tuple)):
        raise ValueError
    listed = tuple(text(part) for part in given)
    if not all(origin == "*" or _ORIGIN.fullmatch(origin) for origin in listed):
        raise ValueError
    return listed
