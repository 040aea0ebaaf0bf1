"""Differences of two independent answers: exact coverage by enumeration, at the ends too, and the fault of cut arms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from sottovoce.estimates.differences import Arm, difference_of_arms
from sottovoce.estimates.intervals import Observed, uncut_interval

DESIGNS = [(1.0, 20, 20), (1.0, 15, 60), (4.0, 25, 25)]
SHARES = [(1.0, 0.0), (0.0, 0.0), (1.0, 1.0), (0.9, 0.05), (0.5, 0.5), (0.3, 0.6)]


def arms(epsilon: float, n: int) -> tuple[list[Arm], np.ndarray]:
    """The arm of every count of n bits; and the chances of a bit for people who answer no, and yes."""
    design = sv.Survey(sv.shares(["yes", "no"]), epsilon=epsilon, mechanism="randomized_response").design
    low, high = design.mechanism.two_outcomes
    every = []
    for raw in low + (high - low) * np.arange(n + 1) / n:
        uncut = uncut_interval(Observed(design, np.array([raw, 1 - raw]), n, None, 0.0, 1.0), 0.95)
        every.append(Arm(raw, float(uncut.low[0]), float(uncut.high[0]), 0.0, uncut.method))
    return every, -low / (high - low) + np.array([0.0, 1.0]) / (high - low)


def least_coverage(epsilon: float, n: int, m: int, cut: bool) -> tuple[float, list[float]]:
    """The least exact coverage over `SHARES`, and all widths."""
    (first, chances), (second, _) = arms(epsilon, n), arms(epsilon, m)
    if cut:
        first, second = ([_cut(arm) for arm in every] for every in (first, second))
    ends = np.array([difference_of_arms(a, b, (0.0, 1.0))[:2] for a, b in itertools.product(first, second)])
    least = 1.0
    for yes, before in SHARES:
        laws = [
            binom.pmf(np.arange(size + 1), size, chances @ [1 - share, share])
            for size, share in ((n, yes), (m, before))
        ]
        held = (ends[:, 0] <= yes - before + 1e-12) & (yes - before - 1e-12 <= ends[:, 1])
        least = min(least, float(np.outer(*laws).ravel()[held].sum()))
    return least, (ends[:, 1] - ends[:, 0]).tolist()


def _cut(arm: Arm) -> Arm:
    raw, low, high = (min(max(end, 0.0), 1.0) for end in arm[:3])
    return arm._replace(raw=raw, low=low, high=high)


@pytest.mark.parametrize(("epsilon", "n", "m"), DESIGNS)
def test_uncut_arms_hold(epsilon: float, n: int, m: int) -> None:
    coverage, widths = least_coverage(epsilon, n, m, cut=False)
    assert coverage >= 0.95
    assert min(widths) > 0


@pytest.mark.parametrize(("epsilon", "n", "m"), DESIGNS[:2])
def test_arms_that_are_cut_first_would_be_noticed(epsilon: float, n: int, m: int) -> None:
    assert least_coverage(epsilon, n, m, cut=True)[0] < 0.9


def test_an_arm_knows_nothing_of_the_range() -> None:
    every, _ = arms(1.0, 30)
    assert every[0].high < 0
    assert every[-1].low > 1
    for arm in every:
        assert arm.low <= arm.raw <= arm.high


@pytest.mark.parametrize("wants", ["mean", "spread"])
def test_arms_of_numbers_are_as_wide_beyond_the_range(wants: str) -> None:
    """The deviation is that of the nearest possible answer, not of the impossible one."""
    tracking = sv.Tracking(sv.number(0, 10, wants=wants), periods=2, every="week", starts="2027-01-04", epsilon=1.0)
    curve = tracking.estimate(tracking.simulate([[10.0] * 300, [0.0] * 300], seed=4))
    picked = tracking.question.followed("mean")
    for period in (1, 2):
        arm = picked.arm(curve[period], 0.95)
        assert arm.high - arm.low > 1
        assert arm.low < arm.raw < arm.high
    change = curve.difference(2, 1)
    assert -10 <= change.low < change.high <= 10
