"""`python -m evidence bench`: every benchmark, or some, as ratios measured in one run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="which to run (default: all)")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from evidence.benchmarks.__main__ import main

    return main([*arguments.modules, *(["--json"] if arguments.json else [])])
