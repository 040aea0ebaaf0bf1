"""The reproduction as one page of HTML that holds its pictures, and as files for other programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from evidence.reproduce.coverage_picture import coverage_caption, draw_coverage
from evidence.reproduce.coverage_summary import CoverageSummary, skipped_of, summaries_of
from evidence.reproduce.exceeding import Exceeding
from evidence.reproduce.findings import Finding
from evidence.reproduce.pictures import caption, draw, drawn, title, to_element
from evidence.reproduce.records import ROWS, Check
from evidence.reproduce.rows import ANALYSTS_TOLD, POPULATIONS
from evidence.reproduce.run import Reproduction
from evidence.reproduce.table import PRINTED
from sottovoce.auditing.page import build_line
from sottovoce.core.errors import SimulationError
from sottovoce.core.files import write_errors, write_file
from sottovoce.core.text import csv_text, json_text

__all__ = ["UNPROVED", "render", "write"]

UNPROVED = (
    "Offline queries: proved for uniformly random rotations, shared as they are here. Here they are made of signs and "
    "transforms, whose bias is measured and not proved; the bound includes it."
)
"""The footnote of the bound stated for the first row: see docs/contributors/theory/codebook.md."""

_COVERAGE = "Coverage of 95 % intervals, and their widths"

_TABLE_1 = (
    "Table 1, measured",
    "<p>R. Bassily, <i>Linear Queries Estimation with Local Differential Privacy</i>: the errors that its Table 1 "
    "bounds, measured on simulated people beside the previous work, the printed bounds and those stated here.",
    " Every point is a mean over repeats; bars are standard errors.",
)

_INTERVALS = (
    "Intervals, measured",
    "<p>How often 95 % intervals hold the truth, and how wide they are, measured on simulated people over every "
    "mechanism and strategy.",
    "",
)
"""Heading and introduction where only the coverage was measured."""

_COLUMNS = (
    "measured",
    "bound stated here",
    "printed",
    "the paper's protocol, made sound",
    "previous work, measured",
    "lower bound's shape",
)


def write(found: Reproduction, folder: Path, advance: Callable[[int], object] = lambda done: None) -> list[Path]:
    """Write the tables as CSV and JSON, every figure as SVG and PNG, and the page; return the names.

    Everything is drawn before anything is written, and the page comes last: an interruption leaves no half file, and no
    page of figures that are not those beside it. `advance` hears of every figure drawn.
    """
    made: dict[str, bytes | str] = {}
    for name, rows in (
        ("table1.csv", [row.to_dict() for row in found.table]),
        ("measured.csv", [one.to_dict() for one in found.measured]),
        ("checks.csv", [check.to_dict() for check in found.checks]),
        ("exceeding.csv", [one.to_dict() for one in found.exceeding]),
        ("findings.csv", [finding.to_dict() for finding in found.findings]),
        ("coverage.csv", [row.to_dict() for row in found.coverage]),
    ):
        if rows:
            made[name] = csv_text(rows)
    pictures = {}
    for figure in found.figures:
        picture = draw(figure, found.of(figure))
        svg = drawn(picture, "svg")
        pictures[figure.name] = to_element(svg, title(figure))
        made |= {f"{figure.name}.svg": svg, f"{figure.name}.png": drawn(picture, "png")}
        advance(1)
    if found.coverage:
        picture = draw_coverage(found.coverage)
        svg = drawn(picture, "svg")
        pictures["coverage"] = to_element(svg, _COVERAGE)
        made |= {"coverage.svg": svg, "coverage.png": drawn(picture, "png")}
        made["coverage.json"] = json_text(found.coverage_dict(), indent=1)
    made["reproduction.json"] = json_text(found.to_dict(), indent=1)
    made["reproduction.html"] = render(found, pictures)
    with write_errors(folder, SimulationError, "name another directory"):
        folder.mkdir(parents=True, exist_ok=True)
    return [write_file(folder / name, content) for name, content in made.items()]


def render(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """The page as text; `pictures` has an SVG element for the name of each figure."""
    template = Template(files(__package__ or "").joinpath("page.html.template").read_text(encoding="utf-8"))
    few = "<b>This is the quick grid: its figures are to see that it works, not to be believed.</b>"
    alone = found.coverage and not (found.table or found.findings or found.figures)
    heading, start, end = _INTERVALS if alone else _TABLE_1
    return template.substitute(
        heading=heading,
        start=start,
        end=end,
        seed=found.seed,
        quick=few if found.quick else "",
        table=_outcome(found.checks, found.findings) + _table([row.to_dict() for row in found.table]),
        checks=_checks("\n".join(_check(check.to_dict()) for check in found.checks)),
        exceeding=_exceeding(found.exceeding, len(found.measured)),
        findings=_findings([finding.to_dict() for finding in found.findings]),
        coverage=_coverage(found, pictures),
        figures=_figures(found, pictures),
        made=escape(build_line("python -m evidence reproduce", found.made)),
    )


def _outcome(checks: Sequence[Check], findings: Sequence[Finding]) -> str:
    """What became of the expectations, before anything else is read."""
    said = []
    if checks:
        done = [check.holds for check in checks if check.holds is not None]
        left = f" {len(checks) - len(done)} were not checked." if len(done) < len(checks) else ""
        failed = done.count(False)
        if failed:
            said.append(
                f'<b class="no">{failed} of {len(checks)} expectations failed</b>: they are marked below.{left}'
            )
        else:
            said.append(f'<b class="yes">{len(done)} of {len(checks)} expectations came out.</b>{left}')
    other = sum(not one.as_expected for one in findings)
    if other:
        said.append(
            f'<b class="no">{other} of {len(findings)} claims have another verdict than the findings state.</b>'
        )
    return f"<p>{' '.join(said)}</p>\n" if said else ""


def _table(rows: Sequence[dict[str, Any]]) -> str:
    if not rows:
        return ""
    offline = any(row["name"] == "offline" for row in rows)
    sound = " The paper's protocol made sound: rejection sampling, for the population spread." if offline else ""
    footnote = f'\n<p class="muted" id="unproved">* {escape(UNPROVED)}</p>' if offline else ""
    shown = "\n".join(map(_table_row, rows))
    head = "".join(f"<th>{name}</th>" for name in ("problem", "setting", *_COLUMNS))
    return (
        f"<h2>The table</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{shown}\n</tbody></table>\n"
        '<p class="muted">Measured: the largest among the populations. Under figures: what the paper prints, without'
        f" constants.{sound} Distributions and adaptive queries are measured by the paper's protocol itself. The lower"
        f" bound is known up to a constant only: its column is an expression, not a bound.</p>{footnote}"
    )


def _checks(rows: str) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in ("problem", "expected", "found", ""))
    return f"<h2>What was expected</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def _exceeding(points: Sequence[Exceeding], measured: int) -> str:
    """Every point above a bound, or that there is none."""
    if not measured:
        return ""
    heading = "<h2>Points above a bound</h2>\n"
    if not points:
        return f"{heading}<p>None of the {measured} points is above a bound, stated here or printed.</p>"
    head = "".join(f"<th>{name}</th>" for name in ("figure", "where", "above", "error", "of it", "why"))
    rows = "\n".join(map(_above, points))
    return f"{heading}<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def _above(one: Exceeding) -> str:
    words = _cells(
        (("where", escape(f"{one.population}, {one.setting}")), ("above", escape(f"{one.bound} ({one.protocol})")))
    )
    numbers = (("error", _measured(one.error, one.standard_error)), ("of it", f"{one.ratio:.3f} ({one.sigmas:.1f} σ)"))
    kind = ' class="no"' if one.beyond_chance else ""
    why = f'<td{kind} data-head="why">{escape(one.why)}</td>'
    return f"<tr><th>{escape(one.figure)}</th>{words}{_cells(numbers, numbers=True)}{why}</tr>"


def _figures(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """The figures with their captions, after an account of the populations that are drawn in them and of no others."""
    if not found.figures:
        return ""
    told = []
    for what, meanings in (("Populations", POPULATIONS), ("Analysts", ANALYSTS_TOLD)):
        shown = dict.fromkeys(one.case.population for one in found.measured if one.case.population in meanings)
        words = "; ".join(f"<i>{escape(name)}</i>: {escape(meanings[name])}" for name in shown)
        told.append(f"<p>{what}: {words}.</p>\n" if shown else "")
    drawings = "\n".join(
        f"<figure>{pictures[one.name]}<figcaption>{escape(caption(one, found.of(one)))}</figcaption></figure>"
        for one in found.figures
    )
    return f"<h2>Figures</h2>\n{''.join(told)}{drawings}"


def _coverage(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """A row per design, what was skipped, and the picture."""
    if not found.coverage:
        return ""
    head = "".join(f"<th>{name}</th>" for name in ("design", *_COVERAGE_COLUMNS))
    rows = "\n".join(map(_coverage_row, summaries_of(found.coverage)))
    skipped = [f"{words} ({number} cells)" for words, number in skipped_of(found.coverage).items()]
    left = f"<p>Skipped: {escape('; '.join(skipped))}.</p>\n" if skipped else ""
    picture = (
        f"<figure>{pictures['coverage']}<figcaption>{escape(coverage_caption(found.coverage))}</figcaption></figure>"
    )
    return (
        f"<h2>{_COVERAGE}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>\n"
        '<p class="muted">Least: the cell with the least coverage, of the population or of these very people; its '
        "error is that of its own runs, and one cell of hundreds is a few standard errors low by chance. Widths are "
        f"in units of 1.96 true standard deviations.</p>\n{left}{picture}"
    )


_COVERAGE_COLUMNS = (
    "values",
    "cells",
    "runs per cell",
    "single",
    "least",
    "simultaneous",
    "of these very people",
    "least",
    "width, a million people",
    "widest, many reports",
)


def _coverage_row(one: CoverageSummary) -> str:
    numbers = (
        one.values,
        f"{one.cells - one.skipped:,}" + (f" of {one.cells:,}" if one.skipped else ""),
        one.repeats,
        f"{100 * one.single:.2f} ± {100 * one.single_error:.2f} %",
        f"{100 * one.single_least:.1f} ± {100 * one.single_least_error:.1f} %",
        f"{100 * one.simultaneous:.2f} %",
        f"{100 * one.simultaneous_people:.2f} %",
        f"{100 * one.simultaneous_least:.1f} % of {one.simultaneous_least_repeats}",
        "" if one.width is None else f"{one.width:.3f}",
        "" if one.widest is None else f"{one.widest:.3f}",
    )
    cells = _cells(zip(_COVERAGE_COLUMNS, numbers, strict=True), numbers=True)
    return f"<tr><th>{escape(one.name)}</th>{cells}</tr>"


def _cells(cells: Iterable[tuple[str, object]], numbers: bool = False) -> str:
    """Cells with their heading, which a narrow screen shows above each."""
    kind = ' class="number"' if numbers else ""
    return "".join(f'<td{kind} data-head="{escape(head)}">{cell}</td>' for head, cell in cells)


def _measured(value: float | None, error: float | None) -> str:
    return "none" if value is None else f"{value:.4f} ± {error:.4f}"


def _under(figure: str, words: str) -> str:
    return f"{figure}<small>{escape(words)}</small>"


def _table_row(row: dict[str, Any]) -> str:
    """Figures, and under those of the paper's columns what it prints, without constants."""
    upper, previous, lower = PRINTED[row["name"]]
    words = _cells([("setting", escape(row["setting"]))])
    star = ' <a href="#unproved">*</a>' if row["name"] == "offline" else ""
    own = "as measured" if row["repaired"] is None else _measured(row["repaired"], row["repaired_standard_error"])
    numbers = (
        _under(_measured(row["error"], row["standard_error"]), row["population"]),
        f"{row['bound']:.4f}{star}",
        _under("none" if row["bound_printed"] is None else f"{row['bound_printed']:.4f}", upper),
        own,
        _under(_measured(row["previous"], row["previous_standard_error"]), "" if previous == "none" else previous),
        _under(f"{row['lower_shape']:.4f}", lower),
    )
    cells = _cells(zip(_COLUMNS, numbers, strict=True), numbers=True)
    return f"<tr><th>{escape(row['problem'])}</th>{words}{cells}</tr>"


