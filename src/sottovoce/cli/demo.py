"""`sottovoce demo`: a service, a fleet of devices and an analyst, shown on the terminal and on one page."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_integer, add_json, refuse_options
from sottovoce.cli.output import check_ending, console, print_json, progress, working
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from rich.console import Console

    from sottovoce.cli.parser import Parser
    from sottovoce.lab.demo.service import DemoService
    from sottovoce.lab.demo.wire import DemoResult

__all__ = ["register"]

REPORT_NAME = "report.html"

_DESCRIPTION = """\
Run the whole system on this machine, in about a minute: start the service, publish seven surveys, let a million
simulated devices answer over HTTP, ask adaptive questions, follow a habit over a year, ask without and with a shuffler,
and compare the estimates with the truth, which no collector sees. Writes report.html, one page that needs no network.
The service is stopped at the end.
"""

_EXAMPLES = """\
examples:
  sottovoce demo
  sottovoce demo --people 50_000 --seed 3 --out demo-report
  sottovoce demo --keep --port 8470                  leave the service running, with the collected data
  sottovoce demo --no-report --json | jq '.coverage'
  sottovoce demo --no-report --picture demo.png      the bar charts alone (needs matplotlib)
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_integer(parser, "--people", "N", "number of devices", 1_000_000)
    add_integer(parser, "--seed", "S", "seed of the simulated people", 7)
    parser.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help=f"folder for {REPORT_NAME} (default: .)"
    )
    parser.add_argument("--no-report", action="store_true", help=f"do not write {REPORT_NAME}")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write the bar charts, as .png, .svg or .pdf")
    add_integer(parser, "--port", "P", "port of the service", 0)
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="keep the service's data there (default: deleted at the end)"
    )
    parser.add_argument("--keep", action="store_true", help="leave the service running until Ctrl-C")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.files import check_folder
    from sottovoce.lab.demo.service import check_empty, running_service
    from sottovoce.lab.demo.wire import check_fleet
    from sottovoce.lab.simulation.repeats import check_people, seeds_of

    if arguments.no_report:
        refuse_options(arguments, f"is where {REPORT_NAME} goes, and --no-report writes none", "out")
    began = time.perf_counter()
    check_fleet(check_people(arguments.people))
    seeds_of(arguments.seed, 1)
    check_empty(arguments.data)
    page = None if arguments.no_report else arguments.out / REPORT_NAME
    if page is not None:
        check_folder(page.parent, "results")
    if arguments.picture is not None:
        check_ending(arguments.picture)
        check_folder(arguments.picture.parent, "results")
    out = console()
    out.quiet = arguments.json
    with _stopped_by_sigterm(), contextlib.ExitStack() as stack:
        with working("starting the service"):
            service = stack.enter_context(running_service(arguments.data, arguments.port))
        result = _play(out, service, arguments.people, arguments.seed)
        _write(result, page, arguments.picture)
        seconds = time.perf_counter() - began
        _end(out, service, result, page, arguments, seconds)
        if arguments.keep:
            _keep(out, service)
    return 0


