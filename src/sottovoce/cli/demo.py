"""`sottovoce demo`: a service, a fleet of devices, an analyst; told on the terminal and on one page."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json, whole_number
from sottovoce.cli.output import console, print_json, progress, working
from sottovoce.cli.picture import check_ending

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.experiments.demo_service import Service
    from sottovoce.experiments.demo_wire import Story

__all__ = ["register"]

REPORT_NAME = "report.html"

_DESCRIPTION = """\
The real thing, on this machine, in about a minute: starts the service, publishes three surveys, lets a million
simulated devices answer over HTTP, asks questions in turn, and shows the estimates beside the truth that no
collector ever sees. Writes report.html, one page that needs no network. The service is stopped at the end.
"""

_EXAMPLES = """\
examples:
  sottovoce demo
  sottovoce demo --users 50_000 --seed 3 --out whispers
  sottovoce demo --keep --port 8470                  leave the service running, with all that was collected
  sottovoce demo --no-report --json | jq '.coverage'
  sottovoce demo --no-report --picture demo.png      the bar chart alone, 1200 by 600 (needs matplotlib)
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "demo", help="a service, a million devices, three surveys", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--users",
        type=whole_number,
        default=1_000_000,
        metavar="N",
        help="how many devices answer (default: 1,000,000)",
    )
    parser.add_argument(
        "--seed", type=whole_number, default=7, metavar="S", help="of the simulated people (default: 7)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help=f"where {REPORT_NAME} goes (default: .)"
    )
    parser.add_argument("--no-report", action="store_true", help=f"do not write {REPORT_NAME}")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write the bar chart, as .png, .svg or .pdf")
    parser.add_argument(
        "--port", type=whole_number, default=0, metavar="P", help="of the service (default: a free one)"
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="keep the service's data there (default: nowhere, gone at the end)"
    )
    parser.add_argument("--keep", action="store_true", help="leave the service running until Ctrl-C")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.experiments.demo_service import check_folder, own_service
    from sottovoce.experiments.demo_wire import check_fleet
    from sottovoce.experiments.repeats import check_users, seeds_of
    from sottovoce.figures.style import require_matplotlib

    began = time.perf_counter()
    check_fleet(check_users(arguments.users))
    seeds_of(arguments.seed, 1)
    check_folder(arguments.data)
    page = None if arguments.no_report else _writable(arguments.out) / REPORT_NAME
    if arguments.picture is not None:
        require_matplotlib()
        _check_picture(arguments.picture)
    out = console()
    out.quiet = arguments.json
    with _stopped_by_sigterm(), contextlib.ExitStack() as stack:
        with working("starting the service"):
            service = stack.enter_context(own_service(arguments.data, arguments.port))
        story = _play(out, service, arguments.users, arguments.seed)
        _write(story, page, arguments.picture)
        seconds = time.perf_counter() - began
        _end(out, service, story, page, arguments, seconds)
        if arguments.keep:
            _keep(out, service)
    return 0


def _play(out: Console, service: Service, users: int, seed: int) -> Story:
    """The whole demonstration, shown as it happens."""
    from sottovoce.cli import demo_words as words
    from sottovoce.experiments.demo import assemble, crowd_sizes, smaller_crowds, state_survey
    from sottovoce.experiments.demo_wire import HOSTILE, Stage, Story

    with contextlib.closing(Stage(service, users, seed)) as stage:
        survey = state_survey()
        words.show_service(out, service, stage)
        words.show_promise(out, survey)
        heard = stage.opera.whisper(stage.music)
        words.show_whispers(out, survey, heard)
        with progress(f"{users:,} devices answer", users, "devices") as advance:
            sent = stage.ask_music(advance)
        words.show_sent(out, sent)
        fewer = sum(size * repeats for size, repeats in crowd_sizes(users))
        with progress("smaller crowds, simulated to compare", max(1, fewer)) as advance:
            smaller = smaller_crowds(survey, users, seed, advance)
        demo = assemble(survey, seed, heard, stage.counted(stage.music).aggregate(), smaller)
        influence = demo.estimate.influence(HOSTILE)
        words.show_estimate(out, demo)
        words.show_hostile(out, influence)
        with progress("they answer a hundred questions at once", users, "devices") as advance:
            ages, ages_sent = stage.ask_ages(advance)
        words.show_ages(out, ages)
        with progress("questions in turn", users, "reports") as advance:
            asked, turns_sent = stage.ask_in_turn(advance)
        words.show_asked(out, asked, users)
        owner, device = next(iter(stage.opera.devices.items()))
        story = Story(
            demo=demo,
            influence=influence,
            ages=ages,
            asked=asked,
            sent=(sent, ages_sent, turns_sent),
            owner=owner,
            ledger=device.ledger,
            figures=stage.figures(),
        )
        words.show_ledger(out, owner, story.ledger)
        words.show_figures(out, story.figures, sent.resent)
        return story


def _end(
    out: Console, service: Service, story: Story, page: Path | None, arguments: argparse.Namespace, seconds: float
) -> None:
    from rich.markup import escape

    picture = arguments.picture
    for path, what in ((page, "the whole story, one page"), (picture, "the bar chart")):
        if path is not None:
            out.print(f"[bold]{escape(str(path))}[/]: {what}", soft_wrap=True)
    if arguments.data is not None:
        out.print(f"[bold]{escape(str(arguments.data))}[/]: the service's database and signing key", soft_wrap=True)
    if not arguments.keep:
        out.print(f"[dim]The dashboard at {service.url}/ closes now; sottovoce demo --keep leaves it open.[/]")
    out.print(f"[dim]{seconds:.1f} s in all[/]")
    if arguments.json:
        written = {"report": page, "picture": picture, "data": arguments.data}
        paths = {name: None if path is None else str(path) for name, path in written.items()}
        kept = {"address": service.url, "token": service.token} if arguments.keep else None
        print_json({**story.to_dict(), **paths, "service": kept, "seconds": seconds})
        sys.stdout.flush()


def _keep(out: Console, service: Service) -> None:
    """Until Ctrl-C, or until the service ends by itself."""
    # Whoever reads the last line may be quicker than this process: from the first on, being told to end is no failure.
    with contextlib.suppress(KeyboardInterrupt):
        out.print(f"\n[bold]The service is still running[/]; Ctrl-C stops it. Its dashboard: {service.url}/")
        out.print(f"Sign in with {service.token}, or in another terminal:\n", soft_wrap=True)
        for line in (
            f"export SOTTOVOCE_URL={service.url} SOTTOVOCE_TOKEN={service.token}",
            "sottovoce survey list",
            f"sottovoce answer {service.url} 'How old are you?' 42",
            "sottovoce estimate 'How old are you?'",
        ):
            out.print(f"  {line}", soft_wrap=True, markup=False)
        service.process.wait()


@contextlib.contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """SIGTERM ends the command as Ctrl-C does: the service is stopped and what it made is removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
    check_ending(path)
    _writable(path.parent)


def _write(story: Story, page: Path | None, picture: Path | None) -> None:
    from sottovoce.errors import SimulationError

    problem = ""
    try:
        if page is not None:
            from sottovoce.experiments.report import render

            page.write_text(render(story), encoding="utf-8")
        if picture is not None:
            from sottovoce.experiments.demo_picture import save_demo_picture

            save_demo_picture(story.demo, picture)
    except OSError as error:
        problem = f"{error.filename!r} cannot be written: {error.strerror}; name another directory"
    if problem:
        raise SimulationError(problem)
