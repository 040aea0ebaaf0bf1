"""Is rejection response private? The bit's chance stays within its bounds for every seed and vector that is run."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.vector_runs import VectorRuns
from sottovoce.auditing.vectors import Cases, HeldVector
from sottovoce.kernels.normals import seed_normals
from sottovoce.mechanisms.base import Floats
from sottovoce.mechanisms.rejection import UNIT, Rejection
from sottovoce.mechanisms.vector import lift
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import ScriptedSource

__all__ = ["chance_of_one", "run_rejection"]

SEEDS: Final = 20_000
"""Public seeds on which a device is run, with the bit 0 and 1."""

CLOSE: Final = 2.0**-40
"""How far a chance computed in another order may be from the device's."""

HOSTILE_FLOATS: Final = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, 40.0, -40.0, 1e16, -1e16)
"""What a broken or hostile inner product could be."""


def run_rejection(mechanism: Rejection, cases: Cases, budget: Budget) -> VectorRuns:
    """Run a device on random seeds, with the bit 0 and 1; every inner product must keep the chance within bounds.

    The seed's law does not depend on the vector, and the device must send the seed and the bit that were drawn, so the
    ratio of two reports' chances is that of their bits given the seed. Chances between `lowest` and `highest` imply
    the guarantee for all vectors, seeds and float errors.
    """
    m, rng = mechanism, cases.rng
    runs = VectorRuns(epsilon_of(m.privacy_ratio()))
    if not within_epsilon(m.privacy_ratio(), m.epsilon) or m.lowest + m.highest != ONE:
        runs.wrong_law = f"the bounds of the bit's chance are in the ratio {float(m.privacy_ratio()):.9g}"
    beyond = [x for x in HOSTILE_FLOATS if not m.lowest <= m.threshold(x) <= m.highest]
    if beyond:
        runs.wrong = f"an inner product of {beyond[0]} has a chance beyond the stated bounds"
    runs.wrong_draw = wrong_draw([ONE, -m.lowest, -m.highest, -m.threshold(0.5)])
    for case in cases.fixed():
        for seed in (0, 1, 2**32 - 1, 2**32, ONE - 1, _random(rng)):
            runs.wrong = runs.wrong or _wrong(m, case, seed)
            budget.spend(2)
        if runs.wrong or not budget.left:
            break
    done = 0
    while done < SEEDS and not runs.wrong and budget.left:
        runs.wrong = _wrong(m, cases.random(), _random(rng))
        budget.spend(2)
        done += 1
    runs.independent = 2 * done
    runs.method = f"integer bounds of the bit's chance, kept by the device for {done:,} seeds and any inner product"
    runs.assumptions += ("seeds that were not run do as those that were",)
    return runs


def _random(rng: np.random.Generator) -> int:
    return int(rng.integers(0, ONE - 1, dtype=np.uint64, endpoint=True))


def _wrong(m: Rejection, case: HeldVector, seed: int) -> str:
    """What is wrong with the reports of one vector and seed."""
    right = chance_of_one(m, case.vector, seed)
    for bit in (0, 1):
        source = ScriptedSource([seed, bit])
        sent = case.run(source)
        where = f"{case.name}, seed {seed:#x}, bit {bit}: the device"
        if sent != seed.to_bytes(8, "little") + bytes([bit]):
            return f"{where} sends {sent.hex()}"
        if source.asked[:1] != [ONE] or len(source.asked) != 2 or not m.lowest <= -source.asked[1] <= m.highest:
            return f"{where} asks for {source.asked}, beyond the stated chances {m.lowest} to {m.highest}"
        if abs(-source.asked[1] / ONE - right) > CLOSE:
            return f"{where} asks for the chance {-source.asked[1] / ONE:.9g}, where {right:.9g} is stated"
    return ""


def chance_of_one(m: Rejection, vector: Floats, seed: int) -> float:
    """The stated chance of a 1, computed from the seed's normals."""
    s, half = m.tilt / UNIT, m.clip / UNIT / 2
    t = float(np.dot(lift(vector, m.radius, m.dimension + 1)[0], seed_normals(seed, m.dimension + 1)))
    return math.exp(min(half, max(-half, s * t - s * s / 2))) / (math.exp(half) + math.exp(-half))
