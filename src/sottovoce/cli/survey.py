"""`sottovoce survey`: publish, list, look at, seal and delete the surveys of a collector."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sottovoce.cli import survey_create
from sottovoce.cli.arguments import Commands
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.plural import counted
from sottovoce.promise import delta_of

if TYPE_CHECKING:
    from sottovoce.analyst.live import LiveSurvey
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_SUMMARY = "publish, list, show, seal and delete surveys on a collector"

_EXAMPLES = """\
examples:
  sottovoce survey create shares --labels red,green,blue --epsilon 1 --title "Favourite colour"
  sottovoce survey list
  sottovoce survey show "Favourite colour"
  sottovoce survey seal 3f9a
  sottovoce survey delete 3f9a --yes
"""

_SEAL = """\
Take no more reports, for good; those of a panel's rounds neither. Estimates stay. Sealing twice changes
nothing.
"""

_DELETE = """\
Remove all reports, counts and rounds of a survey, for good. Its id stays taken, so that it cannot be published again.
"""


def register(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser("survey", help=_SUMMARY, description=_SUMMARY, epilog=_EXAMPLES)
    inner = command.add_subparsers(
        title="what to do", metavar="DO", dest="survey_do", required=True, parser_class=type(command)
    )
    survey_create.register(inner)
    _add(inner, "list", "all surveys", "All surveys that are open or sealed.", "list", _list)
    show = "What a survey says, verified: its id recomputed, the collector's signature checked; and where it stands."
    _add_survey(_add(inner, "show", "what one says, and where it stands", show, 'show "Favourite colour"', _show))
    _add_survey(_add(inner, "seal", "take no more reports", _SEAL, "seal 3f9a", _seal))
    delete = _add(inner, "delete", "remove all its reports", _DELETE, "delete 3f9a --yes", _delete)
    _add_survey(delete)
    delete.add_argument("--yes", action="store_true", help="needed: what is deleted cannot be brought back")


def _add(inner: Commands, name: str, summary: str, description: str, example: str, run: Any) -> Parser:
    epilog = f"{CONNECTION}\nexamples:\n  sottovoce survey {example}\n  sottovoce survey {example} --json\n"
    parser = inner.add_parser(name, help=summary, description=description, epilog=epilog)
    add_connection(parser)
    parser.set_defaults(run=run)
    return parser


def _add_survey(parser: Parser) -> None:
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)


def _list(arguments: argparse.Namespace) -> int:
    collector = connected(arguments)
    listed = collector.surveys()
    if arguments.json:
        names = ("id", "title", "kind", "epsilon", "delta", "state")
        print_json({"surveys": [{name: getattr(one, name) for name in names} for one in listed]})
        return 0
    out = console()
    if not listed:
        out.print("no survey yet; make one with 'sottovoce survey create'", markup=False)
        return 0
    table = titled_table(f"surveys of {shown(collector.http.url)}", "an id may be cut short while it is the only one")
    for heading in ("id", "title", "kind"):
        table.add_column(heading)
    table.add_column("epsilon", justify="right")
    with_delta = any(one.delta for one in listed)
    if with_delta:
        table.add_column("delta", justify="right")
    table.add_column("state")
    for one in listed:
        private = [f"{one.epsilon:g}", *(["?" if one.delta is None else f"{one.delta:g}"] if with_delta else [])]
        table.add_row(shown(one.id[:12]), shown(one.title), shown(one.kind), *private, one.state)
    out.print(table)
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from sottovoce.signing import fingerprint

    collector = connected(arguments)
    live = collector.survey(arguments.survey)
    status = live.status()
    if arguments.json:
        key = {"fingerprint": fingerprint(collector.key)}
        print_json({**status.to_dict(), "statement": live.survey.to_statement(), **key})
        return 0
    table = titled_table(shown(live.survey.title) or "a survey without a title", "the statement is as signed")
    table.show_header = False
    table.add_column("")
    table.add_column("", overflow="fold")
    for name, value in _described(live, fingerprint(collector.key)):
        table.add_row(name, value)
    console().print(table)
    return 0


def _described(live: LiveSurvey, key: str) -> list[tuple[str, str]]:
    from rich.markup import escape

    from sottovoce.client.text import one_line

    status, survey = live.status(), live.survey
    rows = [
        ("id", survey.id),
        ("kind", status.kind),
        ("epsilon", f"{survey.epsilon:g}"),
        *([("delta", f"{delta_of(survey):g}")] if delta_of(survey) else []),
        ("state", status.state),
        ("no estimate before", counted(status.minimum_reports, "report")),
    ]
    if status.rounds is None:
        rows += [("mechanism", status.mechanism or ""), ("reports", f"{status.n_reports:,} counted")]
        rows += [("waiting to be counted", f"{status.waiting:,}")]
    else:
        rows += [("rounds", f"{status.asked or 0:,} of {status.rounds:,} asked")]
    rows += [("signed by", f"{key[:16]} (fingerprint)"), ("statement", one_line(survey.to_json(), 2000))]
    return [(name, escape(value)) for name, value in rows]


def _seal(arguments: argparse.Namespace) -> int:
    live = connected(arguments).survey(arguments.survey)
    live.seal()
    return _told(arguments, live, "sealed: it takes no more reports")


def _delete(arguments: argparse.Namespace) -> int:
    from sottovoce.cli.parser import UsageError

    live = connected(arguments).survey(arguments.survey)
    if not arguments.yes:
        raise UsageError(
            f"survey {live.id[:12]} would lose all its reports for good, and could never be published again; say so "
            "with --yes, or keep it and use 'sottovoce survey seal'"
        )
    live.delete()
    return _told(arguments, live, "deleted, with all its reports")


def _told(arguments: argparse.Namespace, live: LiveSurvey, done: str) -> int:
    if arguments.json:
        print_json({"id": live.id, "title": live.survey.title, "state": done.split(":")[0].split(",")[0]})
    else:
        console().print(f"{live.id[:12]} {shown(live.survey.title)} {done}", soft_wrap=True)
    return 0
