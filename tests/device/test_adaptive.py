"""A device in a panel: one round for life, one question in it, one report."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json, refusal
from sottovoce.core.errors import BudgetError, MismatchError, ServiceError, SignatureError, SurveyError
from sottovoce.core.signing import SigningKey
from sottovoce.device import MemoryStore
from sottovoce.device.turns import derive_seat, seat_in
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

RECORD = {"age": 42, "country": "FR"}
DOMAIN = sv.Domain.product(age=range(100), country=["DE", "FR"])


@pytest.fixture
def adaptive(played: Played) -> Panel:
    """So many rounds that two draws agree with chance 1/60,000."""
    made = sv.Panel(DOMAIN, rounds=60_000, epsilon=1.0, title="Who earns more?")
    played.publish(made)
    return made


def seat_of(panel: Panel, path: Path) -> int:
    with sqlite3.connect(path) as database:
        ((secret,),) = database.execute("SELECT secret FROM secret").fetchall()
    return derive_seat(secret, panel.id, 1, panel.rounds)


def seat_number(asked: Survey) -> int:
    assert asked.seat is not None
    return asked.seat.round


def open_round(played: Played, survey: Panel, path: Path, query: str = "age < 50") -> Survey:
    asked = sv.adaptive.round_of(survey, seat_of(survey, path), f"find(country, ('FR',)) + ({query})", 3)
    played.publish(asked)
    return asked


def test_waiting_then_answered_once(played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path) -> None:
    path = tmp_path / "device.db"
    assert [device().answer(played.url, adaptive.id, RECORD).state for _ in range(3)] == ["waiting"] * 3
    assert device().ledger.spent == 0
    asked = open_round(played, adaptive, path)
    receipt = device().answer(played.url, adaptive.id, RECORD)
    assert (receipt.state, receipt.epsilon, receipt.survey) == ("sent", 1.0, adaptive.id)
    (entry,) = device().ledger
    assert entry.title == f"Who earns more?, round {seat_number(asked)}"
    requests = len(played.requests)
    assert device().answer(played.url, adaptive.id, {"age": 1, "country": "DE"}).state == "sent"
    assert len(played.requests) == requests
    (row,) = played.reports(asked)
    assert asked.aggregate().add([row[16:]]).n_reports == 1


def test_the_secret_is_on_disk_before_anything_is_asked_for(
    played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path
) -> None:
    kept: list[int] = []

    def look(handler: Any) -> object:
        if "/rounds/" in handler.path:
            kept.append(seat_of(adaptive, tmp_path / "device.db"))
        return Played.HONEST

    played.twists["GET", ""] = look
    device().answer(played.url, adaptive.id, RECORD)
    assert len(kept) == 1


def test_the_same_bytes_until_they_arrive(played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path) -> None:
    device().answer(played.url, adaptive.id, RECORD)
    asked = open_round(played, adaptive, tmp_path / "device.db")
    played.twists["POST", "/reports"] = lambda _: refusal(503, "busy")
    for age in (42, 43):
        assert device().answer(played.url, adaptive.id, {"age": age, "country": "FR"}).state == "unsent"
    played.twists.clear()
    played.rounds.clear()
    assert device().answer(played.url, adaptive.id, RECORD).state == "sent", "although its round is no longer shown"
    assert len(set(played.reports(asked))) == 1


def test_another_question_in_the_same_round(
    played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path
) -> None:
    device().answer(played.url, adaptive.id, RECORD)
    open_round(played, adaptive, tmp_path / "device.db")
    played.twists["POST", "/reports"] = lambda _: refusal(503, "busy")
    device().answer(played.url, adaptive.id, RECORD)
    played.twists.clear()
    second = open_round(played, adaptive, tmp_path / "device.db", "age < 51")
    with pytest.raises(MismatchError, match="another question"):
        device().answer(played.url, adaptive.id, RECORD)
    assert played.reports(second) == []
    assert device().ledger.spent == 1.0


def test_another_question_shown_to_another_process(
    played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path
) -> None:
    """While one process reads its question, another one of the same device answers a different one."""
    device().answer(played.url, adaptive.id, RECORD)
    first = open_round(played, adaptive, tmp_path / "device.db")
    inner: list[str] = []

    def meanwhile(handler: Any) -> object:
        played.twists.clear()
        inner.append(device().answer(played.url, adaptive.id, RECORD).state)
        return as_json(200, played.envelope(sv.adaptive.round_of(adaptive, seat_number(first), "age < 51")))

    played.twists["GET", "/rounds/latest"] = meanwhile
    with pytest.raises(MismatchError, match="another question"):
        device().answer(played.url, adaptive.id, RECORD)
    assert inner == ["sent"]
    assert len(played.bodies) == 1


def show(played: Played, asked: Any) -> Any:
    """Sends this as the latest round."""
    return lambda _: as_json(200, played.envelope(asked))


def test_rounds_before_and_after_the_devices_own(
    played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path
) -> None:
    device().answer(played.url, adaptive.id, RECORD)
    seat = seat_of(adaptive, tmp_path / "device.db")
    played.twists["GET", "/rounds/latest"] = show(played, sv.adaptive.round_of(adaptive, seat - 1, "age < 50"))
    assert device().answer(played.url, adaptive.id, RECORD).state == "waiting"
    played.twists["GET", "/rounds/latest"] = show(played, sv.adaptive.round_of(adaptive, seat + 1, "age < 50"))
    with pytest.raises(ServiceError, match="no more reports"):
        device().answer(played.url, adaptive.id, RECORD)
    assert device().ledger.spent == 0
    assert played.bodies == []


def test_what_is_no_round_of_the_panel(played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path) -> None:
    """Of another survey, no round at all, or signed by somebody else: no answer."""
    device().answer(played.url, adaptive.id, RECORD)
    seat = seat_of(adaptive, tmp_path / "device.db")
    other = sv.Panel(DOMAIN, rounds=60_000, epsilon=0.5)
    for asked in (sv.adaptive.round_of(other, seat, "age < 50"), adaptive, Survey(sv.shares(5), epsilon=1.0)):
        played.twists["GET", "/rounds/latest"] = show(played, asked)
        with pytest.raises(MismatchError, match="did not send a round"):
            device().answer(played.url, adaptive.id, RECORD)
    right = played.key

    def by_another(handler: Any) -> object:
        played.key = SigningKey(bytes(32))
        try:
            return show(played, sv.adaptive.round_of(adaptive, seat, "age < 50"))(handler)
        finally:
            played.key = right

    played.twists["GET", "/rounds/latest"] = by_another
    with pytest.raises(SignatureError):
        device().answer(played.url, adaptive.id, RECORD)
    assert device().ledger.spent == 0
    assert played.bodies == []


def test_a_round_by_its_own_id(played: Played, adaptive: Panel, device: MakeDevice) -> None:
    """Else a collector could have all rounds answered, one after the other."""
    asked = sv.adaptive.round_of(adaptive, 7, "age < 50")
    played.publish(asked)
    with pytest.raises(SurveyError, match=adaptive.id):
        device().answer(played.url, asked.id, RECORD)
    assert played.bodies == []


def test_a_survey_beyond_the_budget_asks_for_no_round(played: Played, adaptive: Panel, device: MakeDevice) -> None:
    with pytest.raises(BudgetError):
        device(cap=0.5).answer(played.url, adaptive.id, RECORD)
    assert [path for _, path in played.requests if "/rounds/" in path] == []


def test_a_sealed_round_costs_nothing(played: Played, adaptive: Panel, device: MakeDevice, tmp_path: Path) -> None:
    device().answer(played.url, adaptive.id, RECORD)
    asked = open_round(played, adaptive, tmp_path / "device.db")
    played.states[asked.id] = "sealed"
    with pytest.raises(ServiceError, match="no more reports"):
        device().answer(played.url, adaptive.id, RECORD)
    assert device().ledger.spent == 0


def test_rounds_are_drawn_alike() -> None:
    """600 devices over 3 rounds: chi-squared with 2 degrees above 30 has chance 3e-7; a round never drawn gives 300."""
    survey = sv.Panel(10, rounds=3, epsilon=1.0)
    seats = [seat_in(MemoryStore(), survey.id, 1, survey.rounds) for _ in range(600)]
    assert sum((seats.count(seat) - 200) ** 2 / 200 for seat in (1, 2, 3)) < 30
