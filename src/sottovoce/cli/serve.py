"""`sottovoce serve`: run the collector; every setting has a default."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json, refuse_options
from sottovoce.cli.output import print_json
from sottovoce.collector.settings import SETTINGS, SETTINGS_VARIABLE, Settings
from sottovoce.core.errors import MissingExtraError
from sottovoce.core.starting import importing

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.collector.running.serve import ServiceStart
    from sottovoce.service.running.settings import ServiceSetting

__all__ = ["add_settings", "need_extra", "register"]

_DESCRIPTION = """\
Run the collector: it takes reports over HTTP, makes each durable before it acknowledges it, counts each exactly once,
and serves analysts. All data are in one folder unless a PostgreSQL database is given. A setting can be given as a
flag, as an environment variable (SOTTOVOCE_PORT for --port) or in a TOML file (port = 8470), in this order of
precedence. Stop it with Ctrl-C or SIGTERM; acknowledged reports are never lost.
"""

_EXAMPLES = """\
examples:
  sottovoce serve                                   on this machine only, data in ./sottovoce-data
  sottovoce serve --port 0 --json                   on a free port, printed as JSON
  sottovoce serve --settings collector.toml
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce serve --host 0.0.0.0
  SOTTOVOCE_DATABASE=postgresql://user:password@host/name sottovoce serve --only-work --workers 4
                                                    more counting processes, on another machine
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_settings(parser, SETTINGS, SETTINGS_VARIABLE)
    parser.add_argument("--only-work", action="store_true", help="run only the counting processes, without HTTP")
    parser.add_argument(
        "--new-admin-token",
        action="store_true",
        help="create and print another admin token, for instance if the first was lost",
    )
    parser.add_argument(
        "--accept-new-key",
        action="store_true",
        help="use another signing key than the lost one that signed the surveys of this database",
    )
    parser.add_argument(
        "--accept-lost-log",
        action="store_true",
        help="sign the database's log of surveys although it lacks entries that were signed before, which are lost",
    )
    add_json(parser)
    parser.set_defaults(run=_run)


def add_settings(parser: Parser, settings: Sequence[ServiceSetting], file_variable: str) -> None:
    """One option for each setting, and one for the file that may hold them."""
    parser.add_argument(
        "--settings",
        type=Path,
        metavar="FILE",
        help=f"a TOML file (default: ${file_variable})",
    )
    for setting in settings:
        default = f" (default: {setting.shown_default})" if setting.shown_default else ""
        words = f"{setting.meaning}{default}".replace("%", "%%")
        parser.add_argument(setting.flag, dest=setting.name, metavar=setting.metavar, help=words)


def _run(arguments: argparse.Namespace) -> int:
    flags = {setting.name: getattr(arguments, setting.name) for setting in SETTINGS}
    settings = Settings.load(flags, os.environ, arguments.settings)
    need_extra()
    with importing():
        from sottovoce.collector.running.serve import count, serve

    as_json = bool(arguments.json)
    if arguments.only_work:
        reason = "is for a service with HTTP; --only-work has none: leave one of them out"
        refuse_options(arguments, reason, "new_admin_token", "accept_new_key", "accept_lost_log")
        count(settings, ready=lambda: _say_counting(settings.workers, as_json))
    else:
        serve(
            settings,
            started=lambda start: None if as_json else _say_started(start),
            ready=lambda start: _say_ready(start, as_json),
            new_admin_token=arguments.new_admin_token,
            accept_new_key=arguments.accept_new_key,
            accept_lost_log=arguments.accept_lost_log,
        )
    return 0


def need_extra() -> None:
    """Say what to install where the packages of a service are missing."""
    if any(find_spec(module) is None for module in ("granian", "prometheus_client", "uvloop")):
        raise MissingExtraError("the service needs more packages: pip install 'sottovoce[collector]'")


def _say_started(start: ServiceStart) -> None:
    if start.admin_token is not None:
        print(f"admin token   {start.admin_token}")
        print("              shown once and stored as a hash; it allows everything")
    print(f"signing key   {start.key}")
    print("              signs the surveys; devices pin it (--key), so give it to their owners")
    print(f"fingerprint   {start.fingerprint}")
    print("              SHA-256 of the key, for people to compare")
    print(f"dashboard     {start.public}/")
    print("              for analysts, who sign in with a token")
    print(f"survey pages  {start.public}/s/SURVEY")
    print("              where people answer the survey of that id in a browser")
    print("next")
    print(f"  export SOTTOVOCE_URL={start.address} SOTTOVOCE_TOKEN={start.admin_token or '(your token)'}")
    print("  sottovoce survey create shares --labels red,green,blue --epsilon 1")
    print(f"  sottovoce answer {start.address} SURVEY red")
    print("  sottovoce estimate SURVEY --watch", flush=True)


def _say_ready(start: ServiceStart, as_json: bool) -> None:
    if as_json:
        ready = {"address": start.address, "key": start.key, "fingerprint": start.fingerprint}
        print_json({**ready, "admin_token": start.admin_token, "pid": os.getpid()})
        sys.stdout.flush()
    else:
        print(f"ready at {start.address}", flush=True)


def _say_counting(workers: int, as_json: bool) -> None:
    if as_json:
        print_json({"workers": workers, "pid": os.getpid()})
        sys.stdout.flush()
    else:
        print(f"counting in {workers} {'process' if workers == 1 else 'processes'}", flush=True)
