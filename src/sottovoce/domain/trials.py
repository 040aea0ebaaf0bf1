"""Values on which an audit runs a device: those at which faults are likely, random ones, and some to tell apart."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, final

import numpy as np

from sottovoce.randomness.scripts import random_below

__all__ = ["NumberedTrials", "Trial", "Trials", "edge_values"]

_BORDERS: Final = 32


class Trial(NamedTuple):
    """One value, its name in messages, and the mechanism's input for it where that is known without the survey."""

    name: str
    value: Any
    input: Any = None


class Trials(abc.ABC):
    """The values of one kind. They belong to nobody, so a message may name them."""

    size: int | None = None
    """How many values there are, if they are numbered."""

    @abc.abstractmethod
    def edges(self) -> Iterator[Trial]:
        """Values at which faults are likely."""

    @abc.abstractmethod
    def random(self, rng: np.random.Generator) -> Trial:
        """A random value."""

    @abc.abstractmethod
    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """Values whose reports are compared: the first one with each of the others."""

    def value(self, number: int) -> Any:
        """A value for that number, always the same one; clients in other languages are run on these."""
        edges = [trial.value for trial in self.edges()]
        return edges[number] if number < len(edges) else self.random(np.random.default_rng(number)).value


@final
class NumberedTrials(Trials):
    """Values with numbers from 0 to `size` - 1.

    Examples
    --------
    >>> trials = NumberedTrials(3, ["red", "green", "blue"].__getitem__)
    >>> [trial.value for trial in trials.apart(np.random.default_rng())]
    ['red', 'blue']
    """

    def __init__(self, size: int, value_of: Callable[[int], Any]) -> None:
        self.size, self._value_of = size, value_of

    def value(self, number: int) -> Any:
        return self._value_of(number)

    def numbered(self, number: int) -> Trial:
        """The value of that number."""
        return Trial(f"value number {number}", self._value_of(number))

    def edges(self) -> Iterator[Trial]:
        return (self.numbered(number) for number in edge_values(self.size or 0))

    def random(self, rng: np.random.Generator) -> Trial:
        return self.numbered(random_below(self.size or 1, rng))

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        return [self.numbered(0), self.numbered((self.size or 1) - 1)]


def edge_values(size: int, block: int = 1) -> list[int]:
    """Numbers at which faults are likely: both ends, about powers of two, and at the borders of blocks.

    Examples
    --------
    >>> edge_values(1000)[-6:]
    [512, 513, 996, 997, 998, 999]
    """
    centres = {0, 1, size // 2, size - 2, size - 1, *(1 << power for power in range(size.bit_length()))}
    if block > 1:
        blocks = -(-size // block)
        centres.update(block * (number * blocks // _BORDERS) for number in range(_BORDERS + 1))
        centres.update((block, block * (blocks - 1)))
    return sorted({at for centre in centres for at in range(centre - 2, centre + 2) if 0 <= at < size})
