"""Hashed prefixes of many people and of many candidates: NumPy outside, compiled loops inside, on all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["buckets", "candidate_scores", "free_scores", "half_tables", "hashes"]

Codes = NDArray[np.uint8]
Tables = NDArray[np.uint32]
_PIECE = 1 << 13


def hashes(tables: Tables, codes: Codes) -> Tables:
    """The hash of every code in every row: (codes, rows)."""
    words = np.zeros((len(codes), len(tables)), dtype=np.uint32)
    for column in range(codes.shape[1]):
        words ^= tables[:, column, codes[:, column]].T
    return words


def buckets(tables: Tables, codes: Codes, drawn: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The bucket of each code in its row; see `mechanisms.hashed_prefixes`."""
    from sottovoce.kernels.compiled.words import buckets as compiled

    out = np.empty(len(codes), dtype=np.int64)
    compiled(tables, np.ascontiguousarray(codes), drawn, size, out)
    return out


def half_tables(words: Tables, bits: int) -> tuple[Tables, Tables, int]:
    """Hashes of the higher and the lower half of `bits` bits, whose words are columns, the highest bit first."""
    low = bits // 2
    return _span(words[:, : bits - low]), _span(words[:, bits - low :]), low


def _span(words: Tables) -> Tables:
    """The XOR of every subset of the columns, numbered by its bits, the first column the highest."""
    span = np.zeros((len(words), 1), dtype=np.uint32)
    for column in words.T:
        span = np.stack([span, span ^ column[:, None]], axis=2).reshape(len(words), -1)
    return np.ascontiguousarray(span)


def candidate_scores(supporting: NDArray[Any], start: Tables, halves: Any, bits: NDArray[np.int64]) -> Any:
    """How many reports support each way to go on from a prefix, in all given rows together."""
    from sottovoce.kernels.compiled.words import add_scores
    from sottovoce.kernels.threads import for_each_piece

    high, low, low_bits = halves
    out = np.zeros(len(bits), dtype=supporting.dtype)
    pieces = -(-len(bits) // _PIECE)

    def work(piece: int) -> None:
        part = slice(piece * _PIECE, (piece + 1) * _PIECE)
        add_scores(supporting, start, high, low, bits[part], low_bits, out[part])

    for_each_piece(work, pieces)
    return out


def free_scores(
    supporting: NDArray[Any],
    trials: NDArray[np.int64],
    owners: NDArray[np.int32],
    tables: Tables,
    codes: Codes,
    numbers: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Support and reports of each whole code, in the given rows in whose bucket nobody else is entered."""
    from sottovoce.kernels.compiled.words import add_free_scores
    from sottovoce.kernels.threads import for_each_piece

    held = np.ascontiguousarray(codes)
    used = held.shape[1] - np.argmax(held[:, ::-1] != 0, axis=1)  # zeros at the end hash to nothing
    hits, reports = np.zeros(len(held), dtype=np.int64), np.zeros(len(held), dtype=np.int64)

    def work(piece: int) -> None:
        part = slice(piece * _PIECE, (piece + 1) * _PIECE)
        add_free_scores(
            supporting, trials, owners, tables, held[part], used[part], numbers[part], hits[part], reports[part]
        )

    for_each_piece(work, -(-len(held) // _PIECE))
    return hits, reports
