"""`sottovoce backup` and `sottovoce restore`: a collector's whole database in one file, and back."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json
from sottovoce.cli.output import print_json
from sottovoce.collector.settings import SETTINGS, SETTINGS_VARIABLE, Settings, load
from sottovoce.plural import counted

if TYPE_CHECKING:
    from sottovoce.collector.backup import Contents

__all__ = ["register"]

_BACKUP = """\
Write everything a collector keeps, as it is at one moment, to one new file: surveys, reports, counts, token hashes.
The service may go on meanwhile. The signing key is not in it: keep a copy of signing.key apart.
"""

_RESTORE = """\
Fill an empty database with a backup. It may be of the other kind: SQLite from PostgreSQL, or the reverse. A damaged
backup, and a database that holds anything, are refused before anything is written. Put the old signing.key into the
data folder before the service starts, or devices that have pinned it turn away.
"""

_BACKUP_EXAMPLES = """\
examples:
  sottovoce backup monday.zip
  sottovoce backup monday.zip --data elsewhere
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce backup monday.zip
"""

_RESTORE_EXAMPLES = """\
examples:
  sottovoce restore monday.zip --data new-folder
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce restore monday.zip
"""


def register(commands: Commands) -> None:
    """Add both commands."""
    kinds = (
        ("backup", "copy a collector's database to a file", _BACKUP, _BACKUP_EXAMPLES, _run_backup),
        ("restore", "fill an empty database with a backup", _RESTORE, _RESTORE_EXAMPLES, _run_restore),
    )
    for name, summary, description, examples, run in kinds:
        parser = commands.add_parser(name, help=summary, description=description, epilog=examples)
        parser.add_argument("file", type=Path, metavar="FILE", help="the backup")
        parser.add_argument(
            "--settings", type=Path, metavar="FILE", help=f"the service's (default: what {SETTINGS_VARIABLE} names)"
        )
        for setting in SETTINGS:
            if setting.name in ("data", "database"):
                parser.add_argument(setting.flag, metavar=setting.metavar, help=setting.meaning)
        add_json(parser)
        parser.set_defaults(run=run)


def _settings(arguments: argparse.Namespace) -> Settings:
    return load({"data": arguments.data, "database": arguments.database}, os.environ, arguments.settings)


def _run_backup(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.backup import backup

    settings = _settings(arguments)
    _say(backup(settings.database, settings.data, arguments.file), f"written to {arguments.file}", arguments.json)
    return 0


def _run_restore(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.backup import restore

    settings = _settings(arguments)
    _say(restore(arguments.file, settings.database, settings.data), f"restored from {arguments.file}", arguments.json)
    return 0


def _say(contents: Contents, what: str, as_json: bool) -> None:
    import msgspec

    numbers = msgspec.structs.asdict(contents)
    if as_json:
        print_json(numbers)
    else:
        print(
            f"{what}: " + ", ".join(counted(number, name.removesuffix("s"), name) for name, number in numbers.items())
        )
