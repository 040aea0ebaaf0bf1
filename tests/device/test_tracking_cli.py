"""`sottovoce answer` and `sottovoce ledger` for tracking surveys, by the clock of this machine."""

from __future__ import annotations

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from device.played import Played
from sottovoce.cli import main
from sottovoce.device import SqliteDeviceStore
from sottovoce.device.turns import calendar_file, seat_in
from sottovoce.questions.shares import Shares
from sottovoce.surveys.calendar import Calendar, Period
from sottovoce.surveys.survey import Tracking

LONG = 1000
"""Days of a period: a test does not run across its end."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    SqliteDeviceStore("device.db")

    def here(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        status = main(words)
        return status, *capsys.readouterr()

    return here


def published(played: Played, seat: int, begun: int, **given: Any) -> Tracking:
    """A survey whose period `begun` is now and in which this folder's device has that seat in the first window."""
    today = datetime.now(UTC).date()
    starts = today - timedelta(days=LONG * (begun - 1) + LONG // 2)
    store = SqliteDeviceStore("device.db")
    for number in count():
        question, title = Shares(["no", "yes"]), f"Sleep, all; {number}"
        asked = sv.Tracking(question, epsilon=1.0, every=LONG, starts=starts, grace=5, title=title, **given)
        if seat_in(store, asked.id, 1, asked.calendar.seats) == seat:
            break
    played.publish(asked)
    for k in range(1, (asked.calendar.periods or 4) + 1):
        played.surveys[asked.period(k).id] = asked.period(k)
    return asked


def test_come_back_later(played: Played, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read from standard input, since no value is needed yet."""
    asked = published(played, seat=2, begun=1, periods=3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"yes\n")))
    status, out, err = run("answer", played.url, asked.id, "-", "--calendar", "sleep.ics")
    assert (status, err) == (0, "")
    assert f"waiting: come back in the {asked.calendar.label(2)}; nothing was drawn" in out
    assert f"this device's period ({asked.calendar.label(2)}) was written to sleep.ics" in out
    assert "epsilon 8 of 8 left for life" in out
    assert sys.stdin.buffer.read() == b"yes\n"
    assert played.bodies == []
    assert Path("sleep.ics").stat().st_mode & 0o077 == 0
    event = Path("sleep.ics").read_bytes().decode()
    assert f"UID:{asked.id}-2@sottovoce" in event.replace("\r\n ", "")
    closes = asked.calendar.closes(2).date().isoformat()
    assert f"answered until {closes} 00:00 UTC" in event.replace("\r\n ", "")
    status, out, _ = run("answer", played.url, asked.id, "yes", "--json")
    told = json.loads(out)
    assert (status, told["state"], told["period"]["number"], told["after"]) == (0, "waiting", 2, None)


def test_answered_in_its_period(played: Played, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = published(played, seat=1, begun=1, periods=3)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"yes\n")))
    status, out, _ = run("answer", played.url, asked.id, "-", "--calendar", "sleep.ics")
    assert status == 0
    assert "randomized on this device with epsilon 1; no other report will be drawn" in out
    assert "no period of this survey is to come for this device; sleep.ics was not written" in out
    assert not Path("sleep.ics").exists()
    assert len(played.reports(asked.period(1))) == 1
    status, out, _ = run("answer", played.url, asked.id, "no")
    assert "answered before: its first report stands" in out
    assert len(played.bodies) == 1


def test_missed(played: Played, run: Any) -> None:
    asked = published(played, seat=1, begun=2, periods=3)
    status, out, _ = run("answer", played.url, asked.id, "yes")
    assert status == 2
    assert "missed: this device's turn was" in out
    assert played.bodies == []


def test_renewals(played: Played, run: Any) -> None:
    """The ledger says what each window costs and what all cost; with --refuse-renewals there is one window."""
    asked = published(played, seat=1, begun=1, renews=2)
    status, out, _ = run("answer", played.url, asked.id, "yes", "--calendar", "next.ics")
    assert status == 0
    assert "sent; its next turn is in the" in out
    assert "no other report will be drawn in this window" in out
    assert Path("next.ics").exists()
    _, out, _ = run("ledger")
    assert f"{asked.title} renews: epsilon 1 in each window, and so 1 in 1 window" in out
    assert out.endswith("epsilon 7 of 8 left for life, 7 of 8 in any 91 days\n")
    told = json.loads(run("ledger", "--json", "--window-budget", "2", "--window-days", "30")[1])
    assert told["window"] == {"days": 30, "spent": 1.0, "left": 1.0, "budget": 2.0}
    (renewal,) = told["renewals"]
    assert (renewal["windows"], renewal["per_window"], renewal["spent"]) == (1, 1.0, 1.0)
    told = json.loads(run("answer", played.url, asked.id, "yes", "--refuse-renewals", "--json")[1])
    assert (told["state"], told["after"]) == ("sent", None)
    assert SqliteDeviceStore("device.db").refuses_renewals(asked.id)


def test_a_window_budget_refuses(played: Played, run: Any) -> None:
    asked = published(played, seat=1, begun=1, periods=3)
    status, _, err = run("answer", played.url, asked.id, "yes", "--window-budget", "0.5")
    assert status == 2
    assert "0.5 of 0.5 left for any 91 days; answer later, or raise window_budget (--window-budget)" in err
    for option, problem in (("--window-days=0", "integer from 1 to"), ("--window-budget=-1", "finite")):
        assert problem in run("answer", played.url, asked.id, "yes", option)[2]


def test_a_calendar_file_that_cannot_be_written(played: Played, run: Any) -> None:
    asked = published(played, seat=2, begun=1, periods=3)
    status, _, err = run("answer", played.url, asked.id, "yes", "--calendar", "nowhere/sleep.ics")
    assert status == 2
    assert "choose another file for --calendar" in err


def test_a_calendar_file_is_as_the_standard_says() -> None:
    """RFC 5545: lines of at most 75 octets that end in CRLF, text escaped, whole days, one event."""
    calendar = Calendar.of(every="week", starts="2027-01-04", periods=4)
    title = "Schläfst, du; gut?\\ \x1b[2J" + "ü" * 100
    stamp = datetime(2026, 12, 1, 12, tzinfo=UTC)
    made = calendar_file("ab" * 32, title, "https://stats.example.org", Period(calendar, 2), stamp)
    assert made.endswith("END:VCALENDAR\r\n")
    lines = made.split("\r\n")
    assert all(len(line.encode()) <= 75 for line in lines)
    assert all(line.isprintable() for line in lines)
    unfolded = made.replace("\r\n ", "").split("\r\n")
    fields = dict(line.split(":", 1) for line in unfolded if line)
    assert fields["DTSTART;VALUE=DATE"] == "20270111"
    assert fields["DTEND;VALUE=DATE"] == "20270118"
    assert fields["DTSTAMP"] == "20261201T120000Z"
    assert fields["UID"] == f"{'ab' * 32}-2@sottovoce"
    assert fields["SUMMARY"].startswith("Answer Schläfst\\, du\\; gut?\\\\ [2J")
    assert [line for line in unfolded if line.startswith(("BEGIN", "END"))] == [
        *("BEGIN:VCALENDAR", "BEGIN:VEVENT", "BEGIN:VALARM", "END:VALARM", "END:VEVENT", "END:VCALENDAR")
    ]
