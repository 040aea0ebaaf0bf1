"""Constants of the codebook mechanism: de-biasing, variance, sub-Gaussian proxy, and the best choice of its sizes.

Symbols: D `size`, M `candidates`, h = M/2 rows a block, m `marked`, P `rotations`, w the probability that a marked
candidate is reported. t is the inner product of the reported candidate with the person's unit vector; for a uniformly
random rotation it is g/|N(0, I_D)|, g the same among standard normals.

The constants are means over the largest of several standard normals. For h independent ones g
and X the m largest of |g_1|, .., |g_h|,

    E[ sum over X of phi(x) ] = h * integral of phi(x) f(x) P(fewer than m of the other h-1 exceed x) dx,

f the half-normal density. The probability is a regularised incomplete beta function, the integrand is smooth, and
the half-normal tail beyond 14 is below 1e-43, so composite Gauss-Legendre quadrature reaches rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.extras import full_install

__all__ = ["CodebookConstants", "best_sizes", "codebook_constants", "largest_mean", "limit_noise", "norm_mean"]


Floats = NDArray[np.float64]

_END = 14.0
_PANELS = 96
_NODES = 24


@lru_cache(maxsize=4)
def _rule(end: float) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    edges = np.linspace(0.0, end, _PANELS + 1)
    half = np.diff(edges)[:, None] / 2
    middle = (edges[1:] + edges[:-1])[:, None] / 2
    return (middle + half * nodes).ravel(), (half * weights).ravel()


def largest_mean(phi: Callable[[Floats], Floats], h: int, m: int, end: float = _END) -> float:
    """E[mean of phi(x) over the m largest of |g_1| .. |g_h|]; raise `end` where phi grows like an exponential.

    Examples
    --------
    >>> round(largest_mean(lambda x: x, 1, 1), 12) == round(math.sqrt(2 / math.pi), 12)
    True
    >>> round(largest_mean(lambda x: x**2, 5, 5), 12)
    1.0
    """
    with full_install:
        from scipy.special import betainc, erf

    x, weights = _rule(end)
    density = math.sqrt(2 / math.pi) * np.exp(-(x**2) / 2)
    among_largest = np.ones_like(x) if m == h else betainc(h - m, m, erf(x / math.sqrt(2)))
    return float(h / m * np.sum(weights * phi(x) * density * among_largest))


def norm_mean(size: int) -> float:
    """E|N(0, I_size)| = sqrt(2) Gamma((size+1)/2)/Gamma(size/2).

    From 64 on by its asymptotic series, whose first omitted term is below 1e-12 there, because a difference of
    two large log-gammas would lose the digits that matter.

    Examples
    --------
    >>> round(norm_mean(2), 6)
    1.253314
    """
    if size < 64:
        return math.sqrt(2) * math.exp(math.lgamma((size + 1) / 2) - math.lgamma(size / 2))
    s = 1 / size
    series = 1 - s / 4 + s**2 / 32 + 5 * s**3 / 128 - 21 * s**4 / 2048 - 399 * s**5 / 8192
    return math.sqrt(size) * series


WITHIN = 1.02
"""The default number of candidates is the least whose noise is within this factor of the limit's."""

SHARING = 0.05
"""Most that people of one rotation may add to the variance, for the worst population."""


_UNLIKELY = 1e-9
"""Probability, times what it could cost, that a row of a rotation is longer than allowed for in a direction."""


def _bennett(y: float) -> float:
    """phi(y) = (e^y - 1 - y)/y^2, which is 1/2 at 0."""
    return (math.expm1(y) - y) / y**2 if y > 1e-4 else 0.5 + y / 6 + y**2 / 24


