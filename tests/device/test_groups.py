"""A device and a survey with groups: one report over all of them, for the group that was said first."""

from __future__ import annotations

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.surveys.survey import Survey


@pytest.fixture
def arms(played: Played) -> Survey:
    """Published, with reports that two draws hardly ever share."""
    groups = {"arm": ["A", "B"]}
    made = sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard", title="Colours", groups=groups)
    played.publish(made)
    for name in ("A", "B"):
        played.publish(made.in_group(name))
    return made


def test_a_report_is_sent_for_the_group_and_charged_once(played: Played, arms: Survey, device: MakeDevice) -> None:
    mine = device()
    receipt = mine.answer(played.url, arms.id, 7, group="B")
    assert (receipt.state, receipt.title, receipt.survey) == ("sent", "Colours, arm B", arms.id)
    (row,) = played.reports(arms.in_group("B"))
    assert row[16:20] == arms.in_group("B").tag
    assert mine.ledger.spent == 1.0
    assert mine.is_answered(arms.id)


@pytest.mark.parametrize("lost", [False, True])
def test_another_group_later_gets_no_second_report(
    played: Played, arms: Survey, device: MakeDevice, lost: bool
) -> None:
    """Nor when the first has not arrived yet: the same bytes go out, for the first group."""
    if lost:
        played.twists["POST", "/reports"] = lambda _: refusal(503, "unavailable")
    first = device().answer(played.url, arms.id, 7, group="A")
    assert first.state == ("unsent" if lost else "sent")
    played.twists.clear()
    again = device().answer(played.url, arms.id, 8, group="B")
    assert (again.state, again.drawn, again.title) == ("sent", False, "Colours, arm A")
    assert len(set(played.reports(arms.in_group("A")))) == 1
    assert not played.reports(arms.in_group("B"))
    assert device().ledger.spent == 1.0


@pytest.mark.parametrize("group", [None, "C", {"os": "A"}])
def test_without_its_group_nothing_is_drawn(played: Played, arms: Survey, device: MakeDevice, group: object) -> None:
    mine = device()
    with refuses(SurveyError, "group"):
        mine.answer(played.url, arms.id, 7, group=group)  # type: ignore[arg-type]
    assert mine.ledger.spent == 0


def test_a_survey_without_groups_takes_none(played: Played, survey: Survey, device: MakeDevice) -> None:
    with refuses(SurveyError, "group"):
        device().answer(played.url, survey.id, 7, group="A")


def test_the_survey_of_a_group_is_not_answered_by_itself(played: Played, arms: Survey, device: MakeDevice) -> None:
    """A collector that shows it as a survey of its own would get a second report of a person."""
    for name in ("A", "B"):
        with refuses(SurveyError, "survey"):
            device().answer(played.url, arms.in_group(name).id, 7)
    assert device().ledger.spent == 0
