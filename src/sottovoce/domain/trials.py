"""Values on which an audit runs a device: those at which faults are likely, random ones, and some to tell apart."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
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
    portable: bool = True
    """Whether other languages have this value too."""


class Trials(abc.ABC):
    """The values of one kind. They belong to nobody, so a message may name them."""

    size: int | None = None
    """How many values there are, if they are numbered."""
    listed: int = 0
    """How many values of a structure that random ones hardly have are listed: the first ones by their numbers."""
    listed_name: str = ""
    """What the listed values are, after the word "every"."""

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
        return self.numbered(number).value

    @property
    def special_numbers(self) -> range:
        """The numbers that are not those of plain values but of others at which faults are likely."""
        return range(len(self._edges))

    def numbered(self, number: int) -> Trial:
        """The value of that number with its name: those at edges first, then random ones."""
        edges = self._edges
        return edges[number] if number < len(edges) else self.random(np.random.default_rng(number))

    @cached_property
    def _edges(self) -> list[Trial]:
        return list(self.edges())


@final
class NumberedTrials(Trials):
    """Values with numbers from 0 to `size` - 1, and special forms of some of them.

    Examples
    --------
    >>> trials = NumberedTrials(3, ["red", "green", "blue"].__getitem__)
    >>> [trial.value for trial in trials.apart(np.random.default_rng())]
    ['red', 'blue']
    """

    def __init__(self, size: int, value_of: Callable[[int], Any], special: Sequence[Trial] = ()) -> None:
        self.size, self._value_of, self.special = size, value_of, special

    @property
    def special_numbers(self) -> range:
        size = self.size or 0
        return range(size, size + len(self.special))

    def numbered(self, number: int) -> Trial:
        """The value of that number; special ones follow."""
        size = self.size or 0
        return (
            self.special[number - size] if number >= size else Trial(f"value number {number}", self._value_of(number))
        )

    def edges(self) -> Iterator[Trial]:
        yield from self.special
        yield from (self.numbered(number) for number in edge_values(self.size or 0))

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
