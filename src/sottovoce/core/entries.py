"""Values as callers give them: lists, arrays and columns with one entry per person."""

from __future__ import annotations

from collections.abc import Mapping, Set
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ValueOutsideDomainError

__all__ = ["as_integer", "as_integers", "entries_of"]


def entries_of(values: Any) -> Any:
    """`values` as a list, a tuple or a one-dimensional array.

    Text, bytes, mappings and sets are refused: their items are not one entry per person (a set would count people who
    agree once).

    Examples
    --------
    >>> entries_of(name for name in ("a", "b"))
    ['a', 'b']
    """
    if isinstance(values, (list, tuple)):
        return values
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.ndim == 1:
        return array
    countable = hasattr(values, "__iter__") and not isinstance(values, (str, bytes, bytearray, Mapping, Set))
    if array is None and countable:
        return list(values)
    raise ValueOutsideDomainError("values must be a list, an array or a column, with one entry per person")


def as_integer(value: object) -> int | None:
    """An int for integers that are not booleans, None for everything else."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        return None
    return int(value)


def as_integers(entries: Any) -> NDArray[np.int64] | None:
    """An int64 array if all entries are integers and none is a boolean, None otherwise."""
    if len(entries) == 0:
        return np.empty(0, dtype=np.int64)
    if not isinstance(entries, np.ndarray):
        # NumPy would read [True, 2] as integers.
        if not all(issubclass(kind, Integral) and not issubclass(kind, bool) for kind in set(map(type, entries))):
            return None
        entries = np.asarray(entries)
    array: NDArray[Any] = entries
    if array.dtype.kind not in "iu" or (array.dtype == np.uint64 and (array >> 63).any()):
        return None
    return array.astype(np.int64, copy=False)
