"""What a shuffler adds: bounds on (epsilon, delta) of the multiset of n reports, proved by computation.

If n people's reports are seen only as a multiset, then for two values of one person, by the privacy blanket (Balle,
Bell, Gascon and Nissim 2019, Lemma 5.3; `docs/theory/shuffling.md`),

    delta(epsilon) <= E[(L_1 + .. + L_N)_+] / (gamma n),    N ~ Bin(n, gamma),

with L as in `PairLaw.losses`. The same formula with the law of one fixed value in place of the blanket, and gamma 1, is
the exact delta of a crowd in which everybody else has that value: a lower bound. `positive_part` encloses both.
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
from sottovoce.theory.positive_part import positive_part

__all__ = [
    "Blanketed",
    "CentralBounds",
    "Method",
    "Shuffled",
    "central_delta",
    "central_epsilon",
    "clones",
    "delta_below",
    "epsilon_below",
]

Floats = NDArray[np.float64]

Method: TypeAlias = Literal["blanket", "clones", "local"]

_ROUNDING: Final = 2.0**-41
"""Relative error in the masses and losses of a law: equal ones are taken together where they differ by 1e-13."""

_CLOSE: Final = 1e-5
"""Relative width at which the search for epsilon ends."""

_SMALLEST: Final = 1e-9
"""Smaller central epsilons are not told apart from this one."""


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

    Of any two values' reports, Q0 = (e^eps R0 - R1)/(e^eps - 1) and Q1 likewise are distributions, R0 and R1 are their
    mixtures with odds e^eps, and everybody's report is at least e^-eps (Q0 + Q1)/2 (Feldman, McMillan and Talwar
    2021). The erratum to their later, tighter theorem is no concern of this one.
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
        found: list[tuple[float, Method]] = [(self.local_epsilon, "local")]
        found.append((central_epsilon(clones(self.local_epsilon), self.local_epsilon, self.n, delta), "clones"))
        if self.blanket is not None:
            found.append((central_epsilon(self.blanket, self.local_epsilon, self.n, delta), "blanket"))
        return min(found, key=lambda each: each[0])


def central_delta(blanket: Blanketed, n: int, epsilon: float, local_epsilon: float = MAX_EPSILON) -> float:
    """An upper bound on delta at this central epsilon, for n people whose reports are shuffled.

    Masses and losses come as floats: losses are raised by more than their rounding errors, the largest of which is in
    proportion to e^local_epsilon, and the result by more than those of the masses.
    """
    weight = math.exp(epsilon)
    chances, losses = blanket.dominating(weight)
    raised = losses + _ROUNDING * (1 + weight) * math.exp(local_epsilon)
    found = positive_part(chances, raised, blanket.mass, n).upper
    return min(1.0, found * math.exp(_ROUNDING * n) / (blanket.mass * n))


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
    found = positive_part(law.bystander, lowered, 1.0, n).lower
    return found * math.exp(-_ROUNDING * n) / n


def epsilon_below(blanket: Blanketed, local_epsilon: float, n: int, delta: float) -> float:
    """A central epsilon below which nothing can be proved at this delta; 0 where no test is known."""
    laws = [law for one in blanket.laws for law in (one, one.reversed)]
    found = _crossing(lambda at: max((delta_below(law, n, at) for law in laws), default=0.0) > delta, local_epsilon)[0]
    return 0.0 if found <= _SMALLEST else found


def _crossing(exceeds: Callable[[float], bool], top: float) -> tuple[float, float]:
    """Neighbouring epsilons of which the first exceeds delta and the second does not; the ends are taken for granted.

    Below `_SMALLEST` nothing is looked for, and at `top`, the local epsilon, delta is 0.
    """
    low, high = min(_SMALLEST, top), top
    if not exceeds(low):
        return low, low
    while high > low * (1 + _CLOSE):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return low, high
