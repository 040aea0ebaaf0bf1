"""An auditor's view of a collector's log: every entry, checked against the signed head; and whether views agree.

Anybody can be one: no token is needed. Two auditors who compare their checkpoints have seen the same list, or hold the
proof that they were shown two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, final

import msgspec

from sottovoce.analyst.connection import check_key, check_pin, read
from sottovoce.core.errors import ServiceError, TransparencyError
from sottovoce.device.fetch import CollectorClient, CollectorConnection
from sottovoce.protocol.log import LogEntries, LogEntry
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import LONGEST_CHECKPOINT, TreeHead, origin_of, read_checkpoint

__all__ = ["LogView", "checkpoint_at", "view_log"]

_MOST: Final = 1_000_000
"""Entries; a collector that names more is not followed."""


@final
@dataclass(frozen=True)
class LogView:
    """A whole log as one collector showed it: its entries have the root that it has signed."""

    key: bytes = field(repr=False)
    checkpoint: str
    head: TreeHead
    entries: tuple[LogEntry, ...] = field(repr=False)
    titles: dict[str, str] = field(repr=False)
    """Titles of the surveys that the collector lists, by id; untrusted text."""

    @property
    def unlogged(self) -> list[str]:
        """Surveys that the collector lists and its log lacks."""
        logged = {entry.survey for entry in self.entries}
        return [survey for survey in self.titles if survey not in logged]

    def compare(self, note: str, whose: str) -> TreeHead:
        """The head of another checkpoint of this log, if both are of one list that grows.

        Raises
        ------
        TransparencyError
            With `conflict` if they are not; without it if the other is not a checkpoint of this log at all.
        """
        try:
            other = read_checkpoint(note, self.key)
        except TransparencyError as error:
            raise TransparencyError(f"{whose}: {error}") from None  # there may be several
        if other.size > self.head.size:
            raise TransparencyError(
                f"{whose} is a checkpoint of {other.size:,} entries, and the collector shows {self.head.size:,} here: "
                "it hides entries, or has lost them",
                conflict=True,
            )
        if _grown(self.entries[: other.size]).root(other.size) != other.root:
            raise TransparencyError(
                f"{whose} is a checkpoint of {other.size:,} entries, and the log shown here begins with others: "
                "the collector has signed two lists",
                conflict=True,
            )
        return other

    def evidence(self, note: str) -> dict[str, object]:
        """What convinces anybody who has the collector's key that it has signed two lists, or cut one."""
        entries = [msgspec.to_builtins(entry) for entry in self.entries]
        return {"checkpoints": [note, self.checkpoint], "entries_of_the_second": entries}


def view_log(http: CollectorConnection, pin: str | None = None, remembered: str | None = None) -> LogView:
    """Read a collector's whole log, and check it.

    Parameters
    ----------
    http
        The connection, to the collector or through a relay (`ObliviousHttp`).
    pin
        The collector's key or the beginning of its fingerprint, as for `sottovoce.connect`.
    remembered
        A checkpoint from before, which says whose log this must be if no pin is given.
    """
    trusted = pin or (origin_of(remembered) if remembered else None) or None
    sent = read(http.get("/v1/key"), dict[str, str])
    key = check_key(sent.get("key", ""), None if trusted is None else check_pin(trusted))
    # The surveys first: what is published while the log is read is then in it.
    titles = {listed.id: listed.title for listed in CollectorClient(http).surveys()}
    note = checkpoint_at(http)
    head = read_checkpoint(note, key)
    entries = _entries(http, head.size)
    if _grown(entries).root(head.size) != head.root:
        raise TransparencyError("the entries of the log do not have the root that the collector has signed")
    return LogView(key, note, head, entries, titles)


def checkpoint_at(http: CollectorConnection) -> str:
    """The checkpoint of the collector at an address, not yet verified."""
    try:
        return http.get_bytes("/v1/log/checkpoint", most=LONGEST_CHECKPOINT).decode("utf-8", "replace")
    except ServiceError as error:
        if error.status not in (404, 405):
            raise
    raise TransparencyError(f"the collector at {http.url} shows no log of its surveys")


def _entries(http: CollectorConnection, size: int) -> tuple[LogEntry, ...]:
    if size > _MOST:
        raise TransparencyError(f"the log has {size:,} entries, above the {_MOST:,} that are read")
    entries: list[LogEntry] = []
    while len(entries) < size:
        part = http.get("/v1/log/entries", {"start": len(entries)}, kind=LogEntries).entries
        if not part:
            raise TransparencyError(f"the log shows {len(entries):,} entries, and its checkpoint is of {size:,}")
        entries += part
    return tuple(entries[:size])


def _grown(entries: tuple[LogEntry, ...]) -> GrowingTree:
    tree = GrowingTree()
    for entry in entries:
        tree.append(leaf_hash(entry.leaf))
    return tree
