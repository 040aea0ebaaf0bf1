"""Domains given by a list of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self, final

import numpy as np

from sottovoce.core.entries import as_integer, entries_of
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.integers import EXACT_IN_JSON
from sottovoce.domain.lookup import Lookup, TextLookup
from sottovoce.domain.typed import parse_integer

__all__ = ["LabelDomain"]


@final
@dataclass(frozen=True, repr=False)
class LabelDomain(Domain):
    """A list of labels: all strings, or all integers.

    A string may also be given by its index, unless one of the labels looks like a number.
    """

    names: tuple[str, ...] | tuple[int, ...]

    def __post_init__(self) -> None:
        kinds = {type(name) for name in self.names}
        if not kinds <= {str} and not kinds <= {int}:
            found = ", ".join(sorted(kind.__name__ for kind in kinds))
            raise DomainError(f"labels have types {found}: they must be all strings or all integers")
        check_domain_size(len(self.names))
        # Sorted, since counting them in a hash table takes minutes where they collide.
        twice = next((a for a, b in pairwise(sorted(self.names)) if a == b), None)
        if twice is not None:
            raise DomainError(f"label {twice!r} is given more than once: labels must be distinct")
        for name in self.names:
            if isinstance(name, int) and abs(name) > EXACT_IN_JSON:
                raise DomainError(f"integer labels must lie within +-{EXACT_IN_JSON}; use strings for larger ones")
            if isinstance(name, str) and not _is_text(name):
                raise DomainError("a label is not valid Unicode text: remove the lone surrogate")

    def __repr__(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:3])
        return f"Domain.of([{shown}{', ...' if self.size > 3 else ''}])  # {self.size} labels"

    @classmethod
    def _from_values(cls, values: object) -> Self | None:
        # Sets are refused: their order, and so the numbering, changes from one run to the next.
        if isinstance(values, (range, Mapping, str, bytes, bytearray, Set)) or not isinstance(values, Iterable):
            return None
        return cls(tuple(v.item() if isinstance(v, np.generic) else v for v in values))

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

    @cached_property
    def _by_index(self) -> bool:
        # Among labels such as "1", "2" the integer 1 would be ambiguous, so it is refused.
        return not any(isinstance(name, int) or name.strip().lstrip("+-").isdecimal() for name in self.names)

    def indices(self, values: Any) -> Indices:
        """Positions of many labels, or an array of positions for string labels."""
        entries = entries_of(values)
        if isinstance(entries, np.ndarray) and entries.dtype.kind == "U":
            entries = entries.tolist()  # NumPy's own text objects are many times slower than Python's
        if len(entries) > 1 and all(isinstance(entry, str) for entry in entries):
            found = (self._number.get(entry, -1) for entry in entries)
            return self._inside(np.fromiter(found, dtype=np.int64, count=len(entries)))
        return self._find_all(entries)

    def _find(self, value: object) -> int:
        # One search for every value, also for those that it cannot find.
        integer = as_integer(value)
        if isinstance(self.names[0], int):
            found = self._integers.find(0 if integer is None else integer)
            return -1 if integer is None else found
        is_text = isinstance(value, str)
        found = self._texts.find(str(value) if is_text else "")
        size, number = self.size, -1 if integer is None else integer
        index = number if self._by_index and 0 <= number < size else -1
        return found if is_text else index

    def parse(self, text: str) -> object:
        # By hash lookup: a scan of the labels would take a time that depends on the value.
        return text if self._find(text) >= 0 else parse_integer(text)

    def _find_integers(self, integers: Indices) -> Indices:
        if self._by_index:
            return integers
        if isinstance(self.names[0], str):
            return np.full(len(integers), -1, dtype=np.int64)
        table, order = self._sorted
        found = order[np.searchsorted(table, integers, sorter=order).clip(max=self.size - 1)]
        return np.where(table[found] == integers, found, -1)

    def _label(self, index: int) -> str:
        return str(self.names[index])

    @property
    def _allowed(self) -> str:
        return f"one of the survey's {self.size} labels" + (
            f", or an index from 0 to {self.size - 1}" if self._by_index else ""
        )

    def to_statement(self) -> dict[str, Any]:
        return {"labels": list(self.names)}


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