@dataclass(frozen=True)
class CodebookConstants:
    """Everything the estimate and its error model need, from the sizes and the (rounded) w.

    Examples
    --------
    >>> e = math.e
    >>> constants = CodebookConstants(size=1 << 16, candidates=32, marked=11, inside=11 * e / (11 * e + 21))
    >>> round(constants.noise, 2)
    6.48
    """

    size: int
    candidates: int
    marked: int
    inside: float

    @property
    def _outside_each(self) -> float:
        return (1 - self.inside) / (self.candidates - self.marked)

    def _largest(self, power: int) -> float:
        return _largest_power(self.candidates // 2, self.marked, power)

    @property
    def excess(self) -> float:
        """How much likelier a marked candidate is reported than if all candidates were alike, times a constant."""
        return self.inside - self.marked * self._outside_each

    @property
    def is_informative(self) -> bool:
        """Whether the scale is above 0: a device asks, and all that its excess is multiplied by is positive."""
        return self.excess > 0

    @cached_property
    def normal_mean(self) -> float:
        """E[g] of the reported candidate among standard normals."""
        return self.excess * self._largest(1)

    @cached_property
    def scale(self) -> float:
        """c = E[t], exact for uniformly random rotations; the estimate divides by it."""
        return self.normal_mean / norm_mean(self.size)

    @cached_property
    def second_moment(self) -> float:
        """kappa = E[t^2]."""
        T2 = self._largest(2) / self.size
        return self.inside * T2 + self._outside_each * (self.candidates / self.size - self.marked * T2)

    @property
    def noise(self) -> float:
        """n Var/r^2 of a coordinate orthogonal to everybody's vector: (1 - kappa)/(c^2 (D-1))."""
        return (1 - self.second_moment) / (self.scale**2 * (self.size - 1))

    @property
    def along(self) -> float:
        """n E[squared report]/r^2 of a coordinate that is everybody's vector: kappa/c^2."""
        return self.second_moment / self.scale**2

    @cached_property
    def tail(self) -> float:
        """T gamma_D^2: the least proxy of the reported g, found on a grid and bounded beyond it.

        t is no heavier than g/gamma_D: for a norm R independent of the direction, Jensen gives
        E exp(lambda t) <= E exp(lambda R t/gamma_D) = E exp(lambda g/gamma_D). Beyond the grid a marked candidate
        has e^(lambda g) <= 1 for lambda < 0, and any candidate is at most M w/m times as likely as a uniform one.
        """
        m, M, mean = self.marked, self.candidates, self.normal_mean
        grid = np.concatenate([-np.linspace(12, 0.05, 240), np.linspace(0.05, 12, 240)])

        def log_mgf(lam: float) -> float:
            top = largest_mean(lambda x: np.exp(lam * x - lam * lam / 2), M // 2, m, end=28.0)
            rest = self._outside_each * (M - m * top)
            return lam * lam / 2 + math.log(self.inside * top + rest)

        on_grid = max(2 * (log_mgf(lam) - lam * mean) / lam**2 for lam in grid)
        spread = 2 * self._outside_each * M
        beyond_left = 1 + 2 * (12 * mean + math.log(spread / 2 + self.inside * math.exp(-72))) / 144
        beyond_right = 1 + 2 * max(0.0, math.log(max(1.0, M * self.inside / m)) - 12 * mean) / 144
        # A grid step of 0.05 moves the smooth supremum by far less than this margin.
        return float(max(on_grid, beyond_left, beyond_right, self._variance_of_g()) * 1.001)

    def _variance_of_g(self) -> float:
        second = self.inside * self._largest(2) + self._outside_each * (
            self.candidates - self.marked * self._largest(2)
        )
        return second - self.normal_mean**2

    @cached_property
    def proxy(self) -> float:
        """tau^2/r^2 = max(1/(D-1), T)/c^2 + 1; the proof stands in docs/contributors/theory/codebook."""
        return max(1 / (self.size - 1), self.tail / norm_mean(self.size) ** 2) / self.scale**2 + 1

    @cached_property
    def sharing(self) -> float:
        """B: g people a rotation multiply the noise by at most 1 + B g/D, that much only for a point mass.

        B = (m h (q1 - q0)^2 - C)/(1 - kappa), C = c^2 D; see docs/contributors/theory/codebook.
        """
        h, m = self.candidates // 2, self.marked
        C = self.scale**2 * self.size
        return max(0.0, m * h * self._gap**2 - C) / (1 - self.second_moment)

    @property
    def _gap(self) -> float:
        """What a marked candidate is likelier than another."""
        return self.inside / self.marked - self._outside_each

    def expected_maximum(self, rotations: int, directions: int, n_reports: int) -> float:
        """What E max_j <estimate - mean, a_j> stays below for J vectors of length 1 and people in the unit ball.

        Proved for uniformly random rotations that all people share; see docs/contributors/theory/codebook. With
        L = log J, any lambda > 0 gives
        L/lambda + lambda rho^2/(2 P) + lambda v/n phi(lambda b/n): rho^2/P is the proxy of the mean
        of a report given the rotations, v its expected second moment, b a limit that no row of any rotation exceeds
        in any of the directions but with the probability allowed for here, and phi(y) = (e^y - 1 - y)/y^2.
        """
        if directions == 1:
            return 0.0
        D, h, c, n, L = self.size, self.candidates // 2, self.scale, n_reports, math.log(directions)
        everywhere = h * (2 * self._outside_each + self._gap) / (D * c**2)
        v = h * (2 * self._outside_each + self._gap * self._marked_square(rotations, L)) / (D * c**2)
        rho2 = self.marked * h * self._gap**2 / (D * (D - 1) * c**2)
        rate = math.sqrt(2 * L / (v / n + rho2 / rotations))
        farthest = rate / (n * c)
        unlikely = farthest + math.log(1 / _UNLIKELY)
        row = min(1.0, math.sqrt(2 * (math.log(2 * rotations * D * directions) + unlikely) / D))
        own = rate / n * (v * _bennett(row * farthest) + everywhere * _UNLIKELY)
        return L / rate + rate * rho2 / (2 * rotations) + own

    def _marked_square(self, rotations: int, logarithm: float) -> float:
        """What the expected maximum over directions of the marked rows' part of a direction's square stays below."""
        marked_rows = self.marked * self.size / (self.candidates // 2)
        mean = marked_rows * max(self._largest(2) / self.size, 1 / (self.size - 1))
        x = np.linspace(0.001, 0.999, 999)
        limits = 2 / (self.size - 2) * (logarithm / rotations - np.log1p(-x) / 2) / x + mean / (1 - x)
        return min(1.0, float(limits.min()))


@lru_cache(maxsize=1024)
def codebook_constants(size: int, candidates: int, marked: int, inside: float) -> CodebookConstants:
    """One object for equal sizes: a plan makes many mechanisms of the same, and some constants take a while to find."""
    return CodebookConstants(size, candidates, marked, inside)


@lru_cache(maxsize=4096)
def _largest_power(h: int, m: int, power: int) -> float:
    return largest_mean(lambda x: x**power, h, m)


@lru_cache(maxsize=256)
def limit_noise(epsilon: float) -> float:
    """The noise of infinitely many candidates in a high dimension (PrivUnitG; Asi, Feldman, Talwar 2022).

    The least over z of ((f e^eps + 1 - f)/((e^eps - 1) phi(z)))^2, f = P(g > z).

    Examples
    --------
    >>> [round(limit_noise(epsilon), 3) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [25.18, 6.33, 1.617, 0.435]
    """
    with full_install:
        from scipy.optimize import minimize_scalar

    e = math.exp(epsilon)

    def log_noise(z: float) -> float:
        f = 0.5 * math.erfc(z / math.sqrt(2))
        log_density = -(z**2 + math.log(2 * math.pi)) / 2
        return 2 * (math.log(f * e + 1 - f) - math.log(e - 1) - log_density)

    return math.exp(minimize_scalar(log_noise, bounds=(-1.0, 7.0), method="bounded", options={"xatol": 1e-10}).fun)


@lru_cache(maxsize=256)
def best_sizes(size: int, epsilon: float) -> tuple[int, int]:
    """(M, m): the least power of two M whose best m is within 2 % of the limit, or the largest that D allows."""
    e = math.exp(epsilon)

    def noise(candidates: int, marked: int) -> float:
        inside = marked * e / (marked * e + candidates - marked)
        return CodebookConstants(size, candidates, marked, inside).noise

    candidates, goal = 2, WITHIN * limit_noise(epsilon)
    while True:
        marked = _least(partial(noise, candidates), candidates // 2)
        if noise(candidates, marked) <= goal or candidates >= min(2 * size, 2**12):
            return candidates, marked
        candidates *= 2


def _least(cost: Callable[[int], float], largest: int) -> int:
    """The minimiser of a unimodal function of 1 .. largest."""
    low, high = 1, largest
    while low < high:
        middle = (low + high) // 2
        if cost(middle) <= cost(middle + 1):
            high = middle
        else:
            low = middle + 1
    return low
