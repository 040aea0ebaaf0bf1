"""The minimax strategy: the mean of a number by the unbiased channel whose worst variance is least.

A linear program finds the channel (`minimax_search`); it is sent with the survey, and every device verifies it. Report
k stands for the estimate y_k of the person's number; the raw answer is the mean of these.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, SurveyError, WorkloadError
from sottovoce.domain import NumberGrid
from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.projections.operator import Operator, as_operator
from sottovoce.strategies.laws.law import Evidence, ReportLaw
from sottovoce.strategies.laws.listed import MOST_LISTED, counted_moments, law_of_rows
from sottovoce.strategies.laws.spread import Spread
from sottovoce.strategies.laws.variance import Population, Variance
from sottovoce.strategies.listed import ListedStrategy
from sottovoce.strategies.optimized import pack_channel, unpack_numbers
from sottovoce.strategies.reading import Projection
from sottovoce.strategies.setting import Setting, Statement
from sottovoce.workloads import Workload
from sottovoce.workloads.table import Moments

__all__ = ["MinimaxStrategy", "channel_digest", "check_estimates"]

_LARGEST: Final = 1e9
"""Largest estimate, in halves of the range; at the smallest epsilon they reach 10^6."""

_ROUNDING: Final = 1e-14
"""Rounding of a sum of probabilities times estimates, relative to the largest of these."""


@final
@dataclass(frozen=True)
class MinimaxStrategy(ListedStrategy):
    """Any channel matrix over the grid of a number, and the estimate of every report, in halves of the range.

    Examples
    --------
    >>> from sottovoce.domain import NumberGrid
    >>> design = MinimaxStrategy.best(Moments(NumberGrid(-1, 1, points=33)), 1.0)
    >>> round(design.worst, 2), design.mechanism.report_bytes
    (3.99, 1)
    """

    workload: Moments
    mechanism: RoundedChannel
    estimates: tuple[float, ...]

    name: ClassVar[str] = "minimax"
    attached: ClassVar[bool] = True
    made_for_epsilon: ClassVar[bool] = True
    summary: ClassVar[str] = "the mean of a number, with the least worst variance"

    def __post_init__(self) -> None:
        grid = _one_mean(self.workload).grid
        matrix = self.mechanism.matrix
        if (self.mechanism.domain_size, matrix.values) != (grid.positions, grid.points):
            raise WorkloadError("the channel and the number have different grids").at("workload")
        check_estimates(self.estimates, matrix.reports)

    @classmethod
    def of(cls, workload: Workload, epsilon: float, matrix: ChannelMatrix, estimates: Floats) -> Self:
        """The strategy with this channel."""
        moments = _one_mean(workload)
        check_estimates(estimates, matrix.reports)
        return cls(moments, RoundedChannel(moments.grid.positions, epsilon, matrix), tuple(estimates.tolist()))

    @classmethod
    def best(cls, workload: Workload, epsilon: float) -> Self:
        """With the channel of the linear program."""
        from sottovoce.strategies.search.minimax import least_worst_channel

        return cls.of(workload, epsilon, *least_worst_channel(_one_mean(workload).grid.points, epsilon))

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        """Solve the linear program, which takes less than a second."""
        setting.check_mechanism(cls.name, RoundedChannel.name)
        return [cls.best(setting.finite_workload(), setting.epsilon)]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        """With the channel in the attachment, which is verified."""
        stated.check_mechanism(RoundedChannel)
        return cls.of(stated.finite_workload(), stated.epsilon, *unpack_numbers(stated.attachment))

    @cached_property
    def attachment(self) -> bytes:
        return pack_channel(self.mechanism.matrix, np.array(self.estimates))

    @cached_property
    def digest(self) -> str:
        return channel_digest(self.mechanism.matrix, self.estimates)

    def inputs(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return indices

    # --- reconstruction -----------------------------------------------------------------

    @property
    def _middle(self) -> float:
        return self._grid.middle

    @property
    def _half(self) -> float:
        return self._grid.half

    @property
    def _grid(self) -> NumberGrid:
        return self.workload.grid

    @cached_property
    def _channel(self) -> Floats:
        """Q, one row per report and one column per grid point."""
        matrix = self.mechanism.matrix
        return matrix.integers / float(1 << matrix.bits)

    @cached_property
    def _units(self) -> Floats:
        return np.array(self.estimates)

    @cached_property
    def coordinates(self) -> Operator:
        """The grid points on [-1, 1]."""
        return as_operator(((self._grid.values - self._middle) / self._half)[None])

    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """The mean of the reports' estimates."""
        return np.array([self._units @ counts / n_reports])

    def answers(self, coordinates: Floats) -> Floats:
        return self._middle + self._half * coordinates

    @property
    def _two_spaces(self) -> bool:
        return False

    def project_coordinates(self, raw: Floats) -> Projection:
        """Between the ends."""
        values = np.clip(self.answers(raw), self._grid.low, self._grid.high)
        return Projection.without_people(values, 0.0)

    # --- the variance -------------------------------------------------------------------

    @cached_property
    def report_answers(self) -> Floats:
        """The answer from every single report."""
        return self.answers(self._units)

    @cached_property
    def value_moments(self) -> Floats:
        """E y^2 of one report, for every grid point; between grid points linear."""
        return np.asarray(np.square(self.report_answers) @ self._channel)

    @property
    def _value_moments(self) -> Floats:
        return self.value_moments

    def _second_moments(self, rows: Floats) -> Floats:
        return np.asarray(self._factors(rows)[:, None] ** 2 * self.value_moments)

    def _mean_moments(self, rows: Floats, shares: Floats) -> Floats:
        return np.asarray(self._factors(rows) ** 2 * float(self.value_moments @ shares))

    def _factors(self, rows: Floats) -> Floats:
        """Every combination of one answer is a multiple of it."""
        values = self._grid.values
        return np.asarray(rows @ values / (values @ values))

    def _each(self, people: Population) -> Variance:
        return self._each_listed(people)

    @property
    def worst(self) -> float:
        """The largest variance of one report over all numbers, also between grid points."""
        from sottovoce.strategies.search.minimax import worst_between

        grid = self._grid
        centred = np.square(self.report_answers - self._middle) @ self._channel
        return worst_between(grid.values - self._middle, centred)

    def column_maximum(self, n_reports: int) -> float:
        """The columns lie in [-1, 1], so the maximum is the error itself, whose mean is below its root mean square."""
        return math.sqrt(self.coordinate_variance / n_reports)

    @cached_property
    def coordinate_variance(self) -> float:
        return float(self._worst_each.value[0]) / self._half**2

    @property
    def operator_norm(self) -> float:
        return self._half

    @cached_property
    def bias_bound(self) -> float:
        """What positions are off, and what the estimates' means are off the grid points for these very integers."""
        targets = (self._grid.values - self._middle) / self._half
        off = float(np.abs(self._units @ self._channel - targets).max()) + _ROUNDING * float(np.abs(self._units).max())
        return float(self.workload.rounding_error[0]) + self._half * off

    @property
    def coordinate_bias(self) -> float:
        return self.bias_bound / self._half

    # --- what one report tells, and can do --------------------------------------------------------

    @cached_property
    def spread(self) -> Spread:
        width = float(np.ptp(self.report_answers))
        return Spread(np.array([width]), width, width, True, True)

    def _report_answers(self, rows: Floats) -> Floats:
        return np.asarray(self._factors(rows)[:, None] * self.report_answers)

    def law(self, weights: Floats | None, evidence: Evidence, ends: tuple[Floats, Floats] | None = None) -> ReportLaw:
        """One answer, or multiples of it; numbers between grid points lie below the envelope of those on them."""
        factors = np.ones(1) if weights is None else weights[:, 0]
        rows, moments = factors[:, None] * self.workload.dense()[0], factors[:, None] ** 2 * self.value_moments
        answers = factors[:, None] * self.report_answers
        counted = None if evidence.limiting is None else counted_moments(answers, evidence)
        listed = answers if evidence.counts is not None and answers.size <= MOST_LISTED else None
        limits = answers.min(axis=1), answers.max(axis=1)
        return law_of_rows([(rows, moments, counted)], limits[1] - limits[0], None, evidence, limits, listed)


def _one_mean(workload: Workload) -> Moments:
    if not isinstance(workload, Moments) or workload.spread:
        raise SurveyError("this strategy estimates the mean of a number and nothing else; name another, or 'auto'").at(
            "strategy"
        )
    return workload


def channel_digest(matrix: ChannelMatrix, estimates: tuple[float, ...]) -> str:
    """Hash of the estimates and the channel's digest: versions of zlib may compress a channel differently."""
    numbers = np.array(estimates, dtype="<f8").tobytes()
    return hashlib.sha256(numbers + bytes.fromhex(matrix.digest)).hexdigest()


def check_estimates(estimates: Any, reports: int) -> None:
    try:
        array = np.asarray(estimates, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (reports,) or not (np.abs(array) <= _LARGEST).all():
        raise MechanismError(f"a channel's estimates must be {reports:,} numbers of at most {_LARGEST:g}").at(
            "estimates"
        )
