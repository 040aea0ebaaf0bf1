"""Euclidean projection on the probability simplex, and on the shares that sets of at most a few options can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError
from sottovoce.kernels.simplex import clip_at, simplex_threshold
from sottovoce.kernels.threads import uninitialized
from sottovoce.projections.checks import Projected, checked_vector, not_finite, real_vector

__all__ = ["project_capped", "project_simplex"]


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


def project_capped(raw: NDArray[np.float64], most: int) -> Projected:
    r"""Return the possible shares nearest to a raw estimate:

    .. math:: \operatorname*{argmin}_x \ \lVert x - \mathrm{raw} \rVert_2
              \quad \text{subject to} \quad 0 \le x_j \le 1, \ \sum_j x_j \le \mathrm{most}.

    These are the averages of sets of at most ``most`` options. The solution is x_j = min(max(raw_j - tau, 0), 1): with
    tau = 0 where that adds up to ``most`` or less, else with the tau for which it adds up to ``most``. The sum is
    piecewise linear in tau and falls; its corners are the entries and the entries less one, so the piece is found by
    sorting these, and tau on it exactly. The gap is <g, x> - min_c <g, c> with g = x - raw, the least over all sets c:
    the sum of the ``most`` least entries of g that are negative.

    Parameters
    ----------
    raw : numpy.ndarray
        One-dimensional, real, finite, at least one entry; not modified.
    most : int
        From 1 to the number of entries.

    Raises
    ------
    ProjectionError
        If ``raw`` is empty, not one-dimensional, not real or not finite, or ``most`` is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> project_capped(np.array([1.25, 0.75, -0.25, 0.5]), 2).values
    array([1.   , 0.625, 0.   , 0.375])
    """
    entries = checked_vector(raw)
    if not 1 <= most <= len(entries):
        raise ProjectionError(f"most must be an integer from 1 to {len(entries)}")
    values = np.clip(entries, 0.0, 1.0)
    if values.sum() > most:
        values = np.clip(entries - _threshold(entries, most), 0.0, 1.0)
    g = values - entries
    least = np.partition(g, most - 1)[:most]
    gap = float(g @ values) - float(np.minimum(least, 0.0).sum())
    values.flags.writeable = False
    return Projected(values, gap)


def _threshold(entries: NDArray[np.float64], most: int) -> float:
    """The tau above 0 for which the clipped entries add up to `most`."""
    corners = np.sort(np.concatenate([entries, entries - 1.0]))
    corners = corners[corners > 0]
    ordered = np.sort(entries)
    below = np.concatenate([[0.0], np.cumsum(ordered)])

    def sums(tau: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum of min(max(x - tau, 0), 1): the x from tau to tau + 1 less tau, and one for every x above."""
        first, last = np.searchsorted(ordered, tau, "right"), np.searchsorted(ordered, tau + 1.0, "right")
        return np.asarray(below[last] - below[first] - (last - first) * tau + (len(ordered) - last))

    index = int(np.searchsorted(-sums(corners), -float(most)))  # the sums fall
    high = float(corners[min(index, len(corners) - 1)])
    low = float(corners[index - 1]) if index else 0.0
    ends = sums(np.array([low, high]))
    return low if ends[0] <= ends[1] else low + (ends[0] - most) * (high - low) / (ends[0] - ends[1])
