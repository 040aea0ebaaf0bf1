"""`sottovoce serve`: the collector, with no configuration or with as much as is wanted."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import Commands, add_json
from sottovoce.cli.output import print_json
from sottovoce.collector.settings import SETTINGS, SETTINGS_VARIABLE, load
from sottovoce.errors import MissingExtraError

if TYPE_CHECKING:
    from sottovoce.collector.serve import Start

__all__ = ["register"]

_DESCRIPTION = """\
Run the collector: takes reports over HTTP, makes each durable before it is acknowledged, counts each exactly
once, answers analysts. Everything lives in one folder unless a PostgreSQL database is named. Every setting can
be given as a flag, as an environment variable (SOTTOVOCE_PORT for --port) or in a TOML file (port = 8470); a flag
beats a variable, which beats the file. Stop it with Ctrl-C or SIGTERM: what was acknowledged is kept, always.
"""

_EXAMPLES = """\
examples:
  sottovoce serve                                   on this machine only, everything in ./sottovoce-data
  sottovoce serve --port 0 --json                   on any free port, told as JSON
  sottovoce serve --settings collector.toml
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce serve --host 0.0.0.0
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce serve --only-work --workers 4
                                                    further counting processes, on another machine
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "serve", help="run the collector, an HTTP service", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help=f"a TOML file (default: what {SETTINGS_VARIABLE} names)",
    )
    for setting in SETTINGS:
        default = f" (default: {setting.shown_default})" if setting.shown_default else ""
        words = f"{setting.meaning}{default}".replace("%", "%%")
        parser.add_argument(setting.flag, dest=setting.name, metavar=setting.metavar, help=words)
    parser.add_argument("--only-work", action="store_true", help="run the counting processes alone; listen nowhere")
    parser.add_argument(
        "--new-admin-token", action="store_true", help="make a further admin token and print it: the first was lost"
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    flags = {setting.name: getattr(arguments, setting.name) for setting in SETTINGS}
    settings = load(flags, os.environ, arguments.settings)
    _need_extra()
    from sottovoce.collector.serve import count, serve

    as_json = bool(arguments.json)
    if arguments.only_work:
        count(settings, ready=lambda: _say_counting(settings.workers, as_json))
    else:
        serve(
            settings,
            started=lambda start: None if as_json else _say_started(start),
            ready=lambda start: _say_ready(start, as_json),
            new_admin_token=arguments.new_admin_token,
        )
    return 0


def _need_extra() -> None:
    if any(find_spec(module) is None for module in ("granian", "litestar", "prometheus_client", "uvloop")):
        raise MissingExtraError("the service needs some packages more: pip install 'sottovoce[collector]'")


def _say_started(start: Start) -> None:
    if start.admin_token is not None:
        print(f"admin token   {start.admin_token}")
        print("              shown this once and kept only as a hash; whoever has it may do everything")
    print(f"signing key   {start.key}")
    print("              surveys are signed with it; devices pin it (--key), so tell it to their owners")
    print(f"fingerprint   {start.fingerprint}")
    print("              the key's SHA-256, to compare by eye")
    print(f"dashboard     {start.public}/")
    print("              for analysts: sign in there with a token")
    print(f"survey pages  {start.public}/s/SURVEY")
    print("              for people: where they answer the survey of that id in a browser")
    print("next")
    print(f"  export SOTTOVOCE_URL={start.address} SOTTOVOCE_TOKEN={start.admin_token or '(your token)'}")
    print("  sottovoce survey create shares --labels red,green,blue --epsilon 1")
    print(f"  sottovoce answer {start.address} SURVEY red")
    print("  sottovoce estimate SURVEY --watch", flush=True)


def _say_ready(start: Start, as_json: bool) -> None:
    if as_json:
        told = {"address": start.address, "key": start.key, "fingerprint": start.fingerprint}
        print_json({**told, "admin_token": start.admin_token, "pid": os.getpid()})
        sys.stdout.flush()
    else:
        print(f"ready at {start.address}", flush=True)


def _say_counting(workers: int, as_json: bool) -> None:
    if as_json:
        print_json({"workers": workers, "pid": os.getpid()})
        sys.stdout.flush()
    else:
        print(f"counting in {workers} {'process' if workers == 1 else 'processes'}", flush=True)
