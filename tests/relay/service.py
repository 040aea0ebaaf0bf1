"""The real relay in a process of its own, and sealed messages as devices make them."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

import sottovoce as sv
from collector.service import MEASURED, PATIENCE, Answer, Senders, Service, environment, until
from sottovoce.core.signing import from_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, REPORT_ID_BYTES, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, seal_request
from sottovoce.relay.store import message_id
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey


def relayed(least: int, title: str = "What do you drink?", url: str = "http://127.0.0.1:8471") -> Survey:
    """A survey that wants a relay."""
    return Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title=title, relay=Relay(url, least))


class RelayProcess:
    """`sottovoce relay` on a free port, which can be killed as a machine that dies would."""

    def __init__(self, folder: Path, to: str, *flags: str, **variables: str):
        self.folder = folder
        self.log = folder.parent / f"{folder.name}.log"
        command = [sys.executable, "-m", "sottovoce", "relay", "--json", "--port", "0", "--folder", str(folder)]
        command += ["--to", to, "--reserve-bytes", str(2**25), "--retry-seconds", "0.2", *flags]
        with self.log.open("ab") as lines:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=lines, env=environment(**variables), start_new_session=True
            )
        assert self.process.stdout is not None
        told = self.process.stdout.read1(2**16)
        if not told:
            raise ChildProcessError(f"the relay ended with status {self.process.wait()}: {self.log.read_text()}")
        self.url: str = json.loads(told)["address"]
        self._pool = urllib3.PoolManager(maxsize=16, retries=False, timeout=PATIENCE)

    def ask(self, method: str, path: str, **given: Any) -> Answer:
        """One request; raises `urllib3.exceptions.HTTPError` when there is no answer."""
        found = self._pool.request(method, self.url + path, **given)
        return Answer(found.status, found.data, found.headers)

    def put(self, survey_id: str, message: bytes) -> Answer:
        """A message into the box of a survey."""
        return self.ask("POST", f"/v1/boxes/{survey_id}", body=message, headers={"Content-Type": REQUEST_MEDIA_TYPE})

    def keys(self) -> tuple[KeyConfiguration, ...]:
        """What the collector publishes, through the relay."""
        answer = self.ask("GET", "/v1/keys")
        assert answer.status == 200, answer
        return read_signed_keys(answer.body, from_base64url(answer.json["key"]))

    def metric(self, name: str, token: str = "secret") -> float:
        """The sum of one metric over its labels."""
        answer = self.ask("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
        assert answer.status == 200, answer
        lines = [line for line in answer.body.decode().splitlines() if line.partition("{")[0].split()[0] == name]
        return sum(float(line.split()[-1]) for line in lines)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self._end()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def _end(self) -> int:
        status = self.process.wait(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._pool.clear()
        return status


@contextlib.contextmanager
def relaying(folder: Path, to: str, *flags: str, **variables: str) -> Iterator[RelayProcess]:
    """A relay that is gone at the end of the block, however that ends."""
    process = RelayProcess(folder, to, *flags, **variables)
    try:
        yield process
    finally:
        if MEASURED:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.process.send_signal(signal.SIGTERM)
                process.process.wait(PATIENCE)
        process.kill()


def sealed(survey: Survey, configuration: KeyConfiguration, report: bytes, report_id: bytes | None = None) -> bytes:
    """A report as a device seals it."""
    content = encode_batch(survey.id, [(report_id or secrets.token_bytes(REPORT_ID_BYTES), report)])
    headers = ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    request = HttpRequest("POST", f"/v1/surveys/{survey.id}/reports", headers=headers, content=content)
    return seal_request(configuration, request).message


@dataclass
class SealedLoad(Senders):
    """Threads that put sealed reports into a relay without a pause, and remember what was acknowledged."""

    survey: Survey
    report: bytes
    configuration: KeyConfiguration
    threads: int = 4
    relay: RelayProcess | None = None
    acknowledged: set[bytes] = field(default_factory=set)
    sent: dict[bytes, bytes] = field(default_factory=dict)
    """The report's id of every message, by the message's."""

    def _send(self) -> None:
        message, report_id = b"", b""
        while not self._stop.is_set():
            relay = self.relay
            if relay is None:
                time.sleep(0.01)
                continue
            if not message:
                report_id = secrets.token_bytes(REPORT_ID_BYTES)
                message = sealed(self.survey, self.configuration, self.report, report_id)
                self.sent[message_id(message)] = report_id
            try:
                status = relay.put(self.survey.id, message).status
            except urllib3.exceptions.HTTPError:
                status = 0
            if status == 200:
                with self._lock:
                    self.acknowledged.add(report_id)
                message = b""
            else:
                time.sleep(0.02)


def delivered(service: Service, survey: Survey, n: int) -> None:
    """Wait until the collector has counted that many reports."""
    until(lambda: service.status(survey)["n_reports"] >= n, f"{n} reports are counted")
