"""Audit of a device client in JavaScript: given the same random bytes, it must send the bytes that Python sends.

The Python device is audited by itself. Where a client does the same with the same draws, the verdict holds for both.
"""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from select import select
from typing import IO, Any, Final, Self, cast, final

import numpy as np

from sottovoce.auditing.client_runs import RunBatch, RunPlan
from sottovoce.auditing.refused import RefusedSurvey, refused_surveys
from sottovoce.auditing.result import MISSED
from sottovoce.auditing.subject import AuditedSurvey
from sottovoce.core.errors import MechanismError
from sottovoce.core.words import plural

__all__ = ["DEFAULT_CLIENT_SECONDS", "ClientAudit", "NodeClients", "as_sent", "audit_client", "audit_clients"]

DEFAULT_CLIENT_SECONDS: Final = 60.0

_SHOWN: Final = 200
"""Characters of a tape in a message."""


@final
@dataclass(frozen=True)
class ClientAudit:
    """What runs of a client have shown.

    Attributes
    ----------
    runs
        Reports that were compared.
    values, size
        How many values were run, each with every coin just below and just at its threshold; and how many there are
        (None for vectors and words).
    draws
        For every integer that a report draws, how many of its outcomes were run, and out of how many.
    deployed, blocks
        How many of the runs called the client as an application does, without a source; the others give it one. And
        how many blocks of random bytes it took from the platform for these.
    refused
        How many changed surveys it was given that Python's device refuses: it refuses them too.
    difference
        The first run where the client does not do what Python does; empty if there is none.
    """

    survey: str
    client: str
    runs: int
    values: int
    size: int | None
    draws: tuple[tuple[int, int], ...]
    deployed: int
    blocks: int
    refused: int
    difference: str

    @property
    def agrees(self) -> bool:
        """Whether no difference was found."""
        return not self.difference

    @property
    def every_value(self) -> bool:
        """Whether every value was run."""
        return self.values == self.size

    @property
    def fault_size(self) -> float:
        """Random runs miss a fault at more than this share of the values with probability 1e-6; 0 if all were run."""
        return 0.0 if self.every_value else min(1.0, -math.log(MISSED) / max(1, self.values))

    def __str__(self) -> str:
        if not self.agrees:
            return f"{self.client} differs from the Python device: {self.difference}"
        values = f"all {self.values:,} values" if self.every_value else f"{self.values:,} values"
        missed = "" if self.every_value else f"; a fault at one value in {1 / self.fault_size:,.0f} would be seen"
        drawn = ", ".join(f"{done:,} of {n:,}" for done, n in self.draws) or "none"
        return (
            f"{self.client} sends what the Python device sends in {self.runs:,} runs, {self.deployed:,} of them "
            f"without a source, from {plural(self.blocks, 'block')} of random bytes: {values}{missed}; outcomes of "
            f"integer draws: {drawn}; it refuses {plural(self.refused, 'changed survey')} as Python does"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {
            "agrees": self.agrees,
            "every_value": self.every_value,
            "fault_size": self.fault_size,
            "draws": [list(draw) for draw in self.draws],
        }


def audit_client(
    survey: AuditedSurvey,
    client: Path,
    *,
    seconds: float = DEFAULT_CLIENT_SECONDS,
    tell: Callable[[int], object] | None = None,
) -> ClientAudit:
    """Run a client, an ES module that exports `readSurvey` and `Source`, on the same draws as the Python device.

    Parameters
    ----------
    seconds
        Processor time of this process after which it ends, unless every value was run before.
    tell
        Called with the number of new runs.

    Raises
    ------
    MechanismError
        If there is no Node here, or the client does not answer this survey.
    """
    return audit_clients(survey, [client], seconds=seconds, tell=tell)[0]


def audit_clients(
    survey: AuditedSurvey,
    clients: Sequence[Path],
    *,
    seconds: float = DEFAULT_CLIENT_SECONDS,
    tell: Callable[[int], object] | None = None,
) -> list[ClientAudit]:
    """`audit_client` for several clients, on the same runs; a client that differs is not run any further."""
    plan, refused = RunPlan(survey, seconds), list(refused_surveys(survey))
    runs = deployed = 0
    blocks = [0] * len(clients)
    with NodeClients() as node:
        numbers = [node.load(client, survey.to_json(), dict(survey.attachments)) for client in clients]
        differences = [node.accepted(client, refused) for client in clients]
        batches = plan.batches()
        batch = next(batches, None)
        while batch is not None and not all(differences):
            agreeing = [index for index, difference in enumerate(differences) if not difference]
            node.start([numbers[index] for index in agreeing], batch)
            following = next(batches, None)  # while Node is at work
            for index, answer in zip(agreeing, node.answer(), strict=True):
                if "at" in answer:
                    differences[index] = _difference(batch, answer["at"], answer["does"])
                blocks[index] += answer.get("blocks", 0)
            runs += len(batch.values)
            deployed += len(batch.values) if batch.deployed else 0
            if tell is not None:
                tell(len(batch.values))
            batch = following
    return [
        ClientAudit(
            survey=survey.id,
            client=client.name,
            runs=runs,
            values=len(plan.values),
            size=plan.size,
            draws=tuple(plan.draws),
            deployed=deployed,
            blocks=taken,
            refused=len(refused),
            difference=difference,
        )
        for client, taken, difference in zip(clients, blocks, differences, strict=True)
    ]


def _difference(batch: RunBatch, at: int, does: str) -> str:
    tape = batch.tapes[at % len(batch.tapes)]
    shown = tape if len(tape) <= _SHOWN else f"{tape[:_SHOWN]}.."
    return (
        f"for value number {batch.numbers[at]} it {does} where Python sends {batch.reports[at]}; random bytes: {shown}"
    )


_PROGRAM: Final = Path(__file__).with_name("client.mjs")
_EXACT: Final = 2**53
_PATIENCE: Final = 120.0
"""Seconds for one request."""


@final
class NodeClients:
    """One Node process, in which any number of clients read a survey and make reports.

    Parameters
    ----------
    node
        The program, Node 20 or newer.
    """

    def __init__(self, node: str = "node") -> None:
        program = shutil.which(node)
        if program is None:
            raise MechanismError(f"{node!r} is not on the path: a JavaScript client needs Node 20 or newer")
        self._process = subprocess.Popen([program, str(_PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def load(self, client: Path, statement: str, attachments: dict[str, bytes]) -> int:
        """Let the client at this path read a survey; returns its number."""
        self._ask(load=str(client.resolve()), statement=statement, attachments=_in_hex(attachments))
        answer = self.answer()
        if not isinstance(answer, int):
            raise MechanismError(f"the client {client.name} does not answer this survey: {answer['problem']}")
        return answer

    def accepted(self, client: Path, surveys: Sequence[RefusedSurvey]) -> str:
        """The first of these surveys that the client reads all the same, in words; empty if it refuses all."""
        stated = [{"statement": survey.statement, "attachments": _in_hex(survey.attachments)} for survey in surveys]
        self._ask(refused=stated, load=str(client.resolve()))
        places = self.answer()
        return f"it reads a survey that Python refuses: {surveys[places[0]].change}" if places else ""

    def start(self, numbers: Sequence[int], batch: RunBatch) -> None:
        """Have these clients make a report per value, with tapes used in turn; `answer` waits for the result."""
        values = [as_sent(value) for value in batch.values]
        self._ask(run=numbers, values=values, tapes=batch.tapes, reports=batch.reports, deployed=batch.deployed)

    def answer(self) -> Any:
        """The answer to the last request; after `start`, for every client its first difference, if there is one."""
        pipe = cast(IO[bytes], self._process.stdout)
        if not select([pipe], [], [], _PATIENCE)[0]:
            self._process.kill()
            raise MechanismError(f"the client does not answer within {_PATIENCE:g} seconds")
        line = pipe.readline()
        if not line:
            raise MechanismError("Node ended before it answered; it has printed why")
        return json.loads(line)

    def _ask(self, **request: Any) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        pipe.write(json.dumps(request).encode() + b"\n")
        pipe.flush()


def _in_hex(attachments: Mapping[str, bytes]) -> dict[str, str]:
    return {digest: content.hex() for digest, content in attachments.items()}


def as_sent(value: Any) -> Any:
    """A value as JSON: integers of any size, byte strings, vectors to the bit, records in the order of attributes.

    Examples
    --------
    >>> as_sent({"age": 30, "id": 2**60})
    [30, {'integer': '1152921504606846976'}]
    >>> as_sent(b"AB")
    {'bytes': '4142'}
    """
    if isinstance(value, np.ndarray):
        return {"doubles": np.asarray(value, dtype="<f8").tobytes().hex()}
    if isinstance(value, int) and abs(value) >= _EXACT:
        return {"integer": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"double": np.asarray(value, dtype="<f8").tobytes().hex()}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return [as_sent(part) for part in value.values()] if isinstance(value, dict) else value
