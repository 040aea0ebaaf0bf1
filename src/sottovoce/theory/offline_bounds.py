"""The offline theorems (Sec. 3) as functions, and the bound for what we ship beside them.

Notation: d `n_queries`, J `domain_size`, n `n_reports`, r `radius`, z = raw - A p with the sampling of people included.
"""

from __future__ import annotations

import math

from sottovoce.core.errors import PlanError
from sottovoce.theory.bounds import BY_PROJECTION, BY_VARIANCE, Bound

__all__ = [
    "coordinate_bound",
    "corollary_2_3",
    "lemma_2_2",
    "lemma_3_5",
    "offline_bound",
    "theorem_3_1_variance",
    "theorem_3_2",
    "theorem_3_4",
]


def lemma_2_2(noise_norm: float, polar_norm: float) -> float:
    """Lemma 2.2: the squared error after projecting on a symmetric body is at most 4 min(|z|^2, |z|_polar)."""
    return 4 * min(noise_norm**2, polar_norm)


def corollary_2_3(largest_product: float) -> float:
    """Corollary 2.3: for a symmetric polytope, at most 4 max_j |<z, a_j>|. Its own proof gives 2: see the findings."""
    return 4 * largest_product


def theorem_3_1_variance(epsilon: float, delta: float, radius: float) -> float:
    """The variance Theorem 3.1 claims to be (epsilon, delta)-private: 2 r^2 log(2/delta)/epsilon^2. It is not."""
    return 2 * radius**2 * math.log(2 / delta) / epsilon**2


def theorem_3_2(
    n_queries: int, domain_size: float, radius: float, epsilon: float, delta: float, n_reports: int
) -> Bound:
    """Theorem 3.2, as printed, for Alg. 2 (Gaussian noise).

    Examples
    --------
    >>> round(theorem_3_2(256, 1000, 1.0, 1.0, 1e-6, 10**6).value, 3)
    0.086
    """
    each = math.log(2 / delta) / (n_reports * epsilon**2)
    value = radius * min((32 * math.log(domain_size) * each) ** 0.25, math.sqrt(2 * n_queries * each))
    return Bound(value, "Bassily 2019, Theorem 3.2, as printed")


def theorem_3_4(n_queries: int, domain_size: float, radius: float, epsilon: float, n_reports: int) -> Bound:
    """Theorem 3.4, as printed, for Alg. 4 (rejection sampling), n >= 120. The printed protocol does not meet it.

    Examples
    --------
    >>> round(theorem_3_4(256, 1000, 1.0, 1.0, 10**6).value, 3)
    0.188
    """
    if n_reports < 120:
        raise PlanError("Theorem 3.4 is stated for 120 reports or more")
    each = math.log(n_reports) / (n_reports * epsilon**2)
    value = radius * min((280 * math.log(domain_size) * each) ** 0.25, math.sqrt(10 * n_queries * each))
    return Bound(value, "Bassily 2019, Theorem 3.4, as printed")


def lemma_3_5(n_reports: int) -> float:
    """Lemma 3.5: the chance that a quarter of the users or fewer send something is at most exp(-n/34), n >= 120."""
    return math.exp(-n_reports / 34)


