"""`sottovoce calibrate`: measure the speed of this machine, for `sottovoce plan --cost`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_json
from sottovoce.cli.output import console, print_json, titled_table, working

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.engines.cost import Rates

__all__ = ["register"]

_DESCRIPTION = """\
Measure how fast this machine reads reports from files, counts them and estimates from the counts, as 'sottovoce
aggregate' does, with simulated reports in a temporary folder. Each rate is the best of three. 'sottovoce plan ...
--cost' predicts time, memory and storage from them.
"""

_EXAMPLES = """\
examples:
  sottovoce calibrate                      half a minute; saved in the user's cache directory
  sottovoce calibrate --spark              Spark too, on this machine; needs Java and sottovoce[spark]
  sottovoce calibrate --reports 2e7        slower and more precise
  sottovoce calibrate --out rates.json     written there; use it with plan --rates
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    from sottovoce.engines.calibrate import DEFAULT_REPORTS

    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_integer(parser, "--reports", "N", "reports per measurement", DEFAULT_REPORTS)
    parser.add_argument("--spark", action="store_true", help="measure Spark too, on all cores of this machine")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write the rates to (default: the user's cache)"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from sottovoce.core.files import check_file
    from sottovoce.engines.calibrate import calibrate
    from sottovoce.engines.cost import rates_file

    if arguments.out is not None:
        check_file(arguments.out, "file of rates")
    kept = arguments.out or rates_file()
    with working("measuring this machine") as tell:
        rates = calibrate(arguments.reports, spark=arguments.spark, tell=tell)
    rates.save(kept)
    if arguments.json:
        print_json({"file": str(kept), **asdict(rates)})
        return 0
    _show(rates, kept)
    return 0


def _show(rates: Rates, kept: Path) -> None:
    table = titled_table(f"rates of this machine, {rates.cores} {'core' if rates.cores == 1 else 'cores'}")
    table.add_column("work")
    table.add_column("per second", justify="right", style="bold")
    rows = [
        ("reports from Parquet into 2,048 counters, duplicates removed", rates.near_rows),
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
        out.print(f"a Spark job takes {rates.spark_seconds:.1f} s to start")
    out.print(f"a report in a file takes the bytes of its id and payload, and {rates.row_bytes:.1f} more")
    out.print(f"saved in {kept}; next: sottovoce plan ... --cost", markup=False, soft_wrap=True)
