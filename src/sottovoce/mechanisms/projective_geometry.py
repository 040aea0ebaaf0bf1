"""Projective geometry response: subset selection's accuracy in the bits of one value."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError
from sottovoce.kernels.finite_field import MAX_EXTENSION_ORDER, MAX_ORDER, ExtensionField, is_field_order
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.projective_reference import ProjectiveReference
from sottovoce.mechanisms.projective_space import MAX_OVERSHOOT, ProjectiveSpace, dimension_for, orders_to_try
from sottovoce.mechanisms.support import Support, SupportMechanism
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import Third, two_level_law

__all__ = ["ProjectiveGeometry"]


@final
@dataclass(frozen=True)
class ProjectiveGeometry(SupportMechanism):
    """A point of a projective space: those orthogonal to the value's point with weight e^eps, the rest with 1.

    Guarantee
        Pure epsilon-LDP: two levels in the ratio e^epsilon (Feldman, Nelson, Nguyen, Talwar 2022, Sec. 3).
    Error
        `Support` with P1 = s e^eps/N and P0 = (l e^eps + s - l)/N, N = s e^eps + K - s: within a few per
        cent of subset selection when q is near e^eps + 1.
    Symbols
        q is `order`, a prime or a prime power; t is `dimension`; K = (q^t-1)/(q-1) points, the first
        J of them the values; s = (q^(t-1)-1)/(q-1) points lie in a hyperplane, l = (q^(t-2)-1)/(q-1) in two.
    Deviations
        The device draws a hyperplane point by number, without rejection, so that the number of draws
        says nothing. The collector decodes by one cyclic correlation of length K along a Singer cycle,
        O(K log K), where the authors use a dynamic programme of O(q t K).
    Raises
        `SurveyError` for an order that no field offered has, or a dimension whose space is too small.
    """

    order: int
    dimension: int

    name: ClassVar[str] = "projective_geometry"
    summary: ClassVar[str] = "one point of a projective space"
    use_when: ClassVar[str] = "nearly the least error, in the bits of one value"
    counted_as = "number"
    transform_cost: ClassVar[int] = 16

    @classmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """The order, a prime or a prime power, and least dimension that holds J points, of least total variance."""
        ideal = math.exp(epsilon) + 1
        candidates = [(q, dimension_for(q, domain_size)) for q in orders_to_try(ideal, domain_size)]
        roomy = [
            cls(domain_size, epsilon, q, t)
            for q, t in candidates
            if ProjectiveSpace(q, t).points <= MAX_OVERSHOOT * domain_size
        ]
        return min(roomy, key=lambda m: (m.worst_total_variance, m.cells))

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """The Fano plane, planes of orders three and four, lines, and a space with more points than values.

        Orders four, eight and nine are not primes: there the field's tables are part of the device's code.
        """
        spaces = ((7, 2, 3), (13, 3, 3), (4, 3, 2), (5, 5, 3), (15, 2, 4), (21, 4, 3), (9, 8, 2), (8, 9, 2))
        return tuple(cls(size, epsilon, order, dimension) for size, order, dimension in spaces)

    def _check_parameters(self) -> None:
        self._check_own("order", 2, MAX_ORDER)
        self._check_own("dimension", 2, 64)
        if not is_field_order(self.order):
            raise SurveyError(
                f"order is {self.order}: it must be a prime, or a power of one up to {MAX_EXTENSION_ORDER}, "
                "near e^epsilon + 1"
            ).at("order")
        if self.space.points < self.domain_size:
            raise SurveyError(
                f"order {self.order} and dimension {self.dimension} give {self.space.points} points, too few for "
                f"{self.domain_size} values; use a larger dimension"
            ).at("dimension")
        if self.space.points > MAX_OVERSHOOT * self.domain_size:
            raise SurveyError(
                f"order {self.order} and dimension {self.dimension} give over {MAX_OVERSHOOT} times as many points as "
                f"values; use a smaller dimension or order"
            ).at("dimension")

    @cached_property
    def space(self) -> ProjectiveSpace:
        """The points and their fixed numbering."""
        return ProjectiveSpace(self.order, self.dimension)

    @property
    def cells(self) -> int:
        """One count per point."""
        return self.space.points

    @cached_property
    def codec(self) -> IndexCodec:
        """A point's number."""
        return IndexCodec(self.cells)

    @cached_property
    def _levels(self) -> TwoLevel:
        hyperplane = self.space.hyperplane_points
        return TwoLevel(hyperplane, self.cells - hyperplane, self.epsilon)

    @cached_property
    def _support(self) -> Support:
        s, shared = self.space.hyperplane_points, self.space.shared_points
        own = self._levels.probability_inside
        return Support(own, shared * self._levels.each_inside + (s - shared) * self._levels.each_outside)

    def _randomize(self, value: int, source: Source) -> Report:
        orthogonal = source.bernoulli(self._levels.threshold)
        # Both points are drawn and found whichever is sent: neither draws nor work must tell which.
        on = self.space.in_hyperplane(value, source.below(self.space.hyperplane_points))
        off = self.space.off_hyperplane(value, source.below(self.cells - self.space.hyperplane_points))
        return on if orthogonal else off

    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import projective_points

        return projective_points(values, self._levels.threshold, self.order, self.dimension, rng)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of points."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    def probability(self, report: Report, value: int) -> Fraction:
        """w/s on the value's hyperplane, (1-w)/(K-s) off it."""
        orthogonal = self.space.orthogonal(cast(int, report), value)
        return self._levels.each_inside if orthogonal else self._levels.each_outside

    def privacy_ratio(self) -> Fraction:
        """Distinct points have distinct hyperplanes, so both levels meet in one report, and there are no others."""
        return self._levels.ratio

    def blanket(self) -> Blanket:
        """All pairs have one law: the hyperplanes of any two points share equally many.

        The first J points span as many coordinates, the last ones, as hold so many points; those orthogonal to all
        have zeros there. The points 0, 1 and 2 lie on one line: what is orthogonal to two of them is so to the third.
        """
        levels, K, q = self._levels, self.cells, self.order
        hyperplane, two, nothing = Fraction(self.space.hyperplane_points, K), self.space.shared_points, Fraction(0)
        shared, spanned = Fraction(two, K), dimension_for(q, self.domain_size)
        common = Fraction((q ** (self.dimension - spanned) - 1) // (q - 1), K)
        law = two_level_law(
            levels.each_inside * K,
            levels.each_outside * K,
            favoured=hyperplane,
            shared=shared,
            common=common,
            third=Third(shared - common, nothing, nothing, hyperplane - shared) if self.domain_size > 2 else None,
        )
        return Blanket((law,), "the hyperplanes of any two points share as many")

    def outputs(self) -> Iterator[Report]:
        """All points."""
        return iter(range(self.cells))

    def _supporting(self, counts: Counts) -> Counts:
        """How many reports lie on each value's hyperplane."""
        from sottovoce.kernels.projective import hyperplane_sums

        return hyperplane_sums(counts, self.order, self.dimension)[: self.domain_size]

    def report_answers(self, rows: Floats) -> Floats:
        """A sum over hyperplanes.

        A report supports s of the K points and the estimates of all K add up to one. Hence the report z alone answers
        the mean of the K weights (zero beyond the values) plus, over P1 - P0, the sum on z's hyperplane of the weights
        less their mean. Without the mean the transform's rounding would be relative to the sum of all weights.
        """
        from sottovoce.kernels.projective import weighted_hyperplane_sums

        weights = np.zeros((len(rows), self.cells))
        weights[:, : self.domain_size] = rows
        mean = weights.mean(axis=1, keepdims=True)
        sums = weighted_hyperplane_sums(weights - mean, self.order, self.dimension)
        return np.asarray(mean + sums / float(self.signal))

    def _second_moments(self, rows: Floats) -> Floats:
        """Another sum over hyperplanes; orthogonality is symmetric, so values and reports take turns.

        The moment is the mean of the squared answers over all reports plus, times the two levels' difference, the sum
        on u's hyperplane of the squares less that mean.
        """
        from sottovoce.kernels.projective import weighted_hyperplane_sums

        levels, squares = self._levels, np.square(self.report_answers(rows))
        mean = squares.mean(axis=1, keepdims=True)
        deviations = weighted_hyperplane_sums(squares - mean, self.order, self.dimension)[:, : self.domain_size]
        return np.asarray(mean + float(levels.each_inside - levels.each_outside) * deviations)

    @property
    def least_probability(self) -> Fraction:
        """The least probability of a report, over all values."""
        return self._levels.each_outside

    def report_chances(self, shares: Floats) -> Floats:
        """The lower probability for everybody; on a value's hyperplane the difference more."""
        points = np.zeros(self.cells)
        points[: self.domain_size] = shares
        return self._hyperplane_means(points)

    def report_means(self, numbers: Floats) -> Floats:
        """Orthogonality is symmetric."""
        return self._hyperplane_means(numbers)[: self.domain_size]

    def _hyperplane_means(self, weights: Floats) -> Floats:
        """Less their mean, for the accuracy of the transform."""
        from sottovoce.kernels.projective import weighted_hyperplane_sums

        mean, more = weights.mean(), float(self._levels.each_inside - self._levels.each_outside)
        sums = weighted_hyperplane_sums(weights - mean, self.order, self.dimension)
        sums += mean * self.space.hyperplane_points
        return np.asarray(float(self._levels.each_outside) * weights.sum() + more * sums)

    @property
    def differing_values(self) -> tuple[int, bool]:
        """Two hyperplanes less what they share; fewer where some points are nobody's value."""
        apart = 2 * (self.space.hyperplane_points - self.space.shared_points)
        return min(self.domain_size, apart), self.space.points == self.domain_size

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """Which points are orthogonal to each value's."""
        if self.cells > most_reports:
            return None
        field, points = self.space.field, np.array([self.space.vector(number) for number in range(self.cells)])
        total = np.zeros((self.cells, self.domain_size), dtype=np.int64)
        for entries in points.T:
            pairs = entries[:, None], entries[: self.domain_size]
            if isinstance(field, ExtensionField):
                differences, products, _ = field.tables
                total = differences[total, products[pairs]]
            else:
                total = (total + pairs[0] * pairs[1]) % self.order
        return np.asarray(total == 0)

    def audit_reference(self) -> ProjectiveReference:
        return ProjectiveReference(self.domain_size, self.epsilon, self.order, self.dimension, self.space.field)

    def citation(self) -> str:
        """Feldman, Nelson, Nguyen and Talwar 2022."""
        return (
            "@inproceedings{feldman2022private, author={Feldman, Vitaly and Nelson, Jelani and Nguyen, Huy and "
            "Talwar, Kunal}, title={Private Frequency Estimation via Projective Geometry}, booktitle={ICML}, "
            "year={2022}}"
        )
