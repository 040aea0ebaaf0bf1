"""The command line's grammar: which commands there are, and how a mistake in one is told."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Any, Final, NoReturn

__all__ = ["COMMANDS", "Parser", "UsageError", "build_parser", "commands_of"]

_DESCRIPTION = """\
Collect statistics about people under local differential privacy.
"""

_EXAMPLES = """\
examples:
  sottovoce demo                                    a service, a million devices, three surveys, report.html
  sottovoce plan shares --values 40 --epsilon 2 --margin 0.01
                                                    how many people does that take, and with which design?
  sottovoce simulate shares --values 40 --users 1e6 --epsilon 2
                                                    measure the error before asking anybody
  sottovoce optimize --workload prefix:64 --epsilon 1
                                                    the best channel for a set of queries
  sottovoce audit                                   is it private? exactly, for every mechanism
  sottovoce serve                                   run a collector; it says what to do next
  sottovoce survey create shares --labels red,green,blue --epsilon 1
  sottovoce estimate SURVEY --watch                 what real devices have answered so far

Every command takes --help, with examples of its own, and --json, for one JSON object on standard output.
"""


COMMANDS: Final = (
    *("demo", "plan", "simulate", "optimize", "strategies", "mechanisms", "audit", "reproduce", "compare"),
    *("calibrate",),
    *("serve", "backup", "survey", "estimate", "ask", "export", "aggregate", "token"),
    *("answer", "ledger"),
)
"""Every command, by the module that has it: those that need nothing else, then a collector's, then a device's."""


class UsageError(Exception):
    """The command line itself is wrong."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError`, so that every mistake is told in one place and in one line."""

    hides_words = False
    """Whether a word that fits nowhere may be private, so that no message may repeat it."""

    elsewhere: dict[str, str]
    """Options that this command has not but a neighbour has, and which: a mistake in them can be told plainly."""

    def __init__(self, **settings: Any) -> None:
        self.elsewhere = {}
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        settings.setdefault("allow_abbrev", False)
        super().__init__(**settings)

    def parse_known_args(self, *given: Any) -> Any:  # type: ignore[override]
        """As argparse does; but words that fit nowhere are told by the command they were given to, unless private."""
        found, extra = super().parse_known_args(*given)
        if extra and self.hides_words:
            self.error("unexpected argument or unknown option; write -- before a value that begins with a dash")
        for word in extra:
            if word.partition("=")[0] in self.elsewhere:
                option = word.partition("=")[0]
                self.error(f"{option} is for {self.elsewhere[option]}, not for '{self.prog}'")
        if extra:
            self.error(f"unrecognized arguments: {' '.join(extra)}")
        return found, extra

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and leaving."""
        if self.hides_words and "required" in message:
            message += "; write -- before a value that begins with a dash"
        raise UsageError(f"{message} (see: {self.prog} --help)")


def build_parser() -> Parser:
    """The whole grammar. Every command sets `run`, a function from the parsed arguments to the exit status."""
    from sottovoce.version import __version__

    parser = Parser(prog="sottovoce", description=_DESCRIPTION, epilog=_EXAMPLES)
    parser.add_argument("--version", action="version", version=f"sottovoce {__version__}")

    def show_help(_: argparse.Namespace) -> int:
        parser.print_help()
        return 0

    parser.set_defaults(run=show_help)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"sottovoce.cli.{name}").register(commands)
    return parser


def commands_of(parser: argparse.ArgumentParser, name: str) -> dict[str, argparse.ArgumentParser]:
    """Every command that takes no further word, by the words that lead to it: what the reference lists."""
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        return {name: parser}
    return {
        words: leaf
        for action in inner
        for word, sub in action.choices.items()
        for words, leaf in commands_of(sub, f"{name} {word}").items()
    }
