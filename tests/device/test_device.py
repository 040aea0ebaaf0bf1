"""An honest collector: a device answers once, writes it down first, and sends the same bytes for ever."""

from __future__ import annotations

import sqlite3
import stat
import time
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, Reply, as_json, refusal
from refusing import refuses
from sottovoce.core.errors import BudgetError, MismatchError, ServiceError, SignatureError, SurveyError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.device import Device, MemoryStore, Patience
from sottovoce.surveys.survey import Survey


def refusing(_: object) -> Reply:
    return refusal(409, "survey_sealed")


def test_an_answer_arrives_and_is_in_the_ledger(played: Played, survey: Survey, device: MakeDevice) -> None:
    mine = device()
    receipt = mine.answer(played.url, survey.id, 7)
    assert (receipt.state, receipt.epsilon, receipt.title) == ("sent", 1.0, "Colours")
    (row,) = played.reports(survey)
    assert row[16:20] == survey.tag
    survey.mechanism.decode(row[20:])
    (entry,) = mine.ledger
    assert (entry.title, entry.state, entry.survey) == ("Colours", "sent", survey.id)
    assert (mine.ledger.spent, mine.ledger.left) == (1.0, 7.0)
    assert repr(mine) == "<Device: 1 answer, epsilon 7 of 8 left>"
    assert played.requests == [
        ("GET", f"/v1/surveys/{survey.id}"),
        ("GET", f"/v1/log/proofs/{survey.id}?block=0"),
        ("POST", f"/v1/surveys/{survey.id}/reports"),
    ]


def test_asked_again_nothing_is_drawn_or_sent(played: Played, survey: Survey, device: MakeDevice) -> None:
    """Whatever the value has become: the first one stands."""
    device().answer(played.url, survey.id, 7)
    asked = len(played.requests)
    for value in (7, 8, "not in the domain", None):
        assert device().answer(played.url, survey.id, value).state == "sent"
    assert len(played.requests) == asked
    assert device().ledger.spent == 1.0


def test_flush_sends_in_random_order_on_separate_connections(played: Played, device: MakeDevice) -> None:
    """Also if the collector would keep a connection open. Three orders of eight are one with a chance of 6e-10."""
    surveys = [sv.Survey(sv.shares(5), epsilon=0.01, title=str(i)) for i in range(8)]
    orders = set()

    def clinging(handler: Any) -> Any:
        handler.close_connection = False
        return Played.HONEST

    for survey in surveys:
        played.publish(survey)
        played.twists["GET", survey.id] = played.twists["POST", f"{survey.id}/reports"] = clinging
    for _ in range(3):
        mine = device(MemoryStore())
        for survey in surveys:
            mine.answer(played.url, survey.id, 1, send=False)
        played.requests.clear()
        played.ports.clear()
        assert [(receipt.survey, receipt.state) for receipt in mine.flush()] == [(s.id, "sent") for s in surveys]
        assert len(set(played.ports)) == len(played.ports) == 2 * len(surveys)  # the key is checked, the report sent
        orders.add(tuple(path for method, path in played.requests if method == "POST"))
    assert len(orders) > 1


def test_what_did_not_arrive_is_sent_again_as_it_is(played: Played, survey: Survey, device: MakeDevice) -> None:
    played.twists["POST", "/reports"] = lambda _: refusal(503, "busy", Retry_After="1")
    assert device().answer(played.url, survey.id, 7).state == "unsent"
    assert len(played.bodies) == 3
    assert [receipt.state for receipt in device().flush()] == ["unsent"]
    assert device().answer(played.url, survey.id, 8).state == "unsent"
    played.twists.clear()
    assert [receipt.state for receipt in device().flush()] == ["sent"]
    assert device().flush() == []
    assert len(played.bodies) == 10
    assert len(set(played.reports(survey))) == 1


def test_an_acknowledgement_that_is_lost(played: Played, survey: Survey, device: MakeDevice) -> None:
    """The collector has the report and the device does not know: it sends the same id again."""
    played.twists["POST", "/reports"] = lambda handler: handler.connection.close()
    assert device().answer(played.url, survey.id, 7).state == "unsent"
    played.twists.clear()
    assert device().answer(played.url, survey.id, 7).state == "sent"
    assert len(set(played.reports(survey))) == 1
    assert len(played.bodies) > 1


