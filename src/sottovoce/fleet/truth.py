"""What a perfect estimate would say about simulated people, to stand beside the real one."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sottovoce.populations.vectors import true_mean
from sottovoce.protocols.distribution import DistributionSurvey
from sottovoce.protocols.means import MeanSurvey
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.protocols.rounds import ChoiceRound, Round

__all__ = ["round_truth", "true_answers"]

Floats = NDArray[np.float64]

_AT_ONCE: Final = 1 << 20


def true_answers(survey: Any, shares: Floats | None) -> Floats:
    """Every answer of a survey for a population with these shares of every value; none for an adaptive one."""
    if isinstance(survey, MeanSurvey):
        return true_mean(survey.dimension, survey.radius)
    if shares is None:
        return np.empty(0)
    if isinstance(survey, QuerySurvey):
        return np.asarray(survey.workload.matvec(shares))
    if isinstance(survey, Round):
        return round_truth(survey, shares)
    return shares if isinstance(survey, DistributionSurvey) else np.empty(0)


def round_truth(asked: Round, shares: Floats) -> Floats:
    """A round's answer for a population with these shares of every record.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey.adaptive({"age": range(4)}, rounds=2, epsilon=1.0)
    >>> round_truth(survey.question(1, "age < 3"), np.full(4, 0.25))
    array([0.75])
    """
    size = asked.size if isinstance(asked, ChoiceRound) else 1
    found = np.zeros(size)
    for start in range(0, len(shares), _AT_ONCE):
        part = shares[start : start + _AT_ONCE]
        inputs = asked.inputs(asked.survey.domain.split(np.arange(start, start + len(part))))
        if isinstance(asked, ChoiceRound):
            found += np.bincount(inputs, weights=part, minlength=size)
        else:
            found += part @ inputs
    return found
