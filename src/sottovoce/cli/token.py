"""`sottovoce token`: who may read, ask, publish and administer."""

from __future__ import annotations

import argparse

from sottovoce.cli.arguments import Commands
from sottovoce.cli.connection import CONNECTION, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.scopes import SCOPES

__all__ = ["register"]

_SUMMARY = "make, list and revoke tokens of a collector"

_EXAMPLES = """\
examples:
  sottovoce token create --scopes read --note "dashboard"
  sottovoce token list
  sottovoce token revoke 0123abcd
"""

_SCOPES = "scopes:\n" + "".join(f"  {scope:<9} {meaning}\n" for scope, meaning in SCOPES.items())


def register(commands: Commands) -> None:
    """Add the command."""
    command = commands.add_parser("token", help=_SUMMARY, description=_SUMMARY, epilog=_EXAMPLES)
    inner = command.add_subparsers(
        title="what to do", metavar="DO", dest="token_do", required=True, parser_class=type(command)
    )
    create = inner.add_parser(
        "create",
        help="a new token, shown once",
        description="Make a token. It is printed this once and kept nowhere: the collector has its hash alone.",
        epilog=f'{_SCOPES}\n{CONNECTION}\nexamples:\n  sottovoce token create --scopes read,ask --note "Ada"\n',
    )
    create.add_argument("--scopes", required=True, metavar="S", help="what it is for, with commas between; see below")
    create.add_argument("--note", default="", metavar="TEXT", help="whom or what it is for")
    add_connection(create)
    create.set_defaults(run=_create)
    listing = inner.add_parser(
        "list",
        help="all tokens, by their ids",
        description="All tokens, by their ids and notes; the tokens themselves are not known to the collector.",
        epilog=f"{CONNECTION}\nexamples:\n  sottovoce token list\n",
    )
    add_connection(listing)
    listing.set_defaults(run=_list)
    revoke = inner.add_parser(
        "revoke",
        help="make a token open nothing",
        description="From now on the token of that id opens nothing. The id is the part between the underscores.",
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
    out.print(f"\n{', '.join(made.scopes)}; shown this once. Revoke it with: sottovoce token revoke {made.id}")
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
        console().print(f"{arguments.id} opens nothing any more")
    return 0
