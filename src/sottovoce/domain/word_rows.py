"""Codes of very many texts at once: those of ASCII characters by tables, without a step in Python for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["AsciiUnits", "TextRows", "text_rows"]

_AT_ONCE: Final = 1 << 14


class AsciiUnits(NamedTuple):
    """The units of every ASCII character once it is spelt, none for what no word contains; and what a code states."""

    each: Sequence[Sequence[int]]
    longest: int
    units: int
    unit_bits: int
    lower: bool


class TextRows(NamedTuple):
    """The code of each text, zeros for no word; how it is spelt; and which were read here, others being zeros."""

    rows: NDArray[np.uint8]
    spelt: list[str]
    read: NDArray[np.bool_]


def text_rows(texts: Sequence[str], table: AsciiUnits) -> TextRows:
    """Codes of texts that are spelt in ASCII, all characters being in the table and no space to be trimmed or joined.

    Examples
    --------
    >>> each = [[ord(letter) - 96] if letter.islower() else [] for letter in map(chr, range(128))]
    >>> found = text_rows(["ab", "café", "", "longer"], AsciiUnits(each, 3, 3, 5, True))
    >>> found.rows.tolist(), found.read.tolist()
    ([[8, 128], [0, 0], [0, 0], [0, 0]], [True, False, False, True])
    """
    parts = [_piece(texts[start : start + _AT_ONCE], table) for start in range(0, len(texts), _AT_ONCE)]
    if not parts:
        return TextRows(np.zeros((0, _row_bytes(table)), dtype=np.uint8), [], np.zeros(0, dtype=bool))
    return TextRows(
        np.concatenate([part.rows for part in parts]),
        [text for part in parts for text in part.spelt],
        np.concatenate([part.read for part in parts]),
    )


def _row_bytes(table: AsciiUnits) -> int:
    return (table.units * table.unit_bits + 7) // 8


def _piece(texts: Sequence[str], table: AsciiUnits) -> TextRows:
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    joined = "".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    owner = np.repeat(np.arange(len(texts)), lengths)
    width = np.array([len(units) for units in table.each] + [0])  # the last is for all that is not ASCII
    per_point = width[np.minimum(points, 128)]
    space = points == ord(" ")
    # A space at either end, or beside another, is taken off when a text is spelt.
    edge = np.ones(len(points) + 1, dtype=bool)
    edge[1:-1] = owner[1:] != owner[:-1]
    loose = space & (edge[:-1] | edge[1:])
    loose[1:] |= space[1:] & space[:-1]
    read = np.ones(len(texts), dtype=bool)
    read[owner[(per_point == 0) | loose]] = False
    read &= lengths > 0
    rows = np.zeros((len(texts), _row_bytes(table)), dtype=np.uint8)
    words = read & (lengths <= table.longest)
    mine = words[owner]
    if mine.any():
        rows[words] = _packed(points[mine], (np.cumsum(words) - 1)[owner[mine]], int(words.sum()), table)
    spelt = [text.lower() for text in texts] if table.lower else list(texts)
    return TextRows(rows, spelt, read)


def _packed(points: NDArray[np.uint32], owner: NDArray[np.int64], n: int, table: AsciiUnits) -> NDArray[np.uint8]:
    """The rows of characters that are all in the table, of so many words."""
    width = np.array([len(units) for units in table.each])
    filled = np.zeros((128, int(width.max())), dtype=np.uint16)
    for point, units in enumerate(table.each):
        filled[point, : len(units)] = units
    counts = width[points]
    chain = filled[points][np.arange(filled.shape[1]) < counts[:, None]]
    at = np.repeat(owner, counts)
    first = np.searchsorted(at, np.arange(n))
    place = np.arange(len(at)) - first[at]
    used = int(place.max()) + 1
    matrix = np.zeros((n, used), dtype=np.uint16)
    matrix[at, place] = chain
    shifts = np.arange(table.unit_bits - 1, -1, -1, dtype=np.uint16)
    bits = (matrix[:, :, None] >> shifts & np.uint16(1)).astype(np.uint8).reshape(n, -1)
    rows = np.zeros((n, _row_bytes(table)), dtype=np.uint8)
    packed = np.packbits(bits, axis=1)
    rows[:, : packed.shape[1]] = packed
    return rows
