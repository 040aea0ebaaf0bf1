"""An audit has as much power as one pays for: time buys runs, spaces are swept, and what is found is said at once."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import randbelow
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.auditing.budget import Budget
from sottovoce.auditing.fresh import compare_fresh
from sottovoce.auditing.result import FRESH_PROCESS, REMEMBERED, fault_size
from sottovoce.auditing.subject import Subject
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.sets import SetTrials
from sottovoce.mechanisms.wheel import Wheel

SOUND = sv.Survey.randomize


def sets(options: int, most: int = 3) -> sv.Survey:
    return sv.Survey(sv.choices(options, most=most), epsilon=1.0, mechanism="one_option")


@pytest.mark.slow
def test_samples_buy_random_runs() -> None:
    """Beyond 20,000, which once was the most."""
    found = sv.audit(OneOption(4, 1, 1.0), samples=30_000)
    assert found.fault_size <= fault_size(30_000)


def test_seconds_buy_random_runs() -> None:
    """All that are paid for."""
    few, many = (sv.audit(OneOption(4, 1, 1.0), samples=100, seconds=seconds) for seconds in (0.1, 1.0))
    assert many.fault_size < few.fault_size / 2


def test_every_pair_of_options_is_run_and_said() -> None:
    trials = SetTrials(7, 3)
    listed = {trials.numbered(number).input[:2] for number in range(trials.listed)}
    assert trials.listed == 1 + 7 + 21
    assert {(a, b) for a in range(7) for b in range(a + 1, 7)} <= listed
    found = sv.audit(sets(12), samples=100, seconds=1)
    assert "every set of at most 2 of 12 options" in found.method
    assert "every outcome of every draw" in found.method


def test_every_seed_is_run() -> None:
    """One seed in 65,536 as well: the sweep takes each, with the coin down and up."""
    wheel = Wheel(60, 3, 1.0, 14, 65_536)
    reference = wheel.audit_reference()
    scripts = list(reference.sweep(np.random.default_rng(1)))
    assert len(scripts) == reference.swept() == 2 * 65_536
    assert {(script[0], script[1]) for script in scripts} == {(s, c) for s in range(65_536) for c in (0, 1)}
    assert all(
        {script[draw] for script in scripts} == set(range(n)) for draw, n in enumerate(reference._requests) if n > 0
    )


def test_one_pair_of_options(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = sorted((randbelow(39), 39))
    sound = OneOption._randomize

    def telling(self: OneOption, row: Any, source: Any) -> Any:
        report = sound(self, row, source)
        return report & ~1 if row[:3] == (first, second, 40) else report

    monkeypatch.setattr(OneOption, "_randomize", telling)
    found = sv.audit(sets(40), samples=100)
    assert (found.verdict, found.check) == ("broken", "listed values")


def test_a_survey_says_its_size() -> None:
    found = sv.audit(sv.Survey(sv.shares(5), epsilon=1.0), samples=100, seconds=0.2)
    assert (found.verdict, found.size) == ("proved", "for 5 values")
    assert "verdict: proved for 5 values" in str(found)
    assert sv.audit(sets(9), samples=100, seconds=0.1).size == "for 9 options"


# --- what a device may remember -------------------------------------------------------------------


def last_value_again(survey: sv.Survey) -> Any:
    """The same value twice at once sends the same report."""
    kept: dict[str, Any] = {"value": object()}

    def randomize(self: sv.Survey, value: Any) -> bytes:
        if value != kept["value"]:
            kept.update(value=value, report=SOUND(self, value))
        return bytes(kept["report"])

    return randomize


def third_of_two(survey: sv.Survey) -> Any:
    """A value that comes back after another one is told."""
    seen: list[Any] = []

    def randomize(self: sv.Survey, value: Any) -> bytes:
        seen.append(value)
        report = SOUND(self, value)
        back = len(seen) > 2 and seen[-1] == seen[-3] != seen[-2]
        return report[:-1] + bytes([report[-1] ^ 1]) if back else report

    return randomize


@pytest.mark.parametrize("plant", [last_value_again, third_of_two])
@pytest.mark.parametrize(
    "survey",
    [sv.Survey(sv.shares(50_000), epsilon=1.0, mechanism="randomized_response"), sets(300)],
    ids=["values", "sets"],
)
def test_a_device_that_remembers(survey: sv.Survey, plant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sv.Survey, "randomize", plant(survey))
    found = sv.audit(survey, samples=100, seconds=1)
    assert found.verdict == "broken"
    assert found.check in {"edges", "edges through the survey", "repeats"}  # edges may come twice by chance


PLANTED = """
import sottovoce as sv
sound, calls = sv.Survey.randomize, []
def first_is_told(self, value):
    calls.append(value)
    report = sound(self, value)
    return report[:-1] + bytes([report[-1] ^ 1]) if len(calls) == 1 else report
sv.Survey.randomize = first_is_told
"""


def test_a_fresh_process_is_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first report of a process is wrong there; this process has made its first one long ago."""
    survey = sv.Survey(sv.shares(3), epsilon=1.0, mechanism="randomized_response")
    subject = Subject(survey.mechanism, survey)
    assert compare_fresh(subject, Budget(5.0)) == (True, "")
    assert sv.audit(survey, samples=100, seconds=5).assumptions[1] == FRESH_PROCESS
    assert sv.audit(survey, samples=100, seconds=0.5).assumptions[1] == REMEMBERED
    (tmp_path / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    found = sv.audit(survey, samples=100, seconds=5)
    assert (found.verdict, found.check) == ("broken", "fresh process")
    assert found.witness.startswith("report 1 of a fresh process, value number ")
