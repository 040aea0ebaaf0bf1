"""`sottovoce token`: create, list and revoke access tokens."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_subcommands
from sottovoce.cli.connection import CONNECTION, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.core.scopes import SCOPES

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser

__all__ = ["register"]

_EXAMPLES = """\
examples:
  sottovoce token create --scopes read --note "dashboard"
  sottovoce token list
  sottovoce token revoke 0123abcd
"""

_SCOPES = "scopes:\n" + "".join(f"  {scope:<9} {meaning}\n" for scope, meaning in SCOPES.items())


def register(command: Parser) -> None:
    """Describe the command and add its options."""
    command.epilog = _EXAMPLES
    inner = add_subcommands(command, "actions", "ACTION")
    create = inner.add_parser(
        "create",
        help="create a token",
        description="Create a token. It is printed once; the collector stores only its hash.",
        epilog=f'{_SCOPES}\n{CONNECTION}\nexamples:\n  sottovoce token create --scopes read,ask --note "Ada"\n',
    )
    create.add_argument("--scopes", required=True, metavar="S", help="scopes, separated by commas; see below")
    create.add_argument("--note", default="", metavar="TEXT", help="a note, for instance the holder")
    add_connection(create)
    create.set_defaults(run=_create)
    listing = inner.add_parser(
        "list",
        help="list all tokens",
        description="List all tokens by id and note; the collector does not know the tokens themselves.",
        epilog=f"{CONNECTION}\nexamples:\n  sottovoce token list\n",
    )
    add_connection(listing)
    listing.set_defaults(run=_list)
    revoke = inner.add_parser(
        "revoke",
        help="revoke a token",
        description="Revoke the token with that id, the part between the underscores.",
        epilog=f"{CONNECTION}\nexamples:\n  sottovoce token revoke 0123abcd\n",
    )
    revoke.add_argument("id", metavar="ID", help="the token's id, 8 characters; see 'sottovoce token list'")
    add_connection(revoke)
    revoke.set_defaults(run=_revoke)


def _create(arguments: argparse.Namespace) -> int:
    made = connected(arguments).create_token([name.strip() for name in arguments.scopes.split(",")], arguments.note)
    if arguments.json:
        print_json({"id": made.id, "token": made.token, "scopes": made.scopes, "note": made.note})
        return 0
    out = console()
    out.print(made.token, markup=False, soft_wrap=True)
    out.print(f"\n{', '.join(made.scopes)}; shown once. Revoke it with: sottovoce token revoke {made.id}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    listed = connected(arguments).tokens()
    if arguments.json:
        names = ("id", "scopes", "note", "revoked")
        print_json({"tokens": [{name: getattr(one, name) for name in names} for one in listed]})
        return 0
    table = titled_table("tokens")
    for heading in ("id", "scopes", "note", ""):
        table.add_column(heading)
    for one in listed:
        table.add_row(shown(one.id), shown(", ".join(one.scopes)), shown(one.note), "revoked" if one.revoked else "")
    console().print(table)
    return 0


def _revoke(arguments: argparse.Namespace) -> int:
    connected(arguments).revoke_token(arguments.id)
    if arguments.json:
        print_json({"id": arguments.id, "revoked": True})
    else:
        console().print(f"{arguments.id} is revoked")
    return 0
