"""How well a slope will be known, before anybody has answered: for people as the design takes them."""

from __future__ import annotations

import math

import numpy as np

from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.relations.allocation import CENTRED, guessed, slope_gradients
from sottovoce.strategies.relations.strategy import ProductsStrategy

__all__ = ["slope_error"]


def slope_error(design: ProductsStrategy, regressor: int, people: int) -> float:
    """The standard error of the slope on one regressor, on the scale of the features.

    n Var = sum_j g_j^2 V_j/f_j, with the gradients and variances of `Guess`: the outcome and numbers spread over six
    standard deviations, with means within a tenth of one from the middle of the range; values of a list equally common,
    and of two values one that 30 % of people have.

    Examples
    --------
    >>> from sottovoce.domain import NumberGrid
    >>> from sottovoce.strategies.setting import Setting
    >>> from sottovoce.workloads.record_moments import RecordMoments
    >>> ends = NumberGrid(-3, 3, points=2)
    >>> (design,) = ProductsStrategy.designs(Setting(RecordMoments((("x", ends), ("y", ends))), 1.0, 0.0, 1))
    >>> round(slope_error(design, 0, 250_000), 4)
    0.0509
    """
    features = design.workload.features
    gradients = slope_gradients(features, guessed(features, CENTRED))[regressor]
    shares = design.mechanism.shares
    with np.errstate(divide="ignore"):
        variance = np.where(gradients > 0, gradients**2 * _variances(design) / shares, 0.0)
    return math.sqrt(float(variance.sum()) / people)


def _variances(design: ProductsStrategy) -> Floats:
    """The variance of one report on every product: the noise in the middle, and people's own differences."""
    features = design.workload.features
    spread = guessed(features).deviation ** 2
    # The square of an indicator is 1 for everybody.
    numbers = np.array([features.sizes[one.attribute] == 0 for one in features.listed])
    squares = np.where(numbers, spread, 1.0)
    own = []
    for first, second in features.products:
        if second < 0:
            own.append(spread[first])
        elif first == second:
            own.append(2 * spread[first] ** 2)
        else:
            own.append(squares[first] * squares[second])
    return np.asarray(design.noise + np.array(own))
