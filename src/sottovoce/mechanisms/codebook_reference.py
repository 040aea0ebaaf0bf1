"""What an audit holds the codebook to: its draws, its marks and the two levels of a candidate, stated a second time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.reference import DeviceRun, Script, index_rows
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.vector import VectorReference, lift
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.philox import Key
from sottovoce.randomness.scripts import unpredictable

__all__ = ["CodebookReference"]

_LEAST_PAIRS: Final = 2_000
"""Pairs of runs, the coin down and up, that an audit makes however few rotations there are."""

_MOST_ROTATIONS: Final = 2**17
"""Rotations up to which an audit runs each."""

_SWEEPS: Final = 4
"""How often each rotation is run, at least: a fault in half of its reports hides from a pair of runs in four."""


@final
class CodebookReference(VectorReference):
    """Rotation and block are drawn before the vector is looked at, and equally many candidates are marked for all.

    So a report's probabilities under two vectors are in the ratio of its candidate's: at most that of the two levels.
    `mark` is the device's own, which hostile scores are tried on.
    """

    def __init__(
        self,
        dimension: int,
        radius: float,
        epsilon: float,
        length: int,
        candidates: int,
        marked: int,
        rotations: int,
        layers: int,
        key: Key,
        mark: Callable[[Floats, int], NDArray[np.bool_]],
    ) -> None:
        super().__init__(dimension, radius)
        self.epsilon, self.length, self.candidates, self.marked = epsilon, length, candidates, marked
        self.rotations, self.layers, self.key, self.mark = rotations, layers, key, mark
        self.threshold = TwoLevel(marked, candidates - marked, epsilon).threshold
        self.requests = [rotations, 2 * length // candidates, -self.threshold, marked, candidates - marked]
        self.least = max(_LEAST_PAIRS, _SWEEPS * min(rotations, _MOST_ROTATIONS))
        self._bounds = np.array([max(1, request) for request in self.requests])

    def marks(self, vector: Floats, rotation: int, block: int) -> NDArray[np.bool_]:
        """Which candidates must be marked: those of the largest scores, the first of equals, ranked a second way."""
        from sottovoce.kernels.rotations import rotate

        h = self.candidates // 2
        unit = lift(self.inside(vector), self.radius, self.length)[0]
        scores = rotate(unit, self.key, rotation, self.layers)[block * h : (block + 1) * h]
        best = np.lexsort((np.arange(h), -np.abs(scores)))[: self.marked]
        marked = np.zeros((h, 2), dtype=np.bool_)
        marked[best, np.where(scores[best] < 0, 1, 0)] = True
        return marked.reshape(-1)

    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        """Every rotation, with the coin down and up, again and again; of very many, some at random."""
        few = self.rotations <= _MOST_ROTATIONS
        while True:
            order = rng.permutation(self.rotations) if few else rng.integers(0, self.rotations, size=_MOST_ROTATIONS)
            for rotation in order.tolist():
                _, block, _, *ranks = rng.integers(0, self._bounds).tolist()
                yield [[rotation, block, coin, *ranks] for coin in (0, 1)]

    def edge_scripts(self, rng: np.random.Generator) -> list[Script]:
        bounds = self._bounds
        drawn = [draws.tolist() for draws in (0 * bounds, bounds - 1, rng.integers(0, bounds))]
        return [[*draws[:2], coin, *draws[3:]] for draws in drawn for coin in (0, 1)]

    def guarantee(self) -> tuple[float, str]:
        ratio = Fraction(self.threshold * (self.candidates - self.marked), (ONE - self.threshold) * self.marked)
        words = f"the two levels of a candidate are in the ratio {float(ratio):.9g}"
        return epsilon_of(ratio), "" if within_epsilon(ratio, self.epsilon) else words

    def wrong_law(self) -> str:
        """Scores for which the device's code marks too many candidates, or too few."""
        h, rng = self.candidates // 2, unpredictable()
        hostile = [np.full(h, x) for x in (math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324)]
        hostile += [rng.choice([math.nan, math.inf, -math.inf, 1.0, -1.0, 0.0], size=h) for _ in range(50)]
        hostile += list(rng.standard_normal((50, h)))
        for scores in hostile:
            marked = int(self.mark(scores, self.marked).sum())
            if marked != self.marked:
                return f"scores {scores[:6].tolist()} ..: {marked} candidates are marked, where {self.marked} must be"
        return ""

    def wrong_run(self, run: DeviceRun, vector: Floats) -> str:
        if run.asked != self.requests:
            return f"the device asks for {run.asked}, where {self.requests} is stated"
        rotation, block, inside, *ranks = run.played
        candidate = np.flatnonzero(self.marks(vector, rotation, block) == bool(inside))[ranks[0 if inside else 1]]
        number = 2 * rotation * self.length + block * self.candidates + candidate
        right = index_rows(np.array([number]), 2 * self.rotations * self.length).tobytes()
        if run.sent == right:
            return ""
        return (
            f"rotation {rotation}, block {block}: with the coin {'up' if inside else 'down'} and ranks {ranks} the "
            f"device sends {run.sent.hex()}, where its marks give {right.hex()}"
        )

    def _every(self, done: int) -> bool:
        return self.rotations <= min(done, _MOST_ROTATIONS)

    def method(self, done: int) -> str:
        run = "every one" if self._every(done) else f"{min(done, self.rotations):,}"
        return (
            f"exactly {self.marked} of {self.candidates} candidates are marked whatever the floats do, and reports "
            f"follow the marks in {run} of {self.rotations:,} rotations"
        )

    def assumptions(self, done: int) -> tuple[str, ...]:
        rest = () if self._every(done) else ("rotations that were not run do as those that were",)
        return (*super().assumptions(done), *rest)
