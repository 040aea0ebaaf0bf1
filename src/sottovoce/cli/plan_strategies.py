"""The table of strategies that `sottovoce plan queries` prints above the direct strategy's mechanisms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sottovoce.cli.output import console, plain, titled_table

if TYPE_CHECKING:
    from sottovoce.theory.offline_planner import OfflinePlan
    from sottovoce.theory.strategy_planner import PlannedStrategy

__all__ = ["show_strategies"]


def show_strategies(found: OfflinePlan, asked: str, question: str) -> None:
    """Every strategy, the best first, and what it comes to in words."""
    from rich.markup import escape

    headings = {"error": "error", "users": "people", "epsilon": "epsilon"}
    table = titled_table(
        f"{asked}; {question}",
        "error: L2, expected, for the worst value; variance: of one report, summed over the queries, for the worst "
        "value; fetch: what a device needs besides the survey's JSON",
    )
    table.add_column("", no_wrap=True)
    table.add_column("strategy", style="bold", no_wrap=True)
    table.add_column("mechanism", no_wrap=True)
    for heading in (headings[found.solved_for], "variance", "report", "fetch"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("why not")
    best = found.strategies[0]
    for one in found.strategies:
        table.add_row(
            "[green]➜[/]" if one is best and one.fits else "",
            one.name,
            one.mechanism,
            _answer(one, found.solved_for) if one.fits else "",
            "" if one.worst is None else plain(one.worst),
            "" if one.report_bytes is None else f"{one.report_bytes:,} B",
            "" if one.fetched_bytes is None else f"{one.fetched_bytes:,} B",
            escape(one.reason) or ("" if one is best else _beside(one, best, found.solved_for)),
            style=None if one.fits else "dim",
        )
    out = console()
    out.print(table)
    out.print()
    words = {"error": "expected L2 error", "users": "people", "epsilon": "epsilon"}[found.solved_for]
    if best.fits and best.strategy is not None:
        told = f"{words} {_answer(best, found.solved_for)} with strategy={best.name!r}"
        out.print(f"[bold]{escape(told)}[/]: {escape(best.strategy.summary)}")
        out.print()


def _answer(one: PlannedStrategy, solved_for: str) -> str:
    if solved_for == "users":
        return f"{one.users:,.0f}"
    return plain(one.error) if solved_for == "error" else f"{one.epsilon:.4g}"


def _beside(one: PlannedStrategy, best: PlannedStrategy, solved_for: str) -> str:
    """How much more it takes."""
    if solved_for == "epsilon":
        return f"{one.epsilon / best.epsilon:.2f} times the epsilon"
    if solved_for == "users":
        return f"{one.users / best.users:.2f} times as many people"
    return f"{one.error / best.error:.2f} times the error" if math.isfinite(one.error) else ""
