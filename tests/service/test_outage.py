"""What fails again and again is said once, and said to be over once."""

from __future__ import annotations

import logging

import pytest

from sottovoce.collector.counting.survey_troubles import SurveyTroubles
from sottovoce.core.errors import StoreError
from sottovoce.service.running.outage import Outage, Repeats, pause_after

LOG = logging.getLogger("sottovoce.test")


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return lines


def test_a_change_is_said_once_and_what_lasts_every_five_minutes(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    outage = Outage(LOG, "it fails", clock=lambda: now[0])
    outage.worked()
    assert said(caplog) == []
    for _ in range(299 * 20):
        now[0] += 0.05
        outage.failed("no disk")
    assert said(caplog) == ["it fails: no disk"]
    outage.failed("no light")
    outage.failed("no disk")
    assert said(caplog) == ["it fails: no light"]
    now[0] += 10
    outage.failed("no disk")
    outage.failed("no disk")
    assert said(caplog) == ["it fails, for 5 min now: no disk"]
    assert outage.lasts
    outage.worked()
    outage.worked()
    assert said(caplog) == ["it fails: over, after 5 min"]
    outage.failed("no disk")
    assert said(caplog) == ["it fails: no disk"]


def test_a_reason_that_is_another_each_time_fills_no_log(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage(LOG, "it fails")
    for number in range(1000):
        outage.failed(f"port {number}")
    assert len(said(caplog)) < 10


def test_pauses_grow_and_differ() -> None:
    assert all(2.5 <= pause_after(failures) <= 5.0 for failures in (50, 500, 5000))
    assert len({pause_after(9) for _ in range(20)}) > 1
    assert all(0.025 <= pause_after(1) <= 0.05 for _ in range(20))


def test_one_fault_of_a_thousand_requests_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    now = [0.0]
    repeats = Repeats(LOG, logging.ERROR, clock=lambda: now[0])
    for _ in range(1000):
        repeats.say("the store failed")
    assert said(caplog) == ["the store failed"]
    now[0] = 301.0
    repeats.say("the store failed")
    assert said(caplog) == ["999 more of the same since it was said last; the store failed"]
    for number in range(1000):
        repeats.say(f"fault {number}")
    assert len(repeats._said) <= 64


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (StoreError("segment 3 is damaged: restore a backup"), "segment 3 is damaged: restore a backup; its reports"),
        (MemoryError(), "too little memory"),
        (KeyError("private"), "KeyError, a fault of this program: report it"),
    ],
)
def test_a_survey_in_trouble_is_named_with_a_reason_and_a_remedy(
    error: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    troubles = SurveyTroubles("cannot be counted")
    for _ in range(10):
        troubles.failed("0123456789abcdef", error)
    (line,) = said(caplog)
    assert line.startswith("survey 0123456789ab cannot be counted: ")
    assert words in line
    assert "private" not in line
    troubles.worked("0123456789abcdef")
    troubles.worked("another")
    assert said(caplog) == ["survey 0123456789ab cannot be counted: over, after 0 s"]
    for number in range(3000):
        troubles.failed(f"{number:012}", error)
    assert len(troubles._outages) <= 1024
