"""The likeliest distribution: the one under which the reports that came in are most probable.

Maximum likelihood by expectation maximisation, also called iterative Bayesian update, accelerated by SQUAREM (Varadhan
and Roland 2008). With counts c of the reports, and Q[y, x] the probability that value x sends report y, a step is
p <- p g/n with g = Q^T (c/(Q p)). It never lowers the log-likelihood L(p) = sum_y c_y log (Q p)_y, which is concave.

Certificate: by Jensen's inequality, for every distribution p', L(p') - L(p) = sum_y c_y log((Q p')_y/(Q p)_y)
<= n log(sum_y (c_y/n) (Q p')_y/(Q p)_y) = n log(sum_x p'_x g_x/n) <= n log(max_x g_x/n).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.progress import steps
from sottovoce.core.words import plural
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.strategies.base import Strategy

__all__ = ["DEFAULT_TOLERANCE", "Likeliest", "likeliest"]

Floats = NDArray[np.float64]
Progress = Callable[[int, float], object]

DEFAULT_TOLERANCE: Final = 1.0
"""The gap at which the search ends: the reports are then at most e times likelier under any other distribution."""

_WORK: Final = 2 * 10**10
"""Additions of all steps, about a minute's: they limit the number of steps unless one is given."""

_STEPS: Final = range(50, 2001)

_MOST_VALUES: Final = 2**24
"""The search holds about ten numbers for every value."""

_MOST_STEPS: Final = 10**7

_KEPT: Final = 1e-3
"""An accelerated step lowers no share below this part of what two plain steps leave."""


@final
@dataclass(frozen=True, eq=False)
class Likeliest:
    """The likeliest distribution, and how near its likelihood is to the largest. It has no intervals, and is biased.

    Attributes
    ----------
    distribution
        A share for every value; never negative, and they sum to one.
    values
        The survey's answers for that distribution.
    log_likelihood
        Natural logarithm of the probability of the reports, in the order they came, under the distribution.
    gap
        The log-likelihood of no distribution is larger by more than this.
    steps
        Evaluations of the likelihood.
    converged
        Whether the gap is within the tolerance.
    """

    distribution: Floats = field(repr=False)
    values: Floats = field(repr=False)
    log_likelihood: float
    gap: float
    steps: int
    converged: bool

    def __str__(self) -> str:
        ended = "" if self.converged else ", not converged"
        steps = plural(self.steps, "step")
        return f"the likeliest distribution, within {self.gap:.2g} of the largest log-likelihood after {steps}{ended}"

    def summary(self) -> dict[str, Any]:
        """The fit and its certificate, as plain values."""
        return {
            "log_likelihood": self.log_likelihood,
            "gap": self.gap,
            "steps": self.steps,
            "converged": self.converged,
        }


def likeliest(
    design: Strategy,
    counts: NDArray[np.int64] | None,
    n_reports: int,
    tolerance: float = DEFAULT_TOLERANCE,
    max_steps: int | None = None,
    progress: Progress | None = None,
) -> Likeliest:
    """Maximise the likelihood over all distributions; see `Estimate.likeliest`.

    Raises
    ------
    MechanismError
        If the aggregate does not count every possible report separately.
    CapacityError
        If there are too many values.
    SurveyError
        If an option is out of range.
    """
    goal = _check_tolerance(tolerance)
    given = None if max_steps is None else check_integer("max_steps", max_steps, 1, _MOST_STEPS)
    mechanism = _listed_channel(design, counts)
    limit = _steps_in_a_minute(mechanism) if given is None else given
    search = _Search(mechanism, np.asarray(counts, dtype=np.float64), n_reports)
    if progress is not None and not callable(progress):
        raise SurveyError("progress must be a function of the number of steps and the gap, or None").at("progress")
    with steps("searching for the likeliest distribution") as shown:

        def show(done: int, gap: float) -> None:
            shown.say(f"likeliest distribution: step {done:,}, gap {gap:.3g}")

        result = search.run(goal, limit, progress or show)
    result.shares.flags.writeable = False
    values = design.workload.matvec(result.shares)
    values.flags.writeable = False
    return Likeliest(result.shares, values, result.log_likelihood, result.gap, search.steps, result.gap <= goal)


