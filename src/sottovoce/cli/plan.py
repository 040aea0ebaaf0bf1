"""`sottovoce plan`: choose a design, and solve for epsilon, the number of people or the error."""

from __future__ import annotations

import argparse
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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
from sottovoce.cli.output import check_picture, console, print_json, progress, titled_table, working
from sottovoce.cli.period_options import add_planned_periods, planned_periods
from sottovoce.cli.plan_table import (
    add_cost,
    costs_of,
    show_comparison_plan,
    show_costs,
    show_plan,
    show_tracking_plan,
)
from sottovoce.cli.survey_options import (
    add_design,
    add_parameters,
    asked_question,
    design_words,
    example_words,
    given_design,
    how_to_write,
    parameter_words,
)
from sottovoce.core.words import figure, plural
from sottovoce.questions.registry import REGISTRY
from sottovoce.surveys.panel import Panel

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.planning.central import Central
    from sottovoce.planning.comparison import ComparisonPlan
    from sottovoce.planning.panel import PanelPlan
    from sottovoce.planning.plan import Plan
    from sottovoce.planning.tracking import TrackingPlan
    from sottovoce.questions.base import Question

__all__ = ["register"]

_DESCRIPTION: Final = """\
Give two of --epsilon, --people and an error (--margin or --l2); the third is computed, and all available designs are
compared. Nothing is simulated: the errors follow from variances, for the worst population unless --population is
given. With --central-epsilon and --delta reports are shuffled: give --people or an error, and the largest local epsilon
that the certificate allows is computed, for each design its own.
"""

_OF_WORDS: Final = """\
Give two of --epsilon, --people and what is to be reached: --share for a word that is to be found, or the error of one
word's share (--margin or --l2); the third is computed. Nothing is simulated. The plan says which shares are found, by
the length of the word.
"""

_ERRORS: Final = """\
errors:
  --margin 0.01    margin of one answer (95 %): half the width of the widest interval, in the unit of the answers;
                   for shares 0.01 is one percentage point
  --l2 0.05        L2 over all answers: the expected distance between all estimates and the truth
  --change 0.02    with --periods: the smallest change between two periods that is to be seen (at 95 %, power 80 %)
  --difference 0.02    for two groups: the smallest difference between them that is to be seen; --groups 2 computes it

populations: zipf, uniform, geometric, or a file with one share per value; see 'sottovoce simulate shares --help'
"""

_TO_FIND: Final = """\
  {asked} --epsilon 2 --share 0.005      to find a word of half a percent: how many people?
"""


def register(parser: Parser) -> None:
    """Describe the command and add one kind per question."""
    examples = "".join(f"  {_words(kind)} --epsilon 1 --people 1e6\n" for kind in REGISTRY.everything().values())
    parser.epilog = f"examples:\n{examples}  sottovoce plan panel --rounds 20 --epsilon 1 --people 1e6\n"
    kinds = add_subcommands(parser, "kinds", "KIND")
    for kind in REGISTRY.everything().values():
        _register(kinds, kind)
    _register_panels(kinds)
    name_neighbours(kinds)


def _words(kind: type[Question]) -> str:
    return f"sottovoce plan {kind.kind} {example_words(kind.parameters)}".rstrip()


def _register(kinds: Commands, kind: type[Question]) -> None:
    asked = _words(kind)
    written = how_to_write(kind.parameters)
    epilog = f"""\
{written}{chr(10) if written else ""}{_ERRORS}
examples:
  {asked} --epsilon 2 --margin 0.01      how many people?
  {asked} --epsilon 2 --people 1e6        what error?
  {asked} --people 1e6 --l2 0.1           what epsilon?
  {asked} --epsilon 2 --people 1e6 --max-report-bytes 4 --json
  {asked} --epsilon 2 --people 1e5 --picture error.png
  {asked} --epsilon 1 --periods 52 --change 0.02           a year of weeks: how many people?
  {asked} --epsilon 1 --difference 0.02 --power 0.9        two groups: how many people?
  {asked} --central-epsilon 0.5 --delta 1e-8 --people 1e5    with a shuffler: what error?
{_TO_FIND.format(asked=asked) if kind.is_searched else ""}"""
    parser = kinds.add_parser(
        kind.kind, help=kind.summary, description=_OF_WORDS if kind.is_searched else _DESCRIPTION, epilog=epilog
    )
    add_parameters(parser, kind.parameters)
    add_epsilon(parser, required=False)
    add_integer(parser, "--people", "N", "number of people")
    add_number(parser, "--margin", "M", "margin of one answer (95 %%) to reach")
    add_number(parser, "--l2", "D", "L2 error over all answers to reach")
    add_number(parser, "--change", "C", "change between two periods to see; needs --periods or --renews")
    add_number(parser, "--difference", "D", "difference between two groups to see, each asked in a survey of its own")
    add_number(parser, "--power", "P", "probability with which the difference is seen (default: 0.8)")
    add_integer(parser, "--groups", "N", "2: what difference between two groups do that many people show?")
    add_number(parser, "--ratio", "R", "people in the second group for each one in the first (default: 1)")
    parser.add_argument(
        "--population", metavar="P", help="distribution of people's values, a name or a file (default: the worst case)"
    )
    add_parameters(parser, kind.goals, optional=frozenset(kind.goal_names()))
    add_design(parser, kind)
    _add_shuffler(parser)
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help=(
            "also draw the probability that a word is found against its share, as .png, .svg or .pdf"
            if kind.is_searched
            else "also draw error against people, as .png, .svg or .pdf; runs a few simulations"
        ),
    )
    add_planned_periods(parser)
    add_cost(parser)
    add_json(parser)
    parser.set_defaults(run=partial(_run, kind))


