"""What both databases share: a transaction as this package sees it, and how records become rows.

The statements are written once, with `?` for values; where the two databases differ, a store says how.
"""

from __future__ import annotations

import abc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Final

from sottovoce.collector.store.base import Store
from sottovoce.collector.store.migrations import Dialect
from sottovoce.collector.store.records import SurveyRecord, TokenRecord
from sottovoce.service.storage.committer import Arrival
from sottovoce.service.storage.sql import Row, T, Transaction, freed

__all__ = [
    "PART_BYTES",
    "STANDING",
    "SURVEY_COLUMNS",
    "TOKEN_COLUMNS",
    "SqlStore",
    "askable",
    "combine",
    "dump_words",
    "load_words",
    "parts",
    "survey_record",
    "token_record",
]

PART_BYTES: Final = 1024 * 1024
"""Longest value that is ever stored as one: it bounds memory, and how much room removing a row takes for a moment."""

STANDING: Final = "(SELECT number FROM surveys WHERE id = ? AND state <> 'deleted')"
"""The number of a survey by its id; none for a deleted one, although rows of it may be left."""

SURVEY_COLUMNS: Final = (
    "id, canonical, signature, title, kind, epsilon, minimum_reports, epoch, parent, round, labels, state"
)

TOKEN_COLUMNS: Final = "id, digest, scopes, note, epoch, revoked, expires"


class SqlStore(Store):
    """A store that speaks SQL; a subclass brings transactions, a clock and locks."""

    dialect: ClassVar[Dialect]
    for_share: ClassVar[str]
    """Ends a query whose rows must stay as they are until the transaction ends."""
    for_update: ClassVar[str]
    """Ends a query whose rows nobody else may even lock until the transaction ends."""
    skip_locked: ClassVar[str]
    """Ends a query for one row of `leases` (called l) that nobody else is about to take."""

    @abc.abstractmethod
    def write(self, *, growing: bool = False, freeing: bool = False) -> AbstractContextManager[Transaction]:
        """A transaction that is durable when the block ends, and undone when it raises.

        `growing` ones bring new content, and stop at the database's quota and its reserve of room; others may pass
        the quota a little, so that a full store can still count and delete. While the reserve is given up only
        `freeing` ones are let through; see `freed`.
        """

    @abc.abstractmethod
    def give_up_reserve(self) -> bool:
        """Give the room that is kept for them to transactions that make room; False when there is none to give."""

    def freed(self, change: Callable[[Transaction], T]) -> T:
        """What a change returns that an operator needs to get out of a full disk, in a transaction of its own.

        On a disk without a byte left it is done again with the room of the reserve.
        """
        return freed(self, change)

    @abc.abstractmethod
    def write_one(self, statement: str, values: Sequence[Any]) -> int:
        """Run one `growing` statement that is a transaction by itself, durable on return; how many rows it changed.

        The way of every report, so that it takes no more than one exchange with the database.
        """

    @abc.abstractmethod
    def read(self) -> AbstractContextManager[Transaction]:
        """One consistent view of everything."""

    @abc.abstractmethod
    def _now(self, transaction: Transaction) -> float:
        """The time that leases go by, in seconds."""

    @abc.abstractmethod
    def _alone(self, transaction: Transaction) -> None:
        """Exclude other publications and deletions from here on."""


def askable(text: str) -> bool:
    """Whether a text could be an id that the collector made; others are unknown without asking the database.

    Examples
    --------
    >>> askable("ab12"), askable("ab\\0"), askable("é")
    (True, False, False)
    """
    return text.isascii() and text.isprintable()


def dump_words(words: Any) -> str:
    """Text of people as ASCII: kept exactly whatever it holds, a NUL or half a surrogate pair included.

    Examples
    --------
    >>> load_words(dump_words("Köln \\0 ' \\ud800")) == "Köln \\0 ' \\ud800"
    True
    """
    return json.dumps(words, ensure_ascii=True)


def load_words(stored: str) -> Any:
    """What `dump_words` was given."""
    return json.loads(stored)


def survey_record(row: Row) -> SurveyRecord:
    """A row of SURVEY_COLUMNS."""
    *front, parent, number, labels, state = row
    record_id, canonical, signature, title, kind, epsilon, minimum_reports, epoch = front
    return SurveyRecord(
        id=record_id,
        canonical=bytes(canonical),
        signature=bytes(signature),
        title=load_words(title),
        kind=kind,
        epsilon=epsilon,
        minimum_reports=minimum_reports,
        epoch=epoch,
        parent=parent,
        round=number,
        labels=tuple(load_words(labels)),
        state=state,
    )


def token_record(row: Row) -> TokenRecord:
    """A row of a token's columns but its number."""
    token_id, digest, scopes, note, epoch, revoked, expires = row
    opens = frozenset(load_words(scopes))
    return TokenRecord(token_id, bytes(digest), opens, load_words(note), epoch, bool(revoked), expires)


def parts(content: bytes, most: int = PART_BYTES) -> Iterator[tuple[int, bytes | memoryview]]:
    """Content in numbered parts of at most `most` bytes; at least one.

    Examples
    --------
    >>> [(number, bytes(part)) for number, part in parts(b"abcde", 2)]
    [(0, b'ab'), (1, b'cd'), (2, b'e')]
    """
    if len(content) <= most:
        yield 0, content
        return
    view = memoryview(content)
    for number, start in enumerate(range(0, len(content), most)):
        yield number, view[start : start + most]


def combine(arrivals: Iterable[Arrival], most: int = PART_BYTES) -> Iterator[Arrival]:
    """The reports in few arrivals: those of one survey and epoch together, none longer than `most` bytes.

    Examples
    --------
    >>> some = [Arrival("a", 1, 1, b"x"), Arrival("b", 1, 1, b"y"), Arrival("a", 1, 2, b"zw"), Arrival("a", 1, 0, b"")]
    >>> [(new.survey, new.n, new.rows) for new in combine(some)]
    [('a', 3, b'xzw'), ('b', 1, b'y')]
    >>> [new.n for new in combine(some, most=2)]
    [1, 2, 1]
    """
    groups: dict[tuple[str, int], list[Arrival]] = {}
    for arrival in arrivals:
        if arrival.n:
            groups.setdefault((arrival.survey, arrival.epoch), []).append(arrival)
    for group in groups.values():
        start = length = 0
        for end, arrival in enumerate(group):
            if end > start and length + len(arrival.rows) > most:
                yield _joined(group[start:end])
                start, length = end, 0
            length += len(arrival.rows)
            if length > most:
                yield from _cut(arrival, most)
                start, length = end + 1, 0
        if start < len(group):
            yield _joined(group[start:])


def _joined(group: list[Arrival]) -> Arrival:
    first = group[0]
    if len(group) == 1:
        return first
    return Arrival(first.survey, first.epoch, sum(each.n for each in group), b"".join([each.rows for each in group]))


def _cut(arrival: Arrival, most: int) -> Iterator[Arrival]:
    """One long arrival as several, cut between reports."""
    width = len(arrival.rows) // arrival.n
    step = max(most // width, 1)
    for start in range(0, arrival.n, step):
        n = min(step, arrival.n - start)
        yield Arrival(arrival.survey, arrival.epoch, n, arrival.rows[start * width : (start + n) * width])
