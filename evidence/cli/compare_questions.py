"""`python -m evidence compare number choices records`: designs for these questions beside published ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sottovoce.cli.output import console, print_json, titled_table, working

if TYPE_CHECKING:
    from rich.table import Table

    from evidence.compare.designs import ComparedDesign

__all__ = ["COMPARED_QUESTIONS", "DEFAULT_MOST", "DEFAULT_OPTIONS", "run_questions"]

COMPARED_QUESTIONS = ("number", "choices", "records")
DEFAULT_OPTIONS = 1000
DEFAULT_MOST = 5


def run_questions(arguments: argparse.Namespace) -> int:
    """Compare what is named, one table for each question and epsilon."""
    from sottovoce.core.limits import check_epsilon
    from sottovoce.lab.simulation.repeats import check_repeats, seeds_of

    given: dict[str, Any] = {"seed": arguments.seed}
    seeds_of(arguments.seed, 1)
    if arguments.epsilon is not None:
        given["epsilons"] = list(dict.fromkeys(check_epsilon(epsilon) for epsilon in arguments.epsilon))
    if arguments.repeats is not None:
        given["repeats"] = check_repeats(arguments.repeats, fewest=2)
    rows: list[ComparedDesign] = []
    for question in dict.fromkeys(arguments.questions):
        with working(f"comparing designs for {question}") as tell:
            done = 0

            def advance(more: int, question: str = question, tell: Any = tell) -> None:
                nonlocal done
                done += more
                tell(f"comparing designs for {question}: {done} done")

            rows += _compared(question, arguments, given, advance)
    if arguments.json:
        print_json({"seed": arguments.seed, "compared": [row.to_dict() for row in rows]})
    else:
        _show(rows)
    return 0


def _compared(question: str, arguments: argparse.Namespace, given: dict[str, Any], advance: Any) -> Sequence[Any]:
    if question == "number":
        from evidence.compare.number import compare_number

        return compare_number(**given, advance=advance)
    if question == "choices":
        from evidence.compare.choices import compare_choices

        if arguments.options is not None or arguments.most is not None:
            options = DEFAULT_OPTIONS if arguments.options is None else arguments.options
            most = min(DEFAULT_MOST, options) if arguments.most is None else arguments.most
            given = {**given, "settings": [(options, most)]}
        return compare_choices(**given, advance=advance)
    from evidence.compare.form_peers import installed_form_peers
    from evidence.compare.records import compare_large_form, compare_records
    from evidence.experiments.census import census_records

    peers = () if arguments.no_peers else installed_form_peers()
    compared = compare_records(census_records(), **given, peers=peers, advance=advance)
    return [*compared, compare_large_form(seed=arguments.seed)]


def _show(rows: Sequence[ComparedDesign]) -> None:
    screen = console()
    groups = dict.fromkeys((row.question, row.section, row.epsilon) for row in rows)
    for question, section, epsilon in groups:
        shown = [row for row in rows if (row.question, row.section, row.epsilon) == (question, section, epsilon)]
        screen.print(_table(f"{question}: {section}, epsilon {epsilon:g}", shown))


def _table(title: str, rows: Sequence[ComparedDesign]) -> Table:
    """The least error first; the chosen design in bold. Columns that are empty for all are left out."""
    from rich.markup import escape

    columns = {
        "by formula": [_figure(row.expected, None) for row in rows],
        "measured": [_figure(row.measured, row.measured_standard_error) for row in rows],
        "projected": [_figure(row.projected, row.projected_standard_error) for row in rows],
        "ratio": ["" if row.ratio is None else f"{row.ratio:.3g}" for row in rows],
        "report": ["" if row.report_bytes is None else f"{row.report_bytes:,} B" for row in rows],
        "time": ["" if row.seconds is None else f"{row.seconds:.2g} s" for row in rows],
    }
    notes: dict[str, list[str]] = {}
    for row in rows:
        notes.setdefault(row.note, []).append(row.name)
    told = [f"{', '.join(names)}: {note}" for note, names in notes.items() if note]
    table = titled_table(title, escape("; ".join([rows[0].error_name, *told])))
    table.add_column("design", no_wrap=True)
    kept = {name: cells for name, cells in columns.items() if any(cells)}
    for name in kept:
        table.add_column(name, justify="right", no_wrap=True)
    order = sorted(range(len(rows)), key=lambda at: (rows[at].ratio is None, rows[at].ratio or 0.0))
    for at in order:
        row = rows[at]
        name = row.name if row.package == "sottovoce" else f"{row.package}: {row.name}"
        table.add_row(
            escape(name), *(escape(cells[at]) for cells in kept.values()), style="bold" if row.chosen else None
        )
    return table


def _figure(mean: float | None, error: float | None) -> str:
    if mean is None:
        return ""
    return f"{mean:.4g}" if error is None else f"{mean:.4g} ± {error:.2g}"
