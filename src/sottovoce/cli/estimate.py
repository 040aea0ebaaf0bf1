"""`sottovoce estimate`: estimate a survey's answers from the reports so far."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sottovoce.cli.arguments import add_integer, add_number, number, refuse_options
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, refuse_connection
from sottovoce.cli.curve import (
    add_curve,
    curve_of_files,
    deliver_curve,
    refuse_curve_options,
    watch_curve,
)
from sottovoce.cli.estimate_groups import (
    add_group_options,
    deliver_groups,
    estimate_of_groups,
    refuse_group_options,
    wants_groups,
)
from sottovoce.cli.estimate_related import (
    add_related_options,
    deliver_related,
    refuse_related_options,
    wants_related,
)
from sottovoce.cli.estimate_table import estimate_page
from sottovoce.cli.output import check_picture, console, print_json, working, written_files
from sottovoce.core.progress import hushed

if TYPE_CHECKING:
    from sottovoce.analyst.live import LiveSurvey
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.words.estimate import WordEstimate
    from sottovoce.estimates.words.search import SearchRule
    from sottovoce.formats.sharded import ShardedAggregate
    from sottovoce.questions.base import Question
    from sottovoce.surveys.survey import Survey

__all__ = ["register"]

_ROWS = 20
"""Number of answers shown by default."""

_DESCRIPTION = """\
Estimate the answers from all reports counted so far: raw (unbiased) and projected (negative shares removed, total
100 %), with intervals, a bound on the error, and how far malicious devices could have moved it. The estimate is
computed here, from the collector's counts or from files that sottovoce aggregate wrote; several files are added up, and
may be of the groups of one survey.
A survey of words gives the words that were found, and the shares of any that are named with --word or --words.
Of a survey with groups, --by shows the groups that a variable makes, --compare two of them, and --weights the answers
of a population whose shares are known; --word names the words that are compared or weighed.
A tracking survey gives the curve of one answer over the periods, with intervals, a band for all periods and its trend.
An interval of one look is right that often if you look once. Who watches, looks often: with --watch, intervals hold at
every look together until the survey is sealed, and so do those of open periods of a tracking survey.
"""

_EXAMPLES = f"""\
{CONNECTION}
examples:
  sottovoce estimate "Favourite colour"
  sottovoce estimate 3f9a11c2 --watch --fixed
  sottovoce estimate 3f9a11c2 --top 5 --level 0.99 --hostile 100 --picture colours.png
  sottovoce estimate 3f9a11c2 --sum red orange --sum green blue
  sottovoce estimate 3f9a11c2 --likeliest
  sottovoce estimate 3f9a11c2 --json
  sottovoce estimate 3f9a11c2 --csv colours.csv
  sottovoce estimate --aggregate monday.bin tuesday.bin
  sottovoce estimate --aggregate a.bin b.bin --compare A B                              one file for each group
  sottovoce estimate Symptoms --word cough --words list.txt                             a survey of words
  sottovoce estimate Drinks --compare A B                                               a survey with groups
  sottovoce estimate Drinks --weights population.csv
  sottovoce estimate "Do you cycle?" --answer yes --smooth --picture cycling.png      a tracking survey
