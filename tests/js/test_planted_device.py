"""`audit_device` finds faults of state that are planted in the client's device, and none in the client itself."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import sottovoce as sv
from commands import run_here
from fewer_events import fewer
from js.bridge import Bridge, built
from sottovoce.core.errors import MechanismError
from sottovoce.histories.node_device import NodeDevice
from sottovoce.histories.scenario import usual_scenarios
from sottovoce.histories.search import search
from sottovoce.histories.server import LoopbackServer

Fault = tuple[str, str, str, str]
"""The survey in which it is looked for, a file of the client, an expression that stands in it once, and another."""

PLANTED: dict[str, Fault] = {
    "another id at every attempt": (
        "plain survey",
        "device/sending.js",
        "await collector.send(uploadOf(kept.survey, kept.reportId, kept.report));",
        "await collector.send(uploadOf(kept.survey, systemSource.bytes(16), kept.report));",
    ),
    "a second draw beside another tab": (
        "plain survey",
        "device/store.js",
        "return kept ?? this.#keep(",
        "return this.#keep(",
    ),
    "the budget for life is not asked": (
        "plain survey",
        "device/ledger.js",
        "total([...before, cost[name]]) > units(life)",
        "total([cost[name]]) > units(life)",
    ),
    "windows that ended before it joined": ("tracking survey", "device/turns.js", "<= this.since ?", "<= 0 ?"),
    "clocks that disagree": (
        "tracking survey",
        "device/preparing.js",
        "checkClocks(own, theirs);",
        "collector.time = async () => own;",
    ),
    "a period that closed while the person thought": (
        "tracking survey",
        "device/device.js",
        "period ? phase(period, this.#clock()) : ",
        "",
    ),
    "reports of closed periods": (
        "tracking survey",
        "device/sending.js",
        "now >= Date.parse(kept.closes)",
        "now >= Infinity",
    ),
    "directly when the relay fails": (
        "relayed survey",
        "device/sending.js",
        "await sendThrough(sending.relay(kept.relay), kept, store);",
        "await sendThrough(sending.relay(kept.relay), kept, store)"
        ".catch(() => collector.send(uploadOf(kept.survey, kept.reportId, kept.report)));",
    ),
    "keys that nobody signed": (
        "relayed survey",
        "device/relay_client.js",
        '("/v1/keys")), trusted)',
        '("/v1/keys")), null)',
    ),
    "another survey is taken for this one": ("plain survey", "device/collector.js", "envelope.id !== id", "false"),
}


@pytest.fixture(scope="session")
def modules(client: Bridge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's modules, one file each."""
    base = tmp_path_factory.getbasetemp()
    return built(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base).parents[1] / "src"


def test_the_client_is_sound_and_says_so(modules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = modules / "index.js"
    result = sv.audit_device(client=index, history="answer b, the response is lost; restart; answer a; flush")
    assert (result.verdict, result.device, result.reports > 4) == ("sound", "index.js", True)
    done = run_here(capsys)("audit", "--device", "--client", str(index), "--history", "answer a; answer b", "--json")
    assert done.status == 0
    with pytest.raises(MechanismError, match="exports no Device"):
        sv.audit_device(client=modules / "core" / "errors.js", history="flush")


@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_found(modules: Path, tmp_path: Path, name: str) -> None:
    scenario, file, found, put = PLANTED[name]
    folder = tmp_path / "client"
    shutil.copytree(modules, folder)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    text = (folder / file).read_text()
    assert text.count(found) == 1, f"{found} must stand once in {file}, not {text.count(found)} times"
    (folder / file).write_text(text.replace(found, put))
    with LoopbackServer() as server:
        asked = [fewer(one) for one in usual_scenarios(server.url("relay")) if one.name == scenario]
        device = NodeDevice(folder / "index.js")
        try:
            done = search(server, device, asked, 60.0, lambda more: None, seed=1)
        finally:
            device.close()
    assert done.found is not None
