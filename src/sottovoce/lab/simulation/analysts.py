"""Analysts who ask one question after another about people whose values are pure chance.

People are uniform over 1 .. 1020, and every question divides these values into halves: whatever is asked, the true
answer is 0, so that every answer is an error and nothing else.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sottovoce.domain import Domain
from sottovoce.expressions import Query, query

__all__ = [
    "VALUES",
    "draw_people",
    "exaggerating_signs",
    "people_counts",
    "question",
    "random_multipliers",
    "signs",
    "values",
]

Floats = NDArray[np.float64]

_PRIME: Final = 1021

VALUES: Final = _PRIME - 1
"""How many values there are."""


def values() -> Domain:
    """The domain: 1 .. 1020, the remainders a prime leaves besides 0."""
    return Domain.of(range(1, _PRIME))


def draw_people(people: int, seed: int) -> NDArray[np.int64]:
    """People drawn uniformly and independently from the values."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed))).integers(1, _PRIME, size=people)


def people_counts(drawn: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many people have each value."""
    return np.bincount(drawn, minlength=_PRIME)[1:]


def random_multipliers(rounds: int, seed: int) -> list[int]:
    """Questions fixed before anybody is asked, in random order.

    Multiplication by m permutes the remainders, and m and 1021 - m ask for opposite halves: there are 510 different
    questions. More rounds ask them again, in another order.
    """
    rng = np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed)))
    half = VALUES // 2
    return [int(m) + 1 for _ in range(-(-rounds // half)) for m in rng.permutation(half)][:rounds]


def question(multiplier: int) -> Query:
    """1 for half of the values, -1 for the other half.

    Examples
    --------
    >>> question(7)
    query('1 if value * 7 % 1021 <= 510 else -1')
    """
    return query(f"1 if value * {multiplier} % {_PRIME} <= {VALUES // 2} else -1")


def signs(multiplier: int) -> Floats:
    """What `question` gives for every value.

    Examples
    --------
    >>> float(signs(7).sum())
    0.0
    """
    return np.where(np.arange(1, _PRIME) * multiplier % _PRIME <= VALUES // 2, 1.0, -1.0)


def exaggerating_signs(asked: ArrayLike, answers: ArrayLike) -> Floats:
    """The question that overfits: +1 for the half of the values that earlier answers speak for most.

    Every earlier question is weighed with its answer. If the answers' errors came from people who are asked again,
    all these errors add up; if not, they are without effect.

    Examples
    --------
    >>> asked = [signs(m) for m in (2, 5, 7)]
    >>> overfitted = exaggerating_signs(asked, [0.2, -0.2, 0.1])
    >>> float(overfitted.sum()), [bool(overfitted @ q > 0) for q in asked]
    (0.0, [True, False, True])
    """
    score = np.asarray(answers, dtype=np.float64) @ np.asarray(asked, dtype=np.float64)
    chosen = np.full(VALUES, -1.0)
    chosen[np.argsort(-score, kind="stable")[: VALUES // 2]] = 1.0
    return chosen
