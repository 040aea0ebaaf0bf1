"""The ledger of people who have a report: a server that meets the same people again gives the same report again.

One row for every person and survey: a keyed hash of who it is, the report's id and the report. The key is in a file of
its own beside the ledger, ``NAME.key``: without that file, names cannot be tried to find out who is in the ledger.
Rows stand in the order of the hashes, which tells nothing about when they came.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Final, final

from sottovoce.core.errors import LedgerError
from sottovoce.core.files import create_file, creating, leftover_parts
from sottovoce.edge.rows import EdgeReport, InputRow, RowFault
from sottovoce.surveys.survey import Survey

__all__ = ["PersonLedger"]

_APPLICATION: Final = 0x53564544  # "SVED"
_VERSION: Final = 1
_KEY_BYTES: Final = 32
_WAIT_SECONDS: Final = 60.0
"""How long a call waits for another writer."""

_BEGIN_SECONDS: Final = 10.0
"""How long a ledger may take to be made."""

_TABLES: Final = f"""
PRAGMA application_id = {_APPLICATION};
PRAGMA user_version = {_VERSION};
CREATE TABLE key (checked BLOB NOT NULL);
CREATE TABLE drawn (person BLOB PRIMARY KEY, report_id BLOB NOT NULL, report BLOB NOT NULL) WITHOUT ROWID;
"""

Draw = Callable[[InputRow], EdgeReport | RowFault]


@final
class PersonLedger:
    """A file with one report for every person and survey; several processes may share it.

    It holds no value and no name. As on a device the first value stands: a second report because the value has changed
    would reveal that it has, and would spend epsilon again.

    Parameters
    ----------
    path
        The file, made if neither it nor its key exists. Both are for their owner's eyes only. Keep copies of both: if
        they are lost, nobody is remembered.

    Raises
    ------
    LedgerError
        If the file is not such a ledger, or one of the two files is missing. Nothing is changed.

    Examples
    --------
    >>> import sottovoce as sv
    >>> import tempfile
    >>> from sottovoce.edge import InputRow, Randomizer
    >>> ledger = PersonLedger(Path(tempfile.mkdtemp()) / "people.db")
    >>> randomizer = Randomizer(Survey(sv.shares(["tea", "coffee"]), epsilon=1.0), ledger=ledger)
    >>> monday = randomizer.draw([InputRow(1, "tea", "anna@example.org")])
    >>> tuesday = randomizer.draw([InputRow(1, "coffee", "anna@example.org")])
    >>> monday == tuesday, len(ledger)
    (True, 1)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(os.fspath(path))
        self._key_path = self.path.with_name(self.path.name + ".key")
        if not self.path.exists() and not self._key_path.exists():
            self._create()
        self._await()
        self._key = self._read_key()
        with self._open() as database:
            self._check(database)

    def __repr__(self) -> str:
        return f"<PersonLedger {self.path}>"

    def __len__(self) -> int:
        """How many reports it remembers."""
        with self._open() as database:
            return int(database.execute("SELECT count(*) FROM drawn").fetchone()[0])

    def draw_once(self, survey: Survey, rows: Sequence[InputRow], draw: Draw) -> list[EdgeReport | RowFault]:
        """The report of every row's person: the remembered one, or one that is drawn and remembered now.

        What is returned is on disk. Drawing precedes the transaction; of two processes that draw for one person, the
        report of one is discarded unseen. A row without a person is a fault.
        """
        people = [None if row.person is None else self._digest(survey, row.person) for row in rows]
        with self._open() as database:
            known = {person: _remembered(database, person) for person in people if person is not None}
        outcomes: list[EdgeReport | RowFault] = []
        fresh: dict[bytes, EdgeReport] = {}
        for row, person in zip(rows, people, strict=True):
            if person is None:
                outcomes.append(RowFault(row.number, row.fault or "the row does not say who it is"))
                continue
            outcome = known[person] or fresh.get(person) or draw(row)
            if known[person] is None and isinstance(outcome, EdgeReport):
                fresh[person] = outcome
            outcomes.append(outcome)
        stands = self._remember(fresh)
        return [
            outcome if person is None or isinstance(outcome, RowFault) else stands.get(person, outcome)
            for outcome, person in zip(outcomes, people, strict=True)
        ]

    def _remember(self, fresh: dict[bytes, EdgeReport]) -> dict[bytes, EdgeReport]:
        """Write reports, and return those that stand."""
        if not fresh:
            return {}
        with self._open() as database:
            database.execute("BEGIN IMMEDIATE")
            database.executemany(
                "INSERT INTO drawn VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(person, *report) for person, report in fresh.items()],
            )
            stands = {person: _remembered(database, person) or report for person, report in fresh.items()}
            database.execute("COMMIT")
        return stands

    def _digest(self, survey: Survey, person: str | int) -> bytes:
        """A keyed hash of person and survey: the rows of one person in two surveys have nothing in common."""
        kind = b"text " if isinstance(person, str) else b"integer "
        return hmac.digest(
            self._key, bytes.fromhex(survey.id) + kind + str(person).encode("utf-8", "surrogatepass"), "sha256"
        )

    # --- the files ----------------------------------------------------------------------------

    def _create(self) -> None:
        key = secrets.token_bytes(_KEY_BYTES)
        try:
            with creating(self.path, 0o600) as part:
                with self._open(part) as database:
                    database.executescript(_TABLES)
                    database.execute("INSERT INTO key VALUES (?)", (_check_of(key),))
                # The key precedes the ledger: of many who begin at once, the one whose key stands makes it.
                create_file(self._key_path, key.hex().encode() + b"\n", 0o600)
        except FileExistsError:
            pass
        except OSError as error:
            raise self._unusable(error.strerror or "it cannot be written") from error

    def _await(self) -> None:
        """Let another process finish that has just written the key, and is about to put the ledger beside it."""
        end = time.monotonic() + _BEGIN_SECONDS
        while not self.path.exists() and self._key_path.exists() and leftover_parts(self.path):
            if time.monotonic() > end:
                return  # a crash has left it
            time.sleep(0.01)

    def _read_key(self) -> bytes:
        for here, other in ((self.path, self._key_path), (self._key_path, self.path)):
            if not here.exists():
                raise LedgerError(
                    f"{here} is missing, and {other} is there: people who have a report would get a second one. "
                    "Restore it from a copy; or, if nobody has a report yet, remove the other too"
                )
        try:
            key = bytes.fromhex(self._key_path.read_text(encoding="ascii"))
        except (OSError, ValueError) as error:
            raise LedgerError(f"{self._key_path} cannot be read as a key; restore it from a copy") from error
        if len(key) != _KEY_BYTES:
            raise LedgerError(f"{self._key_path} does not hold {_KEY_BYTES} bytes; restore it from a copy")
        return key

    def _check(self, database: sqlite3.Connection) -> None:
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if application != _APPLICATION or version != _VERSION:
            raise self._unusable("it is not a ledger of people, or has another version")
        stated = database.execute("SELECT checked FROM key").fetchone()
        if stated is None or not hmac.compare_digest(stated[0], _check_of(self._key)):
            raise self._unusable(f"{self._key_path} is not its key")

    @contextlib.contextmanager
    def _open(self, path: Path | None = None) -> Iterator[sqlite3.Connection]:
        """A connection for one call, so that threads and forked processes share nothing; it creates no file."""
        try:
            address = f"{(path or self.path).absolute().as_uri()}?mode=rw"
            database = sqlite3.connect(address, uri=True, timeout=_WAIT_SECONDS, isolation_level=None)
            try:
                database.execute("PRAGMA synchronous = FULL")
                yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise self._unusable(str(error)) from error

    def _unusable(self, reason: str) -> LedgerError:
        return LedgerError(
            f"the ledger {self.path} cannot be used: {reason}; nothing was drawn that it does not remember. Name "
            "another, or restore it from a copy"
        )


def _check_of(key: bytes) -> bytes:
    return hmac.digest(key, b"sottovoce ledger of people", "sha256")


def _remembered(database: sqlite3.Connection, person: bytes) -> EdgeReport | None:
    row = database.execute("SELECT report_id, report FROM drawn WHERE person = ?", (person,)).fetchone()
    return None if row is None else EdgeReport(*row)
