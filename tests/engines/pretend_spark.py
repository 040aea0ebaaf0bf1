"""A session that keeps Spark's promises and no more: partitions in any order, rows in any order, tasks run again.

What is done to a table is done at once, in this process, and in an order drawn anew; every task may be run twice, of
which the first result is thrown away. Tables of real clusters behave like this on bad days only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["PretendSession", "PretendTable"]


class PretendSession:
    """Just enough of a `pyspark.sql.SparkSession`."""

    def __init__(self, seed: int, partitions: int = 3) -> None:
        self.rng = np.random.default_rng(seed)
        self.conf = {"spark.sql.shuffle.partitions": str(partitions)}
        self.persisted = 0
        self.shuffles: set[int] = set()
        """How many times the rows of a job were shuffled."""

    def registerProgressHandler(self, handler: Any) -> None:  # noqa: N802
        """As over Spark Connect; nothing is ever told."""

    def removeProgressHandler(self, handler: Any) -> None:  # noqa: N802
        """As over Spark Connect."""

    def getTags(self) -> set[str]:  # noqa: N802
        """None."""
        return set()

    def addTag(self, tag: str) -> None:  # noqa: N802
        """Of what follows."""

    def createDataFrame(self, rows: list[tuple[bytes | None, bytes | None]]) -> PretendTable:  # noqa: N802
        """A table of reports."""
        columns = zip(*rows, strict=True) if rows else ([], [])
        arrays = [pa.array(column, type=pa.binary()) for column in columns]
        return PretendTable(self, _cut(pa.RecordBatch.from_arrays(arrays, names=["report_id", "report"]), self))

    def range(self, first: int, last: int, step: int, partitions: int) -> PretendTable:
        """Numbers, one a partition."""
        assert len(range(first, last, step)) == partitions
        numbers = [pa.RecordBatch.from_arrays([pa.array([i])], names=["id"]) for i in range(first, last, step)]
        return PretendTable(self, [[one] for one in numbers])


def _cut(batch: Any, session: PretendSession) -> list[list[Any]]:
    edges = np.sort(session.rng.integers(0, len(batch) + 1, 4)).tolist()
    return [[batch.slice(a, b - a)] for a, b in zip([0, *edges], [*edges, len(batch)], strict=True)]


class PretendTable:
    """Just enough of a `pyspark.sql.DataFrame`."""

    def __init__(self, session: PretendSession, partitions: list[list[Any]], shuffles: int = 0) -> None:
        self._session, self._partitions, self._shuffles = session, partitions, shuffles

    @property
    def schema(self) -> Any:
        """Both columns are of bytes."""
        from pyspark.sql.types import BinaryType, StructField, StructType

        return StructType([StructField(name, BinaryType()) for name in ("report_id", "report")])

    def select(self, *names: str) -> PretendTable:
        """These columns."""
        return PretendTable(self._session, [[one.select(list(names)) for one in part] for part in self._partitions])

    def mapInArrow(self, stage: Callable[[Any], Iterator[Any]], schema: str) -> PretendTable:  # noqa: N802
        """Every task, perhaps twice."""
        done = []
        for part in self._partitions:
            if self._session.rng.random() < 0.3:
                list(stage(iter(part)))
            done.append(list(stage(iter(part))))
        return PretendTable(self._session, done, self._shuffles)

    def _rows(self) -> list[tuple[int, bytes]]:
        batches = [one for part in self._partitions for one in part]
        return [(row["key"], row["data"]) for one in batches for row in one.to_pylist()]

    def repartition(self, *how: Any) -> PretendTable:
        """All rows of a place in one partition, rows in any order."""
        rows = self._rows()
        rows = [rows[i] for i in self._session.rng.permutation(len(rows))]
        n = how[0] if len(how) == 2 else int(self._session.conf["spark.sql.shuffle.partitions"])
        assert how[-1] == "key"
        home = {place: int(self._session.rng.integers(n)) for place, _ in rows}
        moved = [_batches([row for row in rows if home[row[0]] == i]) for i in range(n)]
        return PretendTable(self._session, moved, self._shuffles + 1)

    def sortWithinPartitions(self, by: str) -> PretendTable:  # noqa: N802
        """By place; rows of one place stay in whatever order they have."""
        assert by == "key"
        parts = [PretendTable(self._session, [part])._rows() for part in self._partitions]
        ordered = [_batches(sorted(rows, key=lambda row: row[0])) for rows in parts]
        return PretendTable(self._session, ordered, self._shuffles)

    def collect(self) -> list[tuple[int, bytes]]:
        """All rows."""
        return self._rows()

    def persist(self) -> PretendTable:
        """Noted, so that a test sees whether it was undone."""
        self._session.persisted += 1
        self._session.shuffles.add(self._shuffles)
        return self

    def unpersist(self) -> None:
        """Undone."""
        self._session.persisted -= 1

    def filter(self, condition: str) -> PretendTable:
        """Counts, or all but them."""
        keep = {"key < 0": lambda key: key < 0, "key >= 0": lambda key: key >= 0}[condition]
        return PretendTable(self._session, [_batches([row for row in self._rows() if keep(row[0])])])

    def unionByName(self, other: PretendTable) -> PretendTable:  # noqa: N802
        """The rows of both."""
        return PretendTable(self._session, self._partitions + other._partitions, max(self._shuffles, other._shuffles))

    def orderBy(self, by: str) -> PretendTable:  # noqa: N802
        """By place."""
        assert by == "key"
        return PretendTable(self._session, [_batches(sorted(self._rows(), key=lambda row: row[0]))])

    def toLocalIterator(self, prefetchPartitions: bool) -> Iterator[tuple[int, bytes]]:  # noqa: N802
        """Row by row."""
        assert prefetchPartitions
        yield from self._rows()


def _batches(rows: list[tuple[int, bytes]], most: int = 7) -> list[Any]:
    return [
        pa.RecordBatch.from_arrays(
            [
                pa.array([place for place, _ in rows[i : i + most]], type=pa.int64()),
                pa.array([bytes(data) for _, data in rows[i : i + most]], type=pa.binary()),
            ],
            names=["key", "data"],
        )
        for i in range(0, len(rows), most)
    ]
