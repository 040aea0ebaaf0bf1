"""Adaptive strategies: what they find beside what their analysis predicts, and how long they take.

The ten most common of 2**60 values held by a million people, Zipf-distributed over a million of them, at epsilon 2;
and the median of 2**40 values at epsilon 1. Everything but the people themselves is timed, planning included.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.adaptive.quantile import Quantile, smooth_rank_error
from sottovoce.adaptive.session import Session

__all__ = ["run"]

PEOPLE = 10**6
RANKS = 10**6
EXPONENT = 1.2
RUNS = 10
FEW_CHOICES_RUNS = 3
RECALL_TARGET = 0.7
MINUTE = 60.0

Row = dict[str, object]


def run() -> list[Row]:
    """Every comparison, one row each."""
    return [*_many_choices(), *_few_choices(), *_median()]


def _zipf() -> NDArray[np.float64]:
    weights = np.arange(1, RANKS + 1) ** -EXPONENT
    return np.asarray(weights / weights.sum())


def _recalls(strategy: HeavyHitters, runs: int) -> tuple[list[float], list[float]]:
    """The share of the ten most common values found, and the seconds it took, run by run."""
    recalls, seconds = [], []
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        names = rng.integers(2**60, size=RANKS)
        people = names[rng.choice(RANKS, size=PEOPLE, p=_zipf())]
        started = perf_counter()
        found = strategy.run(Session.simulated(strategy.panel(2**60, epsilon=2.0, people=PEOPLE), people, seed=seed))
        seconds.append(perf_counter() - started)
        recalls.append(len(set(found.values) & set(names[:10].tolist())) / 10)
    return recalls, seconds


def _many_choices() -> list[Row]:
    strategy = HeavyHitters("value")
    recalls, seconds = _recalls(strategy, RUNS)
    mean, predicted = (
        float(np.mean(recalls)),
        strategy.predicted_recall(_zipf()[:10_000], 2**60, epsilon=2.0, people=PEOPLE),
    )
    common: Row = {
        "name": "ten most common of 2^60 values, a million people, epsilon 2",
        "recalls": recalls,
        "recall": mean,
        "predicted": predicted,
        "rounds": strategy.plan(2**60, epsilon=2.0, people=PEOPLE).rounds,
        "detectable": strategy.plan(2**60, epsilon=2.0, people=PEOPLE).error.value,
    }
    goal: Row = {"target": f"recall >= {RECALL_TARGET:g}", "met": mean >= RECALL_TARGET}
    slowest = max(seconds)
    return [
        {**common, **goal, "ratio": mean / predicted, "against": "the predicted recall"},
        {**common, "ratio": slowest / MINUTE, "target": "<= 1", "met": slowest <= MINUTE, "against": "a minute a run"},
    ]


def _few_choices() -> list[Row]:
    """The same in many rounds of few choices: why it is done in few rounds of many."""
    strategy = HeavyHitters("value", most_choices=64)
    recalls, _ = _recalls(strategy, FEW_CHOICES_RUNS)
    predicted = strategy.predicted_recall(_zipf()[:10_000], 2**60, epsilon=2.0, people=PEOPLE)
    rounds = strategy.plan(2**60, epsilon=2.0, people=PEOPLE).rounds
    return [
        {
            "name": f"the same in {rounds} rounds of at most 64 choices",
            "ratio": float(np.mean(recalls)) / predicted,
            "against": "the predicted recall",
            "recalls": recalls,
            "predicted": predicted,
        }
    ]


def _median() -> list[Row]:
    strategy = Quantile("value")
    people = np.minimum(np.random.default_rng(1).lognormal(15, 2, size=PEOPLE), 2**40 - 1).astype(np.int64)
    panel, ordered = strategy.panel(2**40, epsilon=1.0, people=PEOPLE), np.sort(people)
    errors = []
    for seed in range(RUNS):
        value = strategy.run(Session.simulated(panel, people, seed=seed)).value
        below, reached = (np.searchsorted(ordered, value, side) / PEOPLE for side in ("left", "right"))
        errors.append(max(0.0, float(below) - 0.5, 0.5 - float(reached)))
    mean, bound = float(np.mean(errors)), strategy.plan(2**40, epsilon=1.0, people=PEOPLE).error.value
    common: Row = {"name": "median of 2^40 values, a million people, epsilon 1: error in rank", "errors": errors}
    return [
        {**common, "ratio": mean / bound, "target": "<= 1", "met": mean <= bound, "against": "the plan's bound"},
        {**common, "ratio": mean / smooth_rank_error(40, 1.0, PEOPLE), "against": "the prediction for an even spread"},
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
