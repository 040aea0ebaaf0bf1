"""The error of a survey as a function of the number of reports, known before the first report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sottovoce.estimates.asked import AskedSurvey

__all__ = ["BoundCurve", "bound_curve"]

_ROUND: Final = tuple(
    digits * 10**power for power in range(1, 8) for digits in (10, 13, 16, 20, 25, 32, 40, 50, 65, 80)
)

_GRID: Final = (*_ROUND, 10**9)
"""Ten round numbers per power of ten, nearly evenly spaced on a logarithmic scale."""


@dataclass(frozen=True)
class BoundCurve:
    """The error by the number of reports, for the worst population.

    Attributes
    ----------
    l2
        Upper bound on the expected L2 error of all answers.
    margin
        The margin of the worst answer (95 %).
    statement
        The name of the bound, at `n_reports`.
    """

    n: tuple[int, ...]
    l2: tuple[float, ...]
    margin: tuple[float, ...]
    statement: str


def bound_curve(survey: AskedSurvey, n_reports: int = 0) -> BoundCurve:
    """The curve from 100 to 1e9 reports, including `n_reports` if positive.

    Examples
    --------
    >>> import sottovoce as sv
    >>> from sottovoce.surveys.survey import Survey
    >>> curve = bound_curve(Survey(sv.shares(1000), epsilon=1.0), 12_345)
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
        margin=tuple(survey.design.margin(n) for n in people),
        statement=stated.statement,
    )
