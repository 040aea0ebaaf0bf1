"""The rows of a Parquet file, a few thousand at a time; columns that nobody asked for are not read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from sottovoce.core.errors import ReportError
from sottovoce.edge.rows import ColumnChoice, InputRow
from sottovoce.formats.report_files import pyarrow

__all__ = ["ParquetRows"]

_ROWS_AT_ONCE: Final = 2**12


class ParquetRows:
    """An opened file of rows; raises `ReportError` if it is none, or lacks a column."""

    def __init__(self, path: Path, chosen: ColumnChoice) -> None:
        pa, pq = pyarrow()
        self._path, self._chosen = path, chosen
        try:
            self._file = pq.ParquetFile(path)
            schema = self._file.schema_arrow
        except (pa.ArrowException, OSError) as error:
            raise ReportError(f"{str(path)!r} cannot be read as Parquet; name a file that can") from error
        lacking = [name for name in chosen.read if name not in schema.names]
        if lacking:
            self._file.close()
            raise ReportError(
                f"{str(path)!r} has no column {', '.join(map(repr, lacking))}; it has "
                f"{', '.join(map(repr, schema.names[:20]))}{', and more' if len(schema.names) > 20 else ''}"
            )
        self.kept_fields: list[Any] = [schema.field(name) for name in dict.fromkeys(chosen.keep)]
        """Names and types of the columns that go out beside the reports."""

    def __iter__(self) -> Iterator[list[InputRow]]:
        pa, _ = pyarrow()
        number = 0
        with self._file as file:
            try:
                for batch in file.iter_batches(_ROWS_AT_ONCE, columns=self._chosen.read):
                    rows = [self._chosen.row(number + at, one) for at, one in enumerate(batch.to_pylist(), start=1)]
                    number += len(rows)
                    if rows:
                        yield rows
            except (pa.ArrowException, OSError) as error:
                raise ReportError(f"{str(self._path)!r} is damaged after row {number:,}") from error
