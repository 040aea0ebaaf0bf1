"""Records: the tables of a form with several fields, from one report per person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_record, entries_of
from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import plural
from sottovoce.domain.number import NumberGrid
from sottovoce.domain.number_trials import special_numbers
from sottovoce.domain.statement import domain_from_statement
from sottovoce.domain.trials import Trial, Trials
from sottovoce.domain.typed import parse_record
from sottovoce.questions.base import Question, plain_attributes
from sottovoce.questions.invented import FormPeople
from sottovoce.questions.parameter import Parameter, clear_question
from sottovoce.questions.people import People
from sottovoce.randomness.scripts import random_below
from sottovoce.workloads.naming import value_at
from sottovoce.workloads.record_tables import MAX_ORDER, USUAL_ORDER, Field, RecordTables, checked_fields, input_columns

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
class Records(Question):
    """The share of people in every cell of every table of 1 to `tables` attributes; means of numbers follow.

    Records are never listed: there may be any number of them.

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
    held: ClassVar[str] = "all fields of a person's record together"

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
        fields = [_field_from_statement(field) for field in listed]
        if len(dict(fields)) < len(fields):
            raise SurveyError("two attributes have the same name: every attribute needs its own").at("attributes")
        return cls(dict(fields), statement["tables"])

    def _statement(self) -> dict[str, Any]:
        return {"attributes": [_field_statement(*field) for field in self.attributes], "tables": self.tables}

    @cached_property
    def workload(self) -> RecordTables:
        return RecordTables(self.attributes, self.tables)

    @property
    def domain(self) -> None:
        return None

    @property
    def answers_are_shares(self) -> bool:
        return True

    @property
    def _allowed(self) -> str:
        return f"give exactly {', '.join(name for name, _ in self.attributes)}, each with one of its values"

    def private_input(self, value: object) -> NDArray[np.int64]:
        """A mapping of names to values, a dataclass, a row of a table, or a list or tuple of values in order.

        The error does not contain them.
        """
        names, value = [name for name, _ in self.attributes], as_record(value)
        if isinstance(value, Mapping) and set(value) <= set(names):
            # An absent field is missing, which its values may have a label for.
            held: list[object] = [value.get(name) for name in names]
        elif isinstance(value, (list, tuple)) and len(value) == len(names):
            held = list(value)
        else:
            raise ValueOutsideDomainError(f"the record does not have the fields of this survey; {self._allowed}")
        # All fields are looked up, also after one that is not found: timing must not reveal which it was.
        indices = [_find(field, entry) for (_, field), entry in zip(self.attributes, held, strict=True)]
        if min(indices) < 0:
            raise ValueOutsideDomainError(f"the record has a value that is not in this survey; {self._allowed}")
        return np.array(indices, dtype=np.int64)

    def admits_missing(self, field: str = "") -> bool:
        return field in self.field_names and dict(self.attributes)[field].missing is not None

    @property
    def field_names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.attributes)

    def parse(self, text: str) -> object:
        return parse_record(self.attributes, text)

    def audit_trials(self) -> FormTrials:
        return FormTrials(self.attributes)

    def people(self, values: Any) -> People:
        """A DataFrame or a mapping of columns, or a list of records."""
        names = [name for name, _ in self.attributes]
        if isinstance(values, Mapping) or hasattr(values, "columns"):
            if set(values) != set(names):
                raise ValueOutsideDomainError(f"the columns do not match the survey; give exactly {', '.join(names)}")
            rows = input_columns(self.attributes, values)
        else:
            entries: list[Any] = [as_record(record) for record in entries_of(values)]
            if all(isinstance(record, Mapping) and set(record) <= set(names) for record in entries):
                columns = {name: [record.get(name) for record in entries] for name in names}
            elif all(isinstance(record, (list, tuple)) and len(record) == len(names) for record in entries):
                columns = {name: [record[position] for record in entries] for position, name in enumerate(names)}
            else:
                raise ValueOutsideDomainError(f"a record does not have the fields of this survey; {self._allowed}")
            rows = input_columns(self.attributes, columns)
        return People(len(rows), lambda start, stop: rows[start:stop])

    def invented_people(self) -> FormPeople:
        return FormPeople(self.workload)

    @property
    def values_text(self) -> str:
        return f"a record of {plural(len(self.attributes), 'field')}"

    def figures(self, estimate: Any, level: float) -> list[NumberFigure]:
        """The mean of each number."""
        from sottovoce.workloads.pictures import number_figure

        numbers = [(name, field) for name, field in self.attributes if isinstance(field, NumberGrid)]
        return [number_figure(f"mean of {name}", grid, estimate.mean(name, level=level)) for name, grid in numbers]

    def label(self, index: int) -> str:
        return self.workload.name(index)


def _find(field: Field, value: object) -> int:
    """A device's input for one field, -1 if there is none."""
    if not isinstance(field, NumberGrid):
        return field._find(value)
    try:
        return field.position(value)
    except ValueOutsideDomainError:
        return -1


def _field_statement(name: str, field: Field) -> dict[str, Any]:
    kind = "number" if isinstance(field, NumberGrid) else "domain"
    return {"name": name, kind: field.to_statement()}


def _field_from_statement(statement: object) -> tuple[str, Field]:
    match statement:
        case {"name": str(name), "domain": domain, **rest} if not rest:
            return name, domain_from_statement(domain)
        case {"name": str(name), "number": number, **rest} if not rest:
            return name, NumberGrid.from_statement(number)
    raise SurveyError("an attribute of a record must have a name and either a domain or a number").at("attributes")


@final
class FormTrials(Trials):
    """Records as people give them; numbers also beyond the ends, which are clipped."""

    def __init__(self, attributes: tuple[tuple[str, Field], ...]) -> None:
        self.attributes = attributes

    def edges(self) -> Iterator[Trial]:
        """The first and the last value of every attribute, and special numbers."""
        ends = [{name: self._edge(field, last=last) for name, field in self.attributes} for last in (False, True)]
        yield from map(self._trial, ends)
        for name, field in self.attributes:
            if isinstance(field, NumberGrid):
                for trial in special_numbers(field):
                    record = self._trial({**ends[0], name: trial.value})
                    yield record._replace(portable=trial.portable)

    def random(self, rng: np.random.Generator) -> Trial:
        return self._trial({name: self._random(field, rng) for name, field in self.attributes})

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """Two records that differ in every attribute."""
        return list(islice(self.edges(), 2))

    def _trial(self, record: dict[str, Any]) -> Trial:
        return Trial(f"the record {record}", record)

    def _edge(self, field: Field, *, last: bool) -> Any:
        if isinstance(field, NumberGrid):
            return field.low + (1.5 if last else -0.5) * (field.high - field.low)
        return value_at(field, field.size - 1 if last else 0)

    def _random(self, field: Field, rng: np.random.Generator) -> Any:
        if isinstance(field, NumberGrid):
            return field.low + float(rng.uniform(-0.1, 1.1)) * (field.high - field.low)
        return value_at(field, random_below(field.size, rng))
