"""Names of values inside names of queries, written so that they can be parsed without listing all names.

A label that contains the separator is quoted as in JSON, so no two names are equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, final

from sottovoce.core.errors import ValueOutsideDomainError, WorkloadError
from sottovoce.domain import Domain, LabelDomain, ProductDomain, TextDomain

__all__ = [
    "Attributed",
    "Names",
    "find_label",
    "find_record",
    "is_text_labelled",
    "quote_label",
    "record_name",
    "split_label",
    "value_at",
]

_INTEGER = re.compile(r"-?[0-9]{1,19}", re.ASCII)


def is_text_labelled(domain: Domain) -> bool:
    """Whether the values are strings, not integers or records."""
    return isinstance(domain, TextDomain) or (isinstance(domain, LabelDomain) and isinstance(domain.names[0], str))


def value_at(domain: Domain, index: int) -> Any:
    """The value with that number: a string, an integer, or a dict with one value per attribute.

    Examples
    --------
    >>> value_at(Domain.product(age=range(18, 100), sex=["F", "M"]), 25)
    {'age': 30, 'sex': 'M'}
    """
    if isinstance(domain, ProductDomain):
        parts: dict[str, Any] = {}
        for name, inner in reversed(domain.attributes):
            index, part = divmod(index, inner.size)
            parts[name] = value_at(inner, part)
        return dict(reversed(parts.items()))
    return domain.label(index) if is_text_labelled(domain) else int(domain.label(index))


def quote_label(label: str, separator: str) -> str:
    """The label, quoted if it contains the separator.

    Examples
    --------
    >>> quote_label("low", "-"), quote_label("low-ish", "-")
    ('low', '"low-ish"')
    """
    return json.dumps(label, ensure_ascii=False) if separator in label or label.startswith('"') else label


def split_label(text: str, separator: str) -> tuple[str, str | None] | None:
    """The first label, and the text after the separator that follows it, or None; None if there is no valid label.

    Examples
    --------
    >>> split_label('"low-ish"-high', "-"), split_label("low", "-")
    (('low-ish', 'high'), ('low', None))
    """
    if not text.startswith('"'):
        label, separated, rest = text.partition(separator)
        return label, rest if separated else None
    try:
        label, end = json.JSONDecoder().raw_decode(text)
    except ValueError:
        return None
    if end == len(text):
        return label, None
    return (label, text[end + len(separator) :]) if text.startswith(separator, end) else None


def find_label(domain: Domain, text: str) -> int:
    """The number of the value with that label, or -1; for domains without attributes."""
    value: object = text
    if not is_text_labelled(domain):
        value = int(text) if _INTEGER.fullmatch(text) else None
        if str(value) != text:
            return -1
    try:
        return domain.index(value)
    except ValueOutsideDomainError:
        return -1


class Attributed(Protocol):
    """Anything with named attributes: a product domain, or the tables of records."""

    @property
    def attributes(self) -> tuple[tuple[str, Domain], ...]:
        """Names and domains."""


def record_name(domain: Attributed, parts: Sequence[tuple[int, int]]) -> str:
    """A name such as "age=30, sex=F", from pairs of an attribute's position and a value's number."""
    named = ((*domain.attributes[attribute], index) for attribute, index in parts)
    return ", ".join(f"{name}={quote_label(inner.label(index), ', ')}" for name, inner, index in named)


def find_record(domain: Attributed, text: str) -> dict[int, int] | None:
    """The inverse of `record_name`, with attributes in any order; None if the text is not such a name."""
    positions = {name: position for position, (name, _) in enumerate(domain.attributes)}
    record: dict[int, int] = {}
    rest: str | None = text
    while rest is not None:
        name, equals, after = rest.partition("=")
        position = positions.get(name, -1)
        taken = split_label(after, ", ")
        if not equals or position < 0 or position in record or taken is None:
            return None
        label, rest = taken
        index = find_label(domain.attributes[position][1], label)
        if index < 0:
            return None
        record[position] = index
    return record


@final
@dataclass(frozen=True)
class Names:
    """Names of queries: given by the user, or "query 0", "query 1", ..."""

    count: int
    given: tuple[str, ...] | None

    @classmethod
    def of(cls, names: object, count: int) -> Names:
        """Check that the names are distinct texts, one per query; None gives "query 0", "query 1", ..."""
        if names is None:
            return cls(count, None)
        remedy = f"names must be a list of {count:,} distinct strings, one per query"
        if isinstance(names, (str, bytes)) or not isinstance(names, Sequence):
            raise WorkloadError(f"names has type {type(names).__name__}: {remedy}")
        listed = tuple(names)
        if len(listed) != count or not all(type(name) is str for name in listed):
            raise WorkloadError(f"there are {len(listed):,} names, or not all are strings: {remedy}").at("names")
        if len(set(listed)) < count:
            raise WorkloadError(f"two queries have the same name: {remedy}").at("names")
        if any("\ud800" <= letter <= "\udfff" for name in listed for letter in name):
            raise WorkloadError("a name is not valid Unicode text: remove the lone surrogate")
        return cls(count, listed)

    def name(self, query: int) -> str:
        """The name of a query whose number is in range."""
        return f"query {query}" if self.given is None else self.given[query]

    def find(self, name: str) -> int:
        """The number of the query with that name, or -1."""
        if self.given is not None:
            return self._numbers.get(name, -1)
        digits = name.removeprefix("query ")
        number = int(digits) if _INTEGER.fullmatch(digits) else -1
        return number if 0 <= number < self.count and self.name(number) == name else -1

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.given or ())}

    def to_statement(self) -> dict[str, list[str]]:
        """Their field in a workload's JSON."""
        return {} if self.given is None else {"names": list(self.given)}
