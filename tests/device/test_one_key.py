"""A device gives its answer to one key, also where another one has its address by the time it is sent."""

from __future__ import annotations

from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json, refusal
from sottovoce.core.errors import MismatchError, SignatureError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.device import MemoryStore
from sottovoce.surveys.survey import Survey

OWN, OTHER = SigningKey(bytes(range(32))), SigningKey(bytes(32))


@pytest.mark.parametrize("settings", [{}, {"key": OWN.public}], ids=["first key seen", "key given"])
def test_a_collector_that_was_replaced_gets_nothing(
    played: Played, survey: Survey, device: MakeDevice, settings: dict[str, Any]
) -> None:
    assert device(**settings).answer(played.url, survey.id, 7, send=False).state == "unsent"
    played.key = OTHER
    with pytest.raises(SignatureError, match="signs with the key"):
        device(**settings).answer(played.url, survey.id, 7)
    (receipt,) = device(**settings).flush()
    assert receipt.state == "unsent"
    assert "signs with the key" in receipt.problem
    assert played.bodies == []
    played.key = OWN
    assert [receipt.state for receipt in device(**settings).flush()] == ["sent"]
    assert len(played.reports(survey)) == 1


def test_the_right_key_without_its_signature(played: Played, survey: Survey, device: MakeDevice) -> None:
    device().answer(played.url, survey.id, 7, send=False)
    forged = to_base64url(OTHER.sign(survey.canonical))
    other = sv.Survey(sv.shares(5), epsilon=1.0)
    for change in ({"signature": forged}, played.envelope(other), {"statement": other.canonical.decode()}):
        played.change = lambda envelope, change=change: envelope.update(change)
        with pytest.raises(SignatureError):
            device().answer(played.url, survey.id, 7)
        assert [receipt.state for receipt in device().flush()] == ["unsent"]
        played.change = lambda envelope: None
    assert played.bodies == []


@pytest.mark.parametrize(
    "reply",
    [refusal(404, "not_found"), refusal(410, "gone"), refusal(503, "busy"), as_json(200, {}), (200, {}, b"<html>")],
    ids=["404", "410", "503", "no envelope", "hotel"],
)
def test_who_has_not_shown_the_key_does_not_refuse(
    played: Played, survey: Survey, device: MakeDevice, reply: object
) -> None:
    device().answer(played.url, survey.id, 7, send=False)
    played.twists["GET", survey.id] = lambda _: reply
    for receipt in (device().answer(played.url, survey.id, 7), *device().flush()):
        assert receipt.state == "unsent"
        assert receipt.problem
    assert played.bodies == []
    played.twists.clear()
    assert device().answer(played.url, survey.id, 7).state == "sent"


def test_one_stranger_does_not_hold_up_the_others(survey: Survey, device: MakeDevice) -> None:
    mine = device()
    with Played() as replaced, Played() as honest:
        other = sv.Survey(sv.shares(5), epsilon=1.0)
        mine.answer(replaced.url, replaced.publish(survey), 7, send=False)
        mine.answer(honest.url, honest.publish(other), 1, send=False)
        replaced.key = OTHER
        assert [receipt.state for receipt in mine.flush()] == ["unsent", "sent"]
        assert replaced.bodies == []


def test_a_device_that_was_given_another_key_by_now(played: Played, survey: Survey, device: MakeDevice) -> None:
    device(key=OWN.public).answer(played.url, survey.id, 7, send=False)
    later = device(key=OTHER.public)
    for key in (OWN, OTHER):
        played.key = key
        with pytest.raises(MismatchError, match="answer goes to one collector only"):
            later.answer(played.url, survey.id, 7)
        assert "goes to one collector only" in later.flush()[0].problem
    assert played.bodies == []


def test_the_answer_to_a_round(played: Played, device: MakeDevice) -> None:
    """Also where the round is said not to be open any more, so that there is no question to compare."""
    people = sv.Domain.product(smokes=["no", "yes"], age=range(100))
    person = {"smokes": "no", "age": 42}
    survey = sv.Panel(people, epsilon=1.0, rounds=1)
    played.publish(survey)
    played.publish(sv.adaptive.round_of(survey, 1, "age < 50"))
    assert device().answer(played.url, survey.id, person, send=False).drawn
    played.key = OTHER
    played.rounds.clear()
    with pytest.raises(SignatureError):
        device().answer(played.url, survey.id, person)
    with pytest.raises(MismatchError, match="answer goes to one collector only"):
        device(key=OTHER.public).answer(played.url, survey.id, person)
    assert [receipt.state for receipt in device().flush()] == ["unsent"]
    assert played.bodies == []
    played.key = OWN
    assert [receipt.state for receipt in device().flush()] == ["sent"]


def test_the_key_is_looked_at_once_in_a_call(played: Played, survey: Survey, device: MakeDevice) -> None:
    look, send = ("GET", f"/v1/surveys/{survey.id}"), ("POST", f"/v1/surveys/{survey.id}/reports")
    seek = ("GET", f"/v1/log/proofs/{survey.id}?block=0")
    device(MemoryStore()).answer(played.url, survey.id, 7)
    assert played.requests == [look, seek, send]
    played.requests.clear()
    mine = device()
    mine.answer(played.url, survey.id, 7, send=False)
    mine.answer(played.url, survey.id, 7, send=False)
    assert played.requests == [look, seek]
    mine.answer(played.url, survey.id, 7)
    mine.answer(played.url, survey.id, 7)
    assert mine.flush() == []
    assert played.requests == [look, seek, look, send]


def test_attachments_are_fetched_to_draw_only(played: Played, device: MakeDevice) -> None:
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=0.5, strategy="optimized")
    assert survey.attachments
    device().answer(played.url, played.publish(survey), 3, send=False)
    played.requests.clear()
    assert device().flush()[0].state == "sent"
    assert played.requests == [("GET", f"/v1/surveys/{survey.id}"), ("POST", f"/v1/surveys/{survey.id}/reports")]


def test_a_receipt_says_which_call_has_drawn(played: Played, survey: Survey, device: MakeDevice) -> None:
    store = MemoryStore()
    faster, slower = device(store), device(store)

    class Overtaken(MemoryStore):
        """Another process answers while this one draws."""

        def record(self, question: str, window: int, draw: Any) -> Any:
            faster.answer(played.url, survey.id, 8)
            return store.record(question, window, draw)

    late = device(Overtaken()).answer(played.url, survey.id, 7)
    assert (late.state, late.drawn, late.to_dict()["drawn"]) == ("sent", False, False)
    assert not slower.answer(played.url, survey.id, 7).drawn
    assert len(played.bodies) == 1
    assert device().answer(played.url, survey.id, 7).drawn
    assert not device().answer(played.url, survey.id, 7).drawn
