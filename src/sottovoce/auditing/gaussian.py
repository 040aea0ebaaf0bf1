"""Is Gaussian noise private? Integer sensitivity, and a device that draws as the exact sampler does, tails included.

The sampler (Canonne, Kamath and Steinke 2020, Algorithms 1 to 3) is written once more here. Both get the same outcomes:
they must ask for the same integers and find the same noise. Outcomes are random, or chosen so that the noise is a given
number, however far out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.vector_runs import VectorRuns
from sottovoce.auditing.vectors import Cases, HeldVector
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.randomness.scripts import random_below
from sottovoce.theory.calibration import zcdp_epsilon

__all__ = ["outcomes_for", "run_gaussian", "sample"]

TAPES: Final = 5_000
"""Runs with random outcomes, and as many numbers drawn as that takes in 16 dimensions."""

SIGMAS: Final = (0, 0.001, 0.5, 1, 2, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
"""Noise that every coordinate is made to have, in standard deviations, with both signs; that at the cut is added."""

Draw = tuple[int, int]
"""An integer's bound, and its outcome; a coin has minus its threshold."""


class _Played:
    """Plays outcomes, random ones beyond the last, and notes what was asked for and played."""

    def __init__(self, outcomes: Sequence[int], rng: np.random.Generator) -> None:
        self._outcomes, self._rng = iter(outcomes), rng
        self.draws: list[Draw] = []

    def below(self, n: int) -> int:
        given = next(self._outcomes, None)
        outcome = random_below(n, self._rng) if given is None else min(given, n - 1)
        self.draws.append((n, outcome))
        return outcome

    def bernoulli(self, threshold: int) -> bool:
        outcome = next(self._outcomes, int(self._rng.integers(2)))
        self.draws.append((-threshold, outcome))
        return outcome != 0


def sample(variance: int, source: _Played) -> int:
    """A discrete Gaussian: Laplace proposals y, kept with probability exp(-(|y| - variance/t)^2/(2 variance))."""
    t = math.isqrt(variance) + 1
    while True:
        rest = source.below(t)
        if not _exponential(rest, t, source):
            continue
        size = rest
        while _exponential(1, 1, source):
            size += t
        negative = source.below(2)
        if negative and not size:
            continue
        if _exponential((size * t - variance) ** 2, 2 * variance * t * t, source):
            return -size if negative else size


