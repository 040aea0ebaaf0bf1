"""Bytes of a report on one of several tables: the table's number, the report of its mechanism, zeros to one width."""

from __future__ import annotations

from typing import Any, Final, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.mechanisms.base import Report
from sottovoce.mechanisms.codecs import Codec, IndexCodec, Payloads

__all__ = ["TablesCodec"]

Verdicts = NDArray[np.bool_]

_OTHER: Final = "is not a report of the table that it names"


@final
class TablesCodec:
    """A report is (table, inner report), or (table, members..) where the inner report is a set.

    A batch is the matrix of encoded reports: reports of different tables have different shapes.
    """

    def __init__(self, inner: tuple[Codec, ...]) -> None:
        self.inner = inner
        self.numbers = IndexCodec(len(inner))
        self.start = self.numbers.width
        self.width = self.start + max(codec.width for codec in inner)
        self.bits = self.numbers.bits + max(codec.bits for codec in inner)

    def encode(self, report: Report) -> bytes:
        """The table's number, then its own report, then zeros."""
        table, *rest = cast(tuple[int, ...], report)
        codec = self.inner[table]
        inner = rest[0] if isinstance(codec, IndexCodec) else tuple(rest)
        return (self.numbers.encode(table) + codec.encode(inner)).ljust(self.width, b"\0")

    def decode(self, payload: bytes) -> Report:
        """The table and its report; refused for an unknown table, a wrong inner report, or other padding than zeros."""
        if len(payload) != self.width:
            kind = "truncated" if len(payload) < self.width else "too long"
            raise ReportError(f"report is {kind}: it has {len(payload)} bytes, this survey's reports have {self.width}")
        table = self.numbers.decode(payload[: self.start])
        end = self.start + self.inner[table].width
        if any(payload[end:]):
            raise ReportError("report has non-zero padding after the report of its table")
        inner = self.inner[table].decode(payload[self.start : end])
        return (table, inner) if isinstance(inner, int) else (table, *inner)

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """The rows are encoded already."""
        return batch.astype(np.uint8, copy=False)

    def decode_many(self, payloads: Payloads) -> Payloads:
        """The same rows, once every one is checked."""
        wrong = ~self.good_rows(payloads)
        if wrong.any():
            raise ReportError(
                f"report {int(np.argmax(wrong))} of {len(wrong)} {_OTHER}; no report of the batch was counted"
            )
        return payloads

    def check_many(self, batch: NDArray[Any]) -> None:
        """The rows are encoded already."""
        self.decode_many(batch)

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Rows with a known table, a report of that table, and zeros after it."""
        if not isinstance(payloads, np.ndarray) or payloads.ndim != 2 or payloads.shape[1] != self.width:
            raise ReportError(f"reports must come as rows of {self.width} bytes, the width of this survey's reports")
        if payloads.dtype != np.uint8:
            raise ReportError("reports must come as rows of bytes")
        good = self.numbers.good_rows(payloads[:, : self.start])
        for table, rows in self.groups(payloads, good):
            codec = self.inner[table]
            end = self.start + codec.width
            inner = np.ascontiguousarray(payloads[rows, self.start : end])
            good[rows] = codec.good_rows(inner) & ~payloads[rows, end:].any(axis=1)
        return good

    def groups(self, payloads: Payloads, good: Verdicts | None = None) -> list[tuple[int, NDArray[np.int64]]]:
        """The rows of every table, among the good ones if these are given."""
        numbers = self.numbers._integers(payloads[:, : self.start]).astype(np.int64)
        if good is not None:
            numbers = np.where(good, numbers, len(self.inner))
        return rows_of(numbers, len(self.inner))


def rows_of(numbers: NDArray[np.int64], tables: int) -> list[tuple[int, NDArray[np.int64]]]:
    """For every table that occurs, the rows with its number."""
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(tables + 1))
    return [(table, order[ends[table] : ends[table + 1]]) for table in range(tables) if ends[table] < ends[table + 1]]
