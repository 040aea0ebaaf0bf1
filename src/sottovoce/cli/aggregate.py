"""`sottovoce aggregate`: count reports in files, on this machine or on Spark."""

from __future__ import annotations

import argparse
import contextlib
import re
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.connection import CONNECTION, add_connection, connected, refuse_connection, shown
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.core.progress import steps
from sottovoce.core.words import delta_of, guarantee, plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.engines import Counted, Tally
    from sottovoce.surveys.panel import Panel
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["register"]

_DESCRIPTION = """\
Count reports in files: Parquet with the columns report_id and report, as exports have them, or raw batches (.svr).
Each report id counts once over all files. Rows that are not reports of the survey are an error, with their number.
The result is one file, byte for byte the same on any engine.
"""

_EXAMPLES = f"""\
SURVEY is a file with the survey's JSON (.json), or a survey at a collector: its id, the beginning of its id, or its
title. Without it, the survey is read from the metadata of the exported files, which must all be of one survey.
An attachment that the survey names by digest is a file of that name, beside survey.json or among the reports.

Repeating the command resumes an interrupted run. Progress is kept in a folder beside the result, which is removed at
the end; --restart starts again.

{CONNECTION}
examples:
  sottovoce aggregate --reports colours
  sottovoce aggregate survey.json --reports 'lake/2026-*/*.parquet' more.svr --out colours.bin --memory 4GiB
  sottovoce aggregate survey.json --reports /lake/colours --engine spark --master spark://head:7077
  sottovoce aggregate "Favourite colour" --reports colours --hand-in      for a collector that only collects
  sottovoce estimate --aggregate colours.bin
"""

_UNITS: Final = {"": 1, **{f"{letter}iB": 1 << 10 * power for power, letter in enumerate("KMGT", start=1)}}
_UNITS.update({f"{letter}B": 1000**power for power, letter in enumerate("kMGT", start=1)})
_BAD_SHOWN: Final = 10
_IDS: Final = {
    "removed": "each id counts once",
    "declared": "ids declared unique; a sample was checked",
    "stated": "ids unique, as the files state; a sample was checked",
}


