"""Breaks that a hostile reading found: a forged part of a tracking survey, an iterator as `otherwise`, an old store."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest
import rfc8785

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played
from refusing import refuses
from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.signing import SigningKey
from sottovoce.device import JoinedSurvey, MemoryStore
from sottovoce.edge import Randomizer
from sottovoce.surveys.survey import Survey, Tracking


def daily(**more: object) -> Tracking:
    """A tracking survey that has begun."""
    starts = f"{datetime.now(UTC):%Y-%m-%d}"
    return sv.Tracking(["no", "yes"], epsilon=1.0, every="day", starts=starts, periods=2, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("group", [1, 2])
def test_a_tracking_survey_of_one_group_is_refused(group: int) -> None:
    """Beside the survey itself each would be a survey of its own, and a device would answer them all."""
    stated = json.loads(daily(groups={"arm": ["A", "B"]}).canonical)
    with refuses(SurveyError, "group"):
        Survey.from_json(rfc8785.dumps({**stated, "group": group}))


def test_an_iterator_cannot_replace_other_values(played: Played, device: MakeDevice) -> None:
    """It was read when it was checked, and then answered as the empty set."""
    survey = sv.Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0)
    played.publish(survey)
    with refuses(ValueOutsideDomainError, "otherwise"):
        device().answer(played.url, survey.id, "no set", otherwise=iter(["a", "b"]))
    with refuses(ValueOutsideDomainError, "otherwise"):
        Randomizer(survey, otherwise=iter(["a", "b"]))
    assert device().ledger.spent == 0


def test_a_joined_survey_that_cannot_be_read_any_more_stops_no_other(played: Played, device: MakeDevice) -> None:
    """A version before took more days of grace than a window has."""
    good, store = daily(), MemoryStore()
    old = json.loads(daily(title="old").canonical)
    old["calendar"]["grace"] = 60
    statement, key = rfc8785.dumps(old), SigningKey(bytes(32)).public
    store.join(JoinedSurvey(hashlib.sha256(statement).hexdigest(), played.url, key, statement, {}))
    store.join(JoinedSurvey(good.id, played.url, key, good.canonical, {}))
    late = device(store, clock=lambda: good.calendar.start(2))
    assert [due.survey.id for due in late.due()] == [good.id]
