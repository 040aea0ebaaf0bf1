"""Typed text as values: integers, numbers, lists and records, for the command line, files and pages.

Text that does not parse is returned as it is: it is in no domain, and is refused like any other such value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final, Protocol

__all__ = ["listed_texts", "parse_integer", "parse_number", "parse_numbers", "parse_record"]

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_ITEM: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')
_PART: Final = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


class Parsing(Protocol):
    """A domain, or anything else that text can be a value of."""

    def parse(self, text: str) -> object: ...


def parse_integer(text: str) -> object:
    """An integer of up to 20 digits."""
    return int(text) if _INTEGER.fullmatch(text) else text


def parse_number(text: str) -> object:
    """A number."""
    try:
        return float(text)
    except ValueError:
        return text


def parse_numbers(text: str) -> object:
    """Numbers between commas.

    Examples
    --------
    >>> parse_numbers("0.5,-1, 2e-3"), parse_numbers("0.5,x")
    ([0.5, -1.0, 0.002], '0.5,x')
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def listed_texts(text: str) -> list[str]:
    """The parts between commas, which may be quoted as in JSON; none of an empty text.

    Examples
    --------
    >>> listed_texts('tea, "milk, warm"'), listed_texts("")
    (['tea', 'milk, warm'], [])
    """
    found, at = [], 0
    while at < len(text.rstrip()) and (part := _ITEM.match(text, at)):
        found.append(_unquoted(part[1]))
        at = part.end()
    return found


def parse_record(attributes: Iterable[tuple[str, Parsing]], text: str) -> object:
    """A record such as age=31,country=FR; a value that contains a comma is quoted as in JSON."""
    known, found, at = dict(attributes), {}, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[1] not in known or part[1] in found:
            return text
        found[part[1]] = known[part[1]].parse(_unquoted(part[2]))
        at = part.end()
    return found


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
