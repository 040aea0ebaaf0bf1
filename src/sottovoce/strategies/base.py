"""`Strategy`: a way to estimate a workload's answers from one report per person, A p = shift + R V p.

V maps a distribution to *coordinates*. A mechanism gives an unbiased estimate of V p whose noise is the same, or nearly
the same, in all directions; answers are R times that. Projecting on the hull of V's columns, in V's space, is then
generalised least squares: the nearest distribution with respect to the noise covariance. Projecting on the hull of A's
columns, in the space of the answers, is never farther from the truth than the raw answers are. A design takes the one
whose proved bound is lower.

A *design* is a strategy with its mechanism at one epsilon: an instance of a `Strategy`.
"""

from __future__ import annotations

import abc
import math
from functools import cached_property
from typing import Any, ClassVar, Self, final

from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, MechanismError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.tables import Tables
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.projections.hull import project_hull
from sottovoce.projections.operator import Operator
from sottovoce.strategies.laws.answer_variance import AnswerVariance, PerAnswer
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.nearest import Projection, answers_of, nearest_answers
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.theory.bounds import BY_VARIANCE, Bound
from sottovoce.theory.offline_bounds import describe_bias, projected_bound

__all__ = ["Strategy"]


class Strategy(AnswerVariance):
    """One way to answer one workload. Frozen; device and collector derive everything from its JSON."""

    name: ClassVar[str]
    """Name in a survey's JSON and on the command line."""
    summary: ClassVar[str]
    """What it does, in a few words."""

    answer_name: ClassVar[str] = "answer"
    """What one of its answers is about, for people."""

    attached: ClassVar[bool] = False
    """Whether there is an `attachment`."""

    family: ClassVar[type[FiniteMechanism] | type[VectorMechanism] | None] = None
    """The mechanisms of which it leaves a choice; None where it brings its own."""

    quick_values: ClassVar[int | None] = None
    """Up to how many values its designs are found while somebody waits; None for any number."""

    mechanism: ChannelMechanism | VectorMechanism | SetMechanism | Tables | HashedPrefixes

    @classmethod
    @abc.abstractmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Every design of this strategy, one per usable mechanism, for any size of report.

        Its own parameters are chosen for the least error. Raises `SurveyError` or `CapacityError` if it cannot serve.
        """

    @classmethod
    @abc.abstractmethod
    def restore(cls, stated: Statement) -> Self:
        """The design from a survey's JSON; raises `SurveyError` if anything is wrong."""

    def for_users(self, users: int, max_counters: int) -> Self:
        """The design for another number of people; only public rotations change."""
        return self

    def remark(self, users: int) -> str:
        """What else there is to say about the design for so many people, in a sentence; empty for most."""
        return ""

    # --- the device's side ------------------------------------------------------------------

    @abc.abstractmethod
    def inputs(self, indices: NDArray[Any]) -> NDArray[Any]:
        """The mechanism's inputs, one row per person, for people whose values have these numbers."""

    # --- the analyst's side -----------------------------------------------------------------

    @property
    @abc.abstractmethod
    def coordinates(self) -> Operator:
        """V, as an operator."""

    @abc.abstractmethod
    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """An unbiased estimate of V p."""

    @abc.abstractmethod
    def answers(self, coordinates: Floats) -> Floats:
        """The answers for given coordinates: shift + R v."""

    # --- what one report tells, and can do --------------------------------------------------

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """What one report says of every answer, or of combinations of answers, one per row of `weights`.

        X is the answer from one report alone; the raw answer is the mean of n of them. Its expectation is h_u for a
        person of value u, and the true answer for everybody together. Intervals follow from its law. `ends` are the
        least and the largest answers that a person can give to the combinations.
        """
        raise MechanismError(f"the law of one report is not known for the strategy {self.name!r}; implement its law")

    @cached_property
    def spread(self) -> Spread:
        """The largest difference of every raw answer between two reports: what malicious devices do follows from it.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> found = HaarStrategy.best(Prefix(64), 1.0).spread
        >>> found.exact, len(found.per_answer)
        (True, 64)
        """
        raise MechanismError(
            f"what one report can do to the answers of the strategy {self.name!r} is not known; implement its spread"
        )

    # --- further error quantities ------------------------------------------------------

    @property
    @abc.abstractmethod
    def proxy(self) -> PerAnswer | None:
        """tau^2 such that a raw answer is sub-Gaussian with proxy tau^2/n: for all, or one each; None if unknown."""

    @property
    @abc.abstractmethod
    def worst(self) -> float:
        """The largest total variance of one report over populations of a single value: noise without sampling.

        The objective of channel searches and of published tables; designs are compared by `expected_error`.
        """

    @property
    @abc.abstractmethod
    def total(self) -> float:
        """The total variance of one report for populations of a single value, averaged over all values."""

    @abc.abstractmethod
    def column_maximum(self, n_reports: int) -> float | None:
        """What E max_j <raw_coordinates - V p, v_j> over all columns v_j stays below, without bias; None on a ball."""

    def answer_maximum(self, n_reports: int) -> float | None:
        """The same for raw answers and the columns of A; None if unknown."""
        return None

    @property
    @abc.abstractmethod
    def coordinate_variance(self) -> float:
        """N times an upper bound on the trace of the covariance of `raw_coordinates`, including sampling."""

    @property
    @abc.abstractmethod
    def operator_norm(self) -> float:
        """The largest singular value of R, or a bound on it."""

    @property
    def coordinate_bias(self) -> float:
        """Upper bound on the bias of `raw_coordinates`, in L2; proved."""
        return 0.0

    @property
    def measured_bias(self) -> float:
        """The most that the mean of `raw_coordinates` can be off beyond that, in L2; measured, not proved."""
        return 0.0

    # --- identity ---------------------------------------------------------------------------

    @property
    @final
    def epsilon(self) -> float:
        return self.mechanism.epsilon

    @property
    @final
    def delta(self) -> float:
        """The mechanism's: 0 for pure epsilon-LDP."""
        return float(getattr(self.mechanism, "delta", 0.0))

    @final
    def to_statement(self) -> dict[str, Any]:
        """The design's part of a survey's JSON; an attachment is given by its digest."""
        mechanism = {"name": self.mechanism.name, **self.mechanism.parameters()}
        stated = {"strategy": self.name, "mechanism": mechanism}
        return stated if self.digest is None else {**stated, "digest": self.digest}

    @property
    def attachment(self) -> bytes | None:
        """Data needed besides the survey's JSON, which contains its digest; None for most strategies."""
        return None

    @property
    def digest(self) -> str | None:
        """SHA-256 of the attachment's content, in hexadecimal, independent of its compression."""
        return None

    @final
    def expected_error(self, n_reports: int, population: Any = None) -> float:
        """The expected L2 error of the projected answers, by which designs are compared.

        Without a population it is `bound`. With one, what is proved for it: projecting in the space of the answers is
        never farther from the truth than the raw answers are.
        """
        bound = self.bound(n_reports).value
        if population is None or (self._two_spaces and not self.projects_answers(n_reports)):
            return bound
        return min(bound, self.raw_bound(n_reports, population).value)

    # --- derived ---------------------------------------------------------------

    @property
    def _two_spaces(self) -> bool:
        """Whether projecting in the space of the answers differs from projecting in that of the coordinates."""
        return True

    @final
    def project(self, raw: Floats, n_reports: int) -> Projection:
        """The nearest answers of a distribution to the raw ones, in the space that `projects_answers` says."""
        if self.projects_answers(n_reports):
            return nearest_answers(self.workload, self.answers(raw))
        return self.project_coordinates(raw)

    def project_coordinates(self, raw: Floats) -> Projection:
        """The answers of the distribution whose coordinates are nearest to the raw ones."""
        return answers_of(self.workload, project_hull(self.coordinates, raw))

    @final
    def projects_answers(self, n_reports: int) -> bool:
        """Whether answers are projected in their own space, where the proved bound is lower, or in the coordinates'.

        It depends on the design and the number of reports alone, so that everybody gets the same answers.
        """
        if not self._two_spaces:
            return False
        answers = self._answer_bound(n_reports)
        return answers is not None and answers.value < self._coordinate_bound(n_reports).value

    @final
    def bound(self, n_reports: int) -> Bound:
        """Upper bound on the expected L2 error of the projected answers, for every population: the least proved."""
        coordinates = self._coordinate_bound(n_reports)
        answers = self._answer_bound(n_reports) if self._two_spaces else None
        found = coordinates if answers is None else min(coordinates, answers, key=float)
        return Bound(found.value, f"{found.statement}{self.bound_condition}")

    @property
    def bound_condition(self) -> str:
        """For which answers and on what average `bound` holds, if not for all answers and always; a statement's end."""
        return ""

    @final
    def raw_bound(self, n_reports: int, population: Any = None) -> Bound:
        """Upper bound on the expected L2 error of the raw answers, for every population or a given one."""
        bias = self._answer_bias
        more = describe_bias(bias, self.measured_bias > 0)
        try:
            variance = self.total_variance(population, n_reports).value
        except CapacityError:
            value = self.operator_norm * math.sqrt(self._coordinate_spread(n_reports) / n_reports)
            return Bound(value + bias, f"{BY_VARIANCE} of the coordinates: |R| sqrt(V / n){more}")
        return Bound(math.sqrt(variance) + bias, f"{BY_VARIANCE}: sqrt(V / n){more}")

    @property
    @final
    def _bias(self) -> float:
        return self.coordinate_bias + self.measured_bias

    @property
    @final
    def _answer_bias(self) -> float:
        """Upper bound on the bias of the raw answers, in L2."""
        return self.operator_norm * self._bias if self._bias else 0.0

    @final
    def _coordinate_spread(self, n_reports: int) -> float:
        return self.sharing_factor(n_reports) * max(0.0, self.coordinate_variance)

    def _coordinate_bound(self, n_reports: int) -> Bound:
        """For a projection in the space of the coordinates."""
        return projected_bound(
            math.sqrt(self._coordinate_spread(n_reports) / n_reports),
            self.column_maximum(n_reports),
            self.workload.diameter,
            operator_norm=self.operator_norm,
            bias=self._bias,
            measured=self.measured_bias > 0,
            hull=self._hull_formula,
        )

    @final
    def _answer_bound(self, n_reports: int) -> Bound | None:
        """For a projection in the space of the answers; None if their variance would take too long to compute."""
        try:
            spread = math.sqrt(self.total_variance(None, n_reports).value)
        except CapacityError:
            return None
        return projected_bound(
            spread,
            self.answer_maximum(n_reports),
            self.workload.diameter,
            bias=self._answer_bias,
            measured=self.measured_bias > 0,
            hull=self._hull_formula,
        )

    @property
    def _hull_formula(self) -> str:
        """The formula of the bound by projection on the hull, with tau^2 the proxy along the columns."""
        return "sqrt(2 tau sqrt(2 log J / n))"
