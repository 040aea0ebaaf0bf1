"""Running the command in this process, and what it left behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from sottovoce.cli import main

__all__ = ["Outcome", "Run", "run_here"]


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON value and nothing else."""
        return json.loads(self.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


Run = Callable[..., Outcome]


def run_here(capsys: pytest.CaptureFixture[str], command: Callable[[Sequence[str]], int] = main) -> Run:
    """Run the command, or another one, here, without a process of its own."""

    def here(*words: str) -> Outcome:
        capsys.readouterr()
        status = command(words)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return here
