"""What `sottovoce plan` tells people: one table of designs, and what the best of them comes to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sottovoce.cli.output import console, plain, titled_table
from sottovoce.plural import counted
from sottovoce.promise import and_delta, promised

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.planning.plan import Plan
    from sottovoce.questions.base import Question
    from sottovoce.strategies.options import Option

__all__ = ["show_plan"]


def show_plan(found: Plan, publish: str) -> None:
    """Every design, the best first; what was asked for; why this design; and the command that publishes it."""
    out = console()
    out.print(_table(found))
    for option in found.options:
        if option.reason:
            out.print(f"{option.name}: {option.reason}", markup=False, style="dim")
    known = _known(found.question, found.margin, found.l2)
    answer = {
        "error": f"[bold]{known}[/]",
        "users": f"[bold]{counted(found.users, 'person', 'people')}[/]: {known}",
        "epsilon": f"[bold]epsilon {found.epsilon:.4g}{and_delta(found.delta)}[/]: {known}",
    }[found.solved_for]
    out.print(f"\n{answer}.")
    out.print(found.reason, markup=False)
    out.print(f"\nto publish it:  {publish}", markup=False, soft_wrap=True)


def _known(question: Question, margin: float, l2: float) -> str:
    """How well the answers are known, the single one first."""
    if _in_points(question):
        one = f"each share is known to about ±{_points(_about(100 * margin))} (95 %)"
    else:
        one = f"each answer is known to about ±{_about(margin)} (95 %)"
    return one if question.n_answers == 1 else f"{one}; all {question.n_answers:,} together: L2 {_about(l2)}"


def _in_points(question: Question) -> bool:
    """Whether answers are shares of people, whose margins are told in per cent points."""
    from sottovoce.questions.shares import Shares

    return isinstance(question, Shares)


def _points(figure: str) -> str:
    return f"{figure} point" if figure == "1" else f"{figure} points"


def _about(figure: float) -> str:
    """Two significant digits, without a power of ten where it can be helped."""
    return f"{float(f'{figure:.2g}'):,.10g}"


def _asked(found: Plan) -> str:
    """The question that the plan answers."""
    people = counted(found.users, "person", "people")
    if found.target is None:
        return f"{people} at {promised(found.epsilon, found.setting.delta)}: what error?"
    points = found.criterion == "margin" and _in_points(found.question)
    reached = f"{found.criterion} at most " + (_points(f"{100 * found.target:g}") if points else f"{found.target:g}")
    if found.solved_for == "users":
        return f"{promised(found.epsilon, found.setting.delta)}, {reached}: how many people?"
    return f"{people}{and_delta(found.setting.delta)}, {reached}: what epsilon?"


def _table(found: Plan) -> Table:
    question = found.question
    domain = question.domain
    over = "" if domain is None or domain.size == question.n_answers else f" over {domain.size:,} values"
    people = "the worst population" if found.population is None else "the given population"
    table = titled_table(
        f"{question.kind}: {counted(question.n_answers, 'answer')}{over}; {_asked(found)}",
        f"errors are for {people}; margin: of one answer, at 95 %; variance: exact, an upper bound, or within a stated "
        f"truncation error; × error: {found.criterion}, relative to the best",
    )
    points = _in_points(question)
    least = found.best.error(found.criterion)
    fetches = any(option.fetched_bytes for option in found.options)
    table.add_column("", no_wrap=True)
    table.add_column("strategy", style="bold", no_wrap=True)
    table.add_column("mechanism", no_wrap=True)
    for heading in ("margin, points" if points else "margin", "L2 over all", "variance", "report"):
        table.add_column(heading, justify="right", no_wrap=True)
    if fetches:
        table.add_column("fetch", justify="right", no_wrap=True)
    table.add_column("× error", justify="right", no_wrap=True)
    for option in found.options:
        if option.design is None:
            continue
        fetched = [f"{option.fetched_bytes:,} B" if option.fetched_bytes else ""] if fetches else []
        table.add_row(
            "[green]➜[/]" if option is found.best else "",
            option.strategy,
            f"{option.mechanism}{and_delta(option.design.delta)}",
            *_cells(option, points=points),
            *fetched,
            "" if option is found.best else f"{option.error(found.criterion) / least:.2f}",
            style=None if option.fits else "dim",
        )
    return table


def _cells(option: Option, *, points: bool) -> tuple[str, ...]:
    """Its errors, how exact they are, and the size of its report."""
    margin = 100 * option.margin if points else option.margin
    return f"± {plain(margin)}", plain(option.l2), option.status, f"{option.report_bytes:,} B"
