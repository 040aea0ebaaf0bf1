"""Numbers: the least worst variance, unbiased estimates, exact variances, answers in the unit, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MechanismError, PlanError, SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.domain import NumberGrid
from sottovoce.domain.number import STEPS
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.rounded_channel import RoundedChannel
from sottovoce.questions import Number
from sottovoce.strategies.minimax import MinimaxStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search.minimax import least_worst_channel, worst_between
from sottovoce.workloads import Prefix
from sottovoce.workloads.table import Moments

TABLE = {0.5: 16.00, 1.0: 3.991, 2.0: 0.8655, 3.0: 0.3041, 4.0: 0.1272}
"""The least worst n Var on [-1, 1], by epsilon."""


@cache
def survey(wants: str, epsilon: float = 1.0, points: int | None = None) -> sv.Survey:
    return sv.Survey(sv.number(-100, 500, "minutes", wants=wants, points=points), epsilon=epsilon)


def mean_design(epsilon: float, points: int = 33) -> MinimaxStrategy:
    return MinimaxStrategy.best(Moments(NumberGrid(-1, 1, points=points)), epsilon)


# --- the linear program -------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", TABLE)
def test_the_worst_variance_is_within_a_hundredth_of_the_best_known(epsilon: float) -> None:
    design = mean_design(epsilon, 65)
    assert TABLE[epsilon] * 0.999 < design.worst < TABLE[epsilon] * 1.01
    assert design.mechanism.report_bytes == 1
    assert len(design.attachment) < 4096


@pytest.mark.parametrize("epsilon", [2.0**-20, 0.01, 0.3, 7.0, 10.0, 16.0])
def test_extreme_epsilons(epsilon: float) -> None:
    """Never worse than two points, whose worst variance is coth(epsilon/2)^2, and far better for a large epsilon."""
    design = mean_design(epsilon, 65)
    two_points = 1 / math.tanh(epsilon / 2) ** 2
    assert design.worst < two_points * (1.02 if epsilon < 1e-3 else 1 + 1e-6)
    assert design.worst < {7.0: 0.014, 10.0: 0.0021, 16.0: 0.0006}.get(epsilon, math.inf)
    assert design.bias_bound < 1e-6 * max(1.0, two_points**0.5)


@pytest.mark.parametrize("points", [2, 3, 4, 16, 17])
def test_few_points_odd_and_even(points: int) -> None:
    """Two points are randomized response; rounding to few costs the spacing's square over four, at most."""
    design = mean_design(2.0, points)
    spacing = 2 / (points - 1)
    assert design.worst < 0.8655 * 1.02 + spacing**2 / 4 + 1e-3
    if points == 2:
        assert design.worst == pytest.approx(1 / math.tanh(1.0) ** 2, rel=1e-3)


def test_too_many_points_are_refused_by_name() -> None:
    with refuses(SurveyError, "strategy") as caught:
        sv.Survey(sv.number(0, 1, points=130), epsilon=1.0)
    assert "minimax" in str(caught.value)


def test_worst_between_grid_points_is_the_largest_of_all() -> None:
    design = mean_design(4.0, 9)
    x = np.linspace(-1, 1, 9)
    moments = np.square(design._units) @ design._channel
    dense = np.linspace(-1, 1, 100_001)
    brute = float((np.interp(dense, x, moments) - dense**2).max())
    assert brute <= worst_between(x, moments) <= brute + 1e-9
    assert design.worst == pytest.approx(worst_between(x, moments))
    assert design.worst > float((moments - x**2).max()), "between them it is larger"


# --- exact -----------------------------------------------------------------------------------


