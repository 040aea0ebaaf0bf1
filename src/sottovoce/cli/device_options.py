"""The options of commands that act as a device: its store and budgets, the survey that is named, and its errors."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import add_integer, add_number
from sottovoce.core.limits import DEFAULT_BUDGET, DEFAULT_MAX_ANSWERS, DEFAULT_WINDOW_DAYS

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["add_device", "device_settings", "one_line_errors", "split_address"]

_STORE: Final = Path("device.db")
_LONGEST_ERROR: Final = 1000


def add_allowed(parser: Parser) -> None:
    """What of other packages may run here."""
    parser.add_argument(
        "--allow-mechanism",
        action="append",
        default=[],
        metavar="NAME",
        help="let this mechanism, strategy or question of another package run here; can be repeated",
    )


def add_device(parser: Parser) -> None:
    """`--store`, the budgets, `--max-answers`, `--insecure`, and which relays are used."""
    parser.add_argument(
        "--store", type=Path, default=_STORE, metavar="FILE", help=f"the device's records (default: {_STORE})"
    )
    add_number(parser, "--budget", "E", "largest sum of all epsilons", DEFAULT_BUDGET)
    add_number(parser, "--window-budget", "E", "largest sum of epsilons within any --window-days (default: --budget)")
    add_integer(parser, "--window-days", "D", "days of --window-budget", DEFAULT_WINDOW_DAYS)
    add_integer(parser, "--max-answers", "N", "most surveys answered in all", DEFAULT_MAX_ANSWERS)
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    parser.add_argument(
        "--require-log", action="store_true", help="answer no collector without a log of its surveys; see log.md"
    )
    parser.add_argument("--relay", metavar="URL", help="fetch everything through this relay, not from the collector")
    parser.add_argument(
        "--insist-on-relay",
        action="store_true",
        help="refuse surveys that state no relay, and connect to no collector; needs --relay",
    )
    parser.add_argument(
        "--allow-relay",
        action="append",
        dest="relays",
        metavar="URL",
        help="a relay that surveys may state; can be repeated (default: any; with --insist-on-relay that of --relay "
        "only)",
    )


def device_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings of a `Device` from these options."""
    budgets = ("budget", "window_budget", "window_days", "max_answers")
    names = (*budgets, "insecure", "require_log", "relay", "insist_on_relay", "relays")
    return {name: getattr(arguments, name) for name in names}


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """A device's errors may quote text from the network: shorten them to one printable line."""
    from sottovoce.core.errors import SottovoceError
    from sottovoce.core.text import one_line

    try:
        yield
    except SottovoceError as error:
        error.args = (one_line(str(error), _LONGEST_ERROR),)
        raise


_ADDRESS: Final = re.compile(r"(https?://.+?)/(?:v1/surveys|survey|s)/([0-9a-f]{64})/?")


def split_address(text: str) -> tuple[str, str] | None:
    """The collector and the id in the address of a survey's page; None for any other address.

    Examples
    --------
    >>> split_address("https://stats.example.org/s/" + "3f" * 32)[0]
    'https://stats.example.org'
    >>> split_address("Colours") is None
    True
    """
    match = _ADDRESS.fullmatch(text)
    return None if match is None else (match[1], match[2])
