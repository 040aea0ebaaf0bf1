"""The output of `sottovoce plan`: a table of designs, the result for the best one, and the cost of counting."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import add_integer, refuse_options
from sottovoce.cli.output import console, titled_table
from sottovoce.core.words import delta_suffix, figure, guarantee, plural
from sottovoce.strategies.words.levels import length_unit

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.cli.parser import Parser
    from sottovoce.engines.cost import Cost
    from sottovoce.planning.comparison import ComparisonPlan
    from sottovoce.planning.plan import Plan
    from sottovoce.planning.tracking import TrackingPlan
    from sottovoce.questions.base import Question
    from sottovoce.strategies.options import Option

__all__ = ["add_cost", "costs_of", "show_comparison_plan", "show_costs", "show_plan", "show_tracking_plan"]


def show_comparison_plan(planned: ComparisonPlan, publish: str) -> None:
    """The designs of the first group, the result in words, and the command that publishes one group's survey."""
    group = planned.group
    people = plural(group.people, "person", "people")
    _show_designs(group, f"one group with {people} at {guarantee(group.epsilon, group.setting.delta)}")
    out = console()
    out.print(f"\n{planned.result}", markup=False)
    out.print(group.design_text, markup=False)
    out.print(f"\nto publish one survey for each group:  {publish}", markup=False, soft_wrap=True)


def show_tracking_plan(planned: TrackingPlan, publish: str) -> None:
    """The designs of one period, the result in words, and the command that publishes it."""
    out = console()
    period = planned.period
    people = plural(period.people, "person", "people")
    promise = guarantee(period.epsilon, period.setting.delta) if period.central is None else period.central.asked
    _show_designs(period, f"one period with {people} at {promise}")
    out.print(f"\n{planned}", markup=False)
    out.print(planned.period.design_text, markup=False)
    _show_recall(planned.period)
    _show_notes(planned.period)
    out.print(f"\nto publish it:  {publish}", markup=False, soft_wrap=True)


def _show_designs(planned: Plan, problem: str) -> None:
    out = console()
    out.print(_table(planned, problem))
    for option in planned.options:
        if option.reason:
            out.print(f"{option.name}: {option.reason}", markup=False, style="dim")


def show_plan(planned: Plan, publish: str) -> None:
    """All designs, best first; the result; why this design; and the command that publishes it."""
    out = console()
    _show_designs(planned, _problem(planned))
    accuracy = planned.accuracy
    if planned.central is not None:
        accuracy = f"{planned.promise}: {accuracy}"
    answer = {
        "error": f"[bold]{accuracy}[/]",
        "people": f"[bold]{plural(planned.people, 'person', 'people')}[/]: {accuracy}",
        "epsilon": f"[bold]epsilon {planned.epsilon:.4g}{delta_suffix(planned.delta)}[/]: {accuracy}",
    }[planned.solved_for]
    out.print(f"\n{answer}.")
    out.print(planned.design_text, markup=False)
    _show_recall(planned)
    _show_notes(planned)
    out.print(f"\nto publish it:  {publish}", markup=False, soft_wrap=True)


def _show_notes(planned: Plan) -> None:
    """What a central guarantee rests on, and which limit binds the local epsilon."""
    if planned.central is not None:
        central = planned.central
        for note in filter(None, (central.certificate.assumption, central.limit_note, central.device_note)):
            console().print(note, markup=False, style="dim")


def _show_recall(planned: Plan) -> None:
    """Show the share of words that is found, length by length."""
    recall = planned.recall
    if recall is None or recall.lengths == (None,):
        return
    by_length = [
        f"up to {length}: {figure(100 * share)} %"
        if (share := recall.share(length=length)) < 1
        else f"up to {length}: none"
        for length in recall.lengths
    ]
    console().print(
        f"Shares found with probability {recall.goal.probability:g}, by {length_unit(recall.code)} of the word: "
        f"{', '.join(by_length)}.",
        markup=False,
    )


def _unit(question: Question) -> str:
    return f" {question.unit}" if question.unit else ""


def _points(text: str) -> str:
    return f"{text} point" if text == "1" else f"{text} points"


def _problem(planned: Plan) -> str:
    """What the plan was asked to solve for."""
    people = plural(planned.people, "person", "people")
    promise = guarantee(planned.epsilon, planned.setting.delta) if planned.central is None else planned.central.asked
    if planned.target is None:
        return f"{people} at {promise}: what error?"
    if planned.goal is not None and planned.goal.target is not None:
        reached = planned.goal.words
        if planned.solved_for == "people":
            return f"{promise}, {reached}: how many people?"
        return f"{people}, {reached}: what epsilon?"
    margin, question = planned.criterion == "margin", planned.question
    target = f"{planned.target:g}{_unit(question) if margin else ''}"
    if margin and question.answers_are_shares:
        target = _points(f"{100 * planned.target:g}")
    reached = f"{planned.criterion} at most {target}"
    if planned.solved_for == "people":
        return f"{promise}, {reached}: how many people?"
    return f"{people}{delta_suffix(planned.setting.delta)}, {reached}: what epsilon?"