def test_a_collector_that_is_away(survey: Survey, device: MakeDevice) -> None:
    with Played() as gone:
        gone.publish(survey)
        mine = device()
        mine.answer(gone.url, survey.id, 7, send=False)
        other = sv.Survey(sv.shares(5), epsilon=1.0)
        url = gone.url
    assert [receipt.state for receipt in mine.flush()] == ["unsent"]
    with pytest.raises(ServiceError) as info:
        mine.answer(url, other.id, 1)
    assert (info.value.code, info.value.status) == ("unreachable", 0)
    assert mine.ledger.spent == 1.0


@pytest.mark.parametrize("status", [400, 404, 409, 410, 413, 415, 422])
def test_a_refusal_is_final_and_costs(played: Played, survey: Survey, device: MakeDevice, status: int) -> None:
    played.twists["POST", "/reports"] = lambda _: refusal(status, "survey_sealed")
    receipt = device().answer(played.url, survey.id, 7)
    assert (receipt.state, receipt.problem) == ("refused", "no: survey_sealed")
    assert len(played.bodies) == 1
    assert device().flush() == []
    assert device().ledger.left == 7.0
    assert next(iter(device().ledger)).state == "refused by the collector"


@pytest.mark.parametrize(
    "reply",
    [
        (200, {"Content-Type": "text/html"}, b"<html>Welcome to the hotel. Please log in.</html>"),
        (200, {}, b""),
        (403, {"Content-Type": "text/html"}, b"<html>no</html>"),
        (302, {"Location": "http://127.0.0.1:9/"}, b""),
        as_json(200, {"accepted": 0, "refused": []}),
        as_json(200, {"accepted": True, "refused": []}),
        as_json(200, [1]),
    ],
    ids=lambda reply: f"{reply[0]} {reply[2][:12]!r}",
)
def test_somebody_in_between_answers(played: Played, survey: Survey, device: MakeDevice, reply: object) -> None:
    """Only the collector's own words count as an acknowledgement, or as a refusal."""
    played.twists["POST", "/reports"] = lambda _: reply
    assert device().answer(played.url, survey.id, 7).state == "unsent"
    played.twists.clear()
    assert device().answer(played.url, survey.id, 7).state == "sent"
    assert len(set(played.reports(survey))) == 1


def test_every_kind_of_survey(played: Played, device: MakeDevice) -> None:
    surveys = {
        sv.Survey(sv.shares(["red", "green"]), epsilon=0.1): "red",
        sv.Survey(sv.vector(3, 1.0), epsilon=0.1): [0.1, 0.2, 0.3],
        sv.Survey(sv.vector(3, 1.0), epsilon=0.1, delta=1e-7, mechanism="gaussian"): [5.0, 0.0, 0.0],
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=0.1, strategy="optimized"): 3,
        sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=0.1, strategy="factorized"): 3,
    }
    for survey, value in surveys.items():
        played.publish(survey)
        assert device().answer(played.url, survey.id, value).state == "sent"
        (row,) = played.reports(survey)
        assert survey.aggregate().add([row[16:]]).n_reports == 1
    assert device().ledger.spent == pytest.approx(0.5)
    assert device().ledger.delta_spent == pytest.approx(1e-7)


# --- the owner's budget ----------------------------------------------------------------------


def test_the_cap_and_the_budget(played: Played, device: MakeDevice) -> None:
    mine = device(cap=1.0, budget=2.5)
    ids = [played.publish(sv.Survey(sv.shares(5), epsilon=1.0, title=str(i))) for i in range(3)]
    large = played.publish(sv.Survey(sv.shares(5), epsilon=1.0001))
    with refuses(BudgetError, "cap"):
        mine.answer(played.url, large, 1)
    for survey in ids[:2]:
        mine.answer(played.url, survey, 1)
    with pytest.raises(BudgetError, match=r"has 0\.5 of its budget of 2\.5 left"):
        mine.answer(played.url, ids[2], 1)
    assert mine.ledger.left == 0.5
    assert len(played.bodies) == 2
    assert mine.answer(played.url, ids[0], 1).state == "sent", "what was answered stays answered"


