"""How the bound on a survey's error falls as reports arrive: what is known before the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from sottovoce.protocols.distribution import DistributionSurvey
from sottovoce.protocols.means import MeanSurvey
from sottovoce.protocols.rounds import ChoiceRound, QuestionRound
from sottovoce.survey import Survey

__all__ = ["BoundCurve", "bound_curve", "rare_margin"]

_ROUND: Final = tuple(
    digits * 10**power for power in range(1, 8) for digits in (10, 13, 16, 20, 25, 32, 40, 50, 65, 80)
)
_GRID: Final = (*_ROUND, 10**9)
"""Ten numbers to a power of ten, nearly evenly apart in logarithm, that can be said in a sentence."""


@dataclass(frozen=True)
class BoundCurve:
    """The bound by the number of reports.

    Attributes
    ----------
    margin
        Half of the 95 % interval of a value that hardly anybody has; not a number where answers differ in it.
    statement
        Which bound it is, at the number of reports asked about.
    """

    n: tuple[int, ...]
    l2: tuple[float, ...]
    margin: tuple[float, ...]
    statement: str


def bound_curve(survey: Survey, n_reports: int = 0) -> BoundCurve:
    """The curve over a hundred to a thousand million reports, and at `n_reports` if there are any.

    Examples
    --------
    >>> curve = bound_curve(Survey.distribution(1000, epsilon=1.0), 12_345)
    >>> curve.n[0], curve.n[-1], 12_345 in curve.n
    (100, 1000000000, True)
    >>> round(curve.l2[curve.n.index(12_345)], 3), curve.statement
    (0.385, 'projection on the simplex: (8 tau^2 log J / n)^(1/4)')
    """
    people = sorted({*_GRID} | ({n_reports} if n_reports > 0 else set()))
    bounds = {n: survey.bound(n) for n in people}
    stated = bounds[n_reports] if n_reports > 0 else bounds[people[0]]
    return BoundCurve(
        n=tuple(people),
        l2=tuple(bound.value for bound in bounds.values()),
        margin=tuple(rare_margin(survey, n) for n in people),
        statement=stated.statement,
    )


def rare_margin(survey: Survey, n: int) -> float:
    """Half of a rare value's 95 % interval from n reports, by the exact variance; no wider than answers can lie apart.

    Not a number for queries, whose answers differ in it.
    """
    match survey:
        case DistributionSurvey() | ChoiceRound():
            variance = survey.mechanism.variance(np.zeros(1), n)
        case MeanSurvey():
            variance = survey.mechanism.variance(np.array([survey.radius]), n)
        case QuestionRound():
            variance = np.array([survey.mechanism.noise / n])
        case _:
            return float("nan")
    low, high = survey.answer_range
    margin = NormalDist().inv_cdf(0.975) * np.sqrt(variance[0]) + np.max(survey.bias_bound)
    return float(min(margin, np.max(high) - np.min(low)))
