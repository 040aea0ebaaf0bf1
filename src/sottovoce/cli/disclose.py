"""`sottovoce disclose`: the page that a survey's reviewers read."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sottovoce.cli.arguments import refuse_options
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, refuse_connection
from sottovoce.cli.output import print_json, report_error
from sottovoce.collector.settings import URL_VARIABLE

if TYPE_CHECKING:
    from sottovoce.analyst.collector import Collector
    from sottovoce.cli.parser import Parser
    from sottovoce.disclosure import Disclosure, PlaceInLog
    from sottovoce.disclosure.brief import AnySurvey

__all__ = ["PARTIAL", "register"]

BROKEN: Final = 1
PARTIAL: Final = 3
"""Exit status of a page on which parts cannot be stated."""

_DESCRIPTION: Final = """\
Write one page on what a survey promises: unit of privacy, who must be trusted, local and central epsilon, what a person
can lose in all, the mechanism and its audit, what is not covered, who sees what, versions and hashes; every field of
OpenDP's registry of deployments, and every part of NIST SP 800-226. What nobody has said is "not claimed".
A survey with parts that cannot be stated is refused, by name; with --partial the page says so at each of them.
"""

_EXAMPLES: Final = f"""\
{CONNECTION}
exit status: 0 if all parts are stated; 1 if the audit found the device broken; 2 an error; 3 if a partial page was
written, on which parts cannot be stated.

examples:
  sottovoce disclose survey.json --output page.html
  sottovoce disclose survey.json --about about.json --audit full --output page.html
  sottovoce disclose "Favourite colour" --format markdown           a survey on a collector
  sottovoce disclose survey.json --format json --audit none
  sottovoce disclose panel.json --partial --output page.html
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", metavar="SURVEY", help=f"a file with its JSON; or, on a collector, {SURVEY}")
    parser.add_argument(
        "--attachment", type=Path, metavar="FILE", help="the file that its JSON names by digest, if any"
    )
    parser.add_argument(
        "--format", choices=("html", "markdown", "json"), default="html", metavar="F", help="html, markdown or json"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the page there (default: standard output)")
    parser.add_argument(
        "--about", type=Path, metavar="FILE", help="JSON with what a survey cannot know: curator, contact, purpose, ..."
    )
    parser.add_argument(
        "--audit",
        choices=("quick", "full", "none"),
        default="quick",
        metavar="A",
        help="run the device for seconds (quick), for minutes (full), or not at all (none)",
    )
    parser.add_argument(
        "--partial", action="store_true", help="write a page although parts of it cannot be stated, or it is broken"
    )
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.errors import MechanismError
    from sottovoce.core.files import check_file, write_file
    from sottovoce.disclosure import About, disclose

    if arguments.json and arguments.output is None:
        refuse_options(arguments, "is for a page; --json prints JSON: leave one of them out", "format")
    about = About() if arguments.about is None else About.read(arguments.about)
    if arguments.output is not None:
        check_file(arguments.output, "page")
    survey, collector = _subject(arguments)
    key, log = (None, None) if collector is None else (collector.key, _position(survey, collector))
    page = disclose(survey, about=about, audit=arguments.audit, partial=True, key=key, log=log)
    if not arguments.partial:
        try:
            page.check()
        except MechanismError as error:
            report_error(error, as_json=arguments.json)
            return BROKEN
    # With --json everything on standard output is one JSON object: the page, or where it was written.
    text = page.render("json" if arguments.json and arguments.output is None else arguments.format)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_file(arguments.output, text)
        _tell(arguments, page)
    return {"complete": 0, "partial": PARTIAL, "broken": BROKEN}[page.standing]


def _subject(arguments: argparse.Namespace) -> tuple[AnySurvey, Collector | None]:
    """The survey in a file, or one on a collector, and the collector."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.cli.survey_create import read_stated
    from sottovoce.disclosure import read_survey

    path = Path(arguments.survey)
    if path.is_file() or path.suffix == ".json":
        refuse_connection(arguments, "SURVEY is a file")
        return read_stated(path, arguments.attachment, read_survey), None
    if arguments.attachment is not None:
        raise UsageError("--attachment belongs to a survey in a file; a collector has its own (leave it out)")
    if not (arguments.url or os.environ.get(URL_VARIABLE)):
        raise UsageError(
            f"the file {arguments.survey!r} does not exist, and no collector is given to look for a survey of that "
            f"name; name a file with a survey's JSON, use --url or set {URL_VARIABLE}"
        )
    collector = connected(arguments, public=True)
    return collector.survey(arguments.survey).survey, collector


def _position(survey: AnySurvey, collector: Collector) -> PlaceInLog | None:
    """The position of a survey in the collector's log. A period has none: it follows from its tracking survey."""
    from sottovoce.disclosure import PlaceInLog
    from sottovoce.surveys.survey import Survey

    if isinstance(survey, Survey) and survey.period is not None:
        return None
    position = collector.place_in_log(survey.id)
    return None if position is None else PlaceInLog(position[0], position[1].size, position[1].root.hex())


def _tell(arguments: argparse.Namespace, page: Disclosure) -> None:
    from rich.markup import escape

    from sottovoce.cli.output import console

    if arguments.json:
        fields = page.to_dict()
        kept = {name: fields[name] for name in ("survey", "standing", "cannot_be_stated")}
        print_json({"page": str(arguments.output), **kept})
    else:
        console().print(f"[bold]{escape(str(arguments.output))}[/]: {escape(page.headline)}", soft_wrap=True)
