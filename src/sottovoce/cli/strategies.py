"""`sottovoce strategies`: the number of people each strategy needs for standard query sets."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import add_json, add_number, number, refuse_options, whole_number
from sottovoce.cli.output import console, print_json, titled_table, working
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.lab.simulation.strategy_measure import MeasuredStrategy
    from sottovoce.lab.simulation.strategy_table import StrategyRow

__all__ = ["register"]

_DESCRIPTION = """\
Compare known mechanisms, every strategy and the lower bound on standard query sets, by the number of people needed
for a mean variance of 0.01 per answer, for the worst value.
"""

_EXAMPLES = """\
workloads: histogram, prefix, ranges, marginals (tables of any attributes), 3way (of any three), parities (of up to
three). The last three are over binary records and need a power of two.

samples = V / (0.01 queries), where V is the variance of one report summed over the queries (McKenna et al. 2020), for
the worst value or with --objective total the mean over all values. auto is the best strategy that a survey can use.

examples:
  sottovoce strategies --values 32
  sottovoce strategies --values 128 --epsilon 0.5 1 2 4 --csv samples.csv
  sottovoce strategies --values 64 --workloads prefix ranges --measure
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument(
        "--values", type=whole_number, nargs="+", default=[128], metavar="J", help="number of values (default: 128)"
    )
    parser.add_argument(
        "--epsilon", type=number, nargs="+", default=[1.0], metavar="E", help="privacy loss of one report (default: 1)"
    )
    parser.add_argument("--workloads", nargs="+", metavar="W", help="query sets; see below (default: all)")
    parser.add_argument(
        "--objective",
        default="worst",
        metavar="O",
        help="worst: the worst value; total: the mean over all (default: worst)",
    )
    add_number(parser, "--seconds", "S", "time limit of each search (default: none)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table as CSV, one row per value")
    parser.add_argument(
        "--measure", action="store_true", help="measure errors after projection on simulated people instead"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.files import check_file, write_file
    from sottovoce.core.text import csv_text
    from sottovoce.lab.simulation.strategy_table import FAMILIES, strategy_table

    if arguments.csv is not None:
        check_file(arguments.csv, "table")
    if arguments.measure:
        refuse_options(arguments, "compares variances; --measure simulates people: leave one of them out", "objective")
    families = arguments.workloads or tuple(FAMILIES)
    with working("comparing strategies") as tell:
        if arguments.measure:
            from sottovoce.lab.simulation.strategy_measure import measure_strategies

            measured = list(
                measure_strategies(
                    families,
                    arguments.values,
                    arguments.epsilon,
                    time_limit=arguments.seconds,
                    progress=tell,
                )
            )
            lines = [strategy.to_dict() for strategy in measured]
        else:
            rows = list(
                strategy_table(
                    families,
                    arguments.values,
                    arguments.epsilon,
                    objective=arguments.objective,
                    time_limit=arguments.seconds,
                    progress=tell,
                )
            )
            lines = [line for row in rows for line in _lines(row)]
    if arguments.csv is not None:
        write_file(arguments.csv, csv_text(lines))
    if arguments.json:
        print_json({"measured": lines} if arguments.measure else {"rows": [row.to_dict() for row in rows]})
    elif arguments.measure:
        _show_measured(measured)
    else:
        _show(rows)
    return 0


def _lines(row: StrategyRow) -> list[dict[str, Any]]:
    """One row per column of the table."""
    stated = row.to_dict()
    named = ("workload", "values", "n_queries", "epsilon", "objective", "finished")
    return [
        {
            **{name: stated[name] for name in named},
            "strategy": column,
            "variance": noise,
            "samples": row.samples(column),
        }
        for column, noise in row.noise.items()
        if noise is not None
    ]


def _show(rows: list[StrategyRow]) -> None:
    """One table per number of values and epsilon."""
    for values, epsilon in dict.fromkeys((row.values, row.epsilon) for row in rows):
        _show_together([row for row in rows if (row.values, row.epsilon) == (values, epsilon)])


def _show_together(rows: list[StrategyRow]) -> None:
    from sottovoce.lab.simulation.strategy_table import COLUMNS

    first = rows[0]
    whose = "the worst value" if first.objective == "worst" else "the mean over all values"
    table = titled_table(
        f"{plural(first.values, 'value')}, epsilon {first.epsilon:g}: people for a mean variance of 0.01 per answer, "
        f"for {whose}",
        "samples = V / (0.01 queries); *: the search was ended early",
    )
    table.add_column("strategy", style="bold", no_wrap=True)
    for row in rows:
        table.add_column(row.workload + ("" if row.finished else "*"), justify="right", no_wrap=True)
    for column in COLUMNS:
        samples = [row.samples(column) for row in rows]
        table.add_row(column, *("" if figure is None else f"{figure:,.0f}" for figure in samples))
    console().print(table)


def _show_measured(measured: list[MeasuredStrategy]) -> None:
    table = titled_table(
        "L2 error of all answers, simulated",
        "weighted: projected in the metric of the noise; plain: the raw answers, projected in L2",
    )
    for heading in ("queries", "ε", "population", "strategy"):
        table.add_column(heading, no_wrap=True)
    for heading in ("people", "raw", "weighted", "plain"):
        table.add_column(heading, justify="right", no_wrap=True)
    for strategy in measured:
        figures = (f"{figure:.3g}" for figure in (strategy.l2_raw, strategy.l2_weighted, strategy.l2_plain))
        queries = f"{strategy.workload} {strategy.values:,}"
        table.add_row(
            queries, f"{strategy.epsilon:g}", strategy.population, strategy.strategy, f"{strategy.people:,}", *figures
        )
    console().print(table)
