"""The periods of a tracking survey: simulated people who draw one seat per window, and the curve of their reports.

People are simulated one period after the other, so memory is that of the largest period. Seats are drawn window by
window from (seed, window), reports from (seed, period): independent of the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MismatchError, NoReportsError, SimulationError
from sottovoce.core.progress import advancing
from sottovoce.estimates.asked import TrackedSurvey
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.estimate import Estimate
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.simulation import Seed, check_seed

__all__ = ["Histories", "curve_of", "simulate_periods"]

Histories = Any
"""An array with a row per person and a column per period; a list of the values of each period; or a function of the
number of a period that gives them. Values of a period are what `Survey.simulate` takes, in the same order of people."""


class PeriodSurvey(Protocol):
    """The survey of one period."""

    @property
    def id(self) -> str: ...

    def estimate(self, reports: Aggregate, /) -> Estimate: ...

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
    values_of, last = _values(histories, calendar.periods)
    seats: NDArray[np.int16] | None = None
    people = 0
    found: dict[int, Aggregate] = {}
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
            found[number] = tracking.period(number).simulate_aggregate(here, seed=int(own), progress=advance)
    return found


def _values(histories: Histories, periods: int | None) -> tuple[Callable[[int], Any], int]:
    """The values of a period, and the last period that has any."""
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

    elif isinstance(histories, Sequence) and not isinstance(histories, (str, bytes)):
        count = len(histories)

        def of(number: int) -> Any:
            return histories[number - 1]

    else:
        raise SimulationError(
            "histories must be an array of people by periods, a list of the values of every period, or a function of "
            "the period's number"
        ).at("histories")
    if count < 1 or (periods is not None and count > periods):
        most = "" if periods is None else f" to {periods:,}"
        raise SimulationError(f"histories has {count:,} periods: give values for 1{most}, as the calendar has").at(
            "histories"
        )
    return of, count


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


def curve_of(
    tracking: PeriodSurveys, aggregates: Mapping[int, Aggregate], closed: Collection[int] | None = None
) -> Curve:
    """The curve of the aggregates of periods, by number.

    Parameters
    ----------
    aggregates
        Each of its own period's survey; an empty one is a gap, as is a period that is left out between two others.
    closed
        The numbers of the periods that take no more reports; the others are unfinished. None if all are closed.
    """
    if not isinstance(aggregates, Mapping) or not aggregates:
        raise NoReportsError("there are no periods: give a mapping of numbers of periods to their aggregates").at(
            "aggregates"
        )
    surveys = {number: tracking.period(number) for number in aggregates}
    estimates = {}
    for number, survey in sorted(surveys.items(), key=lambda one: one[0]):
        aggregate = aggregates[number]
        if not isinstance(aggregate, Aggregate):
            raise MismatchError(f"period {number} must have an aggregate, not {type(aggregate).__name__}")
        if aggregate.survey.id != survey.id:
            raise MismatchError(
                f"the aggregate of period {number} belongs to survey {aggregate.survey.id[:12]}, not to "
                f"{survey.id[:12]}: give each period its own"
            )
        if aggregate.n_reports:
            estimates[number] = survey.estimate(aggregate)
    periods = range(min(aggregates), max(aggregates) + 1)
    unfinished = frozenset() if closed is None else frozenset(periods) - frozenset(closed)
    return Curve(tracking, estimates, periods, unfinished)
