"""An estimate as a page draws it: columns of numbers, cut to the largest answers where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.asked import AskedSurvey
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.pictures import Findable
from sottovoce.questions.base import Question
from sottovoce.workloads.pictures import Bars, Panel

__all__ = ["Columns", "columns_of", "findable_of", "largest", "panels_of", "projection_of"]


class Columns(NamedTuple):
    """Answers side by side, in the order they have in the survey; not finite where nothing is known."""

    positions: list[int] | None
    labels: list[str]
    value: list[float]
    raw: list[float]
    low: list[float]
    high: list[float]
    certain: list[bool] | None
    panels: list[Panel]


def columns_of(estimate: Estimate, level: float, most: int, names: Sequence[str] = ()) -> Columns:
    """The answers with their intervals; `names` are those of a round's choices.

    Where there are more than `most`: the first pictures that hold no more, or else the largest answers.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.surveys.survey import Survey
    >>> survey = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0)
    >>> estimate = survey.estimate(survey.simulate(["water"] * 500 + ["tea"] * 300, seed=1))
    >>> columns_of(estimate, 0.95, most=2).labels
    ['tea', 'water']
    """
    panels, chosen = panels_of(estimate.survey, len(estimate)), None
    if len(estimate) > most:
        whole = [panel for panel in panels if panel.stop <= most]
        chosen = np.arange(max(panel.stop for panel in whole)) if whole else largest(estimate.shown(level), most)
        several = f"the {most:,} largest answers"
        panels = whole or [Bars(several, 0, most, all(panel.shares for panel in panels))]
    places = range(len(estimate)) if chosen is None else chosen.tolist()
    label = names.__getitem__ if names else estimate.label
    columns = {
        name: (column if chosen is None else column[chosen]).tolist()
        for name, column in estimate.columns(level).items()
    }
    positions = None if chosen is None else chosen.tolist()
    return Columns(
        positions=positions, labels=[label(index) for index in places], panels=panels, **{"certain": None, **columns}
    )


def panels_of(survey: AskedSurvey, n_answers: int) -> list[Panel]:
    """The panels that draw an estimate with `n_answers` answers: those of its question; for a round, bars."""
    question: Question = survey.question
    if survey.seat is None:
        return question.panels(n_answers)
    shares = question.answers_are_shares
    return [Bars("share of each choice" if shares else "mean", 0, n_answers, shares)]


def largest(values: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """The indices of the `most` largest values, in order; among equal values the first count.

    Takes time in the number of values, without sorting them.

    Examples
    --------
    >>> largest(np.array([0.1, 0.4, 0.2, 0.1, 0.2]), 3)
    array([1, 2, 4])
    >>> largest(np.array([0.5, 0.5, 0.5]), 2)
    array([0, 1])
    """
    if len(values) <= most:
        return np.arange(len(values))
    least = np.partition(values, len(values) - most)[len(values) - most]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[: most - len(above)]
    return np.sort(np.concatenate([above, equal]))


def projection_of(survey: AskedSurvey) -> str:
    """The set that raw answers are projected on, in words."""
    return "interval" if survey.n_answers == 1 and survey.seat is not None else survey.question.projected_on


def findable_of(estimate: Estimate) -> list[Findable] | None:
    """The least shares that are found, for the longest of the words that are found alike; None for other questions.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.surveys.survey import Survey
    >>> survey = Survey(sv.words(8, "latin"), epsilon=2.0, people=2_000)
    >>> found = findable_of(survey.estimate(survey.simulate(["flu"] * 2_000, seed=1)))
    >>> [one.length for one in found], all(0 < one.share < 1 for one in found)
    ([3, 4, 8], True)
    """
    recall = estimate.survey.question.recall(estimate.survey.design, estimate.n_reports)
    return None if recall is None else [Findable(length, recall.share(length=length)) for length in recall.lengths]
