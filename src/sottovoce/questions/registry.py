"""The registry of questions. To add one to this package: write its file, add its line here.

Kinds of other packages are found by their entry points, or registered in this process with `register`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from sottovoce.core.errors import SurveyError, WorkloadError
from sottovoce.core.registry import Registry
from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.relation import Relation
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words
from sottovoce.workloads import Workload

__all__ = ["QUESTIONS", "REGISTRY", "make_question", "question_from_statement", "question_to_statement", "register"]

RESERVED: Final = frozenset(
    (
        *("answer", "central_delta", "central_epsilon", "change", "cost", "criterion", "delta", "difference"),
        *("epsilon", "every", "grace", "groups", "help", "histories", "insecure", "json", "key", "l2", "least"),
        *("level", "margin", "max_counters", "max_report_bytes", "mechanism", "minimum_reports", "people", "periods"),
        *("picture", "population", "power", "probability", "rates", "ratio", "relay", "renews", "repeats", "seed"),
        *("of", "share", "slope_error", "smooth", "starts", "strategy", "title", "token", "url"),
        *("worker_cores", "workers"),
    )
)
"""Names of the options that every question has on the command line: no parameter of a kind may have one."""

_ASKED_AS: Final = "asked_as"
_STATED: Final = frozenset(("kind", "parameters", _ASKED_AS, "run", "state"))
"""Names that stand for something else in a survey's JSON, in drafts and in commands."""


def _check_parameters(kind: type[Question]) -> None:
    for parameter in kind.parameters:
        if parameter.name in RESERVED | _STATED:
            raise SurveyError(
                f"parameter {parameter.name!r} of a {kind.kind} question has the name of a general option"
            )
        if not re.fullmatch(r"[a-z][a-z0-9_]*", parameter.name):
            raise SurveyError(
                f"parameter {parameter.name!r} of a {kind.kind} question must be of small letters and digits"
            )


REGISTRY: Final[Registry[Question]] = Registry(
    "question",
    Question,
    (Shares, Queries, Vector, Choices, Number, Records, Relation, Words),
    name="kind",
    check=_check_parameters,
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


def question_to_statement(question: Question) -> dict[str, Any]:
    """A question's part of a survey's JSON.

    Clients that cannot load a kind of another package, such as browsers, answer the plain question that it states
    itself to be asked as: the same queries about the same values.
    """
    if REGISTRY.is_foreign(type(question)):
        _check_parameters(type(question))
    stated, plain = question.to_statement(), _asked_as(question)
    return stated if plain is None else {**stated, _ASKED_AS: plain.to_statement()}


def question_from_statement(statement: object) -> Question:
    """Read a question from its part of a survey's JSON, checking every field."""
    if not isinstance(statement, dict) or "kind" not in statement:
        raise SurveyError("a survey's question must be a JSON object with a kind and that kind's own fields").at(
            "question"
        )
    kind = _find(statement["kind"])
    foreign = REGISTRY.is_foreign(kind)
    own = {key: value for key, value in statement.items() if key != _ASKED_AS or not foreign}
    question = kind.from_statement(own)
    if foreign and question_to_statement(question) != statement:
        raise SurveyError(f"{_ASKED_AS} is not what this {kind.kind} question is asked as").at(_ASKED_AS)
    return question


def _asked_as(question: Question) -> Queries | None:
    """The plain question of another package's kind; None for ours, and for values without a domain."""
    workload = question.workload
    if not REGISTRY.is_foreign(type(question)) or not isinstance(workload, Workload):
        return None
    try:
        return Queries(workload) if question.domain == workload.domain else None
    except WorkloadError:  # more queries than a plain question may have
        return None


def _find(kind: object) -> type[Question]:
    question = REGISTRY.lookup(kind)
    if question is None:
        known = ", ".join(QUESTIONS)  # ours alone: a message must not load what nobody asked for
        raise SurveyError(f"kind must be one of {known}{REGISTRY.lacking(kind)}; {REGISTRY.remedy}").at("kind")
    return question
