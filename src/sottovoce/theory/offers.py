"""Every way to run a survey, priced by formulas alone: what a page that plans draws, at any epsilon and any crowd.

What would have to be searched for, a factorized or an optimized strategy, is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from sottovoce.errors import CapacityError, MechanismError, SurveyError
from sottovoce.limits import MAX_DIMENSION
from sottovoce.mechanisms import FiniteMechanism, candidates
from sottovoce.mechanisms.vector import VectorMechanism
from sottovoce.mechanisms.vector_registry import vector_candidates
from sottovoce.strategies.base import Setting
from sottovoce.strategies.registry import create
from sottovoce.theory.bounds import debias, projected_distribution_bound
from sottovoce.theory.offline_bounds import bound_of
from sottovoce.theory.offline_planner import design_sharing, widest_margin
from sottovoce.workloads import Bins, Identity, Marginals, Parities, Prefix, Ranges, Workload

__all__ = ["DistributionOffers", "MeanOffers", "Offer", "Priced", "QueryOffers", "priced"]

_Z: Final = NormalDist().inv_cdf(0.975)

_LARGEST_STRUCTURE: Final = 2**16
"""Most queries and values for which a strategy with a known structure is priced."""

_KNOTS: Final = (0.5, 4.0)
"""Two epsilons, between which a strategy's noise is known at every other."""


@dataclass(frozen=True)
class Offer:
    """One way to run a survey.

    Attributes
    ----------
    error
        The L2 error to expect with so many people, for the worst population.
    margin
        Half of one answer's 95 % interval with so many people; not a number where answers differ in it.
    """

    name: str
    report_bytes: int
    fits: bool
    error: Callable[[int], float]
    margin: Callable[[int], float]


@dataclass(frozen=True)
class Priced:
    """An offer for one number of people, as `explain` reads it."""

    name: str
    l2_raw: float
    margin: float
    report_bytes: int
    fits: bool


def priced(offers: Sequence[Offer], users: int) -> list[Priced]:
    """What each comes to with so many people, the least error first."""
    found = [Priced(one.name, one.error(users), one.margin(users), one.report_bytes, one.fits) for one in offers]
    return sorted(found, key=lambda one: (one.l2_raw, one.report_bytes))


@dataclass(frozen=True)
class DistributionOffers:
    """Mechanisms for the distribution over `size` values; errors are proved for the projected estimate."""

    size: int
    max_report_bytes: int

    def at(self, epsilon: float, users: int) -> list[Offer]:
        """Every mechanism of the registry that can serve."""
        return [self._offer(mechanism) for mechanism in _finite(self.size, epsilon)]

    def _offer(self, m: FiniteMechanism) -> Offer:
        J, V, tau2 = m.domain_size, m.worst_total_variance, m.proxy
        return Offer(
            m.name,
            m.report_bytes,
            m.report_bytes <= self.max_report_bytes,
            lambda n: projected_distribution_bound(J, tau2, V, n).value,
            lambda n: _Z * math.sqrt(V / (J * n)),
        )


@lru_cache(maxsize=1024)
def _finite(size: int, epsilon: float) -> tuple[FiniteMechanism, ...]:
    return tuple(candidates(size, epsilon))


@dataclass(frozen=True)
class MeanOffers:
    """Mechanisms for the mean of vectors in a ball."""

    dimension: int
    radius: float
    max_report_bytes: int

    def at(self, epsilon: float, users: int) -> list[Offer]:
        """Every vector mechanism of pure epsilon-LDP that can serve."""
        found = vector_candidates(self.dimension, self.radius, epsilon, 0.0, users)
        return [_vector_offer(m, m.name, self.max_report_bytes) for m in found]


def _vector_offer(m: VectorMechanism, name: str, max_report_bytes: int) -> Offer:
    bound = bound_of(m, None)
    return Offer(
        name,
        m.report_bytes,
        m.report_bytes <= max_report_bytes,
        lambda n: bound(n, design_sharing(m, n)).value,
        lambda n: widest_margin(m, n),
    )


@dataclass(frozen=True)
class QueryOffers:
    """Strategies for a workload; errors are those of the answers before projection, for the worst value."""

    workload: Workload
    max_report_bytes: int

    def at(self, epsilon: float, users: int) -> list[Offer]:
        """The direct strategy with its best mechanism, and every other that is not left out."""
        w = self.workload
        vectors = vector_candidates(w.n_queries, w.radius, epsilon, 0.0, users) if w.n_queries <= MAX_DIMENSION else []
        limit = self.max_report_bytes
        vectors.sort(key=lambda m: (m.report_bytes > limit, m.worst_total_variance, m.report_bits))
        found = [_vector_offer(m, "direct", limit) for m in vectors[:1]]
        for name in ("hierarchical", "haar", "fourier", "histogram"):
            noise = None if _too_slow(name, w) else _noise(w, name, epsilon)
            if noise is not None:
                found.append(self._offer(name, *noise))
        return found

    def left_out(self) -> list[str]:
        """Strategies that would take too long to price while somebody waits."""
        slow = [name for name in ("hierarchical", "haar", "fourier", "histogram") if _too_slow(name, self.workload)]
        return ["factorized", "optimized", *slow]

    def _offer(self, name: str, worst: float, report_bytes: int) -> Offer:
        farthest = 2 * self.workload.radius
        return Offer(
            name,
            report_bytes,
            report_bytes <= self.max_report_bytes,
            lambda n: min(farthest, math.sqrt(worst / n)),
            lambda n: math.nan,
        )


def _too_slow(name: str, workload: Workload) -> bool:
    """Whether pricing a strategy takes more than some tenths of a second."""
    queries, values = workload.shape
    if name == "histogram":
        return queries + values > 2**13
    if isinstance(workload, (Identity, Prefix, Ranges)):
        return max(queries, values) > _LARGEST_STRUCTURE
    if isinstance(workload, Bins):
        return queries > 2**9 or values > 2**14
    if name == "fourier" and isinstance(workload, (Marginals, Parities)):
        return queries > (2**10 if isinstance(workload, Marginals) else 2**9) or values > _LARGEST_STRUCTURE
    return queries * values > 2**17


def _noise(workload: Workload, name: str, epsilon: float) -> tuple[float, int] | None:
    """Noise of one report for the worst value and bytes a report; None where the strategy cannot serve.

    Strategies that sample a coordinate and randomize its sign have noise c^2 S - T, with S and T of the workload
    alone: two epsilons tell both.
    """
    if name == "histogram":
        return _made(workload, name, epsilon)
    ends = [_made(workload, name, knot) for knot in _KNOTS]
    if ends[0] is None or ends[1] is None:
        return None
    low, high, here = (debias(knot) ** 2 for knot in (*_KNOTS, epsilon))
    slope = (ends[0][0] - ends[1][0]) / (low - high)
    return max(0.0, ends[1][0] + slope * (here - high)), ends[0][1]


@lru_cache(maxsize=1024)
def _made(workload: Workload, name: str, epsilon: float) -> tuple[float, int] | None:
    try:
        strategy = create(name, Setting(workload, epsilon, 0.0, 1))
        return max(0.0, strategy.worst), strategy.mechanism.report_bytes
    except (SurveyError, CapacityError, MechanismError):
        return None
