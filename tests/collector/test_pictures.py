"""Pictures of estimates: the same numbers as the estimate's, cut to the largest, and laid out as the queries are."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.collector.reading.picture import columns_of, largest, panels_of, projection_of
from sottovoce.core.errors import MechanismError
from sottovoce.domain import Domain
from sottovoce.estimates.bound_curve import bound_curve
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.questions.number import number
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Bins, Identity, Marginals, Parities, Prefix, Ranges, Stack, Workload
from sottovoce.workloads.pictures import Bars, Cdf, Heatmap, Intervals, Panel

PLACE = f"/v1/surveys/{DRINKS.id}"
PEOPLE = honest(DRINKS, "tea", 60) + honest(DRINKS, "water", 40)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """With 100 counted reports of 100 that it needs."""
    with running(tmp_path_factory.mktemp("pictures")) as api:
        api.publish(DRINKS, 100)
        api.send(DRINKS, PEOPLE)
        api.count()
        yield api


def refused(response: Any, status: int) -> tuple[str, str | None]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


def asked(workload: Workload, strategy: str = "histogram") -> Survey:
    return Survey(sv.queries(workload), epsilon=1.0, strategy=strategy)


# --- over HTTP ----------------------------------------------------------------------------------


def test_picture_has_the_numbers_of_the_estimate(api: Api) -> None:
    expected = DRINKS.estimate([report for _, report in PEOPLE])
    for level in (0.95, 0.5, 0.999):
        told = api.ask("GET", f"{PLACE}/picture?level={level}&always=0").json()
        estimate = json.loads(expected.to_json(level))
        for column, name in (("labels", "label"), ("value", "value"), ("raw", "raw"), ("low", "low"), ("high", "high")):
            assert told[column] == [answer[name] for answer in estimate["answers"]]
        for name in ("survey", "mechanism", "epsilon", "n_reports", "level", "bound", "projection_gap"):
            assert told[name] == estimate[name]
    assert (told["title"], told["kind"], told["projection"]) == (DRINKS.title, "shares", "simplex")
    assert (told["answers"], told["positions"], told["waiting"], told["minimum_reports"]) == (3, None, 0, 100)
    assert told["panels"] == [{"view": "bars", "title": "share of each value", "start": 0, "stop": 3, "shares": True}]


def test_reports_that_wait_are_told_though_the_picture_is_kept(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.send(DRINKS, PEOPLE)
        api.count()
        before = api.ask("GET", f"{PLACE}/picture").json()
        api.send(DRINKS, honest(DRINKS, "tea", 7))
        assert api.ask("GET", f"{PLACE}/picture").json() == before | {"waiting": 7}
        api.count()
        after = api.ask("GET", f"{PLACE}/picture").json()
        assert (after["n_reports"], after["waiting"]) == (107, 0)
        assert after["raw"] != before["raw"]


def test_only_the_largest(api: Api) -> None:
    whole = api.ask("GET", f"{PLACE}/picture").json()
    told = api.ask("GET", f"{PLACE}/picture?most=2.9").json()
    order = sorted(sorted(range(3), key=lambda i: (-whole["value"][i], i))[:2])
    assert told["positions"] == order
    assert told["answers"] == 3
    for column in ("labels", "value", "raw", "low", "high"):
        assert told[column] == [whole[column][i] for i in order]
    assert told["panels"] == [{"view": "bars", "title": "the 2 largest answers", "start": 0, "stop": 2, "shares": True}]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("level=0", "level"),
        ("level=1", "level"),
        ("level=nan", "level"),
        ("most=0", "most"),
        ("most=100001", "most"),
        ("most=-1", "most"),
        ("most=all", "most"),
        ("most=1&most=2", None),
        ("wait=1", None),
    ],
)
def test_parameters_out_of_range(api: Api, query: str, field: str | None) -> None:
    assert refused(api.ask("GET", f"{PLACE}/picture?{query}"), 400) == ("invalid_parameter", field)


def test_nothing_is_drawn_below_the_minimum(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS, 101)
        api.send(DRINKS, PEOPLE)
        api.count()
        assert refused(api.ask("GET", f"{PLACE}/picture"), 409) == ("too_few_reports", None)
        # What is known beforehand is told.
        assert api.ask("GET", f"{PLACE}/bound").json()["n"][0] == 100


def test_an_adaptive_survey_is_drawn_round_by_round(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(AGES)
        for what in ("picture", "bound"):
            code = refused(api.ask("GET", f"/v1/surveys/{AGES.id}/{what}"), 409)
            assert code == ("survey_panel", None)
        choice = sv.adaptive.round_of(AGES, 1, "age // 40", 3)
        names = ["young", "<b>middle</b>", "old"]
        assert api.open_round(choice, names).status_code == 201
        api.send(choice, honest(choice, {"age": 50, "smokes": "no"}, 20))
        api.count()
        told = api.ask("GET", f"/v1/surveys/{choice.id}/picture").json()
        assert (told["labels"], told["title"], told["kind"]) == (names, "age // 40", "shares")
        assert told["panels"] == [
            {"view": "bars", "title": "share of each choice", "start": 0, "stop": 3, "shares": True}
        ]
        assert api.ask("POST", f"/v1/surveys/{choice.id}/seal").status_code == 200
        question = sv.adaptive.round_of(AGES, 2, "age < 30")
        assert api.open_round(question).status_code == 201
        api.send(question, honest(question, {"age": 20, "smokes": "no"}, 20))
        api.count()
        told = api.ask("GET", f"/v1/surveys/{question.id}/picture").json()
        assert (told["labels"], told["projection"]) == (["age < 30"], "interval")
        assert 0 <= told["low"][0] <= told["value"][0] <= told["high"][0] <= 1


def test_unknown_deleted_and_without_a_token(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        assert refused(api.ask("GET", f"{PLACE}/picture"), 404)[0] == "unknown_survey"
        api.publish(DRINKS)
        assert api.ask("GET", f"{PLACE}/picture", token="").status_code == 401
        api.ask("DELETE", PLACE)
        assert refused(api.ask("GET", f"{PLACE}/picture"), 410)[0] == "survey_deleted"


def test_bound_is_the_surveys_own(api: Api) -> None:
    told = api.ask("GET", f"{PLACE}/bound").json()
    assert told["n"] == sorted(set(told["n"]))
    assert (told["n"][0], told["n"][-1]) == (100, 10**9)
    assert told["l2"] == [DRINKS.bound(n).value for n in told["n"]]
    assert told["statement"] == DRINKS.bound(100).statement
    assert all(a >= b > 0 for a, b in zip(told["margin"], told["margin"][1:], strict=False))


# --- which numbers ------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [[0.3, 0.1, 0.3, 0.2, 0.3], [0.0] * 7, [1.0], [0.5, -0.0, 0.0, 0.5]])
def test_the_largest_are_those_of_a_stable_sort(values: list[float]) -> None:
    array = np.array(values)
    for most in range(1, len(values) + 2):
        expected = sorted(np.argsort(-array, kind="stable")[:most].tolist())
        assert largest(array, most).tolist() == expected


def test_the_largest_of_many() -> None:
    values = np.random.default_rng(5).integers(0, 50, 10_000) / 50
    expected = np.sort(np.argsort(-values, kind="stable")[:777])
    assert (largest(values, 777) == expected).all()


def test_a_million_answers_come_as_few() -> None:
    survey = Survey(sv.shares(10**6), epsilon=1.0)
    estimate = survey.estimate(survey.simulate_aggregate([5] * 1000, seed=3))
    columns = columns_of(estimate, 0.95, 100)
    assert {len(column) for column in columns[:6] if column is not None} == {100}
    assert columns.positions is not None
    assert min(columns.value) >= np.sort(estimate.values)[-100]
    assert [int(label) for label in columns.labels] == columns.positions


def test_of_many_tables_the_first_ones_come_whole() -> None:
    survey = Survey(sv.records({"a": range(4), "b": range(5), "c": range(3)}, tables=2), epsilon=2.0)
    estimate = survey.estimate(survey.simulate([(0, 0, 0)] * 500, seed=1))
    columns = columns_of(estimate, 0.95, 40)
    assert [panel.title for panel in columns.panels] == ["a", "b", "c", "a x b"]
    assert columns.positions == list(range(32))
    assert columns.labels[-1] == "a=3, b=4"


# --- what is said of a number -------------------------------------------------------------------


def test_figures_of_a_number_are_those_of_the_estimate() -> None:
    survey = Survey(sv.number(0, 10, "km", wants="distribution", points=5), epsilon=2.0, strategy="haar")
    estimate = survey.estimate(survey.simulate([1.0, 2.0, 7.0] * 400, seed=1))
    figures = {figure.name: figure for figure in estimate.survey.question.figures(estimate, 0.9)}
    assert list(figures) == ["mean", "standard deviation", "lower quartile", "median", "upper quartile"]
    mean, median = estimate.mean(level=0.9), estimate.quantile(0.5, 0.9)
    assert (figures["mean"].value, figures["mean"].low, figures["mean"].high) == (mean.value, mean.low, mean.high)
    assert figures["median"].high == median.high
    assert {figure.unit for figure in figures.values()} == {"km"}
    assert (figures["standard deviation"].most, figures["mean"].most) == (5.0, 10.0)
    histogram = estimate.survey.question.histogram(estimate, 0.9)
    assert histogram is not None
    assert histogram.ends == [0, 2, 4, 6, 8, 10]
    assert sum(histogram.value) == pytest.approx(1)
    assert np.cumsum(histogram.raw) == pytest.approx(estimate.raw)


def test_numbers_of_a_form_have_their_means() -> None:
    survey = Survey(sv.records({"sex": ["f", "m"], "km": number(0, 9, "km"), "years": number(0, 90)}), epsilon=2.0)
    estimate = survey.estimate(survey.simulate([("f", 3.0, 30.0)] * 600, seed=1))
    km, years = estimate.survey.question.figures(estimate, 0.9)
    assert (km.name, km.unit, km.most, years.name, years.unit) == ("mean of km", "km", 9.0, "mean of years", "")
    assert (km.low, km.high) == (estimate.mean("km", level=0.9).low, estimate.mean("km", level=0.9).high)
    assert km.low <= 3.0 <= km.high


def test_other_surveys_have_no_figures() -> None:
    estimate = DRINKS.estimate([report for _, report in PEOPLE])
    assert estimate.survey.question.figures(estimate, 0.95) == []
    assert estimate.survey.question.histogram(estimate, 0.95) is None


# --- how they are laid out ----------------------------------------------------------------------


def covered(survey: Survey, panels: list[Panel]) -> bool:
    """Whether the slices of the panels hold each answer, and none that there is not."""
    places = [place for panel in panels for place in range(panel.start, panel.stop)]
    return set(places) == set(range(survey.n_answers))


@pytest.mark.parametrize(
    ("survey", "views"),
    [
        (Survey(sv.shares(["a", "b"]), epsilon=1.0), [Bars]),
        (Survey(sv.shares(range(5, 9)), epsilon=1.0), [Bars]),
        (Survey(sv.shares({"age": range(4), "sex": ["f", "m"]}), epsilon=1.0), [Bars, Heatmap]),
        (Survey(sv.shares({"age": 3, "sex": 2, "city": 2}), epsilon=1.0), [Bars]),
        (Survey(sv.shares({"age": 600, "sex": 2}), epsilon=1.0), [Bars]),
        (Survey(sv.vector(3, 1.0), epsilon=1.0), [Bars]),
        (asked(Identity(5)), [Bars]),
        (asked(Identity({"age": 3, "sex": 2})), [Bars, Heatmap]),
        (asked(Prefix(range(10, 15))), [Cdf]),
        (asked(Ranges(4)), [Intervals]),
        (asked(Bins(range(20), 5)), [Bars]),
        (asked(Parities(3, 2)), [Bars]),
        (asked(Marginals(k=1, age=3, sex=2)), [Bars, Bars]),
        (asked(Marginals(k=2, age=3, sex=2, city=4)), [Heatmap, Heatmap, Heatmap]),
        (asked(Marginals(k=3, age=3, sex=2, city=4)), [Bars]),
        (asked(Stack([Prefix(4), Ranges(4), Identity(4)])), [Cdf, Intervals, Bars]),
        (Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0), [Bars]),
        (
            Survey(sv.records({"age": range(3), "sex": ["f", "m"], "km": number(0, 9)}), epsilon=1.0),
            [Bars] * 3 + [Heatmap] * 3,
        ),
        (Survey(sv.number(0, 9, wants="distribution", points=4), epsilon=1.0, strategy="haar"), [Cdf]),
        (sv.adaptive.round_of(AGES, 1, "age < 30"), [Bars]),
        (sv.adaptive.round_of(AGES, 1, "age // 50", 2), [Bars]),
    ],
)
def test_every_survey_has_the_panels_that_suit_it(survey: Survey, views: list[type]) -> None:
    panels = panels_of(survey, survey.n_answers)
    assert [type(panel) for panel in panels] == views
    assert covered(survey, panels)
    assert projection_of(survey) in ("simplex", "hull of the columns", "ball", "interval", survey.question.projected_on)


def test_a_heat_map_has_the_cells_of_its_table() -> None:
    workload = Marginals(Domain.product(age=range(18, 21), sex=["f", "m"], city=["x", "y", "z", "w"]), k=2)
    for panel in workload.panels():
        assert isinstance(panel, Heatmap)
        names = [
            workload.find(f"{panel.row_name}={row}, {panel.column_name}={column}")
            for row in panel.rows
            for column in panel.columns
        ]
        assert names == list(range(panel.start, panel.stop))
    records = Survey(sv.shares({"age": range(18, 21), "sex": ["f", "m"]}), epsilon=1.0)
    table = panels_of(records, records.n_answers)[1]
    assert isinstance(table, Heatmap)
    cells = [records.answer_index({"age": int(row), "sex": column}) for row in table.rows for column in table.columns]
    assert cells == list(range(table.start, table.stop))


@pytest.mark.parametrize("line", [range(-3, 3), range(10, 0, -2), ["low", "middle", "high"], [2, 5, 9]])
def test_intervals_are_those_of_the_workload(line: Any) -> None:
    workload = Ranges(line)
    (panel,) = workload.panels()
    assert isinstance(panel, Intervals)
    values = [int(label) if panel.names is None else place for place, label in enumerate(workload.domain.labels())]
    expected = [workload.ends(query) for query in range(workload.n_queries)]
    assert panel.lows == [values[first] for first, _ in expected]
    assert panel.highs == [values[last] for _, last in expected]
    assert panel.ends == [values[0], values[-1]]
    assert panel.names == (None if panel.names is None else workload.domain.labels())
    assert (panel.names is not None) == isinstance(line[0], str)


def test_a_distribution_function_is_over_the_values() -> None:
    (ages,) = Prefix(range(30, 26, -1)).panels()
    assert isinstance(ages, Cdf)
    assert ages.x == [30, 29, 28, 27]
    assert "or above" in ages.title
    (sizes,) = Prefix(["S", "M", "L"]).panels()
    assert isinstance(sizes, Cdf)
    assert sizes.x == ["S", "M", "L"]


def test_parts_of_a_stack_say_their_weight() -> None:
    first, second = Stack([Prefix(4), Identity(4)], [1, 2.5]).panels()
    assert (first.shares, second.shares) == (True, False)
    assert "times" not in first.title
    assert second.title.endswith("times 2.5")
    assert (second.start, second.stop) == (4, 8)


# --- the bound ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "survey",
    [
        DRINKS,
        Survey(sv.vector(4, 2.0), epsilon=1.0),
        sv.adaptive.round_of(AGES, 1, "age < 30"),
        sv.adaptive.round_of(AGES, 1, "age // 50", 2),
        asked(Prefix(6)),
    ],
    ids=lambda survey: survey.kind,
)
def test_bound_curve_falls_and_agrees_with_estimates(survey: Survey) -> None:
    curve = bound_curve(survey, 4321)
    assert all(a >= b for a, b in zip(curve.l2, curve.l2[1:], strict=False))
    place = curve.n.index(4321)
    assert (curve.l2[place], curve.statement) == (survey.bound(4321).value, survey.bound(4321).statement)
    assert curve.margin[place] == survey.design.margin(4321)


def test_margin_holds_what_does_not_average_out() -> None:
    survey = Survey(sv.vector(4, 1.0), epsilon=8.0, delta=1e-6, mechanism="gaussian", people=100)
    estimate = survey.estimate_counts(np.zeros(4, dtype=np.int64), 10**9)
    low, high = estimate.interval()
    assert bound_curve(survey).margin[-1] == pytest.approx((high - low)[0] / 2, rel=1e-4)
    assert bound_curve(survey).margin[-1] > survey.mechanism.bias_bound


def test_margin_is_half_of_the_widest_interval() -> None:
    """For two values that are equally frequent a share's variance is the largest there is, and so is its interval."""
    survey = Survey(sv.shares(["a", "b"]), epsilon=1.0)
    estimate = survey.estimate(survey.simulate_aggregate(histogram=[500_000, 500_000], seed=1))
    curve = bound_curve(survey, 1_000_000)
    low, high = estimate.interval()
    assert curve.margin[curve.n.index(1_000_000)] == pytest.approx((high - low)[0] / 2, rel=0.005)


@pytest.mark.parametrize("mechanism", serving(FiniteMechanism))
@pytest.mark.parametrize("size", [3, 2**20])
def test_every_mechanism_has_a_curve_whatever_the_size(mechanism: str, size: int) -> None:
    try:
        survey = Survey(sv.shares(size), epsilon=1.0, mechanism=mechanism)
    except MechanismError:  # a report of a million bits
        assert size > 3
        return
    curve = bound_curve(survey, 1000)
    assert all(margin > 0 for margin in curve.margin)
    # No population's share is less certain than that, so neither is that of a value nobody has.
    if size == 3:
        everybody_elsewhere = np.array([0.0, 0.0, 1.0])
        variance = survey.mechanism.variance(everybody_elsewhere, 1000)[0]
        here = curve.margin[curve.n.index(1000)]
        assert here >= 1.96 * np.sqrt(variance) * (1 - 1e-4)
