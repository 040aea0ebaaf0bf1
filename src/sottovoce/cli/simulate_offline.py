"""`sottovoce simulate queries` and `sottovoce simulate mean`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, plain, print_json, progress, titled_table
from sottovoce.cli.workload_option import WORKLOADS, add_workload
from sottovoce.limits import DEFAULT_STRATEGY
from sottovoce.promise import promised

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.experiments.offline_error import Measured

__all__ = ["register"]

_QUERIES_DESCRIPTION = """\
Draw people from a true distribution, let each whisper one report, estimate the answers from the reports, and
measure how far off they are: raw (unbiased), projected (the nearest answers that a distribution can give), and
projected on the paper's larger polytope, beside the bounds. Memory does not grow with the number of people.
"""

_QUERIES = f"""\
{WORKLOADS}
distributions: zipf, uniform, geometric or a file; see 'sottovoce simulate distribution --help'
strategies: direct, factorized, optimized, hierarchical, haar, fourier, histogram, or auto for the best of them

examples:
  sottovoce simulate queries --workload prefix:1024 --users 1e5 --epsilon 1
  sottovoce simulate queries --workload prefix:1024 --users 1e5 --epsilon 1 --strategy haar
  sottovoce simulate queries --workload marginals:age=10,sex=2,country=30:2 --users 1e5 --epsilon 2 --repeats 5
  sottovoce simulate queries --workload bins:100:10 --users 1e5 --epsilon 1 --delta 1e-6 --mechanism gaussian --json
"""

_MEAN_DESCRIPTION = """\
Draw people with vectors in a ball, let each whisper one report, estimate the mean of the population, and
measure how far off it is: raw (unbiased) and projected on the ball, beside the bounds. Norms are uniform from 0
to the radius, directions scattered around a common one. Memory does not grow with the number of people.
"""

_MEAN = """\
examples:
  sottovoce simulate mean --dimension 200 --users 1e5 --epsilon 1
  sottovoce simulate mean --dimension 200 --radius 3 --users 1e5 --epsilon 1 --mechanism rejection --repeats 5
  sottovoce simulate mean --dimension 20 --users 1e5 --epsilon 1 --delta 1e-6 --mechanism gaussian --seed 7 --json
"""


def register(kinds: Commands) -> None:
    """Add the two kinds."""
    queries = kinds.add_parser(
        "queries",
        help="mean answers to a set of linear queries",
        description=_QUERIES_DESCRIPTION,
        epilog=_QUERIES,
    )
    add_workload(queries)
    _add_common(queries)
    queries.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        metavar="NAME",
        help=f"how answers are got from reports; see below (default: {DEFAULT_STRATEGY})",
    )
    queries.add_argument("--distribution", default="zipf", metavar="D", help="see below (default: zipf)")
    queries.set_defaults(run=_run_queries)
    mean = kinds.add_parser("mean", help="the mean of people's vectors", description=_MEAN_DESCRIPTION, epilog=_MEAN)
    mean.add_argument("--dimension", type=whole_number, required=True, metavar="D", help="numbers a person has")
    mean.add_argument(
        "--radius",
        type=number,
        default=1.0,
        metavar="R",
        help="the largest norm a person's vector may have (default: 1)",
    )
    _add_common(mean)
    mean.set_defaults(run=_run_mean)


def _add_common(parser: Parser) -> None:
    parser.add_argument("--users", type=whole_number, required=True, metavar="N", help="how many people answer")
    parser.add_argument("--epsilon", type=number, required=True, metavar="E", help="what one report may reveal")
    parser.add_argument(
        "--delta", type=number, default=0.0, metavar="DELTA", help="above 0 for gaussian only (default: 0)"
    )
    parser.add_argument(
        "--mechanism", default="auto", metavar="M", help="codebook, gaussian or rejection (default: auto)"
    )
    parser.add_argument(
        "--repeats", type=whole_number, default=1, metavar="R", help="do it again so often (default: 1)"
    )
    parser.add_argument(
        "--seed", type=whole_number, metavar="S", help="for the same people again (default: a fresh one)"
    )
    add_json(parser)


def _settings(arguments: argparse.Namespace) -> dict[str, Any]:
    names = ("users", "epsilon", "delta", "mechanism", "repeats", "seed")
    return {name: getattr(arguments, name) for name in names}


def _run_queries(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.offline_error import measure_queries
    from sottovoce.workloads.parse import parse_workload

    workload = parse_workload(arguments.workload)
    with progress("simulating", max(1, arguments.users * arguments.repeats)) as advance:
        found = measure_queries(
            workload,
            distribution=arguments.distribution,
            strategy=arguments.strategy,
            progress=advance,
            **_settings(arguments),
        )
    asked = f"{found.n_queries:,} queries over {found.domain_size:,} values ({found.distribution}), {found.strategy}"
    return _deliver(found, arguments.json, asked)


def _run_mean(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.offline_error import measure_mean

    with progress("simulating", max(1, arguments.users * arguments.repeats)) as advance:
        found = measure_mean(arguments.dimension, arguments.radius, progress=advance, **_settings(arguments))
    return _deliver(found, arguments.json, f"mean of {found.dimension:,} numbers")


def _deliver(found: Measured, as_json: bool, asked: str) -> int:
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, asked)
    return 0


def _show(found: Measured, asked: str) -> None:
    from rich.markup import escape

    often = "once" if found.repeats == 1 else f"{found.repeats:,} times"
    private = promised(found.epsilon, found.delta)
    table = titled_table(
        f"{found.users:,} people, {escape(asked)}, radius {found.radius:.4g}, {private}, {found.mechanism}: "
        f"simulated {often}",
        f"seed {found.seed}; {found.report_bits:,} bits ({found.report_bytes:,} bytes) a report; "
        f"{found.seconds:.2f} s a simulation; projection gap {found.gap:.1e}",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("what theory says", justify="right")

    def measured(name: str) -> str:
        value = plain(getattr(found.mean, name))
        return value if found.standard_error is None else f"{value} ± {getattr(found.standard_error, name):.1g}"

    table.add_row("L2, raw", measured("l2_raw"), "")
    table.add_row("L2, projected", measured("l2_projected"), f"below {plain(found.l2_bound)}")
    if found.l2_bound_paper is not None:
        theorem = "3.2" if found.delta else "3.4"
        table.add_row("", "", f"below {plain(found.l2_bound_paper)}, Theorem {theorem} as printed")
    if found.mean.l2_symmetric is not None:
        table.add_row("L2, paper's polytope", measured("l2_symmetric"), "")
    direct = getattr(found, "strategy", "direct") == "direct"
    where = "where nobody's vector points" if direct else "for the worst value"
    variance = f"{plain(found.predicted_variance)} {where}"
    table.add_row("variance a coordinate, × people / radius²", measured("per_coordinate_variance"), variance)
    console().print(table)
