"""The kinds of questions and their parameters, from which forms and other clients are made."""

from __future__ import annotations

from typing import Any, Final

from sottovoce.core.limits import DEFAULT_COUNTERS, DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES
from sottovoce.mechanisms import serving
from sottovoce.protocol.drafts import Defaults, ParameterEntry, QuestionEntry, Questions
from sottovoce.questions.parameter import Parameter
from sottovoce.questions.registry import REGISTRY
from sottovoce.service.http.route import route
from sottovoce.strategies.registry import find
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.panel import Panel

__all__ = ["ROUTES", "questions"]

_LEVEL: Final = 0.95
"""The level of margins and, unless another is asked for, of intervals."""


def questions() -> Questions:
    """Every kind of question, with its parameters."""
    entries = [
        _entry(kind.kind, kind.summary, kind.parameters, kind.strategies) for kind in REGISTRY.everything().values()
    ]
    entries.append(_entry(Panel.kind, Panel.summary, Panel.parameters, ()))
    return Questions(
        entries,
        _declared(Calendar.parameters),
        Defaults(DEFAULT_PEOPLE, DEFAULT_REPORT_BYTES, DEFAULT_COUNTERS, _LEVEL),
    )


def _entry(kind: str, summary: str, declared: tuple[Parameter, ...], strategies: tuple[str, ...]) -> QuestionEntry:
    return QuestionEntry(
        kind=kind,
        summary=summary,
        parameters=_declared(declared),
        strategies=list(strategies),
        mechanisms=[name for strategy in strategies for name in _mechanisms(strategy)],
    )


def _mechanisms(strategy: str) -> list[str]:
    """The mechanisms that a strategy lets one choose; empty if it brings its own."""
    family: Any = find(strategy).family
    return [] if family is None else [name for name, kind in serving(family).items() if kind.deployable]


def _declared(parameters: tuple[Parameter, ...]) -> list[ParameterEntry]:
    return [ParameterEntry(**{"low": None, "high": None, **parameter.to_dict()}) for parameter in parameters]


@route("GET", "/v1/questions")
async def list_questions() -> Questions:
    """Every kind of question, with the parameters that a form asks for."""
    return questions()


ROUTES: Final = (list_questions,)
