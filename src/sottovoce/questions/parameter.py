"""A parameter of a question, declared once for Python, the command line, HTTP, forms and documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, ParamSpec, TypeVar

from sottovoce.core.calls import with_clear_calls
from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import MAX_DOMAIN_SIZE, check_integer, check_number

__all__ = [
    "DOMAIN_PARAMETERS",
    "MAX_TEXT",
    "Kind",
    "Parameter",
    "check_parameters",
    "clear_question",
    "missing_parameter",
]

P = ParamSpec("P")
R = TypeVar("R")

Kind = Literal[
    "integer",
    "number",
    "text",
    "choice",
    "missing",
    "alphabet",
    "labels",
    "range",
    "attributes",
    "fields",
    "workload",
]
"""The type of a parameter.

A number; a line of text, or one of a few words; what missing values count as; labels, the ends of a range of integers,
or named attributes of a record; the fields of a form, which are attributes or numbers; a set of queries.
"""

MAX_TEXT: Final = 40
"""Maximum length of a text parameter, such as a unit."""

_NUMBERS: Final = ("integer", "number")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a question, with everything an interface needs to ask for it.

    Attributes
    ----------
    name
        Its name in Python and JSON; on the command line with hyphens.
    help
        Its meaning, in a few words.
    example
        A value as it is written on the command line.
    default
        The default value; None if there is none.
    optional
        Whether it may be left out although there is no default.
    low, high
        Smallest and largest value; for numbers only.
    choices
        The words to choose from, for choices; the alphabets that have a name.
    group
        Parameters of one group are alternatives: exactly one of them is given.
    in_examples
        Whether examples of commands give it although it has a default.
    """

    name: str
    kind: Kind
    help: str
    example: str
    default: float | int | str | None = None
    optional: bool = False
    low: float | int | None = None
    high: float | int | None = None
    choices: tuple[str, ...] = ()
    group: str = ""
    in_examples: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is None and not self.group and not self.optional

    def check(self, value: Any) -> Any:
        """Check a number's range, a text and a choice; other types are checked by the question."""
        if self.kind == "text":
            return _check_text(self.name, value)
        if self.kind == "choice" and value not in self.choices:
            raise SurveyError(f"{self.name} must be one of {', '.join(self.choices)}").at(self.name)
        if self.kind == "integer" and self.low is not None and self.high is not None:
            return check_integer(self.name, value, int(self.low), int(self.high))
        if self.kind == "number" and self.low is not None and self.high is not None:
            return check_number(self.name, value, self.low, self.high, self.help)
        return value

    def to_dict(self) -> dict[str, Any]:
        """All fields as plain values, for pages and other clients."""
        ends = {"low": self.low, "high": self.high} if self.kind in _NUMBERS else {}
        return {
            "name": self.name,
            "kind": self.kind,
            "help": self.help,
            "example": self.example,
            "default": self.default,
            "required": self.required,
            "group": self.group,
            "choices": list(self.choices),
            **ends,
        }


def _check_text(name: str, value: Any) -> str:
    if not isinstance(value, str) or len(value) > MAX_TEXT or not value.isprintable():
        raise SurveyError(f"{name} must be one line of printable text, at most {MAX_TEXT} characters").at(name)
    return value


def check_parameters(what: str, declared: tuple[Parameter, ...], given: dict[str, Any]) -> dict[str, Any]:
    """The given parameters with defaults; unknown, missing and conflicting ones are refused.

    Values that are None count as not given.

    Examples
    --------
    >>> size = Parameter("size", "integer", "how many", "10", low=1, high=100)
    >>> check_parameters("a vector question", (size,), {"size": 5})
    {'size': 5}
    >>> check_parameters("a vector question", (size,), {"size": 5, "colour": "red"})
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: colour is not a parameter of a vector question; it takes size
    """
    names = [parameter.name for parameter in declared]
    present = {name: value for name, value in given.items() if value is not None}
    unknown = next((name for name in present if name not in names), None)
    if unknown is not None:
        takes = ", ".join(names) or "none"
        raise SurveyError(f"{unknown} is not a parameter of {what}; it takes {takes}").at(unknown)
    for group in dict.fromkeys(parameter.group for parameter in declared if parameter.group):
        ways = [parameter.name for parameter in declared if parameter.group == group]
        chosen = [name for name in ways if name in present]
        if len(chosen) != 1:
            said = " and ".join(chosen) or "none"
            listed = ", ".join(ways[:-1]) + f" or {ways[-1]}"
            message = f"give the {group} in exactly one way: {listed}; got {said}"
            raise SurveyError(message).at(chosen[-1] if chosen else ways[0])
    checked = {}
    for parameter in declared:
        if parameter.name in present:
            checked[parameter.name] = parameter.check(present[parameter.name])
        elif parameter.default is not None:
            checked[parameter.name] = parameter.default
        elif parameter.required:
            message = f"{what} needs {parameter.name} ({parameter.help}), for example {parameter.example}"
            raise SurveyError(message).at(parameter.name)
    return checked


_GROUP: Final = "values"

DOMAIN_PARAMETERS: Final = (
    Parameter(
        "values", "integer", "number of values, numbered from 0", "40", low=2, high=MAX_DOMAIN_SIZE, group=_GROUP
    ),
    Parameter("labels", "labels", "the values' names", "red,green,blue", group=_GROUP),
    Parameter("range", "range", "all integers from the first to the last", "18..99", group=_GROUP),
    Parameter("attributes", "attributes", "records of named attributes", "age=0..99 country=DE,FR", group=_GROUP),
)
"""Exactly one of these gives a domain; its value is an argument of `Domain.of`."""


def missing_parameter(example: str = "as prefer not to say") -> Parameter:
    """The parameter that says what becomes of values that are not there."""
    return Parameter(
        "missing", "missing", 'what missing values count as: refuse, or "as" and a value', example, default="refuse"
    )


def clear_question(right: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function that makes a question say which argument is wrong, and where one of a survey belongs."""
    survey = f"give it to the survey, as in sv.Survey({right}, epsilon=1.0)"
    of_surveys = ("epsilon", "delta", "people", "strategy", "mechanism", "criterion", "title", "relay")
    return with_clear_calls(right, elsewhere={name: f"a question has no {name}: {survey}" for name in of_surveys})
