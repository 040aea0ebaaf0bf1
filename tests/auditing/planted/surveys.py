"""Surveys at deployed sizes, in which faults are planted."""

from __future__ import annotations

from functools import cache

import sottovoce as sv
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.questions import Choices
from sottovoce.strategies.sets import SetStrategy

__all__ = ["number", "sets", "values", "vectors", "wheel", "words"]


@cache
def values(size: int = 50_000, mechanism: str = "randomized_response") -> sv.Survey:
    return sv.Survey(sv.shares(size), epsilon=1.0, mechanism=mechanism)


@cache
def sets(mechanism: str = "set_selection", people: int = 50) -> sv.Survey:
    return sv.Survey(sv.choices(60, most=3), epsilon=1.0, mechanism=mechanism, people=people)


@cache
def number() -> sv.Survey:
    return sv.Survey(sv.number(-20, 40), epsilon=1.0)


@cache
def words() -> sv.Survey:
    return sv.Survey(sv.words(6, "latin"), epsilon=1.0, people=1000)


@cache
def vectors(mechanism: str) -> sv.Survey:
    delta = 1e-6 if mechanism == "gaussian" else 0.0
    return sv.Survey(sv.vector(8, 1.0), epsilon=1.0, delta=delta, mechanism=mechanism, people=2000)


@cache
def wheel(seeds: int) -> sv.Survey:
    """The survey of sets whose wheel has so many seeds."""
    question = Choices(60, 3)
    return sv.Survey.of_design(question, SetStrategy(question.workload, Wheel(60, 3, 1.0, 14, seeds)))
