"""`sottovoce randomize`: turn a column of values into reports, on a server that already holds them."""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from sottovoce.cli.aggregate import any_survey_file, memory
from sottovoce.cli.arguments import add_integer, add_json, refuse_options
from sottovoce.cli.connection import shown
from sottovoce.cli.device_options import add_allowed, split_address
from sottovoce.cli.output import console, print_json, report_warning
from sottovoce.collector.settings import URL_VARIABLE
from sottovoce.core.progress import steps
from sottovoce.core.words import delta_of, guarantee, plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.edge.ordering import SortedRecords
    from sottovoce.edge.randomizer import Randomizer
    from sottovoce.edge.rows import ColumnChoice, InputRow
    from sottovoce.edge.writers import ReportSink
    from sottovoce.surveys.panel import Panel
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["register"]

_DESCRIPTION = """\
Turn a column of values into reports, for servers that hold values they should not pass on: every report is drawn as a
device draws it, with the system's entropy. What leaves this command is as private as a device's report; this machine,
and the sender of the values, have seen them. Each person belongs in it once: the same people again spend epsilon
again, unless --person and --ledger remember them.
"""

_EXAMPLES = """\
SURVEY is a file with the survey's JSON (.json), the address of a survey's page, or with --url an id, the first four
or more digits of one, or a title; fetched surveys are verified as devices verify them. Panels, tracking surveys and
surveys that state a relay are refused.

Input is JSON lines, or Parquet (.parquet). A value is a label, a number, a list of choices, an object with the
attributes of a record, a word, or a list of numbers; --columns makes a record or a vector of several columns. Output is
JSON lines, each {"id": ..., "report": ...} as POST /v1/surveys/ID/reports takes it (with --batch {"reports": [...]}),
or Parquet, which 'sottovoce aggregate' counts. No other column goes out. An --output file is there whole or not at all.

Reports leave in the order of their random ids, once all rows are read: the order of the rows may depend on the values,
as it does in a sorted file, and would reveal more than epsilon says. --stream passes every row on at once, in the
order in which it came.

A row that cannot be randomized stops the command; the message has its number and never its value. --otherwise replaces
missing and foreign values. --skip-invalid leaves such rows out, and how many there were is then known.

examples:
  sottovoce randomize survey.json --column drink < answers.jsonl > reports.jsonl
  sottovoce randomize survey.json --column drink --input answers.parquet --output reports.parquet
  sottovoce randomize https://stats.example.org/s/ID --column drink --person user --ledger people.db
  sottovoce randomize survey.json --columns age,country --input people.jsonl --output reports.parquet --skip-invalid
  tail -f answers.jsonl | sottovoce randomize survey.json --column drink --stream
"""

_PARQUET: Final = ".parquet"
_RECORDS_AT_ONCE: Final = 2**12


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", metavar="SURVEY", help="survey.json, the address of a survey, or its id or title")
    parser.add_argument("--column", metavar="NAME", help="the column that holds the value")
    parser.add_argument(
        "--columns", metavar="NAMES", help="the attributes of a record, or the coordinates of a vector, with commas"
    )
    parser.add_argument("--input", metavar="FILE", help="JSON lines or Parquet (default: standard input)")
    parser.add_argument("--output", metavar="FILE", help="JSON lines or Parquet (default: standard output)")
    add_integer(parser, "--batch", "N", "reports per line of JSON, each line one body for the collector")
    parser.add_argument(
        "--stream", action="store_true", help="pass every row on as it comes, to standard output; its order is revealed"
    )
    parser.add_argument(
        "--memory",
        type=memory,
        metavar="SIZE",
        help="memory to sort reports in, about; the rest waits in temporary files (default: 256MiB)",
    )
    parser.add_argument("--otherwise", metavar="VALUE", help="a value that replaces missing and foreign ones")
    parser.add_argument("--skip-invalid", action="store_true", help="leave out rows that cannot be randomized")
    parser.add_argument("--person", metavar="COLUMN", help="the column that says who it is; needs --ledger")
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="file that remembers people and repeats their reports; needs --person",
    )
    parser.add_argument(
        "--keep",
        action="append",
        default=[],
        metavar="COLUMN",
        help="also write this column beside the report, which links the two; can be repeated",
    )
    parser.add_argument("--url", metavar="URL", help=f"address of the collector (default: ${URL_VARIABLE})")
    parser.add_argument(
        "--key", metavar="KEY", help="the collector's public key (default: trust the key that it sends)"
    )
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_allowed(parser)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.device import REFUSE
    from sottovoce.edge import PersonLedger, Randomizer
    from sottovoce.edge.rows import ColumnChoice

    _check_options(arguments)
    survey = _survey(arguments)
    otherwise = REFUSE if arguments.otherwise is None else survey.parse(arguments.otherwise)
    Randomizer(survey, otherwise=otherwise)  # refuses a survey before a ledger is made
    ledger = None if arguments.ledger is None else PersonLedger(arguments.ledger)
    randomizer = Randomizer(survey, otherwise=otherwise, ledger=ledger)
    names = [name.strip() for name in (arguments.columns or "").split(",") if name.strip()]
    chosen = ColumnChoice.of(
        randomizer.survey, arguments.column, names, person=arguments.person or "", keep=arguments.keep
    )
    _warn(arguments)
    with _input(arguments, chosen) as (batches, fields), _output(arguments, randomizer.survey, fields) as sink:
        waiting = None if arguments.stream else _waiting(arguments)
        done = _Randomizing(randomizer, sink, waiting, skip=arguments.skip_invalid)
        done.run(batches)
    _show(arguments, randomizer.survey, done)
    return 0


