"""Reports as they go on: JSON lines that a collector takes as bodies, or a Parquet file that engines count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Protocol, final

import msgspec
import numpy as np

from sottovoce.core.errors import ReportError
from sottovoce.edge.rows import EdgeReport
from sottovoce.formats.report_files import EPOCH, GROUP_ROWS, LAYOUT, REPORT, REPORT_ID, pyarrow, report_table
from sottovoce.formats.report_ids import id_rows
from sottovoce.surveys.survey import Survey

__all__ = ["JsonLines", "ParquetReports", "ReportSink"]

_GROUP_BYTES: Final = 2**26

Kept = Mapping[str, Any]


class ReportSink(Protocol):
    """A destination of reports."""

    def write(self, reports: Sequence[EdgeReport], kept: Sequence[Kept]) -> None:
        """Write reports, each with the columns that are kept of its row."""

    def close(self) -> None:
        """Write what is still held back."""


@final
class JsonLines:
    """One object a line: a report as ``POST /v1/surveys/{id}/reports`` takes it, or `batch` of them.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> JsonLines(out).write([EdgeReport(bytes(16), b"1234!")], [{}])
    >>> out.getvalue()
    b'{"id":"00000000000000000000000000000000","report":"MTIzNCE"}\\n'
    """

    def __init__(self, stream: IO[bytes], batch: int = 0) -> None:
        self._stream, self._batch = stream, batch
        self._waiting: list[dict[str, str]] = []

    def write(self, reports: Sequence[EdgeReport], kept: Sequence[Kept]) -> None:
        """See `ReportSink`."""
        bodies = [report.body for report in reports]
        if self._batch:
            self._waiting += bodies
            while len(self._waiting) >= self._batch:
                self._line({"reports": self._waiting[: self._batch]})
                del self._waiting[: self._batch]
        else:
            for body, beside in zip(bodies, kept, strict=True):
                self._line({**body, "kept": beside} if beside else body)
        self._stream.flush()

    def close(self) -> None:
        """See `ReportSink`."""
        if self._waiting:
            self._line({"reports": self._waiting})
        self._waiting = []
        self._stream.flush()

    def _line(self, fields: dict[str, Any]) -> None:
        # JSON has no form for some values: dates and bytes become text, and NaN becomes null.
        self._stream.write(msgspec.json.encode(fields, enc_hook=str) + b"\n")


@final
class ParquetReports:
    """A file with the columns and metadata that `sottovoce aggregate` reads, a row group at a time."""

    def __init__(self, path: Path, survey: Survey, kept_fields: Sequence[Any] = ()) -> None:
        taken = [field.name for field in kept_fields if field.name in (REPORT_ID, REPORT, EPOCH)]
        if taken:
            raise ReportError(
                f"a column {taken[0]!r} cannot go out beside the report in Parquet, which has one of that name itself; "
                "rename it in the input, or write JSON lines"
            )
        self._survey, self._kept_fields = survey, list(kept_fields)
        self._path = path
        self._writer: Any = None
        self._reports: list[EdgeReport] = []
        self._kept: list[Kept] = []

    def write(self, reports: Sequence[EdgeReport], kept: Sequence[Kept]) -> None:
        """See `ReportSink`."""
        if not reports:  # every row of a batch may have been left out
            return
        self._reports += reports
        self._kept += kept
        if len(self._reports) >= min(GROUP_ROWS, _GROUP_BYTES // len(self._reports[0].report)):
            self._group()

    def close(self) -> None:
        """See `ReportSink`."""
        if self._reports or self._writer is None:
            self._group()
        self._writer.close()

    def _group(self) -> None:
        pa, pq = pyarrow()
        width = len(self._survey.tag) + self._survey.mechanism.report_bytes
        rows = np.frombuffer(b"".join(report.report for report in self._reports), dtype=np.uint8).reshape(-1, width)
        ids = id_rows(b"".join(report.report_id for report in self._reports))
        table = report_table(self._survey, ids, rows[:, len(self._survey.tag) :])
        for field in self._kept_fields:
            table = table.append_column(field, pa.array([row[field.name] for row in self._kept], type=field.type))
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema, **LAYOUT)
        self._writer.write_table(table, row_group_size=GROUP_ROWS)
        self._reports, self._kept = [], []
