"""Euclidean projection on the probability simplex, exact and in expected linear time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.memory import uninitialized
from sottovoce.kernels.simplex import clip_at, simplex_threshold
from sottovoce.projections.checks import not_finite, real_vector
from sottovoce.projections.projected import Projected

__all__ = ["project_simplex"]


def project_simplex(raw: NDArray[np.float64]) -> Projected:
    r"""Return the distribution nearest to a raw estimate:

    .. math:: \operatorname*{argmin}_x \ \lVert x - \mathrm{raw} \rVert_2
              \quad \text{subject to} \quad x_j \ge 0, \ \sum_j x_j = 1.

    The solution is x_j = max(raw_j - tau, 0) for the one tau that makes it sum to one. That tau is found
    exactly, by elimination and not by iteration to a tolerance; `sottovoce.kernels.simplex` says how. Entries
    are nonnegative, sum to one within 1e-12 (rounding alone, at any length), and keep the order of ``raw``. A
    constant added to ``raw`` changes nothing. Where ``raw`` estimates a distribution, x is never farther from
    that distribution than ``raw`` was, in L2.

    Parameters
    ----------
    raw : numpy.ndarray
        One-dimensional, real, finite, at least one entry; not modified.

    Returns
    -------
    Projected
        The distribution, read-only, with its duality gap.

    Raises
    ------
    ProjectionError
        If ``raw`` is empty, not one-dimensional, not real numbers, or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> project_simplex(np.array([0.75, 0.5, -0.25])).values
    array([0.625, 0.375, 0.   ])
    """
    entries = real_vector(raw)
    threshold = simplex_threshold(entries)
    if threshold is None:
        raise not_finite()
    values = uninitialized(entries.size)
    gap = clip_at(entries, threshold, values)
    values.flags.writeable = False
    return Projected(values, gap)
