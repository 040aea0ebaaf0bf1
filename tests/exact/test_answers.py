"""One answer: its number, its words, and how it is found by its label."""

from __future__ import annotations

import copy
import csv
import io
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.answer import Answer
from sottovoce.core.errors import SottovoceError, SurveyError, UnknownAnswerError
from sottovoce.estimates.numbers import HistogramBin
from sottovoce.workloads import Marginals, Prefix

TEA = Answer(label="tea", value=0.412, low=0.398, high=0.426, raw=0.41234, is_share=True)
LABELS = ["tea", "coffee", "water"]


@pytest.fixture(scope="module")
def drinks() -> sv.Estimate:
    survey = sv.Survey(sv.shares(LABELS), epsilon=1.0)
    return survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 3000 + ["water"] * 1000, seed=1))


@pytest.fixture(scope="module")
def forms() -> Any:
    fields = {"plan": ["free", "pro"], "country": ["DE", "FR"], "minutes": sv.number(0, 60, "minutes"), "age": range(3)}
    survey = sv.Survey(sv.records(fields, tables=2), epsilon=4.0)
    people = [
        {"plan": "free", "country": "DE", "minutes": 15.0, "age": 0},
        {"plan": "pro", "country": "FR", "minutes": 45.0, "age": 2},
    ]
    return survey.estimate(survey.simulate(people * 20_000, seed=1))


# --- a number with words -------------------------------------------------------------------


def test_an_answer_is_a_number_that_can_be_formatted_and_read() -> None:
    assert float(TEA) == 0.412
    assert f"{TEA:.1%}" == "41.2%"
    assert f"{TEA}" == str(TEA) == repr(TEA) == "tea: 41.2 % (39.8 % to 42.6 %)"
    mean = Answer(label="mean", value=62.31, low=58.1, high=66.5, raw=62.31, unit="minutes", level=0.99)
    assert str(mean) == "mean: 62.3 minutes (58.1 to 66.5, level 99 %)"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (-math.inf, math.inf, "any value"),
        (0.5, math.inf, "at least 0.5"),
        (-math.inf, 2.0, "at most 2"),
        (1.0, 1.0, "1 to 1"),
        (-1234.0, 98765.0, "-1,234 to 98,765"),
        (-0.00001, 0.4, "0.00 to 0.40"),
    ],
)
def test_an_interval_is_words_whatever_its_ends_are(low: float, high: float, words: str) -> None:
    assert Answer(label="x", value=1.0, low=low, high=high, raw=1.0).interval_text == words


def test_a_number_that_is_not_known_is_said_to_be_unknown() -> None:
    assert str(Answer(label="x", value=math.nan, low=0.0, high=1.0, raw=math.nan)) == "x: unknown (0.00 to 1.00)"


def test_rare_shares_keep_a_digit_of_their_interval() -> None:
    rare = Answer(label="x", value=0.000123, low=0.0001, high=0.00015, raw=0.0, is_share=True)
    assert str(rare) == "x: 0.012 % (0.010 % to 0.015 %)"


def test_equal_answers_are_equal_and_frozen() -> None:
    same = copy.deepcopy(TEA)
    assert same == TEA
    assert hash(same) == hash(TEA)
    assert pickle.loads(pickle.dumps(TEA)) == TEA  # noqa: S301
    assert TEA.to_dict() == {**TEA.row(), "unit": "", "method": "", "level": 0.95, "is_share": True}
    with pytest.raises(AttributeError):
        TEA.value = 1.0  # type: ignore[misc]


# --- an estimate is its answers ------------------------------------------------------------


def test_an_estimate_is_iterated_in_the_order_of_its_survey(drinks: sv.Estimate) -> None:
    answers = list(drinks)
    assert [answer.label for answer in answers] == LABELS == drinks.labels()
    assert len(answers) == len(drinks) == 3
    assert [answer.value for answer in answers] == drinks.values.tolist()
    assert answers == drinks.answers() == [drinks[label] for label in LABELS]
    assert all(answer.is_share and answer.unit == "" and answer.method for answer in answers)
    narrow, wide = drinks.answers(0.5)[0], drinks.answers(0.999)[0]
    assert wide.low < narrow.low < narrow.high < wide.high


