"""Running the command in this process and in one of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from commands import Outcome, Run, run_here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command here, without a process of its own."""
    return run_here(capsys)


@pytest.fixture
def run_process() -> Run:
    """Run the command as people do: another process, both streams piped."""

    def there(*words: str) -> Outcome:
        done = subprocess.run([sys.executable, "-m", "sottovoce", *words], capture_output=True, text=True, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    return there
