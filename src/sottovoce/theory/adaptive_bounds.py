"""The adaptive theorem (Sec. 5) as a function, the corrected bound, and what the exact variance predicts.

Notation: d `rounds`, n `people`, r `radius`, c = coth(epsilon/2). The error is the largest over all rounds.
"""

from __future__ import annotations

import math

from sottovoce.core.errors import PlanError
from sottovoce.core.extras import full_install
from sottovoce.core.limits import check_epsilon, check_integer, check_radius
from sottovoce.theory.bounds import Bound, debias

__all__ = ["MAX_ROUNDS", "adaptive_bound", "check_rounds", "predicted_worst_error", "theorem_5_2"]

MAX_ROUNDS = 2**16
"""Most rounds a panel may have: with more, even a billion people leave few to a round."""

_MOST_PEOPLE = 10**18
"""As far as a plan looks, to say how many people one would need that is refused."""


def check_rounds(rounds: object) -> int:
    """Return `rounds` as an int if a panel may have that many."""
    return check_integer("rounds", rounds, 1, MAX_ROUNDS)


def _stated(rounds: object, radius: object, epsilon: object, people: object) -> tuple[int, float, float, int]:
    """d, r, c and n."""
    d, n = check_rounds(rounds), check_integer("people", people, 1, _MOST_PEOPLE)
    return d, check_radius(radius), debias(check_epsilon(epsilon)), n


def theorem_5_2(rounds: int, radius: float, epsilon: float, people: int) -> Bound:
    """Theorem 5.2 as printed: E max_k abs(error_k) <= 4 r sqrt(c^2 d log d/n), for d >= 2 and n >= 8 d log n.

    Its proof takes a raw error to be at most r; it reaches (1 + c) r, and a round that nobody answers has no mean
    at all. `adaptive_bound` mends both.

    Examples
    --------
    >>> round(theorem_5_2(20, 1.0, 1.0, 1_000_000).value, 4)
    0.067
    """
    d, r, c, n = _stated(rounds, radius, epsilon, people)
    if d < 2 or n < 8 * d * max(1.0, math.log(n)):
        raise PlanError(
            f"Theorem 5.2 says nothing about {d} rounds and {n:,} people: it needs two rounds and "
            "people >= 8 rounds log(people); adaptive_bound always holds"
        )
    return Bound(4 * r * c * math.sqrt(d * math.log(d) / n), "Bassily 2019, Theorem 5.2, as printed")


def adaptive_bound(rounds: int, radius: float, epsilon: float, people: int) -> Bound:
    """E max_k abs(error_k) <= 2 c r sqrt(d log(2d)/n) + 2 r d exp(-n/(8d)), for every d and n.

    Answers are clipped into [-r, r], and 0 where nobody answered. A round has at least n/(2d) people except with
    probability exp(-n/(8d)) (Chernoff), and then no error exceeds 2 r. Otherwise, given everything before, a round's
    error is sub-Gaussian with proxy 2 d (c r)^2/n, because its people were drawn before any question and have answered
    none; the expected largest of 2d such deviations is at most sqrt(2 log(2d)) times the root of that.

    Examples
    --------
    >>> round(adaptive_bound(20, 1.0, 1.0, 1_000_000).value, 4)
    0.0372
    """
    d, r, c, n = _stated(rounds, radius, epsilon, people)
    value = 2 * c * r * math.sqrt(d * math.log(2 * d) / n) + 2 * r * d * math.exp(-n / (8 * d))
    if value > 2 * r:
        return Bound(2 * r, "no two answers in [-r, r] are farther apart: 2 r")
    return Bound(value, "corrected Theorem 5.2: 2 c r sqrt(d log(2d) / n) + 2 r d exp(-n / (8d))")


def predicted_worst_error(rounds: int, radius: float, epsilon: float, people: int, answer: float = 0.0) -> float:
    """What E max_k abs(error_k) comes to, by the exact variance and the normal law, when all answers are `answer`.

    The largest of d absolute normal deviations of variance ((c r)^2 - answer^2) d/n each, clipped where answers are
    clipped into [-r, r]; not a bound.

    Examples
    --------
    >>> round(predicted_worst_error(20, 1.0, 1.0, 1_000_000), 4)
    0.021
    """
    import numpy as np

    with full_install:
        from scipy.special import erfc

    d, r, c, n = _stated(rounds, radius, epsilon, people)
    number: object = answer
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not -r <= number <= r:
        raise PlanError(f"answer must be a number from {-r:g} to {r:g}: no mean of the question's values is beyond")
    deviation = math.sqrt(max(0.0, (c * r) ** 2 - answer**2) * d / n)
    # E max = integral of P(max > t): nothing is left beyond 12 deviations, nor beyond what clipping leaves.
    t = np.linspace(0.0, min(r + abs(answer), 12 * deviation), 20_001)
    tail = erfc(t / (deviation * math.sqrt(2))) / 2
    inside = 1 - tail * (t < r - answer) - tail * (t < r + answer)
    return float(np.trapezoid(1 - inside**d, t))
