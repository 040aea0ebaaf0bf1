"""A round of a panel, as sessions handle it: a survey that has a seat."""

from __future__ import annotations

from sottovoce.errors import SessionError
from sottovoce.questions.shares import Shares
from sottovoce.surveys.panel import Seat
from sottovoce.surveys.terms import Terms

__all__ = ["n_choices", "seat_of"]


def seat_of(survey: Terms) -> Seat:
    """The survey's seat; raises `SessionError` where it is no round of a panel."""
    if survey.seat is None:
        raise SessionError("this survey is no round of a panel; make one with Survey.round(panel, ..)")
    return survey.seat


def n_choices(survey: Terms) -> int:
    """How many choices a round has; 0 for one that asks for a mean."""
    return survey.n_answers if isinstance(survey.question, Shares) else 0
