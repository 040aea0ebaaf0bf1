"""Output of commands: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from rich import box
from rich.console import Console
from rich.table import Table

from sottovoce.core.progress import steps
from sottovoce.core.text import json_text

__all__ = [
    "Advance",
    "check_ending",
    "check_picture",
    "console",
    "plain",
    "print_json",
    "progress",
    "report_error",
    "report_warning",
    "titled_table",
    "working",
    "written_files",
]

Advance: TypeAlias = Callable[[int], object]
"""A function that is called with the number of items done since the last call."""

_WIDTH_IN_A_FILE = 110
_LONGEST_ERROR = 4000


class _Console(Console):
    """Raises `BrokenPipeError`, which `main` handles."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console() -> Console:
    """A console on standard output."""
    in_a_file = not sys.stdout.isatty() and "COLUMNS" not in os.environ
    return _Console(width=_WIDTH_IN_A_FILE if in_a_file else None, highlight=False)


def titled_table(title: str, caption: str = "") -> Table:
    """An empty table in the common style."""
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
    """A number with four significant digits, without a power of ten where possible.

    Examples
    --------
    >>> plain(0.012344), plain(0.12), plain(123456.7)
    ('0.01234', '0.1200', '123,457')
    """
    return f"{figure:,.0f}" if abs(figure) >= 1000 else f"{figure:#.4g}"


def print_json(result: dict[str, Any], *, one_line: bool = False) -> None:
    """One JSON object on standard output; on one line where more of them follow."""
    sys.stdout.write(json_text(result, None if one_line else 2))


@contextlib.contextmanager
def progress(what: str, total: int, unit: str = "people") -> Iterator[Advance]:
    """Show how many of how many are done while the block runs; see `steps`."""
    with steps(what, total, unit) as shown:
        yield shown.advance


@contextlib.contextmanager
def working(what: str) -> Iterator[Callable[[str], object]]:
    """Show that work of unknown length runs; call what it yields to change the text; see `steps`."""
    with steps(what) as shown:
        yield shown.say


def report_error(error: BaseException, *, as_json: bool) -> None:
    """One line on standard error and, in JSON mode, one object on standard output.

    Control characters, for instance in file names, are removed.
    """
    from sottovoce.core.text import one_line

    text = "".join([str(error), *getattr(error, "__notes__", ())])
    message = one_line(text, _LONGEST_ERROR) or "not enough memory; reduce the size of the request"
    sys.stderr.write(f"sottovoce: error: {message}\n")
    if as_json:
        print_json({"error": {"type": type(error).__name__, "message": message}})


def report_warning(text: str) -> None:
    """One line on standard error."""
    from sottovoce.core.text import one_line

    sys.stderr.write(f"sottovoce: warning: {one_line(text, _LONGEST_ERROR)}\n")


_ENDINGS: Final = (".png", ".svg", ".pdf")


def check_ending(path: Path) -> None:
    """Refuse a name from which no format follows, and a missing matplotlib."""
    from sottovoce.core.errors import SimulationError
    from sottovoce.figures.style import require_matplotlib

    require_matplotlib()
    if path.suffix not in _ENDINGS:
        raise SimulationError(f"the picture's name must end in {', '.join(_ENDINGS)}; it is {path.name!r}")


def check_picture(path: Path | None) -> None:
    """Refuse a picture that could not be drawn or written."""
    from sottovoce.core.files import check_file

    if path is not None:
        check_ending(path)
        check_file(path, "picture")


def written_files(arguments: argparse.Namespace) -> dict[str, str]:
    """The files that were written, by the name of their option."""
    given = {name: getattr(arguments, name) for name in ("picture", "csv", "parquet")}
    return {name: str(path) for name, path in given.items() if path is not None}
