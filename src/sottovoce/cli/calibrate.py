"""`sottovoce calibrate`: what this machine does in a second, for `sottovoce plan --cost`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, check_place, whole_number
from sottovoce.cli.output import console, print_json, titled_table, working

if TYPE_CHECKING:
    from sottovoce.engines.rates import Rates

__all__ = ["register"]

_DESCRIPTION = """\
Measure how fast this machine reads reports from files, counts them, and makes estimates of the counts: the work that
'sottovoce aggregate' does, on reports drawn for the purpose in a temporary folder. Each rate is the best of three.
'sottovoce plan ... --cost' predicts time, memory and storage from them.
"""

_EXAMPLES = """\
examples:
  sottovoce calibrate                      half a minute; kept in the user's cache directory
  sottovoce calibrate --spark              Spark too, on this machine's cores; needs Java and sottovoce[spark]
  sottovoce calibrate --reports 2e7        slower, and closer to the truth
  sottovoce calibrate --out rates.json     kept there instead; name it to plan with --rates
"""


def register(commands: Commands) -> None:
    """Add the command."""
    from sottovoce.engines.calibrate import DEFAULT_REPORTS

    parser = commands.add_parser(
        "calibrate", help="measure this machine, for plan --cost", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--reports",
        type=whole_number,
        default=DEFAULT_REPORTS,
        metavar="N",
        help=f"how many to draw and count for each rate (default: {DEFAULT_REPORTS:,})",
    )
    parser.add_argument("--spark", action="store_true", help="measure Spark too, on all cores of this machine")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to keep the rates, instead of the user's cache")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from sottovoce.engines.calibrate import calibrate
    from sottovoce.engines.rates import place

    if arguments.out is not None:
        check_place(arguments.out, "file of rates")
    kept = arguments.out or place()
    with working("measuring this machine") as tell:
        rates = calibrate(arguments.reports, spark=arguments.spark, tell=tell)
    rates.save(kept)
    if arguments.json:
        print_json({"file": str(kept), **asdict(rates)})
        return 0
    _show(rates, kept)
    return 0


def _show(rates: Rates, kept: Path) -> None:
    table = titled_table(f"what {rates.cores} {'core' if rates.cores == 1 else 'cores'} of this machine do in a second")
    table.add_column("work")
    table.add_column("a second", justify="right", style="bold")
    rows = [
        ("reports from Parquet, duplicates taken out, into 2,048 counters", rates.near_rows),
        ("the same into 1,048,576 counters", rates.far_rows),
        ("counters of a codebook folded", rates.folded_cells),
        ("counters of a distribution transformed and projected", rates.decoded_cells),
    ]
    if rates.spark_rows is not None:
        rows.append(("reports for one Spark task", rates.spark_rows))
    for work, rate in rows:
        table.add_row(work, f"{rate:,.0f}")
    out = console()
    out.print(table)
    if rates.spark_seconds is not None:
        out.print(f"a Spark job takes {rates.spark_seconds:.1f} s before it counts anything")
    more = f" and {rates.row_bytes:.1f} bytes more" if rates.row_bytes >= 0.05 else ", and no more than that"
    out.print(f"a report at rest takes its id, its payload{more}")
    out.print(f"kept in {kept}; next: sottovoce plan ... --cost", markup=False, soft_wrap=True)
