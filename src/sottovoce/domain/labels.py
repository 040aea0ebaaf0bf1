"""Domains given by a list of labels."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.entries import as_text, as_whole, entries_of, is_missing
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.integers import EXACT_IN_JSON
from sottovoce.domain.lookup import Lookup, TextLookup
from sottovoce.domain.typed import parse_integer

__all__ = ["LabelDomain", "as_seen"]

_TRUTHS: Final = ("false", "true")
"""The labels of False and True."""

_NAMELESS: Final = object()
"""No label: the name of an Enum member that has none."""


@final
@dataclass(frozen=True, repr=False)
class LabelDomain(Domain):
    """A list of labels: all strings, or all integers.

    A label is given by itself, or as an Enum member with that value or name; True and False are the labels "true" and
    "false" where both are listed. A label's position is refused: 0 and 1 in people's data seldom mean the first and the
    second label. `ValueNumbers` gives positions where they are meant.
    """

    names: tuple[str, ...] | tuple[int, ...]
    missing: str | int | None = None

    def __post_init__(self) -> None:
        kinds = {type(name) for name in self.names}
        if not kinds <= {str} and not kinds <= {int}:
            names = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise DomainError(f"labels have types {names}: they must be all strings or all integers").at("values")
        check_domain_size(len(self.names), field="values")
        # Sorted, since counting them in a hash table takes minutes where they collide.
        twice = next((a for a, b in pairwise(sorted(self.names)) if a == b), None)
        if twice is not None:
            raise DomainError(f"label {twice!r} is given more than once: labels must be distinct").at("values")
        for name in self.names:
            if isinstance(name, int) and abs(name) > EXACT_IN_JSON:
                raise DomainError(f"integer labels must lie within +-{EXACT_IN_JSON}; use strings for larger ones").at(
                    "values"
                )
            if isinstance(name, str) and not _is_text(name):
                raise DomainError("a label is not valid Unicode text: remove the lone surrogate").at("values")

        if self.missing is not None and (
            type(self.missing) is not type(self.names[0]) or self.missing not in self.names
        ):
            raise DomainError("missing must be one of the labels").at("missing")

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:3])
        return f"Domain.of([{shown}{', ...' if self.size > 3 else ''}])  # {self.size} labels"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        if values is bool:
            return cls(_TRUTHS)
        # Sets are refused: their order, and so the numbering, changes from one run to the next.
        if isinstance(values, (range, Mapping, str, bytes, bytearray, Set)) or not isinstance(values, Iterable):
            return None
        return cls(_labels_of(values))

    def _with_missing(self, label: str) -> Domain:
        added: Any = label if isinstance(self.names[0], str) else parse_integer(label)
        if type(added) is not type(self.names[0]):
            raise DomainError('missing must be "as <integer>", like the labels; or give the labels as texts').at(
                "missing"
            )
        try:
            return LabelDomain(self.names if added in self.names else _labels_of((*self.names, added)), added)
        except DomainError as error:
            raise error.at("missing") from None

    @property
    def _attributes(self) -> tuple[tuple[str, Domain], ...]:
        return ()

    @property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def _texts(self) -> TextLookup:
        return TextLookup([str(name) for name in self.names])

    @cached_property
    def _integers(self) -> Lookup:
        return Lookup(self.names)

    @cached_property
    def _number(self) -> dict[object, int]:
        """Fast, but not by the same work for every label: for simulated people only."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def _sorted(self) -> tuple[Indices, Indices]:
        """Integer labels, and the order that sorts them."""
        table = np.asarray(self.names, dtype=np.int64)
        return table, np.argsort(table)

    def _indices(self, values: Any) -> Indices:
        entries = entries_of(values)
        if isinstance(entries, np.ndarray) and entries.dtype.kind == "U":
            entries = entries.tolist()  # NumPy's own text objects are many times slower than Python's
        if len(entries) > 1 and set(map(type, entries)) == {str}:
            numbers = (self._number.get(entry, -1) for entry in entries)
            return self._inside(np.fromiter(numbers, dtype=np.int64, count=len(entries)))
        return self._find_all(entries)

    def _find(self, value: object) -> int:
        if isinstance(value, Enum):
            # Both are searched for. Where they are different labels, the member could mean either.
            # A flag may have no name, which is not a missing value.
            by_name = self._find_plain(value.name if isinstance(value.name, str) else _NAMELESS)
            by_value = self._find_plain(value.value)
            return -1 if by_value >= 0 <= by_name != by_value else max(by_value, by_name)
        return self._find_plain(value)

    def _find_plain(self, value: object) -> int:
        # One search for every value, also for those that it cannot find.
        value = self.missing if is_missing(value) else value
        integer = as_whole(value)
        if isinstance(self.names[0], int):
            index = self._integers.find(0 if integer is None else integer)
            return -1 if integer is None else index
        is_truth = self._has_truths and isinstance(value, (bool, np.bool_))
        is_text = isinstance(value, str) or is_truth
        text = as_text(value if isinstance(value, str) else "")
        index = self._texts.find(_TRUTHS[bool(value)] if is_truth else text)
        return index if is_text else -1

    @cached_property
    def _has_truths(self) -> bool:
        """Whether truth values are labels of this domain."""
        return set(_TRUTHS) <= set(self.names)

    def parse(self, text: str) -> object:
        # By hash lookup: a scan of the labels would take a time that depends on the value.
        if self._is_blank(text):
            return None
        return text if self._find(text) >= 0 else parse_integer(text)

    def _find_integers(self, integers: Indices) -> Indices:
        if isinstance(self.names[0], str):
            return np.full(len(integers), -1, dtype=np.int64)
        table, order = self._sorted
        indices = order[np.searchsorted(table, integers, sorter=order).clip(max=self.size - 1)]
        return np.where(table[indices] == integers, indices, -1)

    def _label(self, index: int) -> str:
        return str(self.names[index])

    @property
    def _allowed(self) -> str:
        labels = f"one of the survey's {self.size} labels"
        return labels if self._holds_integers else f"{labels}, as text"

    @property
    def _holds_integers(self) -> bool:
        return isinstance(self.names[0], int)

    def to_statement(self) -> dict[str, Any]:
        return {"labels": list(self.names)} | ({} if self.missing is None else {"missing": self.missing})


