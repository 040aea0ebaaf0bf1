"""`sottovoce survey create`: state a survey and publish it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, number, whole_number
from sottovoce.cli.connection import CONNECTION, add_connection, connected, shown
from sottovoce.cli.domain_option import DOMAINS, add_domain, domain_of
from sottovoce.cli.output import console, print_json, working
from sottovoce.cli.workload_option import WORKLOADS, add_workload
from sottovoce.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_STRATEGY, DEFAULT_USERS, MAX_REPORT_BYTES
from sottovoce.plural import counted
from sottovoce.promise import delta_of, promised

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.protocols.adaptive import AdaptiveSurvey
    from sottovoce.survey import Survey

__all__ = ["register"]

_DESCRIPTION = """\
State a survey and publish it on a collector, which signs it. It can never be edited: its id is the hash of what it
says. Prints the id, how devices answer it and how to watch the estimate.
"""

_ALL_EXAMPLES = """\
examples:
  sottovoce survey create distribution --labels red,green,blue --epsilon 1 --title "Favourite colour"
  sottovoce survey create queries --workload prefix:64 --epsilon 1 --title Ages
  sottovoce survey create mean --dimension 20 --epsilon 2
  sottovoce survey create adaptive --attributes age=0..99 country=DE,FR,IT --rounds 20 --epsilon 1
  sottovoce survey create file survey.json
"""

_DISTRIBUTION = f"""\
{DOMAINS}
{CONNECTION}
examples:
  sottovoce survey create distribution --labels red,green,blue --epsilon 1 --title "Favourite colour"
  sottovoce survey create distribution --domain-size 1000 --epsilon 2 --minimum-reports 1000 --json
"""

_QUERIES = f"""\
{WORKLOADS}
{CONNECTION}
examples:
  sottovoce survey create queries --workload prefix:64 --epsilon 1 --title Ages
  sottovoce survey create queries --workload marginals:age=10,sex=2,country=30:2 --epsilon 2 --strategy fourier
"""

_MEAN = f"""\
{CONNECTION}
examples:
  sottovoce survey create mean --dimension 20 --epsilon 2 --title "Daily steps, a month of them"
"""

_ADAPTIVE = f"""\
{DOMAINS}
{CONNECTION}
examples:
  sottovoce survey create adaptive --attributes age=0..99 country=DE,FR,IT --rounds 20 --epsilon 1
  sottovoce survey create adaptive --domain-size 1e12 --rounds 40 --epsilon 2 --title Income
"""

_FILE = f"""\
A survey that Survey.to_json wrote. What it names by digest, a searched strategy's channel for example, is given with
--attachment.

{CONNECTION}
examples:
  sottovoce survey create file survey.json
  sottovoce survey create file survey.json --attachment channel.bin
