"""`sottovoce estimate`: estimate a survey's answers from the reports so far."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from sottovoce.cli.arguments import add_integer, add_number, number
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.curve import add_curve, curve_of_files, deliver_curve, refuse_curve_options, watch_curve
from sottovoce.cli.output import check_picture, console, plain, print_json, titled_table, working
from sottovoce.core.progress import hushed
from sottovoce.core.words import guarantee, plural

if TYPE_CHECKING:
    from rich.console import Group

    from sottovoce.analyst.live import LiveSurvey
    from sottovoce.cli.parser import Parser
    from sottovoce.estimates.estimate import Estimate
    from sottovoce.estimates.words.estimate import WordEstimate
    from sottovoce.estimates.words.search import SearchRule
    from sottovoce.formats.sharded import ShardedAggregate
    from sottovoce.questions.base import Question

__all__ = ["register"]

_ROWS = 20
"""Number of answers shown by default."""

_DESCRIPTION = """\
Estimate the answers from all reports counted so far: raw (unbiased) and projected (negative shares removed, total
100 %), with intervals, a bound on the error, and how far malicious devices could have moved it. The estimate is
computed here, from the collector's counts or from files that sottovoce aggregate wrote; several files are added up.
Of a survey of words: those that were found, and the shares of any that are named with --word or --words.
Of a tracking survey: the curve of one answer over the periods, with intervals, a band for all periods and its trend.
"""

_EXAMPLES = f"""\
{CONNECTION}
examples:
  sottovoce estimate "Favourite colour"
  sottovoce estimate 3f9a --watch
  sottovoce estimate 3f9a --top 5 --level 0.99 --hostile 100 --picture colours.png
  sottovoce estimate 3f9a --sum red orange --sum green blue
  sottovoce estimate 3f9a --likeliest
  sottovoce estimate 3f9a --json
  sottovoce estimate --aggregate monday.bin tuesday.bin
  sottovoce estimate Symptoms --word cough --words list.txt                             of a survey of words
  sottovoce estimate "Do you cycle?" --answer yes --smooth --picture cycling.png      of a tracking survey
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
    add_number(parser, "--level", "P", "confidence level of the intervals", 0.95)
    add_integer(
        parser, "--top", "K", f"show the K largest answers (default: {_ROWS}; of queries and vectors the first)"
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
        help="also the sum of these raw answers, with its interval; given again, one more sum",
    )
    parser.add_argument(
        "--likeliest",
        action="store_true",
        help="also the shares under which the reports are most probable; biased, and without intervals",
    )
    parser.add_argument("--picture", type=Path, metavar="PATH", help="also write a chart, as .png, .svg or .pdf")
    _add_words(parser)
    add_curve(parser)
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.limits import check_integer
    from sottovoce.estimates.intervals import check_level
    from sottovoce.surveys.survey import Tracking

    check_level(arguments.level)
    if arguments.top is not None:
        check_integer("top", arguments.top, 1, 2**53)
    check_picture(arguments.picture)
    if arguments.aggregate:
        total = _totals_of_files(arguments)
        if next(iter(total.values())).survey.period is not None:
            deliver_curve(arguments, curve_of_files(total))
        else:
            refuse_curve_options(arguments)
            (once,) = total.values()
            _refuse_words_options(arguments, once.survey.question)
            with working("estimating"):
                estimate = once.estimate(_given_rule(arguments))
            _deliver(arguments, None, estimate)
        return 0
    if arguments.survey is None:
        raise UsageError(
            "no survey is given; name one, or give files with --aggregate (see: sottovoce estimate --help)"
        )
    live = connected(arguments).survey(arguments.survey)
    if isinstance(live.survey, Tracking):
        watch_curve(arguments, live) if arguments.watch else deliver_curve(arguments, live.curve())
        return 0
    refuse_curve_options(arguments)
    _refuse_words_options(arguments, live.answerable.question)
    rule = _given_rule(arguments)
    if not arguments.watch:
        with working("estimating"):
            estimate = live.estimate(rule)
        _deliver(arguments, live, estimate)
    elif arguments.json or not sys.stdout.isatty():
        for estimate in live.watch(rule=rule):
            _deliver(arguments, live, estimate)
            sys.stdout.flush()
    else:
        _watch(arguments, live)
    return 0


