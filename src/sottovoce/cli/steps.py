"""What a long run does, on standard error: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from time import monotonic
from typing import Any, Final, Protocol

__all__ = ["StepLines", "Steps", "steps"]

_QUIET_SECONDS: Final = 2.0
"""Runs that are shorter say nothing."""

_LINE_SECONDS: Final = 60.0
"""A step that is longer says again how far it is."""


class Steps(Protocol):
    """Where a run says what it does."""

    def say(self, words: str) -> None:
        """What is being waited for, of unknown length."""

    def progress(self, done: int, total: int, step: str) -> None:
        """As engines call it."""


@contextlib.contextmanager
def steps(what: str, *, lines: bool = False) -> Iterator[Steps]:
    """A bar on a terminal; elsewhere lines, if they are asked for, or nothing."""
    if sys.stderr.isatty():
        with _bar(what) as bar:
            yield bar
    elif lines:
        shown = StepLines()
        try:
            yield shown
        finally:
            shown.close()
    else:
        yield _Nothing()


class _Nothing:
    def say(self, words: str) -> None:
        return

    def progress(self, done: int, total: int, step: str) -> None:
        return


class _Bar:
    def __init__(self, bar: Any, task: Any) -> None:
        self._bar, self._task = bar, task

    def say(self, words: str) -> None:
        self._bar.update(self._task, description=words, total=None, count="")

    def progress(self, done: int, total: int, step: str) -> None:
        self._bar.update(self._task, description=step, completed=done, total=total, count=f"{done:,}/{total:,}")


@contextlib.contextmanager
def _bar(what: str) -> Iterator[Steps]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TextColumn("{task.fields[count]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        yield _Bar(bar, bar.add_task(what, total=None, count=""))


class StepLines:
    """A line for every step, and for every minute of a long one; none at all of a run that is over at once."""

    def __init__(self, quiet_seconds: float = _QUIET_SECONDS, line_seconds: float = _LINE_SECONDS) -> None:
        self._lock = threading.Lock()
        self._every, self._quiet = line_seconds, True
        self._step, self._line, self._due = "", "", 0.0
        self._timer = threading.Timer(quiet_seconds, self._speak)
        self._timer.daemon = True
        self._timer.start()

    def say(self, words: str) -> None:
        """A step without numbers."""
        self._take(words, words)

    def progress(self, done: int, total: int, step: str) -> None:
        """A step with numbers."""
        self._take(step, f"{step}: {done:,} of {total:,}" if total > 1 else step)

    def close(self) -> None:
        """Say nothing more."""
        self._timer.cancel()
        self._timer.join()

    def _speak(self) -> None:
        with self._lock:
            self._quiet = False
            self._write()

    def _take(self, step: str, line: str) -> None:
        with self._lock:
            self._line = line
            if step != self._step:
                self._step, self._due = step, 0.0
            if not self._quiet and monotonic() >= self._due:
                self._write()

    def _write(self) -> None:
        if self._line:
            self._due = monotonic() + self._every
            sys.stderr.write(f"{self._line}\n")
            sys.stderr.flush()
