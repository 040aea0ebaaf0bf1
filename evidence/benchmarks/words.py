"""Words in one round: what is found beside what the plan predicts, and how long the search takes.

The population of `heavy_hitters`: the ten most common of 2**60 values held by a million people, Zipf-distributed over
a million of them, at epsilon 2; there the adaptive strategy takes several rounds.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from evidence.benchmarks.heavy_hitters import PEOPLE, RANKS, _zipf
from evidence.experiments.one_round import one_round_table
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.planning.planner import plan
from sottovoce.questions.words import Words

__all__ = ["run"]

EPSILON = 2.0
BELOW = 2**60
RUNS = 20
RECALL_TARGET = 0.92
NEAR_LIMIT = range(8, 16)
"""Ranks, from 0, whose shares are about those that are just found."""

Row = dict[str, object]


def run() -> list[Row]:
    """Every comparison, one row each."""
    shares = _zipf()
    planned = plan(Words.of(below=BELOW), epsilon=EPSILON, people=PEOPLE)
    recall = planned.recall
    assert recall is not None
    survey = planned.survey()
    code, mechanism = survey.question.code, survey.mechanism  # type: ignore[attr-defined]
    found, seconds = np.zeros((RUNS, NEAR_LIMIT.stop)), []
    false = 0
    for seed in range(RUNS):
        rng = np.random.default_rng(seed)
        names = rng.integers(BELOW, size=RANKS)
        held, people = np.unique(rng.choice(RANKS, size=PEOPLE, p=shares), return_inverse=True)
        reports = mechanism.randomize_many(code.rows(names[held].tolist())[people], rng)
        counts = mechanism.empty()
        mechanism.count_into(counts, reports)
        started = perf_counter()
        estimate = WordEstimate.from_counts(survey, counts, PEOPLE)
        seconds.append(perf_counter() - started)
        certain = {one.value for one in estimate.found if one.certain}
        found[seed] = [int(name) in certain for name in names[: NEAR_LIMIT.stop]]
        false += len(certain - set(names.tolist()))
    predicted = np.array([recall.probability(share) for share in shares[: NEAR_LIMIT.stop]])
    adaptive = HeavyHitters("value")
    several = adaptive.predicted_recall(shares[:10_000], BELOW, epsilon=EPSILON, people=PEOPLE)
    mean, near = float(found[:, :10].mean()), list(NEAR_LIMIT)
    common: Row = {
        "name": "ten most common of 2^60 values in one round, a million people, epsilon 2",
        "recalls": found[:, :10].mean(axis=1).tolist(),
        "recall": mean,
        "predicted": float(predicted[:10].mean()),
        "values called certain that nobody has": false,
        "seconds": seconds,
    }
    goal: Row = {"target": f"recall >= {RECALL_TARGET:g}", "met": mean >= RECALL_TARGET}
    rounds = adaptive.plan(BELOW, epsilon=EPSILON, people=PEOPLE).rounds
    return [
        {**common, **goal, "ratio": mean / float(predicted[:10].mean()), "against": "the plan's recall"},
        {**common, "ratio": mean / several, "against": f"the predicted recall of {rounds} adaptive rounds"},
        {**common, "ratio": float(np.median(seconds)) / 60, "against": "a minute of search"},
        {
            "name": "values of one round at the limit of what is found, ranks 9 to 16",
            "found": found[:, near].mean(axis=0).tolist(),
            "predicted": predicted[near].tolist(),
            "ratio": float(found[:, near].mean() / predicted[near].mean()),
            "against": "the plan's recall",
        },
        *(
            {
                "name": f"share found with 90 %, {line.people:,} people, epsilon {line.epsilon:g}: one round",
                "ratio": line.ratio,
                "against": f"{line.rounds} adaptive rounds",
                "one round": line.one_round,
                "adaptive": line.adaptive,
            }
            for line in one_round_table()
        ),
    ]


if __name__ == "__main__":
    for row in run():
        print(row)
