"""Numbers on which an audit runs a device besides random ones: ends, zeros, tiny and huge ones, and other types."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sottovoce.domain.number import NumberGrid
from sottovoce.domain.trials import Trial

__all__ = ["special_numbers"]

_GRID_POINTS: Final = 8
"""Grid points about which numbers are tried."""

_EXTREME: Final = (0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-300, 1e50, 1.7976931348623157e308)


def special_numbers(grid: NumberGrid) -> list[Trial]:
    """Numbers at which faults are likely, in every form that a person may give them.

    Examples
    --------
    >>> [trial.value for trial in special_numbers(NumberGrid(0, 10, points=2))][:3]
    [0.0, 5e-324, -5e-324]
    """
    return [Trial(f"the number {value!r:.40}", value, portable=_is_portable(value)) for value in _values(grid)]


def _is_portable(value: Any) -> bool:
    """Whether it is a double, or nothing."""
    return value is None or type(value) is float


def _values(grid: NumberGrid) -> Iterator[Any]:
    places = dict.fromkeys(np.linspace(0, grid.points - 1, _GRID_POINTS).round().astype(int).tolist())
    near = [float(grid.values[place]) for place in places]
    near += [number + grid.spacing / 2 for number in near[:-1]]
    for number in near:
        yield from (number, math.nextafter(number, math.inf), math.nextafter(number, -math.inf))
    for number in _EXTREME:
        yield from (number, -number)
    middle = grid.middle
    yield from (Decimal(middle), Fraction(middle), np.float32(middle), round(middle), np.int64(round(middle)))
    yield from (10**400, -(10**400), Decimal("1e400"), Fraction(-(10**400)), Fraction(1, 3))
    yield from (math.inf, -math.inf, Decimal("Infinity"), np.float32(-math.inf))
    if grid.missing is not None:
        yield from (None, math.nan)
