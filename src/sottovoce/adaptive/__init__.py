"""Adaptive sessions: ask, read the answer, ask again; and strategies that do so by themselves."""

from sottovoce.adaptive.answer import ChoiceAnswer, RoundAnswer
from sottovoce.adaptive.seat import Seat
from sottovoce.adaptive.session import Session

__all__ = ["ChoiceAnswer", "RoundAnswer", "Seat", "Session"]
