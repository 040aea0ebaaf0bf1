"""`sottovoce simulate`: measure errors on simulated people."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Final

from sottovoce.cli import simulate_adaptive, simulate_fleet
from sottovoce.cli.arguments import (
    Commands,
    add_epsilon,
    add_integer,
    add_json,
    add_number,
    add_subcommands,
    name_neighbours,
)
from sottovoce.cli.output import console, plain, print_json, progress, titled_table, working
from sottovoce.cli.simulate_tracking import add_histories, refuse_tracking_options, simulate_histories
from sottovoce.cli.simulate_words import simulate_words
from sottovoce.cli.survey_options import (
    add_design,
    add_parameters,
    asked_question,
    example_words,
    given_design,
    how_to_write,
)
from sottovoce.core.words import guarantee, plural
from sottovoce.questions.queries import Queries
from sottovoce.questions.registry import REGISTRY
from sottovoce.questions.words import Words

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.lab.simulation.survey_error import MeasuredError
    from sottovoce.questions.base import Question
    from sottovoce.surveys.survey import Survey

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
for standard input; without --users every line is one person.
"""


def register(parser: Parser) -> None:
    """Describe the command and add one kind per question."""
    examples = "".join(f"  {_words(kind)} --users 1e5 --epsilon 1\n" for kind in REGISTRY.everything().values())
    parser.epilog = (
        f"examples:\n{examples}  sottovoce simulate adaptive --rounds 20 --users 1e6 --epsilon 1\n"
        "  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --users 1e5\n"
    )
    kinds = add_subcommands(parser, "kinds", "KIND")
    for kind in REGISTRY.everything().values():
        _register(kinds, kind)
    simulate_adaptive.register(kinds)
    simulate_fleet.register(kinds)
    name_neighbours(kinds)


def _words(kind: type[Question]) -> str:
    return f"sottovoce simulate {kind.kind} {example_words(kind.parameters)}"


def _register(kinds: Commands, kind: type[Question]) -> None:
    asked, written = _words(kind), how_to_write(kind.parameters)
    epilog = f"""\
{written}{chr(10) if written else ""}{_POPULATIONS}
examples:
  {asked} --users 1e5 --epsilon 1
  {asked} --users 20_000 --epsilon 1 --strategy {kind.strategies[0]} --repeats 20
  {asked} --users 1e5 --epsilon 0.5 --seed 7 --json
  {asked} --histories people.csv --every month --starts 2026-01-01 --epsilon 1
"""
    parser = kinds.add_parser(
        kind.kind, help=kind.summary, description=_OF_WORDS if kind is Words else _DESCRIPTION, epilog=epilog
    )
    add_parameters(parser, kind.parameters)
    add_integer(parser, "--users", "N", "number of people; required without --histories")
    add_epsilon(parser)
    parser.add_argument(
        "--population", default="zipf", metavar="P", help="distribution of people's values; see below (default: zipf)"
    )
    add_design(parser, kind)
    add_integer(parser, "--repeats", "R", "number of repetitions", 1)
    add_integer(parser, "--seed", "S", "seed, to repeat a simulation (default: random)")
    add_histories(parser)
    add_number(parser, "--level", "P", "confidence level of the intervals of a curve", 0.95)
    add_json(parser)
    parser.set_defaults(run=partial(_run, kind))


def _run(kind: type[Question], arguments: argparse.Namespace) -> int:
    from sottovoce.lab.simulation.repeats import check_repeats, check_users
    from sottovoce.lab.simulation.survey_error import measure
    from sottovoce.surveys.survey import Survey

    question = asked_question(kind, arguments)
    if arguments.histories is not None:
        return simulate_histories(question, arguments)
    if isinstance(question, Words):
        return simulate_words(question, arguments)
    refuse_tracking_options(arguments)
    users, repeats = check_users(arguments.users), check_repeats(arguments.repeats)
    with working("comparing designs"):
        survey = Survey.ask(question, arguments.epsilon, users=users, **given_design(arguments))
    with progress("simulating", users * repeats) as advance:
        found = measure(
            survey,
            users,
            arguments.population,
            repeats=repeats,
            seed=arguments.seed,
            symmetric=question.projected_on == Queries.projected_on,
            progress=advance,
        )
    if arguments.json:
        print_json(found.to_dict())
    else:
        _show(survey, found)
    return 0


def _show(survey: Survey, found: MeasuredError) -> None:
    from rich.markup import escape

    from sottovoce.lab.simulation.paper_bound import paper_bound

    spread = found.standard_error
    often = "once" if found.repeats == 1 else f"{found.repeats:,} times"
    over = "" if found.values in (None, found.answers) else f" over {plural(found.values, 'value')}"
    table = titled_table(
        f"{found.question}: {plural(found.answers, 'answer')}{over}; {plural(found.users, 'person', 'people')} "
        f"({escape(found.distribution)}), {guarantee(found.epsilon, found.delta)}, {found.strategy} with "
        f"{found.mechanism}: simulated {often}",
        f"seed {found.seed}; {plural(found.report_bits, 'bit')} ({plural(found.report_bytes, 'byte')}) per report; "
        f"{found.seconds:.2f} s per simulation; projection gap {found.gap:.1e}",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("theory", justify="right")

    def measured(name: str) -> str:
        value = plain(getattr(found.mean, name))
        return value if spread is None else f"{value} ± {getattr(spread, name):.1g}"

    table.add_row("L2, raw", measured("l2_raw"), f"{plain(found.l2_raw_predicted)} root mean square")
    table.add_row("L2, projected", measured("l2_projected"), f"below {plain(found.l2_bound)} on average")
    printed = paper_bound(survey, found.users)
    if printed is not None:
        table.add_row("", "", f"below {plain(printed.value)}: {printed.statement}")
    if found.mean.l2_symmetric is not None:
        table.add_row("L2, paper's polytope", measured("l2_symmetric"), "")
    table.add_row("largest, raw", measured("linf_raw"), f"each answer: ± {plain(found.margin)} (95 %)")
    table.add_row("largest, projected", measured("linf_projected"), "")
    console().print(table)
