"""Several guarantees together: the epsilon of all that one person takes part in, at one delta.

A guarantee is a curve: an upper bound on delta at every epsilon. It is that of the worst pair of neighbours in both
orders, so a pair of laws (P, Q) that dominates it is symmetric: the law of log(P/Q) under P is that of log(Q/P) under
Q. Dominating pairs may be composed instead of the mechanisms, also where later ones depend on earlier outputs (Zhu,
Dong and Wang 2022, Thm 10). Between points of a curve the pair is the one of straight lines in e^epsilon ("connect the
dots", Doroshenko et al. 2022), which only raises delta. Proofs are in `docs/contributors/theory/shuffling.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.convex_order import law_of_stop_losses

__all__ = ["GuaranteeCurve", "composed_epsilon"]

Floats = NDArray[np.float64]

_POINTS: Final = 128
"""Points at which a curve is evaluated."""

_FINEST: Final = 2**20
"""Cells of the grid of losses at most."""

_BEYOND: Final = 1e-3
"""The part of delta that is given to losses beyond the last point of a curve, and to those beyond the grid."""

_WIDE: Final = 14.0
"""Standard deviations of the tilted sum that the grid holds on each side."""

_FFT_ERROR: Final = 16 * 2.0**-53
"""Error of each output per level of a fast Fourier transform, relative to the sum of its inputs' sizes."""

_HALVINGS: Final = 60


class GuaranteeCurve(Protocol):
    """The guarantees that one certificate proves, in both orders of every two neighbours."""

    @property
    def local_epsilon(self) -> float:
        """From here on delta is 0."""

    def delta_at(self, epsilon: float) -> float:
        """An upper bound on delta."""

    def epsilon_at(self, delta: float) -> float:
        """The least epsilon that is proved at this delta."""


class _Losses(NamedTuple):
    """A symmetric pair: chances of positive losses under P and under Q, what is beyond, how often it is composed."""

    at: Floats
    above: Floats
    below: Floats
    beyond: float
    times: int

    def on_grid(self, step: float) -> tuple[NDArray[np.int64], Floats]:
        """Cells and chances under P, each loss spread over its two neighbours with both chances kept.

        That is again a straight line in e^epsilon in place of a curve, so delta only grows.
        """
        cell = np.floor(self.at / step)
        low, high = np.exp(cell * step), np.exp((cell + 1) * step)
        share = np.clip((np.exp(self.at) - low) / (high - low), 0.0, 1.0)
        cells = np.concatenate([cell, cell + 1]).astype(np.int64)
        below = np.concatenate([self.below * (1 - share), self.below * share])
        above = below * np.exp(cells * step)
        inner = (cells > 0) & (below > 0)
        cells, above, below = cells[inner], above[inner], below[inner]
        middle = max(0.0, 1 - self.beyond - float(above.sum()) - float(below.sum()))
        return np.concatenate([cells, -cells, [0]]), np.concatenate([above, below, [middle]])


def composed_epsilon(curves: Sequence[tuple[GuaranteeCurve, int]], delta: float) -> float:
    """An upper bound on the epsilon at `delta` of all these together, each composed a number of times.

    It is the least of this accountant's, of basic composition with delta in equal parts, and of the sum of the local
    epsilons.
    """
    parts = sum(times for _, times in curves)
    basic = sum(times * curve.epsilon_at(delta / parts) for curve, times in curves)
    known = min(basic, sum(times * curve.local_epsilon for curve, times in curves))
    if parts == 1:
        return known
    losses = [_losses(curve, times, _BEYOND * delta / parts) for curve, times in curves]
    return min(known, _Composition(losses, delta).epsilon(known))


def _losses(curve: GuaranteeCurve, times: int, beyond: float) -> _Losses:
    """The symmetric pair above a curve, from points up to where delta is `beyond`."""
    last = curve.epsilon_at(beyond)
    at = np.linspace(0.0, last, _POINTS + 1)
    ratio = np.exp(at)
    deltas = np.array([curve.delta_at(float(epsilon)) for epsilon in at])
    # The curve at 1/w is 1 - 1/w + delta(w)/w. At w = 1 no chord of two such points may lie below it.
    deltas[0] = min(1.0, float(np.min((ratio - 1 + 2 * deltas) / (ratio + 1))))
    deltas = np.minimum.accumulate(deltas)
    tail = float(deltas[-1])
    below, kept = law_of_stop_losses(ratio, deltas - tail)
    return _Losses(np.log(kept[1:]), kept[1:] * below[1:], below[1:], tail, times)