def test_tenths_add_up(played: Played, device: MakeDevice) -> None:
    """0.1 + 0.1 + 0.1 is 0.3 to a person; sums are rounded once, not at every step."""
    mine = device(MemoryStore(), budget=0.3)
    for i in range(3):
        mine.answer(played.url, played.publish(sv.Survey(sv.shares(5), epsilon=0.1, title=str(i))), 1)
    assert mine.ledger.left == 0.0
    with pytest.raises(BudgetError):
        mine.answer(played.url, played.publish(sv.Survey(sv.shares(5), epsilon=2.0**-20)), 1)


def test_delta_has_a_cap_and_a_budget(played: Played, device: MakeDevice) -> None:
    def gaussian(delta: float, title: str) -> str:
        survey = sv.Survey(sv.vector(3, 1.0), epsilon=0.5, delta=delta, mechanism="gaussian", title=title)
        return played.publish(survey)

    mine = device(delta_cap=1e-6, delta_budget=1.5e-6)
    with refuses(BudgetError, "delta_cap"):
        mine.answer(played.url, gaussian(2e-6, ""), [0, 0, 0])
    mine.answer(played.url, gaussian(1e-6, "a"), [0, 0, 0])
    with refuses(BudgetError, "delta_budget"):
        mine.answer(played.url, gaussian(1e-6, "b"), [0, 0, 0])
    assert mine.ledger.spent == 0.5


@pytest.mark.parametrize("wrong", [-1, float("inf"), float("nan"), "2", None, True])
@pytest.mark.parametrize("name", ["cap", "budget", "delta_cap", "delta_budget"])
def test_no_setting_switches_the_budget_off(name: str, wrong: object) -> None:
    with refuses(BudgetError, name):
        Device(MemoryStore(), **{name: wrong})


def test_a_sealed_survey_costs_nothing(played: Played, survey: Survey, device: MakeDevice) -> None:
    played.states[survey.id] = "sealed"
    with pytest.raises(ServiceError) as info:
        device().answer(played.url, survey.id, 7)
    assert info.value.code == "survey_sealed"
    assert device().ledger.spent == 0


# --- whom it trusts --------------------------------------------------------------------------


def test_the_first_key_is_trusted_for_ever(played: Played, survey: Survey, device: MakeDevice) -> None:
    device().answer(played.url, survey.id, 7)
    played.key = SigningKey(bytes(32))
    other = played.publish(sv.Survey(sv.shares(5), epsilon=1.0))
    for attempt in (device(), device(key=SigningKey(bytes(range(32))).public)):
        with pytest.raises(SignatureError, match="signs with the key"):
            attempt.answer(played.url, other, 1)
    assert device().ledger.spent == 1.0


def test_a_given_key_goes_before_a_kept_one(played: Played, survey: Survey, device: MakeDevice) -> None:
    other = SigningKey(bytes(32)).public
    for wrong in (other, to_base64url(other)):
        with pytest.raises(SignatureError, match="signs with the key"):
            device(key=wrong).answer(played.url, survey.id, 7)
    assert device(key=to_base64url(played.key.public)).answer(played.url, survey.id, 7).state == "sent"


@pytest.mark.parametrize("key", ["", "short", b"short", bytes(33), "ä" * 43, 7])
def test_a_key_that_is_none(key: object) -> None:
    with refuses(SignatureError, "key"):
        Device(MemoryStore(), key=key)  # type: ignore[arg-type]


def test_keys_are_kept_by_collector(survey: Survey, device: MakeDevice) -> None:
    with Played() as one, Played(SigningKey(bytes(32))) as two:
        one.publish(survey)
        other = two.publish(sv.Survey(sv.shares(5), epsilon=1.0))
        mine = device()
        mine.answer(one.url, survey.id, 7)
        mine.answer(two.url, other, 1)
        two.publish(survey)
        with pytest.raises(MismatchError, match="another collector"):
            mine.answer(two.url, survey.id, 7)
        assert two.reports(survey) == []


