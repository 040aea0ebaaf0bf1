"""Does a device remember? Reports of a fresh process beside those of one that has made thousands.

The fresh process reads the survey from its JSON, draws reports with the system's entropy as a device does, and says
which random bytes it has read meanwhile. From the same bytes this process must draw the same reports.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from sottovoce.auditing.budget import Budget
from sottovoce.auditing.subject import AuditedSurvey, Subject
from sottovoce.auditing.system import watch_system
from sottovoce.randomness.scripts import random_below, unpredictable

__all__ = ["LEAST_SECONDS", "compare_fresh"]

LEAST_SECONDS: Final = 5.0
"""Seconds of an audit from which on it starts a process, which takes one or two of them."""

_REPORTS: Final = 24
_MOST_NUMBERS: Final = 2**31
_PATIENCE: Final = 120.0


def compare_fresh(subject: Subject, budget: Budget) -> tuple[bool, str]:
    """Whether a fresh process could be compared with this one, and what it does otherwise, in words.

    It cannot where there is no survey or no time, or where the survey needs what only this process has imported.
    """
    survey = subject.survey
    if survey is None or budget.seconds < LEAST_SECONDS:
        return False, ""
    size, rng = subject.size or _MOST_NUMBERS, unpredictable()
    numbers = [random_below(size, rng) for _ in range(_REPORTS // 2)]
    numbers += numbers[::-1]
    drawn = _drawn_afresh(survey, numbers)
    for place, (number, (read, sent)) in enumerate(zip(numbers, drawn, strict=False)):
        trial = subject.trials.numbered(number)
        if words := subject.wrong_report(trial.value, bytes.fromhex(read), bytes.fromhex(sent)):
            return True, f"report {place + 1} of a fresh process, {trial.name}: {words}"
    return bool(drawn), ""


def _drawn_afresh(survey: AuditedSurvey, numbers: Sequence[int]) -> list[tuple[str, str]]:
    """The random bytes and the report of each value, by a process of its own; empty if it cannot read the survey."""
    kind = type(survey)
    request = {
        "kind": [kind.__module__, kind.__qualname__],
        "statement": survey.to_json(),
        "attachments": {digest: content.hex() for digest, content in survey.attachments.items()},
        "numbers": numbers,
    }
    command = [sys.executable, "-m", "sottovoce.auditing.fresh"]
    done = subprocess.run(command, input=json.dumps(request).encode(), capture_output=True, timeout=_PATIENCE)
    return [(read, sent) for read, sent in json.loads(done.stdout)] if done.returncode == 0 else []


def _answer(request: dict[str, Any]) -> list[tuple[str, str]]:
    module, name = request["kind"]
    attachments = {digest: bytes.fromhex(content) for digest, content in request["attachments"].items()}
    survey = getattr(import_module(module), name).from_json(request["statement"], attachments)
    subject, drawn = Subject(survey.mechanism, survey), []
    for number in request["numbers"]:
        value = subject.value(number)
        with watch_system() as read:
            sent = survey.randomize(value)
        drawn.append((b"".join(read).hex(), sent.hex()))
    return drawn


if __name__ == "__main__":
    json.dump(_answer(json.load(sys.stdin)), sys.stdout)
