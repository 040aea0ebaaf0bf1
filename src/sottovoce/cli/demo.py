"""`sottovoce demo`: the story of a million whispers, told on the terminal and on one page."""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, whole_number
from sottovoce.cli.output import console, plain, print_json, progress, titled_table

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.experiments.demo import Demo, Whisper
    from sottovoce.experiments.demo_ages import Ages
    from sottovoce.protocols.distribution import DistributionSurvey

__all__ = ["register"]

REPORT_NAME = "report.html"
PICTURE_ENDINGS = (".png", ".svg", ".pdf")

_DESCRIPTION = """\
A million simulated people are asked one question. Each whispers one report that proves nothing about them;
together the reports give the answer, with intervals, beside the truth that no collector ever sees.
Writes report.html, one page that needs no network.
"""

_EXAMPLES = """\
examples:
  sottovoce demo
  sottovoce demo --users 50_000 --seed 3 --out whispers
  sottovoce demo --no-report --json | jq '.coverage'
  sottovoce demo --no-report --picture demo.png      the bar chart alone, 1200 by 600 (needs matplotlib)
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "demo", help="a million people, one question, one whisper each", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--users", type=whole_number, default=1_000_000, metavar="N", help="how many people (default: 1,000,000)"
    )
    parser.add_argument(
        "--seed", type=whole_number, default=7, metavar="S", help="of the simulated people (default: 7)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help=f"where {REPORT_NAME} goes (default: .)"
    )
    parser.add_argument("--no-report", action="store_true", help=f"do not write {REPORT_NAME}")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write the bar chart, as .png, .svg or .pdf")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.demo import assemble, crowd_sizes, gather, smaller_crowds, state_survey, whispers
    from sottovoce.experiments.demo_ages import USERS as AGES_USERS
    from sottovoce.experiments.demo_ages import ask_ages
    from sottovoce.experiments.distribution_error import check_users, seeds_of
    from sottovoce.plotting import require_matplotlib

    began = time.perf_counter()
    users = check_users(arguments.users)
    seeds_of(arguments.seed, 1)
    page = None if arguments.no_report else _writable(arguments.out) / REPORT_NAME
    if arguments.picture is not None:
        require_matplotlib()
        _check_picture(arguments.picture)
    out = console()
    out.quiet = arguments.json

    survey = state_survey()
    _show_question(out, survey)
    heard = whispers(survey)
    _show_whispers(out, survey, heard)
    with progress(f"{users:,} people whisper", users) as advance:
        aggregate = gather(survey, users, arguments.seed, advance)
    fewer = sum(size * repeats for size, repeats in crowd_sizes(users))
    with progress("smaller crowds, to compare", max(1, fewer)) as advance:
        smaller = smaller_crowds(survey, users, arguments.seed, advance)
    demo = assemble(survey, arguments.seed, heard, aggregate, smaller)
    _show_estimate(out, demo)
    second = min(users, AGES_USERS)
    with progress(f"{second:,} people answer a hundred questions at once", second) as advance:
        ages = ask_ages(second, arguments.seed, advance)
    _show_ages(out, ages)
    _write(demo, page, arguments.picture)
    seconds = time.perf_counter() - began
    _show_end(out, page, arguments.picture, seconds)
    if arguments.json:
        written = {"report": page, "picture": arguments.picture}
        paths = {name: None if path is None else str(path) for name, path in written.items()}
        print_json({**demo.to_dict(), "ages": ages.to_dict(), **paths, "seconds": seconds})
    return 0


def _show_ages(out: Console, ages: Ages) -> None:
    table = titled_table(
        "How old are they? A hundred questions, one whisper each", "the age up to which that share of the people are"
    )
    table.add_column("share", justify="right")
    table.add_column("truth", justify="right")
    table.add_column("estimate", justify="right", style="bold")
    for row in ages.quantiles:
        table.add_row(f"{row.share:.0%}", f"up to {row.truth}", f"up to {row.estimate}")
    out.print(table)
    out.print(
        f"\n{ages.users:,} other people sent {ages.report_bytes} byte{'s' * (ages.report_bytes > 1)} each "
        f"({ages.mechanism}) about {ages.n_queries} questions: how many are at most 0, 1, .., 99 years old? The L2 "
        f"error of all answers together is [bold]{ages.l2_projected:.3f}[/], and {ages.l2_raw:.3f} before projecting "
        f"them on what any population could answer (proved on average: below {ages.l2_bound:.3f}).\n"
    )


def _writable(directory: Path) -> Path:
    """The directory, made if need be: found out before the work and not after it."""
    from sottovoce.errors import SimulationError

    try:
        directory.mkdir(parents=True, exist_ok=True)
        problem = "" if os.access(directory, os.W_OK) else "it is not writable"
    except OSError as error:
        problem = error.strerror or "it cannot be made"
    if problem:
        raise SimulationError(f"nothing can be written into {str(directory)!r}: {problem}; name another directory")
    return directory


def _check_picture(path: Path) -> None:
    from sottovoce.errors import SimulationError

    if path.suffix not in PICTURE_ENDINGS:
        raise SimulationError(f"the picture's name must end in {', '.join(PICTURE_ENDINGS)}; it is {path.name!r}")
    _writable(path.parent)


def _write(demo: Demo, page: Path | None, picture: Path | None) -> None:
    from sottovoce.errors import SimulationError

    problem = ""
    try:
        if page is not None:
            from sottovoce.experiments.report import render

            page.write_text(render(demo), encoding="utf-8")
        if picture is not None:
            from sottovoce.plotting import save_demo_picture

            save_demo_picture(demo, picture)
    except OSError as error:
        problem = f"{error.filename!r} cannot be written: {error.strerror}; name another directory"
    if problem:
        raise SimulationError(problem)


def _show_question(out: Console, survey: DistributionSurvey) -> None:
    from sottovoce.experiments.instruments import INSTRUMENTS, STYLES

    out.print()
    out.print(f"[bold]{survey.title}[/]")
    out.print(f"[dim]{len(INSTRUMENTS)} instruments × {len(STYLES)} styles = {survey.domain.size} possible answers[/]")
    out.print()
    out.print(
        f"[bold]The promise[/] (epsilon = {survey.epsilon:g}): whatever you answer, any report you send is at most "
        f"{math.exp(survey.epsilon):.2f} times likelier than it would be under any other answer."
    )


def _show_whispers(out: Console, survey: DistributionSurvey, heard: tuple[Whisper, ...]) -> None:
    largest = max(whisper.largest_ratio for whisper in heard)
    table = titled_table(
        f"Three people from operas whisper, {len(heard[0].report)} bytes each",
        f"The grey bytes name the survey. Over all {survey.domain.size} answers, none of these reports is more than "
        f"{largest:.2f} times likelier from one than from another.",
    )
    table.add_column("who", no_wrap=True)
    table.add_column("would love to play", style="bold", no_wrap=True)
    table.add_column("sends", no_wrap=True)
    table.add_column("the same report from another answer")
    for whisper in heard:
        tag, rest = whisper.report[: len(survey.tag)].hex(), whisper.report[len(survey.tag) :].hex()
        other = f"{whisper.other_answer}: {whisper.compared}"
        table.add_row(whisper.person, whisper.answer, f"[dim]{tag}[/] [cyan]{rest}[/]", other)
    out.print()
    out.print(table)
    out.print()


def _show_estimate(out: Console, demo: Demo) -> None:
    table = titled_table(
        f"What {demo.users:,} whispers say: the twelve answers given most",
        "Per cent of the people. The collector sees the two middle columns; only this simulation knows the truth.",
    )
    table.add_column("answer", style="bold", no_wrap=True)
    for heading in ("truth", "estimate", "95 % interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("holds", justify="center")
    for row in demo.top(12):
        table.add_row(
            row.answer,
            f"{100 * row.truth:.2f}",
            f"[cyan]{100 * row.value:.2f}[/]",
            f"{100 * row.low:.2f} to {100 * row.high:.2f}",
            "[green]✓[/]" if row.hit else "[red]✗[/]",
        )
    out.print(table)
    out.print()
    errors, size = demo.errors, demo.survey.domain.size
    out.print(
        f"[bold]Projecting[/] on what can be a distribution at all took the L2 error from {plain(errors.l2_raw)} to "
        f"[bold]{plain(errors.l2_projected)}[/], for free. Proved: below {plain(demo.estimate.bound.value)} on average "
        f"(the paper's Theorem 4.2: {plain(demo.l2_bound_paper)})."
    )
    out.print(
        f"[bold]{demo.covered} of {size}[/] intervals hold the truth: {100 * demo.covered / size:.1f} %; "
        "95 % were promised."
    )


def _show_end(out: Console, page: Path | None, picture: Path | None, seconds: float) -> None:
    from rich.markup import escape

    out.print()
    for path, what in ((page, "the whole story, one page"), (picture, "the bar chart")):
        if path is not None:
            out.print(f"[bold]{escape(str(path))}[/]: {what}", soft_wrap=True)
    out.print(f"[dim]{seconds:.1f} s in all[/]")
