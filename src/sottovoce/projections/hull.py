"""Euclidean projection on the hull of a query matrix's columns: exact, certified, without storing the matrix.

The search is Wolfe's minimum-norm-point method, over the points of `hull_points`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ProjectionError
from sottovoce.projections.active_set import ActiveSet
from sottovoce.projections.checks import Projected, checked_vector
from sottovoce.projections.hull_points import Choice, Points
from sottovoce.projections.operator import Operator, as_operator

__all__ = ["HullProjection", "NearestAverage", "project_hull", "search"]


_BATCH = range(32, 257)
"""Points that enter together: a quarter of the active ones, within this range; half or twice that is hardly slower."""

_MOST_ACTIVE = 8192
"""Active points at most: their triangular factor then takes half a GiB, and changing it as much again."""

_ROUNDING = 2.0**-49
"""What the gap may be off by, as a part of the longest column times the size of the hull and the distance to it."""

_PATIENCE = 8
"""How often the search may come back to an active set it has left; in exact arithmetic it never does."""


@dataclass(frozen=True, eq=False)
class NearestAverage:
    """The average with the smallest gap that a search has met, the gap in squares of the points' unit."""

    average: Floats
    choice: Choice
    weights: Floats
    gap: float
    converged: bool


def search(
    points: Points, start: tuple[Choice, Floats] | None, tolerance: float, max_steps: int
) -> tuple[NearestAverage, int]:
    """Find the average of the points nearest to the target; return it with the number of steps taken.

    A step takes one product with A^T, which prices all points p at the present average x: <p, x - target>. At an
    affine minimiser all active points cost the same; one that costs less lies on the near side, and x gets better
    when it enters. Wolfe lets the cheapest enter. Here a batch of the cheapest does, at weight zero, which saves
    products: toward the new affine minimiser the distance falls at a rate that is a sum over the entering points of
    weight gained times cost saved, so some of them gain weight, and the others leave again. Every step thus ends in
    an affine minimiser better than all before it, and there are finitely many sets to be active.

    In floating point a set may come back, when only rounding is left to gain; that is counted, and ends the search.
    """
    active = _begin(points, start)
    best: NearestAverage | None = None
    seen: set[int] = set()
    steps = returns = 0
    settled = start is None
    while True:
        average = active.average()
        residual = average - points.target
        prices = points.prices(residual)
        lowest = points.lowest(prices)
        costs = active.costs(prices)
        gap = float(active.weights @ (costs - lowest.min()))
        steps += 1
        if best is None or gap < best.gap:
            best = NearestAverage(average, active.choice, active.weights, gap, False)
        distance = float(np.linalg.norm(residual))
        allowed = tolerance * active.spread * max(active.spread, distance)
        allowed += _ROUNDING * active.longest * (active.spread + distance)
        identity = hash(np.sort(active.choice[0] * active.choice[1]).tobytes())
        returns += identity in seen
        seen.add(identity)
        room = _MOST_ACTIVE - len(active)
        if best.gap <= allowed or steps >= max_steps or returns > _PATIENCE or room <= 0:
            return replace(best, converged=best.gap <= allowed), steps
        batch = min(
            max(_BATCH.start, len(active) // 4), _BATCH.stop - 1, max(1, points.dimension + 1 - len(active)), room
        )
        entering = _cheapest(points, active, prices, lowest, returns or batch)
        if returns:  # the batch was of no use, nor were the cheapest one by one so far: try the next of them
            entering = entering[0][-1:], entering[1][-1:]
        if not active.enter(entering) and settled and active.exchange(entering, prices):
            settled = False  # gains can be measured only when the active points cost the same again
        else:
            active.descend(active.costs(prices))
            settled = True


def _begin(points: Points, start: tuple[Choice, Floats] | None) -> ActiveSet:
    """Return the active set given, or else the affine minimiser of a few points on the target's side."""
    if start is not None:
        points.measure_by(start[0])
        return ActiveSet(points, *start)
    prices = points.prices(-points.target)
    few = min(_BATCH.start, _MOST_ACTIVE, points.dimension + 1, points.columns)
    choice = points.with_lower_sign(_smallest(points.lowest(prices), few), prices)
    points.measure_by(choice)
    active = ActiveSet(points, choice, np.eye(1, few)[0])
    active.descend(active.costs(points.prices(active.average() - points.target)))
    return active


def _cheapest(points: Points, active: ActiveSet, prices: Floats, lowest: Floats, batch: int) -> Choice:
    """Return the cheapest points that are not active and cost less than the average, `batch` at most."""
    columns, signs = active.choice
    _, lower_signs = points.with_lower_sign(columns, prices)
    others = lowest.copy()
    others[columns[signs == lower_signs]] = np.inf
    cheaper = np.flatnonzero(others < active.weights @ active.costs(prices))
    return points.with_lower_sign(cheaper[_smallest(others[cheaper], min(batch, cheaper.size))], prices)


def _smallest(entries: Floats, number: int) -> NDArray[np.int64]:
    """Return where the smallest entries are, the smallest first."""
    places = np.argpartition(entries, number)[:number] if number < entries.size else np.arange(entries.size)
    return places[np.argsort(entries[places], kind="stable")]


Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HullProjection(Projected):
    """A projection on the hull of columns, and the distribution that has those answers.

    With x the distribution (`weights` on `support`, zero elsewhere), `values` = A x and g = A^T(A x - raw), the
    certificate is ``gap`` = <g, x> - min_j g_j, and it bounds the distance to the true projection y*:

    1. y* minimises ||y - raw||^2 over the hull, which holds A x, so <y* - raw, A x - y*> >= 0.
    2. Hence <A x - raw, A x - y*> = ||A x - y*||^2 + <y* - raw, A x - y*> >= ||A x - y*||^2.
    3. y* is an average of columns, A w, so <A x - raw, A x - y*> = <g, x> - <g, w> <= <g, x> - min_j g_j = gap.

    Together ||A x - y*|| <= sqrt(gap), whatever the method did. For the symmetric polytope x and w range over the
    L1 ball and -max_j |g_j| stands for min_j g_j.

    Attributes
    ----------
    values : numpy.ndarray
        The projected answers, A x; float64, read-only.
    gap : float
        The certificate; never negative, itself exact up to the rounding of g.
    support : numpy.ndarray
        The columns that x gives weight to, ascending; int64, read-only. At most d + 1.
    weights : numpy.ndarray
        Their weights, positive and summing to one; float64, read-only. For the symmetric polytope they are signed,
        and their absolute values sum to one or less.
    steps : int
        Products with A^T that were certificates on the way.
    converged : bool
        Whether the gap is within the tolerance.
    """

    support: NDArray[np.int64]
    weights: Floats
    steps: int
    converged: bool


def project_hull(
    operator: Operator | Floats,
    raw: Floats,
    *,
    tolerance: float = 1e-10,
    start: tuple[NDArray[np.int64], Floats] | None = None,
    max_steps: int | None = None,
    symmetric: bool = False,
) -> HullProjection:
    r"""Return the answers of a distribution that are nearest to a raw estimate:

    .. math:: A x, \quad x = \operatorname*{argmin}_x \ \lVert A x - \mathrm{raw} \rVert_2^2
              \quad \text{subject to} \quad x_j \ge 0, \ \sum_j x_j = 1.

    With ``symmetric`` the constraint is :math:`\sum_j |x_j| \le 1` instead: the hull of the columns and their
    opposites, the paper's polytope A B_1. Both contain the true answers A p, so in L2 neither projection is ever
    farther from these than ``raw`` is.

    This is Wolfe's minimum-norm-point method [1]_ on the points a_j - raw; `sottovoce.projections.hull`
    describes it. It ends in finitely many steps at the exact solution up to rounding. A step needs one product with
    A^T and a few columns; or, where the operator knows them (a `GramOperator`), a product with A and the inner
    products of a few columns with the active ones. Memory is O(J + d) and some 2^28 bytes for columns, beside the
    square of the number of active columns, which is kept below 8,192: a solution that needs more is not found, and
    ``converged`` says so.

    Parameters
    ----------
    operator : Operator or numpy.ndarray
        The query matrix A: d rows, J columns, finite.
    raw : numpy.ndarray
        The raw estimate: d finite entries; not modified.
    tolerance : float
        The gap at which to stop, relative to s max(s, ||A x - raw||), where s is the largest distance from the mean
        of the columns to one of those met on the way (for the symmetric polytope, their largest length). The gap is
        a difference of inner products; it is also small enough if it is within their rounding error,
        2^-49 times the longest column times s + ||A x - raw||.
    start : tuple of numpy.ndarray, optional
        Support and weights to start from, such as those of a projection of a similar vector.
    max_steps : int, optional
        Stop after this many steps, with the best certificate met. By default ten times the number of columns that
        can be active, and a hundred more: a bound against surprises that none is known to reach.
    symmetric : bool
        Whether to project on the symmetric polytope.

    Returns
    -------
    HullProjection
        The answers, their certificate, and the sparse distribution that has them.

    Raises
    ------
    ProjectionError
        If the operator or ``raw`` is not finite or the shapes differ, or an option is out of range.

    References
    ----------
    .. [1] P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976).

    Examples
    --------
    >>> import numpy as np
    >>> triangle = np.array([[0.0, 2.0, 0.0], [0.0, 0.0, 2.0]])
    >>> nearest = project_hull(triangle, np.array([2.0, 1.0]))
    >>> nearest.values
    array([1.5, 0.5])
    >>> nearest.support, nearest.weights
    (array([1, 2]), array([0.75, 0.25]))
    """
    matrix = as_operator(operator)
    target = checked_vector(raw)
    d, columns = matrix.shape
    if target.size != d:
        raise ProjectionError(
            f"The vector has {target.size} entries and the query matrix {d} rows; it needs one entry per row."
        ).at("raw")
    limit = 100 + 10 * min(d + 1, columns) if max_steps is None else _checked_steps(max_steps)
    given = None if start is None else _checked_start(start, columns, symmetric)
    points = Points(matrix, target, symmetric)
    nearest, steps = search(points, given, _checked_tolerance(tolerance), limit)
    support, weights = _distribution(nearest.choice, nearest.weights)
    with np.errstate(over="ignore", under="ignore"):
        # Rounded up where it would vanish: a gap of zero must be one.
        gap = max(float(np.ldexp(nearest.gap, 2 * points.exponent)), 5e-324 if nearest.gap else 0.0)
    values = points.as_answers(nearest.average)
    for array in (values, support, weights):
        array.flags.writeable = False
    return HullProjection(values, gap, support, weights, steps, nearest.converged)


def _distribution(choice: Choice, weights: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the columns and their weights, the two signs of one column taken together."""
    support, index = np.unique(choice[0], return_inverse=True)
    total = np.bincount(index, choice[1] * weights, support.size)
    return support[total != 0], total[total != 0]


def _checked_tolerance(tolerance: object) -> float:
    number: Any = tolerance
    if isinstance(tolerance, bool) or not isinstance(tolerance, Real) or not 0 <= number < 1:
        raise ProjectionError("tolerance must be a number from 0 to 1; the default is 1e-10").at("tolerance")
    return float(number)


def _checked_steps(max_steps: object) -> int:
    if isinstance(max_steps, bool) or not isinstance(max_steps, Integral) or int(max_steps) < 1:
        raise ProjectionError("max_steps must be an integer of at least 1; leave it out for no practical limit").at(
            "max_steps"
        )
    return int(max_steps)


def _checked_start(start: tuple[NDArray[np.int64], Floats], columns: int, symmetric: bool) -> tuple[Choice, Floats]:
    """Return the start as signed points and positive weights."""
    support, weights = (np.asarray(part) for part in start)
    if support.ndim != 1 or support.shape != weights.shape or support.size == 0:
        raise ProjectionError(
            f"The start has a support of shape {support.shape} and weights of shape {weights.shape}; "
            "both must be vectors of the same length, one entry or more."
        ).at("start")
    if support.dtype.kind not in "iu" or support.min() < 0 or support.max() >= columns:
        raise ProjectionError(f"The start's support must hold column numbers: integers from 0 to {columns - 1}.").at(
            "start"
        )
    if weights.dtype.kind not in "fiu" or not np.isfinite(weights).all() or not np.any(weights):
        raise ProjectionError("The start's weights must be finite real numbers, not all of them zero.").at("start")
    if not symmetric and weights.min() < 0:
        raise ProjectionError("The start's weights must not be negative, except on the symmetric polytope.").at("start")
    signs = np.where(weights < 0, -1.0, 1.0)
    sizes = np.abs(weights).astype(np.float64)
    return (support.astype(np.int64), signs), sizes / sizes.max()
