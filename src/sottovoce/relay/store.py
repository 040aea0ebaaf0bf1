"""What a relay keeps, in one SQLite file: sealed messages in boxes, the batch under way, surveys and keys.

A box holds the messages that the collector could not tell apart without opening them: those of one survey, sealed to
one key, of one size. Only whole boxes are released, so that a message is always among as many of its kind as its survey
states. No address is kept, and of the time no more than a coarse one.
"""

from __future__ import annotations

import hashlib
import secrets
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, final

from sottovoce.core.errors import StoreError
from sottovoce.service.storage.committer import Arrival, Closed
from sottovoce.service.storage.sql import Transaction, UndoneError, freed
from sottovoce.service.storage.sqlite_database import SqliteDatabase, claim

__all__ = ["RELAY_FILE", "Batch", "Box", "RelayStore", "frame", "message_id"]

RELAY_FILE: Final = "relay.db"
"""A file in the relay's folder."""

_ID_BYTES: Final = 16
_LENGTH_BYTES: Final = 4
_SEED_BYTES: Final = 32
_PIECE_ROWS: Final = 1000
"""Rows that one transaction forgets: intake waits for it."""

_PROBE_BYTES: Final = 2**16

_SCHEMA_NUMBER: Final = 1
_SCHEMA: Final = (
    # A survey's id is the SHA-256 of its statement, so that what it states never changes.
    "CREATE TABLE surveys (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, least INTEGER NOT NULL) STRICT",
    "CREATE TABLE boxes (number INTEGER PRIMARY KEY, survey INTEGER NOT NULL REFERENCES surveys, "
    "sealing_key INTEGER NOT NULL, size INTEGER NOT NULL, "
    # Messages that are in no batch, and the coarse time of the first of them.
    "held INTEGER NOT NULL DEFAULT 0, oldest INTEGER, "
    # Messages with numbers up to this one are in the batch under way.
    "released INTEGER NOT NULL DEFAULT 0, UNIQUE (survey, sealing_key, size)) STRICT",
    # Numbers are never given twice: one that is above `released` stays so.
    "CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, box INTEGER NOT NULL REFERENCES boxes, "
    "content BLOB NOT NULL) STRICT",
    "CREATE INDEX messages_by_box ON messages (box)",
    "CREATE TABLE seen (id BLOB PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE batch (only INTEGER PRIMARY KEY CHECK (only = 1), seed BLOB NOT NULL) STRICT",
    "CREATE TABLE sealing_keys (id INTEGER PRIMARY KEY, configuration BLOB NOT NULL, epoch INTEGER NOT NULL) STRICT",
    "CREATE TABLE published (only INTEGER PRIMARY KEY CHECK (only = 1), body BLOB NOT NULL) STRICT",
    "CREATE TABLE probe (content BLOB NOT NULL) STRICT",
)


class Box(NamedTuple):
    """What waits in one box."""

    number: int
    survey: str
    least: int
    held: int
    oldest: int
    """The coarse time at which the first of them came."""


@dataclass(frozen=True)
class Batch:
    """The batch under way: what is left of it, and the seed of its order."""

    seed: bytes
    left: tuple[tuple[int, int], ...]
    """Number and size of each message."""


def message_id(message: bytes) -> bytes:
    """The id of a message: equal for equal messages, and different for others."""
    return hashlib.sha256(message).digest()[:_ID_BYTES]


def frame(message: bytes) -> bytes:
    """A message as rows of an `Arrival`, which may be joined to others."""
    return len(message).to_bytes(_LENGTH_BYTES) + message


