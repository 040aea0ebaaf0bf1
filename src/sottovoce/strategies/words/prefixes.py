"""The prefixes strategy: levels of prefixes of words, each hashed by public rows; every person answers in one row."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.limits import DEFAULT_COUNTERS
from sottovoce.kernels.finite_field import is_field_order
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.mechanisms.projective_space import ProjectiveSpace, orders_to_try
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population, Variance, VarianceCurve
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.strategies.words.levels import MAX_STEP, easy_units, length_unit, level_ends, level_rows
from sottovoce.strategies.words.recall import CONCENTRATION, WordRecall
from sottovoce.strategies.words.tallies import Tallies
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads.words import OneWord

__all__ = ["PrefixStrategy"]

_MOST_CELLS: Final = 2**24
"""Counters that a survey of words takes unless more are allowed (128 MiB)."""

_LEAST_BUCKETS: Final = 64
"""Buckets of a row that a survey has, however few counters are allowed."""

_ON_AVERAGE: Final = "on average over the public hashes"
_NOT_LISTED: Final = "words are not listed: estimates are made by estimates.words"


@final
@dataclass(frozen=True)
class PrefixStrategy(Strategy):
    """Answers are the share of any one word, from the reports of all levels at which it has ended.

    Errors are those of a word of up to twelve units, or the longest if that is shorter, chosen without looking at the
    answers: for the share at which they are largest, and on average over the public hashes, since the survey's
    key decides which words share a bucket. Shorter words err less and longer ones more, by the root of the number of
    reports that have hashed the whole word. An integer is whole at the last level only.
    """

    workload: OneWord
    mechanism: HashedPrefixes

    name: ClassVar[str] = "prefixes"
    summary: ClassVar[str] = "hashed prefixes of words, level by level"
    answer_name: ClassVar[str] = "word"

    def __post_init__(self) -> None:
        if self.mechanism.bits != self.workload.code.bits:
            raise WorkloadError("the mechanism is for codes of another length")
        if any(end % self.workload.code.unit_bits for end in self.mechanism.ends):
            raise SurveyError("every level must end with a whole unit of the words' code")
        if any(end - start > MAX_STEP for start, end in pairwise((0, *self.mechanism.ends))):
            raise SurveyError(f"a level must have at most {MAX_STEP} bits more than the one before it").at("mechanism")

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Levels of the code, with rows and buckets for the expected people."""
        setting.check_mechanism(cls.name, HashedPrefixes.name)
        code = _words(setting.workload).code
        ends = level_ends(code)
        rows = level_rows(code, ends)
        counters = min(setting.max_counters, DEFAULT_COUNTERS)
        order, dimension = _space(setting.epsilon, setting.people, sum(rows), min(counters, _MOST_CELLS))
        return [cls(_words(setting.workload), HashedPrefixes(code.bits, setting.epsilon, ends, rows, order, dimension))]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        words = _words(stated.workload)
        stated.check_mechanism(HashedPrefixes)
        return cls(words, HashedPrefixes.restore(stated.parameters, words.code.bits, stated.epsilon))

    def for_people(self, people: int, max_counters: int) -> Self:
        counters = min(max_counters, DEFAULT_COUNTERS, _MOST_CELLS)
        order, dimension = _space(self.mechanism.epsilon, people, sum(self.mechanism.rows), counters)
        return replace(self, mechanism=replace(self.mechanism, order=order, dimension=dimension))

    def inputs(self, indices: NDArray[Any]) -> NDArray[Any]:
        """Codes, as they are."""
        return indices

    def read(self, counts: Any, n_reports: int) -> Tallies:
        """The input of a search for words; see `sottovoce.estimates.words`."""
        return Tallies.of(self.mechanism, counts)

    def recall(self, people: int) -> WordRecall:
        return WordRecall(self.mechanism, self.workload.code, people)

    def remark(self, people: int) -> str:
        """Which words are found without being asked for."""
        code = self.workload.code
        share = self.recall(people).least_share(0.9, easy_units(code))
        if share >= 1:
            return "So few people are not enough to find a word, whatever its share"
        what = f"A word of up to {easy_units(code)} {length_unit(code)}" if code.ends_anywhere else "A value"
        return f"{what} that {100 * share:.2g} % of people have is found with probability 0.9"

    @property
    def bound_condition(self) -> str:
        code = self.workload.code
        length = f", of up to {easy_units(code)} {length_unit(code)}" if code.ends_anywhere else ""
        return f"; for the share of one word{length}, on average over the public hashes"

    # --- the variance of one word's share --------------------------------------------------------

    @property
    def used(self) -> Fraction:
        """The fraction of the reports that are about the share of a word of up to twelve units."""
        code, starts = self.workload.code, self.mechanism.starts
        level = bisect_left(self.mechanism.ends, easy_units(code) * code.unit_bits)
        return 1 - Fraction(starts[level], starts[-1])

    @property
    def curve(self) -> VarianceCurve:
        """n Var of such a word as a function of its share."""
        other, signal, used = (float(part) for part in (*self._chances, self.used))
        return VarianceCurve(other * (1 - other) / signal**2 / used, (1 - 2 * other) / signal / used, -1 / used)

    @property
    def _chances(self) -> tuple[Fraction, Fraction]:
        return self.mechanism.support.other, self.mechanism.support.signal

    def _each(self, people: Population) -> Variance:
        if people.answers is None:
            return Variance(self.worst, "bound", _ON_AVERAGE)
        return Variance(self.curve.at(np.clip(people.answers, 0.0, 1.0)), "bound", _ON_AVERAGE)

    def _combined(self, weights: Floats, people: Population) -> Variance:
        each = self._each(people)
        return Variance(np.asarray(weights[:, 0] ** 2 * each.value), each.status, each.note)

    def _total(self, people: Population) -> Variance:
        each = self._each(people)
        return each._replace(value=float(np.sum(each.value)))

    def _own_noise(self, weights: Floats | None) -> float | Floats:
        noise = float(self.curve.at(np.zeros(())))
        return noise if weights is None else np.asarray(weights[:, 0] ** 2 * noise)

    @property
    def _total_own_noise(self) -> float:
        return float(self._own_noise(None))

    def sharing_factor(self, n_reports: int) -> float:
        """People whose words share a bucket: 1 + n sum_v f_v^2/(R K), relative to the noise."""
        cells = float(self.used) * self.mechanism.cells
        return 1 + n_reports * CONCENTRATION / cells / float(self.curve.at(np.zeros(())))

    def worst_population(self) -> None:
        """Words cannot be listed."""
        return

    @property
    def worst(self) -> float:
        """At the share of the largest variance."""
        return float(self.curve.at(np.clip(self.curve.peak, 0.0, 1.0)))

    @property
    def total(self) -> float:
        return self.worst

    def _bound(self, n_reports: int) -> Bound:
        spread = math.sqrt(self.sharing_factor(n_reports) * self.worst / n_reports)
        return projected_bound(spread, None, self.workload.diameter, operator_norm=1.0)


