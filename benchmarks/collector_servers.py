"""The servers of the collector's benchmark, each in a process of its own on a free port, and loads driven at them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import urllib3

from benchmarks.load import JSON_TYPE, Order, Outcome
from benchmarks.peers import ENVIRONMENT, REQUIREMENTS, prepared_environment
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

__all__ = ["Target", "bare", "baseline", "collector", "drive"]

HERE = Path(__file__).resolve().parent

_STOP_SECONDS = 60.0
_ANSWER_SECONDS = 60.0
_FEW = 16
"""More connections only make the baseline's threads wait for each other."""

_POOL = 4096
"""Real reports that requests are made of."""


@dataclass(frozen=True)
class Target:
    """A server to be loaded, and how it wants its bodies."""

    name: str
    port: int
    path: str
    batch_path: str
    media_type: str
    header: str
    reports: list[str] = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False)
    token: str = field(default="", repr=False)
    connections: int = 64
    """With how many it is fastest."""

    def get(self, path: str) -> Any:
        """An answer in JSON."""
        return json.loads(self.raw(path))

    def processes(self) -> list[int]:
        """The server's and its children's."""
        first = self.process.pid
        return [first, *map(int, Path(f"/proc/{first}/task/{first}/children").read_text().split())]

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
    people = rng.integers(survey.domain.size, size=_POOL).tolist()
    return [survey.randomize(person).hex() for person in people]


@contextmanager
def collector(survey: Survey, data: Path, *flags: str) -> Iterator[Target]:
    """`sottovoce serve` as it comes, with its counting process, and the survey published in it."""
    command = [sys.executable, "-m", "sottovoce", "serve", "--json", "--port", "0", "--data", str(data), *flags]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
    with _running(command, clean) as process:
        told = json.loads(b"".join(iter(process.stdout.readline, b"}\n")) + b"}")
        port = int(told["address"].rpartition(":")[2])
        path = f"/v1/surveys/{survey.id}/reports"
        header = encode_batch(survey.id, ()).hex()
        target = Target(
            "collector", port, path, path, BATCH_MEDIA_TYPE, header, real_reports(survey), process, told["admin_token"]
        )
        target.raw("/v1/surveys", {"statement": survey.to_json(), "attachments": {}, "minimum_reports": None})
        yield target


@contextmanager
def bare(like: Target, batch: int) -> Iterator[Target]:
    """The same HTTP server with nothing behind it, asked with the same bytes."""
    with _running([sys.executable, "-m", "benchmarks.collector_bare", str(batch)], None) as process:
        port = int(process.stdout.readline())
        yield Target("bare server", port, like.path, like.path, like.media_type, like.header, like.reports, process)


@contextmanager
def baseline(like: Target, style: str) -> Iterator[Target]:
    """FastAPI, SQLAlchemy and SQLite, from the peers' environment; `PeersUnavailable` if there is none."""
    python = prepared_environment(ENVIRONMENT, REQUIREMENTS)
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), "-I", str(HERE / "collector_baseline.py"), style, str(Path(folder) / "baseline.db")]
        with _running(command, None) as process:
            port = int(process.stdout.readline())
            yield Target(style, port, "/report", "/reports", JSON_TYPE, "", like.reports, process, connections=_FEW)


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
        [sys.executable, "-m", "benchmarks.load"],
        input=msgspec.json.encode(order),
        stdout=subprocess.PIPE,
        timeout=seconds + 120,
        check=True,
    )
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    if outcome.refused:
        raise RuntimeError(f"{target.name} answered {outcome.statuses}, and 200 was expected only")
    return outcome
