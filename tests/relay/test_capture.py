"""All bytes between devices, relay and collector: the relay sees no answer, and the collector no device."""

from __future__ import annotations

import re
from pathlib import Path

import sottovoce as sv
from collector.service import running
from relay.recording import recording
from relay.service import delivered, relaying
from sottovoce.device import Device, MemoryStore
from sottovoce.formats.wire import batch_rows
from sottovoce.oblivious.messages import MESSAGE_SIZES
from sottovoce.surveys.relay import Relay
from sottovoce.surveys.survey import Survey

DEVICES, RELAY = "127.0.0.2", "127.0.0.3"
PEOPLE = 6
LABELS = [f"a town called {number}" for number in range(120)]


def everything_in(folder: Path) -> bytes:
    files = [folder] if folder.is_file() else [one for one in folder.rglob("*") if one.is_file()]
    return b"".join(one.read_bytes() for one in files)


def test_no_answer_at_the_relay_and_no_address_at_the_collector(tmp_path: Path) -> None:
    with running(tmp_path / "data") as collector, recording(collector.url, source=RELAY) as behind:
        # The relay's own address is the one from which its recorder passes on.
        with (
            relaying(tmp_path / "relay", behind.url, "--wait", "0", "--time-precision", "1") as relay,
            recording(relay.url, source=DEVICES) as before,
            recording(collector.url, source=DEVICES) as direct,
        ):
            survey = Survey(
                sv.shares(LABELS),
                epsilon=2.0,
                mechanism="unary_optimized",
                title="Where do you live?",
                relay=Relay(before.url, PEOPLE),
            )
            collector.publish(survey)
            for person in range(PEOPLE):
                with Device(MemoryStore(), relay=before.url, insist_on_relay=True) as device:
                    assert device.answer(direct.url, survey.id, LABELS[person]).state == "sent"
            delivered(collector, survey, PEOPLE)
            at_relay = bytes(before.requests + before.responses + behind.requests + behind.responses)
            at_relay += everything_in(tmp_path / "relay") + relay.log.read_bytes()
        segments = collector.ask("GET", f"/v1/surveys/{survey.id}/segments").json["segments"]
        content = collector.ask("GET", f"/v1/surveys/{survey.id}/segments/{segments[0]['number']}").body
        at_collector = everything_in(tmp_path / "data") + collector.log.read_bytes() + bytes(behind.requests)

    rows = [row.tobytes() for row in batch_rows(content, survey.id, survey.mechanism.report_bytes)]
    secrets = [part for row in rows for part in (row[:16], row[16:])]
    assert len(rows) == PEOPLE
    assert min(map(len, secrets)) >= 15, "long enough not to be met by chance"
    assert all(secret in content for secret in secrets)
    assert [secret for secret in secrets if secret in at_relay] == []
    assert b"Where do you live?" not in bytes(before.requests + before.responses)
    assert b"a town called" not in bytes(before.requests + before.responses)

    assert direct.peers == set()
    assert before.peers != set()
    assert DEVICES.encode() not in at_collector
    names = {name.lower() for name in re.findall(rb"\r\n([A-Za-z-]+): ", bytes(behind.requests))}
    assert names <= {b"host", b"user-agent", b"accept-encoding", b"content-type", b"content-length"}

    boxes = bytes(before.requests).split(b"POST /v1/boxes/")[1:]
    sizes = {int(re.search(rb"(?i)content-length: ([0-9]+)", box)[1]) for box in boxes}  # type: ignore[index]
    assert len(boxes) == PEOPLE
    assert len(sizes) == 1
    assert sizes <= set(MESSAGE_SIZES)
