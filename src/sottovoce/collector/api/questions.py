"""What can be asked, as the library declares it: what forms and other clients are made from."""

from __future__ import annotations

from typing import Final

from sottovoce.collector.api.answer import Answer, json_answer
from sottovoce.collector.api.page_structs import Defaults, ParameterEntry, QuestionEntry, Questions
from sottovoce.collector.api.route import AnyRequest, Operation, route
from sottovoce.limits import DEFAULT_COUNTERS, DEFAULT_REPORT_BYTES, DEFAULT_USERS
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS
from sottovoce.questions.parameter import Parameter
from sottovoce.questions.registry import QUESTIONS
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.histogram import Histogram
from sottovoce.surveys.panel import Panel

__all__ = ["ROUTES", "questions"]

_LEVEL: Final = 0.95
"""The level of margins and, unless another is asked for, of intervals."""

_MECHANISMS: Final = {
    Histogram.name: [name for name, kind in MECHANISMS.items() if kind.deployable],
    Direct.name: [name for name, kind in VECTOR_MECHANISMS.items() if kind.deployable],
}
"""Strategies that leave a choice of mechanism; every other brings its own."""


def questions() -> Questions:
    """Every kind of question, with its parameters."""
    entries = [_entry(kind.kind, kind.summary, kind.parameters, kind.strategies) for kind in QUESTIONS.values()]
    entries.append(_entry(Panel.kind, Panel.summary, Panel.parameters, ()))
    return Questions(entries, Defaults(DEFAULT_USERS, DEFAULT_REPORT_BYTES, DEFAULT_COUNTERS, _LEVEL))


def _entry(kind: str, summary: str, declared: tuple[Parameter, ...], strategies: tuple[str, ...]) -> QuestionEntry:
    return QuestionEntry(
        kind=kind,
        summary=summary,
        parameters=[ParameterEntry(**one.to_dict()) for one in declared],
        strategies=list(strategies),
        mechanisms=[name for strategy in strategies for name in _MECHANISMS.get(strategy, ())],
    )


@route(
    "GET",
    "/v1/questions",
    Operation("list_questions", "Every kind of question, with the parameters that a form asks for.", {200: Questions}),
)
async def list_questions(request: AnyRequest) -> Answer:
    return json_answer(questions())


ROUTES: Final = (list_questions,)
