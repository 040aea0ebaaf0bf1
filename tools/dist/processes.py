"""Running the tools of others: quiet when they succeed, and with all they said when they do not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

__all__ = ["BuildError", "output"]


class BuildError(Exception):
    """Nothing was written; says why, and what to do."""


def output(*words: str | Path, within: Path, **settings: str) -> bytes:
    """What a command writes to its standard output, run in that folder with those settings in its environment."""
    done = subprocess.run(
        [str(word) for word in words], cwd=within, env={**os.environ, **settings}, capture_output=True, check=False
    )
    if done.returncode:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        raise BuildError(f"{' '.join(map(str, words))} failed with status {done.returncode}:\n{said}")
    return done.stdout