def _run(kind: type[Question], arguments: argparse.Namespace) -> int:
    from sottovoce.planning.comparison import ComparisonPlan
    from sottovoce.planning.planner import plan
    from sottovoce.planning.tracking import TrackingPlan

    check_picture(arguments.picture)
    if not arguments.cost:
        refuse_options(arguments, "is about the cost of counting: add --cost", "rates", "workers", "worker_cores")
    if arguments.periods is None and arguments.renews is None:
        refuse_options(arguments, "is about periods: give --periods or --renews too", "every")
    question = asked_question(kind, arguments)
    with working("comparing designs"):
        planned: Plan | TrackingPlan | ComparisonPlan = plan(
            question,
            epsilon=arguments.epsilon,
            central_epsilon=arguments.central_epsilon,
            least=arguments.least,
            people=arguments.people,
            margin=arguments.margin,
            l2=arguments.l2,
            change=arguments.change,
            **{name: getattr(arguments, name) for name in ("difference", "power", "groups", "ratio")},
            population=_population(question, arguments.population),
            **{name: getattr(arguments, name) for name in kind.goal_names()},
            **planned_periods(arguments),
            **given_design(arguments),
        )
        tracking = planned if isinstance(planned, TrackingPlan) else None
        groups = planned if isinstance(planned, ComparisonPlan) else None
        once = (
            planned.period
            if isinstance(planned, TrackingPlan)
            else planned.group
            if isinstance(planned, ComparisonPlan)
            else planned
        )
        # A tracking survey has an id once its first day is known, and those of groups once they have titles.
        survey = {"survey": once.survey().id} if once is planned else {}
    costs = costs_of(once, arguments) if arguments.cost else []
    if arguments.picture is not None:
        _draw(once, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        costed = {"cost": [cost.to_dict() for cost in costs]} if costs else {}
        print_json({**planned.to_dict(), **survey, **drawn, **costed})
        return 0
    words = _publishing(kind, once, once.people if groups is not None else planned.people, arguments)
    if groups is not None:
        show_comparison_plan(groups, shlex.join([*words, "--title", "TITLE OF THE GROUP"]))
    elif tracking is None:
        show_plan(once, shlex.join(words))
    else:
        show_tracking_plan(tracking, shlex.join([*words, *_periods(tracking, arguments)]))
    if costs:
        show_costs(costs)
    if arguments.picture is not None:
        pictured = "error against people" if once.recall is None else "probability of being found against share"
        console().print(f"{arguments.picture}: {pictured}", markup=False, soft_wrap=True)
    return 0


def _population(question: Question, name: str | None) -> Any:
    """The shares of a named population; for vectors the name itself, which the planner refuses."""
    if name is None or question.domain is None:
        return name
    from sottovoce.lab.populations.distributions import frequencies

    return frequencies(name, question.domain.size)


def _draw(planned: Plan, path: Path) -> None:
    from sottovoce.figures.style import save_figure

    if planned.recall is not None:
        save_figure(planned.recall.plot().figure, path)
        return
    from sottovoce.lab.simulation.plan_picture import people_simulated, plan_curves, plan_figure

    with progress("simulating people for the picture", max(1, people_simulated(planned))) as advance:
        curves = plan_curves(planned, advance)
    save_figure(plan_figure(curves), path)


def _publishing(kind: type[Question], planned: Plan, people: int, arguments: argparse.Namespace) -> list[str]:
    """The command that publishes the planned survey.

    With the same settings it chooses the same design; a plan for one population, or under a shuffler, names its
    design, which may not be the best for the worst case or at one local epsilon.
    """
    settings = given_design(arguments) | {"criterion": None if planned.criterion == "l2" else planned.criterion}
    if planned.population is not None or planned.central is not None:
        settings |= {"strategy": planned.best.strategy, "mechanism": planned.best.mechanism, "criterion": None}
    shuffled = [] if planned.central is None else _relay_words(planned.central)
    if planned.central is not None:
        settings["delta"] = 0.0
    return [
        *("sottovoce", "survey", "create", kind.kind, *parameter_words(kind.parameters, arguments)),
        *("--epsilon", f"{planned.epsilon!r}".removesuffix(".0"), "--people", f"{people}", *design_words(settings)),
        *shuffled,
    ]


def _periods(planned: TrackingPlan, arguments: argparse.Namespace) -> list[str]:
    """The options for the planned periods; the first day is left to the publisher."""
    words = [] if planned.periods is None else ["--periods", str(planned.periods)]
    words += [] if planned.windows == 1 else ["--renews", str(planned.window)]
    return [*words, "--every", arguments.every or "week", "--starts", "YYYY-MM-DD"]


def _add_shuffler(parser: Parser) -> None:
    """The central guarantee to reach, and the smallest batch."""
    group = parser.add_argument_group(
        "with a shuffler that does not collude",
        "--delta is then that of the central guarantee, and --epsilon the largest local epsilon allowed",
    )
    add_number(group, "--central-epsilon", "E", "largest epsilon of the reports of one batch together")
    add_integer(group, "--least", "N", "people in the smallest batch that is forwarded (default: all of them)")


def _relay_words(central: Central) -> list[str]:
    """The options of `survey create` for a relay that holds back as the plan assumes; its address is left open."""
    goal, n = central.goal, central.certificate.n
    return ["--relay", "https://RELAY", "--least", f"{n}", "--central-delta", f"{goal.delta:g}"]


_OF_PANELS = """\
Give three of --rounds, --people, --epsilon and --error; the fourth is computed. The error is the largest over all
rounds, for questions with values between -radius and radius, and holds however questions depend on earlier answers.
Everybody answers one round: twice the rounds leave half the people to each. Nothing is simulated.
"""

_PANEL_EXAMPLES = """\
examples:
  sottovoce plan panel --rounds 20 --people 1e6 --epsilon 1          what error?
  sottovoce plan panel --rounds 20 --epsilon 1 --error 0.05         how many people?
  sottovoce plan panel --rounds 20 --people 1e6 --error 0.05         what epsilon?
  sottovoce plan panel --people 1e6 --epsilon 1 --error 0.05         how many questions?
  sottovoce plan panel --rounds 20 --people 1e5 --epsilon 1 --picture error.png
"""


def _register_panels(kinds: Commands) -> None:
    """Add the kind."""
    parser = kinds.add_parser(Panel.kind, help=Panel.summary, description=_OF_PANELS, epilog=_PANEL_EXAMPLES)
    # The domain does not affect the error.
    own = [parameter for parameter in Panel.parameters if not parameter.group]
    add_parameters(parser, own, optional=frozenset({"rounds"}))
    add_integer(parser, "--people", "N", "number of people")
    add_epsilon(parser, required=False)
    add_number(parser, "--error", "T", "the largest error allowed")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help="also draw error against rounds, as .png, .svg or .pdf; runs a few simulations",
    )
    add_json(parser)
    parser.set_defaults(run=_run_panel)


