"""Drawings for docs/concepts.md that explain rather than measure: who sees what, what adds up, hulls and rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.figures.style import CURVES, STYLE, finish_axes, new_figure
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.planning.planner import plan
from sottovoce.projections import project_hull


def _bare(ax: Any) -> None:
    """No scales: positions mean nothing."""
    ax.set_axis_off()


def _box(ax: Any, x: float, title: str, lines: list[str]) -> None:
    ax.text(x, 0.86, title, ha="center", va="center", fontsize=14, color=STYLE["ink"], weight="bold")
    style = {"boxstyle": "round,pad=0.8", "facecolor": "white", "edgecolor": STYLE["estimate"], "linewidth": 1.5}
    ax.text(x, 0.45, "\n".join(lines), ha="center", va="center", fontsize=11.5, color=STYLE["ink"], bbox=style)


def sides_picture() -> Any:
    """Who sees what."""
    figure = new_figure(9, 3)
    ax = figure.subplots()
    _bare(ax)
    ax.set(xlim=(0, 3), ylim=(0, 1))
    _box(ax, 0.45, "device", ["your answer: tea", "", "draws, once"])
    _box(ax, 1.55, "collector", ["counts of reports", "", "tea 412, coffee 310, …"])
    _box(ax, 2.6, "analyst", ["shares, with intervals", "", "tea 53 % ± 3 %"])
    arrow = {"arrowstyle": "->", "color": STYLE["raw"], "linewidth": 2}
    ax.annotate("", (1.17, 0.45), (0.82, 0.45), arrowprops=arrow)
    ax.text(1.0, 0.52, "a report", ha="center", fontsize=11, color=STYLE["raw"])
    ax.annotate("", (2.22, 0.45), (1.94, 0.45), arrowprops={**arrow, "color": STYLE["muted"]})
    ax.plot([1.0, 1.0], [0.02, 0.4], "--", color=STYLE["muted"], linewidth=1.2)
    ax.plot([1.0, 1.0], [0.62, 0.98], "--", color=STYLE["muted"], linewidth=1.2)
    ax.text(0.97, 0.05, "trusted by its owner", ha="right", fontsize=10, color=STYLE["muted"])
    ax.text(1.03, 0.05, "trusted by nobody", ha="left", fontsize=10, color=STYLE["muted"])
    return figure


def adding_up_picture() -> Any:
    """A suspicion of one in a hundred, after more and more draws about the same answer."""
    figure = new_figure(6, 4)
    ax = figure.subplots()
    reports = np.arange(11)
    for epsilon, style in zip((0.5, 1.0), CURVES, strict=False):
        odds = 0.01 / 0.99 * np.exp(epsilon * reports)
        ax.plot(reports, odds / (1 + odds), "o", label=f"epsilon {epsilon:g} each", linewidth=1.8, **style)
    finish_axes(ax, "reports about the same answer, each drawn anew", "strongest suspicion, from 1 %")
    ax.set(ylim=(0, 1))
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(frameon=False, labelcolor=STYLE["ink"])
    return figure


def hull_picture() -> Any:
    """Two queries over five values."""
    columns = np.array([[0.0, 0.0], [1.0, 0.2], [0.9, 0.9], [0.3, 1.0], [0.5, 0.4]])
    truth = np.array([0.05, 0.3, 0.45, 0.1, 0.1]) @ columns
    raw = truth + np.array([0.42, -0.02])
    nearest = project_hull(columns.T, raw).values
    figure = new_figure(8, 4.6)
    ax = figure.subplots()
    ax.fill(*columns[:4].T, color=STYLE["bar"], alpha=0.35, label="what can be true")
    ax.plot(*columns.T, "s", color=STYLE["estimate"], markersize=7, label="what a person can answer")
    ax.plot(*truth, "o", color=STYLE["truth"], markersize=9, label="the truth: an average")
    ax.plot(*raw, "o", color=STYLE["raw"], markersize=9, label="raw estimate")
    ax.plot([raw[0], nearest[0]], [raw[1], nearest[1]], "--", color=STYLE["raw"], linewidth=1.4)
    ax.plot(*nearest, "D", color=STYLE["raw"], markersize=8, markerfacecolor="white", label="projected")
    finish_axes(ax, "answer to the first query", "answer to the second query")
    ax.set_xticks(np.linspace(0, 1.2, 7))
    ax.set(xlim=(-0.05, 2.05), ylim=(-0.08, 1.1))
    ax.legend(frameon=False, labelcolor=STYLE["ink"], loc="center right")
    return figure


def rounds_picture() -> Any:
    """Sixty people in four rounds."""
    rng = np.random.default_rng(3)
    figure = new_figure(9, 2.8)
    ax = figure.subplots()
    _bare(ax)
    seats = rng.integers(0, 4, 60)
    for turn in range(4):
        sitting = int((seats == turn).sum())
        place = np.arange(sitting)
        asked = turn < 2
        colour = STYLE["estimate"] if asked else STYLE["line"]
        ax.plot(turn * 9 + place % 6, -(place // 6) * 0.9, "o", color=colour, markersize=11)
        title = f"round {turn + 1}" + (": asked" if asked else ": still to come")
        ax.text(turn * 9 - 0.4, 1.1, title, fontsize=11.5, color=STYLE["ink"])
        if turn < 3:
            ax.annotate(
                "", (turn * 9 + 8, 1.2), (turn * 9 + 6.9, 1.2), arrowprops={"arrowstyle": "->", "color": STYLE["raw"]}
            )
    ax.set(xlim=(-1, 34), ylim=(-3.2, 1.8))
    return figure


def planning_picture() -> Any:
    """The margin of one share against people for four epsilons, and a target."""
    figure = new_figure(9, 4.4)
    ax = figure.subplots()
    people = np.unique(np.geomspace(1e3, 1e8, 30).astype(int))
    words = frequencies("zipf", 1000)
    for epsilon, style in zip((0.5, 1.0, 2.0, 4.0), CURVES, strict=False):
        margins = [
            100 * plan(sv.shares(1000), epsilon=epsilon, people=int(n), criterion="margin", population=words).margin
            for n in people
        ]
        ax.loglog(people, margins, label=f"epsilon {epsilon:g}", linewidth=1.8, **style)
    ax.axhline(0.2, color=STYLE["ink"], linewidth=1.2, linestyle=":")
    ax.text(1.2e3, 0.22, "the target, 0.2 points", fontsize=10, color=STYLE["ink"])
    ax.axvline(1e6, color=STYLE["ink"], linewidth=1.2, linestyle=":")
    ax.text(1.1e6, 8, "a million people", fontsize=10, color=STYLE["ink"])
    finish_axes(ax, "people", "margin of one share (95 %), points")
    ax.legend(frameon=False, labelcolor=STYLE["ink"], loc="lower left")
    return figure
