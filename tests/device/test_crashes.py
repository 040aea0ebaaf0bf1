"""A device that dies at any step, runs twice at once, or has no disk left: one draw, one report, the same bytes."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from sottovoce.core.errors import LedgerError
from sottovoce.device import Device, MemoryStore, SqliteDeviceStore, sqlite_store
from sottovoce.device.turns import seat_in
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

ANSWER = """
import os, sys
from sottovoce.device import CollectorClient, Device, Patience, SqliteDeviceStore
from sottovoce.surveys.survey import Survey

store, url, survey, value, where = sys.argv[1:]

def die_around(owner, name, when):
    real = getattr(owner, name)
    def dying(*given, **named):
        if when == "before":
            os._exit(9)
        found = real(*given, **named)
        os._exit(9)
    setattr(owner, name, dying)

if where == "no disk":
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
elif where:
    owner, name, when = where.split()
    die_around({"store": SqliteDeviceStore, "collector": CollectorClient, "survey": Survey}[owner], name, when)
device = Device(store, patience=Patience(attempts=1))
print(device.answer(url, survey, int(value)).state)
"""


REFUSED = re.compile(r"^sottovoce\.core\.errors\.LedgerError: ", re.MULTILINE)
"""How the process ends; what measures it may have no disk either, and say so later."""


def start(store: Path, url: str, survey: str, value: int, where: str = "") -> subprocess.Popen[str]:
    words = [sys.executable, "-c", ANSWER, str(store), url, survey, str(value), where]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


STEPS = [
    "collector survey before",
    "store pin before",
    "store pin after",
    "store record before",
    "survey randomize after",
    "store record after",
    "collector send before",
    "collector send after",
    "store mark before",
    "store mark after",
]


def test_killed_at_every_step(played: Played, tmp_path: Path) -> None:
    """All at once, each on a device of its own; then each is asked again, with another value."""
    surveys = {step: sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard", title=step) for step in STEPS}
    started = {
        step: start(tmp_path / step, played.url, played.publish(survey), 7, step) for step, survey in surveys.items()
    }
    for step, process in started.items():
        assert process.communicate()[1] == "", step
        assert process.returncode == 9, step
    for step, survey in surveys.items():
        before = played.reports(survey)
        drawn = Device(tmp_path / step).ledger.spent
        with Device(tmp_path / step) as again:
            assert again.answer(played.url, survey.id, 8).state == "sent"
            assert again.ledger.spent == 1.0
        assert len(set(played.reports(survey))) == 1, step
        assert drawn == (1.0 if STEPS.index(step) >= STEPS.index("store record after") else 0.0)
        assert len(before) == (1 if STEPS.index(step) >= STEPS.index("collector send after") else 0)
        assert before == [] or drawn == 1.0, "what was sent stands in the ledger"


def test_a_seat_survives_being_killed(played: Played, tmp_path: Path) -> None:
    survey = sv.Panel(10, rounds=60_000, epsilon=1.0)
    played.publish(survey)
    process = start(tmp_path / "device.db", played.url, survey.id, 7, "collector latest_round before")
    assert process.communicate() == ("", "")
    assert played.requests == [("GET", f"/v1/surveys/{survey.id}")]
    seat = seat_in(SqliteDeviceStore(tmp_path / "device.db"), survey.id, 1, 60_000)
    played.publish(sv.adaptive.round_of(survey, seat, "value < 5"))
    with Device(tmp_path / "device.db") as again:
        assert again.answer(played.url, survey.id, 7).state == "sent"


def test_several_processes_at_once(played: Played, survey: Survey, tmp_path: Path) -> None:
    """On a store that none of them finds there."""
    started = [start(tmp_path / "device.db", played.url, survey.id, value) for value in range(6)]
    assert {process.communicate() for process in started} == {("sent\n", "")}
    assert len(set(played.reports(survey))) == 1
    with Device(tmp_path / "device.db") as device:
        assert device.ledger.spent == 1.0
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_many_threads_at_once(played: Played, survey: Survey, tmp_path: Path, kind: str) -> None:
    store = tmp_path / "device.db" if kind == "file" else MemoryStore()
    with Device(store) as mine, ThreadPoolExecutor(12) as pool:
        receipts = list(pool.map(lambda value: mine.answer(played.url, survey.id, value), range(24)))
    assert {receipt.state for receipt in receipts} == {"sent"}
    assert len(set(played.reports(survey))) == 1


def test_the_budget_holds_among_threads(played: Played, tmp_path: Path) -> None:
    """Ten surveys at once and a budget for three: exactly three are answered."""
    ids = [played.publish(sv.Survey(sv.shares(5), epsilon=1.0, title=str(i))) for i in range(10)]

    def attempt(survey: str) -> str:
        try:
            return Device(tmp_path / "device.db", budget=3.0).answer(played.url, survey, 1).state
        except sv.errors.BudgetError:
            return "over"

    with ThreadPoolExecutor(10) as pool:
        states = sorted(pool.map(attempt, ids))
    assert states == ["over"] * 7 + ["sent"] * 3
    assert Device(tmp_path / "device.db").ledger.spent == 3.0


def test_the_number_of_answers_holds_among_threads_and_after_being_killed(played: Played, tmp_path: Path) -> None:
    """Killed after its first answer was recorded: that one counts, and of nine more at once two are given."""
    ids = [played.publish(sv.Survey(sv.shares(5), epsilon=0.01, title=str(i))) for i in range(10)]
    start(tmp_path / "device.db", played.url, ids[0], 1, "store record after").communicate()

    def attempt(survey: str) -> str:
        try:
            return Device(tmp_path / "device.db", max_answers=3).answer(played.url, survey, 1).state
        except sv.errors.BudgetError as error:
            return str(error)

    with ThreadPoolExecutor(9) as pool:
        states = list(pool.map(attempt, ids[1:]))
    refused = "this device has given 3 answers and its limit is 3; raise max_answers (--max-answers) to allow more"
    assert sorted(states) == sorted(["sent"] * 2 + [refused] * 7)
    with Device(tmp_path / "device.db", max_answers=3) as again:
        assert attempt(ids[0]) == "sent", "an answer that stands is sent, whatever the limit"
        assert (len(again.ledger), again.ledger.answers_left) == (3, 0)
    assert len({body[:36] for body in played.bodies}) == 3


def test_a_full_disk(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    """Nothing can be written: nothing is sent. Once there is room again, everything goes on."""
    device()
    process = start(tmp_path / "device.db", played.url, survey.id, 7, "no disk")
    out, err = process.communicate()
    assert (out, process.returncode) == ("", 1)
    assert REFUSED.search(err)
    assert played.bodies == []
    assert device().ledger.spent == 0
    assert device().answer(played.url, survey.id, 7).state == "sent"
    assert device().ledger.spent == 1.0


def test_a_full_disk_after_the_draw(played: Played, survey: Survey, device: MakeDevice, tmp_path: Path) -> None:
    """What was drawn is recorded; it can be sent, and is sent again as it is, although nothing can be marked."""
    played.twists["POST", "/reports"] = lambda _: refusal(503, "busy")
    device().answer(played.url, survey.id, 7)
    played.twists.clear()
    process = start(tmp_path / "device.db", played.url, survey.id, 8, "no disk")
    assert REFUSED.search(process.communicate()[1])
    assert device().flush()[0].state == "sent"
    assert len(set(played.reports(survey))) == 1


# --- a damaged store -------------------------------------------------------------------------


def other_database(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE recipes (name TEXT)")


def later_version(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 6")


def middle_overwritten(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    for start_of_page in range(4096, len(raw), 4096):
        raw[start_of_page : start_of_page + 64] = b"\xa5" * 64
    path.write_bytes(raw)


DAMAGES = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:5000]),
    "text": lambda path: path.write_text("hello"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "pages": middle_overwritten,
    "another database": other_database,
    "a later version": later_version,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_store_is_an_error_and_stays(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path, damage: object
) -> None:
    device().answer(played.url, survey.id, 7)
    path = tmp_path / "device.db"
    damage(path)  # type: ignore[operator]
    before = path.read_bytes() if path.is_file() else None
    asked = len(played.requests)
    with pytest.raises(LedgerError) as info:
        device().answer(played.url, survey.id, 7)
    assert str(path) in str(info.value)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert len(played.requests) == asked


def test_a_store_that_vanishes_is_not_made_anew(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path
) -> None:
    mine = device()
    (tmp_path / "device.db").unlink()
    with pytest.raises(LedgerError):
        mine.answer(played.url, survey.id, 7)
    assert list(tmp_path.iterdir()) == []
    assert played.requests == []


def test_a_locked_store(
    played: Played,
    survey: Survey,
    device: MakeDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mine = device(key=played.key.public)
    monkeypatch.setattr(sqlite_store, "_WAIT_SECONDS", 0.05)
    database = sqlite3.connect(tmp_path / "device.db", isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerError, match="locked"):
        mine.answer(played.url, survey.id, 7)
    assert played.bodies == []
    database.execute("ROLLBACK")
    database.close()
    assert mine.answer(played.url, survey.id, 7).state == "sent"


@pytest.mark.parametrize("store", ["nowhere/device.db", "a\0b", 7, None])
def test_a_store_that_cannot_be(store: object, tmp_path: Path) -> None:
    with pytest.raises(LedgerError):
        Device(str(tmp_path / store) if isinstance(store, str) else store)  # type: ignore[arg-type]
