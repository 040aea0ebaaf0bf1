"""Slopes, correlations and predictions from noisy means of features and of their products.

A mean of n independent reports has a known variance. Where different means come from different reports their errors are
independent; else their covariance is known. Covariances of features are E fg - E f E g. Products of noisy means are too
large on average by their covariance, which is given back. Everything else is a smooth function of the means; its error
follows from its gradient (the delta method), and the slope on one regressor, a ratio of two covariances, has Fieller's
interval (1954).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Correlated", "Fitted", "MeanProducts", "Range", "correlated", "fieller", "fitted"]

Floats = NDArray[np.float64]

_FLAT: Final = 1e-12
"""A spread below this, on the scale of the ranges, is none."""


class Range(NamedTuple):
    """The ends of an interval; infinite where nothing can be said on that side."""

    low: float
    high: float


@final
@dataclass(frozen=True, eq=False)
class MeanProducts:
    """Estimated means of features and of products of two, and the variance of each.

    Attributes
    ----------
    mean, mean_variance
        The mean of each feature and its variance.
    products
        E f_i f_j for every pair of features.
    parts
        How the matrix `products` was made: the number of each pair's own mean, or -1 where it follows from others.
    product_variance
        The variance of every product's own mean.
    follows
        For pairs that follow: dE f_i f_j/dE f_k for every feature k, one row per pair; zero for the others.
    noise
        The covariance of all means, of features and then of products, where their errors are not independent.
    """

    mean: Floats
    mean_variance: Floats
    products: Floats
    parts: NDArray[np.int64]
    product_variance: Floats
    follows: Floats
    noise: Floats | None = None

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.mean)

    @cached_property
    def covariance(self) -> Floats:
        """The covariances of the features, unbiased: what products of noisy means are too large by is given back."""
        size = self.size
        noise = np.diag(self.mean_variance) if self.noise is None else self.noise[:size, :size]
        return np.asarray(self.products - np.outer(self.mean, self.mean) + noise)

    @property
    def variances(self) -> Floats:
        """The variances of all means: of features, then of products."""
        return np.concatenate([self.mean_variance, self.product_variance])

    @cached_property
    def slopes_of_covariance(self) -> Floats:
        """d covariance_ij / d theta_k, for the means theta of features and of products."""
        size = self.size
        slopes = np.zeros((size, size, size + len(self.product_variance)))
        slopes[:, :, :size] += self.follows
        for i in range(size):
            slopes[i, :, i] -= self.mean
            slopes[:, i, i] -= self.mean
        held = self.parts >= 0
        rows, columns = np.nonzero(held)
        slopes[rows, columns, size + self.parts[held]] += 1
        return slopes

    def error(self, gradient: Floats) -> float:
        """The standard error of a function of the means with this gradient."""
        return math.sqrt(max(0.0, self.shared(gradient, gradient)))

    def shared(self, one: Floats, other: Floats) -> float:
        """The covariance of two functions of the means with these gradients."""
        return float(one * other @ self.variances if self.noise is None else one @ self.noise @ other)


@final
@dataclass(frozen=True, eq=False)
class Fitted:
    """The line of least squares of one feature on others, from estimated covariances.

    Attributes
    ----------
    slopes
        One for every regressor; `gradients` are their derivatives by the means, one row each.
    """

    means: MeanProducts
    outcome: int
    regressors: tuple[int, ...]
    slopes: Floats
    gradients: Floats

    @property
    def errors(self) -> Floats:
        """The standard errors of the slopes."""
        return np.array([self.means.error(gradient) for gradient in self.gradients])

    def determined(self, normal: float) -> bool:
        """Whether the regressors are spread in every direction, by as many standard errors.

        Where they are not, one may follow from the others, and their slopes may be anything. The direction is that of
        the least variance, a smooth function of the means: the gradient of an eigenvalue is v' dS v.
        """
        chosen = list(self.regressors)
        values, vectors = np.linalg.eigh(self.means.covariance[np.ix_(chosen, chosen)])
        inner = self.means.slopes_of_covariance[np.ix_(chosen, chosen)]
        gradient = np.einsum("i,ijk,j->k", vectors[:, 0], inner, vectors[:, 0])
        return float(values[0]) > normal * self.means.error(gradient)

    @cached_property
    def explained(self) -> tuple[float, Floats]:
        """R squared, b' c / var(y), and its gradient; since b is the best, its own change counts twice less."""
        spread, chosen = self.means.covariance, list(self.regressors)
        along = spread[chosen, self.outcome]
        total = float(spread[self.outcome, self.outcome])
        share = float(self.slopes @ along) / total
        change = self.means.slopes_of_covariance
        inner = change[np.ix_(chosen, chosen)]
        # d(b'c) = 2 b' dc - b' dS b
        moved = 2 * self.slopes @ change[chosen, self.outcome] - np.einsum(
            "i,ijk,j->k", self.slopes, inner, self.slopes
        )
        return share, np.asarray((moved - share * change[self.outcome, self.outcome]) / total)

    def predicted(self, at: Floats) -> tuple[float, Floats]:
        """The mean of the outcome for people with these regressors, and its gradient."""
        chosen = list(self.regressors)
        away = at - self.means.mean[chosen]
        gradient = away @ self.gradients
        gradient[chosen] -= self.slopes
        gradient[self.outcome] += 1
        return float(self.means.mean[self.outcome] + self.slopes @ away), gradient


