"""Constants of the rejection mechanism, in closed form, and the best choice of its parameters.

Symbols: s `tilt` = r/sigma; h = eps'/2, eps' `clip`; t = <u, G> is standard normal for a unit vector u;
acc(t) = exp(clip(s t - s^2/2, -h, h))/(2 cosh h) is the chance of bit 1. As e^(s t - s^2/2) turns the normal density
into that of mean s, and E[t f(t)] = E[f'(t)] (Stein), every expectation is a sum of normal probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

__all__ = ["RejectionConstants", "best_tilt_and_clip"]

_GRID_END = 200.0
"""Where the search for the proxy's supremum ends and a bound takes over."""


def _below(x: float) -> float:
    return 0.5 * math.erfc(-x / math.sqrt(2))


def _density(x: float) -> float:
    return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class RejectionConstants:
    """What the estimators and their error model need.

    Examples
    --------
    >>> constants = RejectionConstants(*best_tilt_and_clip(1.0))
    >>> round(constants.noise, 1)
    10.1
    """

    tilt: float
    clip: float

    @property
    def _ends(self) -> tuple[float, float]:
        """Where acc stops being constant, and where it is constant again."""
        half = self.clip / 2
        return self.tilt / 2 - half / self.tilt, self.tilt / 2 + half / self.tilt

    def chance(self, shift: float = 0.0) -> float:
        """E[acc(t + shift)]; the chance of bit 1 is that without a shift."""
        s, half, (low, high) = self.tilt, self.clip / 2, self._ends
        low, high = low - shift, high - shift
        middle = math.exp(s * shift) * (_below(high - s) - _below(low - s)) if high - s > -38 else 0.0
        return (math.exp(-half) * _below(low) + middle + math.exp(half) * _below(-high)) / (2 * math.cosh(half))

    @cached_property
    def accepted(self) -> float:
        """E[acc], the share of reports with bit 1."""
        return self.chance()

    @cached_property
    def signal(self) -> float:
        """E[t acc]; the estimate divides by it."""
        low, high = self._ends
        middle = _below(high - self.tilt) - _below(low - self.tilt)
        return self.tilt * middle / (2 * math.cosh(self.clip / 2))

    @cached_property
    def second_moment(self) -> float:
        """E[t^2 acc]."""
        low, high = (end - self.tilt for end in self._ends)
        moment = self.tilt * (_below(high) - _below(low)) + _density(low) - _density(high)
        return self.accepted + self.tilt * moment / (2 * math.cosh(self.clip / 2))

    @property
    def noise(self) -> float:
        """n Var/r^2 of a coordinate orthogonal to everybody's vector: E acc (1 - E acc)/E[t acc]^2."""
        return self.accepted * (1 - self.accepted) / self.signal**2

    @property
    def along(self) -> float:
        """n E[squared report]/r^2 of a coordinate that is everybody's vector: E[t^2 (bit - E acc)^2]/E[t acc]^2."""
        return ((1 - 2 * self.accepted) * self.second_moment + self.accepted**2) / self.signal**2

    @property
    def accepted_noise(self) -> float:
        """The noise of the paper's estimator, from reports with bit 1 only: E acc/E[t acc]^2."""
        return self.accepted / self.signal**2

    @cached_property
    def proxy(self) -> float:
        """tau^2/r^2 = max(q^2, T)/E[t acc]^2 + 1, with q the larger of E acc and 1 - E acc.

        Let b = bit - E acc. In the direction of a unit vector at an angle of cosine c to u, a report is
        b (c t + sqrt(1 - c^2) w) with w standard normal and independent of t and bit; |b| <= q gives the second
        part the proxy q^2 (1 - c^2), and T is the least proxy of b t. People's own means lie in [-r, r], which
        adds 1 (Hoeffding).
        """
        q = max(self.accepted, 1 - self.accepted)
        return max(q * q, self._tail(q)) / self.signal**2 + 1

    def _tail(self, q: float) -> float:
        """T = sup over x of 2 x^-2 log E exp(x (b t - E[b t])), on a grid and bounded beyond it.

        E exp(x b t) = e^(beta^2/2) E acc(t + beta) + e^(gamma^2/2) (1 - E acc(t + gamma)), beta = x (1 - E acc),
        gamma = -x E acc; beyond the grid it is at most 2 e^(x^2 q^2/2).
        """
        p, m = self.accepted, self.signal

        def excess(x: float) -> float:
            beta, gamma = x * (1 - p), -x * p
            first = beta * beta / 2 + math.log(self.chance(beta))
            second = gamma * gamma / 2 + math.log1p(-self.chance(gamma))
            top = max(first, second)
            return 2 * (top + math.log(math.exp(first - top) + math.exp(second - top)) - x * m) / (x * x)

        ends = 0.02, _GRID_END
        sizes = [ends[0] * (ends[1] / ends[0]) ** (k / 400) for k in range(401)]
        on_grid = max(excess(sign * size) for size in sizes for sign in (-1, 1))
        beyond = q * q + 2 * (math.log(2) + _GRID_END * m) / _GRID_END**2
        variance = (1 - 2 * p) * self.second_moment + p * p - m * m
        # Steps of 2 % move the smooth supremum by far less than this margin.
        return max(on_grid, beyond, variance) * 1.001


@lru_cache(maxsize=256)
def best_tilt_and_clip(epsilon: float) -> tuple[float, float]:
    """(s, eps') of least noise with eps' <= epsilon.

    Up to epsilon = 2.808 the whole of it is used. Beyond, a wider clip only makes bit 1 rarer, and the noise
    stays at 4.547: this mechanism cannot use a large epsilon.

    Examples
    --------
    >>> [round(number, 3) for number in best_tilt_and_clip(8.0)]
    [1.401, 2.808]
    """
    if epsilon <= 2:
        return _best_tilt(epsilon), epsilon
    clip = _minimum(lambda e: _noise(_best_tilt(e), e), 2.0, min(epsilon, 4.0))
    # A search inside an interval never quite reaches its end.
    clip = min((clip, min(epsilon, 4.0)), key=lambda e: _noise(_best_tilt(e), e))
    return _best_tilt(clip), clip


def _noise(tilt: float, clip: float) -> float:
    return RejectionConstants(tilt, clip).noise


def _best_tilt(clip: float) -> float:
    centre = math.log(0.8 * math.sqrt(clip))
    return math.exp(_minimum(lambda x: _noise(math.exp(x), clip), centre - 1.5, centre + 1.0))


def _minimum(cost: Callable[[float], float], low: float, high: float) -> float:
    """The minimiser of a unimodal function, by golden section."""
    golden = (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = cost(left), cost(right)
    for _ in range(60):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = cost(right)
    return (low + high) / 2