class _Composition:
    """The sum of all losses, under a tilt at which the losses that matter are the common ones.

    With chances t of the tilted sum, P(sum = c step) = e^(K - tilt c step) t(c). The transform is cyclic: what comes
    round only adds, and losses above the window are bounded by Chernoff's inequality.
    """

    def __init__(self, losses: Sequence[_Losses], delta: float) -> None:
        self._delta, self._log_delta = delta, math.log(delta)
        self._beyond = sum(each.times * each.beyond for each in losses)
        reach = sum(each.times * float(each.at[-1]) for each in losses if len(each.at))
        finest = min((float(each.at[-1]) / _POINTS for each in losses if len(each.at)), default=1.0)
        self._step = max(finest, reach / _FINEST)
        self._laws = [(*each.on_grid(self._step), each.times) for each in losses]
        self._tilt = self._best_tilt()

    def _cumulant(self, tilt: float) -> float:
        cumulant = 0.0
        for cells, chances, times in self._laws:
            exponents = tilt * self._step * cells
            top = float(exponents.max())
            cumulant += times * (top + math.log(float(chances @ np.exp(exponents - top))))
        return cumulant

    def _best_tilt(self) -> float:
        """The tilt of the least epsilon by moments alone (Canonne, Kamath and Steinke 2020, Prop. 12).

        (1 - e^-x) e^(-t x) is at most (t/(1 + t))^t/(1 + t). Any other tilt is sound, if less accurate.
        """
        largest = self._step * max(int(cells.max()) for cells, _, _ in self._laws)
        tilts = [float(tilt) for tilt in np.geomspace(1e-3, 300, 200) / largest]
        return min(
            tilts, key=lambda t: (self._cumulant(t) - t * math.log1p(1 / t) - math.log1p(t) - self._log_delta) / t
        )

    def epsilon(self, known: float) -> float:
        """The least epsilon whose delta is small enough; `known` where that is none."""
        first, chances, error, above = self._tilted_sum()
        cells = first + np.arange(len(chances))
        room = self._delta - self._beyond - above
        scale = self._cumulant(self._tilt)
        low, high = 0.0, known
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            inside = cells * self._step > middle
            losses = cells[inside] * self._step
            with np.errstate(over="ignore"):  # an infinite delta is too large as well
                weights = -np.expm1(middle - losses) * np.exp(scale - self._tilt * losses)
            delta = float(weights @ (chances[inside] + error))
            low, high = (low, middle) if delta <= room else (middle, high)
        return high

    def _tilted_sum(self) -> tuple[int, Floats, float, float]:
        """The first cell, chances of the tilted sum, a bound on each one's error, and the chance above the window."""
        mean = variance = 0.0
        lowest = highest = total = 0
        tilted = []
        for cells, chances, times in self._laws:
            exponents = self._tilt * self._step * cells
            weights = chances * np.exp(exponents - exponents.max())
            weights /= weights.sum()
            centre = float(weights @ cells)
            mean, variance = mean + times * centre, variance + times * float(weights @ (cells - centre) ** 2)
            lowest, highest = lowest + times * int(cells.min()), highest + times * int(cells.max())
            total += times
            tilted.append((cells, weights, times))
        spread = _WIDE * math.sqrt(variance) + _POINTS
        first = max(lowest, math.floor(mean - spread))
        size = 1 << (min(highest, math.ceil(mean + spread)) - first).bit_length()
        product = np.ones(size // 2 + 1, dtype=np.complex128)
        for cells, weights, times in tilted:
            product *= np.fft.rfft(np.bincount(cells % size, weights=weights, minlength=size)) ** times
        chances = np.roll(np.fft.irfft(product, size), -(first % size))
        error = _FFT_ERROR * math.log2(size) * (total + 2)
        return first, np.maximum(chances, 0.0), error, self._above(first + size) if first + size <= highest else 0.0

    def _above(self, cell: int) -> float:
        """Chernoff's bound on the chance of a loss at this cell or above."""
        tilts = self._tilt * np.geomspace(1, 16, 40)
        exponents = [self._cumulant(float(tilt)) - float(tilt) * cell * self._step for tilt in tilts]
        return math.exp(min(0.0, *exponents))
