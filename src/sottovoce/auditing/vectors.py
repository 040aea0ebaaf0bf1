"""Vectors on which a device is run: adverse and random ones; those of a survey's values where it has some."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.auditing.runs import edge_values
from sottovoce.auditing.subject import FramingError, Subject
from sottovoce.auditing.system import MOST_WATCHED
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.vector import VectorMechanism, clip_to_ball
from sottovoce.randomness import Source

__all__ = ["Cases", "HeldVector", "adverse_vectors"]

MOST_AXES: Final = 64
"""Axes whose both ends are always run; of more dimensions, the others are drawn at random."""

MOST_NUMBERS: Final = 2**20
"""Numbers that the vectors at the ends of axes may take together."""


class HeldVector(NamedTuple):
    """A value's name for people to read, the value, its vector inside the ball, and the device with this value."""

    name: str
    value: Any
    vector: Floats
    run: Callable[[Source], bytes]


def adverse_vectors(mechanism: VectorMechanism) -> list[Floats]:
    """Corners, the centre, dense and random points of the ball, and vectors that are not in it at all."""
    d, r = mechanism.dimension, mechanism.radius
    rng = np.random.default_rng(0)
    first, dense = np.eye(1, d)[0], np.full(d, 1 / math.sqrt(d))
    most = max(2, min(MOST_AXES, MOST_NUMBERS // d))
    axes = dict.fromkeys([0, d - 1, *range(min(d, most))])
    ends = [sign * r * np.eye(1, d, axis)[0] for axis in axes for sign in (1, -1)]
    inside = [r * dense, -r * dense, 0.0 * first, r / 2 * first, 5e-324 * first]
    random = [r * clip_to_ball(rng.standard_normal(d), 1.0) * share for share in (1.0, 1.0, 0.3)]
    outside = [1e300 * first, np.full(d, 1e200), r * (1 + 1e-12) * dense, np.full(d, np.nan), np.full(d, -np.inf)]
    return [*ends, *inside, *random, *outside]


@dataclass
class Cases:
    """All that a device is run on."""

    subject: Subject[VectorMechanism]
    rng: np.random.Generator

    def fixed(self) -> Iterator[HeldVector]:
        """Adverse vectors; and before them, for a survey over a domain, the values at which faults are likely."""
        size = self.subject.size
        if size is None:
            yield from (self._vector(vector) for vector in adverse_vectors(self.subject.mechanism))
            return
        yield from (self.value(number) for number in edge_values(size))
        for vector in adverse_vectors(self.subject.mechanism):
            yield HeldVector(_shown(vector), vector, self._inside(vector), _running(self.subject.randomize, vector))

    def random(self) -> HeldVector:
        """One end of a random axis, or a random point; for a survey over a domain, a random value."""
        size, m = self.subject.size, self.subject.mechanism
        if size is not None:
            return self.value(int(self.rng.integers(0, size)))
        vector = np.zeros(m.dimension)
        if self.rng.integers(2):
            vector[self.rng.integers(m.dimension)] = m.radius * (1 - 2 * self.rng.integers(2))
        else:
            vector = self.rng.standard_normal(m.dimension)
            vector *= m.radius * self.rng.random() ** (1 / m.dimension) / np.linalg.norm(vector)
        return self._vector(vector)

    def value(self, number: int) -> HeldVector:
        """A survey's value of that number."""
        return self._held(f"value number {number}", self.subject.value(number))

    def opposite(self) -> tuple[HeldVector, HeldVector]:
        """Both ends of the first axis; for a survey over a domain, its first and last value."""
        if self.subject.size is not None:
            return self.value(0), self.value(self.subject.size - 1)
        end = np.eye(1, self.subject.mechanism.dimension)[0] * self.subject.mechanism.radius
        return self._vector(end), self._vector(-end)

    def wrong_entropy(self) -> str:
        """A survey's report that is not drawn from the system's random bytes, for random values and adverse ones."""
        size = self.subject.size
        held = (self.random() for _ in range(MOST_WATCHED))
        likely = self.fixed() if size is None else (self.value(number) for number in edge_values(size))
        return self.subject.wrong_entropy((case.name, case.value) for case in chain(held, likely))

    def _vector(self, vector: Floats) -> HeldVector:
        return self._held(_shown(vector), vector)

    def _held(self, name: str, value: Any) -> HeldVector:
        vector = self._inside(self.subject.input(value))

        def run(source: Source) -> bytes:
            try:
                return self.subject.send(value, source)
            except FramingError as error:
                raise FramingError(f"{name}: {error}") from error

        return HeldVector(name, value, vector, run)

    def _inside(self, vector: Floats) -> Floats:
        """What the device makes of any vector: an entry that is not finite counts as zero, then the ball."""
        return clip_to_ball(np.where(np.isfinite(vector), vector, 0.0), self.subject.mechanism.radius)


def _running(run: Callable[[Any, Source], bytes], value: Any) -> Callable[[Source], bytes]:
    return lambda source: run(value, source)


def _shown(vector: Floats) -> str:
    entries = ", ".join(f"{float(entry):.6g}" for entry in vector[:6])
    return f"the vector ({entries}{', ..' if len(vector) > 6 else ''})"
