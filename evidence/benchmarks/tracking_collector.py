"""A tracking survey from its first period to its last: real devices, a real collector, a clock that is moved.

Every device is the package's own, with its ledger in memory and its seat derived from its secret; only its requests are
put together into batches. The collector is killed (SIGKILL) now and then in the middle of a period, and some
acknowledgements are lost, so that the same bytes are sent again. In the end each report is looked for in the
collector's segments: in its own period, once; and each ledger is compared with its budget.

`python -m evidence.benchmarks.tracking_collector --devices 1000000 --periods 52` runs it at full size.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import urllib3

import sottovoce as sv
from evidence.benchmarks.tracking_fleet import Desk, Fleet
from evidence.benchmarks.tracking_service import MovedClock
from sottovoce.device import CollectorClient, Http
from sottovoce.domain import Domain
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, batch_rows
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["TrackingOutcome", "run", "simulate"]

_ROOT = Path(__file__).resolve().parents[2]

_DEVICES = 20_000
"""Of `make bench`; the full size takes an hour."""

_LOST = 0.05

_PATIENCE = 600.0
"""Seconds until something is given up that must happen; a busy machine takes long."""

_GRACE = 7


@dataclass(frozen=True)
class TrackingOutcome:
    """What became of every report, as counts; those in the last block must be 0."""

    devices: int
    periods: int
    windows: int
    drawn: int
    posted: int
    """Reports that were posted, the same ones again included."""
    restarts: int
    lost_acknowledgements: int
    missed: int
    waiting: int
    again: int
    """Wakings before the device's own period, and after it had answered."""
    counted: int
    seconds: float

    missing: int
    """Drawn and not counted in their period."""
    foreign: int
    """Counted in a period and drawn for another, or for none."""
    twice: int
    """Counted more than once."""
    most_spent: float
    """The largest epsilon in a ledger."""
    over_budget: int
    twice_in_a_window: int
    unsent: int

    @property
    def is_right(self) -> bool:
        """Whether all is as it must be."""
        wrong = self.missing, self.foreign, self.twice, self.over_budget, self.twice_in_a_window, self.unsent
        return not any(wrong) and self.counted == self.drawn


class _Collector:
    """The service on a clock of its own, started again on the same folder whenever it was killed."""

    def __init__(self, folder: Path, clock: MovedClock, clock_file: Path) -> None:
        self._folder, self._clock_file, self.clock = folder, clock_file, clock
        self._pool = urllib3.PoolManager(retries=False, timeout=_PATIENCE)
        self.token, self.restarts, self.is_doomed = "", -1, False
        self.start()

    def start(self) -> None:
        """Serve from the folder, on a new port."""
        command = [sys.executable, "-m", "evidence.benchmarks.tracking_service", "--json", "--port", "0"]
        command += ["--data", str(self._folder / "data"), "--minimum-reports", "1", "--reserve-bytes", str(2**25)]
        environment = {**os.environ, "SOTTOVOCE_TEST_CLOCK": str(self._clock_file)}
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*command, "--lease-seconds", "1"],
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=_ROOT,
                env=environment,
                start_new_session=True,
            )
        told = self._told()
        self.url, self.token = told["address"], told["admin_token"] or self.token
        self.restarts += 1

    def _told(self) -> Any:
        lines: list[bytes] = []
        stdout = self._process.stdout
        while stdout is not None and (line := stdout.readline()):
            lines.append(line)
            if line == b"}\n":
                return json.loads(b"".join(lines))
        raise ChildProcessError(f"the collector did not start: {(self._folder / 'log').read_text()}")

    def post(self, survey_id: str, body: bytes, moment: float) -> bool:
        """Send a batch; whether it was acknowledged. A doomed collector is killed meanwhile, and started again.

        All its processes end at once, as with a machine that dies, up to `moment` hundredths of a second later.
        """
        path, headers = f"/v1/surveys/{survey_id}/reports", {"Content-Type": BATCH_MEDIA_TYPE}
        if not self.is_doomed:
            return self.ask("POST", path, body=body, headers=headers).status == 200
        strike = threading.Timer(moment / 100, os.killpg, (self._process.pid, signal.SIGKILL))
        strike.start()
        try:
            return self.ask("POST", path, body=body, headers=headers).status == 200
        except urllib3.exceptions.HTTPError:
            return False
        finally:
            strike.join()
            self._end()
            self.is_doomed = False
            self.start()

    def stop(self) -> None:
        """End it cleanly."""
        self._process.terminate()
        self._end()
        self._pool.clear()

    def _end(self) -> None:
        self._process.wait(_PATIENCE)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def ask(self, method: str, path: str, **given: Any) -> urllib3.BaseHTTPResponse:
        """One request with the admin's token."""
        headers = {"Authorization": f"Bearer {self.token}", **given.pop("headers", {})}
        return self._pool.request(method, self.url + path, headers=headers, **given)

    def until(self, path: str, is_done: Any) -> Any:
        """What is at an address, once it is as it shall be."""
        end = time.monotonic() + _PATIENCE
        while not is_done(found := self.ask("GET", path).json()):
            if time.monotonic() > end:
                raise TimeoutError(f"waited in vain for {path}: {found}")
            time.sleep(0.02)
        return found


