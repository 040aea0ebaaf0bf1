"""Mechanisms side by side: bars of their errors on somebody's data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidence.compare.compare import ON_THE_SIMPLEX, Compared
from sottovoce.figures.style import STYLE, finish_axes, new_figure, require_matplotlib

__all__ = ["comparison_figure"]


def comparison_figure(found: Sequence[Compared]) -> Any:
    """A panel for each epsilon, the least error on top; other packages in another colour."""
    require_matplotlib()
    epsilons = list(dict.fromkeys(one.epsilon for one in found))
    most = max(sum(one.epsilon == epsilon and one.l2 is not None for one in found) for epsilon in epsilons)
    figure = new_figure(9, 0.9 + (0.9 + 0.34 * most) * len(epsilons))
    for ax, epsilon in zip(figure.subplots(len(epsilons), squeeze=False)[:, 0], epsilons, strict=True):
        rows = sorted(
            (one for one in found if one.epsilon == epsilon and one.l2 is not None), key=lambda one: -(one.l2 or 0.0)
        )
        ax.barh(
            [one.name for one in rows],
            [one.l2 for one in rows],
            xerr=[one.l2_standard_error for one in rows],
            color=[STYLE["bar"] if one.package == "sottovoce" else STYLE["line"] for one in rows],
            error_kw={"ecolor": STYLE["ink"], "capsize": 2},
        )
        ax.set_xlim(left=0)
        finish_axes(ax, f"L2 error, projected{_otherwise(rows)}, ± one standard error", "")
        ax.set_title(
            f"{rows[0].people:,} people, {rows[0].values:,} values, epsilon {epsilon:g}",
            loc="left",
            fontsize=13,
            color=STYLE["ink"],
        )
    return figure


def _otherwise(rows: Sequence[Compared]) -> str:
    """Which packages do not project, and what they do."""
    told = dict.fromkeys(f"{one.package}: {one.projection}" for one in rows if one.projection != ON_THE_SIMPLEX)
    return f" ({', '.join(told)})" if told else ""
