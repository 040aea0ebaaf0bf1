"""Counting reports: one pass, integers only; encoded reports are counted where they stand, on all cores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.threads import for_each_piece, zeros

__all__ = ["count_encoded", "count_into"]

Counts = NDArray[np.int64]
Rows = NDArray[np.uint8]
Words = NDArray[Any]
Tables = TypeVar("Tables")

_BYTES_AT_ONCE: Final = 1 << 20
"""What a thread takes at a time: enough to hide the handing out, little enough to balance the threads."""

_CELLS_AT_ONCE: Final = 1 << 16
"""Counters to which one table after the other is added: few enough to stay in the second-level cache."""

_PAIR_LIMITS: Final = {1: 1 << 6, 2: 1 << 12}
"""Outputs, for reports of one byte and of two, up to which tables of pairs of bytes stay in the first-level cache."""

_PAIRS: Final = 1 << 16

_FEW: Final = 1 << 17
"""Rows up to which a table would take longer to clear and to add up than it saves."""


def count_into(counts: Counts, outputs: NDArray[Any]) -> None:
    """Add the histogram of `outputs` (integers below ``len(counts)``, trusted) to `counts`, in place."""
    from sottovoce.kernels.compiled.counting import count_into as compiled

    compiled(counts, outputs)


def count_encoded(counts: Counts, rows: Rows, outputs: int, *, signed: bool = False) -> bool:
    """Add the histogram of encoded reports to `counts`, in place, unless one of them is out of range.

    The bytes are read once and never widened; no memory is taken that grows with the number of rows. Where there are
    many rows every core counts into a table of its own, and the tables are added up at the end: integers, so the
    result does not depend on the number of cores.

    Parameters
    ----------
    counts : numpy.ndarray
        `outputs` counters, or half as many where reports are signed.
    rows : numpy.ndarray
        One report a row: an integer in little-endian bytes, all of them.
    outputs : int
        What every report is below.
    signed : bool
        Reports 2 i and 2 i + 1 add one to counter i and take one off.

    Returns
    -------
    bool
        False if some row is not below `outputs`; `counts` are then as they were.

    Raises
    ------
    ValueError
        If the number of counters is not the one stated above: the loops would write beyond them.

    Examples
    --------
    >>> counts = np.zeros(300, dtype=np.int64)
    >>> count_encoded(counts, np.array([[1, 0], [43, 1], [1, 0]], dtype=np.uint8), 300)
    True
    >>> counts[1], counts[299]
    (np.int64(2), np.int64(1))
    >>> count_encoded(counts, np.array([[1, 0], [44, 1]], dtype=np.uint8), 300), counts[1]
    (False, np.int64(2))
    """
    if len(counts) * (2 if signed else 1) != outputs:
        raise ValueError(f"{len(counts)} counters do not fit reports below {outputs}")
    rows = np.ascontiguousarray(rows)
    if len(rows) <= max(_FEW, outputs // 4):
        return _count_few(counts, rows, outputs, signed)
    if outputs > _PAIR_LIMITS.get(rows.shape[1], 0):
        return _count_in_bytes(counts, rows, outputs, signed)
    tally = _tally_pairs(rows)
    if tally[outputs:].any():
        return False
    counts += tally[0:outputs:2] - tally[1:outputs:2] if signed else tally[:outputs]
    return True


def _count_few(counts: Counts, rows: Rows, outputs: int, signed: bool) -> bool:
    from sottovoce.kernels.compiled import counting as compiled

    most, rest, mask = _words(rows)
    if not all(compiled.all_below(words, mask, np.uint64(outputs)) for words in (most, rest)):
        return False
    count = compiled.count_signed_rows if signed else compiled.count_rows
    count(counts, most, mask)
    count(counts, rest, mask)
    return True


def _words(rows: Rows) -> tuple[Words, Words, Any]:
    """The four or eight bytes from the beginning of every row on, and the mask of those that are the row's own.

    The first array is the rows where they stand; the second holds the few that are too near to the end of the memory.
    """
    n, width = rows.shape
    word = np.dtype("<u4" if width <= 4 else "<u8")
    near = min(n, -(-word.itemsize // width) - 1)
    windows: Words = np.ndarray((n - near,), word, rows, strides=(width,))
    padded = np.zeros((near, word.itemsize), dtype=np.uint8)
    padded[:, :width] = rows[n - near :]
    return windows, padded.view(word)[:, 0], word.type((1 << 8 * width) - 1)


def _tally_pairs(rows: Rows) -> Counts:
    """How often every value of a row of one byte or two occurs."""
    from sottovoce.kernels.compiled.counting import tally_pairs

    every = rows.reshape(-1)
    whole = every.size // 8 * 8
    words = every[:whole].view("<u8")
    copies = _copies(every[:whole].view("<u2"))
    # A little longer than what they hold: a power of two apart they would share cache sets and evict each other.
    tables = _on_all_cores(
        lambda table, first, last: tally_pairs(table, words[first:last]),
        len(words),
        8,
        lambda: np.zeros((copies, _PAIRS + 1024), dtype=np.uint32),
    )
    pairs = np.zeros(_PAIRS, dtype=np.int64)
    for table in tables:
        pairs += table[:, :_PAIRS].sum(axis=0, dtype=np.int64)
    rest = every[whole:]
    if rows.shape[1] == 2:
        return pairs + np.bincount(rest.view("<u2"), minlength=_PAIRS)
    square = pairs.reshape(256, 256)
    return np.asarray(square.sum(axis=0) + square.sum(axis=1) + np.bincount(rest, minlength=256))


def _copies(pairs: NDArray[np.uint16]) -> int:
    """How many tables to count pairs in.

    One leaves the most of the cache to the reports on their way; but where one pair is frequent, increments of its
    counter wait for each other, and four tables share them.
    """
    if pairs.size >= 1 << 32:  # more than a counter of 32 bits surely holds
        return 4
    sample = pairs[:: max(1, pairs.size >> 14)]
    return 1 if 64 * np.bincount(sample, minlength=1).max() <= sample.size else 4


def _count_in_bytes(counts: Counts, rows: Rows, outputs: int, signed: bool) -> bool:
    """Count in tables of bytes, which stay in a cache where counters would not; add them up if all rows are good."""
    from sottovoce.kernels.compiled import counting as compiled

    words, rest, mask = _words(rows)
    tables = _on_all_cores(
        lambda table, first, last: compiled.tally_rows(*table, words[first:last], mask),
        len(words),
        rows.shape[1],
        lambda: (zeros(outputs + 1, np.uint8), np.zeros(outputs + 2, dtype=np.uint32)),
    )
    if any(table[outputs] or carries[outputs] for table, carries in tables) or (rest >= outputs).any():
        return False
    add, count = compiled.add_table, compiled.count_rows
    if signed:
        add, count = compiled.add_signed_table, compiled.count_signed_rows
    sums = np.ascontiguousarray(counts)
    count(sums, rest, mask)

    def add_up(piece: int) -> None:
        part = sums[piece * _CELLS_AT_ONCE : (piece + 1) * _CELLS_AT_ONCE]
        first = piece * _CELLS_AT_ONCE * (outputs // len(counts))
        for table, carries in tables:
            add(part, table[first:], 0)
            if carries[-1]:
                add(part, carries[first:], 8)

    for_each_piece(add_up, -(-len(counts) // _CELLS_AT_ONCE))
    if sums is not counts:
        counts[:] = sums
    return True


def _on_all_cores(
    work: Callable[[Tables, int, int], None], n: int, bytes_each: int, tables: Callable[[], Tables]
) -> list[Tables]:
    """Do ``work(tables, first, last)`` for all n words, and return every set of tables that was used.

    A thread takes a set as it asks for work: there are as many as threads that were at work at once.
    """
    share = max(1, _BYTES_AT_ONCE // bytes_each)
    idle: list[Tables] = []

    def take(piece: int) -> None:
        try:
            mine = idle.pop()
        except IndexError:
            mine = tables()
        work(mine, piece * share, min(n, (piece + 1) * share))
        idle.append(mine)

    for_each_piece(take, -(-n // share))
    return idle
