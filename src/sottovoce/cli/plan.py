"""`sottovoce plan`: which design, and what the missing one of epsilon, people and error must be."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli import plan_adaptive
from sottovoce.cli.arguments import Commands, add_json, add_kind, name_neighbours, number, whole_number
from sottovoce.cli.design_options import add_design, design_words, given_design
from sottovoce.cli.output import console, print_json, progress, working
from sottovoce.cli.picture import check_picture, writing
from sottovoce.cli.plan_cost import add_cost, costs_of, show_costs
from sottovoce.cli.plan_table import show_plan
from sottovoce.cli.question_options import (
    add_parameters,
    asked_question,
    example_words,
    how_to_write,
    parameter_words,
)
from sottovoce.questions.registry import QUESTIONS

if TYPE_CHECKING:
    from sottovoce.planning.plan import Plan
    from sottovoce.questions.base import Question

__all__ = ["register"]

_SUMMARY: Final = "choose a design, epsilon and the number of people"

_DESCRIPTION: Final = """\
Give two of --epsilon, --users and an error (--margin or --l2); the third is worked out, and every design that can
serve is compared. Nobody is asked anything: the errors follow from variances, for the worst population unless
--population names one.
"""

_ERRORS: Final = """\
errors:
  --margin 0.01    the margin of one answer (95 %): plus or minus how much the worst answer is known, in its own unit;
                   for shares 0.01 is one per cent point
  --l2 0.05        L2 over all answers: the expected distance between all estimated answers and the truth

populations: zipf, uniform, geometric, or a file with one share per value; see 'sottovoce simulate shares --help'
"""


def register(commands: Commands) -> None:
    """Add the command, with one kind per question."""
    examples = "".join(f"  {_words(kind)} --epsilon 1 --users 1e6\n" for kind in QUESTIONS.values())
    kinds = add_kind(
        commands,
        "plan",
        _SUMMARY,
        f"examples:\n{examples}  sottovoce plan adaptive --rounds 20 --epsilon 1 --users 1e6\n",
    )
    for kind in QUESTIONS.values():
        _register(kinds, kind)
    plan_adaptive.register(kinds)
    name_neighbours(kinds)


def _words(kind: type[Question]) -> str:
    return f"sottovoce plan {kind.kind} {example_words(kind.parameters)}"


def _register(kinds: Commands, kind: type[Question]) -> None:
    asked = _words(kind)
    written = how_to_write(kind.parameters)
    epilog = f"""\
{written}{chr(10) if written else ""}{_ERRORS}
examples:
  {asked} --epsilon 2 --margin 0.01      how many people?
  {asked} --epsilon 2 --users 1e6        what error?
  {asked} --users 1e6 --l2 0.1           what epsilon?
  {asked} --epsilon 2 --users 1e6 --max-report-bytes 4 --json
  {asked} --epsilon 2 --users 1e5 --picture error.png
"""
    parser = kinds.add_parser(kind.kind, help=kind.summary, description=_DESCRIPTION, epilog=epilog)
    add_parameters(parser, kind.parameters)
    parser.add_argument("--epsilon", type=number, metavar="E", help="what one report may reveal")
    parser.add_argument("--users", type=whole_number, metavar="N", help="how many people answer")
    parser.add_argument("--margin", type=number, metavar="M", help="the margin of one answer (95 %%) to reach")
    parser.add_argument("--l2", type=number, metavar="D", help="the L2 error over all answers to reach")
    parser.add_argument(
        "--population", metavar="P", help="the people it is for, a name or a file (default: the worst case)"
    )
    add_design(parser, kind)
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help="also write error against people, as .png, .svg or .pdf; simulates a few crowds",
    )
    add_cost(parser)
    add_json(parser)
    parser.set_defaults(run=partial(_run, kind))


def _run(kind: type[Question], arguments: argparse.Namespace) -> int:
    from sottovoce.planning.plan import plan

    check_picture(arguments.picture)
    question = asked_question(kind, arguments)
    with working("comparing designs"):
        found = plan(
            question,
            epsilon=arguments.epsilon,
            users=arguments.users,
            margin=arguments.margin,
            l2=arguments.l2,
            population=_population(question, arguments.population),
            **given_design(arguments),
        )
        survey = found.survey()
    costs = costs_of(found, arguments) if arguments.cost else []
    if arguments.picture is not None:
        _draw(found, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        costed = {"cost": [cost.to_dict() for cost in costs]} if costs else {}
        print_json({**found.to_dict(), "survey": survey.id, **drawn, **costed})
        return 0
    show_plan(found, shlex.join(_publishing(kind, found, arguments)))
    if costs:
        show_costs(costs)
    if arguments.picture is not None:
        console().print(f"{arguments.picture}: error against people", markup=False, soft_wrap=True)
    return 0


def _population(question: Question, name: str | None) -> Any:
    """The shares of a named population; for vectors the name itself, which the plan then refuses."""
    if name is None or question.domain is None:
        return name
    from sottovoce.populations.distributions import frequencies

    return frequencies(name, question.domain.size)


def _draw(found: Plan, path: Path) -> None:
    from sottovoce.experiments.plan_picture import people_simulated, save_plan_picture

    with progress("simulating crowds for the picture", max(1, people_simulated(found))) as advance, writing(path):
        save_plan_picture(found, path, advance)


def _publishing(kind: type[Question], found: Plan, arguments: argparse.Namespace) -> list[str]:
    """The command that publishes the planned survey: with the same settings it chooses the same design.

    A plan for one population may choose a design that is not the best for all of them; that one is named.
    """
    settings = given_design(arguments) | {"criterion": None if found.criterion == "l2" else found.criterion}
    if found.population is not None:
        settings |= {"strategy": found.best.strategy, "mechanism": found.best.mechanism, "criterion": None}
    return [
        *("sottovoce", "survey", "create", kind.kind, *parameter_words(kind.parameters, arguments)),
        *("--epsilon", f"{found.epsilon!r}".removesuffix(".0"), "--users", f"{found.users}", *design_words(settings)),
    ]
