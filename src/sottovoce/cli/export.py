"""`sottovoce export`: write a survey's reports as Parquet files."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.output import console, print_json
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Write the counted reports of a survey as Parquet files, one per segment, each whole or not at all. The same command
resumes an interrupted export and adds new reports; existing files are never overwritten. Needs an admin token.
"""

_EXAMPLES = f"""\
columns: report_id (16 bytes), report (the bytes a device sent), epoch (coarse time). The metadata has the survey's id
and statement. A panel gets one folder per round. sottovoce.analyst.parquet.read_export counts the files again.

{CONNECTION}
examples:
  sottovoce export "Favourite colour" --parquet colours
  sottovoce export 3f9a11c2 --parquet colours --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)
    parser.add_argument(
        "--parquet", type=Path, required=True, metavar="DIR", help="folder to write to; created if needed"
    )
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    live = connected(arguments).survey(arguments.survey)
    done = live.export(arguments.parquet)
    if arguments.json:
        print_json({"survey": live.id, "folder": str(arguments.parquet), **done._asdict()})
        return 0
    kept = f"; {done.kept:,} existed already" if done.kept else ""
    new = f"{plural(done.reports, 'report')} in {plural(done.files, 'new file')}"
    line = f"{shown(str(arguments.parquet))}: {new}{kept}"
    console().print(line, soft_wrap=True)
    return 0
