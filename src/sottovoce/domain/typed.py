"""Typed text as values: integers, numbers, lists and records, for the command line, files and pages.

Text that does not parse is returned as it is: it is in no domain, and is refused like any other such value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final, Protocol

from sottovoce.core.errors import DomainError

__all__ = ["listed_texts", "missing_label", "parse_integer", "parse_number", "parse_numbers", "parse_record"]

_INTEGER: Final = re.compile(r"([+-]?[0-9]{1,20})(?:\.0{1,20})?")
_ITEM: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')
_PART: Final = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


class Parsing(Protocol):
    """A domain, or anything else that text can be a value of."""

    def parse(self, text: str) -> object: ...


def missing_label(policy: object) -> str | None:
    """What missing values count as; None where they are refused.

    Examples
    --------
    >>> missing_label("as prefer not to say"), missing_label("refuse")
    ('prefer not to say', None)
    """
    label = policy.removeprefix("as ").strip() if isinstance(policy, str) and policy.startswith("as ") else ""
    if policy != "refuse" and not label:
        raise DomainError('missing must be "refuse", or "as <label>" such as "as prefer not to say"').at("missing")
    return label or None


def parse_integer(text: str) -> object:
    """An integer of up to 20 digits, perhaps with zeros behind a point, as a column with gaps is written.

    Examples
    --------
    >>> parse_integer("3"), parse_integer("3.0"), parse_integer("3.5")
    (3, 3, '3.5')
    """
    read = _INTEGER.fullmatch(text)
    return int(read[1]) if read else text


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
    """The parts between commas, which may be quoted as in JSON; an empty text has none.

    Examples
    --------
    >>> listed_texts('tea, "milk, warm"'), listed_texts("")
    (['tea', 'milk, warm'], [])
    """
    texts, at = [], 0
    while at < len(text.rstrip()) and (part := _ITEM.match(text, at)):
        texts.append(_unquoted(part[1]))
        at = part.end()
    return texts


def parse_record(attributes: Iterable[tuple[str, Parsing]], text: str) -> object:
    """A record such as age=31,country=FR, where a value with a comma is quoted as in JSON; or a JSON object."""
    known, record, at = dict(attributes), {}, 0
    if text.lstrip().startswith("{"):
        return _json_object(text)
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[1] not in known or part[1] in record:
            return text
        record[part[1]] = known[part[1]].parse(_unquoted(part[2]))
        at = part.end()
    return record


def _json_object(text: str) -> object:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except ValueError:
        return text
    # A record names each attribute once, and none of its values is a list of pairs.
    names = [name for name, _ in pairs]
    return dict(pairs) if len(set(names)) == len(names) else text


def _unquoted(text: str) -> str:
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
