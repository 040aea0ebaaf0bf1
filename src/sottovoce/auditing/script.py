"""A source that plays given outcomes: what a device does with certain draws."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

__all__ = ["Request", "ScriptedSource", "random_below", "unpredictable"]

Request = int
"""What a device asks for: n for an integer below n, minus the threshold for a coin."""


class ScriptedSource:
    """Plays one outcome per draw, and notes what it was asked for.

    Beyond the last outcome it plays 0, and never an integer outside the range: what was asked shows the difference.

    Examples
    --------
    >>> source = ScriptedSource([1, 4])
    >>> source.bernoulli(2**63), source.below(6), source.asked
    (True, 4, [-9223372036854775808, 6])
    """

    __slots__ = ("_outcomes", "asked")

    def __init__(self, outcomes: Sequence[int]) -> None:
        self._outcomes = iter(outcomes)
        self.asked: list[Request] = []

    def below(self, n: int) -> int:
        """The next outcome."""
        self.asked.append(n)
        return min(next(self._outcomes, 0), n - 1)

    def bernoulli(self, threshold: int) -> bool:
        """Whether the next outcome is not 0."""
        self.asked.append(-threshold)
        return next(self._outcomes, 0) != 0


def random_below(n: int, rng: np.random.Generator) -> int:
    """A random integer below n, however wide, that no code of a device took part in."""
    return int.from_bytes(rng.bytes(n.bit_length() // 8 + 9), "little") % n


def unpredictable() -> np.random.Generator:
    """A generator that no fault can have been made for: which values and draws are run is chosen afresh every time."""
    return np.random.default_rng(secrets.randbits(128))
