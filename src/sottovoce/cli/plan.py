"""`sottovoce plan`: which mechanism, and what the missing one of epsilon, people and error must be."""

from __future__ import annotations

import argparse

from sottovoce.cli import plan_adaptive, plan_offline
from sottovoce.cli.arguments import Commands, add_kind, whole_number
from sottovoce.cli.plan_parts import DESCRIPTION, add_budget, check_picture, deliver, given
from sottovoce.limits import DEFAULT_REPORT_BYTES

__all__ = ["register"]

_SUMMARY = "choose mechanism, epsilon and number of people"

_ALL_EXAMPLES = """\
examples:
  sottovoce plan distribution --domain-size 300 --epsilon 1 --users 1e6
  sottovoce plan queries --workload prefix:1024 --epsilon 1 --users 1e6
  sottovoce plan mean --dimension 200 --epsilon 1 --users 1e6
  sottovoce plan adaptive --rounds 20 --epsilon 1 --users 1e6
"""

_EXAMPLES = """\
--target-error is the expected L2 distance between the estimate and the truth, proved for every distribution.

examples:
  sottovoce plan distribution --domain-size 300 --epsilon 1 --users 1e6            what error?
  sottovoce plan distribution --domain-size 300 --epsilon 1 --target-error 0.02    how many people?
  sottovoce plan distribution --domain-size 300 --users 1e6 --target-error 0.02    what epsilon?
  sottovoce plan distribution --domain-size 1e6 --epsilon 2 --users 1e7 --max-report-bytes 4 --json
  sottovoce plan distribution --domain-size 300 --epsilon 1 --users 1e5 --picture error.png
"""


def register(commands: Commands) -> None:
    """Add the command."""
    kinds = add_kind(commands, "plan", _SUMMARY, _ALL_EXAMPLES)
    parser = kinds.add_parser(
        "distribution", help="how people are distributed over values", description=DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--domain-size", type=whole_number, required=True, metavar="J", help="how many values there are"
    )
    add_budget(parser, DEFAULT_REPORT_BYTES)
    parser.set_defaults(run=_run)
    plan_offline.register(kinds)
    plan_adaptive.register(kinds)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.theory.planner import plan

    check_picture(arguments.picture)
    found = plan(arguments.domain_size, **given(arguments))
    return deliver(found, arguments, f"{found.domain_size:,} values", "one value: half of a rare value's 95 % interval")
