"""The offline theorems (Sec. 3) as functions, and the bound for what we ship beside them.

Notation: d `n_queries`, J `domain_size`, n `n_reports`, r `radius`, z = raw - A p with the sampling of people included.
"""

from __future__ import annotations

import math

from sottovoce.core.errors import PlanError
from sottovoce.theory.bounds import BY_PROJECTION, BY_VARIANCE, Bound

__all__ = [
    "describe_bias",
    "lemma_2_2",
    "offline_bound",
    "projected_bound",
    "theorem_3_2",
    "theorem_3_4",
]


def lemma_2_2(noise_norm: float, polar_norm: float) -> float:
    """Lemma 2.2: the squared error after projecting on a symmetric body is at most 4 min(|z|^2, |z|_polar)."""
    return 4 * min(noise_norm**2, polar_norm)


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
        raise PlanError("Theorem 3.4 is stated for 120 reports or more").at("n_reports")
    each = math.log(n_reports) / (n_reports * epsilon**2)
    value = radius * min((280 * math.log(domain_size) * each) ** 0.25, math.sqrt(10 * n_queries * each))
    return Bound(value, "Bassily 2019, Theorem 3.4, as printed")


def offline_bound(
    domain_size: int,
    radius: float,
    proxy: float,
    worst_total_variance: float,
    n_reports: int,
    *,
    symmetric: bool = False,
) -> Bound:
    """E||projected - A p|| <= min(sqrt(V/n), sqrt(2 r tau sqrt(2 log J/n))), log 2J for the symmetric hull.

    V bounds n times the trace of the raw estimate's covariance; tau^2 is its sub-Gaussian proxy: the expected maximum
    of J sub-Gaussians of proxy tau^2 r^2/n is at most tau r sqrt(2 log J/n). No log n: the mechanism's tau does not
    grow with n, as the paper's does. The rest is `projected_bound`. No two points of the hull are more than 2 r apart.

    Examples
    --------
    >>> round(offline_bound(1000, 1.0, 8.5, 4096 * 6.4, 10**5).value, 3)
    0.262
    """
    logarithm = math.log(2 * domain_size if symmetric else domain_size)
    maximum = radius * math.sqrt(2 * proxy * logarithm / n_reports)
    return projected_bound(math.sqrt(worst_total_variance / n_reports), maximum, 2 * radius)


def projected_bound(
    spread: float,
    maximum: float | None,
    diameter: float,
    *,
    operator_norm: float | None = None,
    bias: float = 0.0,
    measured: bool = False,
    hull: str = "sqrt(2 r tau sqrt(2 log J / n))",
) -> Bound:
    """The bound on the error of projected answers, in the space in which they are projected.

    With z = raw - A p, the projection on a convex set that holds A p has ||projected - A p|| <= ||z||, and, since the
    angle at a projection is obtuse, ||projected - A p||^2 <= <z, projected - A p> <= max_j <z, a_j> - min_j <z, a_j>.
    Jensen takes the roots: E||projected - A p|| <= min(sqrt(E||z||^2), sqrt(2 E max)), if the expected maximum of
    <z, a_j> and of -<z, a_j> is at most E max.

    Where answers are shift + R v, projected in the space of the coordinates v, z and a_j are those of the coordinates
    and R stretches the error by its norm at most.

    Parameters
    ----------
    spread
        What sqrt(E||z||^2) stays below, without bias.
    maximum
        What E max_j <z, a_j> stays below, without bias; None for a set that is not a hull of listed columns.
    diameter
        No two sets of answers are farther apart.
    operator_norm
        The norm of R; None for a projection in the space of the answers.
    bias
        The most that the expectation of the raw vector can be off, in L2. It adds to both terms: in the second, with e
        the error, e^2 <= max - min + bias e, and so e <= bias + sqrt of what it was without.
    measured
        Whether part of the bias is measured and not proved.
    hull
        The formula of the second term.

    Examples
    --------
    >>> projected_bound(0.5, 0.08, 2.0)
    Bound(value=0.4, statement='projection on the hull: sqrt(2 r tau sqrt(2 log J / n))')
    """
    by_hull = math.inf if maximum is None else math.sqrt(2 * maximum)
    value = (1.0 if operator_norm is None else operator_norm) * (min(spread, by_hull) + bias)
    if value >= diameter:
        return Bound(diameter, "no two sets of answers are farther apart")
    more = describe_bias(bias, measured)
    before, where = ("", "") if operator_norm is None else ("|R| ", " of the coordinates")
    if by_hull < spread:
        return Bound(value, f"{BY_PROJECTION} the hull{where}: {before}{hull}{more}")
    return Bound(value, f"{BY_VARIANCE}{where}: {before}sqrt(V / n){more}")


def describe_bias(bias: float, measured: bool) -> str:
    """What the statement of a bound adds where something does not average out."""
    if not bias:
        return ""
    return f", and {bias:.3g} that does not average out" + (" (measured)" if measured else "")
