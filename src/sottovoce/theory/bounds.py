"""The paper's theorems as functions, and beside each the bound for what we ship.

Notation: J `domain_size`, n `n_reports`, c = coth(epsilon/2), and tau^2/n the sub-Gaussian
proxy of every entry of the raw estimate (tau = c for Hadamard Response).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from sottovoce.core.limits import check_domain_size, check_epsilon

__all__ = [
    "BY_PROJECTION",
    "BY_VARIANCE",
    "Bound",
    "debias",
    "maximum_of_proxy",
    "projected_distribution_bound",
    "theorem_4_2",
]


BY_PROJECTION: Final = "projection on"
BY_VARIANCE: Final = "exact total variance"
"""How the statement of a bound begins that is the one term of the minimum or the other."""


@dataclass(frozen=True)
class Bound:
    """A number that an error stays below in expectation, and the statement it comes from."""

    value: float
    statement: str

    def __float__(self) -> float:
        return self.value


def debias(epsilon: float) -> float:
    """c_eps = (e^eps + 1)/(e^eps - 1), the factor by which a binary response must be scaled up.

    Examples
    --------
    >>> round(debias(1.0), 3)
    2.164
    """
    return 1 / math.tanh(epsilon / 2)


def maximum_of_proxy(proxy: float, directions: int, n_reports: int) -> float:
    """tau sqrt(2 log J/n): the expected maximum of J centred sub-Gaussian variables of proxy tau^2/n is at most that.

    Examples
    --------
    >>> maximum_of_proxy(2.0, 1, 100)
    0.0
    """
    return math.sqrt(2 * proxy * math.log(directions) / n_reports)


def theorem_4_2(domain_size: int, epsilon: float, n_reports: int) -> Bound:
    """Theorem 4.2 as printed: min((256 c^2 log J/n)^(1/4), sqrt(4 c^2 J/n)) for projected Hadamard Response.

    Its constants are larger than its own argument needs, and one step of the printed proof (that
    projecting on the simplex is never worse than on the L1 ball) is false; see `projected_distribution_bound`.

    Examples
    --------
    >>> round(theorem_4_2(1024, 1.0, 20_000).value, 3)
    0.803
    """
    J, c = check_domain_size(domain_size), debias(check_epsilon(epsilon))
    value = min((256 * c**2 * math.log(J) / n_reports) ** 0.25, math.sqrt(4 * c**2 * J / n_reports))
    return Bound(value, "Bassily 2019, Theorem 4.2, as printed")


def projected_distribution_bound(domain_size: int, proxy: float, worst_total_variance: float, n_reports: int) -> Bound:
    """E||projected - p|| <= min((8 tau^2 log J/n)^(1/4), sqrt(V/n)).

    V is the worst total variance of the raw estimate times n; projecting on a convex set that holds
    p cannot increase the error, which gives the second term (by Jensen). For the first, let z = raw - p
    and x = projected: the angle at a projection is obtuse, <raw - x, p - x> <= 0, hence
    ||x - p||^2 <= <z, x - p> <= max_j z_j - min_j z_j, and the expected range of J centred
    sub-Gaussians of proxy tau^2/n is at most 2 tau sqrt(2 log J/n). Jensen again takes the root.

    With tau = c this is 32 times smaller under the fourth root than Theorem 4.2.

    Examples
    --------
    >>> c = debias(1.0)
    >>> round(projected_distribution_bound(1024, c**2, 1024 * c**2, 20_000).value, 3)
    0.338
    """
    J = check_domain_size(domain_size)
    high = (8 * proxy * math.log(J) / n_reports) ** 0.25
    low = math.sqrt(worst_total_variance / n_reports)
    if min(high, low) > math.sqrt(2):
        return Bound(math.sqrt(2), "no two distributions are farther apart: sqrt(2)")
    if high < low:
        return Bound(high, f"{BY_PROJECTION} the simplex: (8 tau^2 log J / n)^(1/4)")
    return Bound(low, f"{BY_VARIANCE}: sqrt(V / n)")
