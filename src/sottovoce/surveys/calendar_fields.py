"""The stated fields of a calendar: the first day, the length of a period, and how many periods make a window."""

from __future__ import annotations

from datetime import date
from typing import Final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer

__all__ = [
    "DAYS",
    "EVERY",
    "MAX_GRACE",
    "MAX_WINDOW",
    "MONTHS",
    "RENEWS",
    "SHORTEST_MONTH",
    "UNITS",
    "first_day",
    "period_length",
    "shortest_days",
    "text_of",
    "window_length",
]

MAX_WINDOW: Final = 3660
"""Most periods of a window, and most days of a period: ten years of days."""

MAX_GRACE: Final = 366
"""Most days after its end in which a period may still be answered, whatever its window: no date leaves the calendar."""

DAYS: Final = {"day": 1, "week": 7}
MONTHS: Final = {"month": 1, "quarter": 3, "year": 12}
SHORTEST_MONTH: Final = 28

UNITS: Final = ("day", "week", "month", "quarter", "year")
EVERY: Final = f"every must be one of {', '.join(UNITS)}, or a whole number of days"
RENEWS: Final = "renews must be a whole number of periods, or a name such as quarter"

_WINDOWS: Final = {
    ("day", "week"): 7,
    ("week", "quarter"): 13,
    ("week", "year"): 52,
    ("month", "quarter"): 3,
    ("month", "year"): 12,
    ("quarter", "year"): 4,
}
"""Windows that have a name: (unit of the periods, name) and how many periods it has."""


def first_day(text: object) -> date:
    """A date in its one form, YYYY-MM-DD."""
    problem = "starts must be a date such as '2027-01-04'"
    if not isinstance(text, str):
        raise SurveyError(problem).at("starts")
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise SurveyError(problem).at("starts") from None
    if day.isoformat() != text:
        raise SurveyError(problem).at("starts")
    return day


def text_of(name: str, given: object, problem: str) -> str | None:
    """Numbers of days and of periods may be given as integers; the declared kind is a text."""
    if isinstance(given, bool) or not isinstance(given, str | int | None):
        raise SurveyError(problem).at(name)
    return str(given) if isinstance(given, int) else given


def period_length(every: str) -> str | int:
    """The length of a period from its text."""
    return int(every) if every.isascii() and every.isdecimal() else every


def window_length(length: str | int, renews: str | None) -> int | None:
    """The number of periods of a window from its text."""
    if renews is None:
        return None
    if renews.isascii() and renews.isdecimal():
        return check_integer("renews", int(renews), 2, MAX_WINDOW)
    periods = _WINDOWS.get((str(length), renews))
    if periods is None:
        named = [name for unit, name in _WINDOWS if unit == length]
        raise SurveyError(
            "renews must be a number of periods"
            + (f", or for periods of a {length} {' or '.join(named)}" if named else "")
        ).at("renews")
    return periods


def shortest_days(length: str | int, periods: int) -> int:
    """Days that so many periods last at least, whenever they begin.

    Months are fewest in days from a February on, and no twelve months have fewer than 365.

    Examples
    --------
    >>> shortest_days("week", 13), shortest_days("month", 3), shortest_days("quarter", 4), shortest_days(10, 2)
    (91, 89, 365, 20)
    """
    if isinstance(length, int) or length in DAYS:
        return periods * (length if isinstance(length, int) else DAYS[length])
    years, months = divmod(periods * MONTHS[length], 12)
    later = date(2001 + (months + 1) // 12, (months + 1) % 12 + 1, 1)  # after a February of 28 days
    return 365 * years + (later - date(2001, 2, 1)).days
