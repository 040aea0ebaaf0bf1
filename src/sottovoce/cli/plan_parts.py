"""What the kinds of `sottovoce plan` share: options, the table, the picture."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sottovoce.cli.arguments import add_json, check_place, number, whole_number
from sottovoce.cli.output import console, plain, print_json, progress, titled_table
from sottovoce.cli.plan_cost import add_cost, costs_of, show_costs
from sottovoce.promise import and_delta, delta_of, promised

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.theory.offline_planner import OfflinePlan
    from sottovoce.theory.planner import Plan
    from sottovoce.workloads import Workload

__all__ = ["DESCRIPTION", "add_budget", "check_picture", "deliver", "given"]

PICTURE_ENDINGS: Final = (".png", ".svg", ".pdf")

DESCRIPTION: Final = """\
Give two of --epsilon, --users and --target-error; the third is worked out, and every mechanism that can
serve is compared. Nobody is asked anything: the figures are exact variances, and bounds for every population.
"""


def add_budget(parser: Parser, max_report_bytes: int) -> None:
    """Two of three, the longest report, the picture, and JSON."""
    parser.add_argument("--epsilon", type=number, metavar="E", help="what one report may reveal")
    parser.add_argument("--users", type=whole_number, metavar="N", help="how many people answer")
    parser.add_argument("--target-error", type=number, metavar="T", help="the L2 error to reach")
    parser.add_argument(
        "--max-report-bytes",
        type=whole_number,
        default=max_report_bytes,
        metavar="B",
        help=f"the longest report allowed (default: {max_report_bytes:,})",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="PATH",
        help="also write error against people, as .png, .svg or .pdf; simulates a few crowds",
    )
    add_cost(parser)
    add_json(parser)


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of `add_budget` that `plan` takes."""
    names = ("epsilon", "users", "target_error", "max_report_bytes")
    return {name: getattr(arguments, name) for name in names}


def check_picture(path: Path | None) -> None:
    """Found out before the work and not after it."""
    if path is None:
        return
    from sottovoce.errors import SimulationError
    from sottovoce.plotting import require_matplotlib

    require_matplotlib()
    if path.suffix not in PICTURE_ENDINGS:
        raise SimulationError(f"the picture's name must end in {', '.join(PICTURE_ENDINGS)}; it is {path.name!r}")
    check_place(path, "picture")


def deliver(
    found: Plan | OfflinePlan, arguments: argparse.Namespace, asked: str, one: str, workload: Workload | None = None
) -> int:
    """Write the picture, then print JSON or a table; `one` says what the column of margins is about."""
    costs = costs_of(found, arguments) if arguments.cost else []
    if arguments.picture is not None:
        _draw(found, workload, arguments.picture)
    if arguments.json:
        drawn = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        print_json({**found.to_dict(), **drawn, **({"cost": [cost.to_dict() for cost in costs]} if costs else {})})
    else:
        _show(found, asked, one)
        if costs:
            show_costs(costs)
        if arguments.picture is not None:
            console().print(f"{arguments.picture}: error against people", markup=False, soft_wrap=True)
    return 0


def _draw(found: Plan | OfflinePlan, workload: Workload | None, path: Path) -> None:
    from sottovoce.errors import SimulationError
    from sottovoce.experiments.error_curves import error_curves, people_simulated
    from sottovoce.plotting import save_error_picture

    with progress("simulating crowds for the picture", max(1, people_simulated(found))) as advance:
        curves = error_curves(found, workload, advance)
    problem = ""
    try:
        save_error_picture(curves, path)
    except OSError as error:
        problem = f"{str(path)!r} cannot be written: {error.strerror}; name another"
    if problem:
        raise SimulationError(problem)


def _show(found: Plan | OfflinePlan, asked: str, one: str) -> None:
    from rich.markup import escape

    delta = delta_of(found)
    question = {
        "error": f"{found.users:,} people at {promised(found.epsilon, delta)}: what error?",
        "users": f"{promised(found.epsilon, delta)}, error at most {found.target_error:g}: how many people?",
        "epsilon": f"{found.users:,} people{and_delta(delta)}, error at most {found.target_error:g}: what epsilon?",
    }[found.solved_for]
    direct = bool(getattr(found, "strategies", ()))
    if direct:
        from sottovoce.cli.plan_strategies import show_strategies

        show_strategies(cast("OfflinePlan", found), asked, question)
    table = titled_table(
        "mechanisms of the direct strategy" if direct else f"{asked}; {question}",
        f"L2 raw: root mean square for the worst population; L2 bound: projected, for every population; {one}",
    )
    table.add_column("", no_wrap=True)
    table.add_column("mechanism", style="bold", no_wrap=True)
    for heading in ("L2 raw", "L2 bound", one.split(":")[0], "report"):
        table.add_column(heading, justify="right", no_wrap=True)
    for candidate in found.candidates:
        table.add_row(
            "[green]➜[/]" if candidate is found.best else "",
            f"{candidate.name}{and_delta(delta_of(candidate.mechanism))}",
            plain(candidate.l2_raw),
            plain(candidate.l2_bound),
            f"± {plain(candidate.margin)}",
            f"{candidate.report_bytes:,} B" + ("" if candidate.fits else " (too long)"),
            style=None if candidate.fits else "dim",
        )
    out = console()
    out.print(table)
    answer = {
        "error": f"expected L2 error at most {plain(found.best.l2_bound)}",
        "users": f"{found.users:,} people",
        "epsilon": f"epsilon {found.epsilon:.4g}{and_delta(delta_of(found.best.mechanism))}",
    }[found.solved_for]
    out.print()
    told = f"{answer} with strategy='direct'" if direct else answer
    out.print(f"[bold]{told}[/]: {escape(found.reason)}")