def test_estimates_are_unbiased_and_variances_exact_everywhere() -> None:
    """By fractions, at grid points, between them and at the ends."""
    design = mean_design(1.0, 5)
    channel, y = design.mechanism, [Fraction(e) for e in design.estimates]
    for position in (0, 1, STEPS - 1, STEPS, 3 * STEPS // 2, 2 * STEPS + 1, 4 * STEPS):
        chances = [channel.probability(k, position) for k in range(channel.cells)]
        x = Fraction(position, 2 * STEPS) - 1
        assert sum(chances) == 1
        mean = sum(p * e for p, e in zip(chances, y, strict=True))
        assert abs(mean - x) < 1e-8
        variance = sum(p * e**2 for p, e in zip(chances, y, strict=True)) - mean**2
        point, beyond = divmod(position, STEPS)
        shares = np.zeros(5)
        shares[point] = 1 - beyond / STEPS
        shares[min(point + 1, 4)] += beyond / STEPS
        assert design.variance(None, shares).value[0] == pytest.approx(float(variance), rel=1e-7)
        assert float(variance) <= design.worst * (1 + 1e-9)


def test_the_channel_between_grid_points_is_private_by_brute_force() -> None:
    channel = RoundedChannel.miniatures(1.0)[0]
    rows = [[channel.probability(k, v) for v in range(channel.domain_size)] for k in channel.outputs()]
    assert max(max(row) / min(row) for row in rows) == channel.privacy_ratio() <= Fraction(math.exp(1.0))


def test_simulated_reports_have_the_stated_law() -> None:
    """Chi square over all reports of a number between grid points; its tail at 1e-6 is below 60 for 24 degrees."""
    channel = RoundedChannel(STEPS * 8 + 1, 2.0, least_worst_channel(9, 2.0).matrix)
    position, n = 3 * STEPS + 20_000, 200_000
    batch = channel.randomize_many(np.full(n, position), np.random.default_rng(3))
    counts = np.bincount(batch, minlength=channel.cells)
    expected = n * np.array([float(channel.probability(k, position)) for k in range(channel.cells)])
    assert channel.cells <= 25
    assert float(((counts - expected) ** 2 / expected).sum()) < 60


def test_positions_that_do_not_fit_are_refused() -> None:
    matrix = RoundedChannel.miniatures(1.0)[0].matrix
    for positions in (3, 4, 6):
        with refuses(MechanismError, "matrix"):
            RoundedChannel(positions, 1.0, matrix)
    with pytest.raises(MechanismError, match="not private enough"):
        RoundedChannel(5, 0.5, matrix)
    with refuses(MechanismError, "matrix"):
        RoundedChannel(5, 1.0, matrix.integers)  # type: ignore[arg-type]


# --- surveys -----------------------------------------------------------------------------------


@pytest.mark.parametrize("wants", ["mean", "spread", "distribution"])
def test_json_round_trip_and_reports(wants: str) -> None:
    asked = survey(wants)
    again = sv.Survey.from_json(asked.to_json(), asked.attachments)
    assert (again.id, again) == (asked.id, asked)
    assert asked.question.to_statement() == {
        "kind": "number",
        "low": -100.0,
        "high": 500.0,
        "unit": "minutes",
        "wants": wants,
        "points": asked.question.grid.points,
    }
    assert len(asked.randomize(33.3)) == 5
    for odd in ("33.3", None, math.nan, True):
        with pytest.raises(ValueOutsideDomainError):
            asked.randomize(odd)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"wants": "median"}, "wants"),
        ({"wants": ["mean"]}, "wants"),
        ({"low": 500}, "low"),
        ({"points": 1}, "points"),
        ({"unit": "\n"}, "unit"),
        ({"more": 1}, "question"),
        ({"points": 33}, "workload"),
    ],
)
def test_statements_that_were_tampered_with_are_refused(change: dict[str, Any], field: str) -> None:
    statement = survey("mean").to_statement()
    statement["question"] = {**statement["question"], **change}
    with refuses(SurveyError, field):
        sv.Survey.from_statement(statement, survey("mean").attachments)


def test_attachments_that_were_tampered_with_are_refused() -> None:
    design = mean_design(1.0, 5)
    matrix, workload = design.mechanism.matrix, design.workload
    good = np.array(design.estimates)
    for wrong in (good[:-1], np.full(len(good), np.nan), good * 1e12, np.zeros((2, 2))):
        with refuses(MechanismError, "estimates"):
            MinimaxStrategy.of(workload, 1.0, matrix, wrong)
    with pytest.raises(MechanismError, match="not private enough"):
        MinimaxStrategy.of(workload, 0.9, matrix, good)
    with refuses(SurveyError, "strategy"):
        MinimaxStrategy.of(Moments(workload.grid, spread=True), 1.0, matrix, good)  # type: ignore[attr-defined]
    with refuses(SurveyError, "strategy"):
        MinimaxStrategy.of(Prefix(5), 1.0, matrix, good)
    other = ChannelMatrix(matrix.integers[:, :4], matrix.bits)
    with refuses((WorkloadError, MechanismError), "matrix"):
        MinimaxStrategy.of(workload, 1.0, other, good)


def test_simulations_clip_as_devices_do() -> None:
    question = survey("mean").question
    people = question.people([-1e9, 1e9, 200.0])
    assert people.between(0, 3).tolist() == [question.private_input(v) for v in (-100, 500, 200)]
    bins = survey("distribution", points=6).question
    assert bins.people([-1e9, -100, 0, 0.01, 500, 1e9]).between(0, 6).tolist() == [0, 0, 0, 1, 5, 5]
    assert [bins.private_input(v) for v in (0, 0.01)] == [0, 1]
    assert bins.label(0) == "<= 0 minutes"
    histogram = np.bincount([0, 0, 64], minlength=65)
    assert question.people_of_histogram(histogram).between(0, 3).tolist() == [0, 0, 64 * STEPS]


