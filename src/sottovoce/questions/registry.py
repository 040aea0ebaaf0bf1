"""The registry of questions. To add one to this package: write its file, add its line here.

Kinds of other packages are found by their entry points, or registered in this process with `register`.
"""

from __future__ import annotations

from typing import Any, Final

from sottovoce.core.errors import SurveyError
from sottovoce.core.registry import Registry
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words

__all__ = ["QUESTIONS", "REGISTRY", "make_question", "question_from_statement", "register"]

REGISTRY: Final[Registry[Question]] = Registry(
    "question", Question, (Shares, Queries, Vector, Choices, Number, Records, Words), name="kind"
)
"""Kinds of question: of this package and of others."""

QUESTIONS: Final = REGISTRY.ours
"""Every kind of question of this package, by its name."""


def register(kind: type[Question]) -> None:
    """Let surveys of this process ask a question of another package.

    Raises `SurveyError` if the class is unfinished, or bears a name that is taken.
    """
    REGISTRY.register(kind)


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
    found = REGISTRY.lookup(kind)
    if found is None:
        raise SurveyError(f"kind must be one of {', '.join(REGISTRY.everything())}; {REGISTRY.remedy}").at("kind")
    return found
