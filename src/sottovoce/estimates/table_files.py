"""An estimate or a curve as a table: CSV for spreadsheets, Parquet and Arrow for programs.

Written block by block from the columns of the estimate: of a million answers only a few thousand are objects at a time.
"""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError, SurveyError
from sottovoce.core.files import write_file

__all__ = [
    "CheckStop",
    "EstimateTable",
    "FilePath",
    "arrow_table",
    "never_stop",
    "stacked",
    "to_arrow",
    "to_csv",
    "to_parquet",
    "write_csv",
    "write_parquet",
]

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n]")
"""First characters of cells that a spreadsheet may run as formulas."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)

_BLOCK: Final = 4096
_LONG_BLOCK: Final = 2**16
"""Rows that are written together; Parquet and Arrow are read faster in long pieces."""

FilePath: TypeAlias = str | os.PathLike[str]

CheckStop: TypeAlias = Callable[[], object]
"""A function that is called between batches of rows; it raises if nobody wants them any more."""


def never_stop() -> None:
    """Somebody wants them all."""


@dataclass(frozen=True)
class EstimateTable:
    """Answers with their intervals, and what was estimated from what."""

    about: dict[str, Any]
    label: Callable[[int], str]
    """The label of each answer, by its place."""
    columns: Mapping[str, NDArray[Any]]
    """Value, raw, low and high of all answers; for words also whether each is certain."""
    start: int
    stop: int
    """Whether each answer is in the table."""
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Further columns of text, which stand after the label."""

    def page(self, number: int, size: int) -> EstimateTable:
        """One of the parts of up to `size` answers, from 1."""
        start = self.start + (number - 1) * size
        return replace(self, start=start, stop=min(start + size, self.stop))

    def blocks(self, check_stop: CheckStop = never_stop, length: int = _BLOCK) -> Iterator[dict[str, list[Any]]]:
        """The columns with their labels, of up to `length` answers after another."""
        for start in range(self.start, self.stop, length):
            check_stop()
            stop = min(start + length, self.stop)
            block: dict[str, list[Any]] = {"label": [self.label(row) for row in range(start, stop)]}
            block |= {name: list(column[start:stop]) for name, column in self.texts.items()}
            yield block | {name: column[start:stop].tolist() for name, column in self.columns.items()}


def stacked(parts: Mapping[str, EstimateTable], column: str, about: dict[str, Any]) -> EstimateTable:
    """Tables with the same columns below each other, with a column of text that names each."""
    rows = [(part, row) for part in parts.values() for row in range(part.start, part.stop)]
    texts = {column: [name for name, part in parts.items() for _ in range(part.start, part.stop)]}
    some = next(iter(parts.values()), None)
    for name in () if some is None else some.texts:
        texts[name] = [part.texts[name][row] for part, row in rows]
    columns = {
        name: np.concatenate([part.columns[name][part.start : part.stop] for part in parts.values()])
        for name in (() if some is None else some.columns)
    }
    return EstimateTable(about, lambda at: rows[at][0].label(rows[at][1]), columns, 0, len(rows), texts)


def to_csv(table: EstimateTable, check_stop: CheckStop = never_stop) -> list[bytes]:
    """A header and one line an answer, as RFC 4180 has it; no number where there is none.

    A label that a spreadsheet would take for a formula gets an apostrophe in front; plain numbers stay as they are.
    """
    texts = ("label", *table.texts)
    parts = [_csv([(*texts, *table.columns)])]
    for block in table.blocks(check_stop):
        columns = [list(map(_harmless, column)) if name in texts else _shown(column) for name, column in block.items()]
        parts.append(_csv(zip(*columns, strict=True)))
    return parts


def _csv(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    # Labels stand in quotes: a spreadsheet that parts cells elsewhere than at commas finds no other cell in them.
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return out.getvalue().encode()


def _shown(column: list[Any]) -> list[Any]:
    if any(isinstance(value, bool) for value in column):
        return ["yes" if value else "no" for value in column]
    if all(map(math.isfinite, column)):
        return column
    return [number if math.isfinite(number) else "" for number in column]


def _harmless(label: str) -> str:
    """The label as a cell that is shown and never run.

    Examples
    --------
    >>> _harmless("=1+1"), _harmless("-5"), _harmless("tea")
    ("'=1+1", '-5', 'tea')
    """
    return f"'{label}" if _FORMULA.match(label) and not _NUMBER.fullmatch(label) else label


def to_parquet(table: EstimateTable, check_stop: CheckStop = never_stop) -> list[bytes]:
    """The columns, with what the table is about in the file's metadata, as JSON under ``sottovoce.<name>``."""
    pq = _pyarrow("pyarrow.parquet")
    return _written(table, lambda out, schema: pq.ParquetWriter(out, schema, compression="zstd"), check_stop)


def to_arrow(table: EstimateTable, check_stop: CheckStop = never_stop) -> list[bytes]:
    """The columns as an Arrow file (also known as Feather), which programs can use without decoding it."""
    pa = _pyarrow("pyarrow")
    return _written(table, pa.ipc.new_file, check_stop)


def arrow_table(table: EstimateTable) -> Any:
    """The columns as a table of pyarrow."""
    schema = _schema(table)
    blocks = [_pyarrow("pyarrow").record_batch(block, schema=schema) for block in table.blocks(length=_LONG_BLOCK)]
    return _pyarrow("pyarrow").Table.from_batches(blocks, schema=schema)


def _schema(table: EstimateTable) -> Any:
    import msgspec  # devices load estimates, and write no tables

    pa = _pyarrow("pyarrow")
    numbers = {name: pa.from_numpy_dtype(column.dtype) for name, column in table.columns.items()}
    kinds = dict.fromkeys(("label", *table.texts), pa.string()) | numbers
    fields = [pa.field(name, kind, nullable=False) for name, kind in kinds.items()]
    about = {f"sottovoce.{name}": msgspec.json.encode(held) for name, held in table.about.items()}
    return pa.schema(fields, metadata=about)


def _written(table: EstimateTable, writer_of: Callable[[Any, Any], Any], check_stop: CheckStop) -> list[bytes]:
    pa = _pyarrow("pyarrow")
    schema, out = _schema(table), pa.BufferOutputStream()
    with writer_of(out, schema) as writer:
        for block in table.blocks(check_stop, _LONG_BLOCK):
            writer.write_batch(pa.record_batch(block, schema=schema))
    return [bytes(out.getvalue())]


def _pyarrow(module: str) -> Any:
    """pyarrow or a module of it, loaded when it is needed."""
    try:
        return import_module(module)
    except ImportError:
        pass
    raise MissingExtraError("Parquet and Arrow need pyarrow: pip install 'sottovoce[collector]'")


def write_csv(table: EstimateTable, path: FilePath | None = None) -> str:
    """The whole table as CSV, also written to a file if a path is given."""
    text = b"".join(to_csv(table)).decode()
    if path is not None:
        write_file(_checked_path(path), text)
    return text


def write_parquet(table: EstimateTable, path: FilePath) -> None:
    """The whole table in a Parquet file. Needs pyarrow."""
    write_file(_checked_path(path), b"".join(to_parquet(table)))


def _checked_path(path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise SurveyError(
            f"path has type {type(path).__name__}: it must be the name of a file, such as 'answers.csv'"
        ).at("path")
    return Path(path)
