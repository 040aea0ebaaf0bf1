"""`sottovoce survey embed`: the lines that show a survey in another page, and whether that page may ask."""

from __future__ import annotations

import argparse
import sys
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected
from sottovoce.cli.output import print_json, report_warning

if TYPE_CHECKING:
    from sottovoce.formats.service_json import Embedding

__all__ = ["register"]

_DESCRIPTION = """\
Print the HTML that shows a survey in another page: the collector's script with its integrity, and the element with
the survey's id and the collector's key. What the collector serves is hashed here, and compared with what this package
holds. Warns on standard error if the page may not ask yet.
"""

_EXAMPLES = """\
examples:
  sottovoce survey embed "Favourite colour"
  sottovoce survey embed 3f9a --origin https://www.example.org
  sottovoce survey embed 3f9a --origin http://127.0.0.1:8000 --out question.html
  sottovoce survey embed 3f9a --json
"""


def register(inner: Commands) -> None:
    """Describe the command and add its options."""
    summary = "print the HTML that shows it in another page"
    parser = inner.add_parser("embed", help=summary, description=_DESCRIPTION, epilog=f"{CONNECTION}\n{_EXAMPLES}")
    add_connection(parser)
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)
    parser.add_argument(
        "--origin", metavar="ORIGIN", help="the other page's web origin, such as https://www.example.org: may it ask?"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="also write a page with these lines, to try them")
    parser.set_defaults(run=_embed)


def _embed(arguments: argparse.Namespace) -> int:
    origin = _origin(arguments.origin)
    live = connected(arguments).survey(arguments.survey)
    found = live.embedding()
    warnings = [*_unlike(found), *_unallowed(found, origin)]
    if arguments.out is not None:
        _write(arguments.out, live.survey.title, found.snippet)
    if arguments.json:
        print_json(
            {
                "id": live.id,
                "snippet": found.snippet,
                "script": found.script,
                "integrity": found.integrity,
                "bytes": found.bytes,
                "allow_origins": found.allow_origins,
                "warnings": warnings,
            }
        )
        return 0
    sys.stdout.write(found.snippet)
    for warning in warnings:
        report_warning(warning)
    return 0


def _write(file: Path, title: str, lines: str) -> None:
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
    from sottovoce.collector.running.setting_kinds import origin

    try:
        return origin(given or "")
    except ValueError:
        raise UsageError("--origin must be a web origin such as https://www.example.org, without a path") from None


def _unlike(found: Embedding) -> list[str]:
    """Whether the collector serves what this package holds."""
    from sottovoce.collector.pages.embedding import ELEMENT
    from sottovoce.collector.pages.files import load_files
    from sottovoce.core.integrity import integrity_of

    if integrity_of(load_files({})[ELEMENT].plain.body) == found.integrity:
        return []
    return [
        "the collector's script is not the one of this package: it is of another version, or its file was changed; "
        "compare versions before any page trusts it"
    ]


def _unallowed(found: Embedding, origin: str) -> list[str]:
    """Whether pages of an origin may ask, or of any where none was given."""
    allowed = {*found.allow_origins}
    if "*" in allowed or origin in allowed or (allowed and not origin):
        return []
    listed = ",".join([*found.allow_origins, origin or "https://www.example.org"])
    who = f"pages of {origin}" if origin else "no pages of other origins"
    return [
        f"{who} may{' not' if origin else ''} ask this collector yet: start it with --allow-origins {listed} "
        "(SOTTOVOCE_ALLOW_ORIGINS, or allow_origins in its file)"
    ]
