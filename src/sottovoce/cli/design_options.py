"""Options about the design of a survey, shared by planning, publishing and simulating."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import add_integer, add_number, whole_number
from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_STRATEGY

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.questions.base import Question

__all__ = ["add_design", "design_words", "given_design"]

_DEFAULTS: Final[dict[str, Any]] = {
    "delta": 0.0,
    "strategy": DEFAULT_STRATEGY,
    "mechanism": DEFAULT_STRATEGY,
    "max_report_bytes": DEFAULT_REPORT_BYTES,
    "max_counters": DEFAULT_COUNTERS,
    "criterion": None,
}


def add_design(parser: Parser, kind: type[Question]) -> None:
    """Which designs are compared, and by which error."""
    add_number(parser, "--delta", "DELTA", "if above 0, the gaussian mechanism is a candidate too", 0.0)
    listed = ", ".join(kind.strategies)
    parser.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        metavar="NAME",
        help=f"{listed}, or auto for the least error (default: auto)",
    )
    parser.add_argument(
        "--mechanism", default=DEFAULT_STRATEGY, metavar="M", help="see 'sottovoce mechanisms' (default: auto)"
    )
    parser.add_argument(
        "--criterion",
        choices=("l2", "margin"),
        metavar="C",
        help="compare designs by l2 over all answers, or by the largest margin of one answer (default: l2)",
    )
    add_integer(parser, "--max-report-bytes", "B", "largest report allowed", DEFAULT_REPORT_BYTES)
    parser.add_argument(
        "--max-counters",
        type=whole_number,
        default=DEFAULT_COUNTERS,
        metavar="C",
        help="largest number of counters; with more of them, fewer people share a rotation of the codebook "
        f"(default: {DEFAULT_COUNTERS:,})",
    )


def given_design(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_design` under the library's names; a criterion only if it was given."""
    found = {name: getattr(arguments, name) for name in _DEFAULTS}
    return {name: value for name, value in found.items() if value is not None}


def design_words(settings: dict[str, Any]) -> list[str]:
    """The options that give these settings; defaults are left out.

    Examples
    --------
    >>> design_words({"delta": 0.0, "strategy": "haar", "max_report_bytes": 64})
    ['--strategy', 'haar']
    """
    changed = {name: value for name, value in settings.items() if value != _DEFAULTS[name]}
    return [word for name, value in changed.items() for word in (f"--{name.replace('_', '-')}", f"{value}")]