class _Randomizing:
    """One run, with what it has counted; without `waiting` every report goes on at once."""

    def __init__(self, randomizer: Randomizer, sink: ReportSink, waiting: SortedRecords | None, *, skip: bool) -> None:
        self._randomizer, self._sink, self._waiting = randomizer, sink, waiting
        self._skip = skip
        self.reports = self.skipped = 0

    def run(self, batches: Iterable[Sequence[InputRow]]) -> None:
        """Randomize all rows; raises at the first that has no report, unless such rows are skipped."""
        from sottovoce.edge.rows import EdgeReport, RowFault

        with steps("randomizing", unit="reports") as shown_steps:
            for rows in batches:
                drawn = self._randomizer.draw(rows)
                fault = next((report for report in drawn if isinstance(report, RowFault)), None)
                if fault is not None and not self._skip:
                    raise self._stopped(fault)
                records = [
                    self._sink.record(report, row.kept)
                    for report, row in zip(drawn, rows, strict=True)
                    if isinstance(report, EdgeReport)
                ]
                self._take(records)
                self.reports += len(records)
                self.skipped += len(rows) - len(records)
                shown_steps.advance(len(records))
            self._finish()

    def _take(self, records: Sequence[bytes]) -> None:
        if self._waiting is None:
            self._sink.write(records)
            return
        for record in records:
            self._waiting.add(record)

    def _finish(self) -> None:
        ordered = iter(()) if self._waiting is None else self._waiting.drain()
        while records := list(itertools.islice(ordered, _RECORDS_AT_ONCE)):
            self._sink.write(records)
        self._sink.close()

    def _stopped(self, fault: Any) -> Exception:
        from sottovoce.core.errors import ValueOutsideDomainError

        went = (
            f"{plural(self.reports, 'report')} had been written to standard output already; without --stream all are "
            "written or none"
            if self._waiting is None
            else "nothing was written"
        )
        return ValueOutsideDomainError(
            f"row {fault.number:,}: {fault.reason}. {went}. --otherwise VALUE replaces missing and foreign values, "
            "--skip-invalid leaves such rows out"
        )


def _check_options(arguments: argparse.Namespace) -> None:
    from sottovoce.cli.parser import UsageError

    if (arguments.column is None) == (arguments.columns is None):
        raise UsageError("name the value's column with --column, or those of a record or a vector with --columns")
    if (arguments.person is None) != (arguments.ledger is None):
        raise UsageError("--person COLUMN says who it is, and --ledger FILE remembers it: give both or neither")
    if arguments.json and arguments.output is None:
        raise UsageError("--json describes the run on standard output, where the reports go; name a file with --output")
    if arguments.stream and (arguments.output is not None or arguments.memory is not None):
        raise UsageError("--stream passes rows on at once, to standard output: leave out --output and --memory")
    if arguments.batch is not None and (arguments.keep or _is_parquet(arguments.output)):
        raise UsageError("--batch is for JSON lines without --keep: a body of the collector has nothing but reports")
    if arguments.batch is not None and arguments.batch < 1:
        raise UsageError("--batch must be 1 or more")
    if arguments.keep and _is_parquet(arguments.output) and not _is_parquet(arguments.input):
        raise UsageError("--keep to Parquet needs columns with types, from Parquet: write JSON lines instead")


def _is_parquet(name: str | None) -> bool:
    return name is not None and name.endswith(_PARQUET)


