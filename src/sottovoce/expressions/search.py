"""How a value is looked up among constants; decided when the expression is checked, without any value.

A table is the fastest and largest way, so an expression may have a few; other lists use binary search.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.expressions.limits import MAX_TABLES
from sottovoce.expressions.part import Part, constant

__all__ = ["ConstantLookup"]

_FEW: Final = 8
"""Up to this many constants are compared one by one."""

_SPAN: Final = 2**17
"""Integers from a range of up to this many values are looked up in a table."""


class ConstantLookup:
    """The lookups of one expression, with their memory budget."""

    def __init__(self) -> None:
        self._room = MAX_TABLES

    def place(self, a: Part, listed: NDArray[Any]) -> Part:
        """The position of a value in a list of distinct constants, or the list's length."""
        count = len(listed)
        low, high = (a.low, a.high) if a.domain is None else (0, a.domain.size - 1)
        if count <= _FEW:
            return Part("match", "integer", 0, count, (a,), listed)
        if a.kind != "real" and high - low < min(_SPAN, self._room):
            table = np.full(int(high - low) + 1, count, dtype=np.int64)
            self._room -= len(table)
            inside = (listed >= low) & (listed <= high)
            table[listed[inside] - int(low)] = np.flatnonzero(inside)
            offset = Part("-", "integer", 0, high - low, (a, constant(low)))
            return Part("gather", "integer", 0, count, (offset,), table)
        order = np.argsort(listed)
        return Part("search", "integer", 0, count, (a,), (listed[order], order))

    def held(self, a: Part, listed: NDArray[Any]) -> Part:
        """Whether a value is one of the constants."""
        distinct = np.unique(listed)
        if len(distinct) <= _FEW:
            return Part("in", "truth", 0, 1, (a,), distinct)
        return Part("<", "truth", 0, 1, (self.place(a, distinct), constant(len(distinct))))
