"""Which words cannot be found yet: the least share that the reports so far would find, by the length of a word."""

from __future__ import annotations

from sottovoce.estimates.estimate import Estimate
from sottovoce.planning.recall import recall_of
from sottovoce.protocol.pictures import Findable

__all__ = ["findable_of"]


def findable_of(estimate: Estimate) -> list[Findable] | None:
    """For the longest of the words that are found alike; None for any other question.

    Examples
    --------
    >>> from sottovoce.surveys.survey import Survey
    >>> survey = Survey.words(8, "latin", epsilon=2.0, users=2_000)
    >>> found = findable_of(survey.estimate(survey.simulate(["flu"] * 2_000, seed=1)))
    >>> [one.length for one in found], all(0 < one.share < 1 for one in found)
    ([3, 4, 8], True)
    """
    recall = recall_of(estimate.survey.design, estimate.n_reports)
    return None if recall is None else [Findable(length, recall.share(length=length)) for length in recall.lengths]
