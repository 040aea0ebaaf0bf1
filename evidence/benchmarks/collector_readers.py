"""Intake beside readers: five analysts who poll the estimate of a million values, and one who lists 10,000 surveys.

Turns with and without readers follow each other, and the best of each counts. Readers ask again as soon as they have
been answered, and read every byte; what they were told is counted, so that nobody gains by not answering them.

Run by itself it is the readers: `python -m evidence.benchmarks.collector_readers PORT TOKEN PATH N`, until it is ended.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import sottovoce as sv
from evidence.benchmarks.collector_servers import Target, all_counted, collector, drive, say
from evidence.benchmarks.load import Outcome
from sottovoce.collector.settings import KEY_FILE
from sottovoce.collector.store import open_store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.signing import SigningKey
from sottovoce.surveys.survey import Survey

__all__ = ["run"]

Row = dict[str, object]

_LARGE = sv.Survey(sv.shares(1_000_000), epsilon=1.0, title="a million values")
_ANALYSTS = 5
_SURVEYS = 10_000


def run(survey: Survey, seconds: float, turns: int) -> list[Row]:
    """Rates and p99 with readers beside those without."""
    with tempfile.TemporaryDirectory() as folder:
        _publish_many(Path(folder, "data"))
        with collector(survey, Path(folder, "data")) as ours:
            large = ours.asked(_LARGE)
            drive(large, 100, seconds=30, requests=200)
            all_counted(large, _LARGE)
            polled = f"/v1/surveys/{_LARGE.id}/estimate"
            ours.raw(polled)
            rows = _beside(f"{_ANALYSTS} analysts who poll 1,000,000 values", large, polled, _ANALYSTS, seconds, turns)
            rows += _beside(f"one who lists {_SURVEYS:,} surveys", large, "/v1/surveys", 1, seconds, turns)
    return rows


def _publish_many(data: Path) -> None:
    """Surveys put into the database directly: over HTTP it would take minutes."""
    data.mkdir(mode=0o700)
    key = SigningKey.load_or_create(data / KEY_FILE)
    store = open_store("", data)
    for number in range(_SURVEYS):
        survey = sv.Survey(sv.shares(16), epsilon=1.0, title=f"survey {number}")
        content, signature = survey.canonical, key.sign(survey.canonical)
        store.publish(SurveyRecord(survey.id, content, signature, survey.title, survey.kind, 1.0, 100, 0), {})
    store.close()


def _beside(name: str, target: Target, path: str, n: int, seconds: float, turns: int) -> list[Row]:
    alone: list[Outcome] = []
    beside: list[Outcome] = []
    for _ in range(turns):
        alone.append(drive(target, 100, seconds=seconds))
        all_counted(target, _LARGE)
        with _reading(target, path, n) as told:
            beside.append(drive(target, 100, seconds=seconds))
        say(f"{told[0]} answers to {name}")
        all_counted(target, _LARGE)
    rates, worst = [], []
    for outcomes in (alone, beside):
        rates.append(max(outcome.rate for outcome in outcomes))
        worst.append(min(outcome.p99 for outcome in outcomes))
    say(f"requests/s of 100: {rates[0]:,.0f} alone, {rates[1]:,.0f} beside {name}")
    say(f"p99: {1000 * worst[0]:.1f} ms alone, {1000 * worst[1]:.1f} ms beside {name}")
    rate, p99 = rates[1] / rates[0], worst[1] / worst[0]
    return [
        {"name": f"requests/s of 100 beside {name}", "against": "alone", "ratio": rate}
        | {"target": ">= 0.8", "met": rate >= 0.8},
        {"name": f"p99 of requests of 100 beside {name}", "against": "alone", "ratio": p99}
        | {"target": "<= 2", "met": p99 <= 2},
    ]


@contextmanager
def _reading(target: Target, path: str, n: int) -> Iterator[list[int]]:
    """Readers in a process of their own; at the end, how many answers they had."""
    command = [
        sys.executable,
        "-m",
        "evidence.benchmarks.collector_readers",
        str(target.port),
        target.token,
        path,
        str(n),
    ]
    told = [0]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # the first of them was answered
        yield told
        told[0] = int(process.communicate("end\n", timeout=120)[0])
    finally:
        process.kill()
        process.communicate()


def _read(port: int, token: str, path: str, ended: threading.Event, answers: list[int]) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    while not ended.is_set():
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        while answer.read(2**16):
            pass
        if answer.status == 200:
            answers.append(1)
        else:
            time.sleep(0.1)  # as it was told to come again later


def _main() -> None:
    port, token, path, n = sys.argv[1:]
    ended, answers = threading.Event(), list[int]()
    readers = [
        threading.Thread(target=_read, args=(int(port), token, path, ended, answers), daemon=True)
        for _ in range(int(n))
    ]
    for reader in readers:
        reader.start()
    while not answers:
        time.sleep(0.01)
    print("ready", flush=True)
    sys.stdin.readline()
    print(len(answers), flush=True)


if __name__ == "__main__":
    _main()
