"""A device client in JavaScript in a history: its own `Device`, run by Node, with requests to the same collector."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final, cast, final

from sottovoce.auditing.client import as_sent
from sottovoce.core.errors import MechanismError
from sottovoce.core.signing import to_base64url
from sottovoce.histories.events import Event
from sottovoce.histories.rules import Charge
from sottovoce.histories.scenario import Scenario
from sottovoce.histories.world import KEY, World

__all__ = ["NodeDevice"]

_PROGRAM: Final = Path(__file__).with_name("device.mjs")


@final
class NodeDevice:
    """Runs events on the `Device` of an ES module that also exports `MemoryStore`.

    The store is the client's own for Node, in memory; it stays when the device restarts or crashes.
    """

    def __init__(self, client: Path, node: str = "node") -> None:
        program = shutil.which(node)
        if program is None:
            raise MechanismError(f"{node!r} is not on the path: a JavaScript client needs Node 20 or newer")
        self.name = client.name
        self._process = subprocess.Popen([program, str(_PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        problem = self._ask(load=str(client.resolve()))
        if problem:
            self.close()
            raise MechanismError(f"the client {client.name} cannot be audited: {problem}")

    def begin(self, scenario: Scenario, world: World, url: str) -> None:
        """A new device at the beginning of a history."""
        self._world, self._url, self._scenario = world, url, scenario
        self._others = 0
        settings = {_as_in_javascript(name): amount for name, amount in scenario.settings.items()}
        self._ask(begin=scenario.secret.hex(), settings=settings, key=to_base64url(KEY.public), now=self._now)

    def restart(self) -> None:
        """The program ends, and another one opens the store."""
        self._ask(restart=True)

    def ledger(self, header: str = "") -> tuple[Charge, ...]:
        """What its store has of answers; with a request they come in a header, as they were when it was made."""
        rows = json.loads(header) if header else self._ask(ledger=True)
        return tuple(
            Charge(question, window, survey, bytes.fromhex(report_id), bytes.fromhex(report), epsilon, day)
            for question, window, survey, report_id, report, epsilon, day in rows
        )

    def run(self, event: Event) -> str:
        """Let the owner do something; returns why the device has failed, empty if it has not."""
        if event.call == "restart":
            self.restart()
            return ""
        question = self._scenario.asked.id
        if event.other:
            question = self._scenario.others[self._others % len(self._scenario.others)].id
            self._others += 1
        values = [as_sent(value) for value in self._scenario.values]
        if event.value:
            values.reverse()
        answer = self._ask(
            call=event.call,
            url=self._url,
            question=question,
            values=values,
            crash=event.crash,
            meanwhile=event.meanwhile,
            now=self._now,
            later=self._milliseconds(self._world.later),
        )
        if event.meanwhile == "days pass" and answer["asked"]:
            self._world.pass_days()
        return str(answer["failure"])

    def close(self) -> None:
        """End Node."""
        self._process.communicate()

    @property
    def _now(self) -> int:
        return self._milliseconds(self._world.now)

    @staticmethod
    def _milliseconds(moment: datetime) -> int:
        return round(1000 * moment.timestamp())

    def _ask(self, **request: Any) -> Any:
        pipe, answers = cast(IO[bytes], self._process.stdin), cast(IO[bytes], self._process.stdout)
        pipe.write(json.dumps(request).encode() + b"\n")
        pipe.flush()
        line = answers.readline()
        if not line:
            raise MechanismError("Node ended before it answered; it has printed why")
        return json.loads(line)


def _as_in_javascript(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)
