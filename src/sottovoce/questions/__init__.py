"""Questions: a person's value and the quantities to estimate, one file per kind; `registry` lists them."""

from sottovoce.questions.base import Question
from sottovoce.questions.choices import Choices
from sottovoce.questions.number import Number
from sottovoce.questions.queries import Queries
from sottovoce.questions.records import Records
from sottovoce.questions.registry import QUESTIONS, make_question, question_from_statement, register
from sottovoce.questions.shares import Shares
from sottovoce.questions.vector import Vector
from sottovoce.questions.words import Words

__all__ = [
    "QUESTIONS",
    "Choices",
    "Number",
    "Queries",
    "Question",
    "Records",
    "Shares",
    "Vector",
    "Words",
    "make_question",
    "question_from_statement",
    "register",
]
