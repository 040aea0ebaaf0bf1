"""Records: the tables of a form with several fields, from one report per person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import plural
from sottovoce.domain.number import NumberGrid
from sottovoce.questions.base import plain_attributes
from sottovoce.questions.form import FormQuestion, field_from_statement, field_statement
from sottovoce.questions.invented import FormPeople
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.workloads.record_tables import MAX_ORDER, USUAL_ORDER, RecordTables, checked_fields

if TYPE_CHECKING:
    from sottovoce.workloads.pictures import NumberFigure

__all__ = ["Records", "records"]


@clear_question('sv.records({"plan": ["free", "pro"], "age": range(100)})')
def records(attributes: Mapping[str, Any], tables: int | None = None) -> Records:
    """The question for the tables of a form with several attributes, from one report per person.

    Parameters
    ----------
    attributes
        Names, each with its values as for `shares`, or a question: `{"plan": ["free", "pro"], "age": number(0, 99)}`.
        None, NaN and an absent field follow the policy of that field, which is refused unless it says otherwise:
        `shares(["free", "pro"], missing="as unknown")`, `number(0, 99, missing="as 0")`. A record has no other policy.
    tables
        The most attributes of a table: 1 for every attribute alone, 2 for all pairs too, which is usual.

    Examples
    --------
    >>> from sottovoce import number
    >>> records({"plan": ["free", "pro"], "minutes": number(0, 600, "minutes")}).label(0)
    'plan=free'
    """
    return Records.of(attributes=attributes, tables=tables)


@final
@dataclass(frozen=True, repr=False)
class Records(FormQuestion):
    """The share of people in every cell of every table of 1 to `tables` attributes; means of numbers follow.

    Examples
    --------
    >>> question = Records({"country": ["DE", "FR"], "plan": ["free", "pro"], "minutes": NumberGrid(0, 600)})
    >>> question.n_answers, question.label(0)
    (23, 'country=DE')
    >>> question.private_input({"country": "FR", "plan": "pro", "minutes": 300}).tolist()
    [1, 1, 65536]
    """

    attributes: Any
    tables: int = 2

    kind: ClassVar[str] = "records"
    called: ClassVar[str] = "A form"
    summary: ClassVar[str] = "tables of the attributes of people's records, and means of numbers within them"
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("attributes", "fields", "the fields of a record", "country=DE,FR plan=free,pro"),
        Parameter(
            "tables",
            "integer",
            f"the most attributes of a table; {USUAL_ORDER} by default",
            "2",
            optional=True,
            low=1,
            high=MAX_ORDER,
        ),
    )
    strategies: ClassVar[tuple[str, ...]] = ("tables",)
    projected_on: ClassVar[str] = "tables that agree, without negative shares"

    def __post_init__(self) -> None:
        given = self.attributes
        fields = checked_fields(plain_attributes(dict(given) if isinstance(given, tuple) else given))
        object.__setattr__(self, "attributes", fields)
        most = min(MAX_ORDER, len(fields))
        if type(self.tables) is int and len(fields) < self.tables <= MAX_ORDER:
            there = plural(len(fields), "attribute")
            message = f"tables is {self.tables}, more than the {there} given; allowed: an integer from 1 to {most}"
            raise SurveyError(message).at("tables")
        object.__setattr__(self, "tables", check_integer("tables", self.tables, 1, most))
        _ = self.workload

    @classmethod
    def _of(cls, **given: Any) -> Self:
        question = cls(given["attributes"], 1)
        return replace(question, tables=given.get("tables", min(USUAL_ORDER, len(question.attributes))))

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("attributes", "tables")

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        listed = statement["attributes"]
        if not isinstance(listed, list):
            raise SurveyError("the attributes of a records question must be a list").at("attributes")
        fields = [field_from_statement(field) for field in listed]
        if len(dict(fields)) < len(fields):
            raise SurveyError("two attributes have the same name: every attribute needs its own").at("attributes")
        return cls(dict(fields), statement["tables"])

    def _statement(self) -> dict[str, Any]:
        return {"attributes": [field_statement(*field) for field in self.attributes], "tables": self.tables}

    @cached_property
    def workload(self) -> RecordTables:
        return RecordTables(self.attributes, self.tables)

    @property
    def answers_are_shares(self) -> bool:
        return True

    def invented_people(self) -> FormPeople:
        return FormPeople(self.workload)

    def figures(self, estimate: Any, level: float) -> list[NumberFigure]:
        """The mean of each number."""
        from sottovoce.workloads.pictures import number_figure

        numbers = [(name, field) for name, field in self.attributes if isinstance(field, NumberGrid)]
        return [number_figure(f"mean of {name}", grid, estimate.mean(name, level=level)) for name, grid in numbers]

    def label(self, index: int) -> str:
        return self.workload.name(index)
