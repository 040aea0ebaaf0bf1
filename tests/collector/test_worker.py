"""Counting processes: real ones, on one database, stopped, orphaned and killed while reports come in."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.collector.counting import worker
from sottovoce.collector.counting.aggregator import Aggregator, check
from sottovoce.collector.counting.worker import run_worker
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.survey import Survey

PEOPLE = 6_000
SURVEY = Survey(sv.shares(PEOPLE), epsilon=10.0, mechanism="randomized_response")
PATIENCE = 120.0
"""Seconds after which something that should happen is given up; far more than it takes."""


@dataclass(frozen=True)
class Settings:
    """What a worker needs of the service's."""

    database: str
    data: Path
    objects: str = ""
    max_database_bytes: int = 0
    reserve_bytes: int = 0
    lease_seconds: float = 0.5
    time_precision: int = 3600
    max_counters: int = 2**27


def publish(store: Store) -> None:
    record = SurveyRecord(SURVEY.id, SURVEY.canonical, bytes(64), "", SURVEY.kind, SURVEY.epsilon, 1, 0)
    store.publish(record, {})


def rows(numbers: np.ndarray[Any, Any]) -> bytes:
    """Reports of these people, each with an id and a cell of their own."""
    return b"".join(int(i).to_bytes(16, "big") + SURVEY.mechanism.encode(int(i)) for i in numbers)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("it does not happen")
        time.sleep(0.02)


def newest(store: Store) -> int:
    return max((info.number for info in store.segments(SURVEY.id)), default=-1)


def start(settings: Settings) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(target=run_worker, args=(settings,), daemon=True)
    process.start()
    return process


@pytest.mark.slow
def test_killed_again_and_again_workers_count_every_report_once(place: Any) -> None:
    settings = Settings(place.database, place.data)
    store = place.open()
    publish(store)
    rng, uploader_rng = np.random.default_rng(3), np.random.default_rng(4)
    processes = [start(settings) for _ in range(3)]
    acknowledged = threading.Event()

    def upload() -> None:
        """Everybody's report, in small batches, and one in four sent again in some later one."""
        people = uploader_rng.permutation(PEOPLE)
        for first in range(0, PEOPLE, 20):
            again = people[uploader_rng.integers(first + 20, size=5)]
            batch = np.concatenate([people[first : first + 20], again])
            assert store.append([Arrival(SURVEY.id, first // 2000, len(batch), rows(batch))]) == [None]
            time.sleep(0.01)
        acknowledged.set()

    uploader = threading.Thread(target=upload)
    uploader.start()
    kills = 0
    try:
        while kills < 4 or not acknowledged.is_set():
            # Some worker is counting, perhaps the one that is killed next.
            seen = newest(store)
            until(lambda seen=seen: acknowledged.is_set() or newest(store) > seen)
            victim = processes.pop(int(rng.integers(3)))
            victim.kill()
            victim.join()
            kills += 1
            processes.append(start(settings))
        uploader.join()
        until(lambda: store.waiting(SURVEY.id) == 0)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(PATIENCE)
            # One that was started last may not have got as far as to listen.
            assert process.exitcode in (0, -signal.SIGTERM)
    finally:
        for process in processes:
            process.kill()
    assert check(store, SURVEY).counts.tolist() == [1] * PEOPLE
    store.close()


def test_sigterm_ends_an_idle_worker_and_gives_its_surveys_back(tmp_path: Path) -> None:
    from sottovoce.collector.store import open_store

    settings = Settings("", tmp_path, lease_seconds=1000.0)
    store = open_store("", tmp_path)
    broken = SurveyRecord(SURVEY.id, b"{}", bytes(64), "", SURVEY.kind, SURVEY.epsilon, 1, 0)
    store.publish(broken, {})
    store.append([Arrival(SURVEY.id, 1, 1, rows(np.arange(1)))])
    process = start(settings)
    until(lambda: _held(store))
    process.terminate()
    process.join(PATIENCE)
    assert process.exitcode == 0
    assert not _held(store)
    store.close()


def _held(store: Store) -> bool:
    lease = store.lease("test", 1000.0)
    if lease is not None:
        store.release(lease)
    return lease is None


def test_a_worker_does_not_outlive_its_parent(tmp_path: Path) -> None:
    script = (
        "import multiprocessing, os, pathlib, sys, time\n"
        "from collector.test_worker import Settings, start\n"
        "if __name__ == '__main__':\n"
        "    child = start(Settings('', pathlib.Path(sys.argv[1])))\n"
        "    print(child.pid, flush=True)\n"
        "    time.sleep(1000)\n"
    )
    file = tmp_path / "parent.py"
    file.write_text(script)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen(
        [sys.executable, str(file), str(tmp_path / "data")], stdout=subprocess.PIPE, env=environment
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until(lambda: (tmp_path / "data" / "collector.db").exists())
        parent.kill()
    until(lambda: not _runs(child))


def _runs(pid: int) -> bool:
    """A process that has ended and that nobody has asked for is no longer running."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_an_idle_worker_starts_without_the_compiler(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys\n"
        "from collector.test_worker import Settings\n"
        "from sottovoce.collector.counting.worker import run_worker\n"
        "class Stop:\n"
        "    looks = 0\n"
        "    def is_set(self):\n"
        "        self.looks += 1\n"
        "        return self.looks > 3\n"
        "run_worker(Settings('', pathlib.Path(sys.argv[1])), Stop())\n"
        "assert not {'numba', 'scipy', 'granian', 'pyarrow'} & set(sys.modules)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, env=environment)


def test_a_store_that_is_away_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Away nine times, then opened anew, and refusing once more: the worker goes on by itself, more and more slowly."""
    failures: list[Exception] = [*[StoreUnavailableError("away")] * 9, StoreFullError("full"), StoreError("odd")]
    stop = threading.Event()
    pauses: list[float] = []
    stepped: list[Aggregator] = []

    def step(self: Aggregator) -> int:
        stepped.append(self)
        if failures:
            raise failures.pop(0)
        stop.set()
        return 0

    monkeypatch.setattr(Aggregator, "step", step)
    monkeypatch.setattr(worker._Bell, "pause", lambda self, seconds: pauses.append(seconds))
    run_worker(Settings("", tmp_path), stop)
    told = [record.getMessage().removeprefix("counting waits for the database: ") for record in caplog.records]
    assert told[:3] == ["away", "full", "odd"]
    assert told[3].startswith("over, after ")
    longest = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 0.05, 5.0]
    assert all(most / 2 <= pause <= most for pause, most in zip(pauses, longest, strict=False))
    # What was known is kept over short outages only.
    assert [one is other for one, other in itertools.pairwise(stepped)] == [*[True] * 8, False, True, False]


def test_an_idle_worker_looks_less_and_less_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few reports at a time are waited for a little; after many there is no pause."""
    taken = iter([0, 0, worker._FEW, 0, 0, 3, 3, 0, 0, 0, 0])
    pauses: list[float] = []
    stop = threading.Event()

    def pause(self: Any, seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            stop.set()

    monkeypatch.setattr(Aggregator, "step", lambda self: next(taken))
    monkeypatch.setattr(worker._Bell, "pause", pause)
    run_worker(Settings("", tmp_path), stop)
    assert pauses[:9] == pytest.approx([0.05, 0.1, 0.05, 0.1, 0.05, 0.05, 0.05, 0.1, 0.2])


def test_signals_are_given_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    stop = threading.Event()
    stop.set()
    run_worker(Settings("", tmp_path), stop)
    assert signal.getsignal(signal.SIGTERM) is before
