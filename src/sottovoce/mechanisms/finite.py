"""Channels from which every value's frequency is estimated: the contract for distributions."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.base import Counts, Floats, Report
from sottovoce.mechanisms.channel import ChannelMechanism

__all__ = ["MOST_LISTED", "FiniteMechanism", "ReportSpread"]

MOST_LISTED: Final = 2**22
"""Most entries (reports times values) of a channel that is gone through report by report."""

_BLOCK: Final = 2**20
"""Numbers held for the rows of weights that are worked on together."""


class ReportSpread(NamedTuple):
    """How far apart two reports can put the estimate: in each entry, and in L2; and whether the last is exact."""

    each: float
    l2: float
    l2_exact: bool


@dataclass(frozen=True)
class FiniteMechanism(ChannelMechanism):
    """A channel with the analyst's side for distributions: `estimate`, `variance` and `second_moments`."""

    serves: ClassVar[str] = "values"
    transform_cost: ClassVar[int] = 2
    """Multiplications for every number and bit that the second moments of one row of weights take."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.signal > 0:
            own = "".join(f", {name} = {value}" for name, value in self.parameters().items())
            raise MechanismError(
                f"epsilon {self.epsilon:g} is too small for {self.name} over {self.domain_size:,} values{own}: rounded "
                f"toward privacy its report carries nothing; use a larger epsilon{', other parameters' if own else ''} "
                "or mechanism='hadamard'"
            ).at("epsilon")

    @classmethod
    @abc.abstractmethod
    def best(cls, domain_size: int, epsilon: float) -> Self:
        """The mechanism with its own parameters chosen for the least error."""

    @classmethod
    @final
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the best parameters for `size` values."""
        return cls.best(size, epsilon)

    @property
    @abc.abstractmethod
    def signal(self) -> Fraction:
        """The exact factor by which the channel shrinks a frequency; estimates divide by it."""

    @abc.abstractmethod
    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """Unbiased estimate of every value's frequency; entries may be negative."""

    @abc.abstractmethod
    def variance(self, frequencies: Floats, n_reports: int) -> Floats:
        """Exact variance of every entry of `estimate`, people's sampling from `frequencies` included."""

    @property
    @abc.abstractmethod
    def proxy(self) -> float:
        """tau**2 such that every entry of the estimate is sub-Gaussian with proxy tau**2 / n_reports."""

    @property
    @abc.abstractmethod
    def worst_total_variance(self) -> float:
        """The largest sum of variances over all frequencies, times n_reports."""

    # --- what a subclass may know better: these defaults are right for every mechanism ----------

    @property
    def values_per_block(self) -> int | None:
        """How many values form a block, the first ones the first; None where nothing is known.

        In a block the variance of a share depends on the own frequency and the block's mass only, alike for all.
        """
        return None

    @property
    def report_spread(self) -> ReportSpread | None:
        """How far apart two reports can put the estimate; None: found by going through all reports."""
        return None

    @property
    def two_outcomes(self) -> tuple[float, float] | None:
        """The only two numbers that one report's estimate of a share can be; None where there are more."""
        return None

    def report_answers(self, rows: Floats) -> Floats | None:
        """sum_v weights_v x_v of every report (columns, as they are counted), for weights in rows.

        None where the aggregate does not count reports one by one.
        """
        return None

    def favoured(self, most_reports: int) -> NDArray[np.bool_] | None:
        """Which reports (rows) are e^epsilon times as likely for each value (columns), if all others are equal.

        Searches for channels start from these. None where there is no such matrix, or one of too many rows.
        """
        return None

    @final
    def expected_l2(self, n_reports: int, frequencies: Floats | None = None) -> float:
        """Root mean squared L2 error of the raw estimate; for the worst frequencies unless some are given."""
        if frequencies is None:
            return math.sqrt(self.worst_total_variance / n_reports)
        return math.sqrt(float(self.variance(frequencies, n_reports).sum()))

    @final
    def second_moments(self, weights: Floats) -> Floats:
        """E[(sum_v weights_v x_v)^2 | the sender has value u] for every value u; x is one report's estimate.

        Everything about the variance of a query follows. Where people are drawn from frequencies p, n times the
        variance of sum_v weights_v p(v), estimated from n reports, is sum_u p_u M(u) - (sum_u p_u weights_u)^2, with M
        the moments returned here. Exact up to floating point.

        Parameters
        ----------
        weights : numpy.ndarray
            One weight for every value; or a matrix of them, one row for every query.

        Returns
        -------
        numpy.ndarray
            As many numbers in the same shape.

        Raises
        ------
        MechanismError
            If the weights are not one for every value, or if the mechanism has too many reports to go through and
            knows no faster way.

        Examples
        --------
        >>> from sottovoce.mechanisms import create
        >>> mechanism = create("hadamard", 3, 1.0)
        >>> moments = mechanism.second_moments(np.array([1.0, 0.0, 0.0]))
        >>> moments.round(3)
        array([4.683, 4.683, 4.683])
        >>> p = np.array([0.5, 0.25, 0.25])
        >>> bool(np.isclose(p @ moments - 0.5**2, mechanism.variance(p, 1)[0]))
        True
        """
        given = np.asarray(weights, dtype=np.float64)
        if given.ndim not in (1, 2) or given.shape[-1] != self.domain_size:
            raise MechanismError(
                f"weights have shape {given.shape}: give one for each of the {self.domain_size:,} values, or a matrix "
                "with such rows"
            ).at("weights")
        rows = given.reshape(-1, self.domain_size)
        moments = np.empty_like(rows)
        step = max(1, _BLOCK // max(self.cells, self.domain_size))
        for first in range(0, len(rows), step):
            moments[first : first + step] = self._second_moments(rows[first : first + step])
        return moments.reshape(given.shape)

    def _second_moments(self, rows: Floats) -> Floats:
        """`second_moments` of a matrix of weights.

        A sum over all reports, so that a small mechanism need not write it. Replaced where it has a closed form or a
        fast transform.
        """
        moments = np.zeros_like(rows)
        for report, estimate in self.single_estimates():
            chances = np.array([float(self.probability(report, value)) for value in range(self.domain_size)])
            moments += np.outer(np.square(rows @ estimate), chances)
        return moments

    @final
    def single_estimates(self) -> Iterator[tuple[Report, Floats]]:
        """Every report with the estimate made from it alone; refused where there are too many."""
        for number, report in enumerate(self.outputs()):
            if number * self.domain_size > MOST_LISTED:
                raise MechanismError(
                    f"{self.name} over {self.domain_size:,} values has too many reports to go through one by one; "
                    "use a smaller domain, or implement the mechanism's _second_moments"
                )
            payload = np.frombuffer(self.encode(report), dtype=np.uint8)
            counts = self.empty()
            self.count_into(counts, self.codec.decode_many(payload[None, :]))
            yield report, self.estimate(counts, 1)
