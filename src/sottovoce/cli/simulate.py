"""`sottovoce simulate`: measure the error on simulated people before asking real ones."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING, Final

from sottovoce.cli import simulate_adaptive, simulate_fleet
from sottovoce.cli.arguments import Commands, add_json, add_kind, name_neighbours, number, whole_number
from sottovoce.cli.design_options import add_design, given_design
from sottovoce.cli.output import console, plain, print_json, progress, titled_table, working
from sottovoce.cli.question_options import add_parameters, asked_question, example_words, how_to_write
from sottovoce.plural import counted
from sottovoce.promise import promised
from sottovoce.questions.queries import Queries
from sottovoce.questions.registry import QUESTIONS

if TYPE_CHECKING:
    from sottovoce.experiments.survey_error import MeasuredError
    from sottovoce.questions.base import Question
    from sottovoce.surveys.survey import Survey

__all__ = ["register"]

_SUMMARY: Final = "measure errors on simulated people"

_DESCRIPTION: Final = """\
Draw people from a true population, let each send one randomized report, estimate the answers from the reports, and
measure how far off they are: raw (unbiased) and projected (the nearest answers that a population can give), beside
what theory says. Memory does not grow with the number of people.
"""

_POPULATIONS: Final = """\
distributions:
  zipf        value v has a share proportional to 1/(v+1)
  uniform     all values alike
  geometric   proportional to 0.95^v
  words, cities, surnames
              real ones, the most common first (pip install 'sottovoce[data]')
  FILE        one non-negative number per value, summing to one: text or CSV without a heading, or a .npy array
People with vectors have norms uniform from 0 to the radius, and directions scattered around a common one.
"""


def register(commands: Commands) -> None:
    """Add the command, with one kind per question."""
    examples = "".join(f"  {_words(kind)} --users 1e5 --epsilon 1\n" for kind in QUESTIONS.values())
    kinds = add_kind(
        commands,
        "simulate",
        _SUMMARY,
        f"examples:\n{examples}  sottovoce simulate adaptive --rounds 20 --users 1e6 --epsilon 1\n"
        "  sottovoce simulate fleet --url http://127.0.0.1:8470 --survey Colours --users 1e5\n",
    )
    for kind in QUESTIONS.values():
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
"""
    parser = kinds.add_parser(kind.kind, help=kind.summary, description=_DESCRIPTION, epilog=epilog)
    add_parameters(parser, kind.parameters)
    parser.add_argument("--users", type=whole_number, required=True, metavar="N", help="how many people answer")
    parser.add_argument("--epsilon", type=number, required=True, metavar="E", help="what one report may reveal")
    parser.add_argument(
        "--distribution", default="zipf", metavar="D", help="of people's values; see below (default: zipf)"
    )
    add_design(parser, kind)
    parser.add_argument(
        "--repeats", type=whole_number, default=1, metavar="R", help="number of repetitions (default: 1)"
    )
    parser.add_argument(
        "--seed", type=whole_number, metavar="S", help="for the same people again (default: a fresh one)"
    )
    add_json(parser)
    parser.set_defaults(run=partial(_run, kind))


def _run(kind: type[Question], arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.repeats import check_repeats, check_users
    from sottovoce.experiments.survey_error import measure
    from sottovoce.surveys.survey import Survey

    users, repeats = check_users(arguments.users), check_repeats(arguments.repeats)
    question = asked_question(kind, arguments)
    with working("comparing designs"):
        survey = Survey.ask(question, arguments.epsilon, users=users, **given_design(arguments))
    with progress("simulating", users * repeats) as advance:
        found = measure(
            survey,
            users,
            arguments.distribution,
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

    from sottovoce.experiments.paper_bound import paper_bound

    spread = found.standard_error
    often = "once" if found.repeats == 1 else f"{found.repeats:,} times"
    over = "" if found.values in (None, found.answers) else f" over {found.values:,} values"
    table = titled_table(
        f"{found.question}: {counted(found.answers, 'answer')}{over}; {counted(found.users, 'person', 'people')} "
        f"({escape(found.distribution)}), {promised(found.epsilon, found.delta)}, {found.strategy} with "
        f"{found.mechanism}: simulated {often}",
        f"seed {found.seed}; {found.report_bits:,} bits ({found.report_bytes:,} bytes) per report; "
        f"{found.seconds:.2f} s per simulation; projection gap {found.gap:.1e}",
    )
    table.add_column("error")
    table.add_column("measured", justify="right", style="bold")
    table.add_column("what theory says", justify="right")

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
