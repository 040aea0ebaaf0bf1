"""The calendar of a tracking survey: when its periods begin, end and close, and how often a person answers.

All times are UTC, and a period begins at midnight. Periods follow each other without a gap: what is stated is the first
day and one length, so that periods which overlap, or last no time, cannot be stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar, Final, Self, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import guarantee, in_windows, plural
from sottovoce.questions.parameter import Parameter, check_parameters
from sottovoce.surveys.calendar_fields import (
    DAYS,
    EVERY,
    MAX_GRACE,
    MAX_WINDOW,
    MONTHS,
    RENEWS,
    SHORTEST_MONTH,
    UNITS,
    first_day,
    period_length,
    shortest_days,
    text_of,
    window_length,
)
from sottovoce.surveys.statement import check_fields

__all__ = ["MAX_WINDOWS", "Calendar", "Period"]

MAX_WINDOWS: Final = 10_000

_LAST_DAY: Final = date(9000, 1, 1)
_USUAL_GRACE: Final = 7

_MONTH_NAMES: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


@final
@dataclass(frozen=True)
class Calendar:
    """The periods of a tracking survey, in windows: everybody answers in one period of each window.

    Attributes
    ----------
    starts
        The first day of the first period.
    every
        The length of a period: a name of `UNITS`, or a number of days.
    window
        Number of periods of a window.
    windows
        Number of windows; None if the survey goes on until it is sealed.
    grace
        Days after its end in which a period may still be answered, before it closes. At most the shortest window, so
        that no more than two windows can be answered at any moment: when one begins, all before the last have closed.

    Examples
    --------
    >>> calendar = Calendar.of(every="week", starts="2027-01-04", periods=52)
    >>> calendar.label(2), calendar.closes(2).isoformat()
    ('week of 11 January 2027', '2027-01-25T00:00:00+00:00')
    """

    starts: date
    every: str | int
    window: int
    windows: int | None = 1
    grace: int = _USUAL_GRACE

    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("every", "text", f"length of a period: {', '.join(UNITS)}, or a number of days", "week"),
        Parameter("starts", "text", "first day of the first period (UTC)", "2027-01-04"),
        Parameter("periods", "integer", "number of periods", "52", optional=True, low=2, high=MAX_WINDOW * MAX_WINDOWS),
        Parameter(
            "renews",
            "text",
            "periods after which everybody answers again, or the name of such a span; left out: everybody answers once",
            "quarter",
            optional=True,
        ),
        Parameter(
            "grace",
            "integer",
            "days after its end in which a period may still be answered, at most a window; left out: 7, or one period "
            "if that is shorter",
            "7",
            optional=True,
            low=0,
            high=MAX_GRACE,
        ),
    )

    def __post_init__(self) -> None:
        if isinstance(self.starts, datetime) or not isinstance(self.starts, date):
            raise SurveyError("starts must be a date, for example '2027-01-04'").at("starts")
        if self.every not in UNITS:
            if isinstance(self.every, str):
                raise SurveyError(EVERY).at("every")
            object.__setattr__(self, "every", check_integer("every", self.every, 1, MAX_WINDOW))
        if self.every in MONTHS and self.starts.day > SHORTEST_MONTH:
            raise SurveyError(
                f"starts must be on one of the first {SHORTEST_MONTH} days of a month if periods are months, quarters "
                "or years, since not every month has the others"
            ).at("starts")
        object.__setattr__(self, "window", check_integer("window", self.window, 2, MAX_WINDOW))
        if self.windows is not None:
            object.__setattr__(self, "windows", check_integer("windows", self.windows, 1, MAX_WINDOWS))
        object.__setattr__(self, "grace", check_integer("grace", self.grace, 0, MAX_GRACE))
        most = shortest_days(self.every, self.window)
        if self.grace > most:
            raise SurveyError(
                f"grace is {self.grace}: it must be an integer from 0 to {most}, the days of the shortest window, so "
                "that at most two windows can be answered at a time; give fewer days or longer windows"
            ).at("grace")
        if not self._has_date((self.periods or self.window) + 1):
            raise SurveyError(f"the last period must end before the year {_LAST_DAY.year}").at("periods")

    @classmethod
    def of(cls, **given: Any) -> Self:
        """The calendar with these parameters (`Calendar.parameters`).

        `periods` alone: everybody answers once. `renews` alone: once in that many periods, without an end. Both: once
        in each of the windows that the periods are divided into.
        """
        stated = dict(given)
        starts = stated.get("starts")
        stated["every"] = text_of("every", stated.get("every"), EVERY)
        stated["renews"] = text_of("renews", stated.get("renews"), RENEWS)
        stated["starts"] = starts.isoformat() if isinstance(starts, date) else starts
        fields = check_parameters("a tracking survey", cls.parameters, stated)
        length = period_length(fields["every"])
        first, periods = first_day(fields["starts"]), fields.get("periods")
        window = window_length(length, fields.get("renews"))
        grace = fields.get("grace", _usual_grace(length))
        if window is None:
            if periods is None:
                raise SurveyError("give periods, for a survey that ends, or renews, for one that goes on").at("periods")
            return cls(first, length, check_integer("periods", periods, 2, MAX_WINDOW), 1, grace)
        if periods is None:
            return cls(first, length, window, None, grace)
        if periods % window:
            below, above = periods // window * window, (periods // window + 1) * window
            raise SurveyError(
                f"periods is {periods:,}, which windows of {window:,} do not divide; for example {below or above:,}"
            ).at("periods")
        return cls(first, length, window, periods // window, grace)

    # --- times ------------------------------------------------------------------------------

    @property
    def periods(self) -> int | None:
        """Number of periods; None for a calendar without an end."""
        return None if self.windows is None else self.window * self.windows

    @property
    def renews(self) -> bool:
        """Whether a person answers more than once."""
        return self.windows != 1

    def start(self, number: int) -> datetime:
        """The moment at which a period begins; periods are numbered from 1."""
        return _midnight(self._first_day(self._check(number)))

    def end(self, number: int) -> datetime:
        """The moment at which a period ends and the next one begins."""
        return _midnight(self._first_day(self._check(number) + 1))

    def closes(self, number: int) -> datetime:
        """The moment from which a period can no longer be answered."""
        return self.end(number) + timedelta(days=self.grace)

    def at(self, moment: datetime) -> int | None:
        """The period that contains a moment; None before the first and after the last, and in the year 9000."""
        return self.on(moment.astimezone(UTC).date())

    def on(self, day: date) -> int | None:
        """The period that contains a day, as `at`.

        Examples
        --------
        >>> Calendar.of(every="week", starts="2027-01-04", periods=52).on(date(2027, 1, 12))
        2
        """
        if not self.starts <= day < _LAST_DAY:
            return None
        if self.every in MONTHS:
            months = 12 * (day.year - self.starts.year) + day.month - self.starts.month - (day.day < self.starts.day)
            number = 1 + months // MONTHS[str(self.every)]
        else:
            number = 1 + (day - self.starts).days // self._days
        return None if self.periods is not None and number > self.periods else number

    def answerable(self, moment: datetime) -> range:
        """The periods that have begun and not closed."""
        if moment < self.start(1):
            return range(0)
        last = self.at(moment) or self.periods or 0
        first = last + 1
        while first > 1 and moment < self.closes(first - 1):
            first -= 1
        return range(first, last + 1)

    # --- windows ----------------------------------------------------------------------------

    @property
    def seats(self) -> int:
        """The number of periods in a window; a person answers in one of them."""
        return self.window

    def window_of(self, number: int) -> int:
        """The window of a period, from 1."""
        return 1 + (self._check(number) - 1) // self.window

    def first_of(self, window: int) -> int:
        """The first period of a window."""
        return self._check(1 + (window - 1) * self.window)

    def has_window(self, window: int) -> bool:
        """Whether there is such a window: within the calendar, and before the year 9000."""
        within = window >= 1 and (self.windows is None or window <= self.windows)
        return within and self._has_date(window * self.window + 1)

    def windows_at(self, moment: datetime) -> range:
        """The windows that have begun and in which some period has not closed: two at most, since grace is at most one.

        A window of a calendar without an end that would not end before the year 9000 is none.
        """
        if moment < self.start(1):
            return range(0)
        number = self.at(moment)
        last = self.window_of(number) if number is not None else self.windows or 0
        if last and not self.has_window(last):
            last -= 1
        first = last + 1
        while first > 1 and moment < self.closes((first - 1) * self.window):
            first -= 1
        return range(first, last + 1)

    # --- words ------------------------------------------------------------------------------

    def label(self, number: int) -> str:
        """The period in words."""
        day = self._first_day(self._check(number))
        written = f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"
        match self.every:
            case "day":
                return written
            case "week":
                return f"week of {written}"
            case "month" if day.day == 1:
                return f"{_MONTH_NAMES[day.month - 1]} {day.year}"
            case "year" if (day.month, day.day) == (1, 1):
                return str(day.year)
            case str(unit):
                return f"{unit} from {written}"
            case days:
                return f"{plural(days, 'day')} from {written}"

    def spans(self, periods: int) -> str:
        """A number of periods in words."""
        return plural(periods, self.every) if isinstance(self.every, str) else plural(periods * self.every, "day")

    def promise(self, epsilon: float, delta: float = 0.0) -> str:
        """The guarantee for a person's history: in each window, in any stretch as long as one, and in all windows.

        In a window a device sends one report, of its value in one period, with this epsilon. A stretch [t, t + L),
        where L is a window's length in days or in months, meets two windows at most: let b > t be the first boundary
        of windows after t. Adding L keeps the order of days, and is exact for b, a day up to the 28th of a month. So
        t + L <= b + L, which is the next boundary: it is not in the stretch. Two histories that differ only in the
        stretch are apart by two reports at most, and epsilons add up (basic composition). In the same way k windows'
        length meets k + 1 windows.

        This is about values. Within such a stretch up to three reports may leave the device, or two without grace: each
        leaves between the beginning of its window and the end of the grace, which is at most a window.

        Examples
        --------
        >>> Calendar.of(every="week", starts="2027-01-04", periods=52).promise(1.0)
        'epsilon 1 for all 52 weeks together'
        >>> Calendar.of(every="week", starts="2027-01-04", periods=52, renews="quarter").promise(1.0)
        'epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks'
        """
        each = guarantee(epsilon, delta)
        if self.windows == 1:
            return f"{each} for all {self.spans(self.window)} together"
        windows = self.windows or 4
        added = guarantee(windows * epsilon, windows * delta)
        said = in_windows(each, guarantee(2 * epsilon, 2 * delta), self.spans(self.window))
        if self.windows is None:
            return f"{said}, which adds up without an end: {added} in {plural(windows, 'window')}"
        return f"{said}, and {added} over all {self.spans(windows * self.window)}"

    # --- statement --------------------------------------------------------------------------

    def to_statement(self) -> dict[str, Any]:
        """The calendar as plain JSON values."""
        return {
            "starts": self.starts.isoformat(),
            "every": self.every,
            "window": self.window,
            "windows": self.windows,
            "grace": self.grace,
        }

    @classmethod
    def from_statement(cls, statement: object) -> Self:
        """Read a calendar from JSON, checking every field."""
        check_fields(statement, "a calendar", {"starts", "every", "window", "windows", "grace"})
        stated: Any = statement
        if not isinstance(stated["every"], str | int):
            raise SurveyError(EVERY).at("every")
        return cls(first_day(stated["starts"]), stated["every"], stated["window"], stated["windows"], stated["grace"])

    # --- arithmetic of days -----------------------------------------------------------------

    @property
    def _days(self) -> int:
        return DAYS[self.every] if isinstance(self.every, str) else self.every

    def _has_date(self, number: int) -> bool:
        """Whether a period begins before the year 9000."""
        try:
            return self._first_day(number) < _LAST_DAY
        except SurveyError:
            return False

    def _first_day(self, number: int) -> date:
        try:
            if self.every not in MONTHS:
                return self.starts + timedelta(days=(number - 1) * self._days)
            years, month = divmod(self.starts.month - 1 + (number - 1) * MONTHS[str(self.every)], 12)
            return self.starts.replace(year=self.starts.year + years, month=month + 1)
        except (OverflowError, ValueError):
            raise _too_late() from None

    def _check(self, number: int) -> int:
        return check_integer("period", number, 1, self.periods or MAX_WINDOW * MAX_WINDOWS)


@final
@dataclass(frozen=True)
class Period:
    """One period of a calendar."""

    calendar: Calendar
    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", self.calendar._check(self.number))
        if self.end.date() >= _LAST_DAY:
            raise _too_late()

    @property
    def start(self) -> datetime:
        return self.calendar.start(self.number)

    @property
    def end(self) -> datetime:
        return self.calendar.end(self.number)

    @property
    def closes(self) -> datetime:
        return self.calendar.closes(self.number)

    @property
    def window(self) -> int:
        return self.calendar.window_of(self.number)

    @property
    def label(self) -> str:
        return self.calendar.label(self.number)


def _too_late() -> SurveyError:
    """The error for a period after the last day of a calendar without an end."""
    message = f"period is too large: it must end before the year {_LAST_DAY.year}; choose an earlier one"
    return SurveyError(message).at("period")


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _usual_grace(length: str | int) -> int:
    """A week, or one period if that is shorter; of a unit that is refused later, a week."""
    return min(_USUAL_GRACE, length if isinstance(length, int) else DAYS.get(length, _USUAL_GRACE))
