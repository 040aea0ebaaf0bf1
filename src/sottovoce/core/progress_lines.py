"""The line that shows how far a call is: in a terminal, in a notebook, or, where it is asked for, lines of a log."""

from __future__ import annotations

import contextlib
import html
import os
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from time import monotonic
from typing import Any, Final, NamedTuple, Protocol, final

__all__ = ["DrawnLine", "Moment", "StepLines", "line_of"]

_LINE_SECONDS: Final = 60.0
"""A step that is longer says again how far it is."""


class Moment(NamedTuple):
    """How far a call is.

    Examples
    --------
    >>> Moment("simulating", 2_000, 8_000, "people", 3.0).amount
    '2,000 of 8,000 people'
    >>> print(Moment("simulating", 2_000, 8_000, "people", 3.0, 9.0))
    simulating: 2,000 of 8,000 people, 0:03, 0:09 left
    """

    words: str
    done: int
    total: int | None
    unit: str
    seconds: float
    seconds_left: float | None = None

    @property
    def amount(self) -> str:
        """How many of how many, as far as that is known; nothing of one alone."""
        if self.total is None:
            return f"{self.done:,} {self.unit}" if self.done and self.unit else ""
        return f"{self.done:,} of {self.total:,} {self.unit}".rstrip() if self.total > 1 else ""

    @property
    def clock(self) -> str:
        """The time so far and, where the speed is known, the time left."""
        left = "" if self.seconds_left is None else f", {_clock(self.seconds_left)} left"
        return f"{_clock(self.seconds)}{left}"

    def __str__(self) -> str:
        return f"{self.words}: {self.amount}, {self.clock}" if self.amount else f"{self.words}, {self.clock}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class DrawnLine(Protocol):
    """A place that shows one line."""

    def open(self) -> contextlib.AbstractContextManager[Callable[[Moment], object]]:
        """A function that draws the line; at the end it is gone."""


def line_of(stream: Any) -> DrawnLine | None:
    """The line of a notebook, or of the terminal that a stream writes to; None where people do not look at either."""
    if _kernel_shell() is not None:
        return _NotebookLine()
    with contextlib.suppress(AttributeError, ValueError):  # there is no stream, or it is closed
        if stream.isatty() and os.environ.get("TERM") != "dumb":
            return _TerminalLine(stream)
    return None


@final
class _TerminalLine:
    """Drawn by rich; nothing where that is not installed."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Moment], object]]:
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
        except ImportError:
            yield lambda moment: None
            return

        class SteadyConsole(Console):
            """Leaves the cursor as it is: a process that is killed would leave the terminal without one."""

            def show_cursor(self, show: bool = True) -> bool:
                return False

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[count]}", markup=False),
            TextColumn("{task.fields[clock]}", markup=False),
        )
        # What others print stays theirs: results go to standard output whatever is shown here.
        ways: dict[str, Any] = {"transient": True, "auto_refresh": False, "redirect_stdout": False}
        console = SteadyConsole(file=self._stream, highlight=False)
        bar = Progress(*columns, console=console, redirect_stderr=False, **ways)
        task = bar.add_task("", total=None, count="", clock="")

        def draw(moment: Moment) -> None:
            told: dict[str, Any] = {"count": moment.amount, "clock": moment.clock}
            # None pulses; rich takes None for "as before", so the task's own field is set.
            bar.tasks[0].total = moment.total
            bar.update(task, description=moment.words, completed=moment.done, **told)
            bar.refresh() if bar.live.is_started else bar.start()

        try:
            yield draw
        finally:
            bar.stop()


@final
class _NotebookLine:
    """Drawn by the notebook itself, which has IPython; rich would need ipywidgets as well."""

    @contextlib.contextmanager
    def open(self) -> Iterator[Callable[[Moment], object]]:
        shown = import_module("IPython.display").display(_pieces("", ""), raw=True, display_id=True)
        try:
            yield lambda moment: shown.update(_pieces(str(moment), _bar(moment)), raw=True)
        finally:
            shown.update(_pieces("", ""), raw=True)


def _pieces(words: str, bar: str) -> dict[str, str]:
    """One output as text and for a browser."""
    return {"text/plain": words, "text/html": f"{bar} {html.escape(words)}".strip()}


def _bar(moment: Moment) -> str:
    return f'<progress value="{moment.done}" max="{moment.total}"></progress>' if moment.total else ""


def _kernel_shell() -> Any:
    """The shell of a notebook's kernel, if this process is one; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell if getattr(shell, "kernel", None) is not None else None


@final
class StepLines:
    """A line for every step, and for every minute of a long one; none at all of a run that is over at once."""

    def __init__(self, quiet_seconds: float, line_seconds: float = _LINE_SECONDS) -> None:
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

    def advance(self, more: int) -> None:
        """Lines name steps, and their numbers come with the step."""

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