def test_an_answer_belongs_to_one_address(survey: Survey, device: MakeDevice) -> None:
    """Envelopes are public: whoever shows one elsewhere, without the key to it, gets nothing and changes nothing."""
    for state, twist in (("sent", None), ("unsent", lambda _: refusal(503, "busy")), ("refused", refusing)):
        store = MemoryStore()
        with Played() as honest, Played() as elsewhere:
            for place in (honest, elsewhere):
                place.publish(survey)
            if twist is not None:
                honest.twists["POST", "/reports"] = twist
            mine = device(store)
            assert mine.answer(honest.url, survey.id, 7).state == state
            with pytest.raises(MismatchError, match=r"device\.move"):
                mine.answer(elsewhere.url, survey.id, 7)
            (entry,) = mine.ledger
            assert entry.collector == honest.url
            mine.flush()
            assert elsewhere.requests == []


def test_an_answer_is_moved_by_its_owner_only(survey: Survey, device: MakeDevice) -> None:
    """The same bytes go to the new address; what was sent, and another key, are not moved."""
    with Played() as old, Played() as new, Played(SigningKey(bytes(32))) as stranger:
        for place in (old, new, stranger):
            place.publish(survey)
        mine = device()
        with refuses(MismatchError, "survey_id"):
            mine.move(survey.id, new.url)
        old.twists["POST", "/reports"] = lambda _: refusal(503, "busy")
        assert mine.answer(old.url, survey.id, 7).state == "unsent"
        with pytest.raises(MismatchError, match="goes to one collector only"):
            mine.move(survey.id, stranger.url)
        receipt = mine.move(survey.id, new.url)
        assert (receipt.collector, receipt.state, new.bodies) == (new.url, "unsent", [])
        assert mine.answer(new.url, survey.id, 8).state == "sent"
        assert set(old.reports(survey)) == set(new.reports(survey))
        assert next(iter(mine.ledger)).collector == new.url
        with refuses(MismatchError, "survey_id"):
            mine.move(survey.id, old.url)
        assert next(iter(mine.ledger)).collector == new.url
        assert mine.ledger.spent == 1.0


@pytest.mark.parametrize("survey_id", ["", "colours", "AB" * 32, "ab" * 31, "../" * 21 + "a", None, 7])
def test_an_id_that_is_none(played: Played, device: MakeDevice, survey_id: object) -> None:
    """A name is looked for in the collector's list, and never becomes part of an address."""
    with pytest.raises(SurveyError):
        device().answer(played.url, survey_id, 7)  # type: ignore[arg-type]
    assert {path.partition("?")[0] for _, path in played.requests} <= {"/v1/surveys"}
    assert len(device().ledger) == 0


# --- time, files -----------------------------------------------------------------------------


@pytest.mark.parametrize("now", [0.0, -1e9, 1e10, 1e18, float("inf")])
def test_the_clock_does_not_matter(
    played: Played,
    survey: Survey,
    device: MakeDevice,
    monkeypatch: pytest.MonkeyPatch,
    now: float,
) -> None:
    real = time.gmtime
    with monkeypatch.context() as patched:
        patched.setattr(time, "gmtime", lambda: real(now))
        assert device().answer(played.url, survey.id, 7).state == "sent"
    assert device().answer(played.url, survey.id, 8).state == "sent"
    assert len(played.bodies) == 1
    assert "Colours" in str(device().ledger)


def test_only_the_owner_may_read_the_store(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    device().answer(played.url, survey.id, 7)
    for file in tmp_path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with sqlite3.connect(tmp_path / "device.db") as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_waiting_between_attempts(played: Played, survey: Survey) -> None:
    """At least what the collector asks, then a random part of a doubling time; a day is left for another call."""
    slept: list[float] = []
    patience = Patience(attempts=5, first=1.0, longest=30.0, sleep=slept.append)
    told = {"Retry_After": "20"}
    played.twists["POST", "/reports"] = lambda _: refusal(429, "slow_down", **told)
    with Device(MemoryStore(), patience=patience) as mine:
        assert mine.answer(played.url, survey.id, 7).state == "unsent"
        assert len(slept) == 4
        assert all(20 <= wait <= 20 + 2**k for k, wait in enumerate(slept))
        assert len(set(slept)) == 4
        told["Retry_After"] = "86400"
        slept.clear()
        assert mine.flush()[0].state == "unsent"
        assert slept == []
        told["Retry_After"] = "Wed, 21 Oct 2099 07:28:00 GMT"
        mine.flush()
        assert all(wait <= 2**k for k, wait in enumerate(slept))
