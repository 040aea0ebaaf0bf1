"""`sottovoce plan`: which mechanism, and what the missing one of epsilon, people and error must be."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, add_kind, number, whole_number
from sottovoce.cli.output import console, plain, print_json, titled_table
from sottovoce.limits import DEFAULT_REPORT_BYTES

if TYPE_CHECKING:
    from sottovoce.theory.planner import Plan

__all__ = ["register"]

_SUMMARY = "choose mechanism, epsilon and number of people"

_DESCRIPTION = """\
Give two of --epsilon, --users and --target-error; the third is worked out, and every mechanism that can
serve is compared. Nobody is asked anything: the figures are exact variances and proved bounds.
"""

_EXAMPLES = """\
--target-error is the expected L2 distance between the estimate and the truth, proved for every distribution.

examples:
  sottovoce plan distribution --domain-size 300 --epsilon 1 --users 1e6            what error?
  sottovoce plan distribution --domain-size 300 --epsilon 1 --target-error 0.02    how many people?
  sottovoce plan distribution --domain-size 300 --users 1e6 --target-error 0.02    what epsilon?
  sottovoce plan distribution --domain-size 1e6 --epsilon 2 --users 1e7 --max-report-bytes 4 --json
"""


def register(commands: Commands) -> None:
    """Add the command."""
    kinds = add_kind(commands, "plan", _SUMMARY, _EXAMPLES)
    parser = kinds.add_parser(
        "distribution", help="how people are distributed over values", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--domain-size", type=whole_number, required=True, metavar="J", help="how many values there are"
    )
    parser.add_argument("--epsilon", type=number, metavar="E", help="what one report may reveal")
    parser.add_argument("--users", type=whole_number, metavar="N", help="how many people answer")
    parser.add_argument("--target-error", type=number, metavar="T", help="the L2 error to reach")
    parser.add_argument(
        "--max-report-bytes",
        type=whole_number,
        default=DEFAULT_REPORT_BYTES,
        metavar="B",
        help=f"the longest report allowed (default: {DEFAULT_REPORT_BYTES})",
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.theory.planner import plan

    found = plan(
        arguments.domain_size,
        epsilon=arguments.epsilon,
        users=arguments.users,
        target_error=arguments.target_error,
        max_report_bytes=arguments.max_report_bytes,
    )
    if arguments.json:
        print_json(found.to_dict())
    else:
        _show(found)
    return 0


def _show(found: Plan) -> None:
    from rich.markup import escape

    asked = {
        "error": f"{found.users:,} people at epsilon {found.epsilon:g}: what error?",
        "users": f"epsilon {found.epsilon:g}, error at most {found.target_error:g}: how many people?",
        "epsilon": f"{found.users:,} people, error at most {found.target_error:g}: what epsilon?",
    }[found.solved_for]
    table = titled_table(
        f"{found.domain_size:,} values; {asked}",
        "L2 raw: root mean square for the worst distribution; L2 bound: projected, proved; "
        "one value: half of a rare value's 95 % interval",
    )
    table.add_column("", no_wrap=True)
    table.add_column("mechanism", style="bold", no_wrap=True)
    for heading in ("L2 raw", "L2 bound", "one value", "report"):
        table.add_column(heading, justify="right", no_wrap=True)
    for candidate in found.candidates:
        chosen = candidate is found.best
        table.add_row(
            "[green]➜[/]" if chosen else "",
            candidate.mechanism.name,
            plain(candidate.l2_raw),
            plain(candidate.l2_bound),
            f"± {plain(candidate.margin)}",
            f"{candidate.report_bytes:,} B" + ("" if candidate.fits else " (too long)"),
            style=None if candidate.fits else "dim",
        )
    out = console()
    out.print(table)
    answer = {
        "error": f"expected L2 error at most {plain(found.best.l2_bound)}",
        "users": f"{found.users:,} people",
        "epsilon": f"epsilon {found.epsilon:.4g}",
    }[found.solved_for]
    out.print()
    out.print(f"[bold]{answer}[/]: {escape(found.reason)}")
