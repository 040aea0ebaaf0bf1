"""Counts a shard at a time, for aggregates that exceed memory: what a shard is, and whole rotations out of shards."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np

from sottovoce.core.limits import SHARD_CELLS
from sottovoce.mechanisms.base import Counts

__all__ = ["Shard", "Sharded", "blocks_of_rows", "shard_length"]


class Shard(NamedTuple):
    """The counts of cells from ``number * SHARD_CELLS`` on."""

    number: int
    counts: Counts


class Sharded(Protocol):
    """Counts that come in shards."""

    def shards(self) -> Iterator[Shard]:
        """The shards that have a report, in order."""


def shard_length(cells: int, number: int) -> int:
    """How many cells a shard has: only the last one of a survey may have fewer than `SHARD_CELLS`."""
    return min(SHARD_CELLS, cells - number * SHARD_CELLS)


def blocks_of_rows(counts: Counts | Sharded, rows: int, size: int) -> Iterator[tuple[int, Counts]]:
    """Whole rows of `size` cells, a power of two: the first one's number, and about a shard of them.

    The blocks are the same whether the counts are in memory or come in shards, except that shards without a report
    make none: so what is summed block by block is the same to the last bit.

    Examples
    --------
    >>> [(first, block.shape) for first, block in blocks_of_rows(np.zeros(3 * 2**20, dtype=np.int64), 6, 2**19)]
    [(0, (2, 524288)), (2, (2, 524288)), (4, (2, 524288))]
    """
    cells, step = rows * size, max(SHARD_CELLS, size)
    if isinstance(counts, np.ndarray):
        for first in range(0, cells, step):
            yield first // size, counts[first : first + step].reshape(-1, size)
        return
    for block, shards in groupby(counts.shards(), key=lambda shard: shard.number * SHARD_CELLS // step):
        first = block * step
        held = np.zeros(min(step, cells - first), dtype=np.int64)
        for number, part in shards:
            held[number * SHARD_CELLS - first :][: len(part)] = part
        yield first // size, held.reshape(-1, size)
