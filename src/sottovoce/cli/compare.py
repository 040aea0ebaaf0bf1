"""`sottovoce compare`: every mechanism on a column of the user's own data, other packages beside them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, number, whole_number
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.cli.picture import check_picture

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.experiments.column_data import Column
    from sottovoce.experiments.compare import Compared

__all__ = ["register"]

DEFAULT_REPEATS = 10
DEFAULT_SEED = 7

_INSTALL = "pip install 'sottovoce[peers]'"
_ANY_WIDTH = 1000

_DESCRIPTION = """\
Take a column of a CSV file as the answers that people would give, let them answer with every mechanism, and measure
how far each estimate is from what the column holds. Where pure-ldp or multi-freq-ldpy are installed (pip install
'sottovoce[peers]'), they do the same on the same people. Nothing leaves this machine, and no value is shown. Rows whose
cell is empty are left out; all else, NA too, is a value.

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
        "--seed",
        type=whole_number,
        default=DEFAULT_SEED,
        metavar="S",
        help=f"of the sample and of our reports (default: {DEFAULT_SEED})",
    )
    parser.add_argument("--no-peers", action="store_true", help="leave other packages out")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also draw it, as .png, .svg or .pdf")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.column_data import read_column
    from sottovoce.experiments.compare import PEER_PEOPLE, compare, sampled
    from sottovoce.experiments.compare_picture import save_comparison
    from sottovoce.experiments.peers import installed_peers
    from sottovoce.experiments.repeats import check_repeats, seeds_of
    from sottovoce.experiments.whole_files import check_file
    from sottovoce.limits import check_epsilon
    from sottovoce.mechanisms.registry import candidates

    check_picture(arguments.picture)
    if arguments.picture is not None:
        check_file(arguments.picture, "picture")
    epsilons = list(dict.fromkeys(check_epsilon(epsilon) for epsilon in arguments.epsilon))
    seeds_of(arguments.seed, check_repeats(arguments.repeats, fewest=2))
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
                "values_of_one_person": column.alone,
                "epsilons": epsilons,
                "repeats": arguments.repeats,
                "seed": arguments.seed,
                "peers": sorted({peer.package for peer in peers}),
                "peers_are_seeded": False,
                "compared": [one.to_dict() for one in found],
                **({} if arguments.picture is None else {"picture": str(arguments.picture)}),
            }
        )
    else:
        _show(found, column, len(values), seed=arguments.seed, suggest_peers=not peers and not arguments.no_peers)
        if arguments.picture is not None:
            console().print(f"{arguments.picture}: the errors as bars", markup=False, soft_wrap=True)
    return 0


def _show(found: tuple[Compared, ...], column: Column, people: int, *, seed: int, suggest_peers: bool) -> None:
    screen = console()
    of = "" if people == len(column.values) else f" of {len(column.values):,}"
    notes = "; ".join(_notes(found, column, seed, suggest_peers=suggest_peers))
    for epsilon in dict.fromkeys(one.epsilon for one in found):
        title = f"{people:,}{of} people, {len(column.labels):,} values, epsilon {epsilon:g}"
        rows = sorted((one for one in found if one.epsilon == epsilon), key=lambda one: (one.l2 is None, one.l2))
        table = _table(title, notes, rows, all_errors=True)
        if screen.measure(table, options=screen.options.update(max_width=_ANY_WIDTH)).maximum > screen.width:
            table = _table(title, notes, rows, all_errors=False)
        screen.print(table)


def _notes(found: tuple[Compared, ...], column: Column, seed: int, *, suggest_peers: bool) -> list[str]:
    """What stands below every table."""
    notes = [f"errors against the column itself, mean ± standard error of {found[0].repeats} repeats, seed {seed}"]
    others = [one for one in found if one.package != "sottovoce"]
    if others:
        notes.append("other packages draw unseeded, and their reports are what their clients return, packed")
        notes.append("their sketches, RAPPOR and BLH are not compared")
        notes += dict.fromkeys(
            f"{one.package} is {one.projection} instead of projected"
            for one in others
            if one.projection != found[0].projection
        )
    if column.left_out:
        rows_told = "1 row" if column.left_out == 1 else f"{column.left_out:,} rows"
        notes.append(f"{rows_told} without a value left out")
    if 2 * column.alone > len(column.labels):
        notes.append("most values are one person's alone: is this a column of names or numbers that identify people?")
    if any(one.problem.startswith("left out") for one in found):
        notes.append("left out: would take too long; --sample takes fewer people, --json says how few")
    if any(one.problem.startswith("it raised") for one in others):
        notes.append(f"it raised: {_INSTALL} has what the other packages need")
    if suggest_peers:
        notes.append(f"pure-ldp and multi-freq-ldpy would stand here too: {_INSTALL}")
    return notes


def _table(title: str, caption: str, rows: list[Compared], *, all_errors: bool) -> Table:
    """With every standard error, or where that is too wide with that of the L2 error alone."""
    from rich.markup import escape

    table = titled_table(title, escape(caption))
    table.pad_edge, table.collapse_padding = False, True
    table.add_column("mechanism", style="bold", no_wrap=True)
    for name in ("L2 error", "before\nprojecting", "largest", "report", "time"):
        table.add_column(name, justify="right", no_wrap=True, vertical="bottom")
    for one in rows:
        report = "–" if one.report_bytes is None else f"{one.report_bytes:,} B"
        if one.l2 is None:
            words = "left out" if one.problem.startswith("left out") else one.problem
            table.add_row(one.name, words, "", "", report, "")
            continue
        table.add_row(
            one.name,
            _figure(one.l2, one.l2_standard_error, 4),
            _figure(one.l2_raw, one.l2_raw_standard_error if all_errors else None, 4),
            _figure(one.largest, one.largest_standard_error if all_errors else None, 4),
            report,
            _figure(one.seconds, one.seconds_standard_error if all_errors else None, 3) + " s",
        )
    return table


def _figure(mean: float | None, error: float | None, digits: int) -> str:
    if mean is None:
        return "–"
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"
