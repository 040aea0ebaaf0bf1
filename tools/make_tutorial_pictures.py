"""Draws the pictures of docs/tutorials from what these compute: `python tools/make_tutorial_pictures.py`.

Each page's Python blocks are run, and the picture is made of the variables that they leave behind.
"""

from __future__ import annotations

import re
import string
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from sottovoce.figures.style import STYLE, finish_axes, new_figure

DOCS = Path(__file__).resolve().parents[1] / "docs"
FOLDER = DOCS / "images" / "tutorials"


def run(tutorial: str) -> SimpleNamespace:
    """What a page's blocks leave behind."""
    text = (DOCS / "tutorials" / f"{tutorial}.md").read_text(encoding="utf-8")
    lines = [
        line[4:]
        for block in re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for line in block.splitlines()
        if re.match(r"(>>>|\.\.\.) |\.\.\.$", line)
    ]
    left: dict[str, Any] = {}
    exec("\n".join(lines), left)  # noqa: S102 (the code is the documentation's own)
    return SimpleNamespace(**left)


def bars(ax: Any, labels: list[str], found: Any, low: Any, high: Any, truth: Any) -> None:
    """Estimates as bars with intervals, the truth as dots."""
    place = np.arange(len(labels))
    ax.bar(place, found, color=STYLE["bar"], label="estimate")
    middle = (low + high) / 2
    ax.errorbar(
        place, middle, (high - low) / 2, fmt="none", ecolor=STYLE["ink"], elinewidth=1, capsize=3, label="95 % interval"
    )
    ax.plot(place, truth, "o", color=STYLE["truth"], markersize=5, label="truth")
    ax.set_xticks(place, labels)
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(frameon=False, labelcolor=STYLE["ink"])


def words_picture() -> Any:
    """The words estimated as most common."""
    page = run("distribution")
    best = np.argsort(-page.estimate.values[:-1])[:20]
    figure = new_figure(9, 4.2)
    ax = figure.subplots()
    labels = [page.labels[v] for v in best]
    bars(ax, labels, page.estimate.values[best], page.low[best], page.high[best], page.truth[best])
    finish_axes(ax, "", "share of the words typed")
    return figure


def letters_picture() -> Any:
    """All letters, the most common first."""
    page = run("means")
    order = page.order
    low, high = page.estimate.interval(0.95)
    figure = new_figure(9, 4.2)
    ax = figure.subplots()
    labels = [string.ascii_lowercase[i] for i in order]
    bars(ax, labels, page.estimate.values[order], low[order], high[order], page.truth[order])
    finish_axes(ax, "", "mean share of a word's letters")
    return figure


def tables_picture() -> Any:
    """One table, estimated and true."""
    page = run("cross_tables")
    exact = SimpleNamespace(values=page.tables.matvec(page.exact))
    true = exact.values[: page.table.size].reshape(page.table.shape)
    figure = new_figure(9, 4.6)
    rows = [*page.names, "elsewhere"]
    for ax, table, title in zip(figure.subplots(1, 2), (page.table, true), ("estimated", "true"), strict=True):
        ax.imshow(table, cmap="Blues", vmin=0, vmax=0.32, aspect="auto")
        for (row, column), share in np.ndenumerate(table):
            ink = "white" if share > 0.2 else STYLE["ink"]
            ax.text(column, row, f"{share:.1%}", ha="center", va="center", fontsize=11, color=ink)
        finish_axes(ax, "", "")
        ax.grid(visible=False)
        ax.set_xticks(range(3), ["below\n100,000", "up to\na million", "a million\nor more"])
        ax.set_yticks(range(7), rows)
        ax.set_title(title, loc="left", fontsize=13, color=STYLE["ink"], pad=10)
    return figure


def globe_picture() -> Any:
    """The world's city people, and the boxes that the questions led to."""
    page = run("adaptive")
    figure = new_figure(9, 4.8)
    ax = figure.subplots()
    north, east = np.array([(city["latitude"], city["longitude"]) for city in page.cities]).T
    ax.scatter(east, north, s=page.size / 2e5, color=STYLE["bar"], linewidths=0)
    boxes = [
        (60, -90, 60, 180, "first: 60° to 120° east"),
        (60, 15, 60, 15, "second: 15° to 30° north"),
        (105, 15, 15, 15, "third: 105° to 120° east"),
    ]
    for (left, bottom, width, height, label), colour, line in zip(
        boxes, (STYLE["raw"], STYLE["ink"], STYLE["ink"]), ("-", "--", "-"), strict=True
    ):
        across, up = (
            [left, left + width, left + width, left, left],
            [bottom, bottom, bottom + height, bottom + height, bottom],
        )
        ax.plot(across, up, color=colour, linestyle=line, linewidth=2, label=label)
    finish_axes(ax, "longitude", "latitude")
    ax.set(xlim=(-180, 180), ylim=(-60, 78), aspect="equal")
    ax.legend(loc="lower left", frameon=False, labelcolor=STYLE["ink"])
    return figure


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in (
        ("words", words_picture),
        ("letters", letters_picture),
        ("tables", tables_picture),
        ("globe", globe_picture),
    ):
        draw().savefig(FOLDER / f"{name}.png", dpi=100, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
