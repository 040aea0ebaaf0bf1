"""The real service in a process of its own, talked to over HTTP as anybody would, and ended in every possible way."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import urllib3

from sottovoce.collector.running.supervisor import COUNTING, READING
from sottovoce.collector.sealing.opening import OPENING
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, batch_rows, encode_batch
from sottovoce.surveys.survey import Survey

PATIENCE = 60.0
"""Seconds until a test gives up on something that must happen; far longer than it ever takes."""

MEASURED = "COVERAGE_PROCESS_CONFIG" in os.environ
"""Whether `make coverage` is at work."""


def environment(**variables: str) -> dict[str, str]:
    """This process's, without settings of a service, and with those given."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")} | variables


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until something is true, and return it."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"waited in vain until {what}")
        time.sleep(0.02)
    return found


@dataclass(frozen=True)
class Answer:
    """What the service answered."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Service:
    """`sottovoce serve` on a free port. Its whole process group can be killed, as a machine that dies would."""

    def __init__(self, data: Path, *flags: str, database: str = "", token: str = "", **variables: str):
        self.log = data.parent / f"{data.name}.log"
        command = [sys.executable, "-m", "sottovoce", "serve", "--json", "--port", "0", "--data", str(data)]
        # The least reserve: with PostgreSQL it is written out for every service.
        command += ["--minimum-reports", "1", "--reserve-bytes", str(2**25), *flags]
        if database:
            variables["SOTTOVOCE_DATABASE"] = database
        with self.log.open("ab") as lines:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=lines, env=environment(**variables), start_new_session=True
            )
        told = self._told()
        self.url: str = told["address"]
        self.fingerprint: str = told["fingerprint"]
        self.token: str = told["admin_token"] or token
        self._pool = urllib3.PoolManager(maxsize=16, retries=False, timeout=PATIENCE)

    def _told(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if line == b"}\n":
                return dict(json.loads(b"".join(lines)))
        self.process.stdout.close()
        status = self.process.wait()
        raise ChildProcessError(f"the service ended with status {status}: {self.log.read_text()}")

    def ask(self, method: str, path: str, **given: Any) -> Answer:
        """One request with the admin token; raises `urllib3.exceptions.HTTPError` when there is no answer."""
        headers = {"Authorization": f"Bearer {self.token}"} | given.pop("headers", {})
        found = self._pool.request(method, self.url + path, headers=headers, **given)
        return Answer(found.status, found.data, found.headers)

    def publish(self, survey: Survey, minimum_reports: int = 1) -> None:
        said = {"statement": survey.to_json(), "attachments": {}, "minimum_reports": minimum_reports}

        def answered() -> Answer | None:
            """None where a busy database asks for the same again, as it may while the service sets itself up."""
            answer = self.ask("POST", "/v1/surveys", json=said)
            return None if answer.status == 503 else answer

        answer: Answer = until(answered, "the database lets a survey be published")
        assert answer.status in (200, 201), answer

    def send(self, survey: Survey, reports: Sequence[tuple[bytes, bytes]], **given: Any) -> Answer:
        """A batch, as an application's server sends it: without a token."""
        body = encode_batch(survey.id, reports)
        headers = {"Authorization": "", "Content-Type": BATCH_MEDIA_TYPE}
        return self.ask("POST", f"/v1/surveys/{survey.id}/reports", body=body, headers=headers, **given)

    def status(self, survey: Survey) -> dict[str, Any]:
        answer = self.ask("GET", f"/v1/surveys/{survey.id}/status")
        assert answer.status == 200, answer
        return dict(answer.json)

    def counted(self, survey: Survey, report_bytes: int) -> Counter[bytes]:
        """How often each report id is in a segment, once nothing waits any more."""
        until(lambda: self.status(survey)["waiting"] == 0, "everything is counted")
        found: list[Counter[bytes]] = until(lambda: self._in_segments(survey, report_bytes), "all segments are read")
        return found[0]

    def _in_segments(self, survey: Survey, report_bytes: int) -> list[Counter[bytes]]:
        """One count of the ids; none when a worker has put segments together since they were listed."""
        ids: Counter[bytes] = Counter()
        for segment in self.ask("GET", f"/v1/surveys/{survey.id}/segments").json["segments"]:
            answer = self.ask("GET", f"/v1/surveys/{survey.id}/segments/{segment['number']}")
            if answer.status == 404:
                return []
            rows = batch_rows(answer.body, survey.id, report_bytes)
            assert len(rows) == segment["n"]
            ids.update(row[:REPORT_ID_BYTES].tobytes() for row in rows)
        return [ids]

    def workers(self) -> list[int]:
        """The counting processes."""
        return self._called(COUNTING)

    def readers(self) -> list[int]:
        """The process that answers analysts."""
        return self._called(READING)

    def openers(self) -> list[int]:
        """The processes that open sealed messages."""
        return self._called(OPENING)

    def _called(self, name: str) -> list[int]:
        return [pid for pid in children(self.process.pid) if name_of(pid) == name]

    def kill(self) -> None:
        """SIGKILL to the server, the counting processes and whatever else it started, at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def leave(self) -> None:
        """SIGTERM, and time to write down which lines were run; a server that was killed cannot."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)

    def stop(self) -> int:
        """SIGTERM to the server alone; its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        status = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._pool.clear()
        return status


@contextlib.contextmanager
def running(data: Path, *flags: str, **given: Any) -> Iterator[Service]:
    """A service that is gone at the end of the block, however that ends."""
    service = Service(data, *flags, **given)
    try:
        yield service
    finally:
        if MEASURED:
            service.leave()
        service.kill()


@contextlib.contextmanager
def kept_port() -> Iterator[int]:
    """A port for a service that comes later, or comes and goes. It is bound here too, so that nobody else gets it."""
    with socket.socket() as kept:
        # On Linux others who say the same may bind it as well, as long as none of those that have it listens.
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


def children(pid: int) -> list[int]:
    """Processes started by one, from the system's table."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The second field is a name in parentheses that may hold anything; the parent is the second after it.
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(entry.parent.name))
    return sorted(found)


