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

from sottovoce.errors import MissingExtraError
from sottovoce.surveys.estimate import Estimate

__all__ = ["Look", "Table", "table_of", "to_csv", "to_parquet", "wanted"]

_HEADER: Final = ("label", "value", "raw", "low", "high")

_FORMULA: Final = re.compile(r"[=+\-@\t\r\n]")
"""How a cell begins that a spreadsheet may run instead of showing it."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?", re.ASCII)


_ROWS_A_LOOK: Final = 4096

Look: TypeAlias = Callable[[], object]
"""Called between some rows and the next; raises where nobody wants them any more."""


def wanted() -> None:
    """Somebody wants them all."""


class Table(NamedTuple):
    """Every answer with its interval, and what was estimated from what."""

    about: dict[str, Any]
    labels: list[str]
    value: list[float]
    raw: list[float]
    low: list[float]
    high: list[float]

    def rows(self, look: Look = wanted) -> Iterator[tuple[str, float, float, float, float]]:
        """One answer after another, in the order of the survey."""
        for place in _looking(len(self.labels), look):
            yield self.labels[place], self.value[place], self.raw[place], self.low[place], self.high[place]


def table_of(estimate: Estimate, level: float, names: Sequence[str] = (), look: Look = wanted) -> Table:
    """The table of an estimate; `names` are those of a round's choices."""
    survey, interval = estimate.survey, estimate.interval(level)
    about = {
        "survey": survey.id,
        "title": survey.title or survey.query_text,
        "kind": survey.kind,
        "mechanism": survey.mechanism.name,
        "epsilon": survey.epsilon,
        "delta": estimate.delta,
        "n_reports": estimate.n_reports,
        "level": level,
        "bound": {"l2": estimate.bound.value, "statement": estimate.bound.statement},
        "projection_gap": estimate.gap,
    }
    look()
    labels = list(names) or [survey.answer_label(place) for place in _looking(survey.n_answers, look)]
    numbers = (column.tolist() for column in (estimate.values, estimate.raw, interval.low, interval.high))
    return Table(about, labels, *numbers)


def _looking(n: int, look: Look) -> Iterator[int]:
    """The first n integers, with a look every few thousand of them."""
    for place in range(n):
        if place % _ROWS_A_LOOK == 0:
            look()
        yield place


def to_csv(table: Table, look: Look = wanted) -> bytes:
    """A header and one line an answer, as RFC 4180 has it; no number where there is none.

    A label that a spreadsheet would take for a formula gets an apostrophe in front; plain numbers stay as they are.
    """
    out = io.StringIO()
    # Labels stand in quotes: a spreadsheet that parts cells elsewhere than at commas finds no other cell in them.
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(_HEADER)
    for label, *numbers in table.rows(look):
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


def to_parquet(table: Table, look: Look = wanted) -> bytes:
    """The columns, with what the table is about in the file's metadata, as JSON under ``sottovoce.<name>``."""
    pa, pq = _pyarrow()
    columns = dict(zip(_HEADER, table[1:], strict=True))
    fields = [pa.field(name, pa.string() if name == "label" else pa.float64(), nullable=False) for name in _HEADER]
    about = {f"sottovoce.{name}": msgspec.json.encode(held) for name, held in table.about.items()}
    look()
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
