"""`sottovoce ledger`: what a device has answered, and the epsilon it has spent."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json
from sottovoce.cli.device_options import add_device, device_settings, one_line_errors
from sottovoce.cli.output import print_json

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_DESCRIPTION = """\
Show what this device has answered, to whom, what each answer cost, and the budget that is left: for life, and
for any --window-days. A survey that renews is shown with its cost in each window and in all. With --send, first send
the reports that have not arrived yet, with the same bytes.
"""

_EXAMPLES = """\
examples:
  sottovoce ledger
  sottovoce ledger --store phone.db --send
  sottovoce ledger --json | jq .epsilon.left
"""


def register(parser: Parser) -> None:
    """Describe the command and add its options."""
    parser.description, parser.epilog = _DESCRIPTION, _EXAMPLES
    add_device(parser)
    parser.add_argument("--send", action="store_true", help="first send reports that have not arrived yet")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    from sottovoce.core.errors import LedgerError
    from sottovoce.device import Device

    if not arguments.store.exists():
        raise LedgerError(f"there is no {arguments.store}; 'sottovoce answer' creates it with the first answer")
    with one_line_errors(), Device(arguments.store, **device_settings(arguments)) as device:
        if arguments.send:
            device.flush()
        ledger = device.ledger
    if arguments.json:
        print_json(ledger.to_dict())
    else:
        print(ledger)
    return 0
