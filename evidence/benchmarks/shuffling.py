"""What a shuffler adds, beside what else is known: 100,000 people, local epsilon 4, delta 1e-6.

Our certificates beside closed forms in print, the lower bound of a concrete test, and composition beside the
`dp-accounting` package, which gets the same curve and lives in an environment of its own, ``.venv-accounting``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from evidence.benchmarks.peers import PeersUnavailable, prepared_environment, run_step
from sottovoce.mechanisms import create
from sottovoce.surveys.amplified import Amplified
from sottovoce.theory.composition import composed_epsilon
from sottovoce.theory.shuffling import Blanketed, Shuffled

__all__ = ["run"]

Row = dict[str, object]

VALUES, LOCAL, PEOPLE, DELTA = 100, 4.0, 100_000, 1e-6
TARGETS = {"randomized_response": 0.070, "subset_selection": 0.085, "hadamard": 0.083}
GENERIC_TARGET, LOWER_TARGET, SECONDS_TARGET = 0.173, 1.2, 15.0
TIMES = (2, 52, 365)

HERE = Path(__file__).resolve().parent
ENVIRONMENT, REQUIREMENTS = HERE.parents[1] / ".venv-accounting", HERE / "accounting-requirements.txt"


def run() -> list[Row]:
    """Every figure, one row each."""
    generic = Shuffled(LOCAL, None, PEOPLE).epsilon_at(DELTA)
    rows = [
        _row("any pure mechanism, by clones", generic, "the target", GENERIC_TARGET, "<= 1"),
        _row("any pure mechanism, by clones", generic, "Feldman et al. 2021, Thm 3.1", closed_form_of_clones()),
    ]
    for name, target in TARGETS.items():
        found = Amplified.of(create(name, VALUES, LOCAL), PEOPLE, DELTA)
        blanket = found.shuffled.blanket
        assert blanket is not None
        rows += [
            _row(name, found.epsilon, "the target", target, "<= 1"),
            _row(name, found.epsilon, "clones", generic),
            _row(name, found.epsilon, "Balle et al. 2019, Hoeffding", _least(partial(hoeffding, blanket))),
            _row(name, found.epsilon, "Balle et al. 2019, Bennett", _least(partial(bennett, blanket))),
            _row(
                name,
                found.epsilon,
                "our lower bound",
                found.lower,
                f"<= {LOWER_TARGET}" if name == "randomized_response" else None,
            ),
        ]
    return [*rows, _crowd(), *_composition()]


def _row(name: str, ours: float, against: str, theirs: float, target: str | None = None) -> Row:
    row: Row = {"name": f"central epsilon, {name}", "ratio": ours / theirs, "against": against}
    if target is not None:
        row |= {"target": target, "met": ours / theirs <= float(target.removeprefix("<= "))}
    return row | {"ours": ours, "theirs": theirs}


def closed_form_of_clones() -> float:
    """Theorem 3.1 of Feldman, McMillan and Talwar (2021)."""
    grown = math.exp(LOCAL)
    if math.log(PEOPLE / (16 * math.log(2 / DELTA))) < LOCAL:
        return LOCAL
    inner = 8 * math.sqrt(grown * math.log(4 / DELTA) / PEOPLE) + 8 * grown / PEOPLE
    return math.log1p((grown - 1) / (grown + 1) * inner)


def hoeffding(blanket: Blanketed, epsilon: float) -> float:
    """delta by Hoeffding's inequality for E[(L_1 + .. + L_m)_+], mixed over the binomial m."""
    _, losses = blanket.dominating(math.exp(epsilon))
    mean, spread = math.expm1(epsilon), float(np.ptp(losses))
    return _mixed(blanket.mass, spread**2 / (4 * mean), 2 * (mean / spread) ** 2)


def bennett(blanket: Blanketed, epsilon: float) -> float:
    """The same by Bennett's inequality."""
    chances, losses = blanket.dominating(math.exp(epsilon))
    mean = math.expm1(epsilon)
    top, variance = float(losses.max()) + mean, float(chances @ (losses + mean) ** 2)
    x = mean * top / variance
    return _mixed(blanket.mass, top / math.log1p(x), variance / top**2 * ((1 + x) * math.log1p(x) - x))


def _mixed(mass: float, factor: float, rate: float) -> float:
    """E[factor e^(-rate N)]/(gamma n)."""
    return factor * math.exp(PEOPLE * math.log1p(mass * math.expm1(-rate))) / (mass * PEOPLE)


def _least(delta: Callable[[float], float]) -> float:
    low, high = 1e-6, LOCAL
    for _ in range(50):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if delta(middle) <= DELTA else (middle, high)
    return high


def _crowd() -> Row:
    mechanism = create("randomized_response", VALUES, LOCAL)
    start = perf_counter()
    found = Amplified.of(mechanism, 10**8, DELTA)
    taken = perf_counter() - start
    return {
        "name": "certificate and lower bound of 100 million people, seconds",
        "ratio": taken / SECONDS_TARGET,
        "against": f"{SECONDS_TARGET:g} s",
        "target": "<= 1",
        "met": taken <= SECONDS_TARGET,
        "epsilon": found.epsilon,
    }


def _composition() -> list[Row]:
    curve = Amplified.of(create("randomized_response", VALUES, LOCAL), PEOPLE, DELTA).shuffled
    step = 5e-4
    points = [curve.delta_at(step * cell) for cell in range(401)]
    asked = {"step": step, "deltas": points, "times": TIMES, "delta": DELTA}
    try:
        python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
        worker = [str(python), "-I", str(HERE / "accounting_worker.py")]
        theirs = json.loads(run_step("composing", worker, hint="its errors are above", text=json.dumps(asked)))
    except PeersUnavailable as reason:
        return [{"name": "composition", "note": f"dp-accounting is unavailable: {reason}"}]
    ours = {times: composed_epsilon([(curve, times)], DELTA) for times in TIMES}
    return [
        _row(f"{times} batches composed", ours[times], f"dp-accounting {theirs['version']}", other, "<= 1.01")
        for times, other in zip(TIMES, theirs["epsilons"], strict=True)
    ]
