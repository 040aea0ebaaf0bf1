"""Coverage and widths in one picture: a column per epsilon, people along the axis, a mark per design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from evidence.experiments.coverage import LEVEL, Coverage
from evidence.reproduce.coverage import FAMILIES, WIDEST, CoverageRow
from sottovoce.figures.style import CURVES, SMALL, STYLE, TEXT, finish_axes, new_figure, require_matplotlib

__all__ = ["coverage_caption", "draw_coverage"]

_MARKERS: Final = ("o", "s", "^", "D")
_NONE: Final = 1e-4
"""Where marks without a miss are drawn."""


def draw_coverage(rows: Sequence[CoverageRow]) -> Any:
    """The figure as matplotlib has it."""
    require_matplotlib()
    epsilons = sorted({row.cell.epsilon for row in rows})
    people = sorted({row.cell.people for row in rows})
    picture = new_figure(max(9.0, 4.2 * len(epsilons) + 1.2), 10.5)
    grid = picture.subplots(3, len(epsilons), sharex=True, sharey="row", squeeze=False)
    handles: dict[str, Any] = {}
    for column, epsilon in enumerate(epsilons):
        for place, (family, told) in enumerate(FAMILIES.items()):
            marks = _marks([row for row in rows if (row.cell.epsilon, row.cell.design.family) == (epsilon, family)])
            at = [_place(people, mark.people, place, i) for i, mark in enumerate(marks)]
            for ax, number in zip(grid[:, column], ("single", "simultaneous", "width"), strict=True):
                handles[told] = ax.scatter(
                    at,
                    [getattr(mark, number) for mark in marks],
                    s=22,
                    marker=_MARKERS[place],
                    color=CURVES[place]["color"],
                    alpha=0.75,
                    linewidths=0,
                    label=told,
                )
        grid[0, column].set_title(f"epsilon {epsilon:g}", loc="left", fontsize=13, color=STYLE["ink"], pad=8)
    for row, axes in enumerate(grid):
        for ax in axes:
            _finish(ax, row, people, first=ax is axes[0])
    picture.legend(
        handles.values(),
        handles.keys(),
        loc="outside upper center",
        ncols=2,
        frameon=False,
        fontsize=TEXT,
        labelcolor=STYLE["ink"],
        markerscale=2,
    )
    return picture


class _Mark(NamedTuple):
    """A design at one epsilon and number of people: means over sizes and populations."""

    people: int
    single: float
    simultaneous: float
    width: float


def _marks(rows: Sequence[CoverageRow]) -> list[_Mark]:
    groups: dict[tuple[str, int], list[Coverage]] = {}
    for row in rows:
        if row.found is not None:
            groups.setdefault((row.cell.design.name, row.cell.people), []).append(row.found)
    return [_mark(people, found) for (_, people), found in groups.items()]


def _mark(people: int, found: Sequence[Coverage]) -> _Mark:
    widths = [one.width for one in found if one.width is not None]
    runs = [one.repeats for one in found]
    return _Mark(
        people,
        max(_NONE, 1 - float(np.average([one.single for one in found], weights=runs))),
        max(_NONE, 1 - float(np.average([one.simultaneous for one in found], weights=runs))),
        float(np.median(widths)) if widths else math.nan,
    )


_ROWS: Final = (
    "missed by single intervals",
    "missed by simultaneous intervals",
    "half-width / 1.96 standard deviations",
)


def _finish(ax: Any, row: int, people: Sequence[int], *, first: bool) -> None:
    ax.set_yscale("log")
    ax.set_xticks(range(len(people)), [f"{n:,}" if n < 10**6 else "10⁶" for n in people])
    finish_axes(ax, "people" if row == 2 else "", _ROWS[row] if first else "")
    if row < 2:
        ax.axhline(1 - LEVEL, color=STYLE["ink"], linewidth=1.2)
        ax.set_ylim(_NONE / 2, 1)
        ax.set_yticks(
            [_NONE, 1e-3, 1e-2, 1 - LEVEL, 0.2, 1],
            ["none", "0.1 %", "1 %", f"{100 * (1 - LEVEL):g} %", "20 %", "100 %"],
        )
    else:
        ax.axhline(1, color=STYLE["ink"], linewidth=1.2)
        ax.axhline(WIDEST, color=STYLE["muted"], linewidth=1.2, linestyle="--")
        ax.set_yticks([1, 1.2, 1.5, 2, 3, 5, 10], ["1", "1.2", "1.5", "2", "3", "5", "10"])
        ax.set_ylim(0.93, 12)
    ax.set_yticks([], minor=True)
    ax.tick_params(axis="x", labelsize=SMALL)


def _place(people: Sequence[int], n: int, family: int, number: int) -> float:
    """Families side by side at each number of people, and within a family spread out, always in the same way."""
    return people.index(n) + 0.2 * (family - 1.5) + 0.16 * ((number * 0.618034) % 1 - 0.5)


def coverage_caption(rows: Sequence[CoverageRow]) -> str:
    """All that is drawn, in words."""
    measured = sum(row.found is not None for row in rows)
    return (
        f"{measured:,} cells; a mark is a design at one epsilon and number of people, over all sizes and populations. "
        "Above: the fraction of answers that single 95 % intervals miss, and of runs in which simultaneous ones miss "
        "any answer, for the population that people are drawn from; the line is the 5 % allowed. Marks of few runs lie "
        "above it by chance. Below: half-widths over 1.96 true standard deviations, the median, of ends within the "
        f"range of the answers; the dashed line is {WIDEST:g}. Few people give discrete or rare counts, for which "
        "intervals that hold are wider."
    )
