"""The reproduction as one page of HTML that holds its pictures, and as files for other programs."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from sottovoce.errors import SimulationError
from sottovoce.experiments.reproduce.pictures import draw, drawn, to_svg
from sottovoce.experiments.reproduce.populations import POPULATIONS
from sottovoce.experiments.reproduce.records import ROWS, Check
from sottovoce.experiments.reproduce.run import Reproduction
from sottovoce.experiments.reproduce.table import PRINTED
from sottovoce.experiments.whole_files import write_whole

__all__ = ["render", "write"]


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
        ("findings.csv", [finding.to_dict() for finding in found.findings]),
    ):
        if rows:
            made[name] = _csv(rows)
    pictures = {}
    for figure in found.figures:
        picture = draw(figure, found.of(figure))
        pictures[figure.name] = to_svg(picture)
        made |= {f"{figure.name}.{form}": drawn(picture, form) for form in ("svg", "png")}
        advance(1)
    made["reproduction.json"] = json.dumps(_finite(found.to_dict()), indent=1, allow_nan=False) + "\n"
    made["reproduction.html"] = render(found, pictures)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or "nobody says why"
        raise SimulationError(f"{str(folder)!r} cannot be made: {reason}; name another directory") from None
    return [write_whole(folder / name, content) for name, content in made.items()]


def render(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """The page as text; `pictures` has an SVG element for the name of each figure."""
    template = Template(files(__package__ or "").joinpath("page.html.template").read_text(encoding="utf-8"))
    few = "<b>This is the quick grid: its figures are to see that it works, not to be believed.</b>"
    return template.substitute(
        seed=found.seed,
        quick=few if found.quick else "",
        table=_outcome(found.checks) + _table("\n".join(_table_row(row.to_dict()) for row in found.table)),
        checks=_checks("\n".join(_check(check.to_dict()) for check in found.checks)),
        findings=_findings([finding.to_dict() for finding in found.findings]),
        figures=_figures([pictures[figure.name] for figure in found.figures]),
    )


def _outcome(checks: Sequence[Check]) -> str:
    """What became of the expectations, before anything else is read."""
    if not checks:
        return ""
    failed = sum(not check.holds for check in checks)
    if failed:
        return f'<p><b class="no">{failed} of {len(checks)} expectations failed</b>: they are marked below.</p>\n'
    return f'<p><b class="yes">All {len(checks)} expectations came out.</b></p>\n'


def _table(rows: str) -> str:
    if not rows:
        return ""
    names = ("problem", "setting", "measured", "proved here", "printed", "previous work, measured")
    head = "".join(f"<th>{name}</th>" for name in (*names, "lower bound's shape"))
    return (
        f"<h2>The table</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>\n"
        '<p class="muted">Measured: the largest among the populations. Under figures: what the paper prints, without'
        " constants. The lower bound is known up to a constant only: its column is an expression, not a bound.</p>"
    )


def _checks(rows: str) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{name}</th>" for name in ("problem", "expected", "found", ""))
    return f"<h2>What was expected</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n{rows}\n</tbody></table>"


def _figures(pictures: Sequence[str]) -> str:
    if not pictures:
        return ""
    told = "; ".join(f"<i>{escape(name)}</i>: {escape(words)}" for name, words in POPULATIONS.items())
    drawings = "\n".join(f"<figure>{picture}</figure>" for picture in pictures)
    return f"<h2>Figures</h2>\n<p>Populations: {told}.</p>\n{drawings}"


def _csv(rows: list[dict[str, Any]]) -> str:
    into = io.StringIO(newline="")
    writer = csv.DictWriter(into, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return into.getvalue()


def _finite(value: Any) -> Any:
    """JSON has no infinity: it becomes null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


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
    numbers = (
        ("measured", _under(_measured(row["error"], row["standard_error"]), row["population"])),
        ("proved here", f"{row['bound']:.4f}"),
        ("printed", _under("none" if row["bound_printed"] is None else f"{row['bound_printed']:.4f}", upper)),
        (
            "previous work, measured",
            _under(_measured(row["previous"], row["previous_standard_error"]), "" if previous == "none" else previous),
        ),
        ("lower bound's shape", _under(f"{row['lower_shape']:.4f}", lower)),
    )
    return f"<tr><th>{escape(row['problem'])}</th>{words}{_cells(numbers, numbers=True)}</tr>"


def _verdict(good: bool, yes: str, no: str) -> str:
    return f'<td class="yes">{yes}</td>' if good else f'<td class="no">{no}</td>'


def _check(check: dict[str, Any]) -> str:
    row = ROWS[check["row"]].partition(" (")[0]
    found = check["found"] + (f"; {check['why']}" if check["why"] else "")
    cells = _cells([("expected", escape(check["expected"])), ("found", escape(found))])
    return f"<tr><th>{escape(row)}</th>{cells}{_verdict(check['holds'], 'as expected', 'NOT as expected')}</tr>"


def _figure(number: float) -> str:
    return "∞" if math.isinf(number) else f"{number:.4g}"


def _finding(row: dict[str, Any]) -> str:
    words = _cells((name, escape(row[name])) for name in ("claim", "setting"))
    numbers = _cells(((name, _figure(row[name])) for name in ("printed", "found")), numbers=True)
    verdict = _verdict(row["stands"], "stands", "does not stand")
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
