"""A real collector in a process of its own, one a test module, and devices that send real reports to it."""

from __future__ import annotations

import _thread
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from collector.service import Service, running, until
from commands import Outcome, Run, run_here
from sottovoce.analyst.collector import Collector
from sottovoce.analyst.live import LiveSurvey
from sottovoce.core.errors import ServiceError
from sottovoce.device.http import Http
from sottovoce.domain import ValueNumbers
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch

MINIMUM = 20
"""Reports before the collector tells anything."""

BATCH = 5000


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("collector")
    with running(folder / "data", "--minimum-reports", str(MINIMUM)) as started:
        yield started


@pytest.fixture
def collector(service: Service) -> Collector:
    return sv.connect(service.url, service.token)


# --- devices ------------------------------------------------------------------------------------


def send(url: str, survey: sv.Survey, reports: sv.Reports, ids: list[bytes] | None = None) -> list[bytes]:
    """Hand in reports in batches, as an application's server does; returns the report ids."""
    ids = ids or [secrets.token_bytes(REPORT_ID_BYTES) for _ in range(len(reports))]
    rows, http = list(zip(ids, reports, strict=True)), Http(url)
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        body = encode_batch(survey.id, batch)
        answer = http.post(f"/v1/surveys/{survey.id}/reports", body=body, content_type=BATCH_MEDIA_TYPE)
        assert (answer["accepted"], answer["refused"]) == (len(batch), [])
    return ids


def counted(live: LiveSurvey) -> None:
    """Wait until nothing is waiting to be counted."""
    until(lambda: live.status().waiting == 0, "everything is counted")


@contextmanager
def devices(url: str, survey: Any, records: Any, seed: int = 7) -> Iterator[None]:
    """People who answer a panel's rounds as they open, each of them one, until the block ends."""
    numbers = survey.domain.indices(records)
    seats = np.random.default_rng(seed).integers(1, survey.rounds + 1, size=len(numbers))
    over, failed = threading.Event(), list[BaseException]()

    def answer() -> None:
        http = Http(url)
        for number in range(1, survey.rounds + 1):
            while True:
                if over.is_set():
                    return
                try:
                    told = http.get(f"/v1/surveys/{survey.id}/rounds/latest")
                    asked = sv.Survey.from_json(told["statement"])
                    if asked.seat.round == number:
                        break
                except ServiceError as error:
                    if error.code != "round_not_open":
                        raise
                over.wait(0.02)
            own = ValueNumbers(numbers[seats == number])
            if told["state"] == "open" and (seats == number).any():
                send(url, asked, asked.simulate(own, seed=seed + number))

    def run() -> None:
        try:
            answer()
        except BaseException as error:
            failed.append(error)
            _thread.interrupt_main()  # nobody answers any more: the test must not wait for it

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    except KeyboardInterrupt:
        if failed:
            raise failed[0] from None
        raise
    finally:
        over.set()
        thread.join()


# --- the command line ---------------------------------------------------------------------------


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Run:
    """Run the command in an empty folder; where the module has a service, the environment leads to it."""
    monkeypatch.chdir(tmp_path_factory.mktemp("here"))
    if "service" in request.fixturenames:
        service = request.getfixturevalue("service")
        monkeypatch.setenv("SOTTOVOCE_URL", service.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
    else:
        monkeypatch.delenv("SOTTOVOCE_URL", raising=False)
        monkeypatch.delenv("SOTTOVOCE_TOKEN", raising=False)
    return run_here(capsys)


def check_error(outcome: Outcome, kind: str, *helpful: str) -> str:
    """Status 2, one line on standard error, the same as JSON on standard output."""
    assert outcome.status == 2, outcome
    (line,) = outcome.err.splitlines()
    assert line.startswith("sottovoce: error: ")
    for words in helpful:
        assert words in line
    assert outcome.json == {"error": {"type": kind, "message": line.removeprefix("sottovoce: error: ")}}
    return line