"""


def hostile(text: str) -> int | float:
    """A number of devices, or a fraction of the reports.

    Examples
    --------
    >>> hostile("100"), hostile("0.01"), hostile("1e3")
    (100, 0.01, 1000)
    """
    value = number(text)
    return int(value) if value >= 1 and value.is_integer() else value


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", nargs="?", metavar="SURVEY", help=SURVEY)
    parser.add_argument(
        "--aggregate",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="read these files instead of asking a collector; SURVEY, if given, must match",
    )
    parser.add_argument("--watch", action="store_true", help="update as reports arrive, until the survey is sealed")
    parser.add_argument(
        "--always", action="store_true", help="intervals that hold at every look together, as --watch shows them"
    )
    parser.add_argument(
        "--fixed",
        action="store_true",
        help="with --watch or --always, also show the intervals of one look; of a tracking survey, instead",
    )
    add_number(parser, "--level", "P", "confidence level of the intervals", 0.95)
    add_integer(
        parser, "--top", "K", f"show the K largest answers (default: {_ROWS}; for queries and vectors the first ones)"
    )
    parser.add_argument(
        "--hostile",
        type=hostile,
        default=0.01,
        metavar="H",
        help="number or fraction of malicious devices (default: 0.01)",
    )
    parser.add_argument(
        "--sum",
        nargs="+",
        action="append",
        metavar="LABEL",
        help="also estimate the sum of these raw answers, with its interval; may be given several times",
    )
    parser.add_argument(
        "--likeliest",
        action="store_true",
        help="also show the shares under which the reports are most probable; biased, and without intervals",
    )
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write a chart, as .png, .svg or .pdf")
    parser.add_argument("--csv", type=Path, metavar="PATH", help="also write all answers, or all periods, as CSV")
    parser.add_argument("--parquet", type=Path, metavar="PATH", help="also write them as Parquet")
    _add_words(parser)
    add_group_options(parser)
    add_related_options(parser)
    add_curve(parser)
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.files import check_file
    from sottovoce.core.limits import check_integer
    from sottovoce.estimates.intervals import check_level
    from sottovoce.surveys.survey import Tracking

    check_level(arguments.level)
    if arguments.top is not None:
        check_integer("top", arguments.top, 1, 2**53)
    check_picture(arguments.picture)
    for path in (arguments.csv, arguments.parquet):
        if path is not None:
            check_file(path, "table")
    if arguments.aggregate:
        total = _totals_of_files(arguments)
        if next(iter(total.values())).survey.period is not None:
            _refuse_options_of_one_estimate(arguments)
            deliver_curve(arguments, curve_of_files(total))
        else:
            refuse_curve_options(arguments)
            _refuse_fixed_alone(arguments)
            once, *others = total.values()
            _refuse_words_options(arguments, once.survey.question)
            by_group = others or (once.survey.groups is not None and wants_groups(arguments))
            with working("estimating"):
                rule = _given_rule(arguments)
                estimate = estimate_of_groups([once, *others], rule) if by_group else once.estimate(rule)
            _deliver(arguments, None, estimate.watched(arguments.always))
        return 0
    if arguments.survey is None:
        raise UsageError(
            "no survey is given; name one, or give files with --aggregate (see: sottovoce estimate --help)"
        )
    live = connected(arguments).survey(arguments.survey)
    if isinstance(live.survey, Tracking):
        _refuse_options_of_one_estimate(arguments)
        watch_curve(arguments, live) if arguments.watch else deliver_curve(arguments, live.curve())
        return 0
    refuse_curve_options(arguments)
    _refuse_fixed_alone(arguments)
    _refuse_words_options(arguments, live.answerable.question)
    rule = _given_rule(arguments)
    if arguments.watch:
        refuse_group_options(arguments, "shows one look: leave --watch out")
        refuse_related_options(arguments, "shows one look: leave --watch out")
    if not arguments.watch:
        with working("estimating"):
            estimate = live.estimate(rule)
        _deliver(arguments, live, estimate.watched(arguments.always))
    elif arguments.json or not sys.stdout.isatty():
        for estimate in live.watch(rule=rule):
            _deliver(arguments, live, estimate)
            sys.stdout.flush()
    else:
        _watch(arguments, live)
    return 0


def _totals_of_files(arguments: argparse.Namespace) -> dict[str, ShardedAggregate]:
    """The sum of all files by survey; there are several where they are periods or groups of one survey."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.errors import MismatchError
    from sottovoce.engines.reports.files import identity
    from sottovoce.formats.aggregate_file import AggregateFile
    from sottovoce.surveys.statement import is_beginning

    refuse_options(arguments, "needs a collector; files do not change", "watch")
    refuse_connection(arguments, "--aggregate names files")
    if len(set(map(identity, arguments.aggregate))) < len(arguments.aggregate):
        raise UsageError("a file is given twice; its reports would count twice")
    totals: dict[str, ShardedAggregate] = {}
    for path in arguments.aggregate:
        file = AggregateFile.open(path)
        survey = file.survey
        stated = survey.tracked or survey.whole
        name = arguments.survey
        if name is not None and name != stated.title and not is_beginning(name, stated.id):
            raise MismatchError(
                f"{path} has reports of survey {survey.id[:12]}, not of the given one; name that survey, or none"
            )
        before = next(iter(totals.values()), None)
        if before is not None and survey.id not in totals and not _parts_of_one(before.survey, survey):
            before + file  # raises: they are of two surveys
        totals[survey.id] = totals[survey.id] + file if survey.id in totals else file
    if not totals:
        raise UsageError("no file is given; --aggregate takes one or more")
    return totals


