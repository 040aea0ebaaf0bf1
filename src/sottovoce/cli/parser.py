"""The grammar of the command line: its commands, and how usage errors are reported."""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

__all__ = ["COMMANDS", "Parser", "UsageError", "add_commands", "build_parser", "commands_of"]

_DESCRIPTION = """\
Collect statistics about people under local differential privacy.
"""

_EXAMPLES = """\
examples:
  sottovoce demo                                    a service, a million devices, seven surveys, report.html
  sottovoce plan shares --values 40 --epsilon 2 --margin 0.01
                                                    how many people, and which design?
  sottovoce simulate shares --values 40 --people 1e6 --epsilon 2
                                                    measure the error before asking anybody
  sottovoce optimize --workload prefix:64 --epsilon 1
                                                    search for the best channel for a query set
  sottovoce audit                                   compute the exact epsilon of every mechanism
  sottovoce serve                                   run a collector; it prints the next steps
  sottovoce survey create shares --labels red,green,blue --epsilon 1
  sottovoce estimate SURVEY --watch                 the estimate so far, updated

Every command takes --help, which shows examples, and --json, which prints one JSON object.
"""


COMMANDS: Final = {
    "demo": "a service, a million devices, seven surveys",
    "plan": "choose a design, epsilon and the number of people",
    "simulate": "measure errors on simulated people",
    "optimize": "search for the best channel for a query set",
    "strategies": "compare strategies on standard query sets",
    "mechanisms": "list the mechanisms and compare them",
    "amplify": "the central guarantee of shuffled reports",
    "audit": "check that mechanisms are as private as they state",
    "disclose": "one page for a survey's reviewers",
    "calibrate": "measure this machine, for plan --cost",
    "serve": "run the collector, an HTTP service",
    "relay": "run a relay, which hides addresses from a collector",
    "backup": "copy a collector's database to a file",
    "restore": "fill an empty database with a backup",
    "survey": "publish, list, show, embed, seal and delete surveys on a collector",
    "estimate": "estimate the answers from the reports so far",
    "ask": "ask the devices of a panel",
    "export": "write a survey's reports as Parquet files",
    "aggregate": "count reports in files, here or on Spark",
    "token": "create, list and revoke tokens of a collector",
    "keys": "create, list, rotate and forget the keys of a collector",
    "log": "read, check and compare a collector's log of surveys",
    "answer": "answer a survey, as a device does",
    "randomize": "turn a column of values into reports, on a server that holds them",
    "ledger": "show what a device has answered and spent",
}
"""Every command with its summary. `sottovoce.cli.NAME` has it, and is imported when that command is parsed."""


class UsageError(Exception):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` instead of exiting, so that every error is one line, printed in one place."""

    hides_words = False
    """Whether unexpected words may be private, so that no message may repeat them."""

    elsewhere: dict[str, str]
    """Options that a sibling of this command has, and which sibling."""

    def __init__(self, **settings: Any) -> None:
        self.elsewhere = {}
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)

    def parse_known_args(self, *given: Any) -> Any:  # type: ignore[override]
        """Parse as argparse does, but let the subcommand report unexpected words, unless they may be private.

        `given` holds the names of the options that the words have, so that a command can refuse one that it would not
        read.
        """
        parsed, extra = super().parse_known_args(*given)
        words = itertools.takewhile(lambda word: word != "--", given[0] if given else sys.argv[1:])
        options = (self._option_string_actions.get(word.partition("=")[0]) for word in words)
        parsed.given = getattr(parsed, "given", frozenset()) | {option.dest for option in options if option is not None}
        if extra and self.hides_words:
            self.error("unexpected argument or unknown option; write -- before a value that begins with a dash")
        for word in extra:
            if word.partition("=")[0] in self.elsewhere:
                option = word.partition("=")[0]
                self.error(f"{option} is for {self.elsewhere[option]}, not for '{self.prog}'")
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        return parsed, extra

    def error(self, message: str) -> NoReturn:
        if self.hides_words and "required" in message:
            message += "; write -- before a value that begins with a dash"
        raise UsageError(f"{message} (see: {self.prog} --help)")


def build_parser(words: Sequence[str] | None = None) -> Parser:
    """The grammar of the command that these words begin with, or of all commands.

    The other commands are known by name and summary alone, which is all that the general help shows. Every command
    sets `run`, a function from the parsed arguments to the exit status.
    """
    from sottovoce.core.version import __version__

    parser = Parser(prog="sottovoce", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"sottovoce {__version__}")
    add_commands(parser, COMMANDS, "sottovoce.cli", words)
    return parser


def add_commands(parser: Parser, commands: Mapping[str, str], package: str, words: Sequence[str] | None) -> None:
    """Add commands by name and summary; that of the words, or all, with what `register` of its module adds."""

    def show_help(_: argparse.Namespace) -> int:
        parser.print_help()
        return 0

    parser.set_defaults(run=show_help)
    choices = parser.add_subparsers(title="commands", metavar="COMMAND")
    chosen = None if words is None else next((word for word in words if not word.startswith("-")), "")
    for name, summary in commands.items():
        command = choices.add_parser(name, help=summary, description=summary)
        if chosen in (None, name):
            import_module(f"{package}.{name}").register(command)


def commands_of(parser: argparse.ArgumentParser, name: str) -> dict[str, argparse.ArgumentParser]:
    """Every leaf command by the words that select it, as the reference lists them."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        return {name: parser}
    return {
        words: leaf
        for action in inner
        for word, sub in action.choices.items()
        for words, leaf in commands_of(sub, f"{name} {word}").items()
    }
