"""Euclidean projection on a ball around the origin, for means of vectors."""

from __future__ import annotations

from math import frexp
from numbers import Real
from sys import float_info
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError
from sottovoce.projections.checks import Projected, checked_vector

__all__ = ["project_ball"]


def project_ball(raw: NDArray[np.float64], radius: float) -> Projected:
    r"""Return the vector of the ball that is nearest to a raw estimate:

    .. math:: \operatorname*{argmin}_x \ \lVert x - \mathrm{raw} \rVert_2
              \quad \text{subject to} \quad \lVert x \rVert_2 \le \mathrm{radius}.

    The solution is ``raw`` itself inside the ball, and ``raw * radius / ||raw||`` outside. The gap is
    <g, x> - min_w <g, w> = <g, x> + radius ||g|| over the vectors w of the ball, g = x - raw; it bounds the
    error as in `Projected`, whose proof uses nothing but the convexity of the set.

    Parameters
    ----------
    raw : numpy.ndarray
        One-dimensional, real, finite, at least one entry; not modified.
    radius : float
        Finite, not negative.

    Returns
    -------
    Projected
        The vector, read-only, its norm at most ``radius`` up to rounding, with its gap: zero inside the ball,
        rounding outside.

    Raises
    ------
    ProjectionError
        If ``raw`` is empty, not one-dimensional, not real or not finite, or ``radius`` is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> project_ball(np.array([3.0, 4.0]), 1.0).values
    array([0.6, 0.8])
    """
    entries = checked_vector(raw)
    limit = _checked_radius(radius)
    # Scaled by a power of two, which is exact, so that squares neither overflow nor underflow.
    _, exponent = frexp(max(float(np.abs(entries).max()), limit))
    scaled, limit = np.ldexp(entries, -exponent), float(np.ldexp(limit, -exponent))
    norm = float(np.linalg.norm(scaled))
    if norm <= limit:
        values, gap = entries.copy(), 0.0
    else:
        inside = scaled * (limit / norm)
        g = inside - scaled
        # <g, x> = -||g|| ||x||, because the two are opposite.
        distance = float(np.linalg.norm(g)) * max(0.0, limit - float(np.linalg.norm(inside)))
        with np.errstate(over="ignore"):
            values, gap = np.ldexp(inside, exponent), float(np.ldexp(distance, 2 * exponent))
    values.flags.writeable = False
    return Projected(values, gap)


def _checked_radius(radius: object) -> float:
    number: Any = radius
    # Compared before it becomes a float: an integer may be too large for one.
    if isinstance(radius, bool) or not isinstance(radius, Real) or not 0 <= number <= float_info.max:
        raise ProjectionError("radius must be a finite non-negative number").at("radius")
    return float(number)
