"""Device clients in JavaScript, run by Node and asked over a pipe."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final, Self, cast, final

import numpy as np

from sottovoce.auditing.client_runs import RunBatch
from sottovoce.core.errors import MechanismError

__all__ = ["NodeClients", "as_sent"]

_PROGRAM: Final = Path(__file__).with_name("client.mjs")
_EXACT: Final = 2**53


@final
class NodeClients:
    """One Node process, in which any number of clients read a survey and make reports.

    Parameters
    ----------
    node
        The program, Node 20 or newer.
    """

    def __init__(self, node: str = "node") -> None:
        found = shutil.which(node)
        if found is None:
            raise MechanismError(f"{node!r} is not on the path: a JavaScript client needs Node 20 or newer")
        self._process = subprocess.Popen([found, str(_PROGRAM)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def load(self, client: Path, statement: str, attachments: dict[str, bytes]) -> int:
        """Let the client at this path read a survey; returns its number."""
        attached = {digest: content.hex() for digest, content in attachments.items()}
        self._ask(load=str(client.resolve()), statement=statement, attachments=attached)
        answer = self.answer()
        if not isinstance(answer, int):
            raise MechanismError(f"the client {client.name} does not answer this survey: {answer['problem']}")
        return answer

    def start(self, numbers: Sequence[int], batch: RunBatch) -> None:
        """Have these clients make a report per value, with tapes used in turn; `answer` waits for the result."""
        values = [as_sent(value) for value in batch.values]
        self._ask(run=numbers, values=values, tapes=batch.tapes, reports=batch.reports, deployed=batch.deployed)

    def answer(self) -> Any:
        """The answer to the last request; after `start`, for every client its first difference, or None."""
        line = cast(IO[bytes], self._process.stdout).readline()
        if not line:
            raise MechanismError("Node ended before it answered; it has printed why")
        return json.loads(line)

    def _ask(self, **request: Any) -> None:
        pipe = cast(IO[bytes], self._process.stdin)
        pipe.write(json.dumps(request).encode() + b"\n")
        pipe.flush()


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
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    return [as_sent(part) for part in value.values()] if isinstance(value, dict) else value
