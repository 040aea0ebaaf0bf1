"""A stranger's machine: an environment without the clone, commands in an empty folder, a service of a wheel."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 120.0
"""Seconds until a test gives up on something that must happen; far longer than it ever takes."""


def without_the_clone() -> dict[str, str]:
    """This process's variables, without those that lead back to the clone or set the package up.

    Nor with the cache of the test run, which is empty: pip and npm look into the user's before they download.
    """
    ours = ("SOTTOVOCE_", "PYTHON", "COVERAGE_", "VIRTUAL_ENV", "XDG_CACHE_HOME")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


@dataclass(frozen=True)
class Stranger:
    """Who has one environment and one folder, and knows nothing of the clone."""

    environment: Path
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        """The environment of their commands: home is the folder."""
        return without_the_clone() | {"HOME": str(self.folder), "XDG_CACHE_HOME": str(self.folder / "cache")}

    def run(self, program: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """A program of the environment, in the folder."""
        command = [str(self.environment / "bin" / program), *words]
        return subprocess.run(
            command, cwd=self.folder, env=self.variables | variables, capture_output=True, text=True, check=False
        )

    def python(self, code: str) -> str:
        """What a program prints that must succeed."""
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def sottovoce(self, *words: str, **variables: str) -> str:
        """What a command prints that must succeed."""
        done = self.run("sottovoce", *words, **variables)
        assert done.returncode == 0, (words, done.stderr)
        return done.stdout

    def refused(self, *words: str) -> str:
        """What a command says that must fail, without a traceback."""
        done = self.run("sottovoce", *words)
        assert done.returncode, (words, done.stdout)
        assert "Traceback" not in done.stderr
        return done.stderr

    @contextlib.contextmanager
    def serving(self) -> Iterator[dict[str, Any]]:
        """`sottovoce serve` on a free port; what it said when it was ready."""
        command = [str(self.environment / "bin" / "sottovoce"), "serve", "--json", "--port", "0"]
        command += ["--minimum-reports", "1", "--reserve-bytes", str(2**25)]
        with (self.folder / "service.log").open("wb") as log:
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.variables, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert process.stdout is not None
        try:
            lines: list[str] = []
            for line in process.stdout:
                lines.append(line)
                if line == "}\n":
                    break
            assert lines, (self.folder / "service.log").read_text(encoding="utf-8")
            yield json.loads("".join(lines))
        finally:
            process.terminate()
            process.wait(PATIENCE)
            process.stdout.close()
