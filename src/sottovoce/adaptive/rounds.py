"""A round of a panel: a survey that has a seat."""

from __future__ import annotations

from functools import lru_cache

from sottovoce.core.errors import SessionError
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.surveys.panel import Seat
from sottovoce.surveys.survey import Survey
from sottovoce.surveys.terms import Terms

__all__ = ["mechanism_of_choices", "n_choices", "seat_of"]


def seat_of(survey: Terms) -> Seat:
    """The survey's seat; raises `SessionError` if it is not a round of a panel."""
    if survey.seat is None:
        raise SessionError("this survey is not a round of a panel; make one with Survey.round(panel, ...)")
    return survey.seat


def n_choices(survey: Terms) -> int:
    """The number of choices of a round; 0 if it asks for a mean."""
    return survey.question.round_choices


@lru_cache(maxsize=256)
def mechanism_of_choices(choices: int, epsilon: float) -> FiniteMechanism:
    """The mechanism of a round with this number of choices."""
    mechanism = Survey.distribution(choices, epsilon).mechanism
    assert isinstance(mechanism, FiniteMechanism)
    return mechanism