def test_labels_are_in_an_estimate_or_suggested(drinks: sv.Estimate) -> None:
    assert "tea" in drinks
    assert "tee" not in drinks
    with pytest.raises(KeyError, match="did you mean 'tea'") as refused:
        drinks["tee"]
    assert isinstance(refused.value, SottovoceError)
    assert isinstance(refused.value, UnknownAnswerError)
    with pytest.raises(UnknownAnswerError, match="the first one is 'tea'"):
        drinks["x" * 1000]


ASKED: dict[str, tuple[Any, Any]] = {
    "shares of labels": (sv.Survey(sv.shares(LABELS), epsilon=4.0), LABELS * 50),
    "shares of integers": (sv.Survey(sv.shares(range(18, 28)), epsilon=4.0), list(range(18, 28)) * 20),
    "shares of records": (
        sv.Survey(sv.shares({"plan": ["a, b", "c"], "age": 3}), epsilon=4.0),
        [{"plan": "c", "age": 1}] * 100,
    ),
    "choices": (sv.Survey(sv.choices(10, most=2), epsilon=4.0), [[1, 2], [3]] * 50),
    "number": (sv.Survey(sv.number(0, 60, "minutes", wants="spread"), epsilon=4.0), [5.0] * 100),
    "distribution": (sv.Survey(sv.number(0, 60, "minutes", wants="distribution", points=8), epsilon=4.0), [5.0] * 99),
    "queries": (sv.Survey(sv.queries(Prefix(range(10))), epsilon=4.0), list(range(10)) * 20),
    "marginals": (sv.Survey(sv.queries(Marginals(k=1, plan=["a", "b"], age=3)), epsilon=4.0), [("a", 1)] * 100),
    "vector": (sv.Survey(sv.vector(3, 1.0), epsilon=4.0), np.zeros((100, 3))),
}


@pytest.mark.parametrize("case", ASKED)
def test_every_label_is_accepted_wherever_an_answer_is_named(case: str) -> None:
    survey, people = ASKED[case]
    estimate = survey.estimate(survey.simulate(people, seed=1))
    labels = estimate.labels()
    assert [estimate[label].label for label in labels] == labels == [answer.label for answer in estimate]
    assert all(label in estimate for label in labels)
    first, second = labels[:2]
    assert estimate.difference(first, second).label == f"{first} - {second}"
    assert estimate.sum([first, second]).raw == pytest.approx(estimate.combine({first: 1, second: 1}).raw)
    estimate.ratio([first], [second])
    for label in labels:
        assert survey.question.followed(label).name == label
    for wrong in ("no such answer", object(), -1, None):
        assert wrong not in estimate
        with pytest.raises(UnknownAnswerError):
            estimate[wrong]


def test_a_parameter_that_names_an_unknown_answer_is_the_field_of_the_error(drinks: Any) -> None:
    for act, field in (
        (lambda: drinks.sum(["tee"]), "labels"),
        (lambda: drinks.combine({"tee": 1}), "weights"),
        (lambda: drinks.difference("tea", "cofee"), "second"),
        (lambda: drinks.ratio(["tea"], ["cofee"]), "under"),
    ):
        with refuses(UnknownAnswerError, field):
            act()


def test_words_are_found_or_asked_for() -> None:
    survey = sv.Survey(sv.words(8, "latin"), epsilon=4.0, people=10_000)
    estimate = survey.estimate(survey.simulate(["tea"] * 6000 + ["coffee"] * 4000, seed=1))
    assert [answer.label for answer in estimate] == estimate.labels() == ["tea", "coffee"]
    assert "tea" in estimate
    assert "cocoa" not in estimate
    assert estimate["cocoa"].low == 0.0
    assert str(estimate["cocoa"]).startswith("cocoa (?): ")
    with refuses(UnknownAnswerError, "word"):
        estimate["far too long a word"]


# --- combinations, tables and numbers give the same type -----------------------------------------


def test_combinations_are_possible_numbers_with_the_raw_ones_beside_them() -> None:
    survey = sv.Survey(sv.shares(range(50)), epsilon=0.5)
    estimate: Any = survey.estimate(survey.simulate([0] * 2000, seed=3))
    assert estimate.raw.min() < 0
    lowest = int(np.argmin(estimate.raw))
    answer = estimate.sum([lowest])
    assert answer.raw == estimate.raw[lowest] < 0 == answer.low == answer.value


