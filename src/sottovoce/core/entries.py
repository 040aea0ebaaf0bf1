"""Values as callers give them: lists, arrays and columns with one entry per person."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ValueOutsideDomainError

__all__ = [
    "as_day",
    "as_integer",
    "as_integers",
    "as_record",
    "as_text",
    "as_whole",
    "as_wholes",
    "entries_of",
    "is_missing",
]

_MISSING_TYPES: Final = ("NAType", "NaTType")
"""Types of the values that pandas uses for a missing one."""

_EXACT: Final = 2**53 - 1
"""Largest integer up to which every integer is a double."""


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
    if isinstance(values, np.ma.MaskedArray) and values.ndim == 1:
        return values.tolist()  # with None for what is masked; an array would show what the mask hides
    array = np.asarray(values) if hasattr(values, "__array__") else None
    if array is not None and array.ndim == 1:
        return array
    countable = hasattr(values, "__iter__") and not isinstance(values, (str, bytes, bytearray, Mapping, Set))
    if array is None and countable:
        return list(values)
    hint = ": give one column of the table" if hasattr(values, "columns") else ""
    raise ValueOutsideDomainError(f"values must be a list, an array or a column, with one entry per person{hint}").at(
        "values"
    )


def as_integer(value: object) -> int | None:
    """An int for integers that are not booleans, None for everything else."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else int.__index__(value)
    # NumPy's spans of time are integers to Python, and seven hours are not the value 7.
    return int(value) if not isinstance(value, np.timedelta64) and isinstance(value, Integral) else None


def as_integers(entries: Any) -> NDArray[np.int64] | None:
    """An int64 array if all entries are plain integers; None otherwise."""
    if len(entries) == 0:
        return np.empty(0, dtype=np.int64)
    if not isinstance(entries, np.ndarray):
        # NumPy would read [True, 2] as integers, and asks a subclass of int what it converts to.
        if not all(kind is int or issubclass(kind, np.integer) for kind in set(map(type, entries))):
            return None
        entries = np.asarray(entries)
    array: NDArray[Any] = entries
    if array.dtype.kind not in "iu" or (array.dtype == np.uint64 and (array >> 63).any()):
        return None
    return array.astype(np.int64, copy=False)


def as_whole(value: object) -> int | None:
    """An int for integers and for numbers that equal one, such as 3.0 in a column with gaps; None for everything else.

    Examples
    --------
    >>> as_whole(3), as_whole(3.0), as_whole(Decimal("3.0")), as_whole(3.5), as_whole(True)
    (3, 3, 3, None, None)
    """
    # The number itself, also where its class converts to another one; every value takes these lines.
    number: Any = float.__float__(value) if isinstance(value, float) else 0.0
    number = float(value) if isinstance(value, np.floating) else number
    number = value if isinstance(value, (Decimal, Fraction)) and not is_missing(value) else number
    whole = int(number) if abs(number) <= _EXACT and number % 1 == 0 else None
    integer = as_integer(value)
    return whole if isinstance(value, (float, np.floating, Decimal, Fraction)) else integer


def as_wholes(entries: Any) -> NDArray[np.int64] | None:
    """`as_integers`, also for an array of floats that all equal integers."""
    if not isinstance(entries, np.ndarray) or entries.dtype.kind != "f":
        return as_integers(entries)
    floats = entries.astype(np.float64)
    is_whole = (np.abs(floats) <= _EXACT) & (np.floor(floats) == floats)
    return floats.astype(np.int64) if is_whole.all() else None


def is_missing(value: object) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT, and the markers of pandas."""
    # Every value takes the same lines: a device looks up a private one with this.
    is_nan = isinstance(value, (float, np.floating)) and bool(np.isnan(value))
    is_odd = isinstance(value, Decimal) and value.is_nan()
    is_nat = isinstance(value, (np.timedelta64, np.datetime64)) and bool(np.isnat(value))
    return is_nan or is_odd or is_nat or value is None or type(value).__name__ in _MISSING_TYPES


def as_record(value: object) -> object:
    """A record by its names, for a dataclass, a named tuple or a row of a table; anything else as it is.

    Examples
    --------
    >>> from collections import namedtuple
    >>> as_record(namedtuple("Row", "age country")(31, "FR"))
    {'age': 31, 'country': 'FR'}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return dict(zip(value._fields, value, strict=True))
    if hasattr(value, "index") and hasattr(value, "to_dict") and getattr(value, "ndim", 0) == 1:
        record = value.to_dict()
        # A row in which a name stands twice has two values of it, and is not a record.
        return record if len(record) == len(value.index) else value
    return value


def as_day(value: object) -> date | None:
    """The day of a date, a time (UTC where it has a zone), a pandas period's start, or a text such as "2027-01-04".

    Examples
    --------
    >>> as_day("2027-01-04"), as_day(np.datetime64("2027-01-04T12")), as_day("January")
    (datetime.date(2027, 1, 4), datetime.date(2027, 1, 4), None)
    """
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[D]").item()
    elif isinstance(value, str):
        try:
            return date.fromisoformat(value) if len(value) == len("2027-01-04") else None
        except ValueError:
            return None
    elif hasattr(value, "to_timestamp") and not isinstance(value, datetime):
        value = value.to_timestamp()
    if is_missing(value):
        return None
    if isinstance(value, datetime):
        return (value if value.tzinfo is None else value.astimezone(UTC)).date()
    return value if isinstance(value, date) else None


def as_text(value: str) -> str:
    """The characters of a text, also where its class prints it as another one, as an Enum of texts does.

    Examples
    --------
    >>> from enum import Enum
    >>> class Drink(str, Enum):
    ...     TEA = "tea"
    >>> as_text(Drink.TEA)
    'tea'
    """
    return str.__str__(value)
