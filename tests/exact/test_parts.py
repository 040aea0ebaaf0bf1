"""Combinations of few answers from few reports: exact coverage, and a choice of method that no count can change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import gammaln

import sottovoce as sv
from sottovoce.estimates.intervals import Observed, certified_interval
from sottovoce.estimates.parts import PARTS, interval_by_parts

N = 6
COUNTS = np.array([(i, j, N - i - j) for i in range(N + 1) for j in range(N + 1 - i)])
SHARES = np.array([(i, j, 6 - i - j) for i in range(7) for j in range(7 - i)]) / 6
ROWS = [(1.0, -0.5, 0.0)]


def both(row: tuple[float, ...], level: float) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Methods and ends for all counts, by rule and by the combination's own law; and the channel."""
    design = sv.Survey(sv.shares(["a", "b", "c"]), epsilon=4.0, mechanism="randomized_response").design
    weights, methods, chosen, own = np.array([row]), [], [], []
    for counts in COUNTS:
        raw = design.mechanism.estimate(counts, N)
        combined = Observed(design, weights @ raw, N, counts, np.array([min(row)]), np.array([max(row)]), weights)
        interval = interval_by_parts(combined, Observed(design, raw, N, counts, 0.0, 1.0), level, 1)
        methods.append(interval.method)
        chosen.append((interval.low[0], interval.high[0]))
        alone = certified_interval(combined, level)
        own.append((alone.low[0], alone.high[0]))
    channel = np.array([[float(design.mechanism.probability(r, v)) for v in range(3)] for r in range(3)])
    return methods, np.array(chosen), np.array(own), channel


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_combinations_by_parts_hold(row: tuple[float, ...], level: float) -> None:
    methods, ends, own, channel = both(row, level)
    assert len({PARTS in method for method in methods}) == 1, "the choice depends on design and number of reports"
    if level == 0.95:
        assert PARTS in methods[0]
        assert (ends[:, 1] - ends[:, 0]).mean() < (own[:, 1] - own[:, 0]).mean()
    assert (ends[:, 0] < ends[:, 1]).all()
    ways = np.exp(gammaln(N + 1) - gammaln(COUNTS + 1).sum(axis=1))
    for shares in SHARES:
        truth = float(np.array(row) @ shares)
        held = (ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])
        assert (ways * np.prod((channel @ shares) ** COUNTS, axis=1))[held].sum() >= level


def test_many_reports_and_parts_are_left_to_the_combination() -> None:
    survey = sv.Survey(sv.shares(8), epsilon=1.0)
    small, large = (survey.estimate(survey.simulate([0, 1, 2, 3] * size, seed=1)) for size in (8, 2_000))
    assert PARTS not in large.combine({0: 2, 1: -1}).method
    assert PARTS not in small.combine({0: 2, 1: -1, 2: 1, 3: -1, 4: 1}).method
