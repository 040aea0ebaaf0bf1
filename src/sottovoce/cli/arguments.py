"""How numbers are read, and options that several commands share."""

from __future__ import annotations

import argparse
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = [
    "Commands",
    "Options",
    "add_epsilon",
    "add_integer",
    "add_json",
    "add_number",
    "add_subcommands",
    "name_neighbours",
    "number",
    "refuse_options",
    "whole_number",
]

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
"""The object that subcommands are added to."""

_LONGEST = 40  # digits before the decimal point; no option takes larger numbers


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
    """A real number; the library checks its range."""
    try:
        return float(text)
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is not a number; write it like 1, 0.5 or 1e-2")


class Options(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **settings: Any) -> object: ...


def add_integer(
    parser: Options, option: str, metavar: str, meaning: str, default: int | None = None, *, required: bool = False
) -> None:
    """An option that takes a whole number; its help names the default."""
    shown = "" if default is None else f" (default: {default:,})"
    parser.add_argument(
        option, type=whole_number, default=default, required=required, metavar=metavar, help=meaning + shown
    )


def add_number(
    parser: Options, option: str, metavar: str, meaning: str, default: float | None = None, *, required: bool = False
) -> None:
    """An option that takes a real number; its help names the default."""
    shown = "" if default is None else f" (default: {default:g})"
    parser.add_argument(option, type=number, default=default, required=required, metavar=metavar, help=meaning + shown)


def add_epsilon(parser: Options, *, required: bool = True) -> None:
    """`--epsilon`, the privacy loss of one report."""
    add_number(parser, "--epsilon", "E", "privacy loss of one report", required=required)


def add_json(parser: Options) -> None:
    """`--json`, which every command has."""
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output, nothing else")


def add_subcommands(parser: Parser, title: str, metavar: str) -> Commands:
    """Make the command take one more word; returns where the choices for it are added."""
    return parser.add_subparsers(title=title, metavar=metavar, required=True, parser_class=type(parser))


def refuse_options(arguments: argparse.Namespace, reason: str, *names: str) -> None:
    """Refuse an option that was given and that nothing would read; the reason follows its name."""
    from sottovoce.cli.parser import UsageError

    for name in names:
        if name in arguments.given:
            raise UsageError(f"--{name.replace('_', '-')} {reason}")


def name_neighbours(kinds: Commands) -> None:
    """Let every kind know the options of its siblings, so that an error can say where an option belongs."""
    options = {name: set(parser._option_string_actions) for name, parser in kinds.choices.items()}
    for name, parser in kinds.choices.items():
        for other, known in options.items():
            for option in sorted(known - options[name]):
                before = parser.elsewhere.get(option)
                parser.elsewhere[option] = f"'{other}'" if before is None else f"{before} and '{other}'"