def _play(out: Console, service: DemoService, people: int, seed: int) -> DemoResult:
    """Run the demonstration and show each part as it ends."""
    from sottovoce.cli import demo_words as words
    from sottovoce.lab.demo.demo import assemble, crowd_sizes, smaller_crowds, state_survey
    from sottovoce.lab.demo.forms import people_for_forms
    from sottovoce.lab.demo.shuffled import compare_shuffled
    from sottovoce.lab.demo.wire import HOSTILE, DemoResult, DemoSurveys

    with contextlib.closing(DemoSurveys(service, people, seed)) as stage:
        survey = state_survey()
        words.show_service(out, service, stage)
        words.show_guarantee(out, survey)
        samples = stage.owners.send_samples(stage.music)
        words.show_samples(out, survey, samples)
        with progress(f"{plural(people, 'device')} to answer", people, "devices") as advance:
            sent = stage.ask_music(advance)
        words.show_sent(out, sent)
        fewer = sum(size * repeats for size, repeats in crowd_sizes(people))
        with progress("simulating fewer people, to compare", max(1, fewer)) as advance:
            smaller = smaller_crowds(survey, people, seed, advance)
        demo = assemble(survey, seed, samples, stage.counted(stage.music).aggregate(), smaller)
        influence = demo.estimate.influence(HOSTILE)
        words.show_estimate(out, demo)
        words.show_influence(out, influence)
        with progress("devices answer a hundred questions at once", people, "devices") as advance:
            ages, ages_sent = stage.ask_ages(advance)
        words.show_ages(out, ages)
        with progress("adaptive questions", people, "reports") as advance:
            asked, turns_sent = stage.ask_in_turn(advance)
        words.show_asked(out, asked, people)
        with progress("a number, choices and a form", 3 * people_for_forms(people), "devices") as advance:
            forms, forms_sent = stage.ask_forms(advance)
        words.show_forms(out, forms)
        with progress("a year of months", people) as advance:
            habit = stage.follow_habit(advance)
        words.show_habit(out, habit)
        with working("the same question with a shuffler"):
            shuffled = compare_shuffled(seed)
        words.show_shuffled(out, shuffled)
        owner, device = next(iter(stage.owners.devices.items()))
        result = DemoResult(
            music=demo,
            influence=influence,
            ages=ages,
            asked=asked,
            forms=forms,
            habit=habit,
            shuffled=shuffled,
            sent=(sent, ages_sent, turns_sent, *forms_sent),
            owner=owner,
            ledger=device.ledger,
            figures=stage.figures(),
        )
        words.show_ledger(out, owner, result.ledger)
        words.show_metrics(out, result.figures, sent.resent)
        return result


def _end(
    out: Console,
    service: DemoService,
    result: DemoResult,
    page: Path | None,
    arguments: argparse.Namespace,
    seconds: float,
) -> None:
    from rich.markup import escape

    picture = arguments.picture
    second = None if picture is None else _second(picture)
    written = ((page, "all results on one page"), (picture, "the bar chart"), (second, "without and with a shuffler"))
    for path, what in written:
        if path is not None:
            out.print(f"[bold]{escape(str(path))}[/]: {what}", soft_wrap=True)
    if arguments.data is not None:
        out.print(f"[bold]{escape(str(arguments.data))}[/]: the service's database and signing key", soft_wrap=True)
    if not arguments.keep:
        out.print(f"[dim]The dashboard at {service.url}/ closes now; sottovoce demo --keep leaves it open.[/]")
    out.print(f"[dim]{seconds:.1f} s in all[/]")
    if arguments.json:
        places = {"report": page, "picture": picture, "shuffled_picture": second, "data": arguments.data}
        paths = {name: None if path is None else str(path) for name, path in places.items()}
        kept = {"address": service.url, "token": service.token} if arguments.keep else None
        print_json({**result.to_dict(), **paths, "service": kept, "seconds": seconds})
        sys.stdout.flush()


def _keep(out: Console, service: DemoService) -> None:
    """Wait until Ctrl-C, or until the service ends by itself."""
    # A caller may interrupt as soon as it reads the first of these lines; that is not a failure.
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
    """SIGTERM ends the command as Ctrl-C does: the service is stopped and its data are removed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _write(result: DemoResult, page: Path | None, picture: Path | None) -> None:
    from sottovoce.core.errors import SimulationError
    from sottovoce.core.files import write_errors, write_file

    for path in filter(None, (page, picture)):
        with write_errors(path, SimulationError, "name another directory"):
            path.parent.mkdir(parents=True, exist_ok=True)
    if page is not None:
        from sottovoce.lab.demo.report import render

        write_file(page, render(result))
    if picture is not None:
        from sottovoce.figures.style import save_figure
        from sottovoce.lab.demo.pictures import demo_figure, shuffled_figure

        save_figure(demo_figure(result.music), picture, dpi=100)
        save_figure(shuffled_figure(result.shuffled), _second(picture), dpi=100)


def _second(picture: Path) -> Path:
    """The path of the picture without and with a shuffler, beside the first."""
    return picture.with_stem(f"{picture.stem}-shuffled")
