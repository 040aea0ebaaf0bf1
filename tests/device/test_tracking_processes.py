"""Processes of one device that race, or are killed, in a tracking survey: one draw, and the same bytes."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

import sottovoce as sv
from device.played import Played
from sottovoce.device import Device, SqliteDeviceStore
from sottovoce.device.turns import seat_in
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Tracking

pytestmark = pytest.mark.slow

ANSWER = """
import os, sys
from sottovoce.device import CollectorClient, Device, Patience, SqliteDeviceStore

store, url, survey, where = sys.argv[1:]
if where:
    name, when = where.split()
    owner = CollectorClient if name in ("send", "time") else SqliteDeviceStore
    real = getattr(owner, name)
    def dying(*given, **named):
        if when == "after":
            real(*given, **named)
        os._exit(9)
    setattr(owner, name, dying)
device = Device(store, patience=Patience(attempts=1))
asked = []
print(device.answer(url, survey, lambda period: asked.append(period.number) or 3).state, len(asked) < 2)
"""

STEPS = ["time after", "record before", "record after", "send after", "mark before"]


def start(store: Path, url: str, survey: str, where: str = "") -> subprocess.Popen[str]:
    words = [sys.executable, "-c", ANSWER, str(store), url, survey, where]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def due_now(played: Played, store: Path) -> Tracking:
    """A survey that renews, whose first period is now for years and is this device's."""
    starts = datetime.now(UTC).date() - timedelta(days=100)
    question = Shares(2**40)  # two draws hardly ever agree
    for number in count():
        made = sv.Tracking(
            question,
            epsilon=1.0,
            mechanism="hadamard",
            every=1000,
            starts=starts,
            renews=2,
            title=f"{store.name} {number}",
        )
        if seat_in(SqliteDeviceStore(store), made.id, 1, 2) == 1:
            played.publish(made)
            played.publish(made.period(1))
            return made
    raise AssertionError("unreachable")


def test_several_processes_answer_once(played: Played, tmp_path: Path) -> None:
    asked = due_now(played, tmp_path / "device.db")
    started = [start(tmp_path / "device.db", played.url, asked.id) for _ in range(4)]
    assert {process.communicate() for process in started} == {("sent True\n", "")}
    assert len(set(played.reports(asked.period(1)))) == 1
    assert Device(tmp_path / "device.db").ledger.spent == 1.0


def test_killed_at_every_step(played: Played, tmp_path: Path) -> None:
    surveys = {step: due_now(played, tmp_path / step) for step in STEPS}
    started = {step: start(tmp_path / step, played.url, asked.id, step) for step, asked in surveys.items()}
    for step, process in started.items():
        assert (process.communicate()[1], process.returncode) == ("", 9), step
    for step, asked in surveys.items():
        with Device(tmp_path / step) as again:
            spent = again.ledger.spent
            assert again.answer(played.url, asked.id, 4).state == "sent"
            assert again.ledger.spent == 1.0
        assert len(set(played.reports(asked.period(1)))) == 1, step
        assert spent == (0.0 if step in STEPS[:2] else 1.0)
