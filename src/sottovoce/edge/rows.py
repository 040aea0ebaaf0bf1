"""Rows of input, from JSON lines or Parquet: the value that is randomized, whose it is, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, final

import msgspec

from sottovoce.core.errors import ReportError, SurveyError
from sottovoce.core.signing import to_base64url
from sottovoce.formats.report_files import pyarrow
from sottovoce.questions.base import Question
from sottovoce.surveys.survey import Survey

__all__ = ["LONGEST_LINE", "ColumnChoice", "EdgeReport", "InputRow", "ParquetRows", "RowFault", "read_json_lines"]


class EdgeReport(NamedTuple):
    """A report, and the id under which it counts once."""

    report_id: bytes
    report: bytes

    @property
    def body(self) -> dict[str, str]:
        """The JSON that ``POST /v1/surveys/{id}/reports`` takes: the id in hexadecimal, the report in base64url."""
        return {"id": self.report_id.hex(), "report": to_base64url(self.report)}


class RowFault(NamedTuple):
    """A row without a report, and why; the value is not in it."""

    number: int
    reason: str


@final
@dataclass(frozen=True)
class InputRow:
    """One row. What is private in it is in no representation.

    Attributes
    ----------
    number
        The line or row it stands in, from 1.
    value
        The person's value; None if there is none, and `fault` says why unless missing values count as one.
    person
        Who it is, if people are remembered: any text or integer that is theirs alone.
    kept
        Columns that go out beside the report.
    fault
        What is wrong with the row, without the value.
    readable
        Whether the row itself could be read, so that another value may take the place of a missing one.
    """

    number: int
    value: object = field(default=None, repr=False)
    person: str | int | None = field(default=None, repr=False)
    kept: Mapping[str, Any] = field(default_factory=dict, repr=False)
    fault: str = ""
    readable: bool = True

    @classmethod
    def unreadable(cls, number: int, fault: str) -> InputRow:
        """A row that cannot be read."""
        return cls(number, fault=fault, readable=False)


@final
@dataclass(frozen=True)
class ColumnChoice:
    """The columns that are read, and how those of the value become one.

    Attributes
    ----------
    value
        One column that holds the value; or several, one for each attribute of a record or coordinate of a vector.
    question
        Makes one value of several columns; None where one column holds it.
    person
        The column with who it is; empty if people are not remembered.
    keep
        The columns that go out beside the report.
    missing
        The columns that may be empty, since missing values count as one that the survey names.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
    >>> ColumnChoice.of(survey, "drink", keep=["city"]).row(7, {"drink": "tea", "city": "Bern", "name": "Anna"})
    InputRow(number=7, fault='', readable=True)
    """

    value: tuple[str, ...]
    question: Question | None = None
    person: str = ""
    keep: tuple[str, ...] = ()
    missing: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        survey: Survey,
        column: str | None = None,
        columns: Sequence[str] = (),
        *,
        person: str = "",
        keep: Sequence[str] = (),
    ) -> ColumnChoice:
        """The choice for a survey: `column` for a value in one column, `columns` for a record or a vector."""
        if (column is None) != bool(columns):
            raise SurveyError("give either column, which holds the value, or columns, which make one").at("column")
        private = [name for name in keep if name == column or name in columns]
        if private:
            raise SurveyError(
                f"keep names {', '.join(map(repr, private))}, which holds the value: it would go out as it is, beside "
                "a report of it; keep other columns, or none"
            ).at("keep")
        if column is not None:
            own = frozenset([column] if survey.question.admits_missing() else [])
            return cls((column,), None, person, tuple(keep), own)
        if len(set(columns)) < len(columns):
            raise SurveyError("columns names a column twice; name each once").at("columns")
        survey.question.check_columns(columns)
        own = frozenset(name for name in columns if survey.question.admits_missing(name))
        return cls(tuple(columns), survey.question, person, tuple(keep), own)

    @property
    def read(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.value, *([self.person] if self.person else []), *self.keep]))

    def row(self, number: int, fields: Mapping[str, Any]) -> InputRow:
        """The row with these columns."""
        kept = {name: fields.get(name) for name in self.keep}
        person = fields.get(self.person) if self.person else None
        if self.person and (isinstance(person, bool) or not isinstance(person, str | int) or person == ""):
            fault = f"column {self.person!r} must say who it is, in text or as an integer"
            return InputRow.unreadable(number, fault)
        empty = next((name for name in self.value if fields.get(name) is None and name not in self.missing), None)
        if empty is not None:
            lacks = "is empty" if empty in fields else "is missing"
            return InputRow(number, None, person, kept, f"column {empty!r} {lacks}")
        held = {name: fields.get(name) for name in self.value}
        value = held[self.value[0]] if self.question is None else self.question.value_of_columns(held)
        return InputRow(number, value, person, kept)


LONGEST_LINE: Final = 2**20
"""Bytes of the longest line that is read."""

_CHUNK: Final = 2**16

_decode: Final = msgspec.json.Decoder().decode


def read_json_lines(stream: IO[bytes], chosen: ColumnChoice) -> Iterator[list[InputRow]]:
    """Rows of the lines that have arrived, so that nothing waits in a pipe for more; empty lines are passed over.

    Examples
    --------
    >>> import io
    >>> lines = io.BytesIO(b'{"drink": "tea"}\\n\\n{"drink"\\n')
    >>> for row in next(read_json_lines(io.BufferedReader(lines), ColumnChoice(("drink",)))):
    ...     print(row)
    InputRow(number=1, fault='', readable=True)
    InputRow(number=3, fault='the line is not JSON', readable=False)
    """
    number, rest, too_long = 0, b"", False
    read = getattr(stream, "read1", stream.read)
    while True:
        chunk: bytes = read(_CHUNK)
        *lines, rest = (rest + chunk).split(b"\n")
        if not chunk and (rest or too_long):
            lines, rest = [*lines, rest], b""
        rows: list[InputRow] = []
        for line in lines:
            number += 1
            if too_long or len(line) > LONGEST_LINE:
                rows.append(InputRow.unreadable(number, f"the line is longer than {LONGEST_LINE:,} bytes"))
            elif line.strip():
                rows.append(_json_row(number, line, chosen))
            too_long = False
        if len(rest) > LONGEST_LINE:
            rest, too_long = b"", True
        if rows:
            yield rows
        if not chunk:
            return


def _json_row(number: int, line: bytes, chosen: ColumnChoice) -> InputRow:
    try:
        fields = _decode(line)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return InputRow.unreadable(number, "the line is not JSON")
    if not isinstance(fields, dict):
        return InputRow.unreadable(number, "the line is not a JSON object")
    return chosen.row(number, fields)


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
                    rows = [self._chosen.row(number + at, row) for at, row in enumerate(batch.to_pylist(), start=1)]
                    number += len(rows)
                    if rows:
                        yield rows
            except (pa.ArrowException, OSError) as error:
                raise ReportError(f"{str(self._path)!r} is damaged after row {number:,}") from error
