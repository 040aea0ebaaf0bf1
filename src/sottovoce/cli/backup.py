"""`sottovoce backup`: a collector's whole database in one file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json
from sottovoce.cli.output import print_json
from sottovoce.collector.settings import SETTINGS, SETTINGS_VARIABLE, Settings
from sottovoce.core.words import plural

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.collector.running.backup import Contents

__all__ = ["add_database", "database_settings", "print_contents", "register"]

_DESCRIPTION = """\
Write a consistent copy of a collector's database to one new file: surveys, reports, counts, token hashes. The service
may run meanwhile. The keys are not included: keep a copy of signing.key and sealing.keys elsewhere. Of reports that
have moved to object storage it has the names of their objects.
"""

_EXAMPLES = """\
examples:
  sottovoce backup monday.zip
  sottovoce backup monday.zip --data elsewhere
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce backup monday.zip
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_database(parser)
    add_json(parser)
    parser.set_defaults(run=_run)


def add_database(parser: Parser) -> None:
    """The backup's file and the options that name a collector's database."""
    parser.add_argument("file", type=Path, metavar="FILE", help="the backup")
    parser.add_argument(
        "--settings", type=Path, metavar="FILE", help=f"the service's settings file (default: ${SETTINGS_VARIABLE})"
    )
    for setting in SETTINGS:
        if setting.name in ("data", "database"):
            parser.add_argument(setting.flag, metavar=setting.metavar, help=setting.meaning)


def database_settings(arguments: argparse.Namespace) -> Settings:
    """What the options of `add_database`, the environment and the settings file say."""
    flags = {name: getattr(arguments, name, None) for name in ("data", "database", "objects")}
    return Settings.load(flags, os.environ, arguments.settings)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.running.backup import backup

    settings = database_settings(arguments)
    contents = backup(settings.database, settings.data, arguments.file)
    print_contents(contents, f"written to {arguments.file}", as_json=arguments.json)
    if contents.objects and not arguments.json:
        print("The objects themselves are not in it: keep a copy of the object storage too.")
    return 0


def print_contents(contents: Contents, what: str, *, as_json: bool) -> None:
    """How much of everything a backup holds."""
    import msgspec

    numbers = msgspec.structs.asdict(contents)
    if as_json:
        print_json(numbers)
    else:
        print(f"{what}: " + ", ".join(plural(number, name.removesuffix("s"), name) for name, number in numbers.items()))
