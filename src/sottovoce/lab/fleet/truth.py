"""What a perfect estimate would say about simulated people, to stand beside the real one."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.asked import AskedSurvey
from sottovoce.questions.base import Question
from sottovoce.surveys.panel import Panel, Seat
from sottovoce.workloads.base import Workload

__all__ = ["true_answers"]

Floats = NDArray[np.float64]

_AT_ONCE: Final = 1 << 20


def true_answers(survey: AskedSurvey | Panel, shares: Floats | None) -> Floats:
    """Every answer of a survey for a population with these shares of every value; none for a panel.

    Where values cannot be listed, the population is the one that the question invents.

    Examples
    --------
    >>> import sottovoce as sv
    >>> panel = sv.Survey.adaptive({"age": range(4)}, rounds=2, epsilon=1.0)
    >>> true_answers(sv.Survey.round(panel, 1, "age < 3"), np.full(4, 0.25))
    array([0.75])
    """
    if isinstance(survey, Panel):
        return np.empty(0)
    if survey.seat is not None:
        return np.empty(0) if shares is None else _round(survey, shares)
    question: Question = survey.question
    population = question.invented_people()
    if population is not None:
        return population.answers
    workload = question.workload
    return np.empty(0) if shares is None or not isinstance(workload, Workload) else workload.matvec(shares)


def _round(asked: AskedSurvey, shares: Floats) -> Floats:
    """A round's answers, by going through all records."""
    found = np.zeros(asked.n_answers)
    assert isinstance(asked.seat, Seat)
    for start in range(0, len(shares), _AT_ONCE):
        part = shares[start : start + _AT_ONCE]
        columns = asked.seat.panel.domain.split(np.arange(start, start + len(part)))
        inputs = asked.seat.inputs(asked.question, columns)
        if inputs.ndim == 1:
            found += np.bincount(inputs, weights=part, minlength=len(found))
        else:
            found += part @ inputs
    return found
