"""`sottovoce compare`: every mechanism on a column of the user's own data, other packages beside them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.cli.plan_parts import check_picture

if TYPE_CHECKING:
    from sottovoce.experiments.column_data import Column
    from sottovoce.experiments.compare import Compared

__all__ = ["register"]

DEFAULT_REPEATS = 10
DEFAULT_SEED = 7

_DESCRIPTION = """\
Take a column of a CSV file as the answers that people would give, let them answer with every mechanism, and measure
how far each estimate is from what the column holds. Where pure-ldp or multi-freq-ldpy are installed, they do the same
on the same people. Nothing leaves this machine, and no value is shown. Rows whose cell is empty are left out; all else,
NA too, is a value.

The values found in the file are taken as the domain. A real survey states its domain beforehand, and must: which values
occur is something about people too.
"""

_EXAMPLES = """\
examples:
  sottovoce compare --data people.csv --column city
  sottovoce compare --data people.csv --column city --epsilon 0.5 1 2 --picture cities.png
  sottovoce compare --data people.csv --column city --sample 5_000 --repeats 30 --json
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "compare",
        help="every mechanism, and other packages, on your own data",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
    )
    parser.add_argument("--data", type=Path, required=True, metavar="FILE", help="a CSV file with a heading, .gz too")
    parser.add_argument("--column", required=True, metavar="NAME", help="which column has the answers")
    parser.add_argument(
        "--epsilon", type=number, nargs="+", default=[1.0], metavar="E", help="one or several (default: 1)"
    )
    parser.add_argument(
        "--repeats",
        type=whole_number,
        default=DEFAULT_REPEATS,
        metavar="N",
        help=f"how often everybody answers (default: {DEFAULT_REPEATS})",
    )
    parser.add_argument(
        "--sample",
        type=whole_number,
        metavar="N",
        help="take that many people at random (default: all; 20,000 where other packages take part)",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=DEFAULT_SEED, metavar="S", help=f"(default: {DEFAULT_SEED})"
    )
    parser.add_argument("--no-peers", action="store_true", help="leave other packages out")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also draw it, as .png, .svg or .pdf")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.column_data import read_column
    from sottovoce.experiments.compare import PEER_PEOPLE, compare, sampled
    from sottovoce.experiments.compare_picture import save_comparison
    from sottovoce.experiments.distribution_error import seeds_of
    from sottovoce.experiments.peers import installed_peers
    from sottovoce.experiments.reproduce.repeats import check_repeats
    from sottovoce.experiments.whole_files import check_file
    from sottovoce.limits import check_epsilon
    from sottovoce.mechanisms.registry import candidates

    check_picture(arguments.picture)
    if arguments.picture is not None:
        check_file(arguments.picture, "picture")
    epsilons = list(dict.fromkeys(check_epsilon(epsilon) for epsilon in arguments.epsilon))
    seeds_of(arguments.seed, check_repeats(arguments.repeats))
    column = read_column(arguments.data, arguments.column)
    size = len(column.labels)
    peers = () if arguments.no_peers else installed_peers()
    people = arguments.sample if arguments.sample is not None else PEER_PEOPLE if peers else None
    values = sampled(column.values, people, arguments.seed)
    total = sum(len(candidates(size, epsilon)) + len(peers) for epsilon in epsilons)
    with progress("comparing", total, "mechanisms") as advance:
        found = compare(
            values,
            size,
            epsilons,
            peers=peers,
            repeats=arguments.repeats,
            seed=arguments.seed,
            advance=advance,
        )
    if arguments.picture is not None:
        save_comparison(found, arguments.picture)
    if arguments.json:
        print_json(
            {
                "people": len(values),
                "people_in_file": len(column.values),
                "left_out": column.left_out,
                "values": size,
                "peers": sorted({peer.package for peer in peers}),
                "compared": [one.to_dict() for one in found],
                **({} if arguments.picture is None else {"picture": str(arguments.picture)}),
            }
        )
    else:
        _show(found, column, len(values), suggest_peers=not peers and not arguments.no_peers)
        if arguments.picture is not None:
            console().print(f"{arguments.picture}: the errors as bars", markup=False, soft_wrap=True)
    return 0


def _show(found: tuple[Compared, ...], column: Column, people: int, *, suggest_peers: bool) -> None:
    of = "" if people == len(column.values) else f" of {len(column.values):,}"
    rows_told = "1 row" if column.left_out == 1 else f"{column.left_out:,} rows"
    notes = [f"{rows_told} without a value left out"] if column.left_out else []
    if 2 * len(column.labels) > len(column.values):
        notes.append("most values are one person's alone: is this a column of names or numbers that identify people?")
    if any(one.problem.startswith("left out") for one in found):
        notes.append("left out: reports as long as the domain, of so many; --sample takes fewer, --json says how many")
    if suggest_peers:
        notes.append("pure-ldp and multi-freq-ldpy, where installed, would stand here too")
    for epsilon in dict.fromkeys(one.epsilon for one in found):
        rows = [one for one in found if one.epsilon == epsilon]
        table = titled_table(
            f"{people:,}{of} people, {len(column.labels):,} values, epsilon {epsilon:g}",
            "; ".join(
                [f"errors against the column itself, mean ± standard error of {rows[0].repeats} repeats", *notes]
            ),
        )
        table.add_column("mechanism", style="bold", no_wrap=True)
        table.add_column("package", no_wrap=True)
        for name in ("L2 error", "before projecting", "largest", "report", "time"):
            table.add_column(name, justify="right", no_wrap=True)
        for one in sorted(rows, key=lambda one: (one.l2 is None, one.l2)):
            table.add_row(one.mechanism, one.package, *_cells(one))
        console().print(table)


def _cells(one: Compared) -> tuple[str, ...]:
    if one.l2 is None or one.largest is None or one.seconds is None:
        words = "left out" if one.problem.startswith("left out") else one.problem
        return (words, "", "", "" if one.report_bytes is None else f"{one.report_bytes:,} B", "")
    return (
        f"{one.l2:.4f} ± {one.l2_standard_error:.4f}",
        "" if one.l2_raw is None else f"{one.l2_raw:.4f}",
        f"{one.largest:.4f}",
        "" if one.report_bytes is None else f"{one.report_bytes:,} B",
        f"{one.seconds:.3f} s",
    )
