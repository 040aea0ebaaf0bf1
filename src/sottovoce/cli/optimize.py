"""`sottovoce optimize`: search for the best channel for one query set."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import add_epsilon, add_integer, add_json, add_number
from sottovoce.cli.output import console, plain, print_json, titled_table, working
from sottovoce.cli.survey_options import add_parameters, given_parameters, how_to_write
from sottovoce.core.words import plural
from sottovoce.questions.queries import Queries

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.strategies import Optimized
    from sottovoce.workloads import Workload

__all__ = ["register"]

_DESCRIPTION = """\
Search for the channel that answers a query set with the least variance, for up to a few hundred values. A finished
search is saved in the user's cache directory, where strategy="optimized" finds it. Ctrl-C ends the search and keeps
the best channel so far.
"""

_EXAMPLES = f"""\
variance: of one report, summed over the queries, for the worst value, or with --objective total the mean over all
values. Twice the variance needs twice the people.

{how_to_write(Queries.parameters)}
examples:
  sottovoce optimize --workload prefix:64 --epsilon 1
  sottovoce optimize --workload ranges:64 --epsilon 1 --seconds 60 --out ranges.strategy
  sottovoce optimize --workload marginals:age=10,sex=2,country=5:2 --epsilon 2 --objective total --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_parameters(parser, Queries.parameters)
    add_epsilon(parser)
    parser.add_argument(
        "--objective",
        default="worst",
        metavar="O",
        help="worst: the worst value; total: the mean over all (default: worst)",
    )
    add_integer(parser, "--rows", "M", "number of different reports (default: four per value)")
    add_number(parser, "--seconds", "S", "time limit of the search (default: none)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write the strategy; strategies.load reads it")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.files import check_file
    from sottovoce.strategies.files import save
    from sottovoce.strategies.optimized import OptimizedStrategy
    from sottovoce.strategies.search.optimize import optimize

    if arguments.out is not None:
        check_file(arguments.out, "strategy")
    workload = Queries.of(**given_parameters(Queries.parameters, arguments)).workload
    with working("searching: known mechanisms") as tell:

        def progress(steps: int, value: float) -> None:
            tell(f"searching: {plain(value)} after {plural(steps, 'step')}; Ctrl-C keeps the best so far")

        optimized = optimize(
            workload,
            arguments.epsilon,
            objective=arguments.objective,
            rows=arguments.rows,
            time_limit=arguments.seconds,
            progress=progress,
        )
        if arguments.out is not None:
            save(OptimizedStrategy.of(workload, optimized.epsilon, optimized.matrix, optimized.weights), arguments.out)
        tell("comparing with the other strategies")
        known = _known(workload, optimized)
    result = _result(workload, optimized, known, arguments.out)
    if arguments.json:
        print_json(result)
    else:
        _show(workload, result)
    return 0


def _known(workload: Workload, optimized: Optimized) -> tuple[str, float]:
    """The best strategy without a search."""
    from sottovoce.lab.simulation.strategy_table import analytic_noise

    known = {optimized.best_analytic[0]: optimized.best_analytic[1]}
    known |= analytic_noise(workload, optimized.epsilon, optimized.objective)
    return min(known.items(), key=lambda item: item[1])


def _result(workload: Workload, optimized: Optimized, known: tuple[str, float], out: Path | None) -> dict[str, Any]:
    from sottovoce.strategies.optimized import pack_channel

    return {
        "workload": workload.kind,
        "n_queries": workload.n_queries,
        "domain_size": workload.domain.size,
        "epsilon": optimized.epsilon,
        "objective": optimized.objective,
        "variance": optimized.value,
        "worst_variance": optimized.worst,
        "mean_variance": optimized.total,
        "best_analytic": {"strategy": known[0], "variance": known[1]},
        "lower_bound": optimized.lower_bound,
        "relative_to_bound": optimized.value / optimized.lower_bound if optimized.lower_bound else None,
        "reports": optimized.matrix.reports,
        "fetched_bytes": len(pack_channel(optimized.matrix, optimized.weights)),
        "finished": optimized.finished,
        **({} if out is None else {"file": str(out)}),
    }


def _show(workload: Workload, result: dict[str, Any]) -> None:
    from rich.markup import escape

    best, bound = result["variance"], result["lower_bound"]
    kind = "the worst value" if result["objective"] == "worst" else "the mean over all values"
    table = titled_table(
        f"{plural(workload.n_queries, 'query', 'queries')} over {plural(workload.domain.size, 'value')} at epsilon "
        f"{result['epsilon']:g}",
        f"variance: of one report, summed over the queries, for {kind}; "
        f"{plural(result['reports'], 'different report')}, {plural(result['fetched_bytes'], 'byte')} for a device to "
        "fetch",
    )
    table.add_column("")
    table.add_column("variance", justify="right", style="bold")
    table.add_column("people, relative", justify="right")
    known = result["best_analytic"]
    for name, variance in (
        ("optimized", best),
        (f"best without a search: {known['strategy']}", known["variance"]),
        ("lower bound for every mechanism", bound),
    ):
        table.add_row(name, plain(variance), f"× {variance / best:.3f}" if best else "")
    out = console()
    out.print(table)
    if best > 0 and bound > 0:
        out.print(f"\nAt most {100 * (1 - bound / best):.1f} % of the variance could still be saved.")
    if not result["finished"]:
        out.print("The search was ended early, so it is not saved in the cache. Run it again for longer.")
    if "file" in result:
        out.print(escape(f"{result['file']}: read it with sottovoce.strategies.load"), soft_wrap=True)