def offline_bound(
    n_queries: int,
    domain_size: int | None,
    radius: float,
    proxy: float,
    worst_total_variance: float,
    n_reports: int,
    *,
    symmetric: bool = False,
    sharing: float = 1.0,
    bias: float = 0.0,
) -> Bound:
    """E||projected - A p|| <= min(sqrt(V/n), sqrt(2 r tau sqrt(2 log J/n))), log 2J for the symmetric hull.

    V bounds n times the trace of the raw estimate's covariance; tau^2 is its sub-Gaussian proxy. The first term is
    Jensen's inequality and the fact that projecting on a convex set that holds A p cannot hurt. For the second, the
    angle at a projection is obtuse, so ||projected - A p||^2 <= <z, projected - A p> <= max_j <z, a_j> - min_j
    <z, a_j>, and the expected maximum of J sub-Gaussians of proxy tau^2 r^2/n is at most tau r sqrt(2 log J/n). No
    log n: the mechanism's tau does not grow with n, as the paper's does.

    `sharing` is the mechanism's factor for people who share public randomness; the statement names it. It multiplies
    both V and tau^2: for V that is exact at worst, and that the sub-Gaussian proxy grows by no more is not proved. No
    two points of the hull, or of the ball, are more than 2 r apart.

    `bias` is the most that the expectation of raw can be from A p, in L2. It adds to both terms: in the second, with e
    the error, e^2 <= <z, projected - A p> + bias e, and so e <= bias + sqrt of what it was without.

    Without a finite domain (`domain_size` None: means in a ball) only the first term is there.

    Examples
    --------
    >>> round(offline_bound(4096, 1000, 1.0, 8.5, 4096 * 6.4, 10**5).value, 3)
    0.262
    """
    more = _besides(sharing, bias)
    low = Bound(math.sqrt(sharing * worst_total_variance / n_reports) + bias, f"{BY_VARIANCE}: sqrt(V / n){more}")
    low = min(low, Bound(2 * radius, "no two answers are farther apart: 2 r"), key=float)
    if domain_size is None:
        return low
    logarithm = math.log(2 * domain_size if symmetric else domain_size)
    high = math.sqrt(2 * radius * math.sqrt(2 * sharing * proxy * logarithm / n_reports)) + bias
    if high < low.value:
        return Bound(high, f"{BY_PROJECTION} the hull: sqrt(2 r tau sqrt(2 log J / n)){more}")
    return low


def coordinate_bound(
    operator_norm: float,
    domain_size: int,
    diameter: float,
    proxy: float,
    variance: float,
    n_reports: int,
    *,
    sharing: float = 1.0,
    bias: float = 0.0,
) -> Bound:
    """The same where answers are shift + R v, and projected in the space of the coordinates v = V p.

    With z the error of the raw coordinates and x the projected distribution, ||V x - V p||^2 is at most ||z||^2
    (projecting on a convex set that holds V p) and at most max_j <z, v_j> - min_j <z, v_j> (the angle at a projection
    is obtuse), whose expectation is at most 2 sqrt(2 tau^2 log J/n). R stretches neither by more than its norm, and
    Jensen takes the roots. `sharing` and `bias` are as in `offline_bound`.

    Parameters
    ----------
    diameter
        No two sets of answers are farther apart.
    proxy
        tau^2 such that <z, v_j> is sub-Gaussian with proxy tau^2/n for every column v_j.
    variance
        What n times the trace of z's covariance stays below.

    Examples
    --------
    >>> round(coordinate_bound(1.0, 1024, math.sqrt(2), 4.7, 4.7 * 1024, 20_000).value, 3)
    0.338
    """
    more = _besides(sharing, bias)
    spread = math.sqrt(sharing * max(0.0, variance) / n_reports)
    hull = math.sqrt(2 * math.sqrt(2 * sharing * proxy * math.log(domain_size) / n_reports))
    value = operator_norm * (min(spread, hull) + bias)
    if value >= diameter:
        return Bound(diameter, "no two sets of answers are farther apart")
    if hull < spread:
        return Bound(value, f"{BY_PROJECTION} the hull: |R| sqrt(2 tau sqrt(2 log J / n)){more}")
    return Bound(value, f"{BY_VARIANCE} of the coordinates: |R| sqrt(V / n){more}")


def _besides(sharing: float, bias: float) -> str:
    """What the statement of a bound adds where people share rotations, or something does not average out."""
    shared = f", rotations shared: V and tau^2 times {sharing:.3g}" if sharing > 1 else ""
    return shared + (f", and {bias:.3g} that does not average out" if bias else "")
