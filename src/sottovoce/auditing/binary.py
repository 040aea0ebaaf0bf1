"""Is binary response private? Both outcomes of its one coin, for every number that is run."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.primitives import wrong_draw
from sottovoce.auditing.vector_runs import VectorRuns
from sottovoce.auditing.vectors import Cases, HeldVector
from sottovoce.mechanisms.binary import Binary
from sottovoce.randomness import ONE, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import ScriptedSource

__all__ = ["run_binary"]

LEAST_NUMBERS: Final = 10_000
MOST_NUMBERS: Final = 2**21


def run_binary(mechanism: Binary, cases: Cases, budget: Budget) -> VectorRuns:
    """Run a device on both outcomes, for adverse numbers, and for every value of a survey or many random numbers.

    The chance of a 1 must lie within the stated amplitude of one half; then no two numbers can be told apart better
    than the ends of the range.
    """
    half = ONE // 2
    ratio = Fraction(half + mechanism.amplitude, half - mechanism.amplitude)
    runs = VectorRuns(epsilon_of(ratio))
    if not within_epsilon(ratio, mechanism.epsilon):
        runs.wrong_law = f"both ends of the range have chances in the ratio {float(ratio):.9g}"
    size, done = cases.subject.size, 0
    every = size is not None and size <= MOST_NUMBERS
    todo = (
        (cases.value(number) for number in range(size or 0))
        if every
        else (cases.random() for _ in range(LEAST_NUMBERS))
    )
    for stage in (cases.fixed(), todo):
        for case in stage:
            runs.wrong = runs.wrong or _wrong(mechanism, case)
            if runs.wrong or not budget.left:
                break
            done += stage is todo
            budget.spend(2)
    runs.wrong_draw = wrong_draw([-half - mechanism.amplitude, -half, mechanism.amplitude - half])
    runs.independent = 2 * done
    runs.proved = every and done == size
    runs.assumptions = () if runs.proved else runs.assumptions
    runs.method = (
        f"both outcomes of the one coin, for every one of {size:,} values"
        if runs.proved
        else f"both outcomes of the one coin, for the ends, numbers outside the range, and {done:,} others"
    )
    return runs


def _wrong(mechanism: Binary, case: HeldVector) -> str:
    """What is wrong with one number's chance of a 1, or with the bytes that tell the outcome."""
    half, amplitude = ONE // 2, mechanism.amplitude
    share = Fraction(float(case.vector[0])) / Fraction(mechanism.radius)
    for outcome in (0, 1):
        source = ScriptedSource([outcome])
        sent = case.run(source)
        if sent != bytes([outcome]):
            return f"{case.name}: the coin falls {outcome}, and the device sends {sent.hex()}"
        if len(source.asked) != 1 or not half - amplitude <= -source.asked[0] <= half + amplitude:
            return f"{case.name}: the device asks for {source.asked}, beyond the stated chances"
        if abs(-source.asked[0] - half - share * amplitude) > amplitude / 2**50 + 1:
            return f"{case.name}: the device asks for {source.asked}, not the chance of its number"
    return ""
