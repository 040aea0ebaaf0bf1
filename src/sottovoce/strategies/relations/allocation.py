"""How many people are asked for each product of features: for the least total variance of the slopes.

A slope is a function of the means of the products, b = S^-1 c, with the gradient db = S^-1 (dc - dS b). If product j is
asked of a share f_j of the people, and reports have variance V_j, n times the variance of all slopes together is
sum_j g_j^2 V_j/f_j with g_j^2 the sum of its squared gradients; f_j proportional to g_j sqrt(V_j) makes it least.

Before there are data, gradients are bounded: features are taken for uncorrelated, numbers for spread over six standard
deviations, with a mean within `AWAY` of them from the middle, values of a list for equally common but none for more
common than `_COMMON`, and standardised slopes for at most `_STEEP` together. A guess that is wrong costs people, never
correctness. For two numbers with means in the middle it takes 6 % more people than shares made for that; with means one
standard deviation off, 1.6 times as many as shares made for those, where shares made for the middle would take three
times as many.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from sottovoce.domain.features import RecordFeatures
from sottovoce.mechanisms.base import Floats
from sottovoce.theory.relations import MeanProducts

__all__ = ["Guess", "guessed", "slope_gradients", "weights_of_products"]

AWAY: Final = 0.25
"""How far, in standard deviations, a number's mean is taken to be from the middle of its range, to share people out."""

CENTRED: Final = 0.1
"""How far it is taken to be where a plan says how well a slope will be known."""

_STEEP: Final = 0.5
"""The root of the sum of squared standardised slopes."""

_COMMON: Final = 0.3
"""The largest share of people that a value of a list is taken to have: with half of them its mean would not matter."""

_LEAST: Final = 0.1
"""No product has less than this part of an equal share of the people: a guess may be wrong, and every mean counts."""

_FIT: Final = 0.025
"""The share of people that are asked for the square of the outcome, which no slope depends on, and R squared does."""

_HEAVIEST: Final = 2**12


class Guess(NamedTuple):
    """Features as a design takes them before there are data: means, standard deviations and slopes."""

    mean: Floats
    deviation: Floats
    slopes: Floats


def guessed(features: RecordFeatures, away: float = AWAY) -> Guess:
    """Numbers spread over their range; values of a list equally common, of two values one less common."""
    sizes = [features.sizes[feature.attribute] for feature in features.listed]
    shares = np.array([min(1 / size, _COMMON) if size else 0.5 for size in sizes])
    numbers = np.array([size == 0 for size in sizes])
    mean = np.where(numbers, away / 3, 2 * shares - 1)
    deviation = np.where(numbers, 1 / 3, 2 * np.sqrt(shares * (1 - shares)))
    regressors = len(sizes) - 1
    steep = _STEEP / math.sqrt(regressors)
    return Guess(mean, deviation, steep * deviation[-1] / deviation[:-1])


def slope_gradients(features: RecordFeatures, guess: Guess) -> Floats:
    """Bounds on |d slope_t / d theta_j| for every regressor t and product j, on the scale of the features."""
    size, products = len(features.listed), features.products
    follows = related_parts(features)[1]
    parts = related_parts(features)[0]
    means = MeanProducts(
        np.abs(guess.mean), np.zeros(size), np.zeros((size, size)), parts, np.zeros(len(products) - size), follows
    )
    change = np.abs(means.slopes_of_covariance)
    spread = guess.deviation[:-1] ** 2
    along = change[: size - 1, size - 1]
    inner = np.einsum("tlj,l->tj", change[: size - 1, : size - 1], np.abs(guess.slopes))
    return np.asarray((along + inner) / spread[:, None])


def related_parts(features: RecordFeatures) -> tuple[np.ndarray, Floats]:
    """For every pair of features the number of its own product, or -1; and how pairs that follow depend on means.

    The square of an indicator is 1. Of one list, f g = -1 - f - g: no two are 1 together.
    """
    size = len(features.listed)
    parts, follows = np.full((size, size), -1, dtype=np.int64), np.zeros((size, size, size))
    for number, (i, j) in enumerate(features.products[size:]):
        parts[i, j] = parts[j, i] = number
    for i in range(size):
        for j in range(size):
            if parts[i, j] < 0 and i != j:
                follows[i, j, i] = follows[i, j, j] = -1.0
    return parts, follows


def weights_of_products(features: RecordFeatures) -> tuple[int, ...]:
    """Integer weights of all products, none of them 0.

    Examples
    --------
    >>> weights = weights_of_products(RecordFeatures((0, 0)))
    >>> [round(weight / sum(weights), 3) for weight in weights]
    [0.108, 0.054, 0.162, 0.65, 0.025]
    """
    guess, size = guessed(features), len(features.listed)
    standardised = slope_gradients(features, guess) * (guess.deviation[:-1] / guess.deviation[-1])[:, None]
    noise = np.array([0.5 if product.is_square else 1.0 for product in features.products])
    shares = np.sqrt((standardised**2).sum(axis=0)) * noise
    fit = features.products.index((size - 1, size - 1)) if features.sizes[-1] == 0 else None
    shares /= shares.sum()
    if fit is not None:
        shares[fit] = 0.0
        shares *= (1 - _FIT) / shares.sum()
        shares[fit] = _FIT
    shares = np.maximum(shares, _LEAST / len(shares))
    scaled = np.maximum(1, np.rint(_HEAVIEST * shares / shares.max())).astype(int).tolist()
    common = math.gcd(*scaled)
    return tuple(weight // common for weight in scaled)
