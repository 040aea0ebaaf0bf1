"""A number between two ends: grid points, and the finer positions that devices compute with.

Devices round a position at random to one of its two neighbouring grid points, so that the mean over people is kept;
the mechanism does that, see `sottovoce.mechanisms.rounded_channel`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import entries_of
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.core.limits import as_float, check_integer
from sottovoce.domain.typed import parse_number

__all__ = ["LARGEST_NUMBER", "LONGEST_UNIT", "MAX_POINTS", "STEPS", "NumberGrid", "number"]

STEPS: Final = 2**16
"""Positions from one grid point to the next."""

MAX_POINTS: Final = 2**16
"""Most grid points."""

LARGEST_NUMBER: Final = 1e50
"""Fourth powers of ends up to this, and of their estimates, fit into doubles."""

LONGEST_UNIT: Final = 40
"""Most characters of a unit's name."""

_IN_FULL: Final = 1e15
"""Numbers below this are written without an exponent."""

_LEAST_RANGE: Final = 2.0**-10
"""The least range, as a fraction of the larger end: squares of numbers and of differences can be compared."""


@final
@dataclass(frozen=True)
class NumberGrid:
    """The numbers from `low` to `high`, with `points` equally spaced grid points, the ends among them.

    Numbers outside are moved to the nearest end, since a refusal would reveal something.

    Raises
    ------
    DomainError
        If the ends are not finite, not in order, too close together for doubles, or the unit or number of points is
        invalid.

    Examples
    --------
    >>> grid = NumberGrid(0, 600, "minutes", points=3)
    >>> grid.values, grid.label(1)
    (array([  0., 300., 600.]), '300 minutes')
    >>> grid.position(150), grid.position(10_000)
    (32768, 131072)
    """

    low: float
    high: float
    unit: str = ""
    points: int = 3

    def __post_init__(self) -> None:
        low, high = (_checked_end(name, getattr(self, name)) for name in ("low", "high"))
        if low >= high:
            raise DomainError(f"low is {low:g} and high is {high:g}: low must be below high").at("low")
        if high - low < max(_LEAST_RANGE * max(abs(low), abs(high)), 1 / LARGEST_NUMBER):
            raise DomainError(
                f"the range from {low!r} to {high!r} is too small for floating point; subtract a constant from "
                "everybody's number, or use a smaller unit"
            ).at("low")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "points", check_integer("points", self.points, 2, MAX_POINTS))
        if not isinstance(self.unit, str) or len(self.unit) > LONGEST_UNIT or not self.unit.isprintable():
            raise DomainError(f"unit must be a text of at most {LONGEST_UNIT} printable characters").at("unit")

    @property
    def positions(self) -> int:
        """How many positions there are: `STEPS` from each grid point to the next."""
        return (self.points - 1) * STEPS + 1

    @property
    def middle(self) -> float:
        """The number halfway between the ends."""
        return self.low + self.half

    @property
    def half(self) -> float:
        """Half the range."""
        return (self.high - self.low) / 2

    @property
    def spacing(self) -> float:
        """The distance of two grid points."""
        return (self.high - self.low) / (self.points - 1)

    @property
    def position_error(self) -> float:
        """The most that a number differs from its position's: half a step, and the rounding of doubles."""
        return self.spacing / STEPS * 0.5000001

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The grid points."""
        found = self.low + (self.high - self.low) * (np.arange(self.points) / (self.points - 1))
        found[-1] = self.high
        found.flags.writeable = False
        return found

    def parse(self, text: str) -> object:
        """The number that typed text stands for; text that stands for none is returned as it is."""
        return parse_number(text)

    def position(self, value: object) -> int:
        """The position nearest to a number; the error does not contain the number."""
        found = _as_number(value)
        # The same work for every number, also for those that are clipped.
        position = int(self._nearest(np.array([0.0 if found is None else found]))[0])
        if found is None:
            raise ValueOutsideDomainError(f"the value is not {self.allowed}")
        return position

    def positions_of(self, values: Any) -> NDArray[np.int64]:
        """The positions of many numbers, one per person."""
        return self._nearest(_as_numbers(entries_of(values), self.allowed))

    def clipped(self, values: Any) -> NDArray[np.float64]:
        """The numbers, those outside moved to the nearest end."""
        return np.clip(_as_numbers(entries_of(values), self.allowed), self.low, self.high)

    def _nearest(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        # The same operations on doubles as in the TypeScript client.
        inside = np.clip(numbers, self.low, self.high)
        scaled = (inside - self.low) / (self.high - self.low) * ((self.points - 1) * STEPS)
        return np.floor(scaled + 0.5).astype(np.int64)

    @property
    def allowed(self) -> str:
        """What may be given, for error messages."""
        return f"a finite number; those outside {self.range_text} are clipped"

    @property
    def range_text(self) -> str:
        """The range with its unit."""
        return f"{self._text(self.low)} to {self.quantity(self.high)}"

    def quantity(self, value: float) -> str:
        """A number with its unit."""
        return f"{self._text(value)} {self.unit}".rstrip()

    def label(self, point: int) -> str:
        """A grid point with its unit."""
        return self.quantity(float(self.values[check_integer("point", point, 0, self.points - 1)]))

    def _text(self, value: float) -> str:
        """With so many digits that neighbouring grid points differ."""
        ratio = max(abs(self.low), abs(self.high)) / self.spacing
        digits = max(6, math.ceil(math.log10(ratio)) + 3)
        if 1e-4 <= abs(value) < _IN_FULL:
            return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")
        return f"{value:.{digits}g}"

    def to_statement(self) -> dict[str, Any]:
        """The grid as it stands in a survey's JSON."""
        return {"low": self.low, "high": self.high, "unit": self.unit, "points": self.points}

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """The grid that `to_statement` wrote; anything else raises `DomainError`."""
        match statement:
            case {"low": low, "high": high, "unit": unit, "points": points, **rest} if not rest:
                return cls(low, high, unit, points)
            case _:
                raise DomainError("a number must hold exactly low, high, unit and points")


