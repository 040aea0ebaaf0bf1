"""Running commands of the evidence in this process."""

from __future__ import annotations

import pytest

from commands import Run, run_here
from evidence.cli import main


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `python -m evidence` here, without a process of its own."""
    return run_here(capsys, main)