def _words(workload: object) -> OneWord:
    if not isinstance(workload, OneWord):
        raise SurveyError("the prefixes strategy is for words; name another strategy, or 'auto'").at("strategy")
    return workload


def _space(epsilon: float, people: int, rows: int, counters: int) -> tuple[int, int]:
    """Order and dimension of the projective space of least variance, that of shared buckets included."""
    spaces = []
    most = max(_LEAST_BUCKETS, counters // rows)
    for order in _orders(epsilon, most):
        for dimension in range(2, most.bit_length() + 1):
            space = ProjectiveSpace(order, dimension)
            points, hyperplane = space.points, space.hyperplane_points
            if not 16 <= points <= most:
                continue
            own = hyperplane * math.exp(epsilon) / (hyperplane * math.exp(epsilon) + points - hyperplane)
            other = hyperplane / points
            noise = other * (1 - other) / (own - other) ** 2 / people
            spaces.append((noise + CONCENTRATION / (rows * points), points, order, dimension))
    # The fewest counters among those whose errors are within two per cent of the least.
    least = min(spaces)[0]
    _, order, dimension = min(
        (points, order, dimension) for error, points, order, dimension in spaces if error <= 1.02 * least
    )
    return order, dimension


def _orders(epsilon: float, most: int) -> set[int]:
    """Orders near e^epsilon + 1, where noise is least; and for each dimension the largest with at most `most` points.

    Where epsilon is large and buckets are few, people who share one weigh more than noise.
    """
    orders = set(orders_to_try(math.exp(epsilon) + 1, 2**20))
    for dimension in range(2, most.bit_length() + 1):
        order = math.floor(most ** (1 / (dimension - 1))) + 1
        while order > 1 and not (is_field_order(order) and ProjectiveSpace(order, dimension).points <= most):
            order -= 1
        orders.add(order)
    return orders - {1}
