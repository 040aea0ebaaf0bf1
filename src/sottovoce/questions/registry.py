"""Every kind of question. To add one: write its file, add its line here."""

from __future__ import annotations

from typing import Any, Final

from sottovoce.core.errors import SurveyError
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words

__all__ = ["QUESTIONS", "make_question", "question_from_statement"]

QUESTIONS: Final[dict[str, type[Question]]] = {
    one.kind: one for one in (Shares, Queries, Vector, Choices, Number, Records, Words)
}
"""Every kind of question, by its name."""


def make_question(kind: object, **parameters: Any) -> Question:
    """The question of that kind with these parameters.

    Examples
    --------
    >>> make_question("vector", dimension=3).n_answers
    3
    >>> make_question("median", dimension=3)
    Traceback (most recent call last):
    sottovoce.core.errors.SurveyError: kind must be one of shares, queries, vector, ...
    """
    return _find(kind).of(**parameters)


def question_from_statement(statement: object) -> Question:
    """Read a question from its part of a survey's JSON, checking every field."""
    if not isinstance(statement, dict) or "kind" not in statement:
        raise SurveyError("a survey's question must be a JSON object with a kind and that kind's own fields")
    return _find(statement["kind"]).from_statement(statement)


def _find(kind: object) -> type[Question]:
    found = QUESTIONS.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise SurveyError(f"kind must be one of {', '.join(QUESTIONS)}").at("kind")
    return found
