"""A number between two ends: grid points, and the finer positions that devices compute with.

Devices round a position at random to one of its two neighbouring grid points, so that the mean over people is kept;
the mechanism does that, see `sottovoce.mechanisms.rounded_channel`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import entries_of, is_missing
from sottovoce.core.errors import DomainError, ValueOutsideDomainError
from sottovoce.core.limits import as_float, check_integer
from sottovoce.domain.typed import missing_label, parse_number

__all__ = ["ATTRIBUTE_POINTS", "LARGEST_NUMBER", "LONGEST_UNIT", "MAX_POINTS", "STEPS", "NumberGrid"]

STEPS: Final = 2**16
"""Positions from one grid point to the next."""

MAX_POINTS: Final = 2**16
"""Most grid points."""

ATTRIBUTE_POINTS: Final = 3
"""Grid points of a number that is an attribute of a record: the fewest that show more than the mean."""

LARGEST_NUMBER: Final = 1e50
"""Fourth powers of ends up to this, and of their estimates, fit into doubles."""

LONGEST_UNIT: Final = 40
"""Most characters of a unit's name."""

_UNITS: Final = {
    name: seconds
    for names, seconds in (
        ("milliseconds millisecond ms", 0.001),
        ("seconds second sec s", 1.0),
        ("minutes minute min", 60.0),
        ("hours hour h", 3600.0),
        ("days day d", 86400.0),
        ("weeks week", 604800.0),
    )
    for name in names.split()
}
"""The seconds of each unit of time by which a timedelta is a number."""

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
    points: int = ATTRIBUTE_POINTS
    missing: float | None = None
    """The number that None, NaN and absent fields count as; without one they are refused."""

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
        if self.missing is not None:
            missing = _checked_end("missing", self.missing)
            if not low <= missing <= high:
                raise DomainError(f"missing must be a number from {self.range_text}").at("missing")
            object.__setattr__(self, "missing", missing)

    def with_missing(self, policy: str) -> NumberGrid:
        """The grid on which None, NaN and absent fields count "as <number>"; with "refuse" they are not numbers.

        Examples
        --------
        >>> NumberGrid(0, 600).with_missing("as 300").position(None) == NumberGrid(0, 600).position(300)
        True
        """
        label = missing_label(policy)
        missing: Any = None if label is None else parse_number(label)
        return self if label is None else replace(self, missing=missing)

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
        points = self.low + (self.high - self.low) * (np.arange(self.points) / (self.points - 1))
        points[-1] = self.high
        points.flags.writeable = False
        return points

    def parse(self, text: str) -> object:
        """The number that typed text stands for; text that stands for none is returned as it is."""
        return None if self.missing is not None and not text.strip() else parse_number(text)

    def position(self, value: object) -> int:
        """The position nearest to a number; the error does not contain the number."""
        number = self._number(value)
        # Every number takes equal work, also one that is clipped.
        position = int(self._nearest(np.array([0.0 if number is None else number]))[0])
        if number is None:
            raise ValueOutsideDomainError(f"the value is not {self.allowed}").at("value")
        return position

    def positions_of(self, values: Any) -> NDArray[np.int64]:
        """The positions of many numbers, one per person."""
        return self._nearest(self._numbers(entries_of(values)))

    def clipped(self, values: Any) -> NDArray[np.float64]:
        """The numbers, those outside moved to the nearest end."""
        return np.clip(self._numbers(entries_of(values)), self.low, self.high)

    def _number(self, value: object) -> float | None:
        """The number of a person's value; None if it has none."""
        return _as_number(self.missing if is_missing(value) else value, self._seconds)

    def _numbers(self, entries: Any) -> NDArray[np.float64]:
        """Numbers of many values, perhaps infinite; the error does not contain them."""
        kind = entries.dtype.kind if isinstance(entries, np.ndarray) else ""
        numbers: NDArray[np.float64]
        if kind in ("i", "u", "f"):
            numbers = entries.astype(np.float64)
        elif kind == "m":
            numbers = _spans(entries, self._seconds)
        else:
            read = (self._number(entry) for entry in entries)
            numbers = np.array([math.nan if number is None else number for number in read], dtype=np.float64)
        if self.missing is not None and kind in ("f", "m"):
            numbers = np.where(np.isnan(entries), self.missing, numbers)
        odd = np.isnan(numbers)
        if odd.any():
            raise ValueOutsideDomainError(f"the value at position {int(np.argmax(odd))} is not {self.allowed}").at(
                "values"
            )
        return numbers

    def _nearest(self, numbers: NDArray[np.float64]) -> NDArray[np.int64]:
        # These are the operations on doubles of the TypeScript client.
        inside = np.clip(numbers, self.low, self.high)
        scaled = (inside - self.low) / (self.high - self.low) * ((self.points - 1) * STEPS)
        return np.floor(scaled + 0.5).astype(np.int64)

    @property
    def allowed(self) -> str:
        """What may be given, for error messages."""
        spans = (
            " or a timedelta" if self._seconds else "" if self.unit else " (a timedelta needs a unit such as minutes)"
        )
        return f"a number{spans}; those outside {self.range_text} are clipped"

    @property
    def _seconds(self) -> float | None:
        """The seconds of the unit, if it is one of time."""
        return _UNITS.get(self.unit.strip().lower())

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
        """A number with enough digits that neighbouring grid points differ."""
        ratio = max(abs(self.low), abs(self.high)) / self.spacing
        digits = max(6, math.ceil(math.log10(ratio)) + 3)
        if 1e-4 <= abs(value) < _IN_FULL:
            return np.format_float_positional(value, precision=digits, unique=False, fractional=False, trim="-")
        return f"{value:.{digits}g}"

    def to_statement(self) -> dict[str, Any]:
        """The grid as it stands in a survey's JSON."""
        found = {"low": self.low, "high": self.high, "unit": self.unit, "points": self.points}
        return found if self.missing is None else {**found, "missing": self.missing}

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """The grid that `to_statement` wrote; anything else raises `DomainError`."""
        match statement:
            case {"low": low, "high": high, "unit": unit, "points": points, **rest} if not rest:
                return cls(low, high, unit, points)
            case {"low": low, "high": high, "unit": unit, "points": points, "missing": missing, **rest} if not rest:
                if missing is not None:
                    return cls(low, high, unit, points, missing)
        raise DomainError("a number must hold exactly low, high, unit and points, and perhaps missing")


