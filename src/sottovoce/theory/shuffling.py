"""What a shuffler adds: bounds on (epsilon, delta) of the multiset of n reports, proved by computation.

If n people's reports are seen only as a multiset, then for two values of one person, by the privacy blanket (Balle,
Bell, Gascon and Nissim 2019, Lemma 5.3; `docs/contributors/theory/shuffling.md`),

    delta(epsilon) <= E[(L_1 + .. + L_N)_+] / (gamma n),    N ~ Bin(n, gamma),

with L as in `PairLaw.losses`. The same formula with the law of one fixed value in place of the blanket, and gamma 1, is
the exact delta of a crowd in which everybody else has that value: a lower bound. `positive_part` encloses both.

S = L_1 + .. + L_N with N ~ Bin(n, gamma) has the moment generating function M(u) = (1 - gamma + gamma E e^(u L))^n, and
with a small independent Gaussian Z of deviation sigma, for every alpha > 0,

    E[(S + Z)_+] = 1/(2 pi) * integral over t of F(alpha + i t),    F(u) = M(u) e^(sigma^2 u^2 / 2) / u^2.

The trapezoidal rule with step 2 pi/P is not an approximation of unknown quality: by Poisson's summation formula it is
the sum over all integers j of e^(-alpha j P) E[(S + Z + j P)_+]. All terms are positive, and j = 0 is what is wanted.
There is no grid of values, so the work does not grow with n. Proofs are in `docs/contributors/theory/shuffling.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.limits import MAX_EPSILON
from sottovoce.theory.blanket import Blanket, PairLaw

__all__ = [
    "Blanketed",
    "CentralBounds",
    "Enclosure",
    "Method",
    "Shuffled",
    "central_delta",
    "central_epsilon",
    "clones",
    "delta_below",
    "epsilon_below",
    "positive_part",
]


_SMOOTHING: Final = 1 / 128
"""Deviation of the Gaussian over that of the sum."""

_FINEST: Final = 1e-3
"""Least deviation of the Gaussian over 1/alpha, so that the series of a sum that hardly varies ends too."""

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
"""Logarithm of the largest number that counts as 0."""

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
        """The mean 1 + gamma E[e^(alpha L) - 1], from positive terms alone, for where it is small."""
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


Floats = NDArray[np.float64]

Method: TypeAlias = Literal["blanket", "clones", "local"]

_ROUNDING: Final = 2.0**-41
"""Relative error in the masses and losses of a law: equal ones are taken together where they differ by 1e-13."""

_CLOSE: Final = 1e-5
"""Relative width at which the search for epsilon ends."""

_SMALLEST: Final = 1e-9
"""Smaller central epsilons count as this one."""


class Blanketed(Protocol):
    """A channel's blanket, as far as the bounds need it."""

    @property
    def laws(self) -> tuple[PairLaw, ...]:
        """Laws of pairs of values, for the lower bound; there may be others."""

    @property
    def mass(self) -> float:
        """gamma."""

    def dominating(self, weight: float) -> tuple[Floats, Floats]:
        """Chances and values of one law of L that is above every pair's in convex order, for e^epsilon = `weight`."""


class CentralBounds(NamedTuple):
    """The central epsilon of a shuffled crowd: proved, and the least that a concrete test leaves possible."""

    epsilon: float
    lower: float
    method: Method


def clones(epsilon: float) -> Blanket:
    """A blanket that every pure epsilon-LDP mechanism has, whatever its channel.

    For the laws R0 and R1 of any two values' reports, Q0 = (e^eps R0 - R1)/(e^eps - 1) and Q1 likewise are
    distributions, R0 and R1 are their mixtures with odds e^eps, and everybody's report is at least
    e^-eps (Q0 + Q1)/2 (Feldman, McMillan and Talwar 2021). The erratum to their later, tighter theorem does not
    affect this one.
    """
    least, likely = math.exp(-epsilon) / 2, 1 / (1 + math.exp(-epsilon))
    law = PairLaw.of([(least, likely, 1 - likely, least), (least, 1 - likely, likely, least)])
    return Blanket((law,), "any two values of any mechanism: the worst that epsilon allows")


