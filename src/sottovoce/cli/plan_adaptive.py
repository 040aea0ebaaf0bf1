"""`sottovoce plan adaptive`: solve for rounds, people, epsilon or error of a panel."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_epsilon, add_integer, add_json, add_number
from sottovoce.cli.output import console, print_json, progress, titled_table
from sottovoce.cli.picture import check_picture
from sottovoce.cli.question_options import add_parameters
from sottovoce.core.words import figure, plural
from sottovoce.surveys.panel import Panel

if TYPE_CHECKING:
    from sottovoce.planning.panel import PanelPlan

__all__ = ["register"]

_DESCRIPTION = """\
Give three of --rounds, --users, --epsilon and --error; the fourth is computed. The error is the largest over all
rounds, for questions with values between -radius and radius, and holds however questions depend on earlier answers.
Everybody answers one round: twice the rounds leave half the people to each. Nothing is simulated.
"""

_EXAMPLES = """\
examples:
  sottovoce plan adaptive --rounds 20 --users 1e6 --epsilon 1          what error?
  sottovoce plan adaptive --rounds 20 --epsilon 1 --error 0.05         how many people?
  sottovoce plan adaptive --rounds 20 --users 1e6 --error 0.05         what epsilon?
  sottovoce plan adaptive --users 1e6 --epsilon 1 --error 0.05         how many questions?
  sottovoce plan adaptive --rounds 20 --users 1e5 --epsilon 1 --picture error.png
"""


def register(kinds: Commands) -> None:
    """Add the kind."""
    parser = kinds.add_parser(Panel.kind, help=Panel.summary, description=_DESCRIPTION, epilog=_EXAMPLES)
    # The domain does not affect the error.
    own = [one for one in Panel.parameters if not one.group]
    add_parameters(parser, own, optional=frozenset({"rounds"}))
    add_integer(parser, "--users", "N", "number of people")
    add_epsilon(parser, required=False)
    add_number(parser, "--error", "T", "the largest error allowed")
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help="also draw error against rounds, as .png, .svg or .pdf; runs a few simulations",
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.planning.panel import plan_panel

    check_picture(arguments.picture)
    found = plan_panel(arguments.rounds, arguments.users, arguments.epsilon, arguments.error, radius=arguments.radius)
    if arguments.picture is not None:
        _draw(found, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        print_json({**found.to_dict(), **drawn})
    else:
        _show(found)
        if arguments.picture is not None:
            console().print(f"{arguments.picture}: error against rounds", markup=False, soft_wrap=True)
    return 0


def _draw(found: PanelPlan, path: Path) -> None:
    from sottovoce.figures.style import save_figure
    from sottovoce.lab.experiments.adaptive_curves import adaptive_curves, adaptive_figure, people_simulated

    with progress("simulating sessions for the picture", max(1, people_simulated(found))) as advance:
        curves = adaptive_curves(found, advance)
    save_figure(adaptive_figure(curves), path)


def _show(found: PanelPlan) -> None:
    people, private = plural(found.users, "person", "people"), f"epsilon {found.epsilon:g}"
    questions, reached = plural(found.rounds, "round"), f"error at most {found.error:.4g}"
    question = {
        "error": f"{questions}, {people}, {private}: what error?",
        "users": f"{questions}, {private}, {reached}: how many people?",
        "epsilon": f"{questions}, {people}, {reached}: what epsilon?",
        "rounds": f"{people}, {private}, {reached}: how many questions?",
    }[found.solved_for]
    table = titled_table(
        question,
        "proved: for every population, however questions are chosen; expected: by the exact variance, for answers near "
        "0; printed: Theorem 5.2, where it applies",
    )
    table.add_column("", no_wrap=True)
    for heading in ("rounds", "people per round", "error, proved", "expected", "printed"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in found.lines:
        table.add_row(
            "[green]➜[/]" if line.rounds == found.rounds else "",
            f"{line.rounds:,}",
            f"{line.users_per_round:,.0f}",
            figure(line.bound),
            figure(line.predicted),
            "" if line.paper is None else figure(line.paper),
            style="bold" if line.rounds == found.rounds else None,
        )
    out = console()
    out.print(table)
    answer = {
        "error": f"expected largest error at most {figure(found.line.bound)}",
        "users": people,
        "epsilon": f"epsilon {found.epsilon:.4g}",
        "rounds": questions,
    }[found.solved_for]
    out.print()
    out.print(f"[bold]{answer}[/]: {found.statement}", highlight=False)
