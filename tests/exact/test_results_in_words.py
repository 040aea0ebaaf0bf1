"""Results shown to people: one line each with its numbers, and what to install where something is missing."""

from __future__ import annotations

import json
import sys

import pytest

import sottovoce as sv
from sottovoce.adaptive.heavy_hitters import HeavyHitter, HeavyHittersResult
from sottovoce.adaptive.history import History
from sottovoce.core.errors import MissingExtraError

DOMAIN = sv.Domain.product(age=range(100), city=["Oslo", "Rome"])
PEOPLE = {"age": [20] * 3000 + [70] * 1000, "city": ["Rome"] * 4000}


@pytest.fixture(scope="module")
def session() -> sv.Session:
    asked = sv.Session.simulated(sv.Panel(DOMAIN, rounds=2, epsilon=3.0), PEOPLE, seed=7)
    asked.ask("age < 50")
    asked.choose("find(city, ('Oslo', 'Rome'))", ["Oslo", "Rome"])
    return asked


def test_an_answer_is_shown_with_its_interval(session: sv.Session) -> None:
    answer = session.history[0]
    low, high = answer.interval()
    assert low < answer.value < high
    shown = repr(answer)
    for number in (f"{answer.value:.4g}", f"{low:.4g}", f"{high:.4g}", f"{answer.n_reports:,} reports"):
        assert number in shown
    assert answer._repr_html_().startswith("<p><code>age &lt; 50</code>: round 1: ")


def test_choices_are_shown_by_name_the_commonest_first(session: sv.Session) -> None:
    answer = session.history[1]
    assert repr(answer).startswith(f"<round 2: Rome {answer.top(1)[0]:.3g}, Oslo")
    assert repr(answer).endswith(f"{answer.n_reports:,} reports>")


def test_rounds_that_nobody_answered_say_so() -> None:
    nobody = sv.Session.simulated(sv.Panel(DOMAIN, rounds=2, epsilon=3.0), {"age": [], "city": []}, seed=7)
    nobody.ask("age < 50")
    nobody.choose("find(city, ('Oslo', 'Rome'))", 2)
    assert "nobody answered; anything from" in repr(nobody.history[0])
    assert repr(nobody.history[1]) == "<round 2: nobody answered>"


def test_common_values_are_a_collection() -> None:
    found = (HeavyHitter("anna", 0.5, 0.4, 0.6), HeavyHitter("otto", 0.2, 0.1, 0.3))
    result = HeavyHittersResult("name", found, 0.05, 0.95, rounds=3, empty_rounds=0)
    assert list(result) == list(found)
    assert len(result) == 2
    told = json.loads(json.dumps(result.to_dict()))
    assert told["found"][1] == {"value": "otto", "frequency": 0.2, "low": 0.1, "high": 0.3, "certain": True}
    assert told["rounds"] == 3


def test_a_table_without_pandas_says_what_to_install(session: sv.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    estimate = survey.estimate(survey.simulate(["red"] * 50, seed=1))
    assert isinstance(session.history, History)
    assert len(session.history.to_pandas()) == len(estimate.to_pandas()) == 2
    monkeypatch.setitem(sys.modules, "pandas", None)
    for result in (session.history, estimate):
        with pytest.raises(MissingExtraError, match=r"pip install 'sottovoce\[pandas\]'"):
            result.to_pandas()


def test_a_number_prints_what_was_asked_for() -> None:
    """Not the mean square about the middle, from which the standard deviation is computed, nor 64 shares."""
    numbers = range(600)
    for wants, names in (
        ("mean", ["mean"]),
        ("spread", ["mean", "standard deviation"]),
        ("distribution", ["mean", "standard deviation", "25 % quantile", "median", "75 % quantile"]),
    ):
        survey = sv.Survey(sv.number(0, 600, "minutes", wants=wants), epsilon=2.0)
        estimate = survey.estimate(survey.simulate(numbers, seed=1))
        lines = str(estimate).splitlines()
        assert [line.split("  ")[0] for line in lines[: len(names)]] == names
        assert ("64 more answers" in lines) == (wants == "distribution")
        assert all(f"<td>{name}</td>" in estimate._repr_html_() for name in names)


def test_an_audit_and_a_plan_print_each_fact_once() -> None:
    survey = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    lines = str(sv.audit(survey, samples=200)).splitlines()
    assert lines[:3] == ["mechanism: randomized_response", "verdict: proved for 2 values", "stated epsilon: 1"]
    assert lines[-1] == f"survey: {survey.id}"
    plan = sv.plan(sv.shares(6), epsilon=1.0, people=20_000)
    assert str(plan).count("L2") == str(plan).count("95 %") == 1
    assert f"{plan.best.name}, 1 byte per report. The next best that fits" in str(plan)
    assert str(sv.plan(sv.number(0, 600, "minutes"), epsilon=1.0, margin=5)).count("the answer is known") == 1


def test_a_series_prints_its_periods() -> None:
    tracking = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=2)
    curve = tracking.estimate(tracking.simulate([["yes"] * 300, ["no"] * 300], seed=3))
    lines = str(curve.series("no")).splitlines()
    assert lines[0] == "no"
    assert [line.split("  ")[0] for line in lines[1:]] == ["week of 4 January 2027", "week of 11 January 2027"]
