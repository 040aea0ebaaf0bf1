"""A survey: the frozen statement of one collection, from which both sides derive everything.

Who it is, is in `statement`; what a survey of each kind asks is in `protocols`.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.aggregate import Aggregate, Reports
from sottovoce.errors import MechanismError, NoReportsError, SimulationError, SurveyError
from sottovoce.estimate import Estimate
from sottovoce.limits import (
    DEFAULT_COUNTERS,
    DEFAULT_REPORT_BYTES,
    DEFAULT_STRATEGY,
    DEFAULT_USERS,
    MAX_REPORT_BYTES,
)
from sottovoce.mechanisms.base import Counts
from sottovoce.promise import delta_of, promised
from sottovoce.randomness import os_source
from sottovoce.simulation import AnyMechanism, People, Seed, count_reports, draw_reports
from sottovoce.statement import Stated, read_statement
from sottovoce.theory.bounds import Bound

if TYPE_CHECKING:
    from sottovoce.protocols.adaptive import AdaptiveSurvey
    from sottovoce.protocols.distribution import DistributionSurvey
    from sottovoce.protocols.means import MeanSurvey
    from sottovoce.protocols.queries import QuerySurvey
    from sottovoce.strategies import Strategy
    from sottovoce.workloads import Workload

__all__ = ["Ends", "Survey", "mechanism_statement"]

Ends = float | NDArray[np.float64]


class Survey(Stated):
    """What is asked, of whom, at what epsilon, by which mechanism.

    Make one with `distribution`, `queries` or `mean`; `adaptive` makes one of many rounds.

    Examples
    --------
    >>> survey = Survey.distribution(["red", "green", "blue"], epsilon=1.0)
    >>> reports = survey.simulate(["red"] * 5000 + ["green"] * 3000 + ["blue"] * 2000, seed=7)
    >>> estimate = survey.estimate(reports)
    >>> [label for label, *_ in estimate.top(1)]
    ['red']
    """

    mechanism: AnyMechanism

    @staticmethod
    def distribution(
        domain: object,
        epsilon: float,
        mechanism: str = "auto",
        *,
        title: str = "",
        max_report_bytes: int = DEFAULT_REPORT_BYTES,
    ) -> DistributionSurvey:
        """Ask how people are distributed over a domain, under pure epsilon-LDP.

        Parameters
        ----------
        domain
            Labels, an integer size, a range, a mapping of named attributes, or a `Domain`.
        epsilon
            What one report may reveal: any two values make any report equally likely up to e**epsilon.
        mechanism
            A name from `sottovoce.mechanisms.MECHANISMS`, or "auto": the least exact expected error
            among those whose report fits into `max_report_bytes`; `explain` tells why.
        """
        from sottovoce.protocols.distribution import DistributionSurvey

        return DistributionSurvey.make(domain, epsilon, mechanism, title, max_report_bytes)

    @staticmethod
    def queries(
        workload: Workload,
        epsilon: float,
        delta: float = 0.0,
        mechanism: str = "auto",
        *,
        strategy: str | Strategy = DEFAULT_STRATEGY,
        users: int = DEFAULT_USERS,
        title: str = "",
        max_report_bytes: int = MAX_REPORT_BYTES,
        max_counters: int = DEFAULT_COUNTERS,
    ) -> QuerySurvey:
        """Ask for the mean answers to a set of linear queries that is fixed beforehand.

        Parameters
        ----------
        workload
            The queries, one of `sottovoce.workloads`.
        delta
            0 for pure epsilon-LDP; the `gaussian` mechanism needs a small positive one.
        mechanism
            For the direct strategy "codebook", "gaussian", "rejection", or "auto": the least total variance that
            `delta` and `max_report_bytes` allow. Other strategies bring their own.
        strategy
            How answers are got from reports: "direct", "factorized", "optimized", "hierarchical", "haar", "fourier",
            "histogram", a strategy of `sottovoce.strategies`, or "auto": the least expected error of all that can
            serve; `explain` tells why.
        users
            About how many people will answer; more or fewer do no harm, only a little error.
        max_counters
            Most integers the aggregate may hold, where the mechanism is "codebook". People share its rotations where
            these are too few for `users`, which adds error; beyond what one process keeps, reports are counted in
            shards by `sottovoce.engines`.
        """
        from sottovoce.protocols.queries import QuerySurvey

        return QuerySurvey.make(
            workload, epsilon, delta, mechanism, strategy, title, users, max_report_bytes, max_counters
        )

    @staticmethod
    def mean(
        dimension: int,
        radius: float,
        epsilon: float,
        delta: float = 0.0,
        mechanism: str = "auto",
        *,
        users: int = DEFAULT_USERS,
        title: str = "",
        max_report_bytes: int = MAX_REPORT_BYTES,
        max_counters: int = DEFAULT_COUNTERS,
        clip: bool = False,
    ) -> MeanSurvey:
        """Ask for the mean of people's vectors, each of norm at most `radius`.

        Parameters are those of `queries`. A device moves a vector outside the ball to the ball's nearest point, for
        a refusal would say something about it. A simulation refuses one, so that a wrong radius is noticed, unless
        `clip` is True; `clip` is no part of the survey.
        """
        from sottovoce.protocols.means import MeanSurvey

        return MeanSurvey.make(
            dimension, radius, epsilon, delta, mechanism, title, users, max_report_bytes, max_counters, clip
        )

    @staticmethod
    def adaptive(
        domain: object, rounds: int, epsilon: float, *, radius: float = 1.0, title: str = ""
    ) -> AdaptiveSurvey:
        """Ask one question after another, each chosen after seeing the answers before it.

        Parameters
        ----------
        domain
            What one person's record can be, as for `distribution`; products of up to 2**63 records.
        rounds
            How many questions may be asked at most. Everybody answers one of them, drawn once: more rounds leave
            fewer people to each.
        radius
            How large a question's values may be: every one must stay within [-radius, radius].
        """
        from sottovoce.protocols.adaptive import AdaptiveSurvey

        return AdaptiveSurvey.make(domain, rounds, epsilon, radius, title)

    # --- what each kind says ----------------------------------------------------------------

    @abc.abstractmethod
    def _own_fields(self) -> dict[str, Any]:
        """The fields of the JSON besides the mechanism that only this kind has."""

    @final
    def _own_statement(self) -> dict[str, Any]:
        return {"mechanism": {"name": self.mechanism.name, **self.mechanism.parameters()}, **self._own_fields()}

    @abc.abstractmethod
    def _private_input(self, value: object) -> Any:
        """What the mechanism randomizes, from one person's value; raises without naming the value."""

    @abc.abstractmethod
    def _people(self, values: Any) -> People:
        """Simulated people with these values."""

    @abc.abstractmethod
    def _people_of_histogram(self, histogram: ArrayLike) -> People:
        """Simulated people, so many of each value."""

    @abc.abstractmethod
    def _estimate(self, counts: Counts, n_reports: int) -> Estimate:
        """Raw and projected answers from at least one report."""

    @property
    @abc.abstractmethod
    def n_answers(self) -> int:
        """How many numbers an estimate holds."""

    @abc.abstractmethod
    def answer_label(self, index: int) -> str:
        """What an answer is called."""

    @final
    def answer_labels(self) -> list[str]:
        """What all answers are called, in order."""
        return [self.answer_label(i) for i in range(self.n_answers)]

    @abc.abstractmethod
    def answer_index(self, name: object) -> int:
        """Where the answer with that name or index stands."""

    @abc.abstractmethod
    def standard_errors(self, values: NDArray[np.float64], n_reports: int) -> NDArray[np.float64]:
        """Standard error of every raw answer, sampling of people included, where the answers are `values`."""

    @abc.abstractmethod
    def bound(self, n_reports: int) -> Bound:
        """What the expected L2 error of an estimate from so many reports stays below, for every population."""

    @property
    @abc.abstractmethod
    def proxy(self) -> Ends | None:
        """tau^2 such that a raw answer is sub-Gaussian with proxy tau^2 / n_reports: for all, or one each.

        None where it is not known; intervals for any number of reports are then Chebyshev's.
        """

    def sharing_factor(self, n_reports: int) -> float:
        """What people sharing public randomness can multiply variances and proxies by; 1 where nobody shares any."""
        return 1.0

    @property
    def bias_bound(self) -> Ends:
        """The most that the expectation of a raw answer can be off, however many report: for all, or one each."""
        return 0.0

    @property
    @abc.abstractmethod
    def answer_range(self) -> tuple[Ends, Ends]:
        """Between which numbers the answers must lie: for all of them, or one pair each."""

    @abc.abstractmethod
    def explain(self, users: int = 1_000_000) -> str:
        """Why this mechanism, compared with every other that can serve."""

    # --- identity ---------------------------------------------------------------------------

    @staticmethod
    def from_json(text: str | bytes, attachments: Mapping[str, bytes] | None = None) -> Survey | AdaptiveSurvey:
        """The survey behind its JSON, of whatever kind. Every field is checked again; unknown ones are refused.

        `attachments` holds what the JSON names by its digest only, if anything; see `survey.attachments`.
        """
        if attachments is not None and not isinstance(attachments, Mapping):
            raise SurveyError("attachments must be a mapping of digests to bytes, as survey.attachments is")
        return cast("Survey | AdaptiveSurvey", read_statement(text, {} if attachments is None else attachments))

    @final
    def __repr__(self) -> str:
        return (
            f"<{self.kind} survey {self.id[:12]}: {self.n_answers:,} answers, "
            f"{promised(self.epsilon, delta_of(self))}, {self.mechanism.name}>"
        )

    # --- the device's side ------------------------------------------------------------------

    @final
    def randomize(self, value: object) -> bytes:
        """One device's report, as bytes, from the operating system's entropy.

        Every call draws again and spends epsilon again: a device calls this once and keeps the bytes.
        """
        report = self.mechanism.randomize(self._private_input(value), os_source())
        return self.tag + self.mechanism.encode(report)

    # --- the collector's side ---------------------------------------------------------------

    @final
    def aggregate(self) -> Aggregate:
        """The empty aggregate; add reports to it, merge it with others."""
        return Aggregate(self, 0, self.mechanism.empty())

    @final
    def estimate(self, reports: Aggregate | Reports | Iterable[bytes]) -> Estimate:
        """Raw and projected answers, with intervals, from an aggregate or from reports."""
        empty = self.aggregate()
        aggregate = empty.merge(reports) if isinstance(reports, Aggregate) else empty.add(reports)
        if aggregate.n_reports == 0:
            raise NoReportsError("there is nothing to estimate from: the aggregate holds no report yet")
        return self._estimate(aggregate.counts, aggregate.n_reports)

    # --- simulation -------------------------------------------------------------------------

    @final
    def simulate(self, values: Any, seed: Seed = None) -> Reports:
        """Reports of simulated people with these values: vectorised, the device's law, reproducible."""
        return Reports(self, draw_reports(self.mechanism, self._people(values), seed))

    @final
    def simulate_aggregate(
        self,
        values: Any = None,
        *,
        histogram: ArrayLike | None = None,
        seed: Seed = None,
        progress: Callable[[int], object] | None = None,
    ) -> Aggregate:
        """Like `simulate`, but reports are only counted: memory does not grow with the number of people.

        Give `values`, one a person, or `histogram`, the number of people with each value.
        `progress` is called with the number of people done since its last call.
        """
        if (values is None) == (histogram is None):
            raise SimulationError("give either values (one a person) or histogram (people per value)")
        people = self._people(values) if histogram is None else self._people_of_histogram(histogram)
        return Aggregate(self, people.n, count_reports(self.mechanism, people, seed, progress))


def mechanism_statement(statement: object) -> tuple[object, dict[str, Any]]:
    """The name and the parameters in a survey's `mechanism` field."""
    if not isinstance(statement, dict) or "name" not in statement:
        raise MechanismError("the survey's mechanism must hold a name and its own parameters")
    return statement["name"], {key: number for key, number in statement.items() if key != "name"}
