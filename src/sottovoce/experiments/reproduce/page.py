"""The reproduction as one page of HTML that holds its pictures, and as files for other programs."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Iterable, Mapping
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from sottovoce.experiments.reproduce.pictures import draw, save, to_svg
from sottovoce.experiments.reproduce.populations import POPULATIONS
from sottovoce.experiments.reproduce.records import ROWS
from sottovoce.experiments.reproduce.run import Reproduction
from sottovoce.experiments.reproduce.table import PRINTED
from sottovoce.plotting import STYLE

__all__ = ["render", "write"]


def write(found: Reproduction, folder: Path, advance: Callable[[int], object] = lambda done: None) -> list[Path]:
    """Write the tables as CSV and JSON, every figure as SVG and PNG, and the page; return the names.

    `advance` hears of every figure drawn.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, rows in (
        ("table1.csv", [row.to_dict() for row in found.table]),
        ("measured.csv", [one.to_dict() for one in found.measured]),
        ("checks.csv", [check.to_dict() for check in found.checks]),
        ("findings.csv", [finding.to_dict() for finding in found.findings]),
    ):
        if rows:
            written.append(_csv(folder / name, rows))
    pictures = {}
    for figure in found.figures:
        picture = draw(figure, found.of(figure))
        pictures[figure.name] = to_svg(picture)
        for ending in (".svg", ".png"):
            save(picture, folder / f"{figure.name}{ending}")
            written.append(folder / f"{figure.name}{ending}")
        advance(1)
    whole = folder / "reproduction.json"
    whole.write_text(json.dumps(_finite(found.to_dict()), indent=1, allow_nan=False) + "\n", encoding="utf-8")
    page = folder / "reproduction.html"
    page.write_text(render(found, pictures), encoding="utf-8")
    return [*written, whole, page]


def render(found: Reproduction, pictures: Mapping[str, str]) -> str:
    """The page as text; `pictures` has an SVG element for the name of each figure."""
    template = Template(files(__package__ or "").joinpath("page.html.template").read_text(encoding="utf-8"))
    few = "<b>This is the quick grid: its figures are to see that it works, not to be believed.</b>"
    return template.substitute(
        STYLE,
        seed=found.seed,
        quick=few if found.quick else "",
        table="\n".join(_table_row(row.to_dict()) for row in found.table),
        checks="\n".join(_check(check.to_dict()) for check in found.checks),
        findings=_findings([finding.to_dict() for finding in found.findings]),
        populations="; ".join(f"<i>{escape(name)}</i>: {escape(words)}" for name, words in POPULATIONS.items()),
        figures="\n".join(f"<figure>{pictures[figure.name]}</figure>" for figure in found.figures),
    )


def _csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def _finite(value: Any) -> Any:
    """JSON has no infinity: it becomes null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _cells(cells: Iterable[object], numbers: bool = False) -> str:
    kind = ' class="number"' if numbers else ""
    return "".join(f"<td{kind}>{cell}</td>" for cell in cells)


def _measured(value: float | None, error: float | None) -> str:
    return "" if value is None else f"{value:.4f} ± {error:.4f}"


def _table_row(row: dict[str, Any]) -> str:
    words = _cells(map(escape, (row["problem"], PRINTED[row["name"]][0], row["setting"])))
    own = f"{_measured(row['error'], row['standard_error'])}<br><span class='muted'>{escape(row['population'])}</span>"
    printed = "" if row["bound_printed"] is None else f"{row['bound_printed']:.4f}"
    previous = _measured(row["previous"], row["previous_standard_error"])
    numbers = _cells((own, f"{row['bound']:.4f}", printed, previous, f"{row['lower_shape']:.4f}"), numbers=True)
    return f"<tr>{words}{numbers}</tr>"


def _verdict(good: bool, yes: str, no: str) -> str:
    return f'<td class="yes">{yes}</td>' if good else f'<td class="no">{no}</td>'


def _check(check: dict[str, Any]) -> str:
    row = ROWS[check["row"]].partition(" (")[0]
    found = check["found"] + (f"; {check['why']}" if check["why"] else "")
    cells = _cells(map(escape, (row, check["expected"], found)))
    return f"<tr>{cells}{_verdict(check['holds'], 'as expected', 'NOT as expected')}</tr>"


def _finding(row: dict[str, Any]) -> str:
    words = _cells(map(escape, (row["where"], row["claim"], row["setting"])))
    numbers = _cells((f"{row[name]:.4g}" for name in ("printed", "found")), numbers=True)
    verdict = _verdict(row["stands"], "stands", "does not stand")
    return f"<tr>{words}{numbers}{_cells([escape(row['how'])])}{verdict}</tr>"


def _findings(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    shown = "\n".join(map(_finding, rows))
    head = "".join(f"<th>{name}</th>" for name in ("where", "claim", "setting", "printed", "found", "how", ""))
    return (
        f'<h2>What the paper claims, and what is so</h2>\n<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>\n{shown}\n</tbody></table></div>"
    )