def test_combinations_are_named_by_their_terms(drinks: Any) -> None:
    assert drinks.combine({"tea": 0.5, "coffee": -1}).label == "0.5 tea - coffee"
    assert drinks.combine({"tea": -1}).label == "-tea"
    assert drinks.ratio(["tea"], ["coffee", "water"]).label == "(tea) / (coffee + water)"
    assert not drinks.ratio(["tea"], ["coffee"]).is_share


def test_figures_of_a_number_have_its_unit() -> None:
    survey, people = ASKED["distribution"]
    estimate = survey.estimate(survey.simulate(people, seed=1))
    figures = [estimate.mean(), estimate.standard_deviation(), estimate.quantile(0.5), estimate.quantile(0.25)]
    assert [one.label for one in figures] == ["mean", "standard deviation", "median", "25 % quantile"]
    assert {(one.unit, one.is_share) for one in figures} == {("minutes", False)}
    first = estimate.histogram()[0]
    assert isinstance(first, HistogramBin)
    assert (first.label, first.start, first.end, first.is_share) == ("0 to 7.5 minutes", 0.0, 7.5, True)


def test_means_of_groups(forms: Any) -> None:
    free, pro = forms.mean("minutes", by="plan")
    assert (free.label, pro.label, free.unit) == ("plan=free", "plan=pro", "minutes")
    table = forms.table("minutes", "plan")
    assert free.value == table.mean("minutes", given={"plan": "free"}).value == pytest.approx(15, abs=3)
    assert pro.value == pytest.approx(45, abs=3)
    assert forms.mean("minutes").label == "mean of minutes"
    assert forms.table("minutes", "plan").mean("minutes", given={"plan": "pro"}).label == (
        "mean of minutes among plan=pro"
    )


@pytest.mark.parametrize(
    ("act", "field"),
    [
        (lambda forms: forms.mean("age"), "field"),
        (lambda forms: forms.mean(), "field"),
        (lambda forms: forms.mean(3), "field"),
        (lambda forms: forms.mean("minutes", by="minutes"), "by"),
        (lambda forms: forms.mean("minutes", by="plam"), "by"),
        (lambda forms: forms.mean("minutes", by=["plan", "country"]), "by"),
        (lambda forms: forms.mean("minutes", by=[]), "by"),
        (lambda forms: forms.mean("minutes", by=3), "by"),
        (lambda forms: forms.table(["plan", "country"]), "names"),
        (lambda forms: forms.table("plan", "contry"), "names"),
        (lambda forms: forms.table("plan").sum(plan="prp"), "plan"),
    ],
)
def test_odd_groups_and_tables_are_refused_by_field(forms: Any, act: Any, field: str) -> None:
    with refuses(SurveyError, field):
        act(forms)


def test_a_mean_of_listed_values_says_how_to_declare_a_number(forms: Any) -> None:
    with pytest.raises(SurveyError, match=r'"age": number\(0, 100\)'):
        forms.mean("age")


def test_a_table_is_its_cells(forms: Any) -> None:
    table = forms.table("plan", "age")
    cells = list(table)
    assert [cell.label for cell in cells][:2] == ["plan=free, age=0", "plan=free, age=1"]
    assert len(cells) == len(table) == 6
    assert [cell.raw for cell in cells] == table.raw.ravel().tolist()
    assert table.sum(age="2") == table.sum(age=2)
    assert table.sum(age=["1", 2]).label == "age=1 or 2"
    assert table.share({"plan": "pro"}, given={"age": "2"}).label == "plan=pro among age=2"
    assert "plan=pro, age=2" in str(table)
    assert table._repr_html_().count("<tr>") == 7
    assert table.to_csv().splitlines()[1].startswith('"plan=free, age=0",')
    assert table.to_arrow().column("raw").to_pylist() == table.raw.ravel().tolist()


# --- as text -------------------------------------------------------------------------------


def test_a_printed_estimate_shows_its_answers(drinks: sv.Estimate) -> None:
    lines = str(drinks).splitlines()
    assert [line.split()[0] for line in lines[:3]] == LABELS
    assert len({line.index("(") for line in lines[:3]}) == 1
    assert lines[-1] == "10,000 reports, epsilon 1, 95 % intervals"
    many = sv.Survey(sv.shares(1000), epsilon=2.0)
    shown = str(many.estimate(many.simulate([7] * 500, seed=1))).splitlines()
    assert shown[0].startswith("7 ")
    assert shown[-2:] == ["990 more answers", "500 reports, epsilon 2, 95 % intervals"]


