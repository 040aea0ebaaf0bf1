"""The curve of a tracking survey: gaps, open periods, band, differences, trend, smoothing; and simulated histories."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MismatchError, NoReportsError, SimulationError, SottovoceError, SurveyError
from sottovoce.estimates.curve import Curve
from sottovoce.estimates.trend import line_through, smoothed
from sottovoce.figures.style import new_figure
from sottovoce.surveys.survey import Tracking

SHARES = np.array([0.2, 0.25, 0.3, 0.35, 0.4, 0.45])


def weekly(question: Any = None, epsilon: float = 2.0, **more: Any) -> Tracking:
    asked = sv.questions.Shares(["yes", "no"]) if question is None else question
    given = {"periods": 6, "every": "week", "starts": "2027-01-04", **more}
    return sv.Tracking(asked, epsilon=epsilon, **given)


@pytest.fixture(scope="module")
def tracking() -> Tracking:
    return weekly()


@pytest.fixture(scope="module")
def aggregates(tracking: Tracking) -> dict[int, sv.Aggregate]:
    people = np.arange(30_000) / 30_000
    return tracking.simulate(lambda week: np.where(people < SHARES[week - 1], "yes", "no"), seed=1)


@pytest.fixture(scope="module")
def curve(tracking: Tracking, aggregates: dict[int, sv.Aggregate]) -> Curve:
    return tracking.estimate(aggregates)


# --- series --------------------------------------------------------------------------------


def test_points_are_each_periods_own_estimate(curve: Curve) -> None:
    series = curve.series("yes")
    for point in series.points:
        answer = curve[point.period]["yes"]
        assert (point.value, point.low, point.high) == (answer.raw, answer.low, answer.high)
        assert point.band_low is not None
        assert point.band_high is not None
        assert point.band_low < answer.low
        assert point.band_high > answer.high
    assert series.each_level == 0.95 ** (1 / 6)
    assert [point.label for point in series.points][1] == "week of 11 January 2027"


def test_the_band_is_that_of_the_higher_level(curve: Curve) -> None:
    low, high = curve[3].interval(0.95 ** (1 / 6))
    point = curve.series("yes").points[2]
    assert (point.band_low, point.band_high) == (low[0], high[0])


def test_gaps_are_gaps_and_open_periods_take_no_part(tracking: Tracking, aggregates: dict[int, sv.Aggregate]) -> None:
    given = dict(aggregates) | {2: tracking.period(2).aggregate()}
    del given[4]
    found = tracking.estimate(given, closed=range(1, 6))
    series = found.series("yes")
    assert [point.state for point in series.points] == ["closed", "empty", "closed", "empty", "closed", "open"]
    assert found.closed == [1, 3, 5]
    assert [math.isnan(point.value) for point in series if point.state == "empty"] == [True, True]
    assert [point.row()["value"] for point in series if point.state == "empty"] == [None, None]
    assert math.isfinite(series.points[5].value)
    assert math.isnan(series.points[5].band_low)
    assert series.each_level == 0.95 ** (1 / 3)
    assert found.trend("yes").periods == 3
    smooth = found.smooth("yes")
    assert [point.period for point in smooth.points] == [1, 2, 3, 4, 5]
    assert repr(found) == (
        f"<curve of 6 periods, 1 open, 2 without reports, {sum(a.n_reports for a in given.values()):,} reports, "
        f"{found.tracking.promise}>"
    )
    with refuses(NoReportsError, "later"):
        found.difference(2, 1, "yes")
    frame = found.to_pandas("yes")
    assert math.isnan(frame.loc[2, "value"])


def test_an_open_period_holds_at_every_look_and_a_closed_one_at_one(
    tracking: Tracking, aggregates: dict[int, sv.Aggregate]
) -> None:
    found = tracking.estimate(aggregates, closed=range(1, 6))
    points, fixed = found.series("yes").points, found.series("yes", always=False).points
    assert [(point.low, point.high) for point in points[:5]] == [(point.low, point.high) for point in fixed[:5]]
    assert points[5].low < fixed[5].low < fixed[5].high < points[5].high
    assert (points[5].low, points[5].high) == tuple(float(end[0]) for end in found[6].interval(always=True))
    assert found.to_dict("yes")["always"] == "population"
    assert found.to_dict("yes", always=False)["always"] is None
    assert tracking.estimate(aggregates).to_dict("yes")["always"] is None
    with refuses(SurveyError, "always"):
        found.series("yes", always="now")


def test_an_open_period_without_reports_is_open(tracking: Tracking, aggregates: dict[int, sv.Aggregate]) -> None:
    given = dict(aggregates) | {6: tracking.period(6).aggregate()}
    found = tracking.estimate(given, closed=range(1, 6))
    last = found.series("yes").points[-1]
    assert (last.state, last.row()["value"], last.n_reports) == ("open", None, 0)
    found.plot("yes", smooth=True)


# --- which answer --------------------------------------------------------------------------


def test_functions_of_an_estimate(curve: Curve) -> None:
    def lead(estimate: sv.Estimate, level: float) -> Any:
        return estimate.difference("yes", "no", level)

    series = curve.series(lead)
    assert series.answer == "lead"
    assert series.points[0].value == pytest.approx(2 * curve[1]["yes"].raw - 1)
    # A difference of two shares that sum to one has twice the slope; its variances are those of its intervals.
    assert curve.trend(lead).slope == pytest.approx(2 * curve.trend("yes").slope, rel=0.02)


def test_numbers_are_followed_by_their_mean() -> None:
    question = sv.questions.Number.of(low=0, high=100, unit="km", wants="distribution", points=8)
    tracking = weekly(question, periods=4)
    rng = np.random.default_rng(1)
    found = tracking.estimate(tracking.simulate([rng.normal(40 + 5 * week, 5, 20_000) for week in range(4)], seed=1))
    series = found.series()
    mean = found[1].mean()
    assert (series.answer, series.unit) == ("mean", "km")
    assert (series.points[0].value, series.points[0].low) == (mean.value, mean.low)
    assert found.trend().low < 5 < found.trend().high
    assert found.series("median").points[0].value == found[1].quantile(0.5).value
    assert found.series("standard deviation").points[0].value == found[1].standard_deviation().value
    assert not found.to_dict()["share"]
    assert found.to_dict(question.label(0))["share"]
    with refuses(SurveyError, "answer"):
        found.series("height")
    assert "mean" in found._repr_html_()


def test_records_choices_queries_and_vectors_have_curves() -> None:
    people = 4000
    cases: list[tuple[Any, Any, Any]] = [
        (sv.questions.Records.of(attributes={"plan": ["free", "pro"], "age": 3}), [("pro", 1)] * people, "plan=pro"),
        (sv.questions.Choices.of(options=["bus", "tram"], most=2), [{"bus"}] * people, "bus"),
        (sv.questions.Vector(1, 1.0), np.full((people, 1), 0.5), None),
    ]
    for question, values, answer in cases:
        tracking = weekly(question, periods=3)
        found = tracking.estimate(tracking.simulate([values] * 3, seed=2))
        truth = 0.5 if answer is None else 1.0
        assert all(point.band_low <= truth <= point.band_high for point in found.series(answer).points)  # type: ignore[operator]
        assert json.dumps(found.to_dict(answer, smooth=True))


@pytest.mark.parametrize("answer", [None, "maybe", lambda estimate, level: 1.0])
def test_bad_answers(curve: Curve, answer: Any) -> None:
    with refuses(SottovoceError, "answer"):
        curve.series(answer)


# --- differences, trend, smoothing -----------------------------------------------------------


def test_a_difference_is_the_recovered_variances_of_both(curve: Curve) -> None:
    picked = curve.tracking.question.followed("yes")
    later, earlier = (picked.arm(curve[period], 0.95) for period in (5, 2))
    found = curve.difference(5, 2, "yes")
    assert found.value == found.raw == curve[5]["yes"].raw - curve[2]["yes"].raw
    assert found.low == pytest.approx(found.value - math.hypot(later.raw - later.low, earlier.high - earlier.raw))
    assert found.high == pytest.approx(found.value + math.hypot(later.high - later.raw, earlier.raw - earlier.low))
    assert "MOVER" in found.method
    back = curve.difference(2, 5, "yes")
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))


def test_a_difference_respects_what_is_possible() -> None:
    """Everybody, then nobody says yes: raw shares may be impossible, and their difference too."""
    tracking = weekly(periods=2, epsilon=1.0)
    for seed in range(5):
        found = tracking.estimate(tracking.simulate([["yes"] * 100, ["no"] * 100], seed=seed))
        change = found.difference(2, 1, "yes")
        assert -1 <= change.low < change.high <= 1
        assert change.low <= change.value <= change.high


@pytest.mark.parametrize("answer", ["mean", "standard deviation", "median", None, lambda e, level: e.mean(level)])
def test_every_answer_has_a_difference(answer: Any) -> None:
    tracking = sv.Tracking(
        sv.number(0, 10, wants="distribution", points=16), periods=2, every="week", starts="2027-01-04", epsilon=2.0
    )
    curve = tracking.estimate(tracking.simulate([[1.0] * 4_000, [9.0] * 4_000], seed=1))
    change = curve.difference(2, 1, answer)
    truth = 0.0 if answer == "standard deviation" else 8.0
    assert change.low < truth < change.high
    assert change.low <= change.value <= change.high
    assert ("MOVER" in change.method) == (answer in ("mean", None))


def test_the_line_is_weighted_least_squares() -> None:
    """Against the closed form for equal variances, and two points that pin the line down."""
    at, values = np.arange(1.0, 6.0), np.array([1.0, 2.1, 2.9, 4.2, 5.0])
    same = np.full(5, 0.04)
    found = line_through("x", "", at, values, same, same, 0.95)
    assert found.slope == pytest.approx(np.polyfit(at, values, 1)[0])
    assert found.high - found.slope == pytest.approx(1.959964 * math.sqrt(0.04 / 10))
    assert found.statistic == pytest.approx(((values - values.mean()) ** 2).sum() / 0.04)
    assert (found.degrees, found.periods) == (4, 5)
    assert found.p_value < 1e-9
    flat = line_through("x", "km", at, np.zeros(5), same, same, 0.95)
    assert (flat.slope, flat.p_value, flat.p_value_change) == (0.0, 1.0, 1.0)
    assert str(flat).startswith("+0 km per period")
    # Two points known well, and one hardly at all: the line is the one through the two.
    unequal = np.array([1e-8, 1e-8, 1.0])
    pinned = line_through("x", "", at[:3], np.array([1.0, 2.0, 9.0]), unequal, unequal, 0.95)
    assert pinned.slope == pytest.approx(1.0, abs=1e-6)


def test_too_few_periods_are_refused() -> None:
    tracking = weekly(periods=2)
    found = tracking.estimate(tracking.simulate([["yes"] * 500] * 2, seed=1))
    with pytest.raises(NoReportsError, match="needs 3 closed periods with reports, and there are 2"):
        found.trend("yes")
    with pytest.raises(NoReportsError, match="needs 3 closed periods"):
        found.smooth("yes")
    assert found.to_dict("yes", smooth=True)["trend"] is None
    begun = tracking.estimate({1: tracking.period(1).simulate_aggregate(["yes"] * 9, seed=1)}, closed=[])
    with pytest.raises(NoReportsError, match="there are 0"):
        begun.trend("yes")
    with pytest.raises(NoReportsError, match="there are 0"):
        begun.smooth("yes")


def test_smoothing_is_the_posterior_of_a_random_walk() -> None:
    """Against the normal equations of the same model, with a gap; and the step against a fine grid of likelihoods."""
    rng = np.random.default_rng(4)
    at = np.array([k for k in range(1, 41) if k not in (7, 8, 20)], dtype=float)
    truth = np.cumsum(rng.normal(0, 0.02, 41))
    noise = rng.uniform(1e-4, 4e-4, len(at))
    values = truth[at.astype(int)] + rng.normal(0, np.sqrt(noise))
    found = smoothed("x", "", at, values, noise, 0.95, (-np.inf, np.inf))
    n, q = 40, found.step**2
    steps = np.diff(np.eye(n), axis=0)
    precision, pull = steps.T @ steps / q, np.zeros(n)
    for place, value, variance in zip(at.astype(int) - 1, values, noise, strict=True):
        precision[place, place] += 1 / variance
        pull[place] += value / variance
    covariance = np.linalg.inv(precision)
    means = covariance @ pull
    assert [point.value for point in found.points] == pytest.approx(means, abs=1e-9)
    halves = [(point.high - point.low) / 2 for point in found.points]
    assert halves == pytest.approx(1.959964 * np.sqrt(np.diag(covariance)), rel=1e-5)

    def likelihood(step: float) -> float:
        """Of the differences from the first estimate, whose covariance is known."""
        gaps = at - at[0]
        whole = step * np.minimum.outer(gaps, gaps) + np.diag(noise)
        contrast = np.hstack([-np.ones((len(at) - 1, 1)), np.eye(len(at) - 1)])
        covered = contrast @ whole @ contrast.T
        return float(-np.linalg.slogdet(covered)[1] - (contrast @ values) @ np.linalg.solve(covered, contrast @ values))

    best = likelihood(q)
    assert all(likelihood(q * factor) <= best + 1e-9 for factor in (0.5, 0.9, 1.1, 2.0))
    assert "independent normal steps" in found.assumption
    assert "holds only if it does" in found.assumption


def test_what_does_not_move_is_smoothed_to_its_mean() -> None:
    noise = np.array([1.0, 2.0, 1.0, 4.0])
    found = smoothed("x", "", np.arange(1.0, 5.0), np.full(4, 3.0), noise, 0.95, (0.0, 3.1))
    assert found.step == 0.0
    assert {round(point.value, 9) for point in found.points} == {3.0}
    assert all(point.high == 3.1 for point in found.points), "the limits of possible answers are kept"


# --- other forms ----------------------------------------------------------------------------


def test_plain_values_table_and_html(curve: Curve) -> None:
    plain = json.loads(json.dumps(curve.to_dict("yes", smooth=True)))
    assert plain["kind"] == "tracking"
    assert plain["share"]
    assert plain["points"][0]["starts"] == "2027-01-04"
    assert plain["trend"]["slope"] == curve.trend("yes").slope
    assert len(plain["smooth"]["points"]) == 6
    assert curve.to_dict("yes")["smooth"] is None
    assert list(curve.to_pandas("yes").index) == [1, 2, 3, 4, 5, 6]
    assert curve._repr_html_().count("<tr>") == 7


def test_the_picture_leaves_gaps(tracking: Tracking, aggregates: dict[int, sv.Aggregate]) -> None:
    given = {k: one for k, one in aggregates.items() if k not in (2, 4)}
    ax = tracking.estimate(given).plot("yes", smooth=True, ax=new_figure(6, 3).subplots())
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["band, all periods together", "estimate", "smoothed"]
    points = next(line for line in ax.get_lines() if line.get_label() == "estimate")
    assert len(points.get_xdata()) == 4
    assert len(ax.collections) == 4, "three pieces of the band, and the intervals"
    assert "holds only if it does" in ax.get_title(loc="left").replace("\n", " ")


def test_the_picture_marks_the_days_on_which_periods_begin(
    tracking: Tracking, aggregates: dict[int, sv.Aggregate]
) -> None:
    ax = tracking.estimate(aggregates).plot("yes")
    assert [text.get_text() for text in ax.get_xticklabels()][:2] == ["4 Jan\n2027", "11 Jan"]


# --- what is given --------------------------------------------------------------------------


def test_aggregates_of_other_periods_are_refused(tracking: Tracking, aggregates: dict[int, sv.Aggregate]) -> None:
    with refuses(MismatchError, "aggregates"):
        tracking.estimate({2: aggregates[1]})
    with refuses(SurveyError, "period"):
        tracking.estimate({1: aggregates[1], "2": aggregates[2]})  # type: ignore[dict-item]
    with refuses(MismatchError, "aggregates"):
        tracking.estimate({1: 5})  # type: ignore[dict-item]
    with refuses(NoReportsError, "aggregates"):
        tracking.estimate({})
    with refuses(SurveyError, "earlier"):
        tracking.estimate(aggregates).difference(1, 1, "yes")


# --- simulated histories ---------------------------------------------------------------------


def test_everybody_answers_once_per_window() -> None:
    tracking = weekly(periods=6, renews=3)
    done: list[int] = []
    found = tracking.simulate(np.tile(np.array([["yes"], ["no"]]), (500, 6)), seed=1, progress=done.append)
    assert sorted(found) == [1, 2, 3, 4, 5, 6]
    assert sum(found[k].n_reports for k in (1, 2, 3)) == 1000
    assert sum(found[k].n_reports for k in (4, 5, 6)) == 1000
    assert sum(done) == 2000
    assert all(found[k].survey.id == tracking.period(k).id for k in found)


def test_seats_are_even_and_drawn_anew_in_every_window() -> None:
    """Chi-square over three seats and over the nine pairs of two windows: below 40 but for 1e-6."""
    tracking = weekly(periods=6, renews=3, epsilon=16.0)
    people = 9000
    # A person's value is whether its number is odd; at epsilon 16 a report is the value.
    counts = [tracking.simulate([np.repeat(["yes", "no"], people // 2)] * 6, seed=seed) for seed in (1, 2)]
    for found in counts:
        sizes = np.array([found[k].n_reports for k in range(1, 7)]).reshape(2, 3)
        assert ((sizes - people / 3) ** 2 / (people / 3)).sum(axis=1).max() < 28
        yes = [found[k].counts[0] / found[k].n_reports for k in range(1, 7)]
        assert np.abs(np.array(yes) - 0.5).max() < 5 * 0.5 / math.sqrt(people / 3)
    assert [counts[0][k].n_reports for k in (1, 2, 3)] != [counts[0][k].n_reports for k in (4, 5, 6)]
    assert counts[0] != counts[1]


def test_a_seed_gives_the_same_reports_in_every_form() -> None:
    tracking = weekly(periods=3)
    values = np.random.default_rng(1).choice(["yes", "no"], (400, 3))
    forms: list[Any] = [values, [values[:, k] for k in range(3)], lambda k: values[:, k - 1], values.T.tolist()]
    found = [tracking.simulate(form, seed=5) for form in forms]
    assert all(one == found[0] for one in found)


def test_an_early_end_and_columns() -> None:
    tracking = weekly(sv.questions.Records.of(attributes={"plan": ["free", "pro"], "age": 3}), periods=None, renews=4)
    columns = {"plan": np.array(["free", "pro"] * 50), "age": np.arange(100) % 3}
    assert sorted(tracking.simulate([columns] * 3, seed=1)) == [1, 2, 3]
    with refuses(SimulationError, "histories"):
        tracking.simulate(lambda week: columns, seed=1)
    with refuses(SimulationError, "histories"):
        tracking.simulate([columns | {"age": np.arange(3)}], seed=1)


@pytest.mark.parametrize(
    "histories",
    [
        5,
        "yes",
        np.array(["yes"]),
        [["yes"]] * 7,
        [],
        [["yes"], ["yes", "no"]],
        [5],
    ],
)
def test_bad_histories(tracking: Tracking, histories: Any) -> None:
    with refuses(SimulationError, "histories"):
        tracking.simulate(histories, seed=1)
