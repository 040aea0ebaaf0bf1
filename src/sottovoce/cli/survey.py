"""`sottovoce survey`: publish, list, show, embed, seal and delete surveys on a collector."""

from __future__ import annotations

import argparse
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli import survey_create
from sottovoce.cli.arguments import Commands, add_subcommands
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, report_warning, titled_table
from sottovoce.core.words import delta_of, plural

if TYPE_CHECKING:
    from sottovoce.analyst.live import LiveSurvey
    from sottovoce.cli.parser import Parser
    from sottovoce.protocol.surveys import Embedding
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["register"]

_LIST_NOTE = (
    "anybody can read this list, without a token; epsilon: the local one, which devices charge; an id may be shortened "
    "while it is unambiguous"
)

_EXAMPLES = """\
examples:
  sottovoce survey create shares --labels red,green,blue --epsilon 1 --title "Favourite colour"
  sottovoce survey list
  sottovoce survey show "Favourite colour"
  sottovoce survey embed "Favourite colour" --origin https://www.example.org
  sottovoce survey seal 3f9a11c2
  sottovoce survey delete 3f9a11c2 --yes
"""

_SEAL = """\
Accept no more reports, also for the rounds of a panel and the periods of a tracking survey. This cannot be undone;
estimates stay available.
"""

_DELETE = """\
Delete all reports, counts, rounds and periods of a survey. This cannot be undone, and the survey cannot be
published again.
"""


def register(command: Parser) -> None:
    """Describe the command and add its options."""
    command.epilog = _EXAMPLES
    inner = add_subcommands(command, "actions", "ACTION")
    survey_create.register(inner)
    public = "List all surveys that are open or sealed. The list is public: devices read it without a token."
    _add(inner, "list", "list all surveys", public, "list", _list)
    show = "Show a survey's statement, with id and signature verified, and its status."
    _add_survey(_add(inner, "show", "show one survey and its status", show, 'show "Favourite colour"', _show))
    _add_embed(inner)
    _add_survey(_add(inner, "seal", "accept no more reports", _SEAL, "seal 3f9a11c2", _seal))
    delete = _add(inner, "delete", "delete a survey and its reports", _DELETE, "delete 3f9a11c2 --yes", _delete)
    _add_survey(delete)
    delete.add_argument("--yes", action="store_true", help="required, because this cannot be undone")


def _add(inner: Commands, name: str, summary: str, description: str, example: str, run: Any) -> Parser:
    epilog = f"{CONNECTION}\nexamples:\n  sottovoce survey {example}\n  sottovoce survey {example} --json\n"
    parser = inner.add_parser(name, help=summary, description=description, epilog=epilog)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def _add_survey(parser: Parser) -> None:
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)


def _list(arguments: argparse.Namespace) -> int:
    collector = connected(arguments, public=True)
    listed = collector.surveys()
    if arguments.json:
        names = ("id", "title", "kind", "epsilon", "delta", "state")
        print_json({"surveys": [{name: getattr(entry, name) for name in names} for entry in listed]})
        return 0
    out = console()
    if not listed:
        out.print("no surveys; publish one with 'sottovoce survey create'", markup=False)
        return 0
    table = titled_table(f"surveys of {shown(collector.http.url)}", _LIST_NOTE)
    for heading in ("id", "title", "kind"):
        table.add_column(heading)
    table.add_column("epsilon", justify="right")
    with_delta = any(entry.delta for entry in listed)
    if with_delta:
        table.add_column("delta", justify="right")
    table.add_column("state")
    for entry in listed:
        private = [f"{entry.epsilon:g}", *(["?" if entry.delta is None else f"{entry.delta:g}"] if with_delta else [])]
        table.add_row(shown(entry.id[:12]), shown(entry.title), shown(entry.kind), *private, entry.state)
    out.print(table)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from sottovoce.core.signing import fingerprint

    collector = connected(arguments)
    live = collector.survey(arguments.survey)
    status = live.status()
    if arguments.json:
        key = {"fingerprint": fingerprint(collector.key)}
        print_json({**status.to_dict(), "statement": live.survey.to_statement(), **key})
        return 0
    table = titled_table(shown(live.survey.title) or "survey without a title", "the statement is as signed")
    table.show_header = False
    table.add_column("")
    table.add_column("", overflow="fold")
    for name, value in _described(live, fingerprint(collector.key)):
        table.add_row(name, value)
    console().print(table)
    return 0


