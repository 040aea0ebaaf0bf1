"""`sottovoce plan queries` and `sottovoce plan mean`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, number, whole_number
from sottovoce.cli.output import working
from sottovoce.cli.plan_parts import DESCRIPTION, add_budget, check_picture, deliver, given
from sottovoce.cli.workload_option import WORKLOADS, add_workload
from sottovoce.limits import MAX_REPORT_BYTES

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_QUERIES = f"""\
--target-error is the expected L2 distance between estimated and true answers, for every distribution.

{WORKLOADS}
examples:
  sottovoce plan queries --workload prefix:1024 --epsilon 1 --users 1e6          what error?
  sottovoce plan queries --workload prefix:1024 --epsilon 1 --target-error 2     how many people?
  sottovoce plan queries --workload marginals:age=10,sex=2,country=30:2 --users 1e6 --target-error 0.05
  sottovoce plan queries --workload bins:100:10 --epsilon 1 --users 1e5 --delta 1e-6 --json
"""

_MEAN = """\
--target-error is the expected L2 distance between the estimated and the true mean, for all vectors in the ball.

examples:
  sottovoce plan mean --dimension 200 --epsilon 1 --users 1e6             what error?
  sottovoce plan mean --dimension 200 --epsilon 1 --target-error 0.05     how many people?
  sottovoce plan mean --dimension 200 --radius 3 --users 1e6 --target-error 0.1 --picture error.png
"""

_ONE = "one answer: half of its 95 % interval"


def register(kinds: Commands) -> None:
    """Add the two kinds."""
    queries = kinds.add_parser(
        "queries", help="mean answers to a set of linear queries", description=DESCRIPTION, epilog=_QUERIES
    )
    add_workload(queries)
    _add_delta(queries)
    add_budget(queries, MAX_REPORT_BYTES)
    queries.set_defaults(run=_run_queries)
    mean = kinds.add_parser("mean", help="the mean of people's vectors", description=DESCRIPTION, epilog=_MEAN)
    mean.add_argument("--dimension", type=whole_number, required=True, metavar="D", help="numbers a person has")
    mean.add_argument(
        "--radius",
        type=number,
        default=1.0,
        metavar="R",
        help="the largest norm a person's vector may have (default: 1)",
    )
    _add_delta(mean)
    add_budget(mean, MAX_REPORT_BYTES)
    mean.set_defaults(run=_run_mean)


def _add_delta(parser: Parser) -> None:
    parser.add_argument(
        "--delta", type=number, default=0.0, metavar="DELTA", help="above 0, gaussian is compared too (default: 0)"
    )


def _run_queries(arguments: argparse.Namespace) -> int:
    from sottovoce.theory.planner import plan
    from sottovoce.workloads.parse import parse_workload

    check_picture(arguments.picture)
    workload = parse_workload(arguments.workload)
    with working("comparing strategies"):
        found = plan(workload=workload, delta=arguments.delta, **given(arguments))
        _ = found.strategies  # worked out here, where the line says what takes so long
    asked = f"{found.dimension:,} queries over {workload.domain.size:,} values, radius {found.radius:.4g}"
    return deliver(found, arguments, asked, _ONE, workload)


def _run_mean(arguments: argparse.Namespace) -> int:
    from sottovoce.theory.planner import plan

    check_picture(arguments.picture)
    found = plan(dimension=arguments.dimension, radius=arguments.radius, delta=arguments.delta, **given(arguments))
    return deliver(found, arguments, f"mean of {found.dimension:,} numbers, radius {found.radius:.4g}", _ONE)
