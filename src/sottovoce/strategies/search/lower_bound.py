"""Lower bounds on the noise of unbiased answers under epsilon-LDP, from singular values.

They hold for every channel and every unbiased reconstruction from one report, with or without public randomness.
docs/contributors/theory/strategies.md has the proof.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from sottovoce.core.limits import check_epsilon
from sottovoce.strategies.laws.roots import Root, root_of
from sottovoce.strategies.search.factorize import shifted, solve
from sottovoce.workloads.base import Floats, Workload

__all__ = ["bound_and_gradient", "information_limits", "least_noise", "mean_variance_bound", "worst_variance_bound"]


def information_limits(epsilon: float, values: int | None = None) -> tuple[float, float]:
    """The information of a report: the largest eigenvalue and trace of the centred information matrix.

    Parameters
    ----------
    epsilon
        The privacy parameter.
    values
        The number of values if all have the same weight; the trace is then a little smaller, and is attained.

    Returns
    -------
    eigenvalue : float
        tanh(epsilon/2)^2.
    trace : float
        sinh(epsilon/2)^2, the limit of many values; for J equal weights the largest over k of
        k (J - k) (e^epsilon - 1)^2 / (k e^epsilon + J - k)^2.

    Examples
    --------
    >>> [round(x, 4) for x in information_limits(1.0)]
    [0.2136, 0.2715]
    >>> [round(x, 4) for x in information_limits(1.0, values=2)]
    [0.2136, 0.2136]
    """
    eigenvalue, trace = math.tanh(epsilon / 2) ** 2, math.sinh(epsilon / 2) ** 2
    if values is not None:
        low = math.exp(-epsilon)
        # Unimodal in k, with its top at J/(1 + e^epsilon).
        top = values * low / (1 + low)
        near = {min(max(k, 1), values - 1) for k in (math.floor(top), math.ceil(top))}
        trace = max(k * (values - k) * (math.expm1(-epsilon) / (k + (values - k) * low)) ** 2 for k in near)
    return eigenvalue, trace


def least_noise(singular_values: ArrayLike, eigenvalue: float, trace: float) -> float:
    """The least sum of s_i^2 (1/z_i - 1) over 0 < z_i <= `eigenvalue` with sum at most `trace`.

    The solution is z_i = min(eigenvalue, c s_i): the information goes to directions where the answers vary, up to the
    limit of one direction.

    Examples
    --------
    >>> round(least_noise([1.0, 1.0], 0.5, 0.5), 6)  # a quarter each
    6.0
    >>> round(least_noise([1.0, 1e-9], 0.5, 0.75), 6)  # the first can take no more than a half
    1.0
    """
    sizes = np.asarray(singular_values, dtype=np.float64)
    sizes = sizes[sizes > 0]
    return float(sizes**2 @ (1 / _information(sizes, eigenvalue, trace) - 1))


def _information(sizes: Floats, eigenvalue: float, trace: float) -> Floats:
    """The z of `least_noise`."""
    ordered = np.sort(sizes)[::-1]
    rest = np.cumsum(ordered[::-1])[::-1]
    full = 0
    while full < sizes.size and ordered[full] * (trace - full * eigenvalue) > eigenvalue * rest[full]:
        full += 1
    if full == sizes.size or rest[full] == 0:
        return np.full(sizes.size, eigenvalue)
    shared: Floats = np.minimum(eigenvalue, (trace - full * eigenvalue) / rest[full] * sizes)
    return shared


def mean_variance_bound(workload: Workload, epsilon: float) -> float:
    """Lower bound on the mean noise over the values, for every epsilon-LDP mechanism with unbiased answers.

    Noise is the sum over the queries of the variance of the estimate from one report, given the person's value.

    Examples
    --------
    The histogram of four values: subset selection attains it.

    >>> from sottovoce.workloads import Identity
    >>> round(mean_variance_bound(Identity(4), 1.0), 4)
    7.5562
    """
    budget = check_epsilon(epsilon)
    root = root_of(workload, centred=True)
    return _scaled(_mean(root, budget), root)


def worst_variance_bound(workload: Workload, epsilon: float, *, tolerance: float = 1e-2) -> float:
    """Lower bound on the noise of the worst value, for every epsilon-LDP mechanism with unbiased answers.

    Parameters
    ----------
    workload
        The queries.
    epsilon
        The privacy parameter.
    tolerance
        Every distribution over the values gives a bound; stop the search within about this fraction of the best.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> round(worst_variance_bound(Prefix(16), 1.0), 1)
    74.6
    """
    budget = check_epsilon(epsilon)
    root = root_of(workload, centred=True)
    if not len(root.matrix):
        return 0.0
    start = solve(root.matrix, True, tolerance, 1000).weights
    bound = _climb(root.matrix, start, budget, tolerance)
    # A bound on the mean is a bound on the worst.
    return _scaled(max(bound, _mean(root, budget)), root)


def _mean(root: Root, epsilon: float) -> float:
    if not len(root.matrix):
        return 0.0
    values = root.matrix.shape[1]
    squares = _squares(root.matrix, np.full(values, 1 / values))[0]
    return least_noise(np.sqrt(squares), *information_limits(epsilon, values))


def _climb(root: Floats, weights: Floats, epsilon: float, tolerance: float) -> float:
    """Improve weights that are best for small epsilon: move weight to values with a derivative above average."""
    best, gradient = bound_and_gradient(root, weights, epsilon)
    size = 1.0
    while size > 0.05 and float(gradient.max()) > (1 + tolerance) * best:
        tried = weights * np.maximum(gradient / best, 1e-12) ** size
        tried /= tried.sum()
        bound, next_gradient = bound_and_gradient(root, tried, epsilon)
        if bound > best * (1 + tolerance / 100):
            weights, best, gradient = tried, bound, next_gradient
        else:
            size /= 2
    return best


def bound_and_gradient(root: Floats, weights: Floats, epsilon: float) -> tuple[float, Floats]:
    """The bound on the mean noise under these weights, and its gradient, up to a constant."""
    squares, vectors = _squares(root, weights)
    eigenvalue, trace = information_limits(epsilon)
    sizes = np.sqrt(squares)
    information = np.maximum(_information(sizes, eigenvalue, trace), float(np.finfo(np.float64).eps) * eigenvalue)
    rotated = vectors.T @ shifted(root, weights, True)
    return least_noise(sizes, eigenvalue, trace), (1 / information - 1) @ rotated**2


def _squares(root: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Squared singular values of the centred and weighted columns, rounded down (the bound grows with each)."""
    columns = shifted(root, weights, True)
    squares, vectors = np.linalg.eigh((columns * weights) @ columns.T)
    certain = np.maximum(squares - len(squares) * np.finfo(np.float64).eps * squares[-1], 0.0)
    return certain, vectors


def _scaled(number: float, root: Root) -> float:
    return float(np.ldexp(number, 2 * root.exponent))