def simulate(
    folder: Path, devices: int, periods: int, *, window: int = 0, restarts: int = 4, lost: float = _LOST, seed: int = 1
) -> TrackingOutcome:
    """The whole life of a survey; `window` periods are a window, all of them by default.

    `lost` is the share of acknowledgements that are lost on their way.
    """
    began = time.monotonic()
    today = datetime(2031, 1, 6, tzinfo=UTC)
    clock_file = folder / "clock"
    clock = MovedClock(clock_file, today.timestamp())
    tracking = sv.Tracking(
        Shares(Domain.of(2)),
        periods=periods,
        renews=window or None,
        every="week",
        starts=today.date(),
        grace=_GRACE,
        epsilon=1.0,
    )
    collector, rng = _Collector(folder, clock, clock_file), np.random.default_rng(seed)
    try:
        answer = collector.ask("POST", "/v1/surveys", json={"statement": tracking.to_json()})
        if answer.status != 201:
            raise RuntimeError(f"the survey was not published: {answer.data!r}")
        client = CollectorClient(Http(collector.url))
        found = client.survey(tracking.id, None)
        client.close()
        without_answer = Counter[bool]()

        def send(survey_id: str, body: bytes) -> bool:
            is_kept = collector.post(survey_id, body, float(rng.random()))
            is_lost = bool(rng.random() < lost)
            without_answer[is_kept and is_lost] += 1
            return is_kept and not is_lost

        fleet = Fleet(Desk(found, clock), tracking, devices, seed, send)
        deadly = set(rng.choice(np.arange(1, periods + 1), min(restarts, periods), replace=False).tolist())
        for number in range(1, periods + 3):
            # Half a day into the period: a device that is one period late finds its own in its grace.
            start = today + timedelta(weeks=number - 1, hours=12)
            clock.set(start.timestamp())
            _opened(collector, tracking, min(number, periods))
            collector.is_doomed = number in deadly
            fleet.live(number)
        fleet.finish()
        clock.set((today + timedelta(weeks=periods, days=_GRACE, hours=1)).timestamp() + 86400)
        collector.until(
            f"/v1/surveys/{tracking.id}/status", lambda one: one["state"] == "sealed" and not one["waiting"]
        )
        outcome = _judged(collector, tracking, fleet, devices, without_answer[True], time.monotonic() - began)
    finally:
        collector.stop()
        clock.close()
    return outcome


def _opened(collector: _Collector, tracking: Tracking, number: int) -> None:
    """Wait until the collector has noticed its new time: devices would send again, the simulation waits."""
    path = f"/v1/surveys/{tracking.id}/periods"
    collector.until(path, lambda found: len(found["periods"]) >= number)


def _judged(
    collector: _Collector, tracking: Tracking, fleet: Fleet, devices: int, lost: int, seconds: float
) -> TrackingOutcome:
    missing = foreign = twice = counted = 0
    for number in range(1, (tracking.calendar.periods or 0) + 1):
        period = tracking.period(number)
        ids = _ids(collector, period)
        drawn = fleet.drawn.get(period.id, set())
        counted += sum(ids.values())
        twice += sum(n - 1 for n in ids.values())
        missing += len(drawn - ids.keys())
        foreign += len(ids.keys() - drawn)
    counts = fleet.counts
    return TrackingOutcome(
        devices=devices,
        periods=tracking.calendar.periods or 0,
        windows=tracking.calendar.windows or 0,
        drawn=counts["drawn"],
        posted=counts["posted"],
        restarts=collector.restarts,
        lost_acknowledgements=lost,
        missed=counts["woken: missed"],
        waiting=counts["woken: waiting"],
        again=counts["woken: sent"],
        counted=counted,
        seconds=seconds,
        missing=missing,
        foreign=foreign,
        twice=twice,
        most_spent=fleet.most_spent,
        over_budget=counts["over_budget"],
        twice_in_a_window=counts["twice_in_a_window"],
        unsent=counts["drawn"] - counts["sent"],
    )


def _ids(collector: _Collector, period: Survey) -> Counter[bytes]:
    """How often each report id is in the period's segments."""
    path, found = f"/v1/surveys/{period.id}/segments", Counter[bytes]()
    for segment in collector.ask("GET", path).json()["segments"]:
        body = collector.ask("GET", f"{path}/{segment['number']}").data
        rows = batch_rows(body, period.id, period.mechanism.report_bytes)
        found.update(row[:REPORT_ID_BYTES].tobytes() for row in rows)
    return found


def run() -> list[dict[str, object]]:
    """One row: reports counted beside reports drawn."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = simulate(Path(folder), _DEVICES, 52)
    name = f"tracking: reports of {_DEVICES:,} devices over 52 moved weeks, counted once in their period"
    row = {"name": name, "against": "reports drawn", "ratio": outcome.counted / outcome.drawn}
    return [row | {"target": "= 1, none elsewhere", "met": outcome.is_right, **asdict(outcome)}]


def main() -> int:
    """Print the counts as JSON; the status is 1 unless all is as it must be."""
    parser = argparse.ArgumentParser(prog="python -m evidence.benchmarks.tracking_collector", description=__doc__)
    parser.add_argument("--devices", type=int, default=_DEVICES)
    parser.add_argument("--periods", type=int, default=52)
    parser.add_argument("--window", type=int, default=0, help="periods after which everybody answers again")
    parser.add_argument("--restarts", type=int, default=4)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = simulate(
            Path(folder), arguments.devices, arguments.periods, window=arguments.window, restarts=arguments.restarts
        )
    print(json.dumps(asdict(outcome), indent=1))
    return 0 if outcome.is_right else 1


if __name__ == "__main__":
    sys.exit(main())
