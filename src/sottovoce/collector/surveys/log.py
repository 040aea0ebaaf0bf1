"""The log of publications as a service shows it: its entries from the database, signed heads, and proofs.

Before a head is shown it is written to a file in the data folder. A database that does not continue what that file
says was put back to an earlier state, or exchanged: to sign it would be to show two lists. So nothing is signed then
and nothing published, until the database is as it was, or the operator says that what is missing is lost.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol, final

from sottovoce.core.errors import SettingsError, StoreError, StoreUnavailableError, TransparencyError
from sottovoce.core.files import replace_file
from sottovoce.core.signing import SigningKey
from sottovoce.protocol.log import LogEntry, LogProof
from sottovoce.service.refusal import Refusal
from sottovoce.service.running.outage import Repeats
from sottovoce.transparency.evidence import log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import LONGEST_CHECKPOINT, TreeHead, read_checkpoint, sign_checkpoint

__all__ = ["CHECKPOINT_FILE", "SurveyLog", "forget_checkpoint", "not_in_log"]

CHECKPOINT_FILE: Final = "log.checkpoint"
"""A file in the data folder: the latest head of the log that this service has signed."""

_LOCK_FILE: Final = f"{CHECKPOINT_FILE}.lock"
"""An empty file in the data folder, locked by the process that compares and writes the other one."""

_log: Final = logging.getLogger("sottovoce.serve")
_repeats: Final = Repeats(_log, logging.ERROR)


class LogSource(Protocol):
    """What the log needs of a store."""

    def log_entries(self, start: int = 0, most: int | None = None) -> list[LogEntry]:
        """The entries from a position on."""

    def log_size(self) -> int:
        """How many there are."""


@final
class SurveyLog:
    """The log of one service. Safe to use from several threads.

    Several services on one database sign the same heads: they have one key, and a head says no time.
    """

    def __init__(self, folder: Path, key: SigningKey, store: LogSource) -> None:
        self._path = folder / CHECKPOINT_FILE
        self._key, self._store = key, store
        self._lock = threading.Lock()
        self._tree = GrowingTree()
        self._entries: list[LogEntry] = []
        self._places: dict[str, int] = {}
        self._checkpoint, self._size = "", -1

    def checkpoint(self) -> tuple[str, int]:
        """The signed note of the log's head, and its size."""
        with self._lock:
            self._advance()
            return self._checkpoint, self._size

    def entries(self, start: int, most: int) -> list[LogEntry]:
        """Entries that the latest checkpoint covers."""
        with self._lock:
            self._advance()
            return self._entries[start : min(start + most, self._size)]

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that the log of `new` entries continues that of `old`; a refusal beyond the latest checkpoint."""
        with self._lock:
            self._advance()
            if not old <= new <= self._size:
                raise Refusal(
                    404,
                    "no_such_size",
                    f"old and new must be from 0 to {self._size:,}, the size of the log, and old not above new",
                    field="new" if old <= new else "old",
                )
            return self._tree.consistency(old, new)

    def proof(self, survey_id: str, block: int) -> LogProof:
        """All that a device checks before it answers this survey; a refusal where it is not in the log."""
        with self._lock:
            self._advance()
            position = self._places.get(survey_id)
            if position is None or position >= self._size:
                raise not_in_log()
            return log_proof(self._tree, self._checkpoint, self._size, position, block)

    def check(self) -> None:
        """Refuse while the database does not continue what was signed; asked before anything is published."""
        with self._lock:
            self._compare_with_noted()

    def _advance(self) -> None:
        """Sign the database's head, if it is a new one."""
        self._follow()
        if self._tree.size == self._size:
            return
        try:
            # Compared and written by one process at a time: of two, the slower would put an older head in the place of
            # a newer one, and a database that has lost the difference would then be signed.
            with _locked(self._path.with_name(_LOCK_FILE)):
                self._compare_with_noted()
                head = TreeHead(self._tree.size, self._tree.root(self._tree.size))
                checkpoint = sign_checkpoint(self._key, head)
                replace_file(self._path, checkpoint.encode(), 0o600)
                # When it was written would tell when a survey was published.
                os.utime(self._path, (0, 0))
        except StoreError:
            raise
        except OSError as error:
            _repeats.say(f"{self._path} cannot be written, and the log is not signed without it: {error.strerror}")
            raise StoreUnavailableError("the checkpoint of the log cannot be written") from error
        self._checkpoint, self._size = checkpoint, head.size

    def _follow(self) -> None:
        """Read the entries that have come since."""
        size = self._store.log_size()
        if size < self._tree.size:
            raise _lost(self._tree.size, size)
        if size == self._tree.size:
            return
        for entry in self._store.log_entries(self._tree.size):
            self._tree.append(leaf_hash(entry.leaf))
            self._places.setdefault(entry.survey, len(self._entries))
            self._entries.append(entry)

    def _compare_with_noted(self) -> None:
        # The file first: what another process signs while the database is read is then not taken for a loss.
        signed = self._noted()
        self._follow()
        if signed is not None and not self._continues(signed):
            raise _lost(signed.size, self._tree.size)

    def _continues(self, signed: TreeHead) -> bool:
        return signed.size <= self._tree.size and self._tree.root(signed.size) == signed.root

    def advice(self) -> str:
        """Advice on the log to an operator who has just restored a database; empty if the log continues."""
        with self._lock:
            try:
                signed = self._noted()
            except Refusal:
                return f"{self._path} is damaged, or of another signing key: put the right one back"
            self._follow()
        return "" if signed is None or self._continues(signed) else _loss(signed.size, self._tree.size)

    def _noted(self) -> TreeHead | None:
        """The head that was signed last, by this service or its predecessor."""
        try:
            with self._path.open("rb") as file:
                note = file.read(LONGEST_CHECKPOINT + 1).decode("utf-8", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailableError(f"{self._path} cannot be read: {error.strerror}") from error
        try:
            return read_checkpoint(note, self._key.public)
        except TransparencyError as error:
            raise _unreadable(self._path, error) from error


def not_in_log() -> Refusal:
    """The refusal of an id that has no entry."""
    return Refusal(
        404,
        "not_in_log",
        "no survey with that id was published here; a period of a tracking survey has no entry of its own, its survey "
        "has",
    )


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes out of the block; they wait."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lost(signed: int, present: int) -> Refusal:
    _repeats.say(_loss(signed, present))
    return Refusal(
        503,
        "log_behind",
        "the collector's database does not continue the log of surveys that was signed before: nothing is signed or "
        "published until its operator has put that right; the service's own log says how",
        retry_after=3600,
    )


def _loss(signed: int, present: int) -> str:
    """The message to an operator whose database does not continue the log."""
    return (
        f"the database does not continue the log of surveys: a checkpoint of {signed:,} entries was signed, and it has "
        f"{present:,}, or others. It was put back to an earlier state, or is another one. Reports of the surveys that "
        "it has are taken; nothing is signed or published, and devices answer no new survey. Stop the service and put "
        "the latest database back. If it is lost, start the service once with --accept-lost-log: it then signs this "
        "log, and devices that have seen the other refuse this collector for good"
    )


def _unreadable(path: Path, error: TransparencyError) -> Refusal:
    _repeats.say(
        f"{path} is damaged, or of another signing key ({error}): nothing is signed or published. Put its copy or the "
        "key back; or start the service once with --accept-lost-log to sign the log that the database has"
    )
    return Refusal(
        503,
        "log_behind",
        "the collector cannot tell what it has signed before; its own log says more",
        retry_after=3600,
    )


def forget_checkpoint(folder: Path) -> None:
    """Let the next head be signed whatever was signed before: the operator has said that the difference is lost."""
    path = folder / CHECKPOINT_FILE
    try:
        before = path.read_bytes()[:LONGEST_CHECKPOINT].decode("utf-8", "replace")
        path.unlink()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed: {error.strerror}; remove it, and start again") from error
    _log.warning(
        "the log is signed as the database has it, whatever was signed before: %s", " ".join(before.split("\n")[:3])
    )