def _labels_of(values: Iterable[Any]) -> tuple[Any, ...]:
    """Labels as a person lists them for a new survey: texts, integers, truth values, or an Enum class."""
    listed = [v.item() if isinstance(v, np.generic) else v for v in values]
    if listed and all(isinstance(v, Enum) for v in listed):
        # The labels of an Enum are its values if these can be labels, and else its names.
        inner = [v.value for v in listed]
        listed = inner if {type(v) for v in inner} in ({str}, {int}, {bool}) else [v.name for v in listed]
    if all(isinstance(v, (bool, str)) for v in listed):
        listed = [_TRUTHS[v] if isinstance(v, bool) else v for v in listed]
    texts = [v for v in listed if isinstance(v, str)]
    seen = sorted(map(as_seen, texts))
    if "" in seen[:1]:
        raise DomainError("a label is empty: give every label a text that people can read").at("values")
    twice = next((a for a, b in pairwise(seen) if a == b), None)
    if twice is not None and len(set(texts)) == len(texts):
        raise DomainError(f"two labels look like {twice!r}: labels must be distinct for those who read them").at(
            "values"
        )
    return tuple(listed)


def as_seen(label: str) -> str:
    """What people see of a label: one normal form, spaces joined, and no characters without a shape.

    Examples
    --------
    >>> as_seen(" green  tea") == as_seen("green tea"), as_seen("cafe\\u0301") == as_seen("caf\\u00e9")
    (True, True)
    """
    joined = " ".join(label.split())
    if joined.isascii() and joined.isprintable():
        return joined
    shown = "".join(letter for letter in joined if unicodedata.category(letter) not in ("Cc", "Cf"))
    return unicodedata.normalize("NFC", shown).strip()


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
