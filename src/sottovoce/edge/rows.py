"""A row of input, with the value that is randomized and whose it is; and what comes of it, a report or a fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.signing import to_base64url
from sottovoce.questions.base import Question
from sottovoce.surveys.survey import Survey

__all__ = ["ColumnChoice", "EdgeReport", "InputRow", "RowFault"]


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
        The person's value; None if there is none, and `fault` says why.
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

    Examples
    --------
    >>> survey = Survey.distribution(["tea", "coffee"], epsilon=1.0)
    >>> ColumnChoice.of(survey, "drink", keep=["city"]).row(7, {"drink": "tea", "city": "Bern", "name": "Anna"})
    InputRow(number=7, fault='', readable=True)
    """

    value: tuple[str, ...]
    question: Question | None = None
    person: str = ""
    keep: tuple[str, ...] = ()

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
            return cls((column,), None, person, tuple(keep))
        if len(set(columns)) < len(columns):
            raise SurveyError("columns names a column twice; name each once").at("columns")
        survey.question.check_columns(columns)
        return cls(tuple(columns), survey.question, person, tuple(keep))

    @property
    def read(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.value, *([self.person] if self.person else []), *self.keep]))

    def row(self, number: int, found: Mapping[str, Any]) -> InputRow:
        """The row with these columns."""
        kept = {name: found.get(name) for name in self.keep}
        person = found.get(self.person) if self.person else None
        if self.person and (isinstance(person, bool) or not isinstance(person, str | int) or person == ""):
            fault = f"column {self.person!r} must say who it is, in text or as an integer"
            return InputRow.unreadable(number, fault)
        empty = next((name for name in self.value if found.get(name) is None), None)
        if empty is not None:
            lacks = "is empty" if empty in found else "is missing"
            return InputRow(number, None, person, kept, f"column {empty!r} {lacks}")
        held = {name: found[name] for name in self.value}
        value = held[self.value[0]] if self.question is None else self.question.value_of_columns(held)
        return InputRow(number, value, person, kept)
