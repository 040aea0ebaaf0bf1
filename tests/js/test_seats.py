"""Devices of a panel that wait, in Python and JavaScript: whatever their seats, a collector sees the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sottovoce as sv
from collector.service import Service, running
from js.bridge import Bridge, Refused
from relay.recording import Recorder, recording
from sottovoce.core.errors import ServiceError
from sottovoce.device import Device, MemoryStore

ROUNDS = 3
DEVICES = 16
"""All have the same seat with chance 3^-15: 7 in 10^8."""

PANEL = sv.Panel({"age": range(100)}, rounds=ROUNDS, epsilon=2.0, title="Ages")

Ask = Callable[[], str]
"""Lets one device try to answer; returns the state, or the code of the refusal."""


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path / "data", "--workers", "0") as one:
        one.publish(PANEL)  # type: ignore[arg-type]
        yield one


def python_device(url: str) -> Ask:
    device = Device(MemoryStore(), require_log=True)

    def ask() -> str:
        try:
            return device.answer(url, PANEL.id, {"age": 41}).state
        except ServiceError as error:
            return error.code

    return ask


def javascript_device(client: Bridge, owner: str, url: str) -> Ask:
    def ask() -> str:
        try:
            given = {"requireLog": True}
            return str(client.ask("answer", owner=owner, url=url, id=PANEL.id, value={"age": 41}, options=given))
        except Refused as refused:
            if refused.name != "ServiceError":
                raise
            return "survey_sealed"

    return ask


def before_the_report(recorder: Recorder, ask: Ask) -> tuple[str, bytes]:
    """What a device says, and the bytes of its requests up to the report if it sends one."""
    start = len(recorder.requests)
    state = ask()
    return state, bytes(recorder.requests[start:]).partition(b"POST ")[0]


def check_that_all_look_alike(service: Service, recorder: Recorder, devices: list[Ask]) -> None:
    rounds = [sv.adaptive.round_of(PANEL, number, f"age < {10 * number}") for number in range(1, ROUNDS + 1)]
    answered: list[int] = []
    for opened in (None, *rounds):
        if opened is not None:
            said = {"statement": opened.to_json(), "labels": []}
            assert service.ask("POST", f"/v1/surveys/{PANEL.id}/rounds", json=said).status == 201
        asked = [before_the_report(recorder, device) for device in devices]
        assert len({requests for _, requests in asked}) == 1, "who waits, who answers and who has missed it"
        assert asked[0][1].count(b"GET ") >= 2
        answered.append([state for state, _ in asked].count("sent"))
        devices = [device for device, (state, _) in zip(devices, asked, strict=True) if state != "sent"]
        if opened is not None:
            assert service.ask("POST", f"/v1/surveys/{opened.id}/seal").status == 200
            between = {before_the_report(recorder, device)[1] for device in devices}
            assert len(between) <= 1, "after a round is closed"
    assert sum(answered) == DEVICES
    assert max(answered) < DEVICES, "there was more than one seat"


def test_of_python(service: Service) -> None:
    with recording(service.url) as recorder:
        check_that_all_look_alike(service, recorder, [python_device(recorder.url) for _ in range(DEVICES)])


def test_of_javascript(service: Service, client: Bridge) -> None:
    with recording(service.url) as recorder:
        devices = [javascript_device(client, f"seat {number}", recorder.url) for number in range(DEVICES)]
        check_that_all_look_alike(service, recorder, devices)
