"""The periods of a tracking survey: simulated people who draw one seat per window, and the curve of their reports.

People are simulated one period after the other, so memory is that of the largest period. Seats are drawn window by
window from (seed, window), reports from (seed, period): independent of the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_day, as_integer
from sottovoce.core.errors import MismatchError, NoReportsError, SimulationError, ValueOutsideDomainError
from sottovoce.core.progress import advancing
from sottovoce.estimates.asked import TrackedSurvey
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.simulation import Seed, check_seed

__all__ = ["Counted", "Histories", "curve_of", "simulate_periods"]

Counted: TypeAlias = "Mapping[int, Aggregate | Mapping[Any, Aggregate]]"
"""Aggregates by number of the period, and by group where the survey has groups."""

Histories = Any
"""An array or DataFrame with a row per person and a column per period; a DataFrame with the columns person, period
and value; a list of the values of each period; or a function of the number of a period that gives them. Periods are
numbered from 1, or named by a day in them, as are the columns of a DataFrame if all of them are days. Values of a
period are what `Survey.simulate` takes, in the same order of people."""


_LONG: Final = ("person", "period", "value")
"""Columns of histories with a row per value."""


class PeriodSurvey(Protocol):
    """The survey of one period."""

    @property
    def id(self) -> str: ...

    def estimate(self, reports: Aggregate | Mapping[Any, Aggregate], /) -> Estimate: ...

    def simulate_aggregate(
        self, values: Any = None, *, seed: Seed = None, progress: Callable[[int], object] | None = None
    ) -> Aggregate: ...


class PeriodSurveys(TrackedSurvey, Protocol):
    """A tracking survey that makes the surveys of its periods."""

    @property
    def calendar(self) -> Calendar: ...

    def period(self, number: int, /) -> PeriodSurvey: ...


def simulate_periods(
    tracking: PeriodSurveys,
    histories: Histories,
    seed: Seed = None,
    progress: Callable[[int], object] | None = None,
) -> dict[int, Aggregate]:
    """The counted reports of every period, by number; `progress` is called with the number of people done.

    A list or array may end before the survey does; a survey without an end takes only these. A function is called once
    for every period of a survey that ends.
    """
    fixed = int(np.random.SeedSequence().entropy) if seed is None else check_seed(seed)  # type: ignore[arg-type]
    calendar = tracking.calendar
    values_of, last = _values(histories, calendar)
    seats: NDArray[np.int16] | None = None
    people = 0
    aggregates: dict[int, Aggregate] = {}
    # Without a total: a function says how many people a period has when it comes to it.
    with advancing(progress, "simulating period by period", unit="people") as advance:
        for number in range(1, last + 1):
            values = values_of(number)
            window, seat = divmod(number - 1, calendar.window)
            if seat == 0 or seats is None:
                people = _count(values, number)
                drawn = np.random.Generator(np.random.PCG64DXSM(np.random.SeedSequence(fixed, spawn_key=(0, window))))
                seats = drawn.integers(0, calendar.window, size=people, dtype=np.int16)
            elif _count(values, number) != people:
                raise SimulationError(
                    f"histories has another number of people in period {number} than in the period before; everybody "
                    "has one value in every period of a window"
                ).at("histories")
            here = _chosen(values, np.flatnonzero(seats == seat))
            own = np.random.SeedSequence(fixed, spawn_key=(1, number)).generate_state(1, np.uint64)[0]
            try:
                aggregates[number] = tracking.period(number).simulate_aggregate(here, seed=int(own), progress=advance)
            except ValueOutsideDomainError as error:
                raise ValueOutsideDomainError(
                    f"histories, among those who answer in period {number}: {error}{_hint(histories)}"
                ).at("histories") from None
    return aggregates


def _values(histories: Histories, calendar: Calendar) -> tuple[Callable[[int], Any], int]:
    """The values of a period, and the last period that has any."""
    periods = calendar.periods
    if callable(histories):
        if periods is None:
            raise SimulationError(
                "histories must be a list or array for a survey without an end, so that the simulation has one"
            ).at("histories")
        return histories, periods
    if isinstance(histories, np.ndarray):
        if histories.ndim < 2:
            raise SimulationError("histories must have a row per person and a column per period").at("histories")
        count = histories.shape[1]

        def of(number: int) -> Any:
            return histories[:, number - 1]

    elif hasattr(histories, "columns"):
        wide = _wide(histories, calendar)
        count = len(wide.columns)

        def of(number: int) -> Any:
            return wide.iloc[:, number - 1]

    elif isinstance(histories, Sequence) and not isinstance(histories, (str, bytes)):
        count = len(histories)

        def of(number: int) -> Any:
            return histories[number - 1]

    else:
        raise SimulationError(
            "histories must be an array or DataFrame of people by periods, a DataFrame with the columns person, period "
            "and value, a list of the values of every period, or a function of the period's number"
        ).at("histories")
    if count < 1 or (periods is not None and count > periods):
        most = "" if periods is None else f" to {periods:,}"
        raise SimulationError(f"histories has {count:,} periods: give values for 1{most}, as the calendar has").at(
            "histories"
        )
    return of, count


def _wide(frame: Any, calendar: Calendar) -> Any:
    """A DataFrame with a row per person and a column per period, from one of that form or with a row per value."""
    person, period, value = _LONG
    if not {period, value} & set(frame.columns):
        wide = frame.drop(columns=person, errors="ignore")
        numbers = _numbers(wide.columns, calendar)
        # Columns that are not days are the periods in their order, whatever they are called.
        return wide if numbers is None else _in_order(wide, numbers)
    if set(frame.columns) != set(_LONG):
        raise SimulationError(
            f"histories with a row per value must have exactly the columns {', '.join(_LONG)}; rename or drop others"
        ).at("histories")
    try:
        wide = frame.pivot(index=person, columns=period, values=value)
    except ValueError:
        raise SimulationError("histories has a person with two values in one period; give one").at(
            "histories"
        ) from None
    except TypeError:
        raise SimulationError("histories must name people and periods by numbers, texts or days").at(
            "histories"
        ) from None
    numbers = _numbers(wide.columns, calendar)
    return _in_order(wide, [as_integer(name) for name in wide.columns] if numbers is None else numbers)


def _numbers(names: Iterable[object], calendar: Calendar) -> list[int | None] | None:
    """The numbers of periods that are named by a day in each; None if one is named otherwise."""
    days = [as_day(name) for name in names]
    known = [day for day in days if day is not None]
    return [calendar.on(day) for day in known] if len(known) == len(days) else None


def _in_order(wide: Any, numbers: Sequence[int | None]) -> Any:
    """The columns by the numbers of their periods, which must be all up to the last."""
    if {*numbers} != {*range(1, len(numbers) + 1)}:
        raise SimulationError(
            "histories must number the periods from 1, or name each by a day in it, with none left out and none twice"
        ).at("histories")
    return wide.iloc[:, np.argsort(np.array(numbers, dtype=np.int64))]


def _hint(histories: Histories) -> str:
    is_frame = hasattr(histories, "columns")
    return f"; a DataFrame with a row per value has the columns {', '.join(_LONG)}" if is_frame else ""


def _count(values: Any, number: int) -> int:
    if isinstance(values, Mapping):
        counts = {len(column) for column in values.values()}
        if len(counts) != 1:
            raise SimulationError(f"histories has columns of different lengths in period {number}").at("histories")
        return counts.pop()
    try:
        return len(values)
    except TypeError:
        raise SimulationError(
            f"histories must give the values of period {number} as a list or array, one per person"
        ).at("histories") from None


def _chosen(values: Any, here: NDArray[np.intp]) -> Any:
    """The values of the people whose seat it is."""
    if isinstance(values, Mapping):
        return {name: _chosen(column, here) for name, column in values.items()}
    if isinstance(values, np.ndarray):
        return values[here]
    if hasattr(values, "iloc"):
        return values.iloc[here]
    listed = values if isinstance(values, Sequence) else list(values)
    return [listed[int(at)] for at in here]


def curve_of(tracking: PeriodSurveys, aggregates: Counted, closed: Collection[int] | None = None) -> Curve:
    """The curve of the aggregates of periods, by number.

    Parameters
    ----------
    aggregates
        Each of its own period's survey, or those of its groups by group; an empty one is a gap, as is a period that is
        left out between two others.
    closed
        The numbers of the periods that take no more reports; the others are unfinished. None if all are closed.
    """
    if not isinstance(aggregates, Mapping) or not aggregates:
        raise NoReportsError("there are no periods: give a mapping of numbers of periods to their aggregates").at(
            "aggregates"
        )
    surveys = {number: tracking.period(number) for number in aggregates}
    estimates = {}
    for number, survey in sorted(surveys.items(), key=lambda item: item[0]):
        aggregate = aggregates[number]
        if isinstance(aggregate, Mapping):  # by group
            if any(found.n_reports for found in aggregate.values()):
                estimates[number] = survey.estimate(aggregate)
            continue
        if not isinstance(aggregate, Aggregate):
            raise MismatchError(f"period {number} must have an aggregate, not {type(aggregate).__name__}").at(
                "aggregates"
            )
        if aggregate.survey.id != survey.id:
            raise MismatchError(
                f"the aggregate of period {number} belongs to survey {aggregate.survey.id[:12]}, not to "
                f"{survey.id[:12]}: give each period its own"
            ).at("aggregates")
        if aggregate.n_reports:
            estimates[number] = survey.estimate(aggregate)
    periods = range(min(aggregates), max(aggregates) + 1)
    unfinished = frozenset() if closed is None else frozenset(periods) - frozenset(closed)
    return Curve(tracking, estimates, periods, unfinished)