def _described(live: LiveSurvey, key: str) -> list[tuple[str, str]]:
    from rich.markup import escape

    from sottovoce.core.text import one_line
    from sottovoce.surveys.panel import Panel
    from sottovoce.surveys.survey import Tracking

    status, survey = live.status(), live.survey
    relayed = [] if isinstance(survey, Panel) or survey.relay is None else _relayed(survey)
    rows = [
        ("id", survey.id),
        ("kind", status.kind),
        ("local epsilon" if relayed else "epsilon", f"{survey.epsilon:g}"),
        *([("delta", f"{delta_of(survey):g}")] if delta_of(survey) else []),
        *relayed,
        ("state", status.state),
        ("no estimate below", plural(status.minimum_reports, "report")),
    ]
    if isinstance(survey, Tracking):
        rows += [("mechanism", status.mechanism or ""), ("guarantee", survey.promise), *_periods(live, survey)]
    elif status.rounds is None:
        rows += [("mechanism", status.mechanism or ""), ("reports", f"{status.n_reports:,} counted")]
        rows += [("waiting to be counted", f"{status.waiting:,}")]
    else:
        rows += [("rounds", f"{status.asked or 0:,} of {status.rounds:,} asked")]
    rows += [("signed by", f"{key[:16]} (fingerprint)"), ("statement", one_line(survey.to_json(), 2000))]
    return [(name, escape(value)) for name, value in rows]


def _relayed(survey: Survey | Tracking) -> list[tuple[str, str]]:
    """The relay, and both guarantees with what the central one rests on."""
    certificate = survey.amplified()
    return [("relay", f"{survey.relay}"), ("guarantees", f"{certificate}"), ("the central one", certificate.assumption)]


def _periods(live: LiveSurvey, survey: Tracking) -> list[tuple[str, str]]:
    """How far a tracking survey has come, and what can be answered now."""
    begun = live.periods()
    total = survey.calendar.periods
    rows = [("periods", f"{len(begun):,} have begun" if total is None else f"{len(begun):,} of {total:,} have begun")]
    rows += [("reports", f"{sum(period.n_reports for period in begun):,} counted")]
    if not begun:
        rows += [("begins", f"{survey.calendar.start(1):%Y-%m-%d}")]
    for period in begun:
        if period.state == "open":
            state = f"{plural(period.n_reports, 'report')}, closes {period.closes[:10]}"
            rows.append(("open", f"{period.label}: {state}"))
    return rows


def _seal(arguments: argparse.Namespace) -> int:
    live = connected(arguments).survey(arguments.survey)
    live.seal()
    return _report_change(arguments, live, "sealed: it accepts no more reports")


def _delete(arguments: argparse.Namespace) -> int:
    from sottovoce.cli.parser import UsageError

    live = connected(arguments).survey(arguments.survey)
    if not arguments.yes:
        raise UsageError(
            f"deleting survey {live.id[:12]} cannot be undone, and it cannot be published again; confirm with --yes, "
            "or use 'sottovoce survey seal' instead"
        )
    live.delete()
    return _report_change(arguments, live, "deleted, with all its reports")


def _report_change(arguments: argparse.Namespace, live: LiveSurvey, done: str) -> int:
    if arguments.json:
        print_json({"id": live.id, "title": live.survey.title, "state": done.split(":")[0].split(",")[0]})
    else:
        console().print(f"{live.id[:12]} {shown(live.survey.title)} {done}", soft_wrap=True)
    return 0


