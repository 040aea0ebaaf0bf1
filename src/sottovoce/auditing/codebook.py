"""Audit of the codebook: exact over its candidates, whatever its floating point does."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.channel import Channel, Enumerator, worst_ratio
from sottovoce.kernels.rotations import rotate
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.codebook import Codebook, mark
from sottovoce.mechanisms.vector import VectorMechanism, clip_to_ball, lift
from sottovoce.randomness import within_epsilon

__all__ = ["ROTATIONS", "candidate_channel", "codebook_ratio", "marks"]

RUNS = 2_000
"""Reports, about, that the audited device makes for given draws: candidates times vectors."""

ROTATIONS = 20
"""Public rotations for which all pairs of vectors are compared, in one block of each."""


def _miniature(mechanism: Codebook) -> Codebook:
    """The same code with so few rotations and candidates that every outcome can be run."""
    return Codebook(3, mechanism.radius, mechanism.epsilon, 0.0, 64, 4, 1, 1, 6, key=mechanism.key)


def marks(mechanism: Codebook, vector: Floats, rotation: int, block: int) -> NDArray[np.bool_]:
    """Which candidates the device code marks for any vector: not-a-number counts as zero, then the ball."""
    h = mechanism.candidates // 2
    finite = np.where(np.isfinite(vector), vector, 0.0)
    unit = lift(clip_to_ball(finite, mechanism.radius), mechanism.radius, mechanism.size)[0]
    return mark(rotate(unit, mechanism.key, rotation, mechanism.layers)[block * h : (block + 1) * h], mechanism.marked)


def candidate_channel(mechanism: Codebook, vectors: list[Floats], rotation: int, block: int) -> Channel:
    """P(candidate | vector) for one rotation and block, from the marks that the device code sets."""
    levels = mechanism.levels
    return {
        i: {
            k.to_bytes(3, "little"): levels.each_inside if top else levels.each_outside
            for k, top in enumerate(marks(mechanism, vector, rotation, block))
        }
        for i, vector in enumerate(vectors)
    }


class _Given:
    """A source that hands out given draws, and notes what it was asked for."""

    def __init__(self, rotation: int, block: int, inside: bool, ranks: tuple[int, int]) -> None:
        self._numbers = iter((rotation, block, *ranks))
        self._inside = inside
        self.asked: list[int] = []

    def below(self, n: int) -> int:
        self.asked.append(n)
        return next(self._numbers, 0)

    def bernoulli(self, threshold: int) -> bool:
        self.asked.append(threshold)
        return self._inside


def _ends(mechanism: Codebook, most: int) -> list[Floats]:
    """Both ends of the diagonal and of axes, the first axis and the last before the others; so many at most."""
    d, r = mechanism.dimension, mechanism.radius
    axes = [0, *range(d - 1, 0, -1)][: most // 2 - 1]
    lines = [np.eye(1, d, axis)[0] for axis in axes]
    lines.insert(1, np.full(d, 1 / math.sqrt(d)))
    return [sign * r * line for line in lines for sign in (1, -1)]


def _does_as_marked(mechanism: Codebook, vector: Floats, rng: np.random.Generator) -> bool:
    """Whether the device sends, at some rotation and block, each candidate for the draws that its marks give it.

    All draws are integers below stated bounds and one comparison with a stated threshold, so that candidates then
    have their stated chances exactly. The draw which the coin leaves without use is taken at random.
    """
    m, h = mechanism, mechanism.candidates // 2
    others = m.candidates - m.marked
    rotation, block = int(rng.integers(0, m.rotations)), int(rng.integers(0, m.size // h))
    top = marks(m, vector, rotation, block)
    candidates = np.arange(m.candidates) if m.candidates <= RUNS else rng.choice(m.candidates, RUNS // 2, replace=False)
    for k in candidates:
        inside, rank = bool(top[k]), int(np.count_nonzero(top[:k] == top[k]))
        ranks = (rank, int(rng.integers(0, others))) if inside else (int(rng.integers(0, m.marked)), rank)
        source = _Given(rotation, block, inside, ranks)
        sent = m.codec.decode(m.encode(m.randomize(vector, source)))
        if sent != 2 * (rotation * m.size + block * h) + k:
            return False
        if source.asked != [m.rotations, m.size // h, m.levels.threshold, m.marked, others]:
            return False
    return True


def _device_channel(mechanism: Codebook, vectors: list[Floats]) -> Channel:
    """Every outcome of the device's randomness, as encoded bytes."""
    channel: Channel = {}
    for i, vector in enumerate(vectors):
        source = Enumerator()
        tally: dict[bytes, Fraction] = defaultdict(Fraction)
        while True:
            tally[mechanism.encode(mechanism.randomize(vector, source))] += source.probability
            if not source.advance():
                break
        channel[i] = dict(tally)
    return channel


def codebook_ratio(mechanism: VectorMechanism, vectors: list[Floats]) -> tuple[Fraction, bool]:
    """The worst likelihood ratio, and whether everything that was run agrees with it.

    Rotation and block are drawn before the vector is looked at, so a report's probabilities under two vectors are in
    the ratio of its candidate's. Exactly `marked` of the candidates carry the higher level for every vector, every
    rotation and every float error: marks are counted for hostile scores too. Hence the ratio of the two levels. The
    very device asked about is run on given draws, so that the reports are known to follow those marks, for both ends
    of every axis where `RUNS` allows.
    """
    m = cast(Codebook, mechanism)
    ratio = m.levels.ratio
    rng = np.random.default_rng(2)
    agrees = True
    for rotation in rng.integers(0, m.rotations, size=ROTATIONS):
        block = int(rng.integers(0, m.size // (m.candidates // 2)))
        channel = candidate_channel(m, vectors, int(rotation), block)
        found = worst_ratio(channel)
        agrees &= found is not None and found <= ratio and all(sum(row.values()) == 1 for row in channel.values())
    h = m.candidates // 2
    agrees &= all(_does_as_marked(m, vector, rng) for vector in _ends(m, max(4, RUNS // m.candidates)))
    hostile = [np.full(h, x) for x in (math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324)]
    hostile += [rng.choice([math.nan, math.inf, -math.inf, 1.0, -1.0, 0.0], size=h) for _ in range(50)]
    agrees &= all(int(mark(scores, m.marked).sum()) == m.marked for scores in hostile)
    small = _miniature(m)
    few = [np.zeros(3), np.eye(3)[0] * m.radius, -np.eye(3)[0] * m.radius]
    run = worst_ratio(_device_channel(small, few))
    agrees &= run is not None and run <= small.levels.ratio and within_epsilon(run, m.epsilon)
    return ratio, agrees
