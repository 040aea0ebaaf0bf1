"""A relay under load, beside the collector that it stands before: what it takes in, and what it forwards.

Everything is measured in one run on one machine, so that the ratios mean something. Devices send one message each, so
the relay's intake stands beside the collector's for single reports; what it forwards, beside the collector's for
batches. Forwarding includes opening every message at the collector, of which one X25519 exchange is the least.
`python -m evidence.benchmarks.relay --quick` takes a fifth of the messages.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

import sottovoce as sv
from evidence.benchmarks.collector_servers import Target, all_counted, collector, drive, say
from evidence.benchmarks.record import Row
from sottovoce.core.signing import from_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, seal_request
from sottovoce.relay.store import RELAY_FILE, RelayStore, frame
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

__all__ = ["run"]

MESSAGES = 20_000
SECONDS = 4.0
TURNS = 3
SIZE = 512
HEADER_BYTES = 7
ID_BYTES = 16


def run(messages: int = MESSAGES, seconds: float = SECONDS) -> list[Row]:
    """Both ratios, and how long an answer takes to be counted."""
    survey = sv.Survey(sv.shares(1024), epsilon=1.0, title="benchmark", relay=Relay("http://127.0.0.1:1", messages))
    # The same without a relay: the other takes nothing that is sent directly.
    plain = Survey.of_design(survey.question, survey.design, survey.title)
    with tempfile.TemporaryDirectory() as name, collector(plain, Path(name) / "data") as direct:
        direct.publish(survey)
        key = _sealing_key(direct)
        drive(direct, 100, seconds=30, requests=200)
        all_counted(direct, plain)
        return _intake(Path(name), survey, direct, key, seconds) + _forwarding(
            Path(name), survey, direct, key, messages
        )


def _intake(folder: Path, survey: Survey, direct: Target, key: KeyConfiguration, seconds: float) -> list[Row]:
    """One message a request, of which the relay can only see that it is sealed; it holds them all."""
    single, taken = [], []
    with _relay(folder / "intake", direct, "--hold", "1000000") as port:
        # Bodies as the load generator makes them: a beginning, an id that is drawn anew, and the rest.
        relayed = replace(
            direct,
            name="relay",
            port=port,
            path=f"/v1/boxes/{survey.id}",
            media_type=REQUEST_MEDIA_TYPE,
            header=(bytes([key.key_id]) + bytes.fromhex("002000010001")).hex(),
            reports=[secrets.token_bytes(SIZE - HEADER_BYTES - ID_BYTES).hex() for _ in range(512)],
        )
        for _ in range(TURNS):
            single.append(drive(direct, 1, seconds=seconds).rate)
            all_counted(direct, Survey.of_design(survey.question, survey.design, survey.title))
            taken.append(drive(relayed, 1, seconds=seconds).rate)
    say(f"single reports: collector {max(single):,.0f} requests/s, relay {max(taken):,.0f}")
    return [{"name": "messages/s taken by a relay", "against": "collector", "ratio": max(taken) / max(single)}]


def _forwarding(folder: Path, survey: Survey, direct: Target, key: KeyConfiguration, messages: int) -> list[Row]:
    """From a relay that starts with a full box until every report is counted."""
    batches = []
    for _ in range(TURNS):
        batches.append(100 * drive(direct, 100, seconds=SECONDS).rate)
        all_counted(direct, Survey.of_design(survey.question, survey.design, survey.title))
    before = _counted(direct, survey)
    _fill(folder / "forward", survey, key, messages)
    with _relay(folder / "forward", direct):
        began, last = time.perf_counter(), before
        while (now := _counted(direct, survey)) < before + messages:
            if last == before and now > before:
                began, before, messages = time.perf_counter(), now, before + messages - now
            last = now
            time.sleep(0.02)
        rate = messages / (time.perf_counter() - began)
    floor = 1 / _exchange_seconds()
    say(f"batches: collector {max(batches):,.0f} reports/s, through the relay {rate:,.0f}; X25519 alone {floor:,.0f}/s")
    ratio = rate / max(batches)
    return [
        {
            "name": "reports/s through a relay",
            "against": "collector, batches of 100",
            "ratio": ratio,
            "target": ">= 1/3",
        }
        | {"met": ratio >= 1 / 3, "rate": rate, "direct": max(batches)},
        {"name": "reports/s through a relay", "against": "X25519 exchanges/s of one core", "ratio": rate / floor},
    ]


def _fill(folder: Path, survey: Survey, key: KeyConfiguration, n: int) -> None:
    folder.mkdir(mode=0o700)
    report, headers = survey.randomize(0), ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    sealed = []
    for _ in range(n):
        content = encode_batch(survey.id, [(secrets.token_bytes(ID_BYTES), report)])
        request = HttpRequest("POST", f"/v1/surveys/{survey.id}/reports", headers=headers, content=content)
        sealed.append(frame(seal_request(key, request).message))
    with closing(RelayStore(folder / RELAY_FILE)) as store:
        store.learn(survey.id, n)
        store.append([Arrival(survey.id, 0, n, b"".join(sealed))])


def _counted(direct: Target, survey: Survey) -> int:
    return int(direct.get(f"/v1/surveys/{survey.id}/status")["n_reports"])


def _sealing_key(direct: Target) -> KeyConfiguration:
    body = direct.raw("/v1/keys")
    return read_signed_keys(body, from_base64url(json.loads(body)["key"]))[0]


def _exchange_seconds(n: int = 500) -> float:
    mine, theirs = X25519PrivateKey.generate(), X25519PrivateKey.generate().public_key()
    began = time.perf_counter()
    for _ in range(n):
        mine.exchange(theirs)
    return (time.perf_counter() - began) / n


@contextmanager
def _relay(folder: Path, direct: Target, *flags: str) -> Iterator[int]:
    """`sottovoce relay` as it comes; its port."""
    to = f"http://127.0.0.1:{direct.port}"
    command = [sys.executable, "-m", "sottovoce", "relay", "--json", "--port", "0", "--folder", str(folder), "--to", to]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SOTTOVOCE_")}
    with subprocess.Popen([*command, "--log-level", "warning", *flags], stdout=subprocess.PIPE, env=clean) as process:
        assert process.stdout is not None
        try:
            told = json.loads(b"".join(iter(process.stdout.readline, b"}\n")) + b"}")
            yield int(told["address"].rpartition(":")[2])
        finally:
            process.terminate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    for row in run(MESSAGES // 5, 1.0) if quick else run():
        print(row)
