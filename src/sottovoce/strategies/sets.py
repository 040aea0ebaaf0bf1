"""The sets strategy: a mechanism for sets, whose reports support some options and not others.

A report supports an option of the sender's set with probability P1 and any other with P0, so the share of people who
hold it is estimated by (f - P0)/(P1 - P0), f the share of reports that support it. With phi = P0 + share (P1 - P0) its
variance, times n, is phi (1 - phi)/(P1 - P0)^2. Two options are supported together with probability Q1 if one of them
is the sender's, and Q0 if none is. For weights w of sum W and squared norm Q, and a set whose weights have the sum u
and the squared norm U, the sum X of the supported options' weights has

    E X^2 = (P0 - Q0) Q + Q0 W^2 + (P1 - P0 - Q1 + Q0) U + 2 (Q1 - Q0) W u - (Q1 - Q0) u^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.limits import MAX_COUNTERS, check_integer
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.registry import candidates
from sottovoce.mechanisms.sets import SetMechanism
from sottovoce.projections.simplex import project_capped
from sottovoce.strategies.admission import admit_foreign, find_admitted
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import PerAnswer, Population, Variance, VarianceCurve
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.strategies.reading import Projection
from sottovoce.strategies.setting import AUTO, Setting, Statement
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads.sets import Sets

__all__ = ["SetStrategy"]

_UNKNOWN = "upper bound: which options people hold together is unknown"
_SHARED = "upper bound: over the random choice of seeds, however they are shared"
_SHARING_TOLD = 1.01
"""Where sharing seeds adds more to the variance than a hundredth, an interval says so."""


@final
@dataclass(frozen=True)
class SetStrategy(LinearStrategy):
    """Every person's set is randomized as one value; answers are the shares of people who hold each option.

    Examples
    --------
    >>> from sottovoce.domain import Domain
    >>> sets = Sets(Domain.of(1000), most=5)
    >>> (design,) = SetStrategy.designs(Setting(sets, 1.0, 0.0, 100_000, mechanism="set_selection"))
    >>> rare = design.variance(population=Population.answering(np.zeros(1000)))
    >>> round(float(rare.value[0]), 2), rare.status, round(design.margin(100_000), 3)
    (20.47, 'exact', 0.038)
    """

    workload: Sets
    mechanism: SetMechanism

    name: ClassVar[str] = "sets"
    summary: ClassVar[str] = "a mechanism for sets"

    def __post_init__(self) -> None:
        if (self.mechanism.options, self.mechanism.most) != (self.workload.n_queries, self.workload.most):
            raise WorkloadError("the mechanism is for another number of options, or for sets of another size")
        admit_foreign(self.mechanism)

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """With every mechanism for sets."""
        named = None if setting.mechanism == AUTO else find_admitted(setting.mechanism, SetMechanism)
        sets, counters = _sets(setting.workload), check_integer("max_counters", setting.max_counters, 1, MAX_COUNTERS)
        stated = sets.n_queries, sets.most, setting.epsilon, setting.people
        mechanisms = candidates(SetMechanism, *stated) if named is None else [named.best(*stated)]
        return [cls(sets, mechanism.for_people(setting.people, counters)) for mechanism in mechanisms]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With any mechanism for sets."""
        sets = _sets(stated.workload)
        if stated.delta != 0:
            raise SurveyError("the sets strategy needs delta 0: its mechanisms are pure epsilon-LDP")
        kind = find_admitted(stated.mechanism, SetMechanism)
        return cls(sets, kind.restore(stated.parameters, sets.n_queries, sets.most, stated.epsilon))

    def for_people(self, people: int, max_counters: int) -> Self:
        return replace(self, mechanism=self.mechanism.for_people(people, max_counters))

    def inputs(self, indices: NDArray[Any]) -> NDArray[Any]:
        """Rows of options and dummies, as they are."""
        return indices

    def typical_inputs(self, people: int, rng: np.random.Generator, shares: Floats | None) -> NDArray[Any] | None:
        """Sets as large as they may be, of options that follow each other: all are equally frequent."""
        options = self.workload.n_queries
        first = rng.integers(options, size=people)
        return np.sort((first[:, None] + np.arange(self.workload.most)) % options, axis=1)

    def raw_answers(self, counts: Counts, n_reports: int) -> Floats:
        return self.mechanism.estimate(counts, n_reports)

    def nearest(self, raw: Floats) -> Projection:
        """The nearest shares that people with sets of at most `most` options can have."""
        projected = project_capped(raw, self.workload.most)
        return Projection.without_people(projected.values, projected.gap)

    # --- the variance -------------------------------------------------------------------

    @property
    def curve(self) -> VarianceCurve:
        """n Var of an option as a function of its share: phi (1 - phi)/(P1 - P0)^2, times the number of groups."""
        zero, signal, groups = self._zero, self._signal, self.mechanism.groups
        return VarianceCurve(groups * zero * (1 - zero) / signal**2, groups * (1 - 2 * zero) / signal, -float(groups))

    @property
    def _zero(self) -> float:
        return float(self.mechanism.support.other)

    @property
    def _signal(self) -> float:
        return float(self.mechanism.support.signal)

    def _stated(self, value: Any, *, exact: bool) -> Variance:
        if self._shares_seeds:
            return Variance(value, "bound", _SHARED)
        if self.mechanism.groups > 1:
            return Variance(value, "bound", "upper bound: by the expected number of reports about each option")
        return Variance(value, "exact") if exact else Variance(value, "bound", _UNKNOWN)

    @property
    def _shares_seeds(self) -> bool:
        return hasattr(self.mechanism, "seeds")

    def _each(self, people: Population) -> Variance:
        """Exact: a count of bits. The worst is one number for all options."""
        curve = self.curve
        shares = np.clip(curve.peak, 0.0, 1.0) if people.answers is None else np.clip(people.answers, 0.0, 1.0)
        variances = curve.at(shares)
        return self._stated(float(variances) if variances.ndim == 0 else variances, exact=True)

    def _combined(self, weights: Floats, people: Population) -> Variance:
        curve = self.combined_curve(weights, None if people.answers is None else weights**2 @ people.answers)
        low, high = self.workload.combined_range(weights)
        answers = curve.peak if people.answers is None else weights @ people.answers
        return self._stated(
            curve.at(np.clip(answers, low, high)), exact=bool((np.count_nonzero(weights, 1) == 1).all())
        )

    def combined_curve(self, weights: Floats, squares: Floats | None = None) -> VarianceCurve:
        """An upper bound on n Var of combinations, one per row, as a function of the true answer u.

        `squares` is the mean of U over people; unless it is known, U is bounded by u: for weights from a to b, a <= 0
        <= b, every w^2 is at most (a + b) w - a b. And the mean of u^2, which lowers the variance, is at least the
        square of that of u.
        """
        zero, signal, length = self._zero, self._signal, np.square(weights).sum(axis=1)
        pairs, nothing = self.mechanism.pair_support, np.zeros(len(weights))
        low, high = np.minimum(weights.min(axis=1), 0.0), np.maximum(weights.max(axis=1), 0.0)
        held = np.minimum(np.count_nonzero(weights, axis=1), self.workload.most)
        by_sum, by_size = (low + high, -low * high * held) if squares is None else (nothing, squares)
        if pairs is None:
            # Options are reported on by different people: variances add up, with the slope of the curve at 0.
            groups = self.mechanism.groups
            return VarianceCurve(
                groups * (zero * (1 - zero) * length / signal**2 + (1 - 2 * zero) * by_size / signal),
                groups * (1 - 2 * zero) * by_sum / signal,
                -groups / np.maximum(1, np.count_nonzero(weights, axis=1)),
            )
        own, others, total = float(pairs.with_own), float(pairs.of_others), weights.sum(axis=1)
        slope = (signal - own + others) / signal**2
        constant = ((zero - others) * length + (others - zero**2) * total**2) / signal**2 + slope * by_size
        linear = slope * by_sum + 2 * (own - others) * total / signal**2 - 2 * zero * total / signal
        return VarianceCurve(constant, linear, np.full(len(weights), -1 - (own - others) / signal**2))

    def observed_covariance(self, rows: Floats, counts: Counts, n_reports: int) -> Floats | None:
        """Known where options are reported on by different people, so that only variances count."""
        if self.mechanism.groups == 1 or self.mechanism.pair_support is not None or self._shares_seeds:
            return None
        bits = self.mechanism.bits(counts, n_reports)
        if bits is None:
            return None
        supporting, reports = bits
        if (rows[:, reports == 0] != 0).any():
            return None
        share = supporting / np.maximum(reports, 1)
        variance = share * (1 - share) / np.maximum(reports, 1) / self._signal**2
        return np.asarray((rows * variance) @ rows.T)

    def _total(self, people: Population) -> Variance:
        if people.answers is None:
            return self._stated(self.mechanism.worst_total_variance, exact=True)
        return self._stated(float(self.curve.at(np.clip(people.answers, 0.0, 1.0)).sum()), exact=True)

    def worst_population(self) -> None:
        return None

    def _own_noise(self, weights: Floats | None) -> PerAnswer:
        """What sharing multiplies: of an option nobody holds, or, where people fall into groups, at its largest.

        Two options that a seed throws together disturb each other: a combination has twice its squared length.
        """
        single = self._single_noise
        if weights is None:
            return single
        rows = np.atleast_2d(weights)
        several = self._shares_seeds & (np.count_nonzero(rows, axis=1) > 1)
        return np.asarray(single * np.square(rows).sum(axis=1) * np.where(several, 2.0, 1.0))

    @property
    def _single_noise(self) -> float:
        return (
            self.mechanism.groups / (4 * self._signal**2) if self.mechanism.groups > 1 else float(self.curve.constant)
        )

    @property
    def _total_own_noise(self) -> float:
        return self.workload.n_queries * self._single_noise

    def sharing_factor(self, n_reports: int) -> float:
        return self.mechanism.sharing_factor(n_reports)

    def interval_note(self, n_reports: int) -> str:
        """What an interval says of public seeds; empty if there are none."""
        if not self._shares_seeds:
            return ""
        if self.sharing_factor(n_reports) <= _SHARING_TOLD:
            return "; over the random choice of public seeds"
        return "; people share public seeds: the level is over their random choice, with tails that are not proved"

    # --- further error quantities ---------------------------------------------------------

    @property
    def worst(self) -> float:
        """The variance for people who all have the same set: the fullest one, or the empty one."""
        return max(self._alike(0), self._alike(self.workload.most))

    @property
    def total(self) -> float:
        """Averaged over the sizes of sets, since sets cannot be listed."""
        return float(np.mean([self._alike(size) for size in range(self.workload.most + 1)]))

    def _alike(self, held: int) -> float:
        """The total variance for people who all have the same set of `held` options."""
        other_variance, held_variance = self.curve.at(np.array([0.0, 1.0]))
        return float((self.workload.n_queries - held) * other_variance + held * held_variance)

    def answer_maximum(self, n_reports: int) -> float | None:
        """A set is a sum of at most `most` options."""
        largest = self.mechanism.expected_maximum(n_reports)
        return None if largest is None else self.workload.most * largest

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        scale, (moved, exact) = self.mechanism.groups / self._signal, self.mechanism.moved_options
        each, l2 = np.broadcast_to(np.float64(scale), (self.workload.n_queries,)), scale * math.sqrt(moved)
        return Spread(each, l2, l2, exact=self.mechanism.groups == 1, l2_exact=exact)

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """A count of bits for single options; else what is known of the sum of supported options' weights."""
        m, n, J = self.mechanism, evidence.n_reports, self.workload.n_queries
        zero, signal = self._zero, self._signal
        bits = None if evidence.counts is None else m.bits(evidence.counts, n)
        if weights is None and bits is not None:
            nothing, pair = np.zeros(J), (np.full(J, -zero / signal), np.full(J, (1 - zero) / signal))
            curve = VarianceCurve(nothing, nothing, -1.0)
            return ReportLaw(
                fixed(curve),
                nothing,
                nothing,
                pair,
                None,
                None,
                evidence.miss,
                counted=bits[1],
                expected=1 / m.groups,
            )
        if bits is not None and m.groups > 1:
            return self._law_of_separate_options(weights, bits[1], evidence)
        floor: Any = min(p * (1 - p) for p in (zero, zero + signal)) / signal**2
        curve, apart = self.curve, np.asarray(1 / signal)
        if weights is not None:
            curve, apart = self.combined_curve(weights), np.abs(weights).sum(axis=1) / signal
            apart = np.minimum(apart, m.moved_options[0] * np.abs(weights).max(axis=1) / signal)
            least = self.combined_curve(weights, np.zeros(len(weights)))
            floor = np.min([least.at(end) for end in self.workload.combined_range(weights)], axis=0)
        shape, sharing = (J if weights is None else len(weights),), self.sharing_factor(n)
        shared = curve._replace(constant=curve.constant + (sharing - 1) * np.asarray(self._own_noise(weights)))
        floor, reach = np.broadcast_to(floor, shape), np.broadcast_to(apart, shape)
        proxy, note = sharing * reach**2 / 4, self.interval_note(n)
        return ReportLaw(fixed(shared), floor, reach, None, proxy, None, evidence.miss, note=note)

    def _law_of_separate_options(self, weights: Any, reports: Counts, evidence: Evidence) -> ReportLaw:
        """Given how many reports are about each option, they are independent bits, each with its option's weight."""
        zero, signal = self._zero, self._signal
        each = weights * (evidence.n_reports / signal) / np.maximum(reports, 1e-9)  # none: everything is possible
        squares = np.asarray((each * weights).sum(axis=1) / signal)
        curve = VarianceCurve(squares / 4, 0 * squares, 0 * squares)
        reach = np.abs(each).max(axis=1)
        floor = zero * (1 - zero) * squares
        return ReportLaw(fixed(curve), floor, reach, None, squares / 4, None, evidence.miss, steady=False)

    def _bound(self, n_reports: int) -> Bound:
        return projected_bound(
            math.sqrt(self.total_variance(None, n_reports).value),
            self.answer_maximum(n_reports),
            self.workload.diameter,
            hull="sqrt(2 m tau sqrt(2 log J / n))",
        )


def _sets(workload: Any) -> Sets:
    if isinstance(workload, Sets):
        return workload
    raise SurveyError("the sets strategy needs sets of options; name another strategy, or 'auto'").at("strategy")
