"""The common style of pictures. Needs matplotlib; changes none of its global state and opens no window."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from sottovoce.core.errors import MissingExtraError
from sottovoce.core.files import write_file

__all__ = [
    "CURVES",
    "SMALL",
    "STYLE",
    "TEXT",
    "TITLE",
    "draw_bars",
    "finish_axes",
    "finish_bars",
    "new_figure",
    "require_matplotlib",
    "save_figure",
]

STYLE: Final[dict[str, str]] = {
    "ink": "#1f2328",
    "muted": "#6a7178",
    "line": "#d5d9de",
    "estimate": "#0072b2",
    "bar": "#86bbdb",
    "raw": "#d55e00",
    "truth": "#1f2328",
}
"""Colours that can be distinguished with every kind of colour vision (after Okabe and Ito)."""

TEXT, SMALL, TITLE = 11, 9.5, 15
"""Font sizes in points."""

CURVES: Final[tuple[dict[str, str], ...]] = tuple(
    {"color": colour, "linestyle": style}
    for style in ("-", "--")
    for colour in ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#1f2328")
)
"""Distinct line styles."""


def require_matplotlib() -> None:
    """Raise `MissingExtraError`, which says what to install, where matplotlib is missing."""
    if find_spec("matplotlib") is None:
        raise MissingExtraError("pictures need matplotlib: pip install 'sottovoce[plot]'")


def save_figure(figure: Any, path: Path, dpi: int = 110) -> None:
    """Write a matplotlib figure, whole or not at all; the format follows the ending of the name."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=dpi, facecolor="white")
    write_file(path, drawn.getvalue())


def finish_axes(ax: Any, across: str, up: str) -> None:
    """Labels of the axes, a light grid, and no box."""
    ax.set_xlabel(across, fontsize=TEXT, color=STYLE["ink"])
    ax.set_ylabel(up, fontsize=TEXT, color=STYLE["ink"])
    ax.tick_params(which="both", labelsize=SMALL, labelcolor=STYLE["muted"], color=STYLE["line"])
    ax.grid(color=STYLE["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(STYLE["line"])


def new_figure(width: float, height: float) -> Any:
    """A new figure without pyplot: needs no window system and changes no global state."""
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.15, h_pad=0.12)
    return figure


def draw_bars(
    ax: Any,
    labels: Sequence[str],
    values: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    legend: str = "projected",
    whiskers: str = "",
) -> None:
    """Horizontal bars from the top down, in per cent, with whiskers from `low` to `high`."""
    at = range(len(labels))
    middle = (np.asarray(low) + np.asarray(high)) / 2
    half = (np.asarray(high) - np.asarray(low)) / 2
    ax.barh(at, 100 * np.asarray(values), height=0.62, color=STYLE["bar"], label=legend)
    line = {"fmt": "none", "ecolor": STYLE["estimate"], "elinewidth": 1.4, "capsize": 3}
    ax.errorbar(100 * middle, at, xerr=100 * half, label=whiskers or "_nolegend_", **line)
    ax.set_yticks(at, labels, fontsize=TEXT, color=STYLE["ink"], parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.6)


def finish_bars(ax: Any, caption: str) -> None:
    """Per cent on the axis, a caption, and no box."""
    ax.xaxis.set_major_formatter("{x:g} %")
    ax.set_xlabel(caption, fontsize=SMALL, color=STYLE["muted"])
    ax.tick_params(axis="x", labelsize=SMALL, labelcolor=STYLE["muted"], color=STYLE["line"])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=STYLE["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(STYLE["line"])
