"""Tracking surveys on the command line: planned, simulated from histories, estimated from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.aggregate import survey_file
from sottovoce.core.errors import SurveyError
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.mechanisms.shards import Shard
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Tracking

ASKED = ("shares", "--labels", "no,yes", "--epsilon", "1")
MONTHLY = ("--every", "month", "--starts", "2026-01-01")


@pytest.fixture
def monthly() -> Tracking:
    """Three months of a yes-or-no question."""
    return sv.Tracking(
        Shares(["no", "yes"]), epsilon=1.0, every="month", starts="2026-01-01", periods=3, people=1000, title="Cycling"
    )


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Four hundred people: a quarter say yes in the first month, half in the second, all in the third."""
    rows = [f"{'yes' if at % 4 == 0 else 'no'},{'yes' if at % 2 == 0 else 'no'},yes" for at in range(400)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(["January,February,March", *rows]) + "\n", encoding="utf-8")
    return path


def long_form(wide: Path, path: Path) -> Path:
    """The same people as rows of person, period and value, the periods numbered and out of order."""
    rows = [line.split(",") for line in wide.read_text(encoding="utf-8").splitlines()[1:]]
    lines = [f"{at},{month + 9},{row[month]}" for month in (2, 0, 1) for at, row in enumerate(rows)]
    path.write_text("\n".join(["person,period,value", *lines]) + "\n", encoding="utf-8")
    return path


def test_a_plan_of_periods_is_the_library_s(run):
    found = run("plan", *ASKED, "--periods", "52", "--margin", "0.02", "--json").json
    plan = sv.plan(["no", "yes"], periods=52, epsilon=1.0, margin=0.02)
    assert (found["people"], found["people_per_period"]) == (plan.people, plan.period.people)
    assert found["change"] == plan.change
    assert found["every_period"]["times"] == pytest.approx(44.5, abs=0.05)
    assert "survey" not in found
    rolling = run("plan", *ASKED, "--renews", "quarter", "--every", "week", "--people", "1e6", "--json").json
    assert (rolling["window"], rolling["periods"], rolling["epsilon_in_all"]) == (13, None, None)
    words = run("plan", *ASKED, "--periods", "12", "--change", "0.02").out
    assert "a change of 2 points is seen" in " ".join(words.split())
    assert "--periods 12 --every week --starts YYYY-MM-DD" in " ".join(words.split())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--change", "0.02"), "change is between two periods"),
        (("--periods", "12"), "epsilon, people and margin, l2 or change"),
        (("--periods", "1", "--margin", "0.1"), "an integer from 2"),
        (("--renews", "quarter", "--margin", "0.1"), "needs every"),
        (("--renews", "13", "--periods", "50", "--margin", "0.1"), "periods"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(run, words, told):
    outcome = run("plan", *ASKED, *words, "--json")
    assert outcome.status == 2
    assert told in outcome.json["error"]["message"]


def test_histories_are_read_in_both_forms_and_stand_beside_the_curve(run, wide, tmp_path):
    words = ("simulate", *ASKED, *MONTHLY, "--seed", "5", "--answer", "yes", "--json", "--histories")
    found = run(*words, str(wide)).json
    assert [point["truth"] for point in found["curves"][0]["points"]] == [0.25, 0.5, 1.0]
    assert sum(point["n_reports"] for point in found["curves"][0]["points"]) == found["people"] == 400
    assert found["curves"][0]["trend"]["slope"] > 0
    other = run(*words, str(long_form(wide, tmp_path / "long.csv"))).json
    values = [[point["truth"] for point in one["curves"][0]["points"]] for one in (found, other)]
    assert values[0] == values[1]
    drawn = run(*words, str(wide), "--people", "900").json
    assert drawn["people"] == 900


def test_histories_come_from_parquet_too(run, tmp_path):
    import pyarrow as pa
    from pyarrow import parquet

    path = tmp_path / "minutes.parquet"
    parquet.write_table(pa.table({"person": [1, 2, 3], "May": [10.0, 20.0, 30.0], "June": [0.0, 0.0, 60.0]}), path)
    asked = ("simulate", "number", "--low", "0", "--high", "60", "--epsilon", "1", "--histories", str(path))
    found = run(*asked, "--people", "500", "--every", "month", "--starts", "2026-05-01", "--seed", "1", "--json").json
    points = found["curves"][0]["points"]
    # Five hundred people drawn from three: six standard deviations of the means.
    assert [point["truth"] for point in points] == pytest.approx([20.0, 20.0], abs=6 * 28.3 / np.sqrt(500))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("January,February\nno,yes\nno\n", "one column per period"),
        ("person,period,value\n1,1,no\n1,1,yes\n", "one row for each period"),
        ("", "cannot be read"),
    ],
)
def test_histories_that_are_no_table_are_refused(run, tmp_path, text, told):
    path = tmp_path / "people.csv"
    path.write_text(text, encoding="utf-8")
    outcome = run("simulate", *ASKED, *MONTHLY, "--histories", str(path), "--json")
    assert (outcome.status, told in outcome.json["error"]["message"]) == (2, True), outcome


def test_periods_without_histories_and_a_curve_of_one_survey_are_refused(run):
    assert "--histories" in run("simulate", *ASKED, "--people", "9", *MONTHLY, "--json").json["error"]["message"]
    assert "--people" in run("simulate", *ASKED, "--json").json["error"]["message"]


def test_files_of_periods_give_the_curve(run, monthly, tmp_path):
    people = np.where(np.random.default_rng(3).random((6000, 3)) < [0.2, 0.4, 0.6], "yes", "no")
    aggregates = monthly.simulate(people, seed=3)
    files = []
    for number, aggregate in aggregates.items():
        path = tmp_path / f"{number}.bin"
        write_aggregate(path, aggregate.survey, aggregate.n_reports, [Shard(0, aggregate.counts)])
        files.append(str(path))
    picture = tmp_path / "curve.svg"
    words = ("estimate", "Cycling", "--answer", "yes", "--smooth", "--aggregate", *files)
    found = run(*words, "--picture", str(picture), "--json").json
    (curve,) = found["curves"]
    assert curve == monthly.estimate(aggregates).to_dict("yes", 0.95, True)
    assert picture.stat().st_size > 1000
    shown = " ".join(run(*words).out.split())
    for told in ("January 2026", "95 % band", "smoothed: assumes", "trend: +0.", "epsilon 1 for all 3 months together"):
        assert told in shown
    assert "p < 0.0001" in shown
    early = ("estimate", "--answer", "yes", "--smooth", "--aggregate", *files[:2])
    assert "smoothed: after three closed periods" in run(*early, "--picture", str(tmp_path / "early.svg")).out
    several = run("estimate", "--aggregate", *files, "--json").json["curves"]
    assert [one["answer"] for one in several] == ["no", "yes"]
    assert "follow one with --answer" in run("estimate", "--aggregate", *files).out
    refused = run("estimate", "Another", "--aggregate", *files, "--json").json["error"]
    assert refused["type"] == "MismatchError"


def test_counting_the_reports_of_a_whole_tracking_survey_names_its_periods(tmp_path: Path) -> None:
    asked = Shares(["no", "yes"])
    tracking = sv.Tracking(asked, periods=3, every="week", starts="2031-01-06", epsilon=1.0)
    path = tmp_path / "survey.json"
    path.write_text(tracking.to_json())
    with pytest.raises(SurveyError, match="is a tracking survey; reports belong to one of its periods"):
        survey_file(path)
