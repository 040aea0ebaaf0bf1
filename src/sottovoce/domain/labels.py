"""Domains given by a list of labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import DomainError
from sottovoce.core.limits import check_domain_size
from sottovoce.domain.base import Domain, Indices
from sottovoce.domain.integers import EXACT_IN_JSON

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
        twice = [name for name, times in Counter(self.names).items() if times > 1]
        if twice:
            raise DomainError(f"label {twice[0]!r} is given more than once: labels must be distinct")
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
    def _number(self) -> dict[object, int]:
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
        return self._find_all(values)

    def _find(self, value: object) -> int:
        if isinstance(value, str):
            return self._number.get(value, -1)
        integer = as_integer(value)
        if integer is None:
            return -1
        if self._by_index:
            return integer if 0 <= integer < self.size else -1
        return self._number.get(integer, -1)

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
