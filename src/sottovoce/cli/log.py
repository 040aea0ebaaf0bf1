"""`sottovoce log`: read a collector's log of surveys, check it, and compare it with what others were shown."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.cli.arguments import add_json, add_subcommands
from sottovoce.cli.connection import shown
from sottovoce.cli.output import console, print_json, titled_table

if TYPE_CHECKING:
    from sottovoce.analyst.log_audit import LogView
    from sottovoce.cli.parser import Parser
    from sottovoce.device.fetch import CollectorConnection

__all__ = ["register"]

_EXAMPLES = """\
examples:
  sottovoce log show https://stats.example.org
  sottovoce log check https://stats.example.org --state stats.checkpoint
  sottovoce log check https://stats.example.org --against from-another-auditor.checkpoint
  sottovoce log check https://stats.example.org --relay https://relay.example.com
"""

_CHECK = """\
Read the whole log, check that its entries have the root that the collector has signed, and that every survey it lists
is in it. Then fetch the statement of every entry by its hash, with its attachments, and name those that are missing;
all of them every time, since one that was shown before can be hidden now. With --state, also check that the log
continues what was seen the last time, and remember what is seen now. With --against, compare with a checkpoint that
somebody else was shown. Ends with status 1 if a listed survey is not in the log, a statement cannot be fetched, one
round of a panel has two questions, or there are two lists; what proves the last is printed, and kept beside the state.
A log that cannot be read, or whose entries do not have the signed root, is an error, with status 2.
"""


def register(command: Parser) -> None:
    """Describe the command and add its options."""
    command.epilog = _EXAMPLES
    inner = add_subcommands(command, "actions", "ACTION")
    show = inner.add_parser(
        "show",
        help="list what was published",
        description="List every survey that a collector has published, checked against the head that it has signed.",
        epilog="examples:\n  sottovoce log show https://stats.example.org\n",
    )
    _add_collector(show, "the key that it sends")
    show.set_defaults(run=_show)
    check = inner.add_parser("check", help="check the log, and compare it", description=_CHECK, epilog=_EXAMPLES)
    _add_collector(check, "that of --state, or the key that it sends")
    check.add_argument(
        "--state", type=Path, metavar="FILE", help="the checkpoint of the last check; created if it does not exist"
    )
    check.add_argument(
        "--against",
        action="append",
        default=[],
        metavar="FILE_OR_URL",
        help="a checkpoint that another auditor has kept, or another address of the collector; can be repeated",
    )
    check.add_argument(
        "--relay",
        metavar="URL",
        help="a relay to ask through, so that the collector cannot tell this auditor by the address",
    )
    check.set_defaults(run=_check)


def _add_collector(parser: Parser, trusted: str) -> None:
    parser.add_argument("url", metavar="URL", help="address of the collector")
    parser.add_argument("--key", metavar="KEY", help=f"its key or fingerprint (default: {trusted})")
    parser.add_argument("--insecure", action="store_true", help="allow plain http to another machine")
    add_json(parser)


def _connection(arguments: argparse.Namespace, relay: str | None = None) -> CollectorConnection:
    """To the collector, or through a relay."""
    from sottovoce.device import Http

    insecure = arguments.insecure
    if relay is None:
        return Http(arguments.url, insecure=insecure)
    from sottovoce.device import MemoryStore
    from sottovoce.device.clients import ObliviousHttp, RelayClient
    from sottovoce.device.trust import Trust

    # Whichever key it seals to: whatever comes back is verified with the collector's, or by its hash.
    trust = Trust(MemoryStore(), None, ())
    return ObliviousHttp(
        arguments.url, RelayClient(Http(relay, insecure=insecure, who="relay")), trust, insecure=insecure
    )


def _about(view: LogView) -> dict[str, Any]:
    from sottovoce.core.signing import fingerprint, to_base64url

    return {
        "size": view.head.size,
        "root": to_base64url(view.head.root),
        "fingerprint": fingerprint(view.key),
        "checkpoint": view.checkpoint,
    }


def _show(arguments: argparse.Namespace) -> int:
    from sottovoce.analyst.log_audit import view_log

    view = view_log(_connection(arguments), arguments.key)
    if arguments.json:
        entries = [
            {"position": position, "event": entry.event, "survey": entry.survey, "title": view.titles.get(entry.survey)}
            for position, entry in enumerate(view.entries)
        ]
        print_json({**_about(view), "entries": entries})
        return 0
    table = titled_table("log")
    for heading in ("position", "event", "survey", "title"):
        table.add_column(heading)
    for position, entry in enumerate(view.entries):
        title = view.titles.get(entry.survey)
        words = "(a round, or deleted)" if title is None else shown(title)
        table.add_row(str(position), entry.event, entry.survey[:12], words)
    console().print(table)
    print(f"signed with the key of fingerprint {_about(view)['fingerprint']}; the root is right")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from sottovoce.analyst.log_audit import view_log
    from sottovoce.analyst.log_statements import check_statements
    from sottovoce.core.errors import TransparencyError
    from sottovoce.core.words import plural

    remembered = _state(arguments.state)
    # The others first: what is published meanwhile is then in this view, and nobody seems to hide it.
    others = [(name, _note(name, insecure=arguments.insecure)) for name in arguments.against]
    http = _connection(arguments, arguments.relay)
    view = view_log(http, arguments.key, remembered)
    faults = check_statements(http, view.entries)
    problems = [f"survey {survey} is listed and not in the log" for survey in view.unlogged]
    problems += map(str, faults)
    agreed, evidence = [], list[dict[str, object]]()
    if remembered is not None:
        others.insert(0, (str(arguments.state), remembered))
    for name, note in others:
        try:
            agreed.append(f"it continues {name}, of {plural(view.compare(note, name).size, 'entry', 'entries')}")
        except TransparencyError as error:
            if not error.conflict:
                raise
            problems.append(str(error))
            evidence.append(view.evidence(note))
    kept = _keep(arguments.state, view, evidence)
    if arguments.json:
        named = [vars(fault) for fault in faults]
        print_json({**_about(view), "problems": problems, "statements": named, "agreed": agreed, "evidence": evidence})
        return 1 if problems else 0
    out = console()
    entries = plural(view.head.size, "entry", "entries")
    print(f"{entries}, signed with the key of fingerprint {_about(view)['fingerprint']}; the root is right")
    if not faults:
        print("every statement can be fetched")
    for line in agreed:
        print(line)
    for line in problems:
        out.print(f"WRONG: {shown(line)}", soft_wrap=True)
    for conflict in evidence:
        for note in conflict["checkpoints"]:  # type: ignore[attr-defined]
            print(note)
    for line in kept:
        print(line)
    return 1 if problems else 0


def _state(path: Path | None) -> str | None:
    return None if path is None or not path.exists() else _read(path)


def _note(name: str, *, insecure: bool) -> str:
    from sottovoce.analyst.log_audit import checkpoint_at
    from sottovoce.device import Http

    if name.startswith(("http://", "https://")):
        return checkpoint_at(Http(name, insecure=insecure))
    return _read(Path(name))


def _read(path: Path) -> str:
    from sottovoce.core.errors import TransparencyError
    from sottovoce.transparency.tree_head import LONGEST_CHECKPOINT

    try:
        with path.open("rb") as file:
            return file.read(LONGEST_CHECKPOINT + 1).decode("utf-8", "replace")
    except OSError as error:
        raise TransparencyError(f"{path} cannot be read: {error.strerror}; name the file of a checkpoint") from None


def _keep(path: Path | None, view: LogView, evidence: list[dict[str, object]]) -> list[str]:
    """Remember what was seen; of a list that contradicts it the evidence, and what was remembered stays."""
    import msgspec

    from sottovoce.core.files import write_file

    if path is None:
        return []
    if evidence:
        content = msgspec.json.format(msgspec.json.encode(evidence))
        proof = _free(path, content)
        write_file(proof, content)
        return [f"the evidence is in {proof}; {path} was not changed"]
    write_file(path, view.checkpoint)
    return [f"remembered in {path}"]


def _free(path: Path, content: bytes) -> Path:
    """A name for evidence under which there is none yet, or the same: earlier evidence stays."""
    for number in itertools.count(1):
        proof = path.with_name(f"{path.name}.conflict{'' if number == 1 else f'-{number}'}.json")
        if not proof.exists() or proof.read_bytes() == content:
            break
    return proof