def _exponential(over: int, under: int, source: _Played) -> bool:
    """True with probability exp(-over/under): so many whole factors 1/e, and the rest by its alternating series."""
    units = max(0, -(-over // under) - 1)
    return all(_series(1, 1, source) for _ in range(units)) and _series(over - units * under, under, source)


def _series(over: int, under: int, source: _Played) -> bool:
    length = 0
    while source.below((length + 1) * under) < over:
        length += 1
    return length % 2 == 0


def outcomes_for(noise: int, variance: int) -> list[int]:
    """Outcomes for which the sampler finds this noise at its first attempt.

    Examples
    --------
    >>> source = _Played(outcomes_for(-(10**7), 2**40), np.random.default_rng(1))
    >>> sample(2**40, source)
    -10000000
    """
    t = math.isqrt(variance) + 1
    whole, rest = divmod(abs(noise), t)
    over, under = (abs(noise) * t - variance) ** 2, 2 * variance * t * t
    units = max(0, -(-over // under) - 1)
    unit, last = [0, 0, 2], [0, 0, 3 * under - 1] if over - units * under == under else [under - 1]
    return [rest, t - 1, *unit * whole, 0, 1, int(noise < 0), *unit * units, *last]


def run_gaussian(mechanism: Gaussian, cases: Cases, budget: Budget) -> VectorRuns:
    """Run a device beside the reference, on random outcomes and on those that lead into the tails.

    The epsilon is that of the largest squared norm seen on the grid, two opposite ones being furthest apart.
    """
    m, rng = mechanism, cases.rng
    runs, longest, asked = VectorRuns(math.inf), m.steps**2, set[int]()

    def check(case: HeldVector, outcomes: Sequence[int]) -> None:
        nonlocal longest
        grid = m.on_grid(case.vector)
        longest = max(longest, sum(number * number for number in grid))
        source = _Played(outcomes, rng)
        sent = case.run(source)
        asked.update(n for n, _ in source.draws)
        runs.wrong = runs.wrong or _wrong(m, case, grid, source.draws, sent)
        budget.spend(1)

    for outcomes in _tails(m):
        check(cases.random(), outcomes)
        if runs.wrong or not budget.left:
            break
    for case in cases.fixed():
        if not runs.wrong:
            check(case, [])
    while runs.independent < max(20, min(TAPES, 16 * TAPES // m.dimension)) and not runs.wrong and budget.left:
        check(cases.random(), [])
        runs.independent += 1
    if longest > m.steps**2:
        runs.wrong_law = f"a vector has the squared norm {longest} on the grid, where {m.steps**2} is allowed"
    if m.delta_upper > Fraction(m.delta):
        runs.wrong_law = f"delta is {float(m.delta_upper):.6g} at epsilon {m.epsilon:g}, stated {m.delta:g}"
    runs.wrong_draw = wrong_draw(sorted(asked))
    runs.epsilon = zcdp_epsilon(float(Fraction(2 * longest, m.noise_variance)), m.delta)
    runs.method = (
        f"integer sensitivity 2r/g and the zCDP account of the discrete Gaussian, rounded up; the device draws as the "
        f"exact sampler for {runs.independent:,} random tapes, and for noise up to the cut in every coordinate"
    )
    runs.assumptions += (
        "Algorithms 1 to 3 of Canonne, Kamath and Steinke (2020) sample the discrete Gaussian exactly",
    )
    return runs


def _tails(m: Gaussian) -> Iterator[list[int]]:
    """Outcomes of whole reports: every coordinate meets each noise of `SIGMAS` and that at the cut, of both signs."""
    sigma = math.isqrt(m.noise_variance)
    sizes = [round(share * sigma) for share in SIGMAS]
    sizes += [m.bound - m.steps, m.bound, m.bound + m.steps, 2 * m.bound]
    noises = [sign * size for size in sizes for sign in (1, -1) if size or sign > 0]
    scripts = [outcomes_for(noise, m.noise_variance) for noise in noises]
    for shift in range(len(scripts)):
        yield [outcome for axis in range(m.dimension) for outcome in scripts[(axis + shift) % len(scripts)]]


def _wrong(m: Gaussian, case: HeldVector, grid: list[int], draws: list[Draw], sent: bytes) -> str:
    """What the device did otherwise than the reference for the same outcomes."""
    again = _Played([outcome for _, outcome in draws], np.random.default_rng(0))
    noise = [sample(m.noise_variance, again) for _ in range(m.dimension)]
    if again.draws != draws:
        return f"{case.name}: {_parting(draws, again.draws)}"
    right = [max(-m.bound, min(m.bound, number + drawn)) for number, drawn in zip(grid, noise, strict=True)]
    width = m.bound.bit_length() // 8 + 1
    found = [int.from_bytes(sent[at : at + width], "little", signed=True) for at in range(0, len(sent), width)]
    if found == right and len(sent) == width * m.dimension:
        return ""
    axis = next((i for i, (one, other) in enumerate(zip(found, right, strict=False)) if one != other), 0)
    return (
        f"{case.name}: noise {noise[axis]} ({noise[axis] / math.sqrt(m.noise_variance):.3g} standard deviations) in "
        f"coordinate {axis} makes the device send {found[axis] if axis < len(found) else sent.hex()[:48]}, where "
        f"{right[axis]} is right"
    )


def _parting(found: list[Draw], right: list[Draw]) -> str:
    at = next((i for i, (one, other) in enumerate(zip(found, right, strict=False)) if one != other), None)
    if at is None:
        return f"the device draws {len(found)} integers, where the sampler draws {len(right)}"
    return f"draw {at} of the device is below {found[at][0]}, where the sampler's is below {right[at][0]}"