def fitted(means: MeanProducts, outcome: int, regressors: Sequence[int]) -> Fitted | None:
    """The line of one feature on others; None where their spread is not above zero in every direction.

    b = S^-1 c, and db = S^-1 (dc - dS b).

    Examples
    --------
    >>> parts = np.array([[0, 1], [1, 2]])
    >>> products = np.array([[0.25, 0.125], [0.125, 0.25]])
    >>> noise = np.full(2, 1e-6), np.full(3, 1e-6)
    >>> means = MeanProducts(np.zeros(2), noise[0], products, parts, noise[1], np.zeros((2, 2, 2)))
    >>> line = fitted(means, 1, [0])
    >>> line.slopes.round(3), line.errors.round(4)
    (array([0.5]), array([0.0045]))
    """
    chosen = list(regressors)
    inner, along = means.covariance[np.ix_(chosen, chosen)], means.covariance[chosen, outcome]
    if np.linalg.eigvalsh(inner).min() <= _FLAT:
        return None
    inverse = np.linalg.inv(inner)
    slopes = inverse @ along
    change = means.slopes_of_covariance
    moved = change[chosen, outcome] - np.einsum("ijk,j->ik", change[np.ix_(chosen, chosen)], slopes)
    return Fitted(means, outcome, tuple(chosen), np.asarray(slopes), np.asarray(inverse @ moved))


def fieller(means: MeanProducts, outcome: int, regressor: int, normal: float) -> Range:
    """The slopes b on one regressor that the means allow: (c - b s)^2 <= z^2 Var(c - b s), a quadratic in b.

    Where the spread s of the regressor may be zero, the slopes that are allowed have no end on a side, or on both.

    Examples
    --------
    >>> parts = np.array([[0, 1], [1, 2]])
    >>> def means(spread):
    ...     products = np.array([[spread, 0.125], [0.125, 0.25]])
    ...     return MeanProducts(np.zeros(2), np.full(2, 1e-4), products, parts, np.full(3, 1e-4), np.zeros((2, 2, 2)))
    >>> [round(end, 3) for end in fieller(means(0.25), 1, 0, 1.96)]
    [0.415, 0.591]
    >>> fieller(means(0.01), 1, 0, 1.96)
    Range(low=-inf, high=inf)
    """
    along, spread = float(means.covariance[regressor, outcome]), float(means.covariance[regressor, regressor])
    change = means.slopes_of_covariance
    return _ratio_ends(along, spread, change[regressor, outcome], change[regressor, regressor], means, normal)


def _ratio_ends(
    over: float, under: float, of_over: Floats, of_under: Floats, means: MeanProducts, normal: float
) -> Range:
    """The ratios r with (over - r under)^2 <= z^2 Var(over - r under), from the gradients of both."""
    square = normal**2
    a = under**2 - square * means.shared(of_under, of_under)
    b = -2 * (over * under - square * means.shared(of_over, of_under))
    c = over**2 - square * means.shared(of_over, of_over)
    root = b * b - 4 * a * c
    if a <= 0 or under <= 0 or root < 0:
        # The ratios allowed are all, or two half lines, whose hull is everything.
        return Range(-math.inf, math.inf)
    width = math.sqrt(root)
    return Range((-b - width) / (2 * a), (-b + width) / (2 * a))


class Correlated(NamedTuple):
    """A correlation and its interval."""

    value: float
    ends: Range


def correlated(means: MeanProducts, first: int, second: int, normal: float) -> Correlated:
    """The correlation r = c/w of two features, w the root of the product of their variances.

    Its interval has all r with (c - r w)^2 <= z^2 Var(c - r w), as for a slope: Fieller's, w being a smooth function of
    the means. NaN where a variance is not above zero.

    Examples
    --------
    >>> products = np.array([[0.25, 0.125], [0.125, 0.25]])
    >>> parts, noise = np.array([[0, 1], [1, 2]]), np.full(3, 1e-4)
    >>> means = MeanProducts(np.zeros(2), noise[:2], products, parts, noise, np.zeros((2, 2, 2)))
    >>> found = correlated(means, 0, 1, 1.96)
    >>> round(found.value, 3), [round(end, 3) for end in found.ends]
    (0.5, [0.418, 0.585])
    """
    spread, change = means.covariance, means.slopes_of_covariance
    along, one, other = float(spread[first, second]), float(spread[first, first]), float(spread[second, second])
    if one <= 0 or other <= 0:
        return Correlated(math.nan, Range(-math.inf, math.inf))
    whole = math.sqrt(one * other)
    of_along = change[first, second]
    of_whole = (other * change[first, first] + one * change[second, second]) / (2 * whole)
    ends = _ratio_ends(along, whole, of_along, of_whole, means, normal)
    return Correlated(along / whole, ends)
