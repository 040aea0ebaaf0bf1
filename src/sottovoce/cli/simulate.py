"""`sottovoce simulate`: measure errors on simulated people."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli import simulate_fleet, simulate_panel
from sottovoce.cli.arguments import (
    Commands,
    add_epsilon,
    add_integer,
    add_json,
    add_number,
    add_subcommands,
    name_neighbours,
    refuse_options,
)
from sottovoce.cli.connection import shown
from sottovoce.cli.curve import add_curve, curve_answers, curve_page, draw_curve
from sottovoce.cli.output import console, plain, print_json, progress, titled_table, working
from sottovoce.cli.period_options import add_calendar, given_calendar, people_of_a_period
from sottovoce.cli.survey_options import (
    add_design,
    add_parameters,
    asked_question,
    example_words,
    given_design,
    how_to_write,
)
from sottovoce.core.words import guarantee, plural
from sottovoce.questions.registry import REGISTRY
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.survey import Tracking

if TYPE_CHECKING:
    from rich.table import Table

    from sottovoce.cli.parser import Parser
    from sottovoce.lab.populations.histories import RecordedHistories
    from sottovoce.lab.simulation.survey_error import MeasuredError
    from sottovoce.lab.simulation.word_error import MeasuredWords
    from sottovoce.questions.base import Question
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["register"]

_DESCRIPTION: Final = """\
Draw people from a known population, let each send one randomized report, estimate the answers, and compare the errors
of the raw (unbiased) and the projected estimate with theory. Memory does not grow with the number of people.
"""

_OF_WORDS: Final = """\
Draw people from a known population of words, let each send one randomized report, search for the words, and compare
what was found, and its intervals, with the truth.
"""

_POPULATIONS: Final = """\
populations:
  zipf        value v has a share proportional to 1/(v+1)
  uniform     equal shares
  geometric   proportional to 0.95^v
  words, cities, surnames
              real data, the most common first (pip install 'sottovoce[data]')
  FILE        one non-negative number per value, summing to one: text or CSV without a heading, or a .npy array
Vectors have norms uniform from 0 to the radius, and directions scattered around a common one. Numbers, sets and records
come from a population of their own: numbers have a long tail, earlier options and values are more frequent, and the
fields of a record depend on each other. Words are invented ones by Zipf's law, or a FILE with one word per line, or "-"
for standard input; without --people every line is one person.
"""


def register(parser: Parser) -> None:
    """Describe the command and add one kind per question."""
    examples = "".join(f"  {_words(kind)} --people 1e5 --epsilon 1\n" for kind in REGISTRY.everything().values())
    parser.epilog = (
        f"examples:\n{examples}  sottovoce simulate panel --rounds 20 --people 1e6 --epsilon 1\n"
        "  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --people 1e5\n"
    )
    kinds = add_subcommands(parser, "kinds", "KIND")
    for kind in REGISTRY.everything().values():
        _register(kinds, kind)
    simulate_panel.register(kinds)
    simulate_fleet.register(kinds)
    name_neighbours(kinds)


def _words(kind: type[Question]) -> str:
    return f"sottovoce simulate {kind.kind} {example_words(kind.parameters)}".rstrip()


def _register(kinds: Commands, kind: type[Question]) -> None:
    asked, written = _words(kind), how_to_write(kind.parameters)
    epilog = f"""\
{written}{chr(10) if written else ""}{_POPULATIONS}
examples:
  {asked} --people 1e5 --epsilon 1
  {asked} --people 20_000 --epsilon 1 --strategy {kind.strategies[0]} --repeats 20
  {asked} --people 1e5 --epsilon 0.5 --seed 7 --json
  {asked} --histories people.csv --every month --starts 2026-01-01 --epsilon 1
