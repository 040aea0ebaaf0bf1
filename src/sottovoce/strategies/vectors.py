"""Strategies with a vector mechanism: the variance follows from two numbers of the mechanism.

One report's estimate x of a person's vector v has E[x x^T] = noise I + (along - noise)/r^2 v v^T: `noise` across the
vector, `along` in its direction. So a combination of answers that reads x in the direction b = R^T w has the second
moment noise |b|^2 + (along - noise)/r^2 <b, v>^2, and <b, v_u> = h_u - shift is what value u answers beside the shift.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np

from sottovoce.core.limits import MAX_COUNTERS, check_integer
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.strategies.coordinates import CoordinateStrategy
from sottovoce.strategies.laws.law import Evidence, ReportLaw, fixed
from sottovoce.strategies.laws.rows import mean_squares, row_ranges, two_valued
from sottovoce.strategies.laws.spread import UNLUCKY_BITS
from sottovoce.strategies.laws.variance import Parabola, PerAnswer, Population, Status, Variance
from sottovoce.strategies.laws.worst_population import Worst, worst_population
from sottovoce.workloads.ball import Ball

__all__ = ["VectorStrategy", "with_rotations"]

_MOST_VALUES: Final = 2**22
_MOST_ENTRIES: Final = 2**32
"""Up to this many values, and entries of the matrix, the worst population is searched for."""

_UNKNOWN: Final = "upper bound: the spread of people's answers is unknown"


def with_rotations(mechanism: VectorMechanism, people: int, max_counters: int) -> VectorMechanism:
    """The mechanism with as many public rotations as `people` need and `max_counters` allow, if it has any."""
    counters = check_integer("max_counters", max_counters, 1, MAX_COUNTERS)
    return mechanism.for_people(people, counters) if isinstance(mechanism, Codebook) else mechanism


@dataclass(frozen=True)
class VectorStrategy(CoordinateStrategy):
    """Answers = shift + R x, x the mean of people's vectors as a vector mechanism estimates it."""

    workload: Any
    mechanism: VectorMechanism

    # --- implemented by strategies ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def _shift(self) -> Floats | None:
        """The answers for a zero mean; None if they are zero."""

    @property
    @abc.abstractmethod
    def _lengths(self) -> PerAnswer:
        """Squared lengths of R's rows: for all, or one per row."""

    @abc.abstractmethod
    def _direction_lengths(self, weights: Floats) -> Floats:
        """|R^T w|^2 for every row of weights."""

    @property
    @abc.abstractmethod
    def _frobenius(self) -> float:
        """The sum of the squares of all entries of R."""

    @property
    def _reads_mean(self) -> bool:
        """Whether R is the identity."""
        return False

    # --- derived -----------------------------------------------------------

    @final
    def for_people(self, people: int, max_counters: int) -> Self:
        mechanism = with_rotations(self.mechanism, people, max_counters)
        return self if mechanism == self.mechanism else replace(self, mechanism=mechanism)

    @final
    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        return self.mechanism.estimate(counts, n_reports)

    @final
    def sharing_factor(self, n_reports: int) -> float:
        return self.mechanism.sharing_factor(n_reports)

    @final
    def measured_answer_bias(self, weights: Floats | None) -> PerAnswer:
        """The mechanism's, in every direction, times the length of R's row."""
        lengths = self._lengths if weights is None else self._direction_lengths(weights)
        return self.mechanism.measured_bias * np.sqrt(lengths)

    @property
    @final
    def coordinate_bias(self) -> float:
        return math.sqrt(self.mechanism.dimension) * self.mechanism.bias_bound

    @property
    @final
    def measured_bias(self) -> float:
        return self.mechanism.measured_bias

    @property
    @final
    def coordinate_variance(self) -> float:
        return self.mechanism.worst_total_variance

    @property
    @final
    def _hull_formula(self) -> str:
        if isinstance(self.mechanism, Codebook):
            return "sqrt(2 E max <z, a_j>) over shared rotations"
        return "sqrt(2 r tau sqrt(2 log J / n))"

    @property
    @final
    def _slope(self) -> float:
        m = self.mechanism
        return (m.along - m.noise) / m.radius**2

    @final
    def _own_noise(self, weights: Floats | None) -> PerAnswer:
        lengths = self._lengths if weights is None else self._direction_lengths(np.atleast_2d(weights))
        return self.mechanism.noise * lengths

    @property
    @final
    def _total_own_noise(self) -> float:
        return self.mechanism.noise * self._frobenius

    @final
    def _with_status(self, value: Any, status: Status) -> Variance:
        """The variance with its status, which depends on the mechanism's own."""
        truncation = self.mechanism.truncation
        if truncation is None:
            return Variance(value, "bound", "upper bound: for uniformly random rotations, however they are shared")
        if status == "bound":
            return Variance(value, "bound", _UNKNOWN)
        if truncation > 0:
            return Variance(value, "within", f"standard errors have a relative error of at most {truncation:.1g}")
        return Variance(value, status)

    @final
    def _each(self, people: Population) -> Variance:
        workload, parabola = self.workload, self._parabola
        if people.answers is None:
            variances, status = parabola.worst()
        else:
            about = np.broadcast_to(np.float64(parabola.centre), workload.n_queries)
            squares = None if people.shares is None else mean_squares(workload, people.shares, about)
            if squares is None:
                variances, status = parabola.of_answers(people.answers)
            else:
                variances, status = parabola.of_moments(people.answers, squares), "exact"
        return self._with_status(np.broadcast_to(variances, (workload.n_queries,)), status)

    @property
    @final
    def _parabola(self) -> Parabola:
        """The parabola of every answer."""
        shift, (low, high, attained) = 0.0 if self._shift is None else self._shift, self._ranges
        known = False if isinstance(self.workload, Ball) else two_valued(self.workload)
        return Parabola(shift, self.mechanism.noise * self._lengths, 0.0, self._slope, low, high, attained, known)

    @cached_property
    def _ranges(self) -> tuple[PerAnswer, PerAnswer, bool]:
        """Limits of every answer less its shift, and whether they are attained."""
        workload, shift = self.workload, 0.0 if self._shift is None else self._shift
        if isinstance(workload, Ball):
            return *workload.answer_range, self._attained
        low, high, attained = row_ranges(workload)
        return low - shift, high - shift, attained

    @property
    def _attained(self) -> bool:
        """Whether the limits of the range are attained by vectors of the ball."""
        ball = self.workload
        return ball.dimension == 1 or (ball.low is None and ball.high is None)

    @final
    def _combined(self, weights: Floats, people: Population) -> Variance:
        parabola, squares = self._combined_parabola(weights, people.shares)
        if people.answers is None:
            return self._with_status(*parabola.worst())
        if squares is None:
            return self._with_status(*parabola.of_answers(weights @ people.answers))
        return self._with_status(parabola.of_moments(weights @ people.answers, squares), "exact")

    @final
    def _combined_parabola(
        self, weights: Floats, shares: Floats | None = None, ends: tuple[Floats, Floats] | None = None
    ) -> tuple[Parabola, Floats | None]:
        """The parabola of combinations, and the mean of d^2 if shares are known; `ends` are the answers' limits."""
        workload, m = self.workload, self.mechanism
        lengths = self._direction_lengths(weights)
        shift = np.zeros(len(weights)) if self._shift is None else weights @ self._shift
        squares = None
        if ends is not None:
            low, high, attained = ends[0] - shift, ends[1] - shift, False
        elif not isinstance(workload, Ball) and workload.n_values <= _MOST_VALUES:
            low, high, squares = self._listed_ranges(weights, shift, shares)
            attained = True
        else:
            reach = m.radius * np.sqrt(lengths)
            low, high = -reach, reach
            attained = isinstance(workload, Ball) and self._attained
            if isinstance(workload, Ball):
                limits = np.array(workload.answer_range)
                low = np.maximum(low, np.minimum(weights * limits[0], weights * limits[1]).sum(axis=1))
                high = np.minimum(high, np.maximum(weights * limits[0], weights * limits[1]).sum(axis=1))
        return Parabola(shift, m.noise * lengths, 0.0, self._slope, low, high, attained), squares

    def _listed_ranges(
        self, weights: Floats, shift: Floats, shares: Floats | None
    ) -> tuple[Floats, Floats, Floats | None]:
        """The least and largest h - shift of every row, and its mean square if shares are known."""
        low, high, squares = np.empty((3, len(weights)))
        for row, (numbers, about) in enumerate(zip(weights, shift, strict=True)):
            h = self.workload.rmatvec(numbers) - about
            low[row], high[row] = h.min(), h.max()
            if shares is not None:
                squares[row] = shares @ h**2
        return low, high, None if shares is None else squares

    @final
    def _total(self, people: Population) -> Variance:
        if self.workload.n_queries == 1:
            only = self._combined(np.ones((1, 1)), people)
            return Variance(float(only.value[0]), only.status, only.note)
        fixed = self.mechanism.noise * self._frobenius
        if people.answers is None:
            if isinstance(self.workload, Ball):
                return self._with_status(
                    fixed + max(0.0, self._slope) * self._longest, "exact" if self._attained else "bound"
                )
            worst = self._worst
            if worst is None:
                return self._with_status(fixed + max(0.0, self._slope) * self._longest, "bound")
            return self._with_status(*worst.variance[:2])
        about = people.answers if self._shift is None else people.answers - self._shift
        square = float(about @ about)
        if people.shares is not None and self._listable:
            return self._with_status(fixed + self._slope * float(people.shares @ self._squares) - square, "exact")
        # The mean square is at most the largest one, and at least the square of the mean.
        squares = max(square, self._longest) if self._slope > 0 else square
        return self._with_status(max(0.0, fixed + self._slope * squares - square), "bound")

    @property
    @final
    def _listable(self) -> bool:
        values = self.workload.n_values
        return values is not None and values <= _MOST_VALUES and values * self.workload.n_queries <= _MOST_ENTRIES

    @cached_property
    @final
    def _squares(self) -> Floats:
        """|a_u - shift|^2 for every value."""
        squares: Floats = self.workload._squared_norms(np.arange(self.workload.n_values))
        if self._shift is None:
            return squares
        return np.asarray(squares - 2 * self.workload.rmatvec(self._shift) + self._shift @ self._shift)

    @property
    @final
    def _longest(self) -> float:
        """Upper bound on |a_u - shift|^2."""
        return float(self._squares.max()) if self._listable else float(self.workload.radius**2)

    @cached_property
    @final
    def _worst(self) -> Worst | None:
        """The population with the largest total; None if it is not searched for."""
        if not self._listable:
            return None
        moments = self.mechanism.noise * self._frobenius + self._slope * self._squares
        return worst_population(self.workload, moments, self._shift)

    @final
    def worst_population(self) -> Floats | None:
        return None if self._worst is None else self._worst.shares

    # --- the law of one report --------------------------------------------------------------------

    @final
    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """The mechanism's noise and proxy, times the squared length of R's row."""
        m, n = self.mechanism, evidence.n_reports
        if weights is None:
            parabola, lengths = self._parabola, self._lengths
            reach = self.spread.per_answer / 2
        else:
            (parabola, _), lengths = self._combined_parabola(weights, ends=ends), self._direction_lengths(weights)
            reach = self._combined_reach(weights, lengths)
        sharing = self.sharing_factor(n)
        curve, shape = parabola.curve, (self.workload.n_queries if weights is None else len(weights),)
        if sharing > 1:
            curve = curve._replace(constant=curve.constant + (sharing - 1) * m.noise * np.asarray(lengths))
        bits = None
        if m.two_outcomes and self._reads_mean:
            bits = np.broadcast_to(-reach, shape), np.broadcast_to(reach, shape)
        return ReportLaw(
            fixed(curve),
            np.broadcast_to(parabola.floor, shape),
            np.broadcast_to(reach + np.maximum(np.abs(parabola.low), np.abs(parabola.high)), shape),
            bits,
            np.broadcast_to(m.proxy * sharing * np.asarray(lengths), shape),
            m.skew,
            evidence.miss,
        )

    def _combined_reach(self, weights: Floats, lengths: Floats) -> Floats:
        """How far a combination of answers is moved by one report, from its shift."""
        m = self.mechanism
        if isinstance(m, Codebook):
            tail = math.log(2 * m.rotations * m.size * len(weights)) + UNLUCKY_BITS * math.log(2)
            return np.sqrt(lengths) * (m.radius / m.constants.scale) * min(1.0, math.sqrt(2 * tail / m.size))
        return np.asarray(np.abs(weights) @ np.broadcast_to(self.spread.per_answer / 2, weights.shape[1]))
