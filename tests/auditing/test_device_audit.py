"""The audit of a device by its histories: what it runs, what it says, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from commands import run_here
from refusing import refuses
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.device import sending
from sottovoce.histories.python_device import PythonDevice
from sottovoce.histories.scenario import scenario_of, usual_scenarios
from sottovoce.histories.search import search
from sottovoce.histories.server import LoopbackServer

LATE = "answer a; a window passes; answer a, crash after it is recorded; a window passes; flush"


def test_every_history_of_one_event_and_some_longer_ones(tmp_path: Path) -> None:
    """Much happens in them: reports are sent, repeated and lost in every survey."""
    with LoopbackServer() as server:
        scenarios = usual_scenarios(server.url("relay"))
        events = sum(len(scenario.events) for scenario in scenarios)
        done = search(server, PythonDevice(tmp_path), scenarios, 6.0, lambda more: None, seed=3)
    assert (done.found, done.length, done.histories) == (None, 1, events)
    assert done.random > 0
    assert done.reports > 10


@pytest.mark.slow
def test_as_many_histories_as_there_is_time_for() -> None:
    result = sv.audit_device(seconds=10)
    assert (result.verdict, result.length >= 1, result.random > 0) == ("sound", True, True)
    assert f"all {result.histories:,} histories of up to {result.length} event" in str(result)
    assert f", and {result.random:,} longer ones at random; " in str(result)


@pytest.mark.parametrize(
    "survey",
    [
        sv.Survey(sv.number(0, 10), epsilon=0.5),
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian"),
        sv.Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0, relay=sv.Relay("https://relay.example.org", 100)),
        sv.Tracking(sv.shares(["no", "yes"]), epsilon=1.0, every="month", starts="2027-01-04", renews="quarter"),
        sv.Tracking(sv.shares(["no", "yes"]), epsilon=1.0, every="week", starts="2027-01-04", periods=5),
        sv.Panel({"age": range(20), "sex": ["f", "m"]}, rounds=30, epsilon=1.0),
    ],
    ids=lambda survey: f"{survey.kind} {type(survey).__name__}",
)
def test_a_survey_of_ones_own(survey: Any) -> None:
    """Of a tracking survey, its person answers in time; a relay is replaced by the audit's own."""
    waits = {"Tracking": "a period passes; " * 4, "Panel": "the next round opens; "}.get(type(survey).__name__, "")
    result = sv.audit_device(survey, history=f"{waits}answer b, the response is lost; restart; answer a; flush")
    assert result.sound
    assert result.reports in (1, 2, 3)


def test_a_part_of_a_survey_is_refused() -> None:
    tracking = sv.Tracking(sv.shares(2), epsilon=1.0, every="day", starts="2027-01-04", periods=4)
    with refuses(SurveyError, "survey"):
        sv.audit_device(tracking.period(2), history="flush")


@pytest.mark.parametrize("text", ["", "answer a; fly", "answer c"])
def test_an_unknown_history_is_refused(text: str) -> None:
    with refuses(SurveyError, "history"):
        sv.audit_device(history=text)


def test_seconds_must_be_possible() -> None:
    with pytest.raises(MechanismError, match="seconds is 0"):
        sv.audit_device(seconds=0)


def test_the_command_prints_a_verdict_and_its_status(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_here(capsys)
    sound = run("audit", "--device", "--history", LATE, "--json")
    assert (sound.status, sound.json["sound"], sound.json["device"]["verdict"]) == (0, True, "sound")
    monkeypatch.setattr(sending, "_has_closed", lambda kept, clock: False)
    broken = run("audit", "--device", "--history", LATE)
    assert broken.status == 1
    for line in (
        "verdict: broken",
        "problem: a report was sent after its period had closed",
        f"tracking survey: {LATE}",
    ):
        assert line in broken.out


def test_the_command_audits_a_survey_in_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(sv.Panel(5, rounds=3, epsilon=1.0).to_json())
    done = run_here(capsys)("audit", "--device", "--survey", str(file), "--history", "the next round opens; answer a")
    assert done.status == 0
    assert "surveys: panel" in done.out


@pytest.mark.parametrize(
    "words",
    [
        ("--device", "hadamard"),
        ("--device", "--epsilon", "1"),
        ("--device", "--html", "page.html"),
        ("--device", "--all"),
        ("--history", "flush"),
    ],
    ids=" ".join,
)
def test_options_that_nothing_would_read_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert run_here(capsys)("audit", *words).status == 2


def test_histories_differ_by_what_a_survey_is() -> None:
    names = [scenario.name for scenario in usual_scenarios("http://127.0.0.1:9")]
    assert names == ["plain survey", "relayed survey", "tracking survey", "panel"]
    own = scenario_of(
        sv.Survey(sv.shares(3), epsilon=1.0, relay=sv.Relay("https://r.example", 9)), "http://127.0.0.1:9"
    )
    assert (own.name, own.asked.relay.url, own.asked.relay.least) == ("relayed survey", "http://127.0.0.1:9", 9)
