"""The options of commands that act as a device, and how a device's errors reach the terminal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import add_integer, add_number
from sottovoce.core.limits import DEFAULT_BUDGET, DEFAULT_MAX_ANSWERS

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["add_device", "one_line_errors"]

_STORE: Final = Path("device.db")
_LONGEST_ERROR: Final = 1000


def add_device(parser: Parser) -> None:
    """`--store`, `--budget`, `--max-answers` and `--insecure`."""
    parser.add_argument(
        "--store", type=Path, default=_STORE, metavar="FILE", help=f"the device's records (default: {_STORE})"
    )
    add_number(parser, "--budget", "E", "largest sum of all epsilons", DEFAULT_BUDGET)
    add_integer(parser, "--max-answers", "N", "most surveys answered in all", DEFAULT_MAX_ANSWERS)
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """A device's errors may quote text from the network: shorten them to one printable line."""
    from sottovoce.core.errors import SottovoceError
    from sottovoce.device.text import one_line

    try:
        yield
    except SottovoceError as error:
        error.args = (one_line(str(error), _LONGEST_ERROR),)
        raise
