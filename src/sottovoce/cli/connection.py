"""Options of commands that talk to a collector, and the connection that they describe."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import add_json, refuse_options
from sottovoce.collector.settings import TOKEN_VARIABLE, URL_VARIABLE

if TYPE_CHECKING:
    from sottovoce.analyst.collector import Collector
    from sottovoce.cli.parser import Parser

__all__ = ["CONNECTION", "SURVEY", "add_connection", "connected", "refuse_connection", "shown"]

CONNECTION: Final = f"""\
The collector's address and your token come from {URL_VARIABLE} and {TOKEN_VARIABLE} unless given. Prefer the variable
for the token: other users of this machine can read command lines.
"""

SURVEY: Final = "the survey's id, the first eight or more digits of it, or its title"


def add_connection(parser: Parser) -> None:
    """`--url`, `--token`, `--key`, `--insecure` and `--json`."""
    parser.add_argument("--url", metavar="URL", help=f"address of the collector (default: ${URL_VARIABLE})")
    parser.add_argument("--token", metavar="TOKEN", help=f"your token (default: ${TOKEN_VARIABLE})")
    parser.add_argument(
        "--key", metavar="KEY", help="the collector's key or fingerprint (default: trust the key that it sends)"
    )
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)


def connected(arguments: argparse.Namespace, *, public: bool = False) -> Collector:
    """Connect to the collector that the options or the environment name; what is public needs no token."""
    from sottovoce import connect
    from sottovoce.cli.parser import UsageError

    url = arguments.url or os.environ.get(URL_VARIABLE, "")
    token = arguments.token or os.environ.get(TOKEN_VARIABLE, "")
    if not url:
        raise UsageError(
            f"no collector is given; use --url or set {URL_VARIABLE}, for example to http://127.0.0.1:8470"
        )
    if not token and not public:
        raise UsageError(
            f"no token is given; set {TOKEN_VARIABLE} to the token that 'sottovoce serve' or 'sottovoce token create' "
            "printed, or use --token"
        )
    return connect(url, token or None, key=arguments.key, insecure=arguments.insecure)


def refuse_connection(arguments: argparse.Namespace, reason: str) -> None:
    """Refuse the options of a connection where no collector is asked."""
    refuse_options(arguments, f"is for a collector, and none is asked: {reason}", "url", "token", "key", "insecure")


def shown(text: str) -> str:
    """Untrusted text, made safe for a terminal: one line, no markup."""
    from rich.markup import escape

    from sottovoce.core.text import one_line

    return escape(one_line(text))
