"""Measured errors of raw and projected answers against their bounds.

Alpha: the mean error of a run is compared with the bound plus 5.73 of its measured standard errors (1e-8 of a normal,
two-sided), 120 comparisons in all.
"""

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.workloads import Marginals, Prefix, Ranges

SIGMAS = 5.73
REPEATS = 15

DESIGNS = [
    (Prefix(64), "haar"),
    (Prefix(64), "histogram"),
    (Prefix(64), "factorized"),
    (Ranges(20), "hierarchical"),
    (Marginals(k=2, a=4, b=5, c=3), "fourier"),
    (Marginals(k=2, a=4, b=5, c=3), "histogram"),
    (Marginals(k=2, a=4, b=5, c=3), "direct"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("workload", "strategy"), DESIGNS, ids=lambda one: one if isinstance(one, str) else one.kind)
@pytest.mark.parametrize("n", [50, 2_000, 50_000])
def test_errors_stay_below_their_bounds(workload, strategy: str, n: int) -> None:
    survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=strategy, people=n)
    rng = np.random.default_rng(n)
    values = workload.n_values
    worst = survey.design.worst_population()
    for shares in (worst, np.eye(values)[values // 3], 1 / np.arange(1, values + 1)):
        shares = shares / shares.sum()
        truth, errors = workload.matvec(shares), []
        for seed in range(REPEATS):
            aggregate = survey.simulate_aggregate(histogram=rng.multinomial(n, shares), seed=seed)
            estimate = survey.estimate(aggregate)
            errors.append([np.linalg.norm(found - truth) for found in (estimate.values, estimate.raw)])
        mean = np.mean(errors, axis=0)
        allowed = SIGMAS * np.std(errors, axis=0, ddof=1) / math.sqrt(REPEATS)
        assert mean[0] <= estimate.bound.value + allowed[0]
        assert mean[1] <= estimate.raw_bound.value + allowed[1]
    assert mean[1] > 0.4 * estimate.raw_bound.value, "no power: a bound twice too high would pass"
