"""`python -m evidence reproduce`: measure the paper's Table 1, check its claims, and the coverage of intervals."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_json
from sottovoce.cli.output import console, plain, print_json, progress, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from evidence.reproduce.coverage_summary import CoverageSummary
    from evidence.reproduce.exceeding import Exceeding
    from evidence.reproduce.findings import Finding
    from evidence.reproduce.records import Check
    from evidence.reproduce.run import Reproduction
    from evidence.reproduce.table import TableRow
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

DEFAULT_FOLDER = Path("reproduction")
DEFAULT_SEED = 7

_DESCRIPTION = """\
Measure the errors of the paper's three problems over grids of people, queries, values and epsilon, for easy and hard
populations, and compare them with previous work and with the bounds, as printed and as stated here; and check the
paper's claims. Writes CSV, JSON, SVG, PNG and one HTML page. The same seed and versions give the same figures. Takes
less than 15 minutes on two cores. The exit status is 1 if a result is not as expected.

The part coverage is measured only if it is named: how often 95 % intervals hold the truth, and how wide they are.
"""

_EXAMPLES = """\
parts (default: all but coverage):
  table1         all three rows of Table 1
  offline        first row: a set of queries, by codebook and hull, and by sphere sampling
  distribution   second row: Hadamard Response, projected and not
  adaptive       third row: adaptive questions
  findings       the paper's claims about its algorithms, checked
  coverage       intervals of every mechanism and strategy: about 7 minutes

examples:
  python -m evidence reproduce
  python -m evidence reproduce distribution adaptive --out table1 --seed 11
  python -m evidence reproduce findings --json
  python -m evidence reproduce coverage --out coverage
  python -m evidence reproduce --quick                        under a minute, to test the setup
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("parts", nargs="*", metavar="PART", help="see below (default: all but coverage)")
    parser.add_argument(
        "--out",
        type=Path,
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"folder for the files (default: {DEFAULT_FOLDER})",
    )
    add_integer(parser, "--seed", "S", "seed", DEFAULT_SEED)
    parser.add_argument("--quick", action="store_true", help="fewer people and points")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from evidence.reproduce.page import write
    from evidence.reproduce.run import grid_of, people_of, reproduce
    from sottovoce.core.files import check_folder
    from sottovoce.figures.style import require_matplotlib
    from sottovoce.lab.simulation.repeats import seeds_of

    grid = grid_of(arguments.parts, quick=arguments.quick)
    seeds_of(arguments.seed, 1)
    require_matplotlib()
    check_folder(arguments.out, "results")
    with progress("measuring", max(1, people_of(arguments.parts, quick=arguments.quick))) as advance:
        found = reproduce(arguments.parts, arguments.seed, quick=arguments.quick, progress=advance)
    with progress("drawing", max(1, len(grid)), "figures") as advance:
        written = write(found, arguments.out, advance)
    if arguments.json:
        print_json(found.to_dict() | {"files": [str(path) for path in written]})
    else:
        _show(found)
        beside = f"all results on one page; {plural(len(written) - 1, 'other file')}"
        console().print(f"{written[-1]}: {beside}", markup=False, soft_wrap=True)
    return 0 if found.as_expected else 1


def _show(found: Reproduction) -> None:
    if found.table:
        _show_table(found.table, found.seed)
    if found.checks:
        _show_checks(found.checks)
    if found.exceeding:
        _show_exceeding(found.exceeding)
    if found.coverage:
        from evidence.reproduce.coverage_summary import summaries_of

        _show_coverage(summaries_of(found.coverage))
    if found.findings:
        _show_findings(found.findings)


def _show_table(rows: tuple[TableRow, ...], seed: int) -> None:
    from evidence.reproduce.page import UNPROVED

    caption = "measured: the largest error among the populations"
    if any(row.name == "offline" for row in rows):
        caption += f"; made sound: the paper's rejection sampling, for spread\n* {UNPROVED}"
    table = titled_table(f"Table 1, measured (seed {seed})", caption)
    table.add_column("problem", style="bold")
    table.add_column("setting")
    for name in ("measured", "stated", "printed", "made sound", "previous work", "lower shape"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.name,
            f"{row.setting} ({row.population})",
            _pair(row.error, row.standard_error),
            plain(row.bound) + ("*" if row.name == "offline" else ""),
            "" if row.bound_printed is None else plain(row.bound_printed),
            "" if row.repaired is None else _pair(row.repaired, row.repaired_standard_error or 0.0),
            "" if row.previous is None else _pair(row.previous, row.previous_standard_error or 0.0),
            plain(row.lower_shape),
        )
    console().print(table)


def _pair(value: float, error: float) -> str:
    return f"{value:.3f} ± {error:.3f}"


def _show_checks(checks: tuple[Check, ...]) -> None:
    table = titled_table("expectations and results")
    for name in ("problem", "expected", "found"):
        table.add_column(name)
    table.add_column("", no_wrap=True)
    for check in checks:
        found = check.found + (f"; {check.why}" if check.why else "")
        table.add_row(check.row, check.expected, found, _VERDICTS[check.holds])
    console().print(table)


_VERDICTS = {True: "[green]yes[/]", False: "[bold red]NO[/]", None: "[dim]not checked[/]"}


def _show_exceeding(points: tuple[Exceeding, ...]) -> None:
    table = titled_table("points above a bound", "σ: standard errors above the bound")
    for name in ("figure", "where", "above"):
        table.add_column(name)
    table.add_column("of it", justify="right", no_wrap=True)
    table.add_column("why")
    for one in points:
        of = f"{one.ratio:.3f} ({one.sigmas:.1f} σ)"
        why = f"[bold red]{one.why}[/]" if one.beyond_chance else one.why
        table.add_row(one.figure, f"{one.population}, {one.setting}", f"{one.bound} ({one.protocol})", of, why)
    console().print(table)


def _show_coverage(designs: tuple[CoverageSummary, ...]) -> None:
    table = titled_table("coverage of 95 % intervals", "least: in any cell; width: over 1.96 true standard deviations")
    table.add_column("design", style="bold")
    for name in ("cells", "runs", "single", "least", "simultaneous", "least", "width at 10^6"):
        table.add_column(name, justify="right", no_wrap=True)
    for one in designs:
        table.add_row(
            one.name,
            f"{one.cells - one.skipped}/{one.cells}",
            one.repeats,
            f"{100 * one.single:.2f} %",
            f"{100 * one.single_least:.1f} ± {100 * one.single_least_error:.1f} %",
            f"{100 * one.simultaneous:.2f} %",
            f"{100 * one.simultaneous_least:.1f} % of {one.simultaneous_least_repeats}",
            "" if one.width is None else f"{one.width:.3f}",
        )
    console().print(table)


def _show_findings(findings: tuple[Finding, ...]) -> None:
    from rich.markup import escape

    table = titled_table("the paper's claims, checked")
    table.add_column("where", style="bold")
    table.add_column("claim")
    for name in ("printed", "found"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for one in findings:
        verdict = "[green]stands[/]" if one.stands else "[bold red]does not[/]"
        if not one.as_expected:
            verdict += "\n[bold red]NOT as in the findings[/]"
        found = "∞" if math.isinf(one.found) else f"{one.found:.4g}"
        claim = f"{escape(f'{one.claim} ({one.setting})')}\n[dim]{escape(one.how)}[/]"
        table.add_row(one.where, claim, f"{one.printed:.4g}", found, verdict)
    console().print(table)
