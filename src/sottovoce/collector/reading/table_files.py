"""A whole estimate as a file, or a page of it: CSV for spreadsheets, JSON, Parquet and Arrow for programs.

Written block by block from the columns of the estimate: of a million answers only a few thousand are objects at a time.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, TypeAlias

import msgspec
from numpy.typing import NDArray

from sottovoce.core.errors import MissingExtraError
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.estimates import AnswerRow

__all__ = ["CheckStop", "EstimateTable", "never_stop", "table_of", "to_arrow", "to_csv", "to_json", "to_parquet"]

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n]")
"""How a cell begins that a spreadsheet may run instead of showing it."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)

_BLOCK: Final = 4096
_LONG_BLOCK: Final = 2**16
"""Rows that are written together; Parquet and Arrow are read faster in long pieces."""

CheckStop: TypeAlias = Callable[[], object]
"""Called between some rows and the next; raises where nobody wants them any more."""


def never_stop() -> None:
    """Somebody wants them all."""


@dataclass(frozen=True)
class EstimateTable:
    """Answers with their intervals, and what was estimated from what."""

    about: dict[str, Any]
    label: Callable[[int], str]
    """Of each answer, by its place."""
    columns: Mapping[str, NDArray[Any]]
    """Of all answers: value, raw, low and high; of words also whether each is certain."""
    start: int
    stop: int
    """Which of the answers are in the table."""

    def page(self, number: int, size: int) -> EstimateTable:
        """One of the parts of up to `size` answers, from 1."""
        start = self.start + (number - 1) * size
        return EstimateTable(self.about, self.label, self.columns, start, min(start + size, self.stop))

    def blocks(self, check_stop: CheckStop = never_stop, length: int = _BLOCK) -> Iterator[dict[str, list[Any]]]:
        """The columns with their labels, of up to `length` answers after another."""
        for start in range(self.start, self.stop, length):
            check_stop()
            stop = min(start + length, self.stop)
            block: dict[str, list[Any]] = {"label": [self.label(place) for place in range(start, stop)]}
            yield block | {name: column[start:stop].tolist() for name, column in self.columns.items()}


def table_of(estimate: Estimate, level: float, names: Sequence[str] = ()) -> EstimateTable:
    """The table of an estimate; `names` are those of a round's choices."""
    label = names.__getitem__ if names else estimate.label
    return EstimateTable(estimate.summary(level), label, estimate.columns(level), 0, len(estimate))


def to_json(table: EstimateTable, check_stop: CheckStop = never_stop, **more: Any) -> list[bytes]:
    """What the table is about, and `more` of it, then the answers; the object's last brace is left to the caller."""
    parts = [msgspec.json.encode(table.about | more)[:-1], b',"answers":[']
    for block in table.blocks(check_stop):
        parts += msgspec.json.encode([AnswerRow(*row) for row in zip(*block.values(), strict=True)])[1:-1], b","
    parts[-1] = b"]" if len(parts) > 2 else b',"answers":[]'
    return parts


def to_csv(table: EstimateTable, check_stop: CheckStop = never_stop) -> list[bytes]:
    """A header and one line an answer, as RFC 4180 has it; no number where there is none.

    A label that a spreadsheet would take for a formula gets an apostrophe in front; plain numbers stay as they are.
    """
    parts = [_csv([("label", *table.columns)])]
    for block in table.blocks(check_stop):
        labels, *columns = block.values()
        parts.append(_csv(zip(map(_harmless, labels), *map(_shown, columns), strict=True)))
    return parts


def _csv(rows: Iterable[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    # Labels stand in quotes: a spreadsheet that parts cells elsewhere than at commas finds no other cell in them.
    csv.writer(out, quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    return out.getvalue().encode()


def _shown(column: list[Any]) -> list[Any]:
    if any(isinstance(one, bool) for one in column):
        return ["yes" if one else "no" for one in column]
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
    """The same as an Arrow file (also known as Feather), which programs can use without decoding it."""
    pa = _pyarrow("pyarrow")
    return _written(table, pa.ipc.new_file, check_stop)


def _written(table: EstimateTable, writer_of: Callable[[Any, Any], Any], check_stop: CheckStop) -> list[bytes]:
    pa = _pyarrow("pyarrow")
    kinds = {"label": pa.string()} | {
        name: pa.bool_() if column.dtype == bool else pa.float64() for name, column in table.columns.items()
    }
    fields = [pa.field(name, kind, nullable=False) for name, kind in kinds.items()]
    about = {f"sottovoce.{name}": msgspec.json.encode(held) for name, held in table.about.items()}
    schema, out = pa.schema(fields, metadata=about), pa.BufferOutputStream()
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
