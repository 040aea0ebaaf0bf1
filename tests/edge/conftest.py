"""Running the command in this process, in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Run, run_here


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command here."""
    monkeypatch.chdir(tmp_path)
    return run_here(capsys)
