"""`sottovoce token`: create, list and revoke access tokens."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING

from sottovoce.cli.arguments import add_subcommands
from sottovoce.cli.connection import CONNECTION, add_connection, connected, shown
from sottovoce.cli.output import console, print_json, titled_table
from sottovoce.core.scopes import SCOPES

if TYPE_CHECKING:
    from sottovoce.cli.parser import Parser
    from sottovoce.protocol.access import TokenEntry

__all__ = ["register"]

_EXAMPLES = """\
examples:
  sottovoce token create --scopes read --note "dashboard"
  sottovoce token create --scopes read --note "the audit" --expires 90d
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
    create.add_argument(
        "--expires",
        type=_life,
        metavar="SPAN",
        help="time until it expires, such as 90d, 12h or 4w (default: until revoked)",
    )
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
        description="Revoke the token with that id, the part between the underscores. The last one of an administrator "
        "is revoked only after a question, or with --yes.",
        epilog=f"{CONNECTION}\nexamples:\n  sottovoce token revoke 0123abcd\n",
    )
    revoke.add_argument("id", metavar="ID", help="the token's id, 8 characters; see 'sottovoce token list'")
    revoke.add_argument("--yes", action="store_true", help="revoke even the last token of an administrator")
    add_connection(revoke)
    revoke.set_defaults(run=_revoke)


def _life(text: str) -> timedelta:
    match = re.fullmatch(r"([1-9][0-9]{0,4})([hdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is not a span of time: give a whole number and h, d or w, such as 12h, 90d or 4w"
        )
    return int(match[1]) * {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}[match[2]]


def _create(arguments: argparse.Namespace) -> int:
    scopes = [name.strip() for name in arguments.scopes.split(",")]
    made = connected(arguments).create_token(scopes, arguments.note, arguments.expires)
    if arguments.json:
        about = {"id": made.id, "token": made.token, "scopes": made.scopes, "note": made.note}
        print_json({**about, "expires": made.expires})
        return 0
    out = console()
    out.print(made.token, markup=False, soft_wrap=True)
    until = f", until {made.expires}" if made.expires else ""
    out.print(f"\n{', '.join(made.scopes)}{until}; shown once. Revoke it with: sottovoce token revoke {made.id}")
    return 0


def _list(arguments: argparse.Namespace) -> int:
    listed = connected(arguments).tokens()
    if arguments.json:
        names = ("id", "scopes", "note", "revoked", "expires")
        print_json({"tokens": [{name: getattr(token, name) for name in names} for token in listed]})
        return 0
    expiring = any(token.expires for token in listed)
    table = titled_table("tokens")
    for heading in ("id", "scopes", "note", *(["expires"] if expiring else []), ""):
        table.add_column(heading)
    for token in listed:
        when = [shown(token.expires or "")] if expiring else []
        state = "revoked" if token.revoked else ""
        table.add_row(shown(token.id), shown(", ".join(token.scopes)), shown(token.note), *when, state)
    console().print(table)
    return 0


def _revoke(arguments: argparse.Namespace) -> int:
    collector = connected(arguments)
    if not arguments.yes and _is_last_admin(collector.tokens(), arguments.id):
        _confirm(arguments)
    collector.revoke_token(arguments.id)
    if arguments.json:
        print_json({"id": arguments.id, "revoked": True})
    else:
        console().print(f"{arguments.id} is revoked")
    return 0


def _is_last_admin(listed: Sequence[TokenEntry], token_id: str) -> bool:
    """Whether this token lets somebody administrate, and no other does that will not expire."""
    admins = [token for token in listed if "admin" in token.scopes and not token.revoked]
    lasting = [token for token in admins if token.id != token_id and token.expires is None]
    return not lasting and any(token.id == token_id for token in admins)


def _confirm(arguments: argparse.Namespace) -> None:
    """Ask on a terminal; elsewhere demand --yes. Raises unless the answer is yes."""
    from sottovoce.cli.parser import UsageError

    lost = (
        f"{arguments.id} is the last token of an administrator: without one nobody can make tokens, export or delete, "
        "until the service is started with --new-admin-token"
    )
    if arguments.json or not sys.stdin.isatty():
        raise UsageError(f"{lost}. Create another first, or confirm with --yes; nothing was revoked")
    sys.stderr.write(f"{lost}.\nRevoke it? Type yes: ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() != "yes":
        raise UsageError(f"{arguments.id} was not revoked")