def _verdict(good: bool, yes: str, no: str) -> str:
    return f'<td class="yes">{yes}</td>' if good else f'<td class="no">{no}</td>'


def _check(check: dict[str, Any]) -> str:
    row = ROWS.get(check["row"], "Intervals").partition(" (")[0]
    found = check["found"] + (f"; {check['why']}" if check["why"] else "")
    cells = _cells([("expected", escape(check["expected"])), ("found", escape(found))])
    verdict = (
        '<td class="muted">not checked</td>'
        if check["holds"] is None
        else _verdict(check["holds"], "as expected", "NOT as expected")
    )
    return f"<tr><th>{escape(row)}</th>{cells}{verdict}</tr>"


def _figure(number: float) -> str:
    return "∞" if math.isinf(number) else f"{number:.4g}"


def _finding(row: dict[str, Any]) -> str:
    words = _cells((name, escape(row[name])) for name in ("claim", "setting"))
    numbers = _cells(((name, _figure(row[name])) for name in ("printed", "found")), numbers=True)
    verdict = _verdict(row["stands"], "stands", "does not stand")
    if row["stands"] != row["expected"]:
        verdict = verdict.replace("</td>", "<br>NOT as in the findings</td>")
    how = _cells([("how", escape(row["how"]))])
    return f"<tr><th>{escape(row['where'])}</th>{words}{numbers}{how}{verdict}</tr>"


def _findings(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    shown = "\n".join(map(_finding, rows))
    head = "".join(f"<th>{name}</th>" for name in ("where", "claim", "setting", "printed", "found", "how", ""))
    return (
        f"<h2>What the paper claims, and what is so</h2>\n<table><thead><tr>{head}</tr></thead>"
        f"<tbody>\n{shown}\n</tbody></table>"
    )
