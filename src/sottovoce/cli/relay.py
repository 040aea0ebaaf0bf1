"""`sottovoce relay`: run a relay in front of a collector."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json
from sottovoce.cli.output import print_json
from sottovoce.cli.serve import add_settings, need_extra
from sottovoce.core.starting import importing
from sottovoce.relay.settings import RELAY_FILE_VARIABLE, RELAY_SETTINGS, RelaySettings

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Run a relay: devices send it sealed messages that it cannot read; it keeps them, shuffles them, and forwards them to the
collector in batches of at least as many as each survey states. The relay sees addresses and no answers, the collector
sees answers and no addresses; so the two should be run by people who do not work together. A setting can be given as a
flag, as an environment variable (SOTTOVOCE_RELAY_PORT for --port) or in a TOML file (port = 8471), in this order of
precedence. Stop it with Ctrl-C or SIGTERM; acknowledged messages are never lost.
"""

_EXAMPLES = """\
examples:
  sottovoce relay --to https://stats.example.org    on this machine only, data in ./sottovoce-relay
  sottovoce relay --to https://stats.example.org --hold 20000 --wait 6h
                                                    batches of 20,000; after six hours of as many as surveys state
  sottovoce relay --to http://127.0.0.1:8470 --port 0 --json
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_settings(parser, RELAY_SETTINGS, RELAY_FILE_VARIABLE)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    flags = {setting.name: getattr(arguments, setting.name) for setting in RELAY_SETTINGS}
    settings = RelaySettings.load(flags, os.environ, arguments.settings)
    need_extra()
    with importing():
        from sottovoce.relay.run import relay

    relay(settings, ready=lambda address: _say_ready(address, settings.to, settings.folder, bool(arguments.json)))
    return 0


def _say_ready(address: str, to: str, folder: Path, as_json: bool) -> None:
    if as_json:
        print_json({"address": address, "to": to, "pid": os.getpid()})
        sys.stdout.flush()
    else:
        print(f"forwards to   {to}")
        print(f"folder        {folder}")
        print(f"ready at {address}", flush=True)
