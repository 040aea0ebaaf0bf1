"""Is a codebook private? Equally many candidates are marked whatever its floats do, and reports follow the marks."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.channel import worst_ratio
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.vector_runs import VectorRuns
from sottovoce.auditing.vectors import Cases, HeldVector
from sottovoce.kernels.rotations import rotate
from sottovoce.mechanisms import codebook as device_code
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.reference import index_rows
from sottovoce.mechanisms.vector import clip_to_ball, lift
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import ScriptedSource, row_of

__all__ = ["marks", "run_codebook"]

LEAST_PAIRS: Final = 2_000
"""Pairs of runs, the coin down and up, that are made however few rotations there are."""

MOST_ROTATIONS: Final = 2**17
"""Rotations up to which each is run."""

SWEEPS: Final = 4
"""How often each rotation is run, if time allows: a fault in half of its reports hides from a pair of runs in four."""


def marks(mechanism: Codebook, vector: Floats, rotation: int, block: int) -> NDArray[np.bool_]:
    """Which candidates must be marked: those of the largest scores, the first of equals, in a ranking of its own."""
    h = mechanism.candidates // 2
    finite = np.where(np.isfinite(vector), vector, 0.0)
    unit = lift(clip_to_ball(finite, mechanism.radius), mechanism.radius, mechanism.size)[0]
    scores = rotate(unit, mechanism.key, rotation, mechanism.layers)[block * h : (block + 1) * h]
    best = np.lexsort((np.arange(h), -np.abs(scores)))[: mechanism.marked]
    marked = np.zeros((h, 2), dtype=np.bool_)
    marked[best, np.where(scores[best] < 0, 1, 0)] = True
    return marked.reshape(-1)


def run_codebook(mechanism: Codebook, cases: Cases, budget: Budget) -> VectorRuns:
    """Run a device in every rotation, with the coin down and up, and count the marks of hostile scores.

    Rotation and block are drawn before the vector is looked at, so a report's probabilities under two vectors are in
    the ratio of its candidate's: at most that of the two levels, if exactly `marked` candidates carry the higher one
    for every vector.
    """
    m, rng = mechanism, cases.rng
    threshold, others = m.levels.threshold, m.candidates - m.marked
    ratio = Fraction(threshold * others, (ONE - threshold) * m.marked)
    requests = [m.rotations, 2 * m.size // m.candidates, -threshold, m.marked, others]
    runs = VectorRuns(epsilon_of(ratio), wrong=_wrong_marks(m, rng) or _wrong_miniature(m))
    runs.wrong_draw = wrong_draw(requests)
    if not within_epsilon(ratio, m.epsilon):
        runs.wrong_law = f"the two levels of a candidate are in the ratio {float(ratio):.9g}"
    bounds = np.array([max(1, request) for request in requests])
    for case in cases.fixed():
        for draws in (0 * bounds, bounds - 1, rng.integers(0, bounds)):
            runs.wrong = runs.wrong or _wrong(m, case, draws.tolist(), requests)
            budget.spend(2)
        if runs.wrong or not budget.left:
            break
    swept = m.rotations <= MOST_ROTATIONS
    order = rng.integers(0, m.rotations, size=max(LEAST_PAIRS, SWEEPS * MOST_ROTATIONS))
    if swept:
        sweeps = max(SWEEPS, -(-LEAST_PAIRS // m.rotations))
        order = np.concatenate([rng.permutation(m.rotations) for _ in range(sweeps)])
    done = 0
    for rotation in order.tolist():
        if runs.wrong or not budget.left:
            break
        draws = rng.integers(0, bounds)
        draws[0] = rotation
        runs.wrong = _wrong(m, cases.random(), draws.tolist(), requests)
        budget.spend(2)
        done += 1
    runs.independent = 2 * done
    every = swept and done >= m.rotations
    runs.method = (
        f"exactly {m.marked} of {m.candidates} candidates are marked whatever the floats do, and reports follow the "
        f"marks in {'every one' if every else f'{min(done, m.rotations):,}'} of {m.rotations:,} rotations"
    )
    if not every:
        runs.assumptions += ("rotations that were not run do as those that were",)
    return runs


def _wrong(m: Codebook, case: HeldVector, draws: list[int], requests: list[int]) -> str:
    """What is wrong with the reports of one vector for given draws, with the coin down and up."""
    rotation, block, _, *ranks = draws
    top = marks(m, case.vector, rotation, block)
    for inside in (0, 1):
        source = ScriptedSource([rotation, block, inside, *ranks])
        sent = case.run(source)
        if source.asked != requests:
            return f"{case.name}, rotation {rotation}: the device asks for {source.asked}, where {requests} is stated"
        candidate = np.flatnonzero(top == bool(inside))[ranks[0 if inside else 1]]
        number = 2 * rotation * m.size + block * m.candidates + candidate
        right = index_rows(np.array([number]), 2 * m.rotations * m.size).tobytes()
        if sent != right:
            return (
                f"{case.name}, rotation {rotation}, block {block}: with the coin {'up' if inside else 'down'} and "
                f"ranks {ranks} the device sends {sent.hex()}, where its marks give {right.hex()}"
            )
    return ""


def _wrong_marks(m: Codebook, rng: np.random.Generator) -> str:
    """Scores for which the device's code marks too many candidates, or too few."""
    h = m.candidates // 2
    hostile = [np.full(h, x) for x in (math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324)]
    hostile += [rng.choice([math.nan, math.inf, -math.inf, 1.0, -1.0, 0.0], size=h) for _ in range(50)]
    hostile += list(rng.standard_normal((50, h)))
    for scores in hostile:
        found = int(device_code.mark(scores, m.marked).sum())
        if found != m.marked:
            return f"scores {scores[:6].tolist()} ..: {found} candidates are marked, where {m.marked} must be"
    return ""


def _wrong_miniature(m: Codebook) -> str:
    """The same code with so few rotations and candidates that every outcome is run."""
    small = type(m)(3, m.radius, m.epsilon, 0.0, 64, 4, 1, 1, 6, key=m.key)
    vectors = (np.zeros(3), np.eye(3)[0] * m.radius, -np.eye(3)[0] * m.radius)
    rows = [row_of(lambda source, x=x: small.encode(small.randomize(x, source))) for x in vectors]  # type: ignore[misc]
    ratio = worst_ratio(dict(enumerate(rows)))
    if ratio is None or ratio > small.levels.ratio:
        return "with 4 candidates and 1 rotation, on every outcome, the device exceeds the ratio of its levels"
    return ""
