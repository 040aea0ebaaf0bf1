"""`sottovoce keys`: the keys of a collector, above all those to which devices seal what they send through a relay."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_json, add_subcommands
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.collector.settings import SETTINGS, SETTINGS_VARIABLE, Settings

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.collector.sealing.keys import HeldKey

__all__ = ["register"]

_EXAMPLES = """\
examples:
  sottovoce keys create --data keys
  sottovoce keys list
  sottovoce keys rotate
  sottovoce keys forget 1 --yes
"""

_MEANINGS = {
    "current": "devices seal to it",
    "prepared": "opens messages; becomes the current one with 'sottovoce keys rotate'",
    "retired": "opens messages sealed to it before",
}

_CREATE = """\
Make signing.key and sealing.keys in a folder that has neither, without a service: where several services share a
database, every one must have both before its first start. A service that finds none makes its own.
"""

_ROTATE = """\
Let a new key be the one that devices seal to, or the one that 'sottovoce keys prepare' made. Keys that were current
before go on opening messages until they are forgotten. A running service notices by itself; devices fetch the new key
before their next message.
"""

_PREPARE = """\
Add a key that opens messages and is not yet given to devices. Where several services share a database, prepare a key
on one of them, copy sealing.keys to the others, and rotate on each: whichever of them a message reaches can open it.
"""

_FORGET = """\
Remove a key for ever. Messages sealed to it can then never be opened, not even by somebody who has recorded them and
takes this machine. Nor by the collector: answers sealed to it that a relay still holds, or a device has not yet sent,
are lost. Wait at least as long as a relay may hold messages, and devices may be offline.
"""


def register(command: Parser) -> None:
    """Describe the command and add its options."""
    command.epilog = _EXAMPLES
    inner = add_subcommands(command, "actions", "ACTION")
    for name, run, help_text, description in (
        ("create", _create, "make the keys of a new collector", _CREATE),
        ("list", _list, "list the keys", "List the keys of a collector by number: never their private half."),
        ("rotate", _rotate, "let a new key be the current one", _ROTATE),
        ("prepare", _prepare, "add a key that is not yet given to devices", _PREPARE),
        ("forget", _forget, "remove a key for ever", _FORGET),
    ):
        action = inner.add_parser(
            name, help=help_text, description=description, epilog=f"examples:\n  sottovoce keys {_example(name)}\n"
        )
        if name == "forget":
            action.add_argument("id", type=int, metavar="ID", help="the key's number; see 'sottovoce keys list'")
            action.add_argument("--yes", action="store_true", help="confirm: answers sealed to this key are lost")
        action.add_argument(
            "--settings", type=Path, metavar="FILE", help=f"the service's settings file (default: ${SETTINGS_VARIABLE})"
        )
        data = next(setting for setting in SETTINGS if setting.name == "data")
        held = "the folder to make them in" if name == "create" else "the collector's data folder, with sealing.keys"
        action.add_argument(data.flag, metavar=data.metavar, help=held)
        add_json(action)
        action.set_defaults(run=run)


def _example(name: str) -> str:
    return {"forget": "forget 1 --yes", "create": "create --data keys"}.get(name, name)


def _folder(arguments: argparse.Namespace) -> Path:
    return Settings.load({"data": arguments.data}, os.environ, arguments.settings).data


def _path(arguments: argparse.Namespace) -> Path:
    from sottovoce.collector.sealing.keys import SEALING_FILE

    return _folder(arguments) / SEALING_FILE


def _create(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.running.signer import create_keys
    from sottovoce.core.signing import fingerprint, to_base64url

    signing = create_keys(_folder(arguments))
    if arguments.json:
        print_json({"key": to_base64url(signing.public), "fingerprint": fingerprint(signing.public)})
        return 0
    print(f"signing key   {to_base64url(signing.public)}")
    print("              signs the surveys; devices pin it (--key), so give it to their owners")
    print(f"fingerprint   {fingerprint(signing.public)}")
    print("              SHA-256 of the key, for people to compare")
    print(f"made in {_folder(arguments)}; anybody with these files can speak for the collector: keep a copy apart")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.sealing.keys import existing_keys

    return _show(arguments, existing_keys(_path(arguments)))


def _rotate(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.sealing.keys import rotate_keys

    return _show(arguments, rotate_keys(_path(arguments)))


def _prepare(arguments: argparse.Namespace) -> int:
    from sottovoce.collector.sealing.keys import prepare_key

    return _show(arguments, prepare_key(_path(arguments)))


def _forget(arguments: argparse.Namespace) -> int:
    from sottovoce.cli.parser import UsageError
    from sottovoce.collector.sealing.keys import forget_key

    if not arguments.yes:
        raise UsageError(
            f"answers that are sealed to key {arguments.id} and not yet here would be lost: those that a relay holds, "
            "and those of devices that are offline; if there are none, say --yes"
        )
    return _show(arguments, forget_key(_path(arguments), arguments.id))


def _show(arguments: argparse.Namespace, keys: tuple[HeldKey, ...]) -> int:
    from sottovoce.core.signing import to_base64url

    if arguments.json:
        listed = [{"id": key.key_id, "state": key.state, "public": to_base64url(key.key.public)} for key in keys]
        print_json({"keys": listed})
        return 0
    table = titled_table("sealing keys")
    for heading in ("id", "state", "public key", ""):
        table.add_column(heading)
    for key in keys:
        table.add_row(str(key.key_id), key.state, to_base64url(key.key.public), _MEANINGS[key.state])
    console().print(table)
    return 0