def _parts_of_one(one: Survey, other: Survey) -> bool:
    """Whether both are periods, or groups of one survey."""
    if one.period is not None and other.period is not None:
        return True
    return one.group is not None and other.group is not None and one.whole.id == other.whole.id


def _watch(arguments: argparse.Namespace, live: LiveSurvey) -> None:
    """A table that is updated in place."""
    from rich.live import Live

    out = console()
    waiting = "waiting for the first estimate; Ctrl-C ends it"
    with hushed(), Live(waiting, console=out, auto_refresh=False) as screen:
        for estimate in live.watch(rule=_given_rule(arguments)):
            screen.update(estimate_page(_result(arguments, live, estimate), arguments.level), refresh=True)
            _draw(arguments, estimate)


def _deliver(arguments: argparse.Namespace, live: LiveSurvey | None, estimate: Estimate) -> None:
    if wants_related(arguments):
        deliver_related(arguments, estimate)
        return
    if wants_groups(arguments):
        deliver_groups(arguments, estimate)
        return
    _draw(arguments, estimate)
    if not arguments.json:
        console().print(estimate_page(_result(arguments, live, estimate), arguments.level))
        return
    print_json(_result(arguments, live, estimate), one_line=arguments.watch)


def _draw(arguments: argparse.Namespace, estimate: Estimate) -> None:
    """Write the files that were asked for: tables of all answers, and the picture."""
    if arguments.csv is not None:
        estimate.to_csv(arguments.csv, arguments.level)
    if arguments.parquet is not None:
        estimate.to_parquet(arguments.parquet, arguments.level)
    if arguments.picture is None:
        return
    from sottovoce.figures.style import save_figure

    save_figure(estimate.plot(k=arguments.top, level=arguments.level).figure, arguments.picture)


def _result(arguments: argparse.Namespace, live: LiveSurvey | None, estimate: Estimate) -> dict[str, Any]:
    stated = {
        **estimate.summary(arguments.level),
        **({} if live is None else {"waiting": live.status().waiting}),
        "influence": estimate.influence(arguments.hostile).to_dict(),
        "n_answers": len(estimate),
        "answers": _with_fixed(arguments, estimate),
        **({"sums": _sums(arguments, estimate)} if arguments.sum else {}),
        **({"figures": figures} if (figures := _figures(arguments, estimate)) else {}),
    }
    if arguments.word or arguments.words:
        stated["named"] = _named_words(arguments, estimate)
    if arguments.likeliest:
        likeliest = estimate.likeliest()
        stated["likeliest"] = likeliest.summary()
        largest = (
            (-estimate.shown(arguments.level)).argsort(kind="stable")
            if _by_size(arguments, estimate)
            else range(len(estimate))
        )
        for answer, index in zip(stated["answers"], largest, strict=False):
            answer["likeliest"] = float(likeliest.values[index])
    return {**stated, **written_files(arguments)}


