"""A device and the log of a collector: what it refuses, what it remembers, what it keeps, and what it tells."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from sottovoce.core.errors import ServiceError, TransparencyError
from sottovoce.core.signing import SigningKey
from sottovoce.device import Device, DeviceStore, LogConflict, MemoryStore, SqliteDeviceStore
from sottovoce.surveys.survey import Survey
from sottovoce.transparency.tree_head import read_checkpoint

OTHERS = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(300)]


def survey_of(title: str) -> Survey:
    return sv.Survey(sv.shares(2**40), epsilon=0.01, mechanism="hadamard", title=title)


def asked_of_log(played: Played) -> list[str]:
    return [path.partition("?")[2] for _, path in played.requests if "/log/proofs/" in path]


@pytest.fixture
def first(played: Played) -> Survey:
    survey = survey_of("first")
    played.publish(survey)
    played.log = [survey.id]
    return survey


@pytest.fixture
def second(played: Played) -> Survey:
    survey = survey_of("second")
    played.publish(survey)
    return survey


def test_a_survey_in_the_log_is_answered_and_the_head_remembered(
    played: Played, first: Survey, second: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    assert device().answer(played.url, first.id, 7).state == "sent"
    store = SqliteDeviceStore(tmp_path / "device.db")
    assert store.checkpoint(played.key.public) == played.checkpoint()
    played.log = [first.id, *OTHERS[:5], second.id]
    assert device().answer(played.url, second.id, 7).state == "sent"
    assert store.checkpoint(played.key.public) == played.checkpoint()
    assert asked_of_log(played) == ["block=0", "block=0"], "one request for each survey, the same for everybody"
    device().answer(played.url, first.id, 7)
    assert len(asked_of_log(played)) == 2, "none for what was answered before"
    assert device().ledger.conflicts == ()


def test_what_a_device_has_seen_is_told_in_whole_blocks_only(
    played: Played, first: Survey, second: Survey, device: MakeDevice
) -> None:
    third = survey_of("third")
    played.publish(third)
    played.log = [first.id, *OTHERS[:256]]
    device().answer(played.url, first.id, 7)
    played.log = [*played.log, *OTHERS[256:280], second.id]
    device().answer(played.url, second.id, 7)
    played.log = [*played.log, *OTHERS[280:], third.id]
    assert device().answer(played.url, third.id, 7).state == "sent"
    assert asked_of_log(played) == ["block=0", "block=1", "block=1"]


def test_a_survey_that_is_not_in_the_log_is_refused(played: Played, first: Survey, second: Survey, device: MakeDevice):
    with pytest.raises(TransparencyError, match="is not in the log of the collector at"):
        device().answer(played.url, second.id, 7)
    assert (len(device().ledger), played.bodies) == (0, [])


def test_a_log_that_goes_another_way_is_refused_and_both_heads_are_kept(
    played: Played, first: Survey, second: Survey, device: MakeDevice, capsys: pytest.CaptureFixture[str]
) -> None:
    played.log = [first.id, OTHERS[0]]
    device().answer(played.url, first.id, 7)
    seen = played.checkpoint()
    played.log = [OTHERS[1], first.id, OTHERS[2], second.id]
    for _ in range(2):
        with pytest.raises(TransparencyError, match="does not continue the one that was shown before") as caught:
            device().answer(played.url, second.id, 7)
        assert caught.value.conflict
    (conflict,) = device().ledger.conflicts
    assert (conflict.collector, conflict.remembered, conflict.found) == (played.url, seen, played.checkpoint())
    for note in (conflict.remembered, conflict.found):
        read_checkpoint(note, played.key.public)
    assert len(device().ledger) == 1
    ledger = device().ledger
    assert "showed two logs of its surveys" in str(ledger)
    assert "showed two logs of its surveys" in ledger._repr_html_()
    (told,) = json.loads(ledger.to_json())["conflicts"]
    assert (told["remembered"], told["found"]) == (seen, played.checkpoint())
    # What was shown first still counts.
    played.log = [first.id, OTHERS[0], second.id]
    assert device().answer(played.url, second.id, 7).state == "sent"


def test_a_log_that_has_become_shorter_is_refused(played: Played, first: Survey, second: Survey, device: MakeDevice):
    for before in (2, 300):
        played.log = [first.id, second.id, *OTHERS][:before]
        store = MemoryStore()
        device(store).answer(played.url, first.id, 7)
        played.log = [second.id]
        with pytest.raises(TransparencyError, match=f"it had {before} entries, and now 1"):
            device(store).answer(played.url, second.id, 7)
        assert len(store.conflicts()) == 1


def test_a_log_that_was_there_once_must_stay(played: Played, first: Survey, second: Survey, device: MakeDevice) -> None:
    device().answer(played.url, first.id, 7)
    played.log = None
    with pytest.raises(TransparencyError, match="shows no log of its surveys, although it had one before"):
        device().answer(played.url, second.id, 7)
    assert len(device().ledger) == 1


def test_a_collector_without_a_log_is_answered_unless_the_owner_requires_one(
    played: Played, second: Survey, device: MakeDevice
) -> None:
    with pytest.raises(TransparencyError, match="owner requires one"):
        device(require_log=True).answer(played.url, second.id, 7)
    assert device().answer(played.url, second.id, 7).state == "sent"


def test_a_log_that_cannot_be_asked_is_not_one_that_is_missing(
    played: Played, first: Survey, device: MakeDevice
) -> None:
    """Whoever can stop one request must not be able to do without the log."""
    played.twists["GET", "block=0"] = lambda _: refusal(503, "log_behind")
    with pytest.raises(ServiceError):
        device().answer(played.url, first.id, 7)
    assert played.bodies == []


def test_a_head_that_another_key_signed_is_refused(played: Played, first: Survey, device: MakeDevice) -> None:
    own, other = played.key, SigningKey(bytes([9]) * 32)

    def twisted(_: object) -> object:
        played.key = other
        try:
            return played._log_proof(first.id, 0)
        finally:
            played.key = own

    played.twists["GET", "block=0"] = twisted
    with pytest.raises(TransparencyError, match="of the log that key"):
        device().answer(played.url, first.id, 7)
    assert played.bodies == []


def test_a_round_is_looked_for_and_not_its_panel(played: Played, device: MakeDevice) -> None:
    panel = sv.Panel({"age": range(100)}, rounds=1, epsilon=2.0, title="Ages")
    asked = sv.adaptive.round_of(panel, 1, "age < 30")
    played.publish(panel)
    played.publish(asked)
    played.log = [panel.id]
    with pytest.raises(TransparencyError, match="is not in the log"):
        device().answer(played.url, panel.id, {"age": 7})
    played.log = [panel.id, asked.id]
    assert device().answer(played.url, panel.id, {"age": 7}).state == "sent"


@pytest.mark.parametrize("kind", [MemoryStore, lambda: SqliteDeviceStore("s.db")])
def test_stores_remember_only_what_follows(kind: type[DeviceStore], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    store, key = kind(), bytes(range(32))
    assert store.checkpoint(key) is None
    assert not store.remember(key, "another", "one")
    assert store.remember(key, None, "one")
    assert not store.remember(key, None, "two")
    assert store.remember(key, "one", "one")
    assert store.remember(key, "one", "two")
    assert not store.remember(key, "one", "three")
    assert (store.checkpoint(key), store.checkpoint(bytes(32))) == ("two", None)
    conflict = LogConflict("https://a.example", key, "two", "other", "2026-01-02")
    for _ in range(2):
        store.keep_conflict(conflict)
    assert store.conflicts() == [conflict]
    assert "other" not in repr(Device(store))
