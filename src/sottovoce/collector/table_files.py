"""A whole estimate as a file: CSV for spreadsheets, Parquet for programs; JSON is written by the service itself."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from sottovoce.core.errors import MissingExtraError
from sottovoce.surveys.estimate import Answer, Estimate

__all__ = ["CheckStop", "EstimateTable", "never_stop", "table_of", "to_csv", "to_parquet"]

_HEADER: Final = Answer._fields

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n]")
"""How a cell begins that a spreadsheet may run instead of showing it."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)


_ROWS_BETWEEN_CHECKS: Final = 4096

CheckStop: TypeAlias = Callable[[], object]
"""Called between some rows and the next; raises where nobody wants them any more."""


def never_stop() -> None:
    """Somebody wants them all."""


class EstimateTable(NamedTuple):
    """Every answer with its interval, and what was estimated from what."""

    about: dict[str, Any]
    labels: list[str]
    value: list[float]
    raw: list[float]
    low: list[float]
    high: list[float]

    def rows(self, check_stop: CheckStop = never_stop) -> Iterator[tuple[str, float, float, float, float]]:
        """One answer after another, in the order of the survey."""
        for place in _places(len(self.labels), check_stop):
            yield self.labels[place], self.value[place], self.raw[place], self.low[place], self.high[place]


def table_of(
    estimate: Estimate, level: float, names: Sequence[str] = (), check_stop: CheckStop = never_stop
) -> EstimateTable:
    """The table of an estimate; `names` are those of a round's choices."""
    survey, columns = estimate.survey, estimate.columns(level)
    check_stop()
    labels = list(names) or [survey.answer_label(place) for place in _places(survey.n_answers, check_stop)]
    return EstimateTable(estimate.summary(level), labels, *(column.tolist() for column in columns.values()))


def _places(n: int, check_stop: CheckStop) -> Iterator[int]:
    """The first n integers, with a check_stop every few thousand of them."""
    for place in range(n):
        if place % _ROWS_BETWEEN_CHECKS == 0:
            check_stop()
        yield place


def to_csv(table: EstimateTable, check_stop: CheckStop = never_stop) -> bytes:
    """A header and one line an answer, as RFC 4180 has it; no number where there is none.

    A label that a spreadsheet would take for a formula gets an apostrophe in front; plain numbers stay as they are.
    """
    out = io.StringIO()
    # Labels stand in quotes: a spreadsheet that parts cells elsewhere than at commas finds no other cell in them.
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(_HEADER)
    for label, *numbers in table.rows(check_stop):
        writer.writerow([_harmless(label), *(number if math.isfinite(number) else "" for number in numbers)])
    return out.getvalue().encode()


def _harmless(label: str) -> str:
    """The label as a cell that is shown and never run.

    Examples
    --------
    >>> _harmless("=1+1"), _harmless("-5"), _harmless("tea")
    ("'=1+1", '-5', 'tea')
    """
    return f"'{label}" if _FORMULA.match(label) and not _NUMBER.fullmatch(label) else label


def to_parquet(table: EstimateTable, check_stop: CheckStop = never_stop) -> bytes:
    """The columns, with what the table is about in the file's metadata, as JSON under ``sottovoce.<name>``."""
    pa, pq = _pyarrow()
    columns = dict(zip(_HEADER, table[1:], strict=True))
    fields = [pa.field(name, pa.string() if name == "label" else pa.float64(), nullable=False) for name in _HEADER]
    about = {f"sottovoce.{name}": msgspec.json.encode(held) for name, held in table.about.items()}
    check_stop()
    out = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=pa.schema(fields, metadata=about)), out, compression="zstd")
    return bytes(out.getvalue())


def _pyarrow() -> tuple[Any, Any]:
    """pyarrow and its Parquet module, loaded when they are needed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        pass
    raise MissingExtraError("Parquet needs pyarrow: pip install 'sottovoce[collector]'")
