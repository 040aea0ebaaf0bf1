"""Where a command's words go: results on standard output, progress and complaints on standard error."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table

__all__ = [
    "Advance",
    "console",
    "plain",
    "print_json",
    "progress",
    "report_error",
    "titled_table",
    "tolerate_narrow_encodings",
    "working",
]

Advance: TypeAlias = Callable[[int], object]
"""Called with how many more are done."""

_WIDTH_IN_A_FILE = 110
_LONGEST_ERROR = 4000


class _Console(Console):
    """Leaves a closed pipe to `main`."""

    def on_broken_pipe(self) -> None:
        """Raise again what rich would turn into an exit."""
        raise BrokenPipeError


def console() -> Console:
    """For tables and prose on standard output."""
    in_a_file = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return _Console(width=_WIDTH_IN_A_FILE if in_a_file else None, highlight=False)


def titled_table(title: str, caption: str = "") -> Table:
    """An empty table in the one style of all commands."""
    return Table(
        title=title,
        caption=caption or None,
        title_justify="left",
        caption_justify="left",
        title_style="bold",
        caption_style="dim",
        header_style="dim",
        box=box.SIMPLE_HEAD,
    )


def plain(figure: float) -> str:
    """A figure with four significant digits, without a power of ten where it can be helped.

    Examples
    --------
    >>> plain(0.012344), plain(0.12), plain(123456.7)
    ('0.01234', '0.1200', '123,457')
    """
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:#.4g}"


def print_json(result: dict[str, Any]) -> None:
    """One JSON object and a line's end. JSON has no infinity: it becomes null."""
    sys.stdout.write(json.dumps(_finite(result), allow_nan=False, indent=2) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextlib.contextmanager
def progress(what: str, total: int, unit: str = "people") -> Iterator[Advance]:
    """A bar on standard error while the block runs, gone afterwards; nothing where that is no terminal."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn(f"{{task.completed:,.0f}} of {{task.total:,.0f}} {unit}"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], object]]:
    """A line on standard error while the block runs, for work whose length nobody knows; call it to change the words.

    Gone afterwards; nothing where that is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda words: None
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True, highlight=False), transient=True) as line:
        task = line.add_task(what, total=None)
        yield lambda words: line.update(task, description=words)


def report_error(error: BaseException, *, as_json: bool) -> None:
    """One line on standard error, and in JSON mode the same as an object on standard output.

    File names and what others have written stand in it as they may be shown: nothing in it moves the cursor.
    """
    from sottovoce.client.text import one_line

    said = "".join([str(error), *getattr(error, "__notes__", ())])
    message = one_line(said, _LONGEST_ERROR) or "there is not enough memory for this; ask for less at once"
    sys.stderr.write(f"sottovoce: error: {message}\n")
    if as_json:
        print_json({"error": {"type": type(error).__name__, "message": message}})


def tolerate_narrow_encodings() -> None:
    """A terminal that cannot show a sign shows a question mark; it is no reason to stop."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
