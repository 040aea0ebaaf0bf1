"""The other way to answer queries: estimate how people are distributed, then multiply by the query matrix."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from sottovoce.mechanisms.hadamard import Hadamard

if TYPE_CHECKING:
    from sottovoce.workloads import Workload

__all__ = ["MAX_ENTRIES", "HistogramRoute", "histogram_route", "squared_frobenius"]

MAX_ENTRIES: Final = 2**26
"""Largest query matrix, in entries, whose norm is added up; beyond it the comparison is left out."""

_BLOCK: Final = 2**20


@dataclass(frozen=True)
class HistogramRoute:
    """Hadamard Response over the values, then A. Not a mechanism of query surveys: a distribution survey and a product.

    Attributes
    ----------
    l2_raw
        At most this is the root mean square L2 error of `workload.matvec(estimate.raw)`, for every population.
    margin
        Half of a typical query's 95 % interval.

    Notes
    -----
    With z the reported position, w the chance of the row's own sign, c = 1/(2w - 1), and h_z the J signs
    H[v+1, z], a person adds c h_z to the estimate of the distribution and c A h_z to that of the answers. Hence
    n tr Cov <= c^2 E||A h_z||^2. Whatever the value, a position's probability is at most 2w/K, so the
    expectation is at most (2w/K) sum_z ||A h_z||^2 = (2w/K) tr(A (sum_z h_z h_z^T) A^T). Rows of a Hadamard
    matrix are orthogonal: sum_z h_z h_z^T = K I. Together

        n tr Cov <= 2 w c^2 ||A||_F^2.

    Projecting those raw answers on the hull of the columns cannot increase the error. The bound says nothing about
    `workload.matvec(estimate.values)`: the simplex is projected on in the space of distributions, and a
    distribution nearer to the truth may have answers farther from it.
    """

    mechanism: Hadamard
    l2_raw: float
    margin: float

    name: ClassVar[str] = "hadamard, then the queries"
    how: ClassVar[str] = (
        "run Survey.distribution(workload.domain, epsilon, 'hadamard') and take "
        "project_hull(workload, workload.matvec(estimate.raw))"
    )

    @property
    def l2_bound(self) -> float:
        """The projected answers' expected error is at most the raw ones'."""
        return self.l2_raw

    def to_dict(self) -> dict[str, Any]:
        """Plain values; `deployable_here` is false because no query survey runs it."""
        return {
            "name": self.name,
            "deployable_here": False,
            "how": self.how,
            "l2_raw": self.l2_raw,
            "l2_bound": self.l2_bound,
            "margin": self.margin,
            "report_bits": self.mechanism.report_bits,
            "report_bytes": self.mechanism.report_bytes,
        }


def squared_frobenius(workload: Workload) -> float | None:
    """The sum of all squared entries of A, a block of columns at a time; None above `MAX_ENTRIES` of them.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> squared_frobenius(Prefix(4))  # the ones of a triangle
    10.0
    """
    queries, values = workload.shape
    if queries * values > MAX_ENTRIES:
        return None
    total, step = 0.0, max(1, _BLOCK // queries)
    for start in range(0, values, step):
        block = workload.columns(np.arange(start, min(values, start + step)))
        total += float(np.einsum("ij,ij->", block, block))
    return total


def histogram_route(workload: Workload, squared_norm: float, epsilon: float, users: int) -> HistogramRoute:
    """What the other way would give; `squared_norm` is `squared_frobenius(workload)`.

    Examples
    --------
    >>> from sottovoce.workloads import Ranges
    >>> ranges = Ranges(64)
    >>> round(histogram_route(ranges, squared_frobenius(ranges), 1.0, 1_000_000).l2_raw, 2)
    0.56
    """
    mechanism = Hadamard.best(workload.domain.size, epsilon)
    factor = 1 + float(mechanism.signal)  # 2w
    total = factor * mechanism.proxy * squared_norm
    return HistogramRoute(
        mechanism=mechanism,
        l2_raw=math.sqrt(total / users),
        margin=NormalDist().inv_cdf(0.975) * math.sqrt(total / (workload.n_queries * users)),
    )
