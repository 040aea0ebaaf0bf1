"""Through a relay or not at all: who is connected to, what is sealed to whom, and what happens when it goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.desk import secret_for
from device.played import Played, refusal
from device.played_relay import PlayedRelay
from refusing import refuses
from sottovoce.cli import main
from sottovoce.core.errors import MismatchError, ServiceError, SignatureError
from sottovoce.core.signing import SigningKey
from sottovoce.device import MemoryStore
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.questions import Shares
from sottovoce.surveys.survey import Survey


@pytest.fixture
def relay(played: Played) -> Iterator[PlayedRelay]:
    with PlayedRelay(played) as found:
        yield found


@pytest.fixture
def relayed(played: Played, relay: PlayedRelay) -> Survey:
    """Published, and with reports that two draws hardly ever share."""
    made = Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard", title="Relayed", relay=sv.Relay(relay.url, 100))
    played.publish(made)
    return made


def posts(one: Played) -> list[str]:
    return [path for method, path in one.requests if method == "POST"]


def check_arrived(relay: PlayedRelay, survey: Survey, device: Any, times: int = 1) -> None:
    """The relay has what would have been sent directly, and it holds the recorded report."""
    kept = device._store.answer(survey.id)
    body = encode_batch(survey.id, [(kept.report_id, kept.report)])
    assert [(one.method, one.path, one.authority, one.content) for one in relay.opened(survey.id)] == [
        ("POST", f"/v1/surveys/{survey.id}/reports", "", body)
    ] * times
    assert relay.opened(survey.id)[0].headers == ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    assert {len(message) for message in relay.boxes[survey.id]} == {512}
    assert kept.report not in b"".join(relay.bodies)


# --- who is connected to ------------------------------------------------------------------------


def test_a_device_that_insists_connects_to_no_collector(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    insisting = device(relay=relay.url, insist_on_relay=True)
    receipt = insisting.answer(played.url, relayed.id, 7)
    assert (receipt.state, receipt.relay, receipt.epsilon, receipt.problem) == ("sent", relay.url, 1.0, "")
    assert f"kept by the relay at {relay.url}" in str(receipt)
    assert insisting.answer(played.url, relayed.id, 8).state == "sent"
    assert [listed.id for listed in insisting.collector(played.url).surveys()] == [relayed.id]
    check_arrived(relay, relayed, insisting)
    assert insisting.ledger.spent == 1.0, "the local epsilon is charged"
    assert (played._connections, played.requests) == ([], [])


def test_without_a_relay_of_its_own_a_device_fetches_directly_and_sends_through_the_survey_s(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    plain = device()
    assert plain.answer(played.url, relayed.id, 7, send=False).state == "unsent"
    fetched = list(played.requests)
    assert [receipt.state for receipt in plain.flush()] == ["sent"]
    check_arrived(relay, relayed, plain)
    looked = ("GET", f"/v1/log/proofs/{relayed.id}?block=0")
    assert played.requests == fetched == [("GET", f"/v1/surveys/{relayed.id}"), looked]


def test_the_survey_says_where_reports_go_and_the_owner_where_surveys_come_from(
    played: Played, relay: PlayedRelay, relayed: Survey, survey: Survey, device: MakeDevice
) -> None:
    with PlayedRelay(played) as other:
        fetching = device(relay=other.url)
        assert fetching.answer(played.url, relayed.id, 7).state == "sent"
        check_arrived(relay, relayed, fetching)
        assert {path.split("/")[2] for path in posts(other)} == {"requests"}
        # One that states none is passed on at once: the collector has the report, and not the address.
        assert fetching.answer(played.url, survey.id, 7).state == "sent"
        assert len(played.reports(survey)) == 1
        assert played._connections == []


def test_a_period_goes_through_the_relay_of_its_tracking_survey(
    played: Played, relay: PlayedRelay, device: MakeDevice
) -> None:
    today = datetime.now(UTC)
    daily = sv.Tracking(
        Shares(["yes", "no"]),
        epsilon=1.0,
        every="week",
        starts=f"{today:%Y-%m-%d}",
        periods=2,
        relay=sv.Relay(relay.url, 9),
    )
    played.publish(daily)
    mine = device(MemoryStore(secret_for(daily, [1])), relay=relay.url, insist_on_relay=True)
    assert mine.answer(played.url, daily.id, "yes").state == "sent"
    assert list(relay.boxes) == [daily.period(1).id]
    assert played._connections == []


def test_on_the_command_line(
    played: Played,
    relay: PlayedRelay,
    relayed: Survey,
    survey: Survey,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = ("--store", str(tmp_path / "device.db"))
    words = ("--relay", relay.url, "--insist-on-relay", *store)
    assert main(("answer", played.url, "Relayed", "7", *words)) == 0
    assert f"kept by the relay at {relay.url}" in capsys.readouterr().out
    assert main(("answer", played.url, "Colours", "7", *words)) == 2
    assert "states no relay" in capsys.readouterr().err
    other = ("--relay", relay.url, "--allow-relay", "https://relay.example.org", "--store", str(tmp_path / "other.db"))
    assert main(("answer", played.url, "Relayed", "7", *other)) == 2
    assert "has not allowed" in capsys.readouterr().err
    assert main(("ledger", *store)) == 0
    assert "sent to a relay" in capsys.readouterr().out
    assert played._connections == []


# --- sent again ---------------------------------------------------------------------------------


def test_the_same_bytes_until_the_relay_has_confirmed_them(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    def lost(handler: object) -> object:
        relay.boxes.setdefault(relayed.id, []).append(relay.bodies[-1])
        return refusal(503, "busy")

    relay.twists["POST", relayed.id] = lost
    assert device().answer(played.url, relayed.id, 7).state == "unsent"
    for answer in (b'{"accepted": true}', b'{"accepted": 0}'):
        relay.twists["POST", relayed.id] = lambda handler, answer=answer: (200, {}, answer)
        assert "does not confirm" in device().flush()[0].problem
    relay.twists.clear()
    last = device()
    assert [receipt.state for receipt in last.flush()] == ["sent"]
    check_arrived(relay, relayed, last, times=4)
    assert len(set(relay.bodies)) == 1, "a relay holds it once"
    assert last.flush() == []


def test_no_refusal_of_a_relay_is_final(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    relay.twists["POST", relayed.id] = lambda handler: refusal(410, "survey_deleted")
    assert device().answer(played.url, relayed.id, 7).state == "unsent"
    relay.twists.clear()
    assert [receipt.state for receipt in device().flush()] == ["sent"]


# --- keys ---------------------------------------------------------------------------------------


def flipped(relay: PlayedRelay) -> bytes:
    """A key of the relay's own under the collector's signature."""
    honest, relay.keys = relay.signed(), {1: PrivateKey.derive(b"\x05" * 32)}
    forged = relay.signed()
    start = honest.index(b'"signature"')
    return forged[: forged.index(b'"signature"')] + honest[start:]


BAD_KEYS: dict[str, Callable[[PlayedRelay], tuple[int, bytes]]] = {
    "signed by another key": lambda relay: (200, relay.signed(SigningKey(b"\x07" * 32))),
    "another key under the same signature": lambda relay: (200, flipped(relay)),
    "a captive portal": lambda relay: (200, b"<html>Welcome! Accept our terms to go online"),
    "cut short": lambda relay: (200, relay.signed()[:-9]),
    "no keys": lambda relay: (200, b'{"configurations": "", "signature": "", "key": ""}'),
    "a redirect": lambda relay: (302, b""),
    "an error": lambda relay: (500, b""),
}


@pytest.mark.parametrize("bad", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_without_the_collector_s_signed_key_nothing_is_sent(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice, bad: Any
) -> None:
    status, body = bad(relay)
    relay.twists["GET", "/v1/keys"] = lambda handler: (status, {}, body)
    receipt = device().answer(played.url, relayed.id, 7)
    assert receipt.state == "unsent"
    assert relay.url in receipt.problem or "relay" in receipt.problem
    # Nothing is fetched through it either.
    other = device(MemoryStore(), relay=relay.url, key=played.key.public)
    with pytest.raises((ServiceError, SignatureError)):
        other.answer(played.url, relayed.id, 7)
    assert len(other.ledger) == 0
    assert (relay.bodies, posts(played)) == ([], [])
    relay.twists.clear()
    relay.rotate(1)
    last = device()
    assert [receipt.state for receipt in last.flush()] == ["sent"]
    check_arrived(relay, relayed, last)


def test_a_relay_that_is_down_leaves_the_answer_unsent(played: Played, device: MakeDevice) -> None:
    with PlayedRelay(played) as gone:
        made = Survey(sv.shares(9), epsilon=1.0, relay=sv.Relay(gone.url, 100))
    played.publish(made)
    receipt = device().answer(played.url, made.id, 7)
    assert receipt.state == "unsent"
    assert f"the relay at {gone.url} cannot be reached" in receipt.problem
    assert posts(played) == []


def test_the_first_key_seen_must_have_signed_the_survey_too(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    """A relay that has requests sealed to itself, and passes on the collector's surveys, is found out."""
    relay.twists["GET", "/v1/keys"] = lambda handler: (200, {}, relay.signed(SigningKey(b"\x07" * 32)))
    fresh = device(relay=relay.url)
    with pytest.raises(SignatureError, match="two different keys"):
        fresh.answer(played.url, relayed.id, 7)
    assert len(fresh.ledger) == 0


