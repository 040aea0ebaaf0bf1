"""The options of every command that talks to a collector, and the collector they lead to."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import add_json
from sottovoce.collector.settings import TOKEN_VARIABLE, URL_VARIABLE

if TYPE_CHECKING:
    from sottovoce.analyst.collector import Collector
    from sottovoce.cli.parser import Parser

__all__ = ["CONNECTION", "SURVEY", "add_connection", "connected", "shown"]

CONNECTION: Final = f"""\
The collector's address and your token come from {URL_VARIABLE} and {TOKEN_VARIABLE} unless given. Prefer the variable
for the token: other users of this machine can read command lines.
"""

SURVEY: Final = "its id, the beginning of its id, or its title"


def add_connection(parser: Parser) -> None:
    """`--url`, `--token`, `--key`, `--insecure` and `--json`."""
    parser.add_argument("--url", metavar="URL", help=f"where the collector is (default: ${URL_VARIABLE})")
    parser.add_argument("--token", metavar="TOKEN", help=f"your token (default: ${TOKEN_VARIABLE})")
    parser.add_argument(
        "--key", metavar="KEY", help="the collector's key or fingerprint, checked (default: whatever it tells)"
    )
    parser.add_argument("--insecure", action="store_true", help="allow plain http to other machines than this one")
    add_json(parser)


def connected(arguments: argparse.Namespace) -> Collector:
    """The collector that the options or the environment name."""
    from sottovoce import connect
    from sottovoce.cli.parser import UsageError

    url = arguments.url or os.environ.get(URL_VARIABLE, "")
    token = arguments.token or os.environ.get(TOKEN_VARIABLE, "")
    if not url:
        raise UsageError(f"no collector is named; give --url, or set {URL_VARIABLE}, for example http://127.0.0.1:8470")
    if not token:
        raise UsageError(
            f"no token is given; set {TOKEN_VARIABLE} to the one that 'sottovoce serve' or 'sottovoce token create' "
            "printed, or give --token"
        )
    return connect(url, token, key=arguments.key, insecure=arguments.insecure)


def shown(text: str) -> str:
    """Somebody else's words, safe on a terminal and in a table: one line, no markup."""
    from rich.markup import escape

    from sottovoce.client.text import one_line

    return escape(one_line(text))
