"""`Strategy`: a way to estimate a workload's answers from one report per person, and what is known of their errors.

A *design* is a strategy with its mechanism at one epsilon: an instance of a `Strategy`. It owns all that depends on how
reports are made and read: the variance of the answers and a bound on their error, the law of one report, from which
intervals follow, and the spread of two reports, from which the influence of malicious devices follows.

Most strategies are a `sottovoce.strategies.linear.LinearStrategy`, which derives all of this from a list of reports
unless a shorter way is known.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from functools import cached_property
from statistics import NormalDist
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.products import Products
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.mechanisms.tables import Tables
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import PerAnswer, Population, Variance, checked_weights
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.theory.bounds import BY_VARIANCE, Bound
from sottovoce.theory.offline_bounds import describe_bias
from sottovoce.workloads import Workload

__all__ = ["Strategy"]


class Strategy(abc.ABC):
    """One way to answer one workload. Frozen; device and collector derive everything from its JSON."""

    name: ClassVar[str]
    """Name in a survey's JSON and on the command line."""
    summary: ClassVar[str]
    """What it does, in a few words."""

    answer_name: ClassVar[str] = "answer"
    """What one of its answers is about, for people."""

    attached: ClassVar[bool] = False
    """Whether there is an `attachment`."""

    kept_in_files: ClassVar[bool] = False
    """Whether `strategies.save` keeps its designs, being slow to find; it then has a `from_attachment`."""

    family: ClassVar[type[FiniteMechanism] | type[VectorMechanism] | None] = None
    """The family of mechanisms to choose from; None where the strategy has its own."""

    quick_values: ClassVar[int | None] = None
    """Up to how many values its designs are found while somebody waits; None for any number."""

    slow_step: ClassVar[str] = "finding its designs"
    """What takes minutes over more values."""

    searched: ClassVar[bool] = False
    """Whether a channel is searched for one epsilon, which takes so long that plans try no other."""

    made_for_epsilon: ClassVar[bool] = False
    """Whether a channel is computed for one epsilon, which takes a second or more."""

    answers_tell_variances: ClassVar[bool] = False
    """Whether the true answers alone tell the variance of every combination of raw answers, and not just a bound."""

    workload: Any
    """A `Workload`; or a `Body`."""

    mechanism: ChannelMechanism | VectorMechanism | SetMechanism | Tables | Products | HashedPrefixes

    @classmethod
    @abc.abstractmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Every design of this strategy, one per usable mechanism, for any size of report.

        Its own parameters are chosen for the least error. Raises `SurveyError` or `CapacityError` if it cannot serve.
        """

    @classmethod
    def quick_designs(cls, setting: Setting) -> Sequence[Self]:
        """The designs that "auto" tries: found while somebody waits, and the same on every machine.

        Raises `CapacityError` if there are none.
        """
        values = setting.workload.n_values
        if cls.quick_values is not None and values is not None and values > cls.quick_values:
            raise CapacityError(
                f"not tried: {cls.slow_step} over {values:,} values takes minutes; {cls._slow_remedy(setting)}"
            )
        return cls.designs(setting)

    @classmethod
    def _slow_remedy(cls, setting: Setting) -> str:
        return f"name it to have it: strategy={cls.name!r}"

    @classmethod
    @abc.abstractmethod
    def restore(cls, stated: Statement) -> Self:
        """The design from a survey's JSON; raises `SurveyError` if anything is wrong."""

    @classmethod
    def from_attachment(cls, workload: Workload, epsilon: float, attachment: bytes) -> Self:
        """The design whose attachment was kept in a file that nobody need trust."""
        raise SurveyError(f"designs of strategy {cls.name!r} are not kept in files")

    def for_people(self, people: int, max_counters: int) -> Self:
        """The design for another number of people; only public rotations change."""
        return self

    def remark(self, people: int) -> str:
        """A remark on the design for `people`, in a sentence; empty for most."""
        return ""

    # --- the device's side ------------------------------------------------------------------

    @abc.abstractmethod
    def inputs(self, indices: NDArray[Any]) -> NDArray[Any]:
        """The mechanism's inputs, one row per person, for people whose values have these numbers."""

    def typical_inputs(self, people: int, rng: np.random.Generator, shares: Floats | None) -> NDArray[Any] | None:
        """The mechanism's inputs for people of these shares of all values, or of uniformly distributed values.

        None where values cannot be listed; intervals then follow without counts.
        """
        values = self.workload.n_values
        if values is None:
            return None
        if shares is None:
            return self.inputs(rng.integers(values, size=people))
        # As many people of every value as its share says, but for rounding at random.
        edges = np.cumsum(shares)
        places = (np.arange(people) + rng.random()) / people * edges[-1]
        return self.inputs(np.minimum(np.searchsorted(edges, places, side="right"), values - 1))

    # --- the analyst's side -----------------------------------------------------------------

    @abc.abstractmethod
    def read(self, counts: Any, n_reports: int) -> Any:
        """The result of counted reports: raw and projected answers as a `Reading`, or the input of a search."""

    # --- what one report tells, and can do --------------------------------------------------

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """What one report says of every answer, or of combinations of answers, one per row of `weights`.

        X is the answer from one report alone; the raw answer is the mean of n of them. Its expectation is h_u for a
        person of value u, and the true answer for everybody together. Intervals follow from its law. `ends` are the
        least and the largest answers that a person can give to the combinations.
        """
        raise MechanismError(f"the law of one report is not known for the strategy {self.name!r}; implement its law")

    def observed_covariance(self, rows: Floats, counts: Counts, n_reports: int) -> Floats | None:
        """The covariance of combinations of raw answers, one per row of weights, from the counts of the reports alone.

        None where the counts do not tell what the same report says of two answers.
        """
        return None

    @cached_property
    def spread(self) -> Spread:
        """The largest difference of every raw answer between two reports: what malicious devices do follows from it.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> spread = HaarStrategy.best(Prefix(64), 1.0).spread
        >>> spread.exact, len(spread.per_answer)
        (True, 64)
        """
        raise MechanismError(
            f"what one report can do to the answers of the strategy {self.name!r} is not known; implement its spread"
        )

    # --- the variance of one report's answers -------------------------------------------------------

    @abc.abstractmethod
    def _each(self, people: Population) -> Variance:
        """N times the variance of every raw answer, without shared public randomness; one number if all are equal."""

    @abc.abstractmethod
    def _combined(self, weights: Floats, people: Population) -> Variance:
        """N times the variance of one combination of raw answers per row of `weights`."""

    @abc.abstractmethod
    def _total(self, people: Population) -> Variance:
        """N times the sum of the variances of all raw answers."""

    @abc.abstractmethod
    def worst_population(self) -> Floats | None:
        """Shares for which `total_variance` is largest; None if the values cannot be listed."""

    def _own_noise(self, weights: Floats | None) -> PerAnswer:
        """The variance that shared public randomness multiplies: for every answer, or per row of `weights`."""
        return 0.0

    @property
    def _total_own_noise(self) -> float:
        """The sum of `_own_noise` over all answers."""
        return 0.0

    def sharing_factor(self, n_reports: int) -> float:
        """The largest factor by which shared public randomness multiplies the noise; 1 if none is shared."""
        return 1.0

    @property
    def bias_bound(self) -> PerAnswer:
        """Upper bound on the bias of a raw answer: for all, or one per answer; 0 for most strategies."""
        return 0.0

    def measured_answer_bias(self, weights: Floats | None) -> PerAnswer:
        """What else was measured of the bias, and is not proved: of a raw answer, or per row of weights."""
        return 0.0

    # --- the variance of n reports' answers ---------------------------------------------------------

    @final
    def variance(self, weights: ArrayLike | None = None, population: Any = None, n_reports: int = 1) -> Variance:
        """The variance of sum_i weights_i raw_i, including the sampling of people.

        People are drawn independently from the population.

        Parameters
        ----------
        weights
            One number per answer, or rows of these; every answer separately by default.
        population
            The shares of all values, or a `Population`; the worst population by default.

        Returns
        -------
        Variance
            One number for one row of weights, otherwise an array.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> design = HaarStrategy.best(Prefix(4), 1.0)
        >>> design.variance(n_reports=1000).value.round(4)
        array([0.0028, 0.0025, 0.0028, 0.    ])
        >>> difference = design.variance([0, -1, 1, 0], [0.1, 0.2, 0.3, 0.4], n_reports=1000)
        >>> round(difference.value, 4), difference.status
        (0.0028, 'exact')
        """
        people = Population.of(population, self.workload)
        if weights is None:
            each = self._each_variance(people, n_reports)
            return each._replace(value=np.broadcast_to(each.value, (self.workload.n_queries,)))
        given = checked_weights(weights, self.workload.n_queries)
        rows = np.atleast_2d(given)
        combined = self._combined(rows, people)
        value = (combined.value + self._shared(n_reports) * self._own_noise(rows)) / n_reports
        return Variance(float(value[0]) if given.ndim == 1 else value, combined.status, combined.note)

    @final
    def _each_variance(self, people: Population, n_reports: int) -> Variance:
        """The variance of every answer; one number if all are equal, so that very many need not be listed."""
        each = self._each(people) if people.known else self._worst_each
        value = (each.value + self._shared(n_reports) * self._own_noise(None)) / n_reports
        return Variance(value, each.status, each.note)

    @final
    def total_variance(self, population: Any = None, n_reports: int = 1) -> Variance:
        """The sum of the variances of all raw answers: the expected squared L2 error, including the sampling of people.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> round(HaarStrategy.best(Prefix(128), 1.0).total_variance(n_reports=100_000).value, 4)
        0.0268
        """
        people = Population.of(population, self.workload)
        total = self._total(people) if people.known else self._worst_total
        # If all values have the same answers, rounding may give a negative number.
        value = (max(0.0, float(total.value)) + self._shared(n_reports) * self._total_own_noise) / n_reports
        return Variance(value, total.status, total.note)

    @final
    def margin(self, n_reports: int, population: Any = None, level: float = 0.95) -> float:
        """The largest margin of error of any single raw answer, at this level of confidence.

        Examples
        --------
        >>> from sottovoce.strategies.trees.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> round(HaarStrategy.best(Prefix(128), 1.0).margin(100_000), 3)
        0.033
        """
        errors = np.sqrt(self._each_variance(Population.of(population, self.workload), n_reports).value)
        bias = self.bias_bound + self.measured_answer_bias(None)
        return float(np.max(NormalDist().inv_cdf((1 + level) / 2) * errors + bias))

    @cached_property
    def _worst_each(self) -> Variance:
        """Cached: a plan uses it many times."""
        return self._each(Population())

    @cached_property
    def _worst_total(self) -> Variance:
        return self._total(Population())

    @final
    def _shared(self, n_reports: int) -> float:
        if n_reports < 1:
            raise SurveyError("n_reports must be at least 1").at("n_reports")
        return self.sharing_factor(n_reports) - 1

    # --- the error ------------------------------------------------------------------------------

    @abc.abstractmethod
    def _bound(self, n_reports: int) -> Bound:
        """The least proved upper bound on the expected L2 error of the projected answers, for every population."""

    @property
    def bound_condition(self) -> str:
        """For which answers and on what average `bound` holds, if not for all answers and always; a statement's end."""
        return ""

    @final
    def bound(self, n_reports: int) -> Bound:
        """Upper bound on the expected L2 error of the projected answers, for every population: the least proved."""
        bound = self._bound(n_reports)
        return Bound(bound.value, f"{bound.statement}{self.bound_condition}")

    def raw_bound(self, n_reports: int, population: Any = None) -> Bound:
        """Upper bound on the expected L2 error of the raw answers, for every population or a given one."""
        bias = self.answer_bias
        variance = self.total_variance(population, n_reports).value
        return Bound(
            math.sqrt(variance) + bias, f"{BY_VARIANCE}: sqrt(V / n){describe_bias(bias, self.measured_bias > 0)}"
        )

    @final
    def expected_error(self, n_reports: int, population: Any = None) -> float:
        """The expected L2 error of the projected answers, by which designs are compared.

        Without a population it is `bound`. With one, what is proved for it.
        """
        bound = self.bound(n_reports).value
        if population is None or not self._nearer_projected(n_reports):
            return bound
        return min(bound, self.raw_bound(n_reports, population).value)

    def _nearer_projected(self, n_reports: int) -> bool:
        """Whether projected answers are never farther from the truth than raw ones, as in the space of the answers."""
        return True

    @property
    def answer_bias(self) -> float:
        """Upper bound on the bias of the raw answers, in L2."""
        return 0.0

    @property
    def measured_bias(self) -> float:
        """The part of the bias that was measured and is not proved, in the space of the coordinates."""
        return 0.0

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

    # --- identity ---------------------------------------------------------------------------

    @property
    @final
    def epsilon(self) -> float:
        return self.mechanism.epsilon

    @property
    @final
    def delta(self) -> float:
        """The delta of the mechanism: 0 for pure epsilon-LDP."""
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
