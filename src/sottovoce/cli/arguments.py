"""Numbers as people write them, and the options that several commands share."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["Commands", "add_json", "add_kind", "check_place", "name_neighbours", "number", "whole_number"]

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""Where commands, or the kinds of one command, are added."""

_LONGEST = 40  # decimal places before the point; beyond them no option has a meaning


def whole_number(text: str) -> int:
    """An integer written plainly, with separators, or with an exponent.

    Examples
    --------
    >>> whole_number("1000000") == whole_number("1_000_000") == whole_number("1,000,000") == whole_number("1e6")
    True
    >>> whole_number("2.5")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: '2.5' is not a whole number; write it like 1000000, 1_000_000 or 1e6
    """
    try:
        exact = Decimal(text.strip().replace(",", ""))
    except InvalidOperation:
        exact = Decimal("nan")
    if not exact.is_finite() or exact.adjusted() > _LONGEST or exact != exact.to_integral_value():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number; write it like 1000000, 1_000_000 or 1e6")
    return int(exact)


def number(text: str) -> float:
    """A real number; whether it is in range is for the library to say."""
    try:
        return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a number; write it like 1, 0.5 or 1e-2")


def check_place(path: Path, what: str) -> None:
    """Refuse a file whose folder is not there: found out before the work and not after it."""
    from sottovoce.errors import SimulationError

    if not path.parent.is_dir():
        raise SimulationError(f"there is no directory {str(path.parent)!r} for the {what}; make it, or name another")


def add_json(parser: Parser) -> None:
    """The option every command has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output, nothing else")


def add_kind(commands: Commands, name: str, summary: str, examples: str) -> Commands:
    """A command that takes a kind of survey as its next word; returns where the kinds are added."""
    command = commands.add_parser(name, help=summary, description=summary, epilog=examples)
    return command.add_subparsers(
        title="kinds", metavar="KIND", dest=f"{name}_kind", required=True, parser_class=type(command)
    )


def name_neighbours(kinds: Commands) -> None:
    """Tell every kind which options its neighbours have, so that it can say where an option belongs."""
    options = {name: set(parser._option_string_actions) for name, parser in kinds.choices.items()}
    for name, parser in kinds.choices.items():
        for other, known in options.items():
            for option in sorted(known - options[name]):
                before = parser.elsewhere.get(option)
                parser.elsewhere[option] = f"'{other}'" if before is None else f"{before} and '{other}'"
