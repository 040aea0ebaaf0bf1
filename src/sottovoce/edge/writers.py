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
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["JsonLines", "ParquetReports", "ReportSink"]

_GROUP_BYTES: Final = 2**26

Kept = Mapping[str, Any]


class ReportSink(Protocol):
    """A destination of reports.

    What is written are records: a report with its id first, and the columns that are kept of its row, as bytes. Their
    order is that of the ids, see `sottovoce.edge.ordering`.
    """

    def record(self, report: EdgeReport, kept: Kept) -> bytes:
        """The record of a report."""

    def write(self, records: Sequence[bytes]) -> None:
        """Write records."""

    def close(self) -> None:
        """Write what is still held back."""


@final
class JsonLines:
    """One object a line: a report as ``POST /v1/surveys/{id}/reports`` takes it, or `batch` of them.

    Examples
    --------
    >>> import io
    >>> out = io.BytesIO()
    >>> sink = JsonLines(out)
    >>> sink.write([sink.record(EdgeReport(bytes(16), b"1234!"), {})])
    >>> out.getvalue()
    b'{"id":"00000000000000000000000000000000","report":"MTIzNCE"}\\n'
    """

    def __init__(self, stream: IO[bytes], batch: int = 0) -> None:
        self._stream, self._batch = stream, batch
        self._waiting: list[bytes] = []

    def record(self, report: EdgeReport, kept: Kept) -> bytes:
        """See `ReportSink`."""
        fields: dict[str, Any] = {**report.body, "kept": kept} if kept else report.body
        # JSON has no form for some values: dates and bytes become text, and NaN becomes null.
        return msgspec.json.encode(fields, enc_hook=str)

    def write(self, records: Sequence[bytes]) -> None:
        """See `ReportSink`."""
        if self._batch:
            self._waiting += records
            while len(self._waiting) >= self._batch:
                self._body(self._waiting[: self._batch])
                del self._waiting[: self._batch]
        else:
            self._stream.writelines(record + b"\n" for record in records)
        self._stream.flush()

    def close(self) -> None:
        """See `ReportSink`."""
        if self._waiting:
            self._body(self._waiting)
        self._waiting = []
        self._stream.flush()

    def _body(self, records: Sequence[bytes]) -> None:
        self._stream.write(b'{"reports":[' + b",".join(records) + b"]}\n")


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
        self._report_end = REPORT_ID_BYTES + len(survey.tag) + survey.mechanism.report_bytes
        self._path = path
        self._writer: Any = None
        self._waiting: list[bytes] = []

    def record(self, report: EdgeReport, kept: Kept) -> bytes:
        """See `ReportSink`."""
        return report.report_id + report.report + self._packed(kept)

    def write(self, records: Sequence[bytes]) -> None:
        """See `ReportSink`."""
        self._waiting += records
        if len(self._waiting) >= min(GROUP_ROWS, _GROUP_BYTES // self._report_end):
            self._group()

    def close(self) -> None:
        """See `ReportSink`."""
        if self._waiting or self._writer is None:
            self._group()
        self._writer.close()

    def _group(self) -> None:
        _, pq = pyarrow()
        fixed = b"".join(record[: self._report_end] for record in self._waiting)
        rows = np.frombuffer(fixed, dtype=np.uint8).reshape(-1, self._report_end)
        ids, reports = rows[:, :REPORT_ID_BYTES], rows[:, REPORT_ID_BYTES:]
        table = report_table(self._survey, ids, reports[:, len(self._survey.tag) :])
        if self._kept_fields:
            table = self._with_kept(table)
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._path, table.schema, **LAYOUT)
        self._writer.write_table(table, row_group_size=GROUP_ROWS)
        self._waiting = []

    def _packed(self, kept: Kept) -> bytes:
        """The columns that are kept of one row, as an Arrow stream: their types are those of the input."""
        if not self._kept_fields:
            return b""
        pa, _ = pyarrow()
        schema = pa.schema(self._kept_fields)
        columns = [pa.array([kept[field.name]], type=field.type) for field in self._kept_fields]
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, schema) as writer:
            writer.write_batch(pa.record_batch(columns, schema=schema))
        packed: bytes = stream.getvalue().to_pybytes()
        return packed

    def _with_kept(self, table: Any) -> Any:
        """The table with the columns of all waiting records."""
        pa, _ = pyarrow()
        rows = [pa.ipc.open_stream(record[self._report_end :]).read_all() for record in self._waiting]
        for field in self._kept_fields:
            chunks = [chunk for row in rows for chunk in row.column(field.name).chunks]
            column = pa.chunked_array(chunks, type=field.type).unify_dictionaries().combine_chunks()
            table = table.append_column(field, column)
        return table