def number(low: float, high: float, unit: str = "", points: int = 3) -> NumberGrid:
    """A numeric field of a record, from `low` to `high`; numbers outside are clipped.

    Parameters
    ----------
    points
        Grid points, to which devices round at random: more show more of the distribution, and cost accuracy of the
        mean.

    Examples
    --------
    >>> number(0, 600, "minutes").label(2)
    '600 minutes'
    """
    return NumberGrid(low, high, unit, points)


def _checked_end(name: str, end: object) -> float:
    remedy = f"it must be a finite number between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
    if isinstance(end, (bool, np.bool_)) or not isinstance(end, Real):
        raise DomainError(f"{name} has type {type(end).__name__}: {remedy}").at(name)
    found = as_float(end)
    if not abs(found) <= LARGEST_NUMBER:
        raise DomainError(f"{name} is {found:g}: {remedy}").at(name)
    return found + 0.0  # without a minus sign before zero


def _as_number(value: object) -> float | None:
    """A float for finite real numbers that are not booleans, None for everything else."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    found = as_float(value)
    return found if math.isfinite(found) else None


def _as_numbers(entries: Any, allowed: str) -> NDArray[np.float64]:
    """A float array of finite numbers; the error does not contain them."""
    if isinstance(entries, np.ndarray) and entries.dtype.kind in "iuf":
        numbers = entries.astype(np.float64)
    else:
        found = (_as_number(entry) for entry in entries)
        numbers = np.array([math.nan if one is None else one for one in found], dtype=np.float64)
    odd = ~np.isfinite(numbers)
    if odd.any():
        raise ValueOutsideDomainError(f"the value at position {int(np.argmax(odd))} is not {allowed}")
    return numbers