def test_values_by_number_are_the_inputs_of_that_number() -> None:
    for wants in ("mean", "distribution"):
        question = survey(wants).question
        numbers = [0, 1, 17, question.n_possible // 3, question.n_possible - 1]
        assert [question.private_input(question.audit_trials().value(k)) for k in numbers] == numbers


# --- answers -----------------------------------------------------------------------------------

PEOPLE = np.concatenate([np.random.default_rng(7).gamma(2.0, 60.0, 60_000), np.full(100, 1e6)])
CLIPPED = PEOPLE.clip(-100, 500)


@cache
def estimate(wants: str, epsilon: float = 2.0) -> sv.Estimate:
    asked = survey(wants, epsilon)
    return asked.estimate(asked.simulate(PEOPLE, seed=11))


@pytest.mark.parametrize("wants", ["mean", "spread", "distribution"])
def test_the_mean_is_in_its_interval_and_says_what_was_clipped(wants: str) -> None:
    """One draw at level 1 - 1e-6: it fails once in a million seeds."""
    found = estimate(wants).mean(level=1 - 1e-6)
    assert found.low < CLIPPED.mean() < found.high
    assert "clipped to -100 to 500 minutes" in found.method
    assert abs(estimate(wants).mean().value - CLIPPED.mean()) < 15
    if wants == "mean":
        assert found.value == estimate(wants)["mean"].raw


@pytest.mark.parametrize("wants", ["spread", "distribution"])
def test_the_standard_deviation_is_in_its_interval(wants: str) -> None:
    found = estimate(wants).standard_deviation(1 - 1e-6)
    assert found.low < CLIPPED.std() < found.high
    assert abs(found.value - CLIPPED.std()) < 15


def test_the_grid_hardly_changes_a_standard_deviation() -> None:
    """Everybody between two grid points: rounding alone would say a quarter of the spacing's square too much."""
    asked = survey("spread", 16.0)
    grid = asked.question.grid
    x = grid.values[10] + grid.spacing / 2
    found = asked.estimate(asked.simulate(np.full(200_000, x), seed=5)).standard_deviation()
    assert found.low == 0.0
    assert found.high < grid.spacing


def test_quantiles_and_histogram() -> None:
    found = estimate("distribution")
    for q in (0.1, 0.5, 0.9):
        quantile = found.quantile(q, 1 - 1e-6)
        assert quantile.low <= np.quantile(CLIPPED, q) <= quantile.high
        assert quantile.low <= quantile.value <= quantile.high
    assert found.quantile(0).low == -100
    assert found.quantile(1).high == 500
    rows = found.histogram(1 - 1e-7)
    assert len(rows) == 64
    assert (rows[0].start, rows[-1].end) == (-100, 500)
    for row in rows:
        assert row.low <= np.mean((row.start < CLIPPED) & (row.end >= CLIPPED)) <= row.high
    assert sum(row.raw for row in rows) == pytest.approx(1.0, abs=1e-6)


def test_what_a_survey_cannot_tell_is_said() -> None:
    for ask, wanted in (
        (lambda: estimate("mean").standard_deviation(), "spread"),
        (lambda: estimate("mean").quantile(0.5), "distribution"),
        (lambda: estimate("spread").histogram(), "distribution"),
    ):
        with pytest.raises(SurveyError, match=f'wants="{wanted}"') as caught:
            ask()
        assert caught.value.field == "wants"
    shares = sv.Survey(sv.shares(["a", "b"]), epsilon=1.0)
    with refuses(SurveyError, "kind"):
        shares.estimate(shares.simulate(["a"], seed=1)).mean()
    for q in (-0.1, 1.1, "half"):
        with refuses(SurveyError, "q"):
            estimate("distribution").quantile(q)
    with refuses(SurveyError, "level"):
        estimate("mean").mean(level=95)


def test_coverage_of_the_mean_from_few_reports() -> None:
    """400 runs of 60 people at 90 %: fewer than 335 hits have probability below 1e-4 if the interval holds."""
    asked = survey("mean", 4.0)
    people = CLIPPED[:60]
    counts = [asked.simulate_aggregate(people, seed=seed) for seed in range(400)]
    found = [asked.estimate(one).mean(level=0.9) for one in counts]
    assert sum(one.low <= people.mean() <= one.high for one in found) >= 335


# --- plans -------------------------------------------------------------------------------------


def test_plans_in_the_unit() -> None:
    question = Number.of(low=0, high=600, unit="minutes")
    plan = sv.plan(question, epsilon=1.0, margin=5.0)
    again = sv.plan(question, people=plan.people, margin=5.0)
    assert again.epsilon == pytest.approx(1.0, rel=0.05)
    assert plan.survey().design.margin(plan.people) <= 5.0
    with refuses(PlanError, "epsilon"):
        sv.plan(Number.of(low=0, high=600, wants="spread"), people=1000, margin=50.0)


def test_spread_is_served_by_a_searched_channel_over_rounded_numbers() -> None:
    design = survey("spread").design
    assert isinstance(design, OptimizedStrategy)
    assert isinstance(design.mechanism, RoundedChannel)
    assert design.mechanism.report_bytes == 1
    assert (design.bias_bound > 0).all()


@pytest.mark.parametrize(("high", "points"), [(100, 100), (120, 120), (600, 60), (10, 100), (1, 3)])
def test_bins_hold_their_upper_ends(high: float, points: int) -> None:
    question = Number.of(low=0, high=high, wants="distribution", points=points)
    ends = [high * k / points for k in range(1, points + 1)]
    assert [question.private_input(end) for end in ends] == list(range(points))
    beyond = [question.private_input(math.nextafter(end, math.inf)) for end in ends]
    assert beyond == [*range(1, points), points - 1]
    assert question.ends.tolist() == [0, *ends]
    assert question.private_input(0) == 0
