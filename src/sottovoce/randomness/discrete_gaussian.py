"""The discrete Gaussian over the integers, drawn exactly: rational arithmetic, no floating point.

The law gives k the probability exp(-k^2 / (2 sigma^2)) / Z. The sampler is that of Canonne, Kamath and
Steinke (2020), "The Discrete Gaussian for Differential Privacy", Algorithms 1 to 3.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sottovoce.randomness.source import Source

__all__ = ["bernoulli_exp", "discrete_gaussian", "discrete_laplace", "sample_many"]


def bernoulli_exp(numerator: int, denominator: int, source: Source) -> bool:
    """True with probability exactly exp(-numerator/denominator) (Algorithm 1).

    For gamma in [0, 1] it counts how many coins of chance gamma/1, gamma/2, .. come up before one does not:
    the count is even with probability 1 - gamma + gamma^2/2 - .. = exp(-gamma). A larger gamma is split
    into ones and a rest.

    Examples
    --------
    >>> from sottovoce.randomness import os_source
    >>> bernoulli_exp(0, 1, os_source())
    True
    """
    while numerator > denominator:
        if not _at_most_one(1, 1, source):
            return False
        numerator -= denominator
    return _at_most_one(numerator, denominator, source)


def _at_most_one(numerator: int, denominator: int, source: Source) -> bool:
    k = 1
    while source.below(denominator * k) < numerator:
        k += 1
    return k % 2 == 1


def discrete_laplace(scale: int, source: Source) -> int:
    """An integer k with probability proportional to exp(-|k|/scale), exactly (Algorithm 2)."""
    while True:
        rest = source.below(scale)
        if not bernoulli_exp(rest, scale, source):
            continue
        whole = 0
        while bernoulli_exp(1, 1, source):
            whole += 1
        size = rest + scale * whole
        negative = source.below(2) == 1
        if negative and size == 0:
            continue  # zero would come up with both signs
        return -size if negative else size


def discrete_gaussian(variance: int | Fraction, source: Source) -> int:
    """An integer k with probability proportional to exp(-k^2/(2 variance)), exactly (Algorithm 3).

    A discrete Laplace draw y of scale t = floor(sigma) + 1 is kept with probability
    exp(-(|y| - sigma^2/t)^2/(2 sigma^2)), and drawn again otherwise. How many draws that takes, and so the
    time, depends on the outcome but on nothing else.

    Parameters
    ----------
    variance
        sigma^2, an integer or a fraction above 0.

    Examples
    --------
    >>> from sottovoce.randomness import os_source
    >>> abs(discrete_gaussian(Fraction(9, 2), os_source())) < 100
    True
    """
    n, d = Fraction(variance).as_integer_ratio()
    if n <= 0:
        raise ValueError("the variance of a discrete Gaussian must be above 0")
    t = math.isqrt(n // d) + 1
    while True:
        drawn = discrete_laplace(t, source)
        if bernoulli_exp((abs(drawn) * t * d - n) ** 2, 2 * n * d * t * t, source):
            return drawn


def sample_many(variance: int, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """Simulated draws: a continuous Gaussian of the same variance, rounded to the nearest integer.

    Not the exact law, which only `discrete_gaussian` draws: the total variation distance between the two is
    close to E|x^2 - 1|/(48 variance) = 0.0202/variance for a standard normal x (the next term of the midpoint
    rule), and the rounded one's variance is larger by 1/12. At the variances of 2**20 and more that surveys
    use, more than 10**14 simulated numbers would be needed to tell them apart.

    Examples
    --------
    >>> sample_many(2**40, (3,), np.random.default_rng(1)).dtype
    dtype('int64')
    """
    noise = rng.standard_normal(shape)
    noise *= math.sqrt(variance)
    np.rint(noise, out=noise)
    return noise.astype(np.int64)
