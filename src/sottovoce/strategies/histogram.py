"""The histogram strategy: estimate how people are distributed over the values, then multiply by the queries."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, MechanismError, SurveyError, WorkloadError
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.registry import candidates
from sottovoce.mechanisms.symmetric import SymmetricMechanism
from sottovoce.strategies.admission import admit_foreign, find_admitted
from sottovoce.strategies.laws.frequencies import (
    answer_bits,
    law_of_shares,
    law_of_symmetric,
    law_of_weighted_shares,
    row_means,
    single_entries,
    spread_of_frequencies,
    symmetric_parabola,
)
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.roots import MAX_VALUES, root_of
from sottovoce.strategies.laws.rows import is_listable, mean_squares
from sottovoce.strategies.laws.spectrum import operator_norm
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.three_values import three_values
from sottovoce.strategies.laws.variance import Parabola, Population, Variance, listed_variance
from sottovoce.strategies.listed import MAX_HELD, MOST_WORK, ListedStrategy, row_blocks
from sottovoce.strategies.reading import Projection, nearest_answers
from sottovoce.strategies.setting import AUTO, Setting, Statement
from sottovoce.theory.bounds import Bound, maximum_of_proxy, projected_distribution_bound
from sottovoce.workloads import Identity, Workload

__all__ = ["Histogram", "design_around"]


@final
@dataclass(frozen=True)
class Histogram(ListedStrategy):
    """V = I, R = A, with any mechanism that estimates frequencies; its variance is exact for every workload.

    For mechanisms that treat all values alike four numbers say everything (`pair_moments`), and the variance of an
    answer follows from its row's sum, norm and range. For the others it takes two transforms per row.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> designs = Histogram.designs(Setting(Prefix(4), 1.0, 0.0, 1000, mechanism="subset_selection"))
    >>> designs[0].variance(n_reports=1000).value.round(4)
    array([0.0028, 0.0028, 0.0028, 0.    ])
    """

    workload: Workload
    mechanism: FiniteMechanism

    name: ClassVar[str] = "histogram"
    family: ClassVar[type[FiniteMechanism]] = FiniteMechanism
    summary: ClassVar[str] = "the whole distribution first, then the queries"

    def __post_init__(self) -> None:
        if self.mechanism.domain_size != self.workload.n_values:
            raise WorkloadError("the mechanism is for another number of values than the workload").at("mechanism")
        admit_foreign(self.mechanism)

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """With every mechanism that estimates frequencies."""
        workload, epsilon = setting.finite_workload(), setting.epsilon
        if not isinstance(workload, Identity) and not is_listable(workload):
            raise WorkloadError("the matrix has too many entries to compute the variances of its answers")
        if setting.mechanism == "auto":
            mechanisms = candidates(FiniteMechanism, workload.n_values, epsilon)
        else:
            mechanisms = [find_admitted(setting.mechanism, FiniteMechanism).best(workload.n_values, epsilon)]
        if not mechanisms:
            raise MechanismError(f"no mechanism serves {workload.n_values:,} values at epsilon {epsilon:g}")
        return [cls(workload, mechanism) for mechanism in mechanisms]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With any mechanism that estimates frequencies."""
        workload = stated.finite_workload()
        if stated.delta != 0:
            raise SurveyError("the histogram strategy needs delta 0: its mechanisms are pure epsilon-LDP")
        kind = find_admitted(stated.mechanism, FiniteMechanism)
        return cls(workload, kind.restore(stated.parameters, workload.n_values, stated.epsilon))

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return indices

    @cached_property
    def coordinates(self) -> Workload:
        return Identity(self.workload.domain)

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        return self.mechanism.estimate(counts, n_reports)

    def answers(self, coordinates: Floats) -> Floats:
        """The shares themselves are not copied."""
        return self.workload.matvec(coordinates) if self._two_spaces else coordinates

    @property
    def _two_spaces(self) -> bool:
        return not isinstance(self.workload, Identity)

    def project_coordinates(self, raw: Floats) -> Projection:
        """The nearest distribution, and its answers."""
        nearest = nearest_answers(self.coordinates, raw)
        return nearest._replace(values=self.workload.matvec(nearest.values)) if self._two_spaces else nearest

    # --- the variance -------------------------------------------------------------------

    def _second_moments(self, rows: Floats) -> Floats:
        self._check_work(len(rows))
        return self.mechanism.second_moments(rows)

    def _mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        return np.asarray(self._second_moments(rows) @ shares)

    def _check_work(self, rows: int) -> None:
        """Raise `CapacityError` if this many rows take too long; only mechanisms with transforms are slow."""
        if isinstance(self.mechanism, SymmetricMechanism):
            return
        size = max(self.mechanism.cells, self.mechanism.domain_size)
        if rows * size * size.bit_length() * self.mechanism.transform_cost > MOST_WORK:
            raise CapacityError(
                f"the variance of {rows:,} answers takes a transform of {size:,} numbers each with "
                f"{self.mechanism.name}, which cannot be compared in reasonable time; use 'subset_selection', "
                "'randomized_response' or another strategy"
            )

    def _each(self, people: Population) -> Variance:
        if isinstance(self.workload, Identity):
            return self._each_share(people)
        if isinstance(self.mechanism, SymmetricMechanism):
            return self._each_symmetric(people)
        self._check_work(self.workload.n_queries)
        return self._each_listed(people)

    def _each_share(self, people: Population) -> Variance:
        """The answers are the shares themselves, so the mechanism's own variance is exact.

        The worst of too many shares to list is one number for all of them.
        """
        if people.answers is not None:
            return Variance(self.mechanism.variance(np.clip(people.answers, 0.0, 1.0), 1), "exact")
        block = self.mechanism.values_per_block
        if block is None:
            self._check_work(self.workload.n_values)
            return self._each_listed(people)
        alike = self._worst_share(block)
        if self.workload.n_values % block != 1 or self.workload.n_values > MAX_HELD:
            return Variance(alike, "exact")
        # The last value is alone in its block.
        return Variance(np.append(np.full(self.workload.n_values - 1, alike), self._worst_share(1)), "exact")

    def _worst_share(self, block: int) -> float:
        """A share's largest variance: people have that value, another of its block, or one of another block."""
        m = self.mechanism
        points = [(0.0, float(m.variance(np.zeros(1), 1)[0])), (1.0, 1 + float(m.variance(np.ones(1), 1)[0]))]
        if block > 1:
            points.append((0.0, float(m.variance(np.array([0.0, 1.0]), 1)[0])))
        values, moments = np.array(points).T
        return float(listed_variance(values[None], moments[None], None)[0])

    def _each_symmetric(self, people: Population) -> Variance:
        """M is a parabola in h, less the mean of the row: see `PairMoments.second_moment_about`."""
        parabola = self._parabola
        if people.answers is None:
            return _stated(*parabola.worst())
        squares = None if people.shares is None else mean_squares(self.workload, people.shares, self._row_means)
        if squares is None:
            return _stated(*parabola.of_answers(people.answers))
        return Variance(parabola.of_moments(people.answers, squares), "exact")

    @cached_property
    def _parabola(self) -> Parabola:
        assert isinstance(self.mechanism, SymmetricMechanism)
        return symmetric_parabola(self.workload, self.mechanism)

    @cached_property
    def _row_means(self) -> Floats:
        return row_means(self.workload)

    def _total(self, people: Population) -> Variance:
        if not isinstance(self.workload, Identity):
            return super()._total(people)
        if people.answers is None:
            return Variance(self.mechanism.worst_total_variance, "exact")
        return Variance(float(self._each_share(people).value.sum()), "exact")

    def worst_population(self) -> Floats | None:
        """By search; of all shares those of uniform people, over full blocks where there are blocks."""
        block = self.mechanism.values_per_block
        if block is None or not isinstance(self.workload, Identity):
            return super().worst_population()
        values = self.workload.n_values
        block = min(block, values)
        full = values // block * block
        return np.where(np.arange(values) < full, 1 / full, 0.0)

    @cached_property
    def _value_moments(self) -> Floats:
        workload, values = self.workload, self.workload.n_values
        if isinstance(self.mechanism, SymmetricMechanism):
            m, mean = self.mechanism.pair_moments, self._row_means
            squares = workload._squared_norms(np.arange(values))
            own, length = workload.rmatvec(mean), float(mean @ mean)
            rest = m.same * max(0.0, float(squares.sum()) - values * length)
            about = m.itself * (squares - 2 * own + length)
            return np.asarray(m.constant * length + rest + 2 * m.slope * (own - length) + about)
        if isinstance(workload, Identity) and self.mechanism.values_per_block is not None:
            return self._identity_moments(self.mechanism.values_per_block)
        if workload.n_queries <= values or values > MAX_VALUES:
            self._check_work(workload.n_queries)
            return np.asarray(sum(self._second_moments(rows).sum(axis=0) for rows in row_blocks(workload)))
        # Only the inner products of columns count: where queries are many, a root of their Gram matrix serves.
        root = root_of(workload)
        self._check_work(len(root.matrix))
        return np.asarray(self._second_moments(np.ldexp(root.matrix, root.exponent)).sum(axis=0))

    def _identity_moments(self, block: int) -> Floats:
        """For people of one value the sum of all shares' variances, and one for the squared share."""
        values = self.workload.n_values
        units = np.minimum(np.arange(values) // block * block, values - 1)
        moments = {}
        for first in np.unique(units[[0, -1]]).tolist():
            shares = np.zeros(values)
            shares[first] = 1.0
            moments[first] = 1 + float(self.mechanism.variance(shares, 1).sum())
        return np.where(units == units[-1], moments[int(units[-1])], moments[0])

    def column_maximum(self, n_reports: int) -> float:
        return maximum_of_proxy(self.mechanism.proxy, self.workload.n_values, n_reports)

    @property
    def coordinate_variance(self) -> float:
        return self.mechanism.worst_total_variance

    @cached_property
    def operator_norm(self) -> float:
        return operator_norm(self.workload)

    def _coordinate_bound(self, n_reports: int) -> Bound:
        """For the shares themselves, in the words of the projection on the simplex."""
        if self._two_spaces:
            return super()._coordinate_bound(n_reports)
        m = self.mechanism
        return projected_distribution_bound(m.domain_size, m.proxy, m.worst_total_variance, n_reports)

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        return spread_of_frequencies(self.workload, self.mechanism)

    def _report_answers(self, rows: Floats) -> Floats | None:
        return self.mechanism.report_answers(rows)

    def _own_law(self, evidence: Evidence) -> ReportLaw:
        """Shares are counts of bits; other answers a parabola where the mechanism treats all values alike."""
        workload, m = self.workload, self.mechanism
        if isinstance(workload, Identity):
            return law_of_shares(m, evidence) or self._listed_law(evidence, answer_bits(workload, m))
        alone, weights = single_entries(workload)
        if alone.all():
            shares = Histogram(Identity(workload.domain), m)
            return law_of_weighted_shares(workload, weights, shares.law(None, evidence))
        if isinstance(m, SymmetricMechanism):
            law = law_of_symmetric(workload, m, self._parabola, self.spread.per_answer, evidence)
            law = replace(law, listed=self._counted_answers(evidence))
        else:
            law = self._listed_law(evidence, answer_bits(workload, m))
        return replace(law, three=three_values(workload, m, evidence))


def _stated(value: Floats, status: str) -> Variance:
    if status == "exact":
        return Variance(value, "exact")
    return Variance(value, "bound", "upper bound: the spread of people's answers is unknown")


def design_around(mechanism: FiniteMechanism, workload: Any, strategy: str, allowed: Collection[str]) -> Histogram:
    """The design that a mechanism for values makes, where a strategy is named or "auto", and these may be used."""
    if strategy not in (AUTO, Histogram.name) or Histogram.name not in allowed:
        raise SurveyError(f"a mechanism given as an object goes with the {Histogram.name} strategy only")
    if not isinstance(workload, Workload) or workload.n_values != mechanism.domain_size:
        raise SurveyError("the mechanism is for another number of values than the question's")
    return Histogram(workload, mechanism)