"""
    parser = kinds.add_parser(
        kind.kind, help=kind.summary, description=_OF_WORDS if kind.is_searched else _DESCRIPTION, epilog=epilog
    )
    add_parameters(parser, kind.parameters)
    add_integer(parser, "--people", "N", "number of people; required without --histories")
    add_epsilon(parser)
    parser.add_argument(
        "--population", default="zipf", metavar="P", help="distribution of people's values; see below (default: zipf)"
    )
    add_design(parser, kind)
    add_integer(parser, "--repeats", "R", "number of repetitions", 1)
    add_integer(parser, "--seed", "S", "seed, to repeat a simulation (default: random)")
    _add_histories(parser)
    add_number(parser, "--level", "P", "confidence level of the intervals of a curve", 0.95)
    add_json(parser)
    parser.set_defaults(run=partial(_run, kind))


def _run(kind: type[Question], arguments: argparse.Namespace) -> int:
    from sottovoce.lab.simulation.repeats import check_people, check_repeats
    from sottovoce.lab.simulation.survey_error import measure
    from sottovoce.surveys.survey import Survey

    question = asked_question(kind, arguments)
    if arguments.histories is not None:
        refuse_options(arguments, "is for invented people; --histories are recorded ones", "population", "repeats")
        return _simulate_histories(question, arguments)
    if question.is_searched:
        return _simulate_words(question, arguments)
    _refuse_tracking_options(arguments)
    refuse_options(arguments, "is for intervals of words and of a curve; errors are compared with theory", "level")
    if question.invented_people() is not None:
        reason = f"is for shares and queries; people who answer a {kind.kind} question are invented in one way"
        refuse_options(arguments, reason, "population")
    people, repeats = check_people(arguments.people), check_repeats(arguments.repeats)
    with working("comparing designs"):
        survey = Survey(question, epsilon=arguments.epsilon, people=people, **given_design(arguments))
    with progress("simulating", people * repeats) as advance:
        measured_error = measure(
            survey,
            people,
            arguments.population,
            repeats=repeats,
            seed=arguments.seed,
            symmetric=question.on_hull,
            progress=advance,
        )
    if arguments.json:
        print_json(measured_error.to_dict())
    else:
        _show(survey, measured_error)
    return 0


def _show(survey: Survey, result: MeasuredError) -> None:
    from rich.markup import escape

    spread = result.standard_error
    often = "once" if result.repeats == 1 else f"{result.repeats:,} times"
    over = "" if result.values in (None, result.answers) else f" over {plural(result.values, 'value')}"
    table = titled_table(
        f"{result.question}: {plural(result.answers, 'answer')}{over}; {plural(result.people, 'person', 'people')} "
        f"({escape(result.distribution)}), {guarantee(result.epsilon, result.delta)}, {result.strategy} with "
        f"{result.mechanism}: simulated {often}",
        f"seed {result.seed}; {plural(result.report_bits, 'bit')} ({plural(result.report_bytes, 'byte')}) per report; "
        f"{result.seconds:.2f} s per simulation; projection gap {result.gap:.1e}",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("theory", justify="right")

    def measured(name: str) -> str:
        value = plain(getattr(result.mean, name))
        return value if spread is None else f"{value} ± {getattr(spread, name):.1g}"

    table.add_row("L2, raw", measured("l2_raw"), f"{plain(result.l2_raw_predicted)} root mean square")
    table.add_row("L2, projected", measured("l2_projected"), f"below {plain(result.l2_bound)} on average")
    printed = survey.question.printed_bound(survey.epsilon, survey.delta, result.people)
    if printed is not None:
        table.add_row("", "", f"below {plain(printed.value)}: {printed.statement}")
    if result.mean.l2_symmetric is not None:
        table.add_row("L2, paper's polytope", measured("l2_symmetric"), "")
    table.add_row("largest, raw", measured("linf_raw"), f"each answer: ± {plain(result.margin)} (95 %)")
    table.add_row("largest, projected", measured("linf_projected"), "")
    console().print(table)


def _add_histories(parser: Parser) -> None:
    """A file of histories, the calendar and what to show of the curve."""
    parser.add_argument(
        "--histories",
        type=Path,
        metavar="FILE",
        help="a tracking survey of the people of a CSV or Parquet file: a column per period, or person,period,value; "
        "with --people, that many people drawn from them",
    )
    add_calendar(parser)
    add_curve(parser)
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write the curve, as .png, .svg or .pdf")


def _refuse_tracking_options(arguments: argparse.Namespace, *, needs_people: bool = True) -> None:
    """Refuse options of periods if no histories are given."""
    from sottovoce.cli.parser import UsageError

    periods = (parameter.name for parameter in Calendar.parameters)
    reason = "is about periods, which are simulated from --histories FILE: give it too, or leave this out"
    refuse_options(arguments, reason, "answer", "smooth", "picture", *periods)
    if needs_people and arguments.people is None:
        raise UsageError("the following arguments are required: --people")


def _simulate_histories(question: Question, arguments: argparse.Namespace) -> int:
    """Everybody draws a period and answers then; the curve stands beside the truth."""
    from sottovoce.cli.output import check_picture
    from sottovoce.estimates.intervals import check_level
    from sottovoce.lab.populations.histories import read_histories
    from sottovoce.lab.simulation.repeats import seeds_of

    check_picture(arguments.picture)
    check_level(arguments.level)
    recorded = read_histories(arguments.histories)
    stated = given_calendar(arguments)
    if not {"periods", "renews"} & set(stated):
        stated["periods"] = len(recorded.periods)
    own, drawn = (None, None) if arguments.seed is None else seeds_of(arguments.seed, 2)
    if arguments.people is not None:
        recorded = recorded.resampled(arguments.people, drawn)
    people = people_of_a_period(recorded.people, Calendar.of(**stated))
    with working("comparing designs"):
        tracking = Tracking(question, epsilon=arguments.epsilon, people=people, **stated, **given_design(arguments))
    values = _recorded_values(tracking, recorded)
    histories = [values(number) for number in range(1, len(recorded.periods) + 1)]
    with progress("simulating", recorded.people) as advance:
        curve = tracking.estimate(tracking.simulate(histories, seed=own, progress=advance))
    draw_curve(arguments, curve)
    answers, truth = curve_answers(arguments, curve), _recorded_truth(tracking, recorded)
    if not arguments.json:
        console().print(curve_page(curve, answers, arguments.level, smooth=arguments.smooth, truth=truth))
        return 0
    curves = [curve.to_dict(answer, arguments.level, arguments.smooth) for answer in answers]
    if truth is not None:
        for column in curves:
            for point in column["points"]:
                point["truth"] = truth(column["answer"], point["period"])
    head = {"survey": tracking.id, "kind": "tracking", "people": recorded.people, "seed": arguments.seed}
    print_json({**head, "curves": curves})
    return 0


def _recorded_values(tracking: Tracking, recorded: RecordedHistories) -> Callable[[int], Any]:
    """The values of all people in a period."""
    import numpy as np

    parsed = [tracking.parse(text) for text in recorded.texts]
    plain = all(isinstance(value, (str, int, float)) for value in parsed)
    table = np.array(parsed) if plain else None

    def of(number: int) -> Any:
        column = recorded.held[:, number - 1]
        return table[column] if table is not None else [parsed[at] for at in column.tolist()]

    return of


def _recorded_truth(tracking: Tracking, recorded: RecordedHistories) -> Callable[[str, int], float] | None:
    """The true value of an answer in a period; None where the question does not know it."""
    truth = tracking.question.truth_of([tracking.parse(text) for text in recorded.texts])
    return None if truth is None else lambda answer, number: truth(answer, recorded.shares(number))


_WORD_ROWS: Final = 20

_MEASURED_OF_WORDS: Final = {
    "found": "words found",
    "certain": "certain ones",
    "false": "found, and nobody has it",
    "false_certain": "certain, and nobody has it",
    "top": "of the ten most common words, found",
    "largest_error": "largest error among the most common words",
    "covered": "of these, inside their 95 % interval",
}

_WORD_FRACTIONS: Final = ("top", "largest_error", "covered")


def _simulate_words(question: Question, arguments: argparse.Namespace) -> int:
    """Simulate, search and compare."""
    from sottovoce.estimates.intervals import check_level
    from sottovoce.lab.populations.words import ZIPF, read_lines
    from sottovoce.lab.simulation.repeats import check_people, check_repeats
    from sottovoce.lab.simulation.word_error import measure_words
    from sottovoce.surveys.survey import Survey

    _refuse_tracking_options(arguments, needs_people=arguments.population == ZIPF)
    check_level(arguments.level)
    repeats = check_repeats(arguments.repeats)
    crowd: Any = question.invented_people()
    if arguments.population != ZIPF:
        crowd = question.people_of_lines(read_lines(arguments.population, "population"))
    people = check_people(crowd.lines if arguments.people is None else arguments.people)
    with working("comparing designs"):
        survey = Survey(question, epsilon=arguments.epsilon, people=people, **given_design(arguments))
    with progress("simulating", people * repeats) as advance:
        result = measure_words(
            survey,
            crowd,
            arguments.population,
            arguments.people,
            repeats=repeats,
            seed=arguments.seed,
            progress=advance,
        )
    if arguments.json:
        print_json(result.to_dict(arguments.level))
        return 0
    out = console()
    out.print(_words_found(result, arguments.level))
    out.print(_words_summary(result))
    return 0


def _words_found(result: MeasuredWords, level: float) -> Table:
    """The list of the last repeat, beside the truth."""
    answers = result.to_dict(level)["answers"]
    more = len(answers) - _WORD_ROWS
    table = titled_table(
        f"words: {plural(result.people, 'person', 'people')} ({shown(result.distribution)}), "
        f"{guarantee(result.epsilon, result.delta)}, {result.mechanism}",
        f"{plural(more, 'more word')}; see --json" if more > 0 else "",
    )
    table.add_column("word", min_width=24)
    table.add_column("truth", justify="right")
    table.add_column("estimate", justify="right", style="bold")
    table.add_column(f"{100 * level:g} % interval", justify="right")
    table.add_column("certain")
    for answer in answers[:_WORD_ROWS]:
        ends = f"{answer['low']:.4f} to {answer['high']:.4f}"
        row = f"{answer['truth']:.4f}", f"{answer['value']:.4f}", ends, "yes" if answer["certain"] else "no"
        table.add_row(shown(answer["label"]), *row)
    return table


def _words_summary(result: MeasuredWords) -> Table:
    often = "once" if result.repeats == 1 else f"{result.repeats:,} times"
    table = titled_table(
        f"simulated {often}; margin of one word's share {plain(result.margin)} (95 %)",
        f"seed {result.seed}; {plural(result.report_bits, 'bit')} ({plural(result.report_bytes, 'byte')}) per report; "
        f"{result.seconds:.2f} s per simulation",
    )
    table.add_column("")
    table.add_column("measured", justify="right", style="bold")
    for name, words in _MEASURED_OF_WORDS.items():
        spread = "" if result.standard_error is None else f" ± {getattr(result.standard_error, name):.1g}"
        value = getattr(result.mean, name)
        table.add_row(words, f"{plain(value) if name in _WORD_FRACTIONS else f'{value:g}'}{spread}")
    return table
