"""The line that shows how far a call is: drawn by rich in a terminal, and by the notebook in a notebook."""

from __future__ import annotations

import contextlib
import html
import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple, TypeAlias

__all__ = ["ProgressLine", "ProgressMoment", "line_of"]


class ProgressMoment(NamedTuple):
    """How far a call is.

    Examples
    --------
    >>> ProgressMoment("simulating", 2_000, 8_000, "people", 3.0).amount
    '2,000 of 8,000 people'
    >>> print(ProgressMoment("simulating", 2_000, 8_000, "people", 3.0, 9.0))
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
        """The number done and the total, as far as known; empty for a total of one."""
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


ProgressLine: TypeAlias = contextlib.AbstractContextManager[Callable[[ProgressMoment], object]]
"""A context that shows one line: it gives a function that draws the line, and removes it at the end."""


def line_of(stream: Any) -> ProgressLine | None:
    """The line of a notebook, or of the terminal that a stream writes to; None where people do not look at either."""
    ipython = sys.modules.get("IPython")  # it is not imported for this
    if ipython is not None and getattr(ipython.get_ipython(), "kernel", None) is not None:
        return _notebook_line()
    with contextlib.suppress(AttributeError, ValueError):  # there is no stream, or it is closed
        if stream.isatty() and os.environ.get("TERM") != "dumb":
            return _terminal_line(stream)
    return None


@contextlib.contextmanager
def _terminal_line(stream: Any) -> Iterator[Callable[[ProgressMoment], object]]:
    """Drawn by rich; nothing where that is not installed."""
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
    console = SteadyConsole(file=stream, highlight=False)
    bar = Progress(*columns, console=console, redirect_stderr=False, **ways)
    task = bar.add_task("", total=None, count="", clock="")

    def draw(moment: ProgressMoment) -> None:
        fields: dict[str, Any] = {"count": moment.amount, "clock": moment.clock}
        # None pulses; rich takes None for "as before", so the task's own field is set.
        bar.tasks[0].total = moment.total
        bar.update(task, description=moment.words, completed=moment.done, **fields)
        bar.refresh() if bar.live.is_started else bar.start()

    try:
        yield draw
    finally:
        bar.stop()


@contextlib.contextmanager
def _notebook_line() -> Iterator[Callable[[ProgressMoment], object]]:
    """Drawn by the notebook itself, which has IPython; rich would need ipywidgets as well."""
    shown = import_module("IPython.display").display(_pieces(), raw=True, display_id=True)
    try:
        yield lambda moment: shown.update(_pieces(moment), raw=True)
    finally:
        shown.update(_pieces(), raw=True)


def _pieces(moment: ProgressMoment | None = None) -> dict[str, str]:
    """One output as text and for a browser."""
    if moment is None:
        return {"text/plain": "", "text/html": ""}
    bar = f'<progress value="{moment.done}" max="{moment.total}"></progress>' if moment.total else ""
    return {"text/plain": str(moment), "text/html": f"{bar} {html.escape(str(moment))}".strip()}
