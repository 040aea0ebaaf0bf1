"""`sottovoce survey create`: publish a survey."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from sottovoce.cli.arguments import Commands, add_epsilon, add_integer, add_subcommands, name_neighbours
from sottovoce.cli.connection import CONNECTION, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, report_warning, working
from sottovoce.cli.period_options import add_calendar, given_calendar, people_of_a_period
from sottovoce.cli.survey_options import (
    add_design,
    add_groups,
    add_parameters,
    add_relay,
    asked_question,
    example_words,
    given_design,
    given_groups,
    given_parameters,
    given_relay,
    how_to_write,
)
from sottovoce.core.limits import DEFAULT_CAP, DEFAULT_DELTA_CAP, DEFAULT_PEOPLE
from sottovoce.core.words import delta_of, guarantee, plural
from sottovoce.questions.registry import REGISTRY
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Tracking

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.questions.base import Question
    from sottovoce.questions.parameter import Parameter
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["read_stated", "register", "stated_in_file"]

S = TypeVar("S")

_DESCRIPTION: Final = """\
Publish a survey on a collector, which signs it. It cannot be edited: its id is the hash of its statement. Prints the
id, how devices answer it and how to watch the estimate.
"""

_CAP: Final = f"""\
A device gives one survey an epsilon of {DEFAULT_CAP:g} at most, unless its owner allows more; the survey's own page
never does.
"""

_FILE: Final = f"""\
Publish a survey that Survey.to_json wrote. A file that it names by digest, for example the channel of an optimized
strategy, is given with --attachment.

{CONNECTION}
examples:
  sottovoce survey create file survey.json
  sottovoce survey create file survey.json --attachment channel.bin
"""

_COMMAND: Final = "sottovoce survey create"


def register(commands: Commands) -> None:
    """Add the command, with one kind per question."""
    asked = {kind.kind: f"{_COMMAND} {kind.kind} {example_words(kind.parameters)}" for kind in _stated()}
    examples = "".join(f"  {words} --epsilon 1\n" for words in asked.values())
    create = commands.add_parser(
        "create",
        help="publish a survey",
        description=_DESCRIPTION,
        epilog=f"examples:\n{examples}  {_COMMAND} file survey.json\n",
    )
    kinds = add_subcommands(create, "kinds", "KIND")
    for kind in _stated():
        parser = _kind(kinds, kind.kind, kind.summary, _epilog(asked[kind.kind], kind.parameters))
        add_parameters(parser, kind.parameters)
        add_epsilon(parser)
        parser.add_argument("--title", default="", metavar="T", help="title that people see")
        if issubclass(kind, Panel):
            parser.set_defaults(state=_panel)
        else:
            _add_asking(parser, kind)
        _add_publishing(parser)
    _file(_kind(kinds, "file", "a survey from a file", _FILE))
    name_neighbours(kinds)


def _stated() -> tuple[type[Question] | type[Panel], ...]:
    """Every kind of survey that options can describe."""
    return (*REGISTRY.everything().values(), Panel)


def _epilog(asked: str, parameters: tuple[Parameter, ...]) -> str:
    written = how_to_write(parameters)
    weekly = f"  {asked} --epsilon 1 --every week --starts 2027-01-04 --periods 52\n"
    repeated = "" if parameters is Panel.parameters else weekly
    return f"""\
{written}{chr(10) if written else ""}{_CAP}
{CONNECTION}
examples:
  {asked} --epsilon 1 --title "A question to everybody"
  {asked} --epsilon 2 --minimum-reports 1000 --json
{repeated}"""


def _kind(kinds: Commands, name: str, summary: str, epilog: str) -> Parser:
    parser = kinds.add_parser(name, help=summary, description=_DESCRIPTION, epilog=epilog)
    parser.set_defaults(run=_run)
    return parser


def _add_asking(parser: Parser, kind: type[Question]) -> None:
    add_integer(parser, "--people", "N", "expected number of people", DEFAULT_PEOPLE)
    add_design(parser, kind)
    add_calendar(parser)
    add_groups(parser)
    add_relay(parser)
    parser.set_defaults(state=partial(_survey, kind))


def _add_publishing(parser: Parser) -> None:
    add_integer(
        parser,
        "--minimum-reports",
        "N",
        "no estimate below this number of reports, invented ones included (default: the collector's setting)",
    )
    add_connection(parser)


def _survey(kind: type[Question], asked: argparse.Namespace) -> Survey | Tracking:
    from sottovoce.surveys.calendar import Calendar
    from sottovoce.surveys.survey import Survey

    question, stated = asked_question(kind, asked), given_calendar(asked)
    settings = {
        "title": asked.title,
        "relay": given_relay(asked),
        "groups": given_groups(asked),
        **given_design(asked),
    }
    if not stated:
        with working("comparing designs"):
            return Survey(question, epsilon=asked.epsilon, people=asked.people, **settings)
    people = people_of_a_period(asked.people, Calendar.of(**stated))
    with working("comparing designs"):
        return Tracking(question, epsilon=asked.epsilon, people=people, **stated, **settings)


def _panel(asked: argparse.Namespace) -> Panel:
    return Panel.of(asked.epsilon, asked.title, **given_parameters(Panel.parameters, asked))


def _file(parser: Parser) -> None:
    parser.add_argument("path", type=Path, metavar="FILE", help="the survey's JSON")
    parser.add_argument("--attachment", type=Path, metavar="FILE", help="the file that it names by digest, if any")
    _add_publishing(parser)
    parser.set_defaults(state=_stated_in_file)


def _stated_in_file(asked: argparse.Namespace) -> Survey | Panel | Tracking:
    return stated_in_file(asked.path, asked.attachment)


def stated_in_file(path: Path, attachment: Path | None) -> Survey | Panel | Tracking:
    """The survey or panel whose JSON a file holds, with the attachment that it names by digest."""
    from sottovoce.surveys.survey import Survey

    return read_stated(path, attachment, Survey.from_json)


def read_stated(path: Path, attachment: Path | None, read: Callable[[bytes, dict[str, bytes]], S]) -> S:
    """What `read` makes of the JSON in a file and the attachment that it names; an error says in which file."""
    from sottovoce.core.errors import SottovoceError

    text, attached = _read(path), None if attachment is None else _read(attachment)
    try:
        return read(text, {} if attached is None else {_digest(text): attached})
    except SottovoceError as error:
        error.args = (f"in {str(path)!r}: {error}",)
        raise


def _digest(text: bytes) -> str:
    """The digest of the attachment that a survey's JSON names; the survey itself checks the attachment."""
    from sottovoce.surveys.statement import parse_json

    stated = parse_json(text)
    design = stated.get("design") if isinstance(stated, dict) else None
    digest = design.get("digest") if isinstance(design, dict) else None
    return digest if isinstance(digest, str) else ""


