"""`sottovoce restore`: fill an empty database with what `sottovoce backup` wrote."""

from __future__ import annotations

import argparse
from contextlib import closing
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json
from sottovoce.cli.backup import add_database, database_settings, print_contents
from sottovoce.cli.output import report_warning

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Fill an empty database with a backup. It may be of the other kind: SQLite from PostgreSQL, or the reverse. A damaged
backup, and a database that is not empty, are refused before anything is written. Put the old signing.key and
sealing.keys into the data folder before the service starts: devices that have pinned the first refuse the surveys of
another, and answers on their way through a relay are sealed to the second. Objects that the backup names must be in the
object storage.
"""

_EXAMPLES = """\
examples:
  sottovoce restore monday.zip --data new-folder
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce restore monday.zip
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_database(parser)
    parser.add_argument(
        "--objects", metavar="URL", help="the object storage that has the objects which the backup names"
    )
    parser.add_argument(
        "--leave-out-missing",
        action="store_true",
        help="restore surveys as deleted whose objects are missing: they were deleted after the backup was made",
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.running.backup import restore
    from sottovoce.collector.running.signer import key_advice
    from sottovoce.collector.store import open_store
    from sottovoce.service.running.volume import check_volume

    settings = database_settings(arguments)
    if settings.require_volume and not settings.database:
        check_volume(settings.data, "what is restored")
    contents = restore(
        arguments.file,
        settings.database,
        settings.data,
        settings.objects,
        leave_out_missing=arguments.leave_out_missing,
    )
    print_contents(contents, f"restored from {arguments.file}", as_json=arguments.json)
    with closing(open_store(settings.database, settings.data)) as store:
        advice = key_advice(store, settings.data)
    if advice:
        report_warning(advice)
    return 0