"""


def register(commands: Commands) -> None:
    """Add the kinds."""
    create = commands.add_parser("create", help="publish a survey", description=_DESCRIPTION, epilog=_ALL_EXAMPLES)
    kinds = create.add_subparsers(
        title="kinds", metavar="KIND", dest="create_kind", required=True, parser_class=type(create)
    )
    _distribution(_kind(kinds, "distribution", "how people are distributed over values", _DISTRIBUTION))
    _queries(_kind(kinds, "queries", "mean answers to a set of linear queries", _QUERIES))
    _mean(_kind(kinds, "mean", "the mean of people's vectors", _MEAN))
    _adaptive(_kind(kinds, "adaptive", "questions that depend on earlier answers", _ADAPTIVE))
    _file(_kind(kinds, "file", "a survey that was stated elsewhere", _FILE))


def _kind(kinds: Commands, name: str, summary: str, epilog: str) -> Parser:
    return kinds.add_parser(name, help=summary, description=_DESCRIPTION, epilog=epilog)


def _add_common(parser: Parser) -> None:
    parser.add_argument("--epsilon", type=number, required=True, metavar="E", help="what one report may reveal")
    parser.add_argument("--title", default="", metavar="T", help="what people are told it is about")
    _add_publishing(parser)


def _add_publishing(parser: Parser) -> None:
    parser.add_argument(
        "--minimum-reports",
        type=whole_number,
        metavar="N",
        help="no estimate before so many reports (default: the collector's setting)",
    )
    add_connection(parser)


def _add_vector(parser: Parser) -> None:
    parser.add_argument(
        "--delta", type=number, default=0.0, metavar="DELTA", help="above 0 for gaussian only (default: 0)"
    )
    parser.add_argument(
        "--mechanism", default="auto", metavar="M", help="codebook, gaussian or rejection (default: auto)"
    )
    parser.add_argument(
        "--users",
        type=whole_number,
        default=DEFAULT_USERS,
        metavar="N",
        help=f"about how many people will answer (default: {DEFAULT_USERS:,})",
    )
    _add_report_bytes(parser, MAX_REPORT_BYTES)
    parser.add_argument(
        "--max-counters",
        type=whole_number,
        default=DEFAULT_COUNTERS,
        metavar="C",
        help="most integers the aggregate may hold; with more of them fewer people share a rotation of the codebook "
        f"(default: {DEFAULT_COUNTERS:,})",
    )


def _add_report_bytes(parser: Parser, default: int) -> None:
    parser.add_argument(
        "--max-report-bytes",
        type=whole_number,
        default=default,
        metavar="B",
        help=f"the longest report allowed (default: {default:,})",
    )


def _distribution(parser: Parser) -> None:
    add_domain(parser)
    parser.add_argument("--mechanism", default="auto", metavar="M", help="see 'sottovoce mechanisms' (default: auto)")
    _add_report_bytes(parser, DEFAULT_REPORT_BYTES)
    _add_common(parser)

    def state(asked: argparse.Namespace) -> Survey:
        from sottovoce import Survey

        return Survey.distribution(
            domain_of(asked),
            asked.epsilon,
            asked.mechanism,
            title=asked.title,
            max_report_bytes=asked.max_report_bytes,
        )

    parser.set_defaults(run=_run, state=state)


def _queries(parser: Parser) -> None:
    add_workload(parser)
    parser.add_argument(
        "--strategy",
        default=DEFAULT_STRATEGY,
        metavar="NAME",
        help=f"how answers are got from reports; see 'sottovoce plan queries' (default: {DEFAULT_STRATEGY})",
    )
    _add_vector(parser)
    _add_common(parser)

    def state(asked: argparse.Namespace) -> Survey:
        from sottovoce import Survey
        from sottovoce.workloads.parse import parse_workload

        workload = parse_workload(asked.workload)
        with working("comparing strategies"):
            return Survey.queries(
                workload,
                asked.epsilon,
                asked.delta,
                asked.mechanism,
                strategy=asked.strategy,
                users=asked.users,
                title=asked.title,
                max_report_bytes=asked.max_report_bytes,
                max_counters=asked.max_counters,
            )

    parser.set_defaults(run=_run, state=state)


def _mean(parser: Parser) -> None:
    parser.add_argument("--dimension", type=whole_number, required=True, metavar="D", help="numbers a person has")
    parser.add_argument(
        "--radius",
        type=number,
        default=1.0,
        metavar="R",
        help="the largest norm a person's vector may have (default: 1)",
    )
    _add_vector(parser)
    _add_common(parser)

    def state(asked: argparse.Namespace) -> Survey:
        from sottovoce import Survey

        return Survey.mean(
            asked.dimension,
            asked.radius,
            asked.epsilon,
            asked.delta,
            asked.mechanism,
            users=asked.users,
            title=asked.title,
            max_report_bytes=asked.max_report_bytes,
            max_counters=asked.max_counters,
        )

    parser.set_defaults(run=_run, state=state)


def _adaptive(parser: Parser) -> None:
    add_domain(parser)
    parser.add_argument(
        "--rounds", type=whole_number, required=True, metavar="D", help="how many questions may be asked"
    )
    parser.add_argument(
        "--radius", type=number, default=1.0, metavar="R", help="how large a question's values may be (default: 1)"
    )
    _add_common(parser)

    def state(asked: argparse.Namespace) -> AdaptiveSurvey:
        from sottovoce import Survey

        return Survey.adaptive(domain_of(asked), asked.rounds, asked.epsilon, radius=asked.radius, title=asked.title)

    parser.set_defaults(run=_run, state=state)


def _file(parser: Parser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="the survey's JSON")
    parser.add_argument("--attachment", type=Path, metavar="FILE", help="what it names by its digest, if anything")
    _add_publishing(parser)

    def state(asked: argparse.Namespace) -> Survey | AdaptiveSurvey:
        from sottovoce import Survey
        from sottovoce.errors import SottovoceError

        text, attached = _read(asked.path), None if asked.attachment is None else _read(asked.attachment)
        try:
            return Survey.from_json(text, {} if attached is None else {_digest(text): attached})
        except SottovoceError as error:
            error.args = (f"in {str(asked.path)!r}: {error}",)
            raise

    parser.set_defaults(run=_run, state=state)


def _digest(text: bytes) -> str:
    """What a survey's JSON names its attachment by; whether the attachment fits is for the survey to say."""
    from sottovoce.statement import parse_json

    stated = parse_json(text)
    strategy = stated.get("strategy") if isinstance(stated, dict) else None
    digest = strategy.get("digest") if isinstance(strategy, dict) else None
    return digest if isinstance(digest, str) else ""


def _read(path: Path) -> bytes:
    from sottovoce.errors import SurveyError
    from sottovoce.statement import MAX_SURVEY_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_SURVEY_BYTES + 1)
    except OSError as error:
        problem = error.strerror or "it cannot be read"
    raise SurveyError(f"{str(path)!r} cannot be read: {problem}; name the file that holds the survey")


def _run(arguments: argparse.Namespace) -> int:
    collector = connected(arguments)
    survey = arguments.state(arguments)
    live = collector.publish(survey, arguments.minimum_reports)
    status = live.status()
    url, adaptive = collector.http.url, status.rounds is not None
    # A program gets the whole id, which is the survey's digest; a person types less.
    answer = f"sottovoce answer {url} {survey.id if arguments.json else survey.id[:12]} VALUE"
    page = f"{url}/s/{survey.id}"
    watch = (
        f"sottovoce ask {survey.id[:12]} QUESTION --reports N"
        if adaptive
        else f"sottovoce estimate {survey.id[:12]} --watch"
    )
    if arguments.json:
        print_json({**status.to_dict(), "url": url, "page": page, "answer": answer, "watch": watch})
        return 0
    out = console()
    out.print(f"[bold]{survey.id}[/]  {shown(survey.title)}", soft_wrap=True)
    private = promised(survey.epsilon, delta_of(survey))
    out.print(f"{status.kind}, {private}, {status.mechanism or counted(status.rounds or 0, 'round')}")
    out.print(f"no estimate before {counted(status.minimum_reports, 'report')}{' a round' if adaptive else ''}\n")
    out.print(f"people answer at:  {page}", markup=False, soft_wrap=True)
    out.print(f"a device answers:  {answer}", markup=False, soft_wrap=True)
    out.print(f"{'you ask:' if adaptive else 'you watch:':<17}  {watch}", markup=False, soft_wrap=True)
    return 0