def _figures(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """What the question tells besides its answers: slopes, a standard deviation, quantiles."""
    shown = ("name", "unit", "value", "low", "high")
    figures = estimate.survey.question.figures(estimate, arguments.level)
    listed = set(estimate.labels()) if figures else set()
    return [{name: getattr(one, name) for name in shown} for one in figures if one.name not in listed]


def _with_fixed(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The rows, each with its interval of one look where that is asked for beside the one shown."""
    rows = _answers(arguments, estimate)
    if not arguments.fixed or estimate.always is None:
        return rows
    fixed = _answers(arguments, estimate.watched(False))
    ends = ({"fixed_low": row["low"], "fixed_high": row["high"]} for row in fixed)
    return [{**row, **beside} for row, beside in zip(rows, ends, strict=True)]


def _answers(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The rows: values by their share; queries and coordinates in their own order."""
    if _by_size(arguments, estimate):
        return [answer.row() for answer in estimate.top(arguments.top or _ROWS, arguments.level)]
    listed: list[dict[str, Any]] = estimate.to_dict(arguments.level)["answers"]
    return listed[:_ROWS]


def _by_size(arguments: argparse.Namespace, estimate: Estimate) -> bool:
    """Whether the largest answers come first."""
    return arguments.top is not None or estimate.survey.question.listed_by_size


def _sums(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The sums that were asked for, of raw answers."""
    sums = ((labels, estimate.sum(labels, arguments.level)) for labels in arguments.sum)
    return [{"labels": labels, **answer.row(), "method": answer.method} for labels, answer in sums]


_OF_LISTED: Final = ("sum", "likeliest")
_OF_WORDS: Final = ("word", "words", "false_discovery", "most_prefixes")


def _add_words(parser: Parser) -> None:
    """Add the options for named words, and for the search."""
    group = parser.add_argument_group("surveys of words")
    group.add_argument(
        "--word",
        action="append",
        metavar="WORD",
        help="also estimate the share of this word; may be given several times",
    )
    group.add_argument(
        "--words", metavar="FILE", help="also estimate the shares of these words: a text file, one per line"
    )
    add_number(group, "--false-discovery", "P", "largest probability that any certain word is nobody's (default: 0.05)")
    add_integer(group, "--most-prefixes", "M", "most prefixes kept at a level: a search takes time and memory for each")


def _refuse_words_options(arguments: argparse.Namespace, question: Question) -> None:
    """Refuse options of words for other surveys, and options of listed answers for words."""
    if question.is_searched:
        refuse_options(arguments, "is for listed answers; this survey asks for words: use --word", *_OF_LISTED)
    else:
        reason = "is for surveys of words; this one does not ask for words: leave it out"
        refuse_options(arguments, reason, *_OF_WORDS)


def _refuse_fixed_alone(arguments: argparse.Namespace) -> None:
    """Refuse --fixed where nothing else is shown."""
    if not (arguments.watch or arguments.always):
        refuse_options(arguments, "goes with --watch or --always: other intervals are of one look anyway", "fixed")


def _refuse_options_of_one_estimate(arguments: argparse.Namespace) -> None:
    """Refuse options that a curve does not read: it has no sums, searches or influence."""
    names = ("top", "hostile", "always", *_OF_LISTED, *_OF_WORDS)
    refuse_options(arguments, "is for surveys that are asked once; follow an answer of this one with --answer", *names)
    refuse_options(arguments, "is for surveys that are asked once", "weights")
    reason = "is for surveys that are asked once; follow a slope with --answer 'slope of NAME'"
    refuse_related_options(arguments, reason)
    if wants_groups(arguments):
        refuse_options(arguments, "of groups shows one look: leave --watch out", "watch")


def _given_rule(arguments: argparse.Namespace) -> SearchRule | None:
    """The rule of the search by the options; None for the default."""
    from sottovoce.estimates.words.search import SearchRule

    names = ("false_discovery", "most_prefixes")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return SearchRule(**given) if given else None


def _named_words(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The shares of the words that were named, in their order; a value that is not a word of the survey is refused."""
    from sottovoce.core.errors import SurveyError
    from sottovoce.lab.populations.words import read_lines

    listed = read_lines(arguments.words, "words") if arguments.words else []
    texts = [*(arguments.word or ()), *(line for line in listed if line.strip())]
    question: Question = estimate.survey.question
    values = [question.parse(text) for text in texts]
    wrong = next((number for number, value in enumerate(values, 1) if not question.admits(value)), 0)
    if wrong:
        raise SurveyError(
            f"number {wrong} of the named words is not a word of this survey; allowed: {question.allowed}"
        ).at("word" if wrong <= len(arguments.word or ()) else "words")
    by_words = cast("WordEstimate", estimate)
    return [answer.row() for answer in by_words.of_many(values, arguments.level)] if values else []
