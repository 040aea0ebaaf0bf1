"""A transaction as both databases and both services see it, and changes that make room on a full disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias, TypeVar

from sottovoce.core.errors import StoreFullError

__all__ = ["Frees", "Row", "Transaction", "UndoneError", "freed"]

Row: TypeAlias = tuple[Any, ...]

T = TypeVar("T")


class Transaction(Protocol):
    """What may be asked inside one transaction."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query."""

    def stream(self, statement: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """The rows of a query, few of them in memory at a time; read to the end before anything else is asked."""

    def run(self, statement: str, values: Sequence[Any] = ()) -> int:
        """Change something; how many rows were."""

    def many(self, statement: str, values: Iterable[Sequence[Any]]) -> int:
        """Change something once for each set of values; how many rows were, all together."""


class Frees(Protocol):
    """What `freed` needs of a database."""

    def write(self, *, growing: bool = False, freeing: bool = False) -> AbstractContextManager[Transaction]:
        """A transaction that is durable when the block ends, and undone when it raises."""

    def give_up_reserve(self) -> bool:
        """Give the reserve's room to transactions that make room; False when there is none to give."""


def freed(database: Frees, change: Callable[[Transaction], T]) -> T:
    """What a change returns that makes room; on a disk without a byte left it is done with the room of the reserve."""
    try:
        with database.write(freeing=True) as transaction:
            return change(transaction)
    except StoreFullError:
        if not database.give_up_reserve():
            raise
    with database.write(freeing=True) as transaction:
        return change(transaction)


class UndoneError(Exception):
    """Leaves a transaction whose changes are not wanted."""