def _check_tolerance(tolerance: object) -> float:
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 < float(tolerance) < math.inf:
        raise SurveyError(
            f"tolerance must be a number above 0, the largest gap of the log-likelihood; the default is "
            f"{DEFAULT_TOLERANCE:g}"
        ).at("tolerance")
    return float(tolerance)


def _steps_in_a_minute(mechanism: ChannelMechanism) -> int:
    """About as many steps as take a minute, by the number of additions, so that every machine takes as many."""
    cells = mechanism.cells
    each = cells * cells.bit_length() * getattr(mechanism, "transform_cost", FiniteMechanism.transform_cost)
    return max(_STEPS.start, min(_STEPS.stop - 1, _WORK // each))


def _listed_channel(design: Strategy, counts: object) -> ChannelMechanism:
    """The mechanism, if its aggregate counts every possible report."""
    mechanism, remedy = design.mechanism, "use the projected values, or ask with mechanism='hadamard'"
    if not isinstance(mechanism, ChannelMechanism):
        raise MechanismError(
            f"{mechanism.name} reports on a vector, and its aggregate holds sums; it has no likelihood to maximise: "
            "use the projected values"
        )
    if type(mechanism).report_chances is ChannelMechanism.report_chances:
        raise MechanismError(
            f"the aggregate of {mechanism.name} holds how many reports support each value, not which reports came "
            f"together, so their likelihood is not known: {remedy}"
        )
    if counts is None:
        raise MechanismError(f"this estimate holds no counts, so the likelihood is not known: {remedy}")
    if mechanism.domain_size > _MOST_VALUES:
        raise CapacityError(
            f"the likeliest of {mechanism.domain_size:,} shares does not fit into memory; at most {_MOST_VALUES:,} "
            "values are allowed: use the projected values"
        )
    return mechanism


@dataclass(frozen=True, eq=False)
class _Point:
    """A distribution with its log-likelihood, its certificate, and the next step's distribution."""

    shares: Floats
    log_likelihood: float
    gap: float
    following: Floats


class _Search:
    """Expectation maximisation over the reports that came in at least once."""

    def __init__(self, mechanism: ChannelMechanism, counts: Floats, n_reports: int) -> None:
        self.mechanism, self.n = mechanism, n_reports
        self.counts = counts
        self.came = np.flatnonzero(counts)
        self.steps = 0

    def run(self, goal: float, limit: int, progress: Progress) -> _Point:
        """SQUAREM: extrapolate along two plain steps; if that is less likely than the second of them, take that."""
        size = self.mechanism.domain_size
        best = point = self.at(np.full(size, 1 / size))
        while best.gap > goal and self.steps < limit:
            first = self.at(point.following)
            best = min(best, first, key=lambda iterate: iterate.gap)
            change = first.shares - point.shares
            bend = (first.following - first.shares) - change
            length = float(np.linalg.norm(bend))
            stretch = float(np.linalg.norm(change)) / length if length > 0 else 1.0
            if stretch > 1 and self.steps < limit:
                farther = point.shares + 2 * stretch * change + stretch**2 * bend
                np.maximum(farther, _KEPT * first.following, out=farther)
                farther /= farther.sum()
                tried = self.at(farther)
                point = tried if tried.log_likelihood >= first.log_likelihood else self.at(first.following)
            else:
                point = self.at(first.following)
            best = min(best, point, key=lambda iterate: iterate.gap)
            progress(self.steps, best.gap)
        return best

    def at(self, shares: Floats) -> _Point:
        """One product with Q and one with its transpose."""
        self.steps += 1
        chances: Any = self.mechanism.report_chances(shares)
        ratios = np.zeros(len(self.counts))
        here, counted = chances[self.came], self.counts[self.came]
        ratios[self.came] = counted / here
        gains: Any = self.mechanism.report_means(ratios)
        gains /= self.n
        following = shares * gains
        following /= following.sum()
        gap = self.n * math.log(max(1.0, float(gains.max())))
        return _Point(shares, float(counted @ np.log(here)), gap, following)
