"""`sottovoce strategies`: how many people each strategy takes, for standard query sets."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, titled_table, working

if TYPE_CHECKING:
    from sottovoce.experiments.strategy_measure import MeasuredStrategy
    from sottovoce.experiments.strategy_table import Row

__all__ = ["register"]

_DESCRIPTION = """\
Compare known mechanisms, every strategy and the lower bound on standard query sets. The figure is the people it
takes until the variance of an answer, on average over the queries, is 0.01, for the worst value.
"""

_EXAMPLES = """\
workloads: histogram, prefix, ranges, marginals (tables of any attributes), 3way (of any three), parities (of up to
three). The last three are over records of yes and no: they need a power of two.

samples = V / (0.01 queries), V the noise of one report summed over the queries (McKenna et al. 2020). With --objective
total V is the mean over all values. auto is the best strategy that a survey can use.

examples:
  sottovoce strategies --values 32
  sottovoce strategies --values 128 --epsilon 0.5 1 2 4 --csv samples.csv
  sottovoce strategies --values 64 --workloads prefix ranges --measure
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "strategies",
        help="compare strategies on standard query sets",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument(
        "--values", type=whole_number, nargs="+", default=[128], metavar="J", help="how many values (default: 128)"
    )
    parser.add_argument(
        "--epsilon", type=number, nargs="+", default=[1.0], metavar="E", help="what one report may reveal (default: 1)"
    )
    parser.add_argument("--workloads", nargs="+", metavar="W", help="which query sets; see below (default: all)")
    parser.add_argument(
        "--objective", default="worst", metavar="O", help="worst: the worst value; total: all alike (default: worst)"
    )
    parser.add_argument("--seconds", type=number, metavar="S", help="end each search after so long (default: never)")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table, one line a figure")
    parser.add_argument(
        "--measure", action="store_true", help="instead, simulate people and measure errors after projection"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.strategy_table import FAMILIES, strategy_table

    _check_csv(arguments.csv)
    families = arguments.workloads or tuple(FAMILIES)
    with working("comparing strategies") as tell:
        if arguments.measure:
            from sottovoce.experiments.strategy_measure import measure_strategies

            measured = list(
                measure_strategies(
                    families,
                    arguments.values,
                    arguments.epsilon,
                    time_limit=arguments.seconds,
                    progress=tell,
                )
            )
            lines = [one.to_dict() for one in measured]
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
        _write(lines, arguments.csv)
    if arguments.json:
        print_json({"measured": lines} if arguments.measure else {"rows": [row.to_dict() for row in rows]})
    elif arguments.measure:
        _show_measured(measured)
    else:
        _show(rows)
    return 0


def _check_csv(path: Path | None) -> None:
    """Found out before the work and not after it."""
    from sottovoce.errors import SimulationError

    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise SimulationError(f"{str(path)!r} is no file in a directory that exists; make it, or name another")


def _lines(row: Row) -> list[dict[str, Any]]:
    """One a figure."""
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


def _write(lines: list[dict[str, Any]], path: Path) -> None:
    from sottovoce.errors import SimulationError

    problem = ""
    try:
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, lines[0])
            writer.writeheader()
            writer.writerows(lines)
    except OSError as error:
        problem = f"{str(path)!r} cannot be written: {error.strerror}; name another"
    if problem:
        raise SimulationError(problem)


def _show(rows: list[Row]) -> None:
    """One table for each number of values and each epsilon."""
    for values, epsilon in dict.fromkeys((row.values, row.epsilon) for row in rows):
        _show_together([row for row in rows if (row.values, row.epsilon) == (values, epsilon)])


def _show_together(rows: list[Row]) -> None:
    from sottovoce.experiments.strategy_table import COLUMNS

    first = rows[0]
    whose = "the worst value" if first.objective == "worst" else "the mean over all values"
    table = titled_table(
        f"{first.values:,} values, epsilon {first.epsilon:g}: people until the variance of an answer, on average over "
        f"the queries, is 0.01; for {whose}",
        "samples = V / (0.01 queries); *: the search was ended before it settled",
    )
    table.add_column("strategy", style="bold", no_wrap=True)
    for row in rows:
        table.add_column(row.workload + ("" if row.finished else "*"), justify="right", no_wrap=True)
    for column in COLUMNS:
        samples = [row.samples(column) for row in rows]
        table.add_row(column, *("" if figure is None else f"{figure:,.0f}" for figure in samples))
    console().print(table)


def _show_measured(found: list[MeasuredStrategy]) -> None:
    table = titled_table(
        "L2 error of all answers, simulated",
        "weighted: projected by the noise's own measure; plain: the raw answers, projected as they are",
    )
    for heading in ("queries", "ε", "people are", "strategy"):
        table.add_column(heading, no_wrap=True)
    for heading in ("people", "raw", "weighted", "plain"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in found:
        figures = (f"{figure:.3g}" for figure in (one.l2_raw, one.l2_weighted, one.l2_plain))
        queries = f"{one.workload} {one.values:,}"
        table.add_row(queries, f"{one.epsilon:g}", one.population, one.strategy, f"{one.users:,}", *figures)
    console().print(table)