def _checked_end(name: str, end: object) -> float:
    remedy = f"it must be a finite number between -{LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
    if isinstance(end, (bool, np.bool_)) or not isinstance(end, Real):
        raise DomainError(f"{name} has type {type(end).__name__}: {remedy}").at(name)
    checked = as_float(end)
    if not abs(checked) <= LARGEST_NUMBER:
        raise DomainError(f"{name} is {checked:g}: {remedy}").at(name)
    return checked + 0.0  # without a minus sign before zero


def _as_number(value: object, seconds: float | None) -> float | None:
    """A float for numbers that are not booleans, and for spans of time in units of `seconds`; else None."""
    if isinstance(value, np.timedelta64):
        span = float(_spans(np.asarray(value), seconds))
        return span if math.isfinite(span) else None
    if isinstance(value, timedelta):
        return None if seconds is None or value != value else value.total_seconds() / seconds
    if isinstance(value, (float, np.floating)):
        is_number = not np.isnan(value)
    elif isinstance(value, Decimal):
        is_number = not value.is_nan()
    else:
        is_number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    # Infinities, and numbers beyond all doubles, are clipped like others outside the range.
    return min(max(as_float(value), -LARGEST_NUMBER), LARGEST_NUMBER) if is_number else None


def _spans(entries: NDArray[Any], seconds: float | None) -> NDArray[np.float64]:
    """Spans of time in units of `seconds`; those that have no such length are not numbers."""
    if seconds is None or np.datetime_data(entries.dtype)[0] in ("Y", "M", "generic"):
        return np.full(entries.shape, math.nan)
    spans: NDArray[np.float64] = np.asarray(entries / np.timedelta64(1, "s") / seconds, dtype=np.float64)
    return spans
