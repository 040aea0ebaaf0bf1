"""Draws the pictures of docs/concepts.md and docs/choosing.md: `python tools/make_concept_pictures.py`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import concept_drawings
import sottovoce as sv
from sottovoce.figures.style import CURVES, STYLE, finish_axes, new_figure
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.mechanisms import create
from sottovoce.surveys.simulation import histogram_of
from sottovoce.surveys.survey import Survey

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "concepts"


def channel_picture() -> Any:
    """What each person may send: rows are truths, columns are reports."""
    channel = create("randomized_response", 3, 1.0)
    chances = np.array([[float(channel.probability(report, value)) for report in range(3)] for value in range(3)])
    drinks = ["tea", "coffee", "water"]
    figure = new_figure(6, 4.2)
    ax = figure.subplots()
    ax.imshow(chances, cmap="Blues", vmin=0, vmax=0.8)
    for (row, column), chance in np.ndenumerate(chances):
        ax.text(column, row, f"{chance:.3f}", ha="center", va="center", fontsize=14, color=STYLE["ink"])
    finish_axes(ax, "the report says", "the truth is")
    ax.grid(visible=False)
    ax.set_xticks(range(3), drinks)
    ax.set_yticks(range(3), drinks)
    ax.set_title("Down each column: at most 2.718 times apart", loc="left", fontsize=13, color=STYLE["ink"], pad=10)
    return figure


def suspicion_picture() -> Any:
    """The strongest suspicion that a report can leave, against the one before it."""
    figure = new_figure(6, 4.2)
    ax = figure.subplots()
    before = np.linspace(0.001, 0.999, 400)
    odds = before / (1 - before)
    ax.plot(before, before, color=STYLE["line"], linewidth=1.2)
    for epsilon, style in zip((0.5, 1.0, 2.0, 4.0), CURVES, strict=False):
        after = odds * math.exp(epsilon)
        ax.plot(before, after / (1 + after), label=f"epsilon {epsilon:g}", linewidth=1.8, **style)
    finish_axes(ax, "suspicion before the report", "strongest suspicion after it")
    ax.set(xlim=(0, 1), ylim=(0, 1))
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.legend(frameon=False, labelcolor=STYLE["ink"])
    return figure


def projection_picture() -> Any:
    """Forty shares from ten thousand reports: raw, projected, and true."""
    values, people = 40, 10_000
    survey = Survey(sv.shares(values), epsilon=1.0, mechanism="hadamard")
    truth = frequencies("zipf", values)
    histogram = histogram_of(truth, people, 1)
    estimate = survey.estimate(survey.simulate_aggregate(histogram=histogram, seed=1))
    figure = new_figure(9, 4.2)
    ax = figure.subplots()
    place = np.arange(values)
    ax.bar(place, estimate.values, color=STYLE["bar"], label="projected: a distribution again")
    ax.plot(place, estimate.raw, "o", color=STYLE["raw"], markersize=4, label="raw: right on average, some below 0")
    ax.plot(place, truth, color=STYLE["truth"], linewidth=1.4, label="truth, which the collector never sees")
    finish_axes(ax, "value", "share of the people")
    ax.yaxis.set_major_formatter("{x:.0%}")
    raw, projected = (float(np.linalg.norm(found - truth)) for found in (estimate.raw, estimate.values))
    title = f"{people:,} reports, epsilon 1: L2 error {raw:.3f} raw, {projected:.3f} projected"
    ax.set_title(title, loc="left", fontsize=13, color=STYLE["ink"], pad=10)
    ax.legend(frameon=False, labelcolor=STYLE["ink"])
    return figure


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, draw in (
        ("channel", channel_picture),
        ("suspicion", suspicion_picture),
        ("projection", projection_picture),
        ("sides", concept_drawings.sides_picture),
        ("adding_up", concept_drawings.adding_up_picture),
        ("hull", concept_drawings.hull_picture),
        ("rounds", concept_drawings.rounds_picture),
        ("planning", concept_drawings.planning_picture),
    ):
        draw().savefig(FOLDER / f"{name}.png", dpi=100, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
