"""What a Spark job leaves: counts on the driver where they are few, and in the cluster's cache where they are many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from sottovoce.core.errors import ReportError, ServiceError
from sottovoce.core.limits import SHARD_CELLS
from sottovoce.engines.base import Counted, Ids
from sottovoce.engines.cluster.errors import translating_errors
from sottovoce.engines.cluster.rows import add_packed
from sottovoce.engines.cluster.tables import checksum
from sottovoce.engines.reports.rows import Tally
from sottovoce.mechanisms.base import Counts
from sottovoce.mechanisms.shards import Shard, shard_length
from sottovoce.surveys.survey import Survey

__all__ = ["SparkCounted", "other_counts"]


@final
class SparkCounted(Counted):
    """Counts in chunks of cells: by number on the driver, or a table of the cluster."""

    def __init__(
        self,
        survey: Survey,
        tally: Tally,
        ids: Ids,
        chunk_cells: int,
        chunks: dict[int, Counts] | None,
        table: Any = None,
        sum_of_rows: int = 0,
    ) -> None:
        self.survey, self.tally, self.ids = survey, tally, ids
        self._each, self._chunks, self._table, self._sum = chunk_cells, chunks, table, sum_of_rows

    def shards(self) -> Iterator[Shard]:
        """The counts in shards, in order, one of them on the driver at a time."""
        number, counts = -1, np.zeros(0, dtype=np.int64)
        for chunk, data in self._in_order():
            first = chunk * self._each
            if first // SHARD_CELLS != number:
                if counts.any():
                    yield Shard(number, counts)
                number = first // SHARD_CELLS
                counts = np.zeros(shard_length(self.survey.mechanism.cells, number), dtype=np.int64)
            offset = first - number * SHARD_CELLS
            part = counts[offset : offset + self._each]
            if isinstance(data, np.ndarray):
                part += data
            else:
                add_packed(part, data)
        if counts.any():
            yield Shard(number, counts)

    def _in_order(self) -> Iterator[tuple[int, Any]]:
        if self._chunks is not None:
            yield from sorted(self._chunks.items())
            return
        if self._table is None:
            raise ReportError("these counts were closed: count again")
        total = 0
        with translating_errors():
            ordered = self._table.filter("key >= 0").orderBy("key")
            for chunk, data in ordered.toLocalIterator(prefetchPartitions=True):
                total += checksum(chunk, data)
                yield chunk, bytes(data)
        if total != self._sum:  # a worker was lost, and what it kept was computed again
            raise other_counts()

    def close(self) -> None:
        """Take the counts out of the cluster's cache."""
        self._chunks, table, self._table = None, self._table, None
        if table is not None:
            with translating_errors():
                table.unpersist()


def other_counts() -> ServiceError:
    """The error for counts that the cluster lost, computed again, and found to be others."""
    return ServiceError(
        "the cluster lost counts that it kept, and computing them again gave others: what they are counted from has "
        "changed. Count again",
        code="recomputed",
    )