@final
@dataclass(frozen=True, eq=False)
class Shuffled:
    """n reports of one mechanism, seen only as a multiset.

    Attributes
    ----------
    local_epsilon
        Of the mechanism, which is pure.
    blanket
        The mechanism's own; None if it is unknown, and then that of clones serves alone.
    n
        The number of people.
    """

    local_epsilon: float
    blanket: Blanketed | None
    n: int

    def delta_at(self, epsilon: float) -> float:
        """An upper bound on delta at this central epsilon; 0 from the local epsilon on."""
        if epsilon >= self.local_epsilon:
            return 0.0
        blankets = (clones(self.local_epsilon), self.blanket)
        return min(central_delta(each, self.n, epsilon, self.local_epsilon) for each in blankets if each is not None)

    def epsilon_at(self, delta: float) -> float:
        """The least central epsilon that is proved at this delta."""
        return self._proved(delta)[0]

    def certificate(self, delta: float) -> CentralBounds:
        """What is proved at this delta, by what, and the lower bound; 0 for that where no pair's law is known.

        Examples
        --------
        >>> Shuffled(4.0, None, 100_000).certificate(1e-6).epsilon < 0.173
        True
        """
        epsilon, method = self._proved(delta)
        lower = 0.0 if self.blanket is None else epsilon_below(self.blanket, self.local_epsilon, self.n, delta)
        return CentralBounds(epsilon, lower, method)

    def _proved(self, delta: float) -> tuple[float, Method]:
        bounds: list[tuple[float, Method]] = [(self.local_epsilon, "local")]
        bounds.append((central_epsilon(clones(self.local_epsilon), self.local_epsilon, self.n, delta), "clones"))
        if self.blanket is not None:
            bounds.append((central_epsilon(self.blanket, self.local_epsilon, self.n, delta), "blanket"))
        return min(bounds, key=lambda each: each[0])


def central_delta(blanket: Blanketed, n: int, epsilon: float, local_epsilon: float = MAX_EPSILON) -> float:
    """An upper bound on delta at this central epsilon, for n people whose reports are shuffled.

    Masses and losses come as floats: losses are raised by more than their rounding errors, which are at most in
    proportion to e^local_epsilon, and the result by more than those of the masses.
    """
    weight = math.exp(epsilon)
    chances, losses = blanket.dominating(weight)
    raised = losses + _ROUNDING * (1 + weight) * math.exp(local_epsilon)
    bound = positive_part(chances, raised, blanket.mass, n).upper
    return min(1.0, bound * math.exp(_ROUNDING * n) / (blanket.mass * n))


def central_epsilon(blanket: Blanketed, local_epsilon: float, n: int, delta: float) -> float:
    """The least central epsilon that is proved at this delta; the local one where nothing is gained."""
    return _crossing(lambda at: central_delta(blanket, n, at, local_epsilon) > delta, local_epsilon)[1]


def delta_below(law: PairLaw, n: int, epsilon: float) -> float:
    """A lower bound on delta at this central epsilon: what one test achieves where everybody else has one value.

    The test adds up (q(y|one) - e^epsilon q(y|other))/q(y|bystander) over all reports y, which is in proportion to the
    difference of the two crowds' likelihoods, and says "one" if that is positive: no test does better in that crowd.
    """
    weight = math.exp(epsilon)
    losses = (law.one - weight * law.other) / law.bystander
    lowered = losses - _ROUNDING * float(((law.one + weight * law.other) / law.bystander).max())
    bound = positive_part(law.bystander, lowered, 1.0, n).lower
    return bound * math.exp(-_ROUNDING * n) / n


def epsilon_below(blanket: Blanketed, local_epsilon: float, n: int, delta: float) -> float:
    """A central epsilon below which nothing can be proved at this delta; 0 where no test is known."""
    laws = [law for pair in blanket.laws for law in (pair, pair.reversed)]
    epsilon = _crossing(lambda at: max((delta_below(law, n, at) for law in laws), default=0.0) > delta, local_epsilon)[
        0
    ]
    return 0.0 if epsilon <= _SMALLEST else epsilon


def _crossing(exceeds: Callable[[float], bool], top: float) -> tuple[float, float]:
    """Neighbouring epsilons: the first exceeds delta and the second does not; the ends are not checked.

    Below `_SMALLEST` nothing is looked for, and at `top`, the local epsilon, delta is 0.
    """
    low, high = min(_SMALLEST, top), top
    if not exceeds(low):
        return low, low
    while high > low * (1 + _CLOSE):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return low, high