def _framed(rows: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(rows):
        start = at + _LENGTH_BYTES
        at = start + int.from_bytes(rows[at:start])
        yield rows[start:at]


@final
class RelayStore(SqliteDatabase):
    """A relay's file. Safe to use from several threads."""

    application_id = int.from_bytes(b"SVre", "big")

    def __init__(self, path: Path, *, reserve_bytes: int = 0):
        super().__init__(path, reserve_bytes=reserve_bytes)
        with self.read() as transaction:
            ((n_messages,),) = transaction.rows("SELECT COUNT(*) FROM messages")
        self._n_messages = int(n_messages)
        self._counting = threading.Lock()
        self.duplicates = 0
        """Messages that were sent again since the start."""

    def _migrate(self, connection: sqlite3.Connection) -> None:
        present = [number for (number,) in _numbers(connection)]
        if present == [_SCHEMA_NUMBER]:
            return
        if present:
            raise StoreError(
                f"{self.path} has schema {max(present)}, and this version of Sottovoce knows schema {_SCHEMA_NUMBER} "
                "at most; nothing was changed: run the version that wrote it, or a newer one"
            )
        claim(connection, self.application_id)
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("INSERT INTO migrations VALUES (?, 'first')", (_SCHEMA_NUMBER,))
        connection.execute("COMMIT")

    @property
    def n_messages(self) -> int:
        """How many messages are held, those of the batch under way included."""
        return self._n_messages

    def _count(self, more: int) -> None:
        with self._counting:
            self._n_messages += more

    def check(self, *, thorough: bool = False) -> None:
        """Raise unless a message could be stored; see `Readiness`."""
        with suppress(UndoneError), self.write(growing=True) as transaction:
            transaction.run("INSERT INTO probe VALUES (?)", (bytes(_PROBE_BYTES),))
            transaction.run("DELETE FROM probe")
            if not thorough:
                raise UndoneError

    def last_number(self) -> int:
        """The largest number that a durable message was ever given."""
        with self.read() as transaction:
            rows = transaction.rows("SELECT seq FROM sqlite_sequence WHERE name = 'messages'")
        return int(rows[0][0]) if rows else 0

    # --- intake -----------------------------------------------------------------------------

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """Keep framed messages in one transaction, durable on return; those that came before are kept once."""
        kept = again = 0
        verdicts: list[Closed | None] = []
        with self.write(growing=True) as transaction:
            for arrival in arrivals:
                known = transaction.rows("SELECT number FROM surveys WHERE id = ?", (arrival.survey,))
                verdicts.append(None if known else "unknown")
                if not known:
                    continue
                # In the order of their ids: which of one transaction came first is forgotten here.
                messages = sorted((message_id(message), message) for message in _framed(arrival.rows))
                for identity, message in messages:
                    if transaction.run("INSERT OR IGNORE INTO seen VALUES (?, ?)", (identity, arrival.epoch)):
                        _insert(transaction, known[0][0], message, arrival.epoch)
                        kept += 1
                    else:
                        again += 1
        self._count(kept)
        self.duplicates += again
        return verdicts

    # --- release ----------------------------------------------------------------------------

    def boxes(self) -> list[Box]:
        """Every box in which something waits."""
        with self.read() as transaction:
            return _waiting(transaction)

    def release(self, hold: int, before: int, closing: Collection[str] = ()) -> int:
        """Make a batch of all boxes that are ripe, unless one is under way; returns the number of its messages.

        Parameters
        ----------
        hold
            A box is ripe with this many messages, if they are at least its survey's least number.
        before
            A box is also ripe with the least number, if its first message came before this time.
        closing
            Surveys whose boxes are ripe with the least number at once.
        """
        return freed(self, partial(_release, hold=hold, before=before, closing=closing))

    def batch(self) -> Batch | None:
        """The batch under way."""
        with self.read() as transaction:
            seeds = transaction.rows("SELECT seed FROM batch")
            if not seeds:
                return None
            left = transaction.rows(
                "SELECT m.number, b.size FROM boxes b JOIN messages m ON m.box = b.number AND m.number <= b.released"
            )
        return Batch(seeds[0][0], tuple((number, size) for number, size in left))

    def contents(self, numbers: Sequence[int]) -> list[bytes]:
        """The messages of these numbers, in this order."""
        with self.read() as transaction:
            return [
                transaction.rows("SELECT content FROM messages WHERE number = ?", (number,))[0][0] for number in numbers
            ]

    def forget(self, numbers: Iterable[int]) -> None:
        """Remove messages that the collector has, or does not want."""
        rows = [(number,) for number in numbers]
        self._count(-freed(self, lambda transaction: transaction.many("DELETE FROM messages WHERE number = ?", rows)))

    def end_batch(self) -> None:
        """Nothing of the batch is left: the next one may be made."""
        freed(self, lambda transaction: transaction.run("DELETE FROM batch"))

    def drop(self, survey_id: str) -> int:
        """Remove what waits in the boxes of a survey that takes no more reports; how many messages."""
        with self.read() as transaction:
            boxes = transaction.rows(
                "SELECT b.number FROM boxes b JOIN surveys s ON s.number = b.survey WHERE s.id = ?", (survey_id,)
            )
        dropped = 0
        for (box,) in boxes:
            while n := freed(self, partial(_drop_piece, box=box)):
                self._count(-n)
                dropped += n
        return dropped

    def forget_seen(self, before: int) -> None:
        """Forget the ids of messages that came before this time."""
        forgotten = _PIECE_ROWS
        while forgotten == _PIECE_ROWS:
            forgotten = freed(self, partial(_forget_seen, before=before))

    # --- surveys and keys -------------------------------------------------------------------

    def surveys(self) -> dict[str, int]:
        """The least number of each known survey."""
        with self.read() as transaction:
            return dict(transaction.rows("SELECT id, least FROM surveys"))

    def learn(self, survey_id: str, least: int) -> None:
        """Remember what a survey states."""
        self.write_one("INSERT OR IGNORE INTO surveys (id, least) VALUES (?, ?)", (survey_id, least))

    def sealing_keys(self, since: int) -> dict[int, bytes]:
        """Configurations by the numbers of their keys: those published since then, or with messages that wait."""
        with self.read() as transaction:
            rows = transaction.rows(
                "SELECT id, configuration FROM sealing_keys WHERE epoch >= ? "
                "OR id IN (SELECT sealing_key FROM boxes WHERE held > 0)",
                (since,),
            )
        return dict(rows)

    def published(self) -> bytes:
        """What the collector published last; empty for nothing."""
        with self.read() as transaction:
            rows = transaction.rows("SELECT body FROM published")
        return rows[0][0] if rows else b""

    def publish(self, body: bytes, configurations: dict[int, bytes], epoch: int) -> None:
        """Remember what the collector publishes now."""
        with self.write() as transaction:
            transaction.run("INSERT OR REPLACE INTO published VALUES (1, ?)", (body,))
            transaction.many(
                "INSERT OR REPLACE INTO sealing_keys VALUES (?, ?, ?)",
                [(key_id, configuration, epoch) for key_id, configuration in configurations.items()],
            )


def _numbers(connection: sqlite3.Connection) -> list[tuple[int]]:
    if not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migrations'").fetchall():
        return []
    return connection.execute("SELECT number FROM migrations").fetchall()


def _insert(transaction: Transaction, survey: int, message: bytes, epoch: int) -> None:
    ((box,),) = transaction.rows(
        "INSERT INTO boxes (survey, sealing_key, size, held, oldest) VALUES (?, ?, ?, 1, ?) "
        "ON CONFLICT DO UPDATE SET held = held + 1, oldest = MIN(COALESCE(oldest, excluded.oldest), excluded.oldest) "
        "RETURNING number",
        (survey, message[0], len(message), epoch),
    )
    transaction.run("INSERT INTO messages (box, content) VALUES (?, ?)", (box, message))


def _release(transaction: Transaction, hold: int, before: int, closing: Collection[str]) -> int:
    if transaction.rows("SELECT 1 FROM batch"):
        return 0
    ripe = [
        box
        for box in _waiting(transaction)
        if box.held >= box.least and (box.held >= hold or box.oldest < before or box.survey in closing)
    ]
    for box in ripe:
        transaction.run(
            "UPDATE boxes SET held = 0, oldest = NULL, "
            "released = (SELECT MAX(number) FROM messages WHERE box = boxes.number) WHERE number = ?",
            (box.number,),
        )
    if ripe:
        transaction.run("INSERT INTO batch VALUES (1, ?)", (secrets.token_bytes(_SEED_BYTES),))
    return sum(box.held for box in ripe)


def _forget_seen(transaction: Transaction, before: int) -> int:
    return transaction.run(
        "DELETE FROM seen WHERE id IN (SELECT id FROM seen WHERE epoch < ? LIMIT ?)", (before, _PIECE_ROWS)
    )


def _drop_piece(transaction: Transaction, box: int) -> int:
    """Remove some messages of a box that are in no batch; it must never seem to hold more than it does."""
    n = transaction.run(
        "DELETE FROM messages WHERE number IN (SELECT m.number FROM messages m JOIN boxes b ON b.number = m.box "
        "WHERE b.number = ? AND m.number > b.released LIMIT ?)",
        (box, _PIECE_ROWS),
    )
    transaction.run("UPDATE boxes SET held = held - ? WHERE number = ?", (n, box))
    transaction.run("UPDATE boxes SET oldest = NULL WHERE number = ? AND held = 0", (box,))
    return n


def _waiting(transaction: Transaction) -> list[Box]:
    rows = transaction.rows(
        "SELECT b.number, s.id, s.least, b.held, b.oldest FROM boxes b JOIN surveys s ON s.number = b.survey "
        "WHERE b.held > 0"
    )
    return [Box(*row) for row in rows]