def _survey(arguments: argparse.Namespace) -> Survey | Panel | Tracking:
    """The survey in a file, or the verified one of a collector."""
    from sottovoce.cli.device_options import one_line_errors
    from sottovoce.cli.parser import UsageError
    from sottovoce.device import Device, MemoryStore

    address = split_address(arguments.survey)
    if address is None and arguments.survey.endswith(".json"):
        reason = "is for a survey at a collector; SURVEY is a file: leave it out"
        refuse_options(arguments, reason, "url", "key", "insecure")
        return any_survey_file(Path(arguments.survey), allowed=arguments.allow_mechanism)
    if address is not None:
        refuse_options(arguments, "is part of the survey's address already: leave it out", "url")
    url, name = address or (arguments.url or os.environ.get(URL_VARIABLE, ""), arguments.survey)
    if not url:
        raise UsageError(
            f"SURVEY must be a file (.json), the address of a survey, or a survey at --url or {URL_VARIABLE}"
        )
    with (
        one_line_errors(),
        Device(
            MemoryStore(), key=arguments.key, insecure=arguments.insecure, allow_mechanisms=arguments.allow_mechanism
        ) as device,
    ):
        return device.survey(url, device.find(url, name))


def _warn(arguments: argparse.Namespace) -> None:
    if arguments.ledger is None:
        report_warning(
            "people are not remembered: the same people again spend epsilon again; --person and --ledger repeat the "
            "report that a person has"
        )
    if arguments.stream:
        report_warning(
            "--stream keeps the order of the rows: whoever sees it knows which report is whose if they know when each "
            "row came, and if the order depends on the values, as in a sorted file, it reveals more than epsilon says"
        )
    if arguments.keep:
        report_warning(
            f"{', '.join(arguments.keep)} goes out beside the report: a reader of it knows more of that person than "
            "epsilon says, and can link the report to them"
        )


@contextlib.contextmanager
def _input(
    arguments: argparse.Namespace, chosen: ColumnChoice
) -> Iterator[tuple[Iterable[Sequence[InputRow]], list[Any]]]:
    """Rows in batches, and the types of the columns that are kept where they are known."""
    from sottovoce.core.errors import ReportError
    from sottovoce.edge.rows import ParquetRows, read_json_lines

    if _is_parquet(arguments.input):
        rows = ParquetRows(Path(arguments.input), chosen)
        yield rows, rows.kept_fields
    elif arguments.input is None:
        yield read_json_lines(sys.stdin.buffer, chosen), []
    else:
        try:
            stream = open(arguments.input, "rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            raise ReportError(f"{arguments.input!r} cannot be read: {error.strerror}; name a file of rows") from error
        with stream:
            yield read_json_lines(stream, chosen), []


@contextlib.contextmanager
def _output(arguments: argparse.Namespace, survey: Survey, fields: list[Any]) -> Iterator[ReportSink]:
    """The destination of reports; a file gets its name when all of them are in it."""
    from sottovoce.core.errors import ReportError
    from sottovoce.core.files import creating, write_errors
    from sottovoce.edge.writers import JsonLines, ParquetReports

    if arguments.output is None:
        yield JsonLines(_standard_output(), arguments.batch or 0)
        return
    path = Path(arguments.output)
    if path.exists():
        raise ReportError(
            f"{str(path)!r} exists, and is not replaced: its reports may have gone on already, and to draw again "
            "spends epsilon again; name another file"
        )
    with write_errors(repr(str(path)), ReportError, "name another file"), creating(path) as part:
        if _is_parquet(arguments.output):
            yield ParquetReports(part, survey, fields)
        else:
            with part.open("wb") as stream:
                yield JsonLines(stream, arguments.batch or 0)


def _waiting(arguments: argparse.Namespace) -> SortedRecords:
    """Reports that wait for the last row; those that memory cannot hold lie beside the output."""
    from sottovoce.edge.ordering import DEFAULT_MEMORY, SortedRecords

    folder = Path(tempfile.gettempdir() if arguments.output is None else arguments.output)
    return SortedRecords(folder if arguments.output is None else folder.parent, arguments.memory or DEFAULT_MEMORY)


def _standard_output() -> IO[bytes]:
    sys.stdout.flush()
    return sys.stdout.buffer


def _show(arguments: argparse.Namespace, survey: Survey, done: _Randomizing) -> None:
    if arguments.json:
        print_json(
            {
                "survey": survey.id,
                "title": survey.title,
                "epsilon": survey.epsilon,
                "delta": delta_of(survey),
                "reports": done.reports,
                "skipped": done.skipped,
                "output": arguments.output,
            }
        )
        return
    name = shown(survey.title) or survey.id[:12]
    skipped = f"; {plural(done.skipped, 'row')} left out, which is known from here on" if done.skipped else ""
    each = guarantee(survey.epsilon, delta_of(survey))
    line = f"{name}: {plural(done.reports, 'report')}, each with {each}{skipped}"
    if arguments.output is None:
        sys.stderr.write(f"{line}\n")
        return
    out = console()
    out.print(line, soft_wrap=True)
    out.print("This machine has seen the values; from here on they are as private as that.", soft_wrap=True)
    if _is_parquet(arguments.output):
        out.print(f"  sottovoce aggregate --reports {shown(arguments.output)}", soft_wrap=True)
