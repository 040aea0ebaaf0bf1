"""`sottovoce simulate words`: search for the words of simulated people, and compare with what they have."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from sottovoce.cli.connection import shown
from sottovoce.cli.output import console, plain, print_json, progress, titled_table, working
from sottovoce.cli.simulate_tracking import refuse_tracking_options
from sottovoce.cli.survey_options import given_design
from sottovoce.core.words import guarantee, plural

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.lab.simulation.word_error import MeasuredWords
    from sottovoce.questions.words import Words

__all__ = ["simulate_words"]

_ROWS: Final = 20

_MEASURED: Final = {
    "found": "words found",
    "certain": "certain ones",
    "false": "found, and nobody has it",
    "false_certain": "certain, and nobody has it",
    "top": "of the ten most common words, found",
    "largest_error": "largest error among the most common words",
    "covered": "of these, inside their 95 % interval",
}

_FRACTIONS: Final = ("top", "largest_error", "covered")


def simulate_words(question: Words, arguments: argparse.Namespace) -> int:
    """Simulate, search and compare."""
    from sottovoce.estimates.intervals import check_level
    from sottovoce.lab.populations.words import ZIPF, read_lines
    from sottovoce.lab.simulation.repeats import check_repeats, check_users
    from sottovoce.lab.simulation.word_error import measure_words
    from sottovoce.surveys.survey import Survey

    refuse_tracking_options(arguments, needs_users=arguments.population == ZIPF)
    check_level(arguments.level)
    repeats = check_repeats(arguments.repeats)
    invented = arguments.population == ZIPF
    people = (
        question.invented_people()
        if invented
        else question.people_of_lines(read_lines(arguments.population, "population"))
    )
    users = check_users(people.lines if arguments.users is None else arguments.users)
    with working("comparing designs"):
        survey = Survey.ask(question, arguments.epsilon, users=users, **given_design(arguments))
    with progress("simulating", users * repeats) as advance:
        found = measure_words(
            survey,
            people,
            arguments.population,
            arguments.users,
            repeats=repeats,
            seed=arguments.seed,
            progress=advance,
        )
    if arguments.json:
        print_json(found.to_dict(arguments.level))
        return 0
    out = console()
    out.print(_table(found, arguments.level))
    out.print(_summary(found))
    return 0


def _table(found: MeasuredWords, level: float) -> Table:
    """The list of the last repeat, beside the truth."""
    answers = found.to_dict(level)["answers"]
    more = len(answers) - _ROWS
    table = titled_table(
        f"words: {plural(found.users, 'person', 'people')} ({shown(found.distribution)}), "
        f"{guarantee(found.epsilon, found.delta)}, {found.mechanism}",
        f"{plural(more, 'more word')}; see --json" if more > 0 else "",
    )
    table.add_column("word", min_width=24)
    table.add_column("truth", justify="right")
    table.add_column("estimate", justify="right", style="bold")
    table.add_column(f"{100 * level:g} % interval", justify="right")
    table.add_column("certain")
    for one in answers[:_ROWS]:
        ends = f"{one['low']:.4f} to {one['high']:.4f}"
        row = f"{one['truth']:.4f}", f"{one['value']:.4f}", ends, "yes" if one["certain"] else "no"
        table.add_row(shown(one["label"]), *row)
    return table


def _summary(found: MeasuredWords) -> Table:
    often = "once" if found.repeats == 1 else f"{found.repeats:,} times"
    table = titled_table(
        f"simulated {often}; margin of one word's share {plain(found.margin)} (95 %)",
        f"seed {found.seed}; {plural(found.report_bits, 'bit')} ({plural(found.report_bytes, 'byte')}) per report; "
        f"{found.seconds:.2f} s per simulation",
    )
    table.add_column("")
    table.add_column("measured", justify="right", style="bold")
    for name, words in _MEASURED.items():
        spread = "" if found.standard_error is None else f" ± {getattr(found.standard_error, name):.1g}"
        value = getattr(found.mean, name)
        table.add_row(words, f"{plain(value) if name in _FRACTIONS else f'{value:g}'}{spread}")
    return table