def _totals_of_files(arguments: argparse.Namespace) -> dict[str, ShardedAggregate]:
    """The sum of all files by survey; there are several where they are periods of one tracking survey."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.core.errors import MismatchError
    from sottovoce.engines.reports.files import identity
    from sottovoce.formats.aggregate_file import AggregateFile

    if arguments.watch:
        raise UsageError("--watch needs a collector; files do not change")
    if len(set(map(identity, arguments.aggregate))) < len(arguments.aggregate):
        raise UsageError("a file is given twice; its reports would count twice")
    totals: dict[str, ShardedAggregate] = {}
    for path in arguments.aggregate:
        file = AggregateFile.open(path)
        survey = file.survey
        stated = survey.tracked or survey
        if arguments.survey and arguments.survey not in (stated.title, stated.id[: len(arguments.survey)]):
            raise MismatchError(
                f"{path} has reports of survey {survey.id[:12]}, not of the given one; name that survey, or none"
            )
        before = next(iter(totals.values()), None)
        if before is not None and survey.id not in totals and (survey.period is None or before.survey.period is None):
            before + file  # raises: they are of two surveys
        totals[survey.id] = totals[survey.id] + file if survey.id in totals else file
    if not totals:
        raise UsageError("no file is given; --aggregate takes one or more")
    return totals


def _watch(arguments: argparse.Namespace, live: LiveSurvey) -> None:
    """A table that is updated in place."""
    from rich.live import Live

    out = console()
    waiting = "waiting for the first estimate; Ctrl-C ends it"
    with hushed(), Live(waiting, console=out, auto_refresh=False) as screen:
        for estimate in live.watch(rule=_given_rule(arguments)):
            screen.update(_page(arguments, live, estimate), refresh=True)
            _draw(arguments, estimate)


def _deliver(arguments: argparse.Namespace, live: LiveSurvey | None, estimate: Estimate) -> None:
    _draw(arguments, estimate)
    if not arguments.json:
        console().print(_page(arguments, live, estimate))
        return
    print_json(_result(arguments, live, estimate), one_line=arguments.watch)


def _draw(arguments: argparse.Namespace, estimate: Estimate) -> None:
    if arguments.picture is None:
        return
    from sottovoce.figures.style import save_figure

    save_figure(estimate.plot(k=arguments.top or _ROWS, level=arguments.level).figure, arguments.picture)


def _result(arguments: argparse.Namespace, live: LiveSurvey | None, estimate: Estimate) -> dict[str, Any]:
    stated = {
        **estimate.summary(arguments.level),
        **({} if live is None else {"waiting": live.status().waiting}),
        "influence": estimate.influence(arguments.hostile).to_dict(),
        "n_answers": len(estimate),
        "answers": _answers(arguments, estimate),
        **({"sums": _sums(arguments, estimate)} if arguments.sum else {}),
    }
    if arguments.word or arguments.words:
        stated["named"] = _named_words(arguments, estimate)
    if arguments.likeliest:
        found = estimate.likeliest()
        stated["likeliest"] = found.summary()
        largest = (-estimate.values).argsort(kind="stable") if _by_size(arguments, estimate) else range(len(estimate))
        for answer, index in zip(stated["answers"], largest, strict=False):
            answer["likeliest"] = float(found.values[index])
    return stated if arguments.picture is None else {**stated, "picture": str(arguments.picture)}


def _answers(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The rows: values by their share; queries and coordinates in their own order."""
    if _by_size(arguments, estimate):
        return [answer._asdict() for answer in estimate.top(arguments.top or _ROWS, arguments.level)]
    listed: list[dict[str, Any]] = estimate.to_dict(arguments.level)["answers"]
    return listed[:_ROWS]


def _by_size(arguments: argparse.Namespace, estimate: Estimate) -> bool:
    """Whether the largest answers come first."""
    return arguments.top is not None or estimate.survey.question.listed_by_size


