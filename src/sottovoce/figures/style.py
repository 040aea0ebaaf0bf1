"""The common style of pictures. Needs matplotlib; changes none of its global state and opens no window."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from sottovoce.core.errors import MissingExtraError, SurveyError
from sottovoce.core.files import write_file

__all__ = [
    "CURVES",
    "SMALL",
    "STYLE",
    "TEXT",
    "TITLE",
    "check_axes",
    "colours_on",
    "draw_bars",
    "finish_axes",
    "finish_bars",
    "legend_above",
    "legend_below",
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

_UNDER_LABELS: Final = 32.0
"""Points from the axes down to a legend: two lines of small labels."""

_DARK: Final = 0.5
"""Brightness up to which a background is dark."""

_ON_DARK: Final = {"ink": "#f0f2f4", "muted": "#a9b1b9", "line": "#4a5058"}
"""Colours of text and lines on a dark background, which only axes of the caller have."""

_LONGEST_LABEL, _END_OF_LABEL = 48, 16
"""Characters of a bar's label, since longer ones would leave no room for the bars; and of its end, which is kept."""

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


def check_axes(ax: object) -> None:
    """Refuse what cannot be drawn on."""
    if ax is not None and not hasattr(ax, "transAxes"):
        raise SurveyError("ax must be a matplotlib axes, such as Figure().subplots(), or left out").at("ax")


def save_figure(figure: Any, path: Path, dpi: int = 110) -> None:
    """Write a matplotlib figure, whole or not at all; the format follows the ending of the name."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=dpi, facecolor="white")
    write_file(path, drawn.getvalue())


def colours_on(ax: Any) -> dict[str, str]:
    """The colours of text and lines that can be read on the figure's background."""
    red, green, blue, opacity = ax.figure.get_facecolor()
    brightness = opacity * (0.299 * red + 0.587 * green + 0.114 * blue) + (1 - opacity)
    return STYLE if brightness > _DARK else STYLE | _ON_DARK


def finish_axes(ax: Any, across: str, up: str) -> None:
    """Labels of the axes, a light grid, and no box."""
    style = colours_on(ax)
    ax.set_facecolor("none")
    ax.set_xlabel(across, fontsize=TEXT, color=style["ink"])
    ax.set_ylabel(up, fontsize=TEXT, color=style["ink"])
    ax.tick_params(which="both", labelsize=SMALL, labelcolor=style["muted"], color=style["line"])
    ax.grid(color=style["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("bottom", "left"))
        spine.set_color(style["line"])


def legend_above(ax: Any) -> None:
    """The legend over the axes, at the right: it never covers what is drawn."""
    position = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderaxespad": 0.2}
    ax.legend(ncols=len(ax.get_legend_handles_labels()[1]), **position, **_legend(ax))


def legend_below(ax: Any) -> None:
    """The legend under the labels of the axes, at the left: it never covers what is drawn."""
    from matplotlib.transforms import ScaledTranslation

    lower = ax.transAxes + ScaledTranslation(0, -_UNDER_LABELS / 72, ax.figure.dpi_scale_trans)
    position = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0), "bbox_transform": lower, "borderaxespad": 0.0}
    ax.legend(ncols=max(1, len(ax.get_legend_handles_labels()[1])), **position, **_legend(ax))


def _legend(ax: Any) -> dict[str, Any]:
    return {"frameon": False, "fontsize": SMALL, "labelcolor": colours_on(ax)["ink"]}


def new_figure(width: float, height: float) -> Any:
    """A new figure without pyplot: needs no window system and changes no global state."""
    from matplotlib.figure import Figure

    # White whatever style is set: the colours are made for it.
    figure: Any = Figure(figsize=(width, height), layout="constrained", facecolor="white")
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
    """Horizontal bars from the top down, with whiskers from `low` to `high`."""
    at = range(len(labels))
    middle = (np.asarray(low) + np.asarray(high)) / 2
    half = (np.asarray(high) - np.asarray(low)) / 2
    ax.barh(at, values, height=0.62, color=STYLE["bar"], label=legend)
    line = {"fmt": "none", "ecolor": STYLE["estimate"], "elinewidth": 1.4, "capsize": 3}
    ax.errorbar(middle, at, xerr=half, label=whiskers or "_nolegend_", **line)
    ax.set_yticks(
        at, [_shortened(label) for label in labels], fontsize=TEXT, color=colours_on(ax)["ink"], parse_math=False
    )
    ax.set_ylim(len(labels) - 0.4, -0.6)


def _shortened(label: str) -> str:
    """Without its middle if it is long: labels often differ in their ends."""
    if len(label) <= _LONGEST_LABEL:
        return label
    return f"{label[: _LONGEST_LABEL - _END_OF_LABEL - 1]}…{label[-_END_OF_LABEL:]}"


def finish_bars(ax: Any, caption: str, *, percent: bool = True) -> None:
    """Per cent or numbers on the axis, a caption, and no box."""
    style = colours_on(ax)
    ax.set_facecolor("none")
    ax.xaxis.set_major_formatter("{x:g} %" if percent else "{x:,g}")
    ax.set_xlabel(caption, fontsize=SMALL, color=style["muted"])
    ax.tick_params(axis="x", labelsize=SMALL, labelcolor=style["muted"], color=style["line"])
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=style["line"], linewidth=0.6)
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.spines["bottom"].set_color(style["line"])
