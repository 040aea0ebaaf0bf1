"""Running the command in this process and in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sottovoce.cli import main


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


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command here, without a process of its own."""

    def here(*words: str) -> Outcome:
        capsys.readouterr()
        status = main(words)
        captured = capsys.readouterr()
        return Outcome(status, captured.out, captured.err)

    return here


@pytest.fixture
def run_process() -> Run:
    """Run the command as people do: another process, both streams piped."""

    def there(*words: str) -> Outcome:
        done = subprocess.run([sys.executable, "-m", "sottovoce", *words], capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return there
