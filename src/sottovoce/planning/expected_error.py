"""The L2 error to expect for one population: a bound that holds for every population is often far above it."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from sottovoce.core.errors import CapacityError
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population

__all__ = ["ExpectedError", "expected_l2"]

_MOST_PEOPLE: Final = 2**17
"""People that are simulated at most; of more, raw answers are as far off in proportion."""

_MOST_VALUES, _MOST_CELLS = 2**14, 2**22
"""Answers and values, and counters, up to which surveys are simulated."""

_REPEATS: Final = 4
_SEED: Final = 20_001


class ExpectedError(NamedTuple):
    """An expected L2 error, and for whom: "uniform values", or "the given population"."""

    l2: float
    people: str


def expected_l2(design: Strategy, people: int, population: Population | None = None) -> ExpectedError | None:
    """The mean L2 error of projected answers in a few seeded surveys; None where values cannot be listed.

    Of more people than can be simulated quickly: the root of the total variance of raw answers, which projection
    only reduces; and never more than what is proved for every population.

    Examples
    --------
    >>> from sottovoce import Survey, shares
    >>> design = Survey(shares(200), epsilon=0.5).design
    >>> error = expected_l2(design, 20_000)
    >>> error.people, round(error.l2, 2), round(design.bound(20_000).value, 2)
    ('uniform values', 0.15, 0.39)
    """
    workload = design.workload
    values = workload.n_values
    if values is None or (population is not None and population.shares is None):
        return None
    if max(values, workload.n_queries) > _MOST_VALUES or design.mechanism.cells > _MOST_CELLS:
        return None
    shares = np.full(values, 1 / values) if population is None or population.shares is None else population.shares
    whom = "uniform values" if population is None else "the given population"
    try:
        raw = math.sqrt(design.total_variance(shares, people).value) + design.answer_bias
        error = raw if people > _MOST_PEOPLE else min(raw, _simulated(design, people, shares))
        return ExpectedError(min(error, design.bound(people).value), whom)
    except CapacityError:
        return None


def _simulated(design: Strategy, people: int, shares: Floats) -> float:
    truth, errors = design.workload.matvec(shares), []
    for repeat in range(_REPEATS):
        rng = np.random.default_rng((_SEED, repeat))
        counts = design.mechanism.empty()
        inputs = design.inputs(rng.choice(len(shares), size=people, p=shares / shares.sum()))
        design.mechanism.count_into(counts, design.mechanism.randomize_many(inputs, rng))
        errors.append(float(np.linalg.norm(design.read(counts, people).projected.values - truth)))
    return float(np.mean(errors))
