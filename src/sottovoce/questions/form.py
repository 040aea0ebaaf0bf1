"""What every question about records shares: fields with their values, and one record per person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import as_record, entries_of
from sottovoce.core.errors import SurveyError, ValueOutsideDomainError
from sottovoce.core.words import plural
from sottovoce.domain.number import NumberGrid
from sottovoce.domain.number_trials import special_numbers
from sottovoce.domain.statement import domain_from_statement
from sottovoce.domain.trials import Trial, Trials
from sottovoce.domain.typed import parse_record
from sottovoce.questions.base import Question
from sottovoce.questions.people import People
from sottovoce.randomness.scripts import random_below
from sottovoce.workloads.naming import value_at
from sottovoce.workloads.record_tables import Field, input_columns

__all__ = ["FormQuestion", "field_from_statement", "field_statement"]


class FormQuestion(Question):
    """A question whose values are records of several fields. They are never listed: there may be any number of them."""

    attributes: Any
    """Names and fields, each a domain or a number."""

    held: ClassVar[str] = "all fields of a person's record together"

    @property
    def domain(self) -> None:
        return None

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

    @property
    def values_text(self) -> str:
        return f"a record of {plural(len(self.attributes), 'field')}"


def _find(field: Field, value: object) -> int:
    """A device's input for one field, -1 if there is none."""
    if not isinstance(field, NumberGrid):
        return field._find(value)
    try:
        return field.position(value)
    except ValueOutsideDomainError:
        return -1


def field_statement(name: str, field: Field) -> dict[str, Any]:
    kind = "number" if isinstance(field, NumberGrid) else "domain"
    return {"name": name, kind: field.to_statement()}


def field_from_statement(statement: object) -> tuple[str, Field]:
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
