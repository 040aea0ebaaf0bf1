"""One planted fault, and how an audit looks for it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sottovoce as sv
from sottovoce.auditing.client import audit_client

__all__ = ["PlantedFault"]

Change = tuple[str, str, str]
"""A file of the compiled client, an expression that stands in it once, and what stands there instead."""


@dataclass(frozen=True)
class PlantedFault:
    """One fault: where it is, how it is planted, and why it is not found, if it is not.

    `plant` is a context in which Python's device has the fault, or the change of the client that has it.
    """

    name: str
    survey: Callable[[], sv.Survey]
    plant: Callable[[], Any] | Change
    seconds: float = 2.0
    missed: str = ""
    long: bool = False
    """Whether finding it takes more than some seconds, so that only the command plants it."""

    @property
    def language(self) -> str:
        return "TypeScript" if isinstance(self.plant, tuple) else "Python"

    def found_by(self, compiled: Path | None = None) -> str:
        """The check that finds it; empty if none does. `compiled` is the folder of the client's modules."""
        if not isinstance(self.plant, tuple):
            with self.plant():
                found = sv.audit(self.survey(), samples=100, seconds=self.seconds)
            return found.check
        assert compiled is not None
        with planted_client(compiled, self.plant) as client:
            difference = audit_client(self.survey(), client, seconds=self.seconds).difference
        forms = {"called without a source": "without a source", "in blocks": "bytes in blocks"}
        forms["it reads a survey"] = "surveys to refuse"
        return next((check for words, check in forms.items() if words in difference), "same bytes" * bool(difference))


@contextmanager
def planted_client(compiled: Path, change: Change) -> Iterator[Path]:
    """A copy of the client with one change."""
    name, found, put = change
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "client"
        shutil.copytree(compiled, copy)
        (Path(folder) / "package.json").write_text('{"type": "module"}')
        text = (copy / name).read_text()
        assert text.count(found) == 1, f"{found} must stand once in {name}, not {text.count(found)} times"
        (copy / name).write_text(text.replace(found, put))
        yield copy / "index.js"
