"""What no collector in use does and no machine should: refused or survived all the same, with nothing left open."""

from __future__ import annotations

import contextlib
import socket
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from sottovoce.core.errors import LedgerError, ServiceError, SignatureError, SurveyError
from sottovoce.core.signing import SigningKey
from sottovoce.device import MemoryStore, connections, fetch
from sottovoce.device.fetch import BAD_ANSWER
from sottovoce.device.http import Http
from sottovoce.surveys.survey import Survey

CHECKED = "title TEXT NOT NULL CHECK (title = '')"
"""No row satisfies this, as no page of a damaged file would."""


def test_attachments_are_named_by_digests(played: Played, survey: Survey, device: MakeDevice) -> None:
    """A name that stands in the statement, and is no digest, is asked for under no path."""
    played.change = lambda envelope: envelope.update(attachments=["Colours"])
    with pytest.raises(ServiceError, match="names that are not digests") as refused:
        device().answer(played.url, survey.id, 7)
    assert refused.value.code == BAD_ANSWER
    assert [path for _, path in played.requests if "attachments" in path] == []
    assert played.bodies == []


@pytest.mark.parametrize("failure", [KeyError("x"), ZeroDivisionError(), RecursionError(), MemoryError()], ids=repr)
def test_a_statement_that_no_check_foresaw(
    played: Played,
    survey: Survey,
    device: MakeDevice,
    monkeypatch: pytest.MonkeyPatch,
    failure: Exception,
) -> None:
    def fail(*_: object) -> None:
        raise failure

    monkeypatch.setattr(sv.Survey, "from_json", fail)
    with pytest.raises(SurveyError, match=type(failure).__name__):
        device().answer(played.url, survey.id, 7)
    assert played.bodies == []
    assert device().ledger.spent == 0


def test_an_answer_that_came_another_way_is_checked_too() -> None:
    with pytest.raises(ServiceError, match="is invalid") as refused:
        fetch._as({"surveys": "many"}, fetch.Envelope)
    assert refused.value.code == BAD_ANSWER
    with pytest.raises(SignatureError, match="Unicode"):
        fetch._utf8("\ud800")


def test_another_statement_under_the_same_id(played: Played, survey: Survey, device: MakeDevice) -> None:
    """A collector signs what it likes; that an id names one statement and no other is what people compare."""
    worse = sv.Survey(sv.shares(2**40), epsilon=2.0, mechanism="hadamard", title="Colours")

    def swap(envelope: dict[str, Any]) -> None:
        envelope.update(played.signed(worse.canonical.decode()) | {"id": survey.id})

    played.change = swap
    with pytest.raises(SignatureError, match="not the SHA-256 of its statement"):
        device(key=played.key.public).answer(played.url, survey.id, 7)
    assert played.bodies == []


def test_two_first_looks_that_see_two_keys(played: Played, survey: Survey, device: MakeDevice) -> None:
    """Between this look and its pin another process has pinned another key: neither is to be believed."""
    store = MemoryStore()
    mine = device(store)
    store.pin(played.url, SigningKey(bytes(32)).public)
    store.pinned = lambda url: None  # type: ignore[method-assign]
    with pytest.raises(SignatureError, match="two different keys"):
        mine.answer(played.url, survey.id, 7)
    assert played.bodies == []
    assert mine.ledger.spent == 0


def test_a_round_that_is_refused_is_not_one_that_is_still_closed(played: Played, device: MakeDevice) -> None:
    adaptive = sv.Panel(sv.Domain.of(4), rounds=1, epsilon=1.0, radius=1.0)
    played.publish(adaptive)
    mine = device()
    assert mine.answer(played.url, adaptive.id, 1).state == "waiting"
    played.twists["GET", "/rounds/latest"] = lambda _: refusal(410, "survey_deleted")
    with pytest.raises(ServiceError) as refused:
        mine.answer(played.url, adaptive.id, 1)
    assert refused.value.code == "survey_deleted"


def test_a_store_that_cannot_note_what_was_sent_says_so(played: Played, survey: Survey, device: MakeDevice) -> None:
    """`flush` tells of every other failure in a receipt; this one would otherwise send the same again for ever."""
    store = MemoryStore()
    mine = device(store)
    mine.answer(played.url, survey.id, 7, send=False)

    def full(*_: object) -> None:
        raise LedgerError("no room")

    honest, store.mark = store.mark, full  # type: ignore[method-assign]
    with pytest.raises(LedgerError, match="no room"):
        mine.flush()
    store.mark = honest  # type: ignore[method-assign]
    assert [receipt.state for receipt in mine.flush()] == ["sent"]
    assert len(set(played.reports(survey))) == 1


def test_a_store_whose_pages_do_not_fit_together(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    device().answer(played.url, survey.id, 7)
    with contextlib.closing(sqlite3.connect(tmp_path / "device.db")) as database, database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_schema SET sql = replace(sql, 'title TEXT NOT NULL', ?)", [CHECKED])
    with pytest.raises(LedgerError, match="integrity check fails"):
        device().answer(played.url, survey.id, 7)
    assert len(played.bodies) == 1


def test_an_address_family_that_the_machine_lacks(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next address is tried; only where none is left it is an error, and no socket stays open."""
    honest, port = socket.socket, int(played.url.rsplit(":", 1)[1])
    missing = (socket.AF_INET6, socket.SOCK_STREAM, 0, "", ("::1", port, 0, 0))
    found = [missing, (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", port))]

    class Without(honest):
        def __init__(self, family: int = -1, *more: int, **named: Any) -> None:
            if family == socket.AF_INET6:
                raise OSError("address family not supported")
            super().__init__(family, *more, **named)

    monkeypatch.setattr(connections.socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(connections.socket, "socket", Without)
    http = Http(played.url)
    assert http.get("/v1/surveys") == {"surveys": []}
    http.close()
    found[:] = [missing]
    with pytest.raises(ServiceError, match="cannot be reached"):
        http.get("/v1/surveys")


def test_an_interrupted_connection_is_closed(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[socket.socket] = []

    class Interrupted(socket.socket):
        def connect(self, address: Any) -> None:
            made.append(self)
            raise KeyboardInterrupt

    monkeypatch.setattr(connections.socket, "socket", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        Http(played.url).get("/v1/surveys")
    assert [sock.fileno() for sock in made] == [-1]
