"""What a device does for one survey is bounded, whoever signs it, and never depends on the value."""

from __future__ import annotations

import dataclasses
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, as_json
from refusing import refuses
from sottovoce.core.errors import BudgetError, ServiceError, SottovoceError
from sottovoce.device import Device, Effort, Http, MemoryStore
from sottovoce.device.effort import ANALYST, DEVICE
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.surveys.survey import Survey

VALUES = (0, 1, "not in the domain", None)


def lowered(**limits: int) -> Effort:
    return dataclasses.replace(DEVICE, **limits)


def assert_refused(played: Played, survey_id: str, field: str, effort: Effort = DEVICE) -> None:
    """With the same words whatever the value, before anything is drawn or looked at."""
    told = set()
    for value in VALUES:
        mine = Device(MemoryStore(), effort=effort)
        with refuses(BudgetError, field) as info:
            mine.answer(played.url, survey_id, value)
        told.add(str(info.value))
        assert mine.ledger.spent == 0
        mine.close()
    assert len(told) == 1
    assert played.bodies == []


# --- how much is drawn and sent --------------------------------------------------------------


def unary(size: int) -> Survey:
    return sv.Survey(sv.shares(size), epsilon=1.0, mechanism="unary_symmetric", max_report_bytes=2**20)


def test_long_reports(played: Played) -> None:
    """A bit for every value: the work is the report's length."""
    assert_refused(played, played.publish(unary(2**19 + 1)), "report_bytes")
    small = played.publish(unary(33))
    assert_refused(played, small, "report_bytes", lowered(report_bytes=4))
    assert Device(MemoryStore(), effort=lowered(report_bytes=5)).answer(played.url, small, 1).state == "sent"


def test_large_sets(played: Played) -> None:
    survey = sv.Survey(sv.shares(2**20), epsilon=1.0, mechanism="subset_selection", max_report_bytes=2**20)
    assert_refused(played, played.publish(survey), "report_bytes")


def test_long_vectors(played: Played) -> None:
    short = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, mechanism="codebook")
    assert short.mechanism.size == 64
    long = sv.Survey(sv.vector(2**18 + 1, 1.0), epsilon=1.0, mechanism="rejection")
    assert_refused(played, played.publish(long), "dimension")
    assert_refused(played, played.publish(short), "dimension", lowered(dimension=31))
    allowed = Device(MemoryStore(), effort=lowered(dimension=32))
    assert allowed.answer(played.url, short.id, [0.0, 0.0]).state == "sent"


def test_rounds_are_checked_too(played: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    survey = sv.Panel(10, rounds=1, epsilon=1.0)
    asked = sv.adaptive.round_of(survey, 1, "value / 9")
    for published in (survey, asked):
        played.publish(published)
    seen: list[object] = []
    monkeypatch.setattr(Effort, "check_survey", lambda self, found: seen.append(found.id))
    Device(MemoryStore()).answer(played.url, survey.id, 3)
    assert seen == [survey.id, asked.id]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, None, float("inf")])
@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Effort)])
def test_no_limit_can_be_switched_off(name: str, wrong: Any) -> None:
    with refuses(BudgetError, name):
        lowered(**{name: wrong})


def test_a_device_does_less_than_an_analyst() -> None:
    assert all(mine < theirs for mine, theirs in zip(vars(DEVICE).values(), vars(ANALYST).values(), strict=True))


# --- how much is read and unpacked -----------------------------------------------------------


def test_long_statements(played: Played) -> None:
    long = sv.Survey(sv.shares([f"{i:08}" for i in range(200_000)]), epsilon=1.0, mechanism="hadamard")
    assert 2**21 < len(long.canonical) < 2**22
    assert_refused(played, played.publish(long), "statement_bytes")
    short = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0)
    assert_refused(played, played.publish(short), "statement_bytes", lowered(statement_bytes=len(short.canonical) - 1))
    enough = Device(MemoryStore(), effort=lowered(statement_bytes=len(short.canonical)))
    assert enough.answer(played.url, short.id, "red").state == "sent"