def _run_panel(arguments: argparse.Namespace) -> int:
    from sottovoce.planning.panel import plan_panel

    check_picture(arguments.picture)
    planned = plan_panel(
        rounds=arguments.rounds,
        people=arguments.people,
        epsilon=arguments.epsilon,
        error=arguments.error,
        radius=arguments.radius,
    )
    if arguments.picture is not None:
        _draw_panel(planned, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        print_json({**planned.to_dict(), **drawn})
    else:
        _show_panel(planned)
        if arguments.picture is not None:
            console().print(f"{arguments.picture}: error against rounds", markup=False, soft_wrap=True)
    return 0


def _draw_panel(planned: PanelPlan, path: Path) -> None:
    from sottovoce.figures.style import save_figure
    from sottovoce.lab.simulation.adaptive_curves import adaptive_curves, adaptive_figure, people_simulated

    with progress("simulating sessions for the picture", max(1, people_simulated(planned))) as advance:
        curves = adaptive_curves(planned, advance)
    save_figure(adaptive_figure(curves), path)


def _show_panel(planned: PanelPlan) -> None:
    people, private = plural(planned.people, "person", "people"), f"epsilon {planned.epsilon:g}"
    questions, reached = plural(planned.rounds, "round"), f"error at most {planned.error:.4g}"
    question = {
        "error": f"{questions}, {people}, {private}: what error?",
        "people": f"{questions}, {private}, {reached}: how many people?",
        "epsilon": f"{questions}, {people}, {reached}: what epsilon?",
        "rounds": f"{people}, {private}, {reached}: how many questions?",
    }[planned.solved_for]
    table = titled_table(
        question,
        "proved: for every population, however questions are chosen; expected: by the exact variance, for answers near "
        "0; printed: Theorem 5.2, where it applies",
    )
    table.add_column("", no_wrap=True)
    for heading in ("rounds", "people per round", "error, proved", "expected", "printed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in planned.lines:
        table.add_row(
            "[green]➜[/]" if line.rounds == planned.rounds else "",
            f"{line.rounds:,}",
            f"{line.people_per_round:,.0f}",
            figure(line.bound),
            figure(line.predicted),
            "" if line.paper is None else figure(line.paper),
            style="bold" if line.rounds == planned.rounds else None,
        )
    out = console()
    out.print(table)
    answer = {
        "error": f"expected largest error at most {figure(planned.line.bound)}",
        "people": people,
        "epsilon": f"epsilon {planned.epsilon:.4g}",
        "rounds": questions,
    }[planned.solved_for]
    out.print()
    out.print(f"[bold]{answer}[/]: {planned.statement}", highlight=False)
