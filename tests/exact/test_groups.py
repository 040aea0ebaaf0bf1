"""Public groups of a survey: statements, ids, counts that add up, estimates apart and together, and refusals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MismatchError, NoReportsError, ReportError, SimulationError, SurveyError
from sottovoce.edge.randomizer import Randomizer
from sottovoce.surveys.groups import MAX_GROUPS, Groups

ARMS = {"arm": ["A", "B"]}
PEOPLE = {"A": ["tea"] * 400 + ["coffee"] * 600, "B": ["tea"] * 700 + ["coffee"] * 300}


def drinks(**more: Any) -> sv.Survey:
    return sv.Survey(["tea", "coffee"], epsilon=1.0, **{"groups": ARMS, **more})


@pytest.mark.parametrize(
    "question",
    [
        sv.shares(["tea", "coffee"]),
        sv.shares(3000),
        sv.number(0, 600, "minutes"),
        sv.choices(["a", "b", "c"], most=2),
        sv.records({"country": ["DE", "FR"], "plan": ["free", "pro"]}),
        sv.words(6, "latin"),
        sv.vector(3),
    ],
    ids=lambda question: question.kind,
)
def test_every_kind_of_question_has_groups_and_reads_back(question: Any) -> None:
    survey = sv.Survey(question, epsilon=1.0, people=1000, groups=ARMS)
    member = survey.in_group("B")
    again = sv.Survey.from_json(member.to_json(), member.attachments)
    assert isinstance(again, sv.Survey)
    assert (again.id, again.parent_id, again.group) == (member.id, survey.id, member.group)
    assert sv.Survey.from_json(survey.to_json(), survey.attachments).id == survey.id
    assert len({survey.id, member.id, survey.in_group("A").id}) == 3
    # Groups share public randomness, so that their counts add up.
    assert again.mechanism == survey.mechanism


def test_the_groups_of_two_surveys_have_other_ids() -> None:
    assert drinks().in_group("A").id != drinks(groups={"arm": ["A", "C"]}).in_group("A").id


def test_a_report_belongs_to_its_group_alone() -> None:
    survey = drinks()
    first, second = survey.in_group("A"), survey.in_group("B")
    with pytest.raises(MismatchError):
        second.aggregate().add([first.randomize("tea")])
    with refuses(SurveyError, "group"):
        survey.randomize("tea")


def test_counts_of_groups_add_up_to_those_of_everybody() -> None:
    survey = drinks()
    reports = survey.simulate_groups(PEOPLE, seed=3)
    estimate = survey.estimate(reports)
    assert estimate.n_reports == 2000
    assert estimate.counts is not None
    np.testing.assert_array_equal(estimate.counts, sum(found.counts for found in reports.values()))
    apart = estimate.by("arm")
    assert apart.n_reports == {"A": 1000, "B": 1000}
    for name in ("A", "B"):
        alone = survey.in_group(name).estimate(reports[f"arm {name}"])
        np.testing.assert_array_equal(apart[name].raw, alone.raw)
        np.testing.assert_array_equal(apart[name].interval().low, alone.interval().low)
        assert apart[name].group == f"arm {name}"


def test_bytes_of_all_groups_are_told_apart_by_their_tags() -> None:
    survey = drinks()
    reports = [survey.in_group(name).randomize("tea") for name in ("A", "B", "B")]
    assert survey.estimate(reports).by("arm").n_reports == {"A": 1, "B": 2}
    with refuses(MismatchError, "reports"):
        survey.estimate([*reports, sv.Survey(["tea", "coffee"], epsilon=1.0).randomize("tea")])


def test_a_variable_is_estimated_over_all_values_of_the_others() -> None:
    survey = drinks(groups={"arm": ["A", "B"], "os": ["x", "y"]})
    people = {
        "arm A, os x": ["tea"] * 10,
        "arm A, os y": ["tea"] * 20,
        "arm B, os x": ["tea"] * 30,
    }
    estimate = survey.estimate(survey.simulate_groups(people, seed=1))
    assert estimate.by("arm").n_reports == {"A": 30, "B": 30}
    assert estimate.by("os").n_reports == {"x": 40, "y": 20}


def test_a_group_without_reports_is_named() -> None:
    survey = drinks()
    apart = survey.estimate(survey.simulate_groups({"A": ["tea"] * 10}, seed=1)).by("arm")
    assert list(apart) == ["A"]
    with refuses(NoReportsError, "group"):
        apart["B"]
    with pytest.raises(KeyError, match="did you mean"):
        apart["a"]


def test_a_tracking_survey_has_groups_in_every_period() -> None:
    weekly = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=4, groups=ARMS)
    member = weekly.period(2).in_group("A")
    again = sv.Survey.from_json(member.to_json())
    assert isinstance(again, sv.Survey)
    assert again.tracked is not None
    assert (again.id, again.parent_id, again.tracked.id) == (member.id, weekly.id, weekly.id)


@pytest.mark.parametrize(
    "groups",
    [
        {},
        {"arm": []},
        {"arm": ["A"]},
        {"arm": ["A", "A"]},
        {"arm": "AB"},
        {"arm": ["A", ""]},
        {"arm": ["A", " B"]},
        {"arm": ["A", 3]},
        {"arm": ["A", "B\n"]},
        {"": ["A", "B"]},
        {"arm": ["A", "x" * 61]},
        {"person": [str(number) for number in range(10_000)]},
        {str(number): ["A", "B"] for number in range(7)},
        ["A", "B"],
    ],
)
def test_bad_groups_are_refused(groups: Any) -> None:
    with refuses(SurveyError, "groups"):
        drinks(groups=groups)


def test_so_many_groups_are_allowed_and_no_more() -> None:
    assert len(Groups.of({"cell": [str(number) for number in range(MAX_GROUPS)]})) == MAX_GROUPS
    with refuses(SurveyError, "groups"):
        Groups.of({"cell": [str(number) for number in range(MAX_GROUPS + 1)]})


@pytest.mark.parametrize("group", [None, "C", {"arm": "C"}, {"os": "A"}, 1, ["A"], {"arm": "A", "os": "x"}])
def test_an_unknown_group_is_refused(group: Any) -> None:
    with refuses(SurveyError, "group"):
        drinks().in_group(group)


def test_a_survey_without_groups_takes_none() -> None:
    plain = sv.Survey(["tea", "coffee"], epsilon=1.0)
    with refuses(SurveyError, "group"):
        plain.in_group("A")
    with refuses(SurveyError, "group"):
        drinks().in_group("A").in_group("A")
    with refuses(SurveyError, "variable"):
        plain.estimate(plain.simulate(["tea"], seed=1)).by("arm")
    with refuses(SimulationError, "people"):
        plain.simulate_groups(PEOPLE)


def test_a_survey_with_groups_is_audited_as_devices_run_it() -> None:
    survey = drinks()
    result = sv.audit(survey, samples=200, seconds=2)
    assert (result.verdict, result.survey) == ("proved", survey.in_group("A").id)
    gaps = sv.disclose(survey, audit="none")["not_covered"].claims
    assert "public_groups" in {claim.name for claim in gaps}
    with refuses(SimulationError, "values"):
        survey.simulate(["tea"])


def test_a_value_that_is_spelt_like_a_label_is_the_value() -> None:
    groups = Groups.of({"arm": ["A", "arm A"]})
    assert groups.find("arm A").values == {"arm": "arm A"}


@pytest.mark.parametrize(
    "change", [{"group": 0}, {"group": 3}, {"group": "A"}, {"groups": None}, {"groups": [["arm"]]}]
)
def test_a_forged_statement_of_a_group_is_refused(change: dict[str, Any]) -> None:
    stated = json.loads(drinks().in_group("A").to_json()) | change
    with pytest.raises(SurveyError):
        sv.Survey.from_json(json.dumps(stated))


def test_a_group_needs_its_groups() -> None:
    stated = json.loads(drinks().in_group("A").to_json())
    del stated["groups"]
    with refuses(SurveyError, "group"):
        sv.Survey.from_json(json.dumps(stated))


def test_reports_of_a_group_given_for_another_are_refused() -> None:
    survey = drinks()
    found = survey.simulate_groups(PEOPLE, seed=1)
    with refuses(MismatchError, "reports"):
        survey.estimate({"A": found["arm B"]})
    with refuses(MismatchError, "reports"):
        survey.estimate({"A": found["arm A"], "arm A": found["arm A"]})
    with refuses(ReportError, "reports"):
        survey.estimate(survey.in_group("A").simulate(["tea"], seed=1))
    with pytest.raises(NoReportsError):
        survey.estimate({"A": survey.in_group("A").aggregate()})


def test_a_curve_for_every_group() -> None:
    weekly = sv.Tracking(["yes", "no"], epsilon=2.0, every="week", starts="2027-01-04", periods=3, groups=ARMS)
    people = {"A": [["yes"] * 300] * 3, "B": [["no"] * 600] * 3}
    curve = weekly.estimate(weekly.simulate_groups(people, seed=1))
    apart = curve.by("arm")
    assert list(apart) == ["A", "B"]
    for number in (1, 2, 3):
        counts = [apart[name][number].n_reports for name in ("A", "B")]
        assert sum(counts) == curve[number].n_reports
    assert apart["A"][2]["yes"].value > 0.7 > 0.3 > apart["B"][2]["yes"].value


def test_a_server_at_the_edge_does_not_draw_for_groups() -> None:
    """It would draw once more for a person in every group."""
    survey = drinks()
    for asked in (survey, survey.in_group("A")):
        with pytest.raises(SurveyError, match="once over all groups"):
            Randomizer(asked)


def test_histories_are_not_run_for_groups() -> None:
    with refuses(SurveyError, "survey"):
        sv.audit_device(drinks(), seconds=1)


@pytest.mark.parametrize(
    ("question", "value", "name"),
    [
        (["tea", "coffee"], "tea", "tea"),
        (sv.choices(["a", "b"], most=2), ["a"], "a"),
        (sv.records({"plan": ["free", "pro"], "os": ["x", "y"]}), {"plan": "free", "os": "x"}, "plan=free"),
        (sv.words(longest=2, alphabet="digits"), "42", "42"),
    ],
    ids=["shares", "choices", "records", "words"],
)
def test_an_answer_splits_by_a_variable(question: Any, value: Any, name: str) -> None:
    survey = sv.Survey(question, epsilon=6.0, groups={"arm": ["A", "B"]})
    estimate = survey.estimate(survey.simulate_groups({"A": [value] * 900, "B": [value] * 600}, seed=1))
    apart = estimate[name].by("arm")
    assert list(apart) == ["A", "B"]
    for arm, answer in apart.items():
        assert answer.label == name
        assert answer.raw == estimate.by("arm")[arm][name].raw
    (narrow,) = [answer for answer in estimate.answers(0.5) if answer.label == name]
    assert narrow.by("arm")["A"].level == 0.5
    assert "by" not in estimate[name].to_dict()
    with refuses(SurveyError, "variable"):
        estimate[name].by("platform")


def test_an_answer_of_a_survey_without_groups_does_not_split() -> None:
    survey = sv.Survey(["tea", "coffee"], epsilon=2.0)
    with refuses(SurveyError, "variable"):
        survey.estimate(survey.simulate(["tea"] * 20, seed=1))["tea"].by("arm")
