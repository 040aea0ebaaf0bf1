"""Does a device keep its promise in every history? The real device, through everything that can happen to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.histories.result import DeviceAudit

if TYPE_CHECKING:
    from sottovoce.histories.scenario import AskedSurvey
    from sottovoce.histories.search import AuditedDevice

__all__ = ["DEFAULT_SECONDS", "DeviceAudit", "audit_device"]

DEFAULT_SECONDS = 120.0


@with_clear_calls("sv.audit_device(), or sv.audit_device(survey, seconds=600)")
def audit_device(
    survey: AskedSurvey | None = None,
    *,
    client: str | Path | None = None,
    seconds: float | None = None,
    history: str | None = None,
    progress: Callable[[int], object] | None = None,
) -> DeviceAudit:
    """Run a device through all short histories, and then through random longer ones, against a hostile collector.

    In each one it is checked that no second draw is sent for one survey and window; that nothing is sent before it is
    in the ledger, or beyond the budget; that no report is drawn or sent outside its window and its time; and that
    nothing goes past the relay that a survey states.

    Parameters
    ----------
    survey
        A survey, a tracking survey or a panel; without one, one of each and a relayed one. The relay that a survey
        states is replaced by the audit's own, and nothing leaves this machine.
    client
        The file of a client in JavaScript (an ES module, run by Node) whose device is audited in place of Python's.
    seconds
        Time for histories, 120 unless given. Histories of one length are run if all of them fit.
    history
        One history only, as a result names it: events with semicolons between them. It needs `survey`, or is run for
        all four surveys as far as they know its events.
    progress
        Called with the number of histories done since the last call.

    Examples
    --------
    >>> audit_device(history="answer a, the response is lost; restart; answer b").verdict
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: history has an unknown event 'answer a, the response is lost'...
    >>> audit_device(history="answer b, the response is lost; restart; answer a").verdict
    'sound'
    """
    import os
    import tempfile

    from sottovoce.auditing import check_seconds
    from sottovoce.core.progress import advancing
    from sottovoce.histories.python_device import PythonDevice
    from sottovoce.histories.scenario import scenario_of, usual_scenarios
    from sottovoce.histories.search import replay, search
    from sottovoce.histories.server import LoopbackServer

    budget = check_seconds(DEFAULT_SECONDS if seconds is None else seconds)
    memory = Path("/dev/shm")  # a disk takes ten times as long, and the histories are the same
    where = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as folder, LoopbackServer() as server:
        relay = server.url("relay")
        scenarios = usual_scenarios(relay) if survey is None else (scenario_of(survey, relay),)
        device: AuditedDevice = PythonDevice(Path(folder)) if client is None else _client_device(Path(client))
        try:
            if history is not None:
                done = replay(server, device, scenarios, history)
            else:
                with advancing(progress, "auditing the device", unit="histories") as advance:
                    done = search(server, device, scenarios, budget, advance)
        finally:
            device.close()
    if history is None and done.found is None and not done.reports:
        raise SurveyError(
            "the device sent no report in any history, so nothing was judged: give more seconds, or see why it refuses "
            "the survey"
        ).at("survey")
    return DeviceAudit.of(device.name, scenarios, done)


def _client_device(client: Path) -> AuditedDevice:
    from sottovoce.histories.node_device import NodeDevice

    return NodeDevice(client)
