"""Options about the relay that a survey wants its reports to go through."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_number
from sottovoce.surveys.relay import DEFAULT_CENTRAL_DELTA, Relay

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["add_relay", "given_relay"]


def add_relay(parser: Parser) -> None:
    """`--relay`, `--least` and `--central-delta`."""
    group = parser.add_argument_group("a relay", "reports go through it, and reach the collector shuffled, in batches")
    group.add_argument("--relay", metavar="URL", help="address of the relay (default: reports are sent directly)")
    add_integer(group, "--least", "N", "smallest batch that the relay forwards; required with --relay")
    shown = f"delta of the central guarantee (default: {DEFAULT_CENTRAL_DELTA:g})"
    add_number(group, "--central-delta", "D", shown)


def given_relay(arguments: argparse.Namespace) -> Relay | None:
    """The relay of these options; None if there is none."""
    from sottovoce.cli.parser import UsageError

    if arguments.relay is None:
        if arguments.least is not None or arguments.central_delta is not None:
            raise UsageError("--least and --central-delta are about a relay: name it with --relay")
        return None
    if arguments.least is None:
        raise UsageError("--relay needs --least N, the smallest batch that it forwards")
    delta = DEFAULT_CENTRAL_DELTA if arguments.central_delta is None else arguments.central_delta
    return Relay(arguments.relay, arguments.least, delta)