def command_line(pid: int) -> bytes:
    """Empty for a process that is gone, or dead and not yet buried."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def name_of(pid: int) -> str:
    """What `ps` calls a process; empty for one that is gone."""
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


class Senders:
    """Threads that send without a pause until the end of the block, and what was acknowledged to them."""

    threads: int
    acknowledged: set[bytes]

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._running = [threading.Thread(target=self._send, daemon=True) for _ in range(self.threads)]

    def __enter__(self) -> Self:
        for thread in self._running:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._running:
            thread.join(2 * PATIENCE)
            assert not thread.is_alive()

    def acknowledges(self, more: int) -> None:
        """Wait until that many more reports are acknowledged."""
        enough = len(self.acknowledged) + more
        until(lambda: len(self.acknowledged) >= enough, f"{more} more reports are acknowledged")

    def _send(self) -> None:
        """What each thread does."""
        raise NotImplementedError


@dataclass
class Load(Senders):
    """Threads that send batches with fresh ids without a pause, and remember what was acknowledged.

    A batch that was not acknowledged is sent again, the same bytes, to whatever service there is then: as devices do.
    """

    survey: Survey
    report: bytes
    batch: int = 20
    threads: int = 4
    service: Service | None = None
    acknowledged: set[bytes] = field(default_factory=set)
    sent: set[bytes] = field(default_factory=set)
    statuses: Counter[int] = field(default_factory=Counter)
    """How often each status was answered; 0 where there was no answer."""
    last: dict[int, Answer] = field(default_factory=dict)
    """The latest answer of each status."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._under_way = 0

    def rest(self) -> None:
        """Send no more, and wait until every request has been answered or cut off."""
        with self._lock:
            self.service = None
        until(lambda: self._under_way == 0, "no request is under way")

    def answers(self, status: int) -> Answer:
        """Wait until that status is answered once more."""
        before = self.statuses[status]
        until(lambda: self.statuses[status] > before, f"{status} is answered")
        return self.last[status]

    def _send(self) -> None:
        batch: list[tuple[bytes, bytes]] = []
        while not self._stop.is_set():
            with self._lock:
                service = self.service
                self._under_way += service is not None
            if service is None:
                time.sleep(0.01)
                continue
            batch = batch or [(secrets.token_bytes(REPORT_ID_BYTES), self.report) for _ in range(self.batch)]
            try:
                answer = service.send(self.survey, batch)
                status = answer.status
                self.last[status] = answer
            except urllib3.exceptions.HTTPError:
                status = 0
            with self._lock:
                self.sent.update(report_id for report_id, _ in batch)
                self.statuses[status] += 1
                self._under_way -= 1
                if status == 200:
                    assert answer.json == {"accepted": len(batch), "refused": []}
                    self.acknowledged.update(report_id for report_id, _ in batch)
                    batch = []
            if status != 200:
                time.sleep(0.02)


def assert_exactly_once(load: Load, counted: Counter[bytes]) -> None:
    """No acknowledged report lost, none counted twice, none that nobody sent."""
    assert max(counted.values()) == 1
    assert load.acknowledged <= counted.keys() <= load.sent