# --- as tables -----------------------------------------------------------------------------


def test_an_estimate_as_csv_parquet_and_arrow(drinks: sv.Estimate, tmp_path: Path) -> None:
    text = drinks.to_csv(tmp_path / "drinks.csv")
    assert (tmp_path / "drinks.csv").read_bytes().decode() == text == drinks.to_csv()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["label", "value", "raw", "low", "high"]
    assert [(row[0], float(row[1])) for row in rows] == [(answer.label, answer.value) for answer in drinks]
    assert drinks.to_csv(level=0.5) != text
    drinks.to_parquet(tmp_path / "drinks.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "drinks.parquet")
    assert table == drinks.to_arrow()
    assert table.column("label").to_pylist() == LABELS
    assert table.column("low").to_pylist() == drinks.interval().low.tolist()


def test_a_curve_as_tables_of_one_answer_or_all(tmp_path: Path) -> None:
    asked = sv.questions.Shares(["yes", "no"])
    tracking = sv.Tracking(asked, periods=3, every="week", starts="2027-01-04", epsilon=2.0)
    reports = tracking.simulate(lambda week: ["yes"] * 200 + ["no"] * 400, seed=1)
    curve = tracking.estimate({week: aggregate for week, aggregate in reports.items() if week != 2})
    frame = curve.to_pandas()
    assert frame["answer"].tolist() == ["yes"] * 3 + ["no"] * 3
    assert frame.index.tolist() == [1, 2, 3] * 2
    assert frame["value"].isna().tolist() == [False, True, False] * 2
    alone = curve.to_pandas("no")
    assert "answer" not in alone.columns
    assert alone["low"].dropna().tolist() == [point.low for point in curve.series("no") if point.n_reports]
    header, *rows = csv.reader(io.StringIO(curve.to_csv(tmp_path / "curve.csv"), newline=""))
    assert header[:5] == ["label", "answer", "starts", "state", "period"]
    assert len(rows) == 6
    assert (rows[1][5:7], rows[0][2]) == (["0", ""], "2027-01-04")
    curve.to_parquet(tmp_path / "curve.parquet", "yes")
    table = pyarrow.parquet.read_table(tmp_path / "curve.parquet")
    assert table.column("period").to_pylist() == curve.to_arrow("yes").column("period").to_pylist() == [1, 2, 3]
    assert "yes" in str(curve)


def test_a_number_of_a_tracking_survey_needs_no_answer_by_name() -> None:
    tracking = sv.Tracking(sv.number(0, 60), periods=2, every="week", starts="2027-01-04", epsilon=2.0)
    curve = tracking.estimate(tracking.simulate(lambda week: [30.0] * 500, seed=1))
    assert len(curve.to_pandas()) == 2


# --- what a kind cannot do -----------------------------------------------------------------


def test_only_what_a_survey_can_tell_is_there_to_complete(drinks: sv.Estimate, forms: Any) -> None:
    figures = {"mean", "standard_deviation", "quantile", "histogram"}
    assert not figures & set(dir(drinks))
    assert {"sum", "combine", "difference", "ratio"} <= set(dir(drinks))
    for wants, known in (
        ("mean", {"mean"}),
        ("spread", {"mean", "standard_deviation"}),
        ("distribution", figures),
    ):
        survey = sv.Survey(sv.number(0, 60, wants=wants), epsilon=4.0)
        assert figures & set(dir(survey.estimate(survey.simulate([5.0] * 100, seed=1)))) == known
    assert {"mean", "table"} <= set(dir(forms))
    survey, people = ASKED["marginals"]
    assert {"mean", "table"} & set(dir(survey.estimate(survey.simulate(people, seed=1)))) == {"table"}


# --- malicious devices ---------------------------------------------------------------------


def test_no_answer_is_moved_farther_than_it_can_go(drinks: sv.Estimate) -> None:
    some, most = drinks.influence(100), drinks.influence(9000)
    assert "by up to" in some.statement
    assert most.largest > 1
    assert most.statement == "9,000 malicious devices among 10,000 reports can move an answer to any value"