def _table(planned: Plan, problem: str) -> Table:
    question = planned.question
    domain = question.domain
    over = "" if domain is None or domain.size == question.n_answers else f" over {plural(domain.size, 'value')}"
    people = "the worst population" if planned.population is None else "the given population"
    table = titled_table(
        f"{question.kind}: {plural(question.n_answers, 'answer')}{over}; {problem}",
        f"errors are for {people}; margin: half the width of the widest interval that will be printed, at 95 %; L2: a "
        "bound; variance: exact, an upper bound, or within a stated truncation error; × error: "
        f"{planned.criterion}, relative to the best",
    )
    points = question.answers_are_shares
    least = planned.best.error(planned.criterion)
    fetches = any(option.fetched_bytes for option in planned.options)
    table.add_column("", no_wrap=True)
    table.add_column("strategy", style="bold", no_wrap=True)
    table.add_column("mechanism", no_wrap=True)
    unit = ", points" if points else f", {question.unit}" if question.unit else ""
    local = planned.central is not None
    for heading in (*["local ε"] * local, f"margin{unit}", "L2 over all", "variance", "report"):
        table.add_column(heading, justify="right", no_wrap=True)
    if fetches:
        table.add_column("fetch", justify="right", no_wrap=True)
    table.add_column("× error", justify="right", no_wrap=True)
    for option in planned.stated_options:
        if option.design is None:
            continue
        fetched = [f"{option.fetched_bytes:,} B" if option.fetched_bytes else ""] if fetches else []
        table.add_row(
            "[green]➜[/]" if option is planned.best else "",
            option.strategy,
            f"{option.mechanism}{delta_suffix(option.design.delta)}",
            *[f"{option.epsilon:g}"] * local,
            *_cells(option, points=points),
            *fetched,
            "" if option is planned.best else f"{option.error(planned.criterion) / least:.2f}",
            style=None if option.fits else "dim",
        )
    return table


def _cells(option: Option, *, points: bool) -> tuple[str, ...]:
    """Errors, status of the variance, and report size."""
    margin = option.stated_margin * (100 if points else 1)
    return f"± {figure(margin)}", figure(option.l2), option.status, f"{option.report_bytes:,} B"


_WORKERS: Final = 8
_WORKER_CORES: Final = 4


def add_cost(parser: Parser) -> None:
    """`--cost`, and the machines that it is about."""
    group = parser.add_argument_group("cost of counting the reports")
    group.add_argument(
        "--cost", action="store_true", help="predict time, memory and storage from what 'sottovoce calibrate' measured"
    )
    group.add_argument("--rates", type=Path, metavar="FILE", help="rates written by 'sottovoce calibrate --out'")
    add_integer(group, "--workers", "K", "number of Spark workers", _WORKERS)
    add_integer(group, "--worker-cores", "C", "cores per Spark worker", _WORKER_CORES)


def costs_of(planned: Plan, arguments: argparse.Namespace) -> list[Cost]:
    """Predictions for the best design of a plan: here, and on Spark if that was measured."""
    from sottovoce.engines.cost import Rates, cost_here, cost_on_spark, rates_file

    rates = Rates.load(arguments.rates or rates_file())
    mechanism, people = planned.design.mechanism, planned.people
    costs = [cost_here(mechanism, people, rates)]
    if rates.spark_rows is None:
        reason = "is about Spark, which these rates lack: run 'sottovoce calibrate --spark' first"
        refuse_options(arguments, reason, "workers", "worker_cores")
    else:
        costs.append(cost_on_spark(mechanism, people, rates, arguments.workers, arguments.worker_cores))
    return costs


def show_costs(costs: list[Cost]) -> None:
    """Print them as a table."""
    table = titled_table(
        f"counting {plural(costs[0].reports, 'report')}",
        "from rates measured on this machine; assumes disks and networks as fast as here",
    )
    table.add_column("where")
    for heading in ("stored", "counting", "estimate", "memory", "shuffled"):
        table.add_column(heading, justify="right", no_wrap=True)
    for cost in costs:
        table.add_row(
            cost.where,
            size(cost.storage_bytes),
            duration(cost.count_seconds),
            duration(cost.estimate_seconds),
            size(cost.memory_bytes),
            size(cost.shuffle_bytes) if cost.shuffle_bytes else "",
        )
    out = console()
    out.print(table)
    if len(costs) == 1:
        out.print("Spark was not measured; run: sottovoce calibrate --spark")


def size(n: float) -> str:
    """Bytes with a unit.

    Examples
    --------
    >>> size(512), size(21e9), size(3e15)
    ('512 B', '21 GB', '3,000 TB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} TB" if n < 999.5 else f"{n:,.0f} TB"


def duration(seconds: float) -> str:
    """Time with a unit.

    Examples
    --------
    >>> duration(1e-5), duration(0.0123), duration(75), duration(7300), duration(400_000)
    ('below 1 ms', '12 ms', '75 s', '2.0 h', '4.6 days')
    """
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms" if seconds >= 0.001 else "below 1 ms"
    if seconds < 120:
        return f"{seconds:.2g} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86400:.1f} days"
