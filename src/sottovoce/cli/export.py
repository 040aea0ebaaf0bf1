"""`sottovoce export`: a survey's reports as Parquet files."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.cli.arguments import Commands
from sottovoce.cli.connection import CONNECTION, SURVEY, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, working
from sottovoce.plural import counted

__all__ = ["register"]

_DESCRIPTION = """\
Write the counted reports of a survey as Parquet files, one a segment, each whole or not at all. The same command goes
on after an interruption, and adds what has come since; nothing that stands is overwritten. Needs an admin token.
"""

_EXAMPLES = f"""\
columns: report_id (16 bytes), report (the bytes a device sent), epoch (coarse time). The files' metadata holds the
survey's id and statement. A panel has a folder a round. sottovoce.analyst.parquet.read_export counts them
anew.

{CONNECTION}
examples:
  sottovoce export "Favourite colour" --parquet colours
  sottovoce export 3f9a --parquet colours --json
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "export", help="a survey's reports as Parquet files", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument("survey", metavar="SURVEY", help=SURVEY)
    parser.add_argument("--parquet", type=Path, required=True, metavar="DIR", help="where to; made if need be")
    add_connection(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    live = connected(arguments).survey(arguments.survey)
    with working("exporting") as tell:
        written = 0

        def advance(more: int) -> None:
            nonlocal written
            written += more
            tell(f"exporting: {counted(written, 'report')} so far")

        done = live.export(arguments.parquet, progress=advance)
    if arguments.json:
        print_json({"survey": live.id, "folder": str(arguments.parquet), **done._asdict()})
        return 0
    kept = f"; {done.kept:,} stood already" if done.kept else ""
    new = f"{counted(done.reports, 'report')} in {counted(done.files, 'new file')}"
    told = f"{shown(str(arguments.parquet))}: {new}{kept}"
    console().print(told, soft_wrap=True)
    return 0