def test_a_matrix_that_unpacks_to_much(played: Played, device: MakeDevice, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused by what its first bytes announce; nothing is unpacked."""
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="optimized")
    matrix = survey.mechanism.matrix
    entries = matrix.reports * matrix.values
    played.publish(survey)
    with monkeypatch.context() as patched:
        patched.setattr(ChannelMatrix, "from_bytes", None)
        assert_refused(played, survey.id, "attachment_entries", lowered(attachment_entries=entries - 1))
    allowed = device(effort=lowered(attachment_entries=entries))
    assert allowed.answer(played.url, survey.id, 3).state == "sent"


def test_a_matrix_above_the_default(played: Played) -> None:
    header = ChannelMatrix(np.array([[1, 1], [1, 1]]), 1).to_bytes()
    announced = header[:4] + (2**11).to_bytes(4, "little") + (2**10 + 1).to_bytes(4, "little") + header[12:]
    with refuses(BudgetError, "attachment_entries"):
        DEVICE.check_attachment(bytes(8) + announced)
    for other in (b"", b"short", bytes(100), b"\xff" * 100):  # no matrix: reading it will say so
        DEVICE.check_attachment(other)


def test_a_long_attachment(played: Played, device: MakeDevice) -> None:
    survey = sv.Survey(sv.queries(sv.workloads.Prefix(16)), epsilon=1.0, strategy="optimized")
    (packed,) = survey.attachments.values()
    played.publish(survey)
    with pytest.raises(ServiceError, match="longer than"):
        device(effort=lowered(attachment_bytes=len(packed) - 1)).answer(played.url, survey.id, 3)
    assert device(effort=lowered(attachment_bytes=len(packed))).answer(played.url, survey.id, 3).state == "sent"


@pytest.mark.slow
@pytest.mark.parametrize("piece", [b"[],", b"{},", b'{"a":1},', b'"",', b"1.5,"])
@pytest.mark.parametrize("status", [200, 404])
@pytest.mark.parametrize("around", [(b"[", b"0]"), (b'{"surplus":[', b"0]}"), (b'{"id":[', b"0]}")])
def test_nothing_is_built_that_is_not_needed(
    played: Played, survey: Survey, piece: bytes, status: int, around: tuple[bytes, bytes]
) -> None:
    """Millions of small things cost no more than the bytes they came in, three times over while these are joined."""
    body = around[0] + piece * (2**21 // len(piece)) + around[1]
    played.twists["GET", survey.id] = lambda _: (status, {}, body)
    mine = Device(MemoryStore())
    tracemalloc.start()
    try:
        with pytest.raises(SottovoceError):
            mine.answer(played.url, survey.id, 1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        mine.close()
    assert peak < 4 * 2**21


def test_that_would_have_been_noticed() -> None:
    """The same bytes read without knowing what they must be."""
    tracemalloc.start()
    try:
        msgspec.json.decode(b"[" + b"[]," * (2**21 // 3) + b"0]")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak > 4 * 2**21


def test_answers_of_a_kind(played: Played) -> None:
    played.twists["GET", "/x"] = lambda _: as_json(200, {"a": 1, "b": "two"})
    assert Http(played.url).get("/x") == {"a": 1, "b": "two"}
    with pytest.raises(ServiceError, match="is invalid"):
        Http(played.url).get("/x", kind=dict[str, int])
    played.twists["GET", "/x"] = lambda _: (200, {}, b"")
    assert Http(played.url).get("/x") is None
    with pytest.raises(ServiceError, match="not JSON"):
        Http(played.url).get("/x", kind=dict[str, int])


# --- a slow draw keeps nobody waiting --------------------------------------------------------


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_others_answer_during_a_draw(
    played: Played, survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    store = MemoryStore() if kind == "memory" else tmp_path / "device.db"
    quick = sv.Survey(sv.shares(5), epsilon=1.0)
    played.publish(quick)
    drawing, go_on, real = threading.Event(), threading.Event(), Survey.randomize

    def slow(self: Survey, value: object) -> bytes:
        if self.id == survey.id:
            drawing.set()
            assert go_on.wait(60)
        return real(self, value)

    monkeypatch.setattr(Survey, "randomize", slow)
    with Device(store) as mine, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(mine.answer, played.url, survey.id, 7)
        assert drawing.wait(60)
        try:
            assert mine.answer(played.url, quick.id, 1).state == "sent"
        finally:
            go_on.set()
        assert waiting.result().state == "sent"
        assert mine.ledger.spent == 2.0


def test_of_two_draws_at_once_one_is_forgotten(
    played: Played, survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have drawn before either is kept: one report is sent, and of the other nothing is left."""
    drawn: list[bytes] = []
    both, real = threading.Barrier(2, timeout=60), Survey.randomize

    def together(self: Survey, value: object) -> bytes:
        report = real(self, value)
        drawn.append(report)
        both.wait()
        return report

    monkeypatch.setattr(Survey, "randomize", together)
    with Device(tmp_path / "device.db") as mine, ThreadPoolExecutor(2) as pool:
        receipts = list(pool.map(lambda value: mine.answer(played.url, survey.id, value), (7, 8)))
        assert mine.ledger.spent == 1.0
    assert {receipt.state for receipt in receipts} == {"sent"}
    (sent,) = {row[16:] for row in played.reports(survey)}
    (forgotten,) = set(drawn) - {sent}
    assert forgotten not in (tmp_path / "device.db").read_bytes()


def test_a_draw_that_the_budget_no_longer_allows_is_forgotten(
    played: Played, survey: Survey, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look at the budget and the draw another survey was answered."""
    other = sv.Survey(sv.shares(5), epsilon=1.0)
    played.publish(other)
    path, drawn, real = tmp_path / "device.db", [], Survey.randomize

    def meanwhile(self: Survey, value: object) -> bytes:
        if self.id == survey.id:
            Device(path, budget=1.0).answer(played.url, other.id, 1)
        drawn.append(real(self, value))
        return drawn[-1]

    monkeypatch.setattr(Survey, "randomize", meanwhile)
    with pytest.raises(BudgetError), Device(path, budget=1.0) as mine:
        mine.answer(played.url, survey.id, 7)
    assert len(drawn) == 2
    assert played.reports(survey) == []
    assert drawn[1] not in path.read_bytes()
    assert Device(path).ledger.spent == 1.0
