"""The products strategy: a device answers one product of its record's features, drawn in public, as a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.words import plural
from sottovoce.domain.features import SCALE
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.products import Products
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.parts import UNKNOWN, PartsLaw
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import Population, Variance, listed_variance
from sottovoce.strategies.linear import LinearStrategy
from sottovoce.strategies.minimax import channel_digest, check_estimates
from sottovoce.strategies.optimized import pack_channel, unpack_numbers
from sottovoce.strategies.reading import Projection
from sottovoce.strategies.relations.allocation import weights_of_products
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.workloads.record_moments import RecordMoments

__all__ = ["FEWEST", "ObservedMeans", "ProductsStrategy"]

POINTS: Final = 65
"""Grid points of a product; more gain nothing that can be seen."""

_EXPECTED: Final = "for the expected number of reports on every product"
_NOBODY: Final = "nobody was asked for some products: their means can be anything"
FEWEST: Final = 20
"""Reports on a product below which its error is larger than planned, and not known well enough for an interval."""


class ObservedMeans(NamedTuple):
    """What the reports on every product say: their number, their mean and its variance; infinite without reports."""

    reports: NDArray[np.int64]
    mean: Floats
    variance: Floats


@final
@dataclass(frozen=True)
class ProductsStrategy(LinearStrategy):
    """The mean of every product from the reports that are on it, by the one-number channel of least worst variance.

    How many reports are on each product is public and independent of people's values.

    Examples
    --------
    >>> from sottovoce.domain import NumberGrid
    >>> moments = RecordMoments((("x", NumberGrid(-3, 3, points=2)), ("y", NumberGrid(-3, 3, points=2))))
    >>> (design,) = ProductsStrategy.designs(Setting(moments, 1.0, 0.0, 100_000))
    >>> design.mechanism.report_bytes, round(design.margin(1_000_000), 3)
    (1, 0.019)
    """

    workload: RecordMoments
    mechanism: Products
    estimates: tuple[float, ...]

    name: ClassVar[str] = "products"
    attached: ClassVar[bool] = True
    made_for_epsilon: ClassVar[bool] = True
    summary: ClassVar[str] = "one product of features, drawn in public, by the best channel for a number"

    def __post_init__(self) -> None:
        if (self.mechanism.sizes, self.mechanism.scale) != (self.workload.features.sizes, SCALE):
            raise WorkloadError("the mechanism is for other attributes than the workload").at("workload")
        check_estimates(self.estimates, self.mechanism.matrix.reports)

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Solve the linear program of the channel, which takes less than a second."""
        from sottovoce.strategies.search.minimax import least_worst_channel

        setting.check_mechanism(cls.name, Products.name)
        workload = _moments(setting.workload)
        matrix, estimates = least_worst_channel(POINTS, setting.epsilon)
        weights = weights_of_products(workload.features)
        mechanism = Products(workload.features.sizes, SCALE, setting.epsilon, matrix, weights)
        return [cls(workload, mechanism, tuple(estimates.tolist()))]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With the channel in the attachment, which is verified."""
        stated.check_mechanism(Products)
        workload = _moments(stated.workload)
        matrix, estimates = unpack_numbers(stated.attachment)
        weights = stated.parameters["weights"]
        mechanism = Products(workload.features.sizes, SCALE, stated.epsilon, matrix, weights)
        check_estimates(estimates, matrix.reports)
        return cls(workload, mechanism, tuple(estimates.tolist()))

    @cached_property
    def attachment(self) -> bytes:
        return pack_channel(self.mechanism.matrix, np.array(self.estimates))

    @cached_property
    def digest(self) -> str:
        return channel_digest(self.mechanism.matrix, self.estimates)

    def remark(self, people: int) -> str:
        """Where products get so few reports that errors planned for the expected number are too small."""
        reports = people * float(self.mechanism.shares.min())
        if reports >= FEWEST:
            return ""
        return (
            f"With {plural(people, 'person', 'people')} some of the {plural(len(self.mechanism.weights), 'product')} "
            f"get {reports:.2g} reports on average, which tell next to nothing: ask more people, or for less"
        )

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        """Records bring one integer per attribute."""
        return indices

    def typical_inputs(self, people: int, rng: np.random.Generator, shares: Floats | None) -> NDArray[Any] | None:
        """Records with independent and uniformly distributed attributes."""
        return np.stack([rng.integers(most, size=people) for most in self.mechanism.features.inputs], axis=1)

    # --- estimation -------------------------------------------------------------------------

    @cached_property
    def _squares(self) -> NDArray[np.bool_]:
        return np.array([product.is_square for product in self.mechanism.features.products])

    def _scaled(self, numbers: Floats) -> Floats:
        """One row for every product, from numbers on [-1, 1]: squares lie on [0, 1]."""
        return np.where(self._squares[:, None], (numbers + 1) / 2, numbers)

    @cached_property
    def report_answers(self) -> Floats:
        """X of every row of the matrix, one row for every product."""
        return self._scaled(np.array(self.estimates))

    @cached_property
    def _channel(self) -> Floats:
        matrix = self.mechanism.matrix
        return matrix.integers / float(1 << matrix.bits)

    @cached_property
    def _points(self) -> Floats:
        """The value of every grid point, one row for every product."""
        return self._scaled(np.linspace(-1.0, 1.0, self.mechanism.matrix.values))

    @cached_property
    def _moments(self) -> Floats:
        """E X^2 at every grid point, one row for every product; between grid points linear."""
        return np.asarray(np.square(self.report_answers) @ self._channel)

    @cached_property
    def noise(self) -> Floats:
        """The largest variance of one report at a grid point, for every product: without people's own differences."""
        return np.asarray((self._moments - self._points**2).max(axis=1))

    @cached_property
    def _least_noise(self) -> Floats:
        """The least variance of one report at a grid point, for every product."""
        return np.asarray((self._moments - self._points**2).min(axis=1).clip(min=0.0))

    def observed(self, counts: Counts) -> ObservedMeans:
        """What the reports say, with the variance of each mean from the counts themselves.

        Few reports may happen to be alike: no variance is below the least that the channel has for anybody.
        """
        table = self.mechanism.by_product(counts)
        reports = table.sum(axis=1)
        at_least_one = np.maximum(reports, 1)
        mean = (self.report_answers * table).sum(axis=1) / at_least_one
        squares = (np.square(self.report_answers) * table).sum(axis=1) / at_least_one
        spread = np.maximum(squares - mean**2, self._least_noise)
        return ObservedMeans(reports, mean, np.where(reports > 1, spread / np.maximum(reports - 1, 1), np.inf))

    def raw_answers(self, counts: Counts, n_reports: int) -> Floats:
        return self.observed(counts).mean

    def observed_covariance(self, rows: Floats, counts: Counts, n_reports: int) -> Floats | None:
        """Different products have different reports, so that only variances count; None where one has too few."""
        variance = self.observed(counts).variance
        known = np.where(np.isfinite(variance), variance, 0.0)
        return None if (rows[:, ~np.isfinite(variance)] != 0).any() else np.asarray((rows * known) @ rows.T)

    def nearest(self, raw: Floats) -> Projection:
        """Within the range of each mean."""
        return Projection.without_people(np.clip(raw, *self.workload.answer_range), 0.0)

    # --- the variance -------------------------------------------------------------------------

    def _own(self, people: Population) -> Floats:
        """The variance of one report on every product."""
        answers = None if people.answers is None else np.clip(people.answers, *self.workload.answer_range)
        return listed_variance(self._points, self._moments, answers)

    def _spread_out(self, own: Floats) -> Floats:
        shares = self.mechanism.shares
        return np.where(shares > 0, own / np.where(shares > 0, shares, 1.0), UNKNOWN)

    def _each(self, people: Population) -> Variance:
        return Variance(self._spread_out(self._own(people)), "bound" if people.known else "exact", _EXPECTED)

    def _combined(self, weights: Floats, people: Population) -> Variance:
        return Variance(weights**2 @ self._spread_out(self._own(people)), "bound", _EXPECTED)

    def _total(self, people: Population) -> Variance:
        each = self._each(people)
        return each._replace(value=float(each.value.sum()))

    def worst_population(self) -> None:
        """Records are not listed."""
        return

    @property
    def worst(self) -> float:
        """Without the sampling of people; a person may be at the worst point of every product at once."""
        return float(self._spread_out(self.noise).sum())

    @property
    def total(self) -> float:
        """With all grid points alike."""
        noise = (self._moments - self._points**2).mean(axis=1)
        return float(self._spread_out(noise).sum())

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        """A device may choose its product, and so take itself off another."""
        width = 2 * self._spread_out(np.ptp(self.report_answers, axis=1))
        l2 = float(np.linalg.norm(np.sort(width)[-2:]))
        return Spread(width, l2, l2, False, False, "where every product has the expected number of reports")

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """A sum over products."""
        size = len(self.mechanism.weights)
        rows = np.eye(size) if weights is None else weights
        reports = np.zeros(size, dtype=np.int64)
        law = PartsLaw(len(rows), evidence.n_reports, evidence.miss)
        law.limits = int((rows != 0).sum(axis=1).max(initial=1))
        if evidence.counts is None:
            raise WorkloadError("intervals of relations need the counts of all reports")
        table = self.mechanism.by_product(evidence.counts)
        reports = table.sum(axis=1)
        floor = self._least_noise
        for product in range(size):
            asked = np.flatnonzero(rows[:, product])
            if not len(asked):
                continue
            if not reports[product]:
                law.unknown[asked] = True
                continue
            factors = rows[asked, product]
            answers, least = factors[:, None] * self.report_answers[product], factors**2 * floor[product]
            index = np.arange(len(asked))
            law.add_listed(int(reports[product]), table[product], answers, least, asked, index)
        return ReportLaw(
            fixed(law.curve()),
            law.floor,
            np.where(law.unknown, UNKNOWN, law.reach),
            None,
            None,
            None,
            law.left,
            note=f"; {_NOBODY}" if law.unknown.any() else "",
            steady=False,
        )


def _moments(workload: Any) -> RecordMoments:
    if not isinstance(workload, RecordMoments):
        raise SurveyError("the products strategy is for relations: name another one, or 'auto'").at("strategy")
    return workload