_EMBED = """\
Print the HTML that shows a survey in another page: the collector's script with its integrity, and the element with
the survey's id and the collector's key. What the collector serves is hashed here, and compared with what this package
holds. Warns on standard error if the page may not ask yet.
"""

_EMBED_EXAMPLES = """\
examples:
  sottovoce survey embed "Favourite colour"
  sottovoce survey embed 3f9a11c2 --origin https://www.example.org
  sottovoce survey embed 3f9a11c2 --origin http://127.0.0.1:8000 --out question.html
  sottovoce survey embed 3f9a11c2 --json
"""


def _add_embed(inner: Commands) -> None:
    """Describe the command and add its options."""
    summary = "print the HTML that shows it in another page"
    parser = inner.add_parser("embed", help=summary, description=_EMBED, epilog=f"{CONNECTION}\n{_EMBED_EXAMPLES}")
    add_connection(parser)
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)
    parser.add_argument(
        "--origin",
        metavar="ORIGIN",
        help="check that a page of this web origin may ask, such as https://www.example.org",
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page with these lines, to try them")
    parser.set_defaults(run=_embed)


def _embed(arguments: argparse.Namespace) -> int:
    origin = _origin(arguments.origin)
    live = connected(arguments).survey(arguments.survey)
    embedding = live.embedding()
    warnings = [*_unlike(embedding), *_unallowed(embedding, origin)]
    if arguments.out is not None:
        _write_page(arguments.out, live.survey.title, embedding.snippet)
    if arguments.json:
        print_json(
            {
                "id": live.id,
                "snippet": embedding.snippet,
                "script": embedding.script,
                "integrity": embedding.integrity,
                "bytes": embedding.bytes,
                "allow_origins": embedding.allow_origins,
                "warnings": warnings,
            }
        )
        return 0
    sys.stdout.write(embedding.snippet)
    for warning in warnings:
        report_warning(warning)
    return 0


def _write_page(file: Path, title: str, lines: str) -> None:
    """A page with these lines in a new file; one that is there already is not touched."""
    from sottovoce.cli.parser import UsageError

    page = (
        '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n{lines}</html>\n"
    )
    try:
        with file.open("x", encoding="utf-8") as opened:
            opened.write(page)
    except FileExistsError:
        raise UsageError(f"{file} is there already, and was not changed: name another file with --out") from None
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}): name another file with --out") from None


def _origin(given: str | None) -> str:
    """The origin that was given, empty if none was."""
    from sottovoce.cli.parser import UsageError
    from sottovoce.service.running.settings import origin

    try:
        return origin(given or "")
    except ValueError:
        raise UsageError("--origin must be a web origin such as https://www.example.org, without a path") from None


def _unlike(embedding: Embedding) -> list[str]:
    """Whether the collector serves what this package holds."""
    from sottovoce.collector.pages.files import ELEMENT, load_files
    from sottovoce.core.integrity import integrity_of

    if integrity_of(load_files({})[ELEMENT].plain.body) == embedding.integrity:
        return []
    return [
        "the collector's script is not the one of this package: it is of another version, or its file was changed; "
        "compare versions before any page trusts it"
    ]


def _unallowed(embedding: Embedding, origin: str) -> list[str]:
    """Whether pages of an origin may ask, or of any where none was given."""
    allowed = {*embedding.allow_origins}
    if "*" in allowed or origin in allowed or (allowed and not origin):
        return []
    listed = ",".join([*embedding.allow_origins, origin or "https://www.example.org"])
    who = f"pages of {origin}" if origin else "no pages of other origins"
    return [
        f"{who} may{' not' if origin else ''} ask this collector yet: start it with --allow-origins {listed} "
        "(SOTTOVOCE_ALLOW_ORIGINS, or allow_origins in its file)"
    ]
