"""Vectors of calendars, and of the periods that a device derives from a tracking survey without asking anybody."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import sottovoce as sv
from sottovoce.questions import Shares
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.survey import Tracking

__all__ = ["calendar_vectors"]

CALENDARS = [
    Calendar(date(2027, 1, 4), "week", 13, 4, 7),
    Calendar(date(2027, 1, 4), "week", 52, 1, 0),
    Calendar(date(2028, 2, 27), "day", 7, 2, 7),
    Calendar(date(2023, 12, 28), "month", 3, None, 89),
    Calendar(date(2027, 1, 1), "month", 12, 2, 31),
    Calendar(date(2027, 1, 28), "quarter", 4, None, 365),
    Calendar(date(2028, 2, 28), "year", 2, 3, 10),
    Calendar(date(2027, 1, 1), "year", 5, 1, 7),
    Calendar(date(2027, 12, 25), 1, 10, None, 0),
    Calendar(date(2096, 2, 20), 14, 3660, None, 366),
    Calendar(date(1969, 12, 20), "week", 2, 2, 3),
    Calendar(date(2027, 1, 4), 3660, 690, None, 366),
]
"""Every unit; leap years, and 2100, which is none; days up to 28 at the end of short months; before 1970;
the longest grace; a second window beyond all dates."""

BAD = [
    {"starts": "2027-02-29"},
    {"starts": "2027-1-04"},
    {"starts": "20270104"},
    {"starts": "2027-01-04T00:00:00"},
    {"starts": 2027},
    {"starts": "2027-01-29", "every": "month"},
    {"starts": "2027-01-31", "every": "quarter"},
    {"starts": "2028-02-29", "every": "year"},
    {"every": "fortnight"},
    {"every": "7"},
    {"every": 0},
    {"every": 3661},
    {"every": 1.5},
    {"every": None},
    {"window": 1},
    {"window": 3661},
    {"window": None},
    {"windows": 0},
    {"windows": 10_001},
    {"grace": -1},
    {"grace": 367},
    {"grace": 92},
    {"every": "month", "window": 3, "starts": "2027-02-01", "grace": 90},
    {"every": "day", "window": 2, "grace": 3},
    {"every": "year", "window": 2, "grace": 367},
    {"grace": None},
    {"renews": 13},
    {"every": "year", "window": 3660, "windows": 2},
    {"starts": "8999-12-31"},
]
"""What makes a good calendar a bad one."""


def calendar_vectors() -> dict[str, Any]:
    """Calendars with their periods, what can be answered at some moments, bad calendars, and periods of a survey."""
    good = CALENDARS[0].to_statement()
    return {
        "about": "Moments are UTC. A period that contains a moment is null where there is none; `answerable` and "
        "`windows` are the first and the last, or an empty list. `promises` are of epsilon 0.1, and of epsilon 1 with "
        "delta 1e-6. `bad` calendars must be refused. `tracking` surveys have the `id`, and their periods the ids and "
        "tags, that a device derives.",
        "calendars": [_calendar(calendar) for calendar in CALENDARS],
        "bad": [good | change for change in BAD],
        "tracking": [_tracking(calendar) for calendar in CALENDARS[:4]],
    }


_LATE = [datetime(8999, 12, 31, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)]


def _numbers(calendar: Calendar) -> list[int]:
    last = calendar.periods or calendar.window * (1 + calendar.has_window(2))
    some = {1, 2, 3, 4, 5, calendar.window, calendar.window + 1, last - 1, last}
    return sorted(number for number in some if 1 <= number <= last)


def _calendar(calendar: Calendar) -> dict[str, Any]:
    numbers = _numbers(calendar)
    edges = [moment for n in numbers for moment in (calendar.start(n), calendar.end(n), calendar.closes(n))]
    second = timedelta(seconds=1)
    moments = sorted({*edges, *(edge - second for edge in edges), *_LATE})
    return {
        "calendar": calendar.to_statement(),
        "periods": [
            {
                "number": n,
                "window": calendar.window_of(n),
                "start": _text(calendar.start(n)),
                "end": _text(calendar.end(n)),
                "closes": _text(calendar.closes(n)),
                "label": calendar.label(n),
            }
            for n in numbers
        ],
        "promises": [calendar.promise(0.1), calendar.promise(1.0, 1e-6)],
        "spans": {str(n): calendar.spans(n) for n in (1, calendar.window, 4 * calendar.window)},
        "moments": [
            {
                "moment": _text(moment),
                "at": calendar.at(moment),
                "answerable": _ends(calendar.answerable(moment)),
                "windows": _ends(calendar.windows_at(moment)),
            }
            for moment in moments
        ],
    }


def _ends(found: range) -> list[int]:
    return [found[0], found[-1]] if found else []


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def _tracking(calendar: Calendar) -> dict[str, Any]:
    survey = sv.Tracking(
        Shares(["yes", "no"]),
        every=calendar.every,
        starts=calendar.starts,
        periods=calendar.periods,
        renews=calendar.window if calendar.renews else None,
        grace=calendar.grace,
        epsilon=1.0,
        title="Did you sleep well?",
    )
    periods = [_period(survey, number) for number in (1, 2, calendar.window)]
    return {"canonical": survey.canonical.decode(), "id": survey.id, "periods": periods}


def _period(tracking: Tracking, number: int) -> dict[str, Any]:
    survey = tracking.period(number)
    return {"number": number, "id": survey.id, "tag": survey.tag.hex()}