def _read(path: Path) -> bytes:
    from sottovoce.core.errors import SurveyError
    from sottovoce.surveys.statement import MAX_SURVEY_BYTES

    try:
        with path.open("rb") as file:
            return file.read(MAX_SURVEY_BYTES + 1)
    except OSError as error:
        problem = error.strerror or "it cannot be read"
    raise SurveyError(f"{str(path)!r} cannot be read: {problem}; name the file that holds the survey")


def _run(arguments: argparse.Namespace) -> int:
    collector = connected(arguments)
    survey = arguments.state(arguments)
    _warn_of_caps(survey)
    live = collector.publish(survey, arguments.minimum_reports)
    status = live.status()
    url, panel = collector.http.url, isinstance(survey, Panel)
    # Programs get the whole id; people a short one.
    answer = f"sottovoce answer {url} {survey.id if arguments.json else survey.id[:12]} VALUE"
    page = f"{url}/s/{survey.id}"
    groups = None if isinstance(survey, Panel) else survey.groups
    if groups is not None:
        answer += " --group GROUP"
    watch = (
        f"sottovoce ask {survey.id[:12]} QUESTION --reports N"
        if panel
        else f"sottovoce estimate {survey.id[:12]} --watch"
    )
    if arguments.json:
        print_json({**status.to_dict(), "url": url, "page": page, "answer": answer, "watch": watch})
        return 0
    out = console()
    out.print(f"[bold]{survey.id}[/]  {shown(survey.title)}", soft_wrap=True)
    out.print(f"{status.kind}, {_private(survey)}, {status.mechanism or plural(status.rounds or 0, 'round')}")
    if not isinstance(survey, Panel) and survey.relay is not None:
        out.print(f"{survey.amplified()}", soft_wrap=True)
    if groups is not None:
        out.print(f"sent in the open: {groups}", markup=False, soft_wrap=True)
    where = f" in a {survey.part}" if isinstance(survey, (Panel, Tracking)) else ""
    out.print(f"no estimate below {plural(status.minimum_reports, 'report')}{where}\n")
    out.print(f"people answer at:  {page}", markup=False, soft_wrap=True)
    out.print(f"a device answers:  {answer}", markup=False, soft_wrap=True)
    out.print(f"{'you ask:' if panel else 'you watch:':<17}  {watch}", markup=False, soft_wrap=True)
    return 0


def _warn_of_caps(survey: Survey | Panel | Tracking) -> None:
    """Say that nobody will answer, before it is published: a survey cannot be edited."""
    for name, asked, most in (
        ("epsilon", survey.epsilon, DEFAULT_CAP),
        ("delta", delta_of(survey), DEFAULT_DELTA_CAP),
    ):
        if asked > most:
            report_warning(
                f"{name} {asked:g} is above {most:g}, the most that a device gives one survey unless its owner allows "
                f"more ({'--cap' if name == 'epsilon' else 'delta_cap'}); the survey's own page refuses it always"
            )


def _private(survey: Survey | Panel | Tracking) -> str:
    """The guarantee, for a tracking survey per window and over its life."""
    return guarantee(survey.epsilon) if isinstance(survey, Panel) else survey.promise