def test_after_a_rotation_keys_are_fetched_and_messages_sealed_again(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    patient = device(relay=relay.url, insist_on_relay=True)
    patient.survey(played.url, relayed.id)
    stale = [relay.signed()]
    relay.rotate(2)
    assert patient.survey(played.url, relayed.id).id == relayed.id, "the key that it knew is forgotten"
    relay.twists["GET", "/v1/keys"] = lambda handler: (200, {}, stale.pop()) if stale else Played.HONEST
    assert patient.answer(played.url, relayed.id, 7).state == "sent"
    assert stale == []
    check_arrived(relay, relayed, patient)
    # One that never publishes the key it wants is not asked for ever.
    other = Survey(sv.shares(9), epsilon=1.0, relay=sv.Relay(relay.url, 100))
    played.publish(other)
    patient.survey(played.url, other.id)
    before = len(relay.requests)
    relay.twists["POST", other.id] = lambda handler: refusal(422, "unknown_key")
    assert patient.answer(played.url, other.id, 7).state == "unsent"
    assert [path for _, path in relay.requests[before:]].count("/v1/keys") == 2


# --- what the owner demands ---------------------------------------------------------------------


def test_insisting_refuses_before_anything_is_drawn(
    played: Played, relay: PlayedRelay, survey: Survey, device: MakeDevice
) -> None:
    insisting = device(relay=relay.url, insist_on_relay=True)
    panel = sv.Panel(range(9), rounds=1, epsilon=1.0)
    weekly = sv.Tracking(Shares(["yes", "no"]), epsilon=1.0, every="week", starts="2100-01-04", periods=2)
    for one in (survey, panel, weekly):
        played.publish(one)
        with pytest.raises(MismatchError, match="states no relay"):
            insisting.answer(played.url, one.id, lambda period: pytest.fail("the value was asked for"))
    assert len(insisting.ledger) == 0
    with refuses(ServiceError, "relay"):
        device(insist_on_relay=True)
    with refuses(ServiceError, "relay"):
        device(relay=played.url, insist_on_relay=True).answer(played.url, survey.id, 7)
    # What was recorded before its owner insisted stays where it is.
    device().answer(played.url, survey.id, 7, send=False)
    before = len(played.requests)
    assert "through a relay only" in insisting.flush()[0].problem
    assert "through a relay only" in insisting.answer(played.url, survey.id, 7).problem
    assert len(played.requests) == before
    assert played.bodies == []


def test_the_owner_chooses_among_relays(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    with pytest.raises(MismatchError, match="has not allowed"):
        device(relays=["https://relay.example.org"]).answer(played.url, relayed.id, 7)
    own = Survey(sv.shares(9), epsilon=1.0, relay=sv.Relay(f"{played.url}/relay", 100))
    played.publish(own)
    with pytest.raises(MismatchError, match="collector's own address"):
        device().answer(played.url, own.id, 7)
    assert len(device().ledger) == 0
    assert device(relays=[f"{relay.url}/"]).answer(played.url, relayed.id, 7).state == "sent"


def test_whoever_insists_trusts_the_relay_they_named(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    """A collector can state a relay of its own, which then sees the address as well as the answer."""
    with PlayedRelay(played) as mine:
        insisting = device(relay=f"{mine.url}/", insist_on_relay=True)
        with pytest.raises(MismatchError, match="has not allowed"):
            insisting.answer(played.url, relayed.id, 7)
        assert (len(insisting.ledger), relay.requests) == (0, [])
        both = device(relay=mine.url, insist_on_relay=True, relays=[mine.url, relay.url])
        assert both.answer(played.url, relayed.id, 7).state == "sent"


def test_what_was_recorded_goes_through_no_relay_that_is_not_allowed_now(
    played: Played, relay: PlayedRelay, relayed: Survey, device: MakeDevice
) -> None:
    device().answer(played.url, relayed.id, 7, send=False)
    stricter = device(relays=["https://relay.example.org"])
    for receipt in (*stricter.flush(), stricter.answer(played.url, relayed.id, 7)):
        assert (receipt.state, "has not allowed" in receipt.problem) == ("unsent", True)
    assert relay.requests == []
    assert [receipt.state for receipt in device().flush()] == ["sent"]
