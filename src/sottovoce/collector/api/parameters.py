"""A question's parameters in JSON, turned into the values that the library accepts.

Each declared kind of parameter has one form in JSON: numbers; texts; a list of labels; a range as `{"start", "stop"}`,
both ends included; attributes as an object of lists and ranges; the fields of a form likewise, or numbers as
`{"low", "high"}`; what missing values count as, beside `{"labels"}`, a range or a number; a workload as text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from sottovoce.core.errors import DomainError, SurveyError, WorkloadError
from sottovoce.core.limits import MAX_PRODUCT_SIZE
from sottovoce.domain import Domain
from sottovoce.domain.number import NumberGrid
from sottovoce.protocol.drafts import AttributeEntry, IntegerRange, Values
from sottovoce.questions.parameter import Kind, Parameter, check_parameters
from sottovoce.service.http.validation import find_fault
from sottovoce.workloads.base import Workload
from sottovoce.workloads.parse import parse_workload

__all__ = ["MOST_LISTED", "read_parameters"]

MOST_LISTED: Final = 2**16
"""Most queries of a workload, and most values they are about, for which designs are compared while somebody waits."""

_MOST_ATTRIBUTES: Final = MAX_PRODUCT_SIZE.bit_length() - 1
"""Most attributes of two values or more whose records a domain can hold."""


def read_parameters(what: str, declared: tuple[Parameter, ...], given: Mapping[str, Any]) -> dict[str, Any]:
    """The values as `Question.of` takes them, defaults filled in; null counts as not given.

    Examples
    --------
    >>> from sottovoce.questions import Shares
    >>> read_parameters("a shares question", Shares.parameters, {"range": {"start": 18, "stop": 99}, "labels": None})
    {'range': Domain.of(range(18, 100)), 'missing': 'refuse'}
    >>> read_parameters("a shares question", Shares.parameters, {"range": 18})
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: range must be an object
    """
    known = {parameter.name: parameter for parameter in declared}
    present = {name: value for name, value in given.items() if value is not None}
    values = {name: _read(known[name], value) if name in known else value for name, value in present.items()}
    return check_parameters(what, declared, values)


def _read(parameter: Parameter, value: Any) -> Any:
    form = _FORMS.get(parameter.kind)
    if form is None:  # a number, which the declaration checks
        return value
    shape, made = form
    try:
        return made(_shaped(parameter.name, value, shape))
    except SurveyError as error:
        raise error.at(parameter.name) from None


def _shaped(name: str, value: Any, shape: Any) -> Any:
    """The value, if it has the shape; otherwise which part of it has not, in words that repeat nothing of it."""
    body = msgspec.defstruct("Parameters", [(name, shape)])
    try:
        return getattr(msgspec.convert({name: value}, body), name)
    except msgspec.ValidationError:
        fault = find_fault({name: value}, body)
    raise SurveyError(fault.message if fault else f"{name} has the wrong shape")


def _labels(labels: list[str]) -> Domain:
    blank = next((number for number, label in enumerate(labels, 1) if not label.strip()), 0)
    if blank:
        raise DomainError(f"label number {blank} is empty; give it a name, or leave it out")
    return Domain.of(labels)


def _range(ends: IntegerRange) -> Domain:
    if ends.stop <= ends.start:
        raise DomainError("a range goes from start to stop, both included; stop must be larger than start")
    return Domain.of(range(ends.start, ends.stop + 1))


def _attributes(attributes: dict[str, Values]) -> Domain:
    if len(attributes) > _MOST_ATTRIBUTES:
        # Said before any is looked at: their number of records would be one of very many digits.
        raise DomainError(
            f"there are {len(attributes):,} attributes; a record has at most {_MOST_ATTRIBUTES}, each of 2 values or "
            "more: leave some out"
        )
    return Domain.of({name: _attribute(name, values) for name, values in attributes.items()})


def _attribute(name: str, values: Values) -> Domain:
    domain = _held(name, values)
    if isinstance(domain, NumberGrid):
        raise DomainError(f"attribute {name!r} is a number; give labels, or a range with start and stop")
    return domain


def _fields(fields: dict[str, Values]) -> dict[str, Domain | NumberGrid]:
    return {name: _held(name, values) for name, values in fields.items()}


def _held(name: str, values: Values) -> Domain | NumberGrid:
    """What an attribute of a record holds."""
    try:
        if not isinstance(values, AttributeEntry):
            return _labels(values)
        given = {key: value for key in values.__struct_fields__ if (value := getattr(values, key)) is not None}
        policy = given.pop("missing", "refuse")
        return _stated(given).with_missing(policy)
    except DomainError as error:
        raise DomainError(f"attribute {name!r}: {error}") from None


def _stated(given: dict[str, Any]) -> Domain | NumberGrid:
    if set(given) == {"labels"}:
        return _labels(given["labels"])
    if set(given) == {"start", "stop"}:
        return _range(IntegerRange(**given))
    if {"low", "high"} <= set(given) <= {"low", "high", "unit", "points"}:
        return NumberGrid(**given)
    raise DomainError(
        "give a list of labels, a range with start and stop, or in a form a number with low and high, and perhaps unit "
        "and points; each with or without missing"
    )


def _workload(text: str) -> Workload:
    workload = parse_workload(text, files=False, most=MOST_LISTED)
    if workload.domain.size > MOST_LISTED:
        raise WorkloadError(
            f"this workload is about {workload.domain.size:,} values; over HTTP up to {MOST_LISTED:,} are compared: "
            "use a smaller one here, or the command line"
        )
    return workload


_FORMS: Final[dict[Kind, tuple[Any, Callable[[Any], Any]]]] = {
    "labels": (list[str], _labels),
    "range": (IntegerRange, _range),
    "attributes": (dict[str, Values], _attributes),
    "fields": (dict[str, Values], _fields),
    "workload": (str, _workload),
}
"""The shape in JSON and the reader of each kind of parameter."""
