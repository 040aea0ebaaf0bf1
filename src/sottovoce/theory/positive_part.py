"""The mean of the positive part of a sum of independent variables, enclosed between two proved bounds.

S = L_1 + .. + L_N with N ~ Bin(n, gamma) has the moment generating function M(u) = (1 - gamma + gamma E e^(u L))^n, and
with a small independent Gaussian Z of deviation sigma, for every alpha > 0,

    E[(S + Z)_+] = 1/(2 pi) * integral over t of F(alpha + i t),    F(u) = M(u) e^(sigma^2 u^2 / 2) / u^2.

The trapezoidal rule with step 2 pi/P is not an approximation of unknown quality: by Poisson's summation formula it is
the sum over all integers j of e^(-alpha j P) E[(S + Z + j P)_+]. All terms are positive, and j = 0 is what is wanted.
There is no grid of values, so the work does not grow with n. Proofs are in `docs/theory/shuffling.md`.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Enclosure", "positive_part"]

Floats = NDArray[np.float64]

_SMOOTHING: Final = 1 / 128
"""Deviation of the Gaussian over that of the sum."""

_FINEST: Final = 1e-3
"""The same over 1/alpha at least, so that the series of a sum that hardly varies ends too."""

_LAST: Final = 7.5
"""The series ends where the Gaussian's factor is exp(-_LAST**2 / 2), below 1e-12 of the first term's."""

_APART: Final = 30.0
"""The period in units of 1/alpha, beyond what the size of the result asks for."""

_UNIT: Final = 2.0**-53
_ROUNDINGS: Final = 16
"""Rounding errors of a product, a sine and a sum, in units; the true number is below half of that."""

_TOP: Final = 300.0
"""Largest exponent of one term, far from overflow."""

_TINY: Final = -680.0
"""Logarithm of what is not told apart from 0."""

_HALVINGS: Final = 30
_BLOCK: Final = 2**18
"""Numbers held at once: frequencies times values."""


class Enclosure(NamedTuple):
    """Two numbers, and what is wanted between them."""

    lower: float
    upper: float


def positive_part(chances: Floats, values: Floats, mass: float, n: int) -> Enclosure:
    """Bounds of E[S_+], S a sum of N ~ Bin(n, mass) independent variables with these chances and values.

    The upper one holds because a mean-zero Gaussian raises the mean of a convex function (Jensen). The lower one is
    E[S Phi(S/sigma)] = E[(S + Z)_+] - sigma^2 f(0), with f the density of S + Z: a factor in
    [0, 1] in place of the sign.

    Examples
    --------
    Of two coins that count +1 and -1, the positive part is 2 with chance 1/4:

    >>> low, high = positive_part(np.array([0.5, 0.5]), np.array([1.0, -1.0]), 1.0, 2)
    >>> round(low, 2), round(high, 2), low <= 0.5 <= high
    (0.5, 0.5, True)
    """
    if values.max() <= 0:
        return Enclosure(0.0, 0.0)
    return _TiltedSum(chances, values, mass, n).enclosure()


class _Nodes(NamedTuple):
    """The trapezoidal sums of F and of u^2 F (for the density), and bounds on their errors."""

    value: float
    error: float
    density: float


class _TiltedSum:
    """S + Z along the line of real part alpha."""

    def __init__(self, chances: Floats, values: Floats, mass: float, n: int) -> None:
        self._chances, self._values, self._mass, self._n = chances, values, mass, n
        mean = mass * float(chances @ values)
        self._deviation = math.sqrt(n * (mass * float(chances @ (values - mean) ** 2) + (1 - mass) * mean**2))
        self._smooth = _SMOOTHING * self._deviation
        self._tilt = self._saddle()
        self._smooth = max(self._smooth, _FINEST / self._tilt)

    def _saddle(self) -> float:
        """The alpha of least F, by bisection of (log F)' = K' - 2/alpha; any other is right too, if less accurate."""
        top = _TOP / float(np.abs(self._values).max())
        low, high = top * 2.0**-100, top
        for _ in range(_HALVINGS):
            alpha = math.sqrt(low * high)
            grown = np.exp(alpha * self._values) * self._chances
            slope = self._n * self._mass * float(grown @ self._values) / self._mean(alpha)
            low, high = (alpha, high) if slope + self._smooth**2 * alpha < 2 / alpha else (low, alpha)
        return high

    def _growth(self, alpha: float) -> float:
        """gamma E[e^(alpha L) - 1]."""
        return self._mass * float(self._chances @ np.expm1(alpha * self._values))

    def _mean(self, alpha: float) -> float:
        """The same plus 1, of positive terms alone, for where that is small."""
        return 1 - self._mass + self._mass * float(self._chances @ np.exp(alpha * self._values))

    def _cumulant(self, alpha: float) -> float:
        """log E e^(alpha (S + Z))."""
        growth = self._growth(alpha)
        each = math.log1p(growth) if growth > -0.5 else math.log(self._mean(alpha))
        return self._n * each + (self._smooth * alpha) ** 2 / 2

    def enclosure(self) -> Enclosure:
        alpha, scale = self._tilt, self._cumulant(self._tilt)
        if scale - 1 - math.log(alpha) < _TINY:  # E[(S + Z)_+] <= E e^(alpha (S + Z) - 1)/alpha
            return Enclosure(0.0, math.exp(_TINY))
        period = self._period(scale)
        nodes = self._nodes(2 * math.pi / period)
        # Without any term the sum is 0, exactly, and needs no Gaussian.
        alone = self._n * math.log1p(-self._mass) if self._mass < 1 else -math.inf
        needless = math.exp(alone) * self._smooth / math.sqrt(2 * math.pi)
        size = math.exp(scale)
        upper = max(0.0, size * (nodes.value + nodes.error) - needless)
        beyond = self._beyond(period)
        q = math.exp(-alpha * period)
        inside = (1 - q) * (size * (nodes.value - nodes.error) - beyond - period * q / (1 - q) ** 2)
        return Enclosure(max(0.0, inside - self._smooth**2 * size * nodes.density), upper)

    def _period(self, scale: float) -> float:
        """A period at which all other copies are about e^-_APART of the one that is wanted."""
        slack = _APART + 2 * math.log1p(self._tilt * self._deviation)
        above = (slack + max(-scale, 0.0)) / self._tilt
        below = (
            (slack + max(self._cumulant(beta) - scale, 0.0)) / (beta - self._tilt) for beta in self._steeper_tilts()
        )
        return max(above, min(below, default=0.0))

    def _steeper_tilts(self) -> list[float]:
        largest = float(np.abs(self._values).max())
        tilts = [self._tilt * factor for factor in (1.1, 1.3, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0)]
        return [tilt for tilt in tilts if tilt * largest < 2 * _TOP]

    def _beyond(self, period: float) -> float:
        """A bound on the copies of j < 0, by y_+ <= e^(beta y - 1)/beta for every beta above alpha."""
        least = math.inf
        for beta in self._steeper_tilts():
            ratio, exponent = math.exp(-(beta - self._tilt) * period), self._cumulant(beta) - 1
            if exponent < _TOP:
                least = min(least, math.exp(exponent) / beta * ratio / (1 - ratio))
        return least

    def _nodes(self, step: float) -> _Nodes:
        """The sums over all frequencies, divided by e^K(alpha)."""
        alpha, scale = self._tilt, self._cumulant(self._tilt)
        last = math.ceil(_LAST / (self._smooth * step))
        grown, level = self._chances * np.exp(alpha * self._values), self._growth(alpha)
        # Errors of M(u)/M(alpha), in units: those of n equal factors; absolute where a factor is below 1/2.
        each = self._n * self._mass / self._mean(alpha)
        own = each * float(self._chances @ np.abs(np.expm1(alpha * self._values)))
        spread = each * float(grown @ np.abs(self._values))
        absolute = 4 * 2.0**-self._n
        value = density = error = 0.0
        size = max(1, _BLOCK // len(self._values))
        for first in range(0, last + 1, size):
            at = step * np.arange(first, min(first + size, last + 1))
            angles = np.outer(at, self._values)
            real = level - 2 * self._mass * (np.square(np.sin(angles / 2)) @ grown)
            imaginary = self._mass * (np.sin(angles) @ grown)
            # log(1 + real + i imaginary), accurate also where both are small.
            change = 2 * real + np.square(real) + np.square(imaginary)
            with np.errstate(divide="ignore"):
                small = np.log(np.hypot(1 + real, imaginary))
            modulus = np.where(change > -0.75, np.log1p(np.maximum(change, -0.75)) / 2, small)
            turned = self._n * np.arctan2(imaginary, 1 + real) + self._smooth**2 * alpha * at
            least = self._n * modulus + self._smooth**2 * (alpha**2 - np.square(at)) / 2 - scale
            weight = np.exp(np.minimum(least, 1.0)) * np.where(at > 0, 2.0, 1.0)
            squared = alpha**2 + np.square(at)
            # 1/u^2 = conj(u)^2/|u|^4 with conj(u)^2 = alpha^2 - t^2 - 2 i alpha t
            cosine, sine = np.cos(turned), np.sin(turned)
            value += float(((alpha**2 - np.square(at)) * cosine + 2 * alpha * at * sine) @ (weight / squared**2))
            density += float(cosine @ weight)
            doubt = (own + spread * at + np.abs(turned) + abs(scale) + 4) * (weight + absolute)
            error += _ROUNDINGS * _UNIT * float((doubt / squared).sum())
            density += _ROUNDINGS * _UNIT * float(doubt.sum())
        end = step * last
        cut = math.exp(-((self._smooth * end) ** 2) / 2) / (self._smooth**2 * end)
        turn = step / (2 * math.pi)
        return _Nodes(turn * value, turn * error + cut / (math.pi * end**2), max(0.0, turn * density + cut / math.pi))