def memory(text: str) -> int:
    """A number of bytes, with a unit or without.

    Examples
    --------
    >>> memory("1GiB") == memory("1024 MiB") == 2**30, memory("1.5GB"), memory("4096")
    (True, 1500000000, 4096)
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)", text.strip())
    if match is None or match[2] not in _UNITS:
        raise argparse.ArgumentTypeError(f"{text!r} is not an amount of memory; write it like 512MiB or 4GiB")
    return int(float(match[1]) * _UNITS[match[2]])


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", nargs="?", metavar="SURVEY", help="survey.json, or a survey at a collector")
    parser.add_argument(
        "--reports",
        nargs="+",
        required=True,
        metavar="PATH",
        help="files, folders or globs; subfolders are not searched",
    )
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="local", help="engine that counts (default: local)"
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark cluster: spark://host:7077, yarn, k8s://..., or sc://host:15002 (default: this machine)",
    )
    parser.add_argument(
        "--out", type=Path, default=Path("aggregate.bin"), metavar="FILE", help="the result (default: aggregate.bin)"
    )
    parser.add_argument(
        "--skip-faults",
        action="store_true",
        help="skip rows and files that are not reports of the survey, and count them",
    )
    parser.add_argument(
        "--ids-unique",
        action=argparse.BooleanOptionalAction,
        help="state that no two rows have one id: a sample of the ids is checked, and a repeated one is an error; "
        "--no-ids-unique: remove duplicates, whatever files state (default: as the files' metadata state it)",
    )
    parser.add_argument(
        "--hand-in", action="store_true", help="also send the counts to the collector; the survey must be sealed"
    )
    parser.add_argument(
        "--memory", type=memory, metavar="SIZE", help="memory to use, about (default: 1GiB; 256MiB a task on Spark)"
    )
    parser.add_argument(
        "--work", type=Path, metavar="DIR", help="folder for progress and temporary files (default: FILE.work)"
    )
    parser.add_argument("--restart", action="store_true", help="start again instead of resuming an interrupted run")
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.errors import SottovoceError
    from sottovoce.core.files import check_file

    if arguments.engine == "spark":
        reason = "is for --engine local; Spark has folders of its own (spark.local.dir)"
        refuse_options(arguments, reason, "work", "restart")
    else:
        refuse_options(arguments, "is the address of a Spark cluster; add --engine spark", "master")
    if not arguments.hand_in and (arguments.survey is None or arguments.survey.endswith(".json")):
        refuse_connection(arguments, "name a survey there, or hand the counts in with --hand-in")
    check_file(arguments.out, "aggregate")
    survey = _survey(arguments)
    # Fail before hours of counting, not after them.
    live = connected(arguments).survey(survey.id) if arguments.hand_in else None
    began = time.perf_counter()
    with _counted(arguments, survey) as counted:
        written = counted.save(arguments.out)
        tally, ids = counted.tally, counted.ids
    seconds = time.perf_counter() - began
    if live is not None:
        try:
            live.hand_in(written.aggregate())
        except SottovoceError as error:
            error.add_note(f"; the counts were not handed in; they are in {str(arguments.out)!r}")
            raise
    result = {
        "survey": survey.id,
        "title": survey.title,
        "engine": arguments.engine,
        **tally.to_dict(),
        "ids": ids,
        "seconds": seconds,
        "rows_per_second": tally.rows / seconds,
        "aggregate": str(arguments.out),
        "aggregate_bytes": written.nbytes,
        "handed_in": arguments.hand_in,
    }
    print_json(result) if arguments.json else _show(survey, tally, result)
    return 0


def _survey(arguments: argparse.Namespace) -> Survey:
    """The survey that was named, or the one in the metadata of the files."""
    from sottovoce.engines.reports.files import find_files, stated_survey

    if arguments.survey is None:
        return stated_survey(find_files(arguments.reports))
    if not arguments.survey.endswith(".json"):
        return connected(arguments).survey(arguments.survey).answerable
    return survey_file(Path(arguments.survey), arguments.reports)


def survey_file(path: Path, reports: Sequence[str] = ()) -> Survey:
    """The survey of one collection whose JSON a file holds."""
    from sottovoce.core.errors import SurveyError
    from sottovoce.surveys.survey import Survey

    survey = any_survey_file(path, reports)
    if not isinstance(survey, Survey):
        part = survey.part
        raise SurveyError(f"{str(path)!r} is a {survey.noun}; reports belong to one of its {part}s: name the {part}")
    return survey


def any_survey_file(
    path: Path, reports: Sequence[str] = (), allowed: Collection[str] | None = None
) -> Survey | Panel | Tracking:
    """Whatever survey's JSON a file holds; its attachment is beside it or in the folder of some reports.

    Where values are randomized, only what of other packages is `allowed` is loaded.
    """
    from sottovoce.core.errors import SurveyError
    from sottovoce.device.foreign import check_foreign_allowed
    from sottovoce.engines.reports.files import find_files
    from sottovoce.engines.reports.remote import AttachmentFiles, folders_of
    from sottovoce.surveys.survey import Survey

    try:
        text = path.read_bytes()
    except OSError as error:
        raise SurveyError(
            f"{str(path)!r} cannot be read: {error.strerror}; name a file with a survey's JSON"
        ) from error

    def folders() -> Iterator[str]:
        yield str(path.parent)
        if reports:
            yield from folders_of(find_files(reports))

    if allowed is not None:
        check_foreign_allowed(text, allowed)
    return Survey.from_json(text, AttachmentFiles(folders()))


@contextlib.contextmanager
def _counted(arguments: argparse.Namespace, survey: Survey) -> Iterator[Counted]:
    from sottovoce import engines

    how: Any = {"faults": "skip" if arguments.skip_faults else "refuse", "ids_unique": arguments.ids_unique}
    with contextlib.ExitStack() as held:
        # Lines without a terminal: a log of a wait for a cluster should say what it waits for.
        with steps("finding files", lines=arguments.engine == "spark") as shown_steps:
            engine: engines.Engine
            if arguments.engine == "spark":
                from sottovoce.engines.cluster.session import session

                started = held.enter_context(session(arguments.master, tell=shown_steps.say))
                engine = engines.spark(started, task_memory_bytes=arguments.memory)
            else:
                work = arguments.work or arguments.out.with_name(arguments.out.name + ".work")
                engine = engines.local(work=work, memory_bytes=arguments.memory, restart=arguments.restart)
            counted = engine.count(survey, arguments.reports, **how, progress=shown_steps.progress)
        yield held.enter_context(counted)


def _show(survey: Survey, tally: Tally, result: dict[str, Any]) -> None:
    out = console()
    table = titled_table(
        f"{shown(survey.title) or survey.id[:12]}: {survey.mechanism.name}, "
        f"{guarantee(survey.epsilon, delta_of(survey))}"
    )
    table.add_column("", min_width=24)
    table.add_column("number", justify="right", style="bold")
    table.add_column("", style="dim")
    rows = (
        ("files read", tally.files, ""),
        ("rows", tally.rows, f"{result['rows_per_second']:,.0f} per second"),
        ("reports counted", tally.counted, ""),
        ("duplicates", tally.duplicates, _IDS[result["ids"]]),
        ("of another survey", tally.foreign, "skipped" if tally.foreign else ""),
        ("malformed", tally.malformed, "skipped" if tally.malformed else ""),
        ("unusable files", len(tally.bad_files), "skipped" if tally.bad_files else ""),
    )
    for what, n, note in rows:
        table.add_row(what, f"{n:,}", note)
    out.print(table)
    for bad in tally.bad_files[:_BAD_SHOWN]:
        out.print(f"skipped: {shown(bad.path)} ({shown(bad.reason)})", soft_wrap=True)
    if len(tally.bad_files) > _BAD_SHOWN:
        out.print(f"and {len(tally.bad_files) - _BAD_SHOWN:,} more; --json lists all")
    path = shown(result["aggregate"])
    out.print(f"{path}: {plural(result['aggregate_bytes'], 'byte')}. To estimate from it:", soft_wrap=True)
    out.print(f"  sottovoce estimate --aggregate {path}", soft_wrap=True)
    if result["handed_in"]:
        out.print("The collector has the counts and uses them from now on.")
