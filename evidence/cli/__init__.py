"""The commands of `python -m evidence`, one file each, imported when they are run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sottovoce.cli import main as run_command
from sottovoce.cli.parser import Parser, add_commands

__all__ = ["COMMANDS", "build_parser", "main"]

PROGRAM: Final = "python -m evidence"

COMMANDS: Final = {
    "reproduce": "measure the paper's table and check its claims",
    "compare": "compare mechanisms, and other packages, on your own data",
    "published": "audit the paper's algorithms as printed, which are never deployed",
    "bench": "speed and memory, as ratios against peers measured in the same run",
}
"""Every command with its summary. `evidence.cli.NAME` has it."""

_DESCRIPTION: Final = """\
Measure what Sottovoce claims. Run it from the root of the repository; it is not part of the installed package.
"""


def build_parser(words: Sequence[str] | None = None) -> Parser:
    """The grammar of the command that these words begin with, or of all commands."""
    parser = Parser(prog=PROGRAM, description=_DESCRIPTION)
    add_commands(parser, COMMANDS, __name__, words)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit status: 0 success; 1 a result is not as expected; 2 an error."""
    return run_command(argv, build_parser)
