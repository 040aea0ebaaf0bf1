"""`sottovoce ledger`: every epsilon a device ever spent, and for what."""

from __future__ import annotations

import argparse
from pathlib import Path

from sottovoce.cli.answer import DEFAULT_STORE, fit_for_a_terminal
from sottovoce.cli.arguments import Commands, add_json, number
from sottovoce.cli.output import print_json
from sottovoce.limits import DEFAULT_BUDGET

__all__ = ["register"]

_DESCRIPTION = """\
Show what this device has answered, to whom, what each answer cost, and what is left. With --send, send again what has
not arrived yet: the same bytes as ever.
"""

_EXAMPLES = """\
examples:
  sottovoce ledger
  sottovoce ledger --store phone.db --send
  sottovoce ledger --json | jq .epsilon.left
"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "ledger", help="show what a device has answered and spent", description=_DESCRIPTION, epilog=_EXAMPLES
    )
    parser.add_argument(
        "--store", type=Path, default=DEFAULT_STORE, metavar="FILE", help="the device's records (default: device.db)"
    )
    parser.add_argument(
        "--budget", type=number, default=DEFAULT_BUDGET, metavar="E", help="largest sum of all epsilons (default: 8)"
    )
    parser.add_argument("--send", action="store_true", help="first send what has not arrived yet")
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.client import Device
    from sottovoce.errors import LedgerError

    if not arguments.store.exists():
        raise LedgerError(f"there is no {arguments.store}; `sottovoce answer` makes it when it first answers")
    settings = {"budget": arguments.budget, "insecure": arguments.insecure}
    with fit_for_a_terminal(), Device(arguments.store, **settings) as device:
        if arguments.send:
            device.flush()
        ledger = device.ledger
    if arguments.json:
        print_json(ledger.to_dict())
    else:
        print(ledger)
    return 0
