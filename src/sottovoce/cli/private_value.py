"""Parse a person's value from a command line as the survey asks for it; no message repeats it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sottovoce.domain import Domain
    from sottovoce.domain.number import NumberGrid
    from sottovoce.surveys.panel import Panel
    from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["read_value"]

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,20}")
_ITEM: Final = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')
_PART: Final = re.compile(r'\s*(\w+)\s*=\s*("(?:[^"\\]|\\.)*"|[^,]*?)\s*(?:,|$)')


def read_value(survey: Survey | Panel | Tracking, text: str) -> object:
    """The value that the text stands for; text that does not parse is returned as it is, and is in no domain.

    Examples
    --------
    >>> import sottovoce as sv
    >>> people = sv.Survey.adaptive({"age": range(100), "country": ["DE", "FR"]}, rounds=3, epsilon=1.0)
    >>> read_value(people, "age=31,country=FR")
    {'age': 31, 'country': 'FR'}
    >>> read_value(sv.Survey.mean(3, 1.0, 1.0), "0.5,-1,2e-3")
    [0.5, -1.0, 0.002]
    >>> read_value(sv.Survey.choices(["tea", "coffee", "water"], most=2, epsilon=1.0), "tea,water")
    ['tea', 'water']
    """
    from sottovoce.questions.choices import Choices
    from sottovoce.questions.number import Number
    from sottovoce.questions.records import Records
    from sottovoce.questions.words import Words
    from sottovoce.surveys.panel import Panel

    if isinstance(survey, Panel) or survey.domain is not None:
        return _in_domain(survey.domain, text)  # type: ignore[arg-type]
    match survey.question:
        case Number():
            return _number(text)
        case Choices(options=options):
            return [_in_domain(options, one) for one in _listed(text)]
        case Records(attributes=attributes):
            return _record(attributes, text)
        case Words(code=code):
            return code.typed(text)
    return _vector(text)


def _number(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def _listed(text: str) -> list[str]:
    """The parts between commas, which may be quoted as in JSON; none of an empty text."""
    found, at = [], 0
    while at < len(text.rstrip()) and (part := _ITEM.match(text, at)):
        found.append(_unquoted(part[1]))
        at = part.end()
    return found


def _vector(text: str) -> object:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return text


def _in_domain(domain: Domain | NumberGrid, text: str) -> object:
    from sottovoce.domain import LabelDomain, ProductDomain, TextDomain
    from sottovoce.domain.number import NumberGrid

    if isinstance(domain, NumberGrid):
        return _number(text)
    if isinstance(domain, ProductDomain):
        return _record(domain.attributes, text)
    # By hash lookup: a scan of the labels would take a time that depends on the value.
    is_label = isinstance(domain, LabelDomain) and domain._find(text) >= 0
    if is_label or isinstance(domain, TextDomain) or not _INTEGER.fullmatch(text):
        return text
    return int(text)


def _record(attributes: Any, text: str) -> object:
    known, found, at = dict(attributes), {}, 0
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[1] not in known or part[1] in found:
            return text
        found[part[1]] = _in_domain(known[part[1]], _unquoted(part[2]))
        at = part.end()
    return found


def _unquoted(text: str) -> str:
    """Labels of records may be quoted as in JSON, where they contain a comma."""
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text