def _sums(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The sums that were asked for, of raw answers."""
    sums = ((labels, estimate.sum(labels, arguments.level)) for labels in arguments.sum)
    return [
        {"labels": labels, "value": a.value, "low": a.low, "high": a.high, "method": a.method} for labels, a in sums
    ]


def _page(arguments: argparse.Namespace, live: LiveSurvey | None, estimate: Estimate) -> Group:
    """The table, the bound on the error, and the influence of malicious devices."""
    from rich.console import Group

    found = _result(arguments, live, estimate)
    waiting = f", {found['waiting']:,} waiting" if found.get("waiting") else ""
    more = found["n_answers"] - len(found["answers"])
    table = titled_table(
        f"{shown(found['title']) or found['survey'][:12]}: {plural(found['n_reports'], 'report')}{waiting}; "
        f"{guarantee(found['epsilon'], found['delta'])}, {found['mechanism']}",
        f"{plural(more, 'more answer')}; see --top" if more else "",
    )
    # Wide enough for a title on one line.
    table.add_column("answer", min_width=24)
    table.add_column("estimate", justify="right", style="bold")
    table.add_column(f"{100 * arguments.level:g} % interval", justify="right")
    table.add_column("raw", justify="right")
    if arguments.likeliest:
        table.add_column("likeliest", justify="right")
    if "words" in found:
        table.add_column("certain")
    named = found.get("named", ())
    for place, one in enumerate((*found["answers"], *named)):
        if named and place == len(found["answers"]):
            table.add_section()
            table.add_row("[dim]named by you[/]")
        ends = f"{one['low']:.4f} to {one['high']:.4f}"
        last = [f"{one['likeliest']:.4f}"] if arguments.likeliest else []
        last += ["yes" if one["certain"] else "no"] if "words" in found else []
        table.add_row(shown(one["label"]), f"{one['value']:.4f}", ends, f"{one['raw']:.4f}", *last)
    return Group(table, *_notes(found, arguments.level))


def _notes(found: dict[str, Any], level: float) -> list[str]:
    """What is to be known about the answers, below their table: sums, errors, and what malicious devices can do."""
    percent = f"{100 * level:g} %"
    lines = [
        f"{shown(' + '.join(one['labels']))}: {_with_ends(one, percent)} ({one['method']})"
        for one in found.get("sums", ())
    ]
    words = found.get("words")
    if words is None:
        lines += [
            f"intervals: {found['method']}",
            f"expected L2 error over all answers: at most {plain(found['bound']['l2'])}",
            f"the same of the raw answers: at most {plain(found['raw_bound']['l2'])}",
        ]
    else:
        lines += [
            f"certain: that any of the words found is nobody's has a probability of at most "
            f"{100 * words['false_discovery']:.3g} %; of the others, about {words['expected_doubtful']:.3g} are "
            "expected by chance",
            f"other, for what is no word of this survey: {_with_ends(words['other'], percent)}",
            f"intervals: {found['method']}",
        ]
    if "named" in found:
        lines.append(
            "a named word is judged as one that was chosen without looking at the list: of one that you chose from the "
            "list, quote what the list says"
        )
    lines.append(found["influence"]["statement"])
    if "likeliest" in found:
        ended = "" if found["likeliest"]["converged"] else ", not converged"
        lines.append(f"likeliest: within {found['likeliest']['gap']:.2g} of the largest log-likelihood{ended}")
    if words is not None and words["cut"]:
        lines.append("some prefixes were dropped for want of memory: see --most-prefixes")
    return lines


def _with_ends(one: dict[str, Any], percent: str) -> str:
    return f"{one['value']:.4f}, {percent} from {one['low']:.4f} to {one['high']:.4f}"


_OF_WORDS: Final = ("word", "words", "false_discovery", "most_prefixes")


def _add_words(parser: Parser) -> None:
    """Which words are asked for by name, and how others are searched for."""
    group = parser.add_argument_group("surveys of words")
    group.add_argument(
        "--word", action="append", metavar="WORD", help="also the share of this word; given again, of one more"
    )
    group.add_argument("--words", metavar="FILE", help="also the shares of these words: a text file, one per line")
    add_number(group, "--false-discovery", "P", "largest probability that any certain word is nobody's (default: 0.05)")
    add_integer(
        group, "--most-prefixes", "M", "prefixes kept at a level at most: a search takes time and memory for each"
    )


def _refuse_words_options(arguments: argparse.Namespace, question: Question) -> None:
    """Options of words are for words, and those of listed answers are not."""
    from sottovoce.cli.parser import UsageError

    searched = question.is_searched
    for name in ("sum", "likeliest") if searched else _OF_WORDS:
        if getattr(arguments, name):
            option = "--" + name.replace("_", "-")
            remedy = "use --word" if searched else "leave it out"
            kind = "listed answers; this survey asks" if searched else "surveys of words; this one does not ask"
            raise UsageError(f"{option} is for {kind} for words: {remedy}")


def _given_rule(arguments: argparse.Namespace) -> SearchRule | None:
    """How to search, as the options say; None as usual."""
    from sottovoce.estimates.words.search import SearchRule

    names = ("false_discovery", "most_prefixes")
    given = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    return SearchRule(**given) if given else None


def _named_words(arguments: argparse.Namespace, estimate: Estimate) -> list[dict[str, Any]]:
    """The shares of the words that were named, in their order; one that is none of the survey's is refused."""
    from sottovoce.core.errors import SurveyError
    from sottovoce.lab.populations.words import read_lines

    listed = read_lines(arguments.words, "words") if arguments.words else []
    texts = [*(arguments.word or ()), *(line for line in listed if line.strip())]
    question: Question = estimate.survey.question
    values = [question.parse(text) for text in texts]
    wrong = next((place for place, value in enumerate(values, 1) if not question.admits(value)), 0)
    if wrong:
        raise SurveyError(f"number {wrong} of the named words is none of this survey; allowed: {question.allowed}").at(
            "word" if wrong <= len(arguments.word or ()) else "words"
        )
    found = cast("WordEstimate", estimate)
    return [one._asdict() for one in found.of_many(values, arguments.level)] if values else []
