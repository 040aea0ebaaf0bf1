"""What is said of a number besides the answers themselves: its mean, deviation, quantiles and histogram."""

from __future__ import annotations

from typing import Final

import numpy as np

from sottovoce.domain.number import NumberGrid
from sottovoce.estimates.combinations import CombinedAnswer
from sottovoce.estimates.estimate import Estimate
from sottovoce.protocol.pictures import NumberFigure, NumberHistogram
from sottovoce.questions.number import Number
from sottovoce.questions.records import Records

__all__ = ["figures_of", "histogram_of"]


_QUANTILES: Final = {"lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75}


def figures_of(estimate: Estimate, level: float) -> list[NumberFigure]:
    """The figures of a survey about a number, or of the numbers of a form; none for others.

    Examples
    --------
    >>> from sottovoce.surveys.survey import Survey
    >>> survey = Survey.number(0, 10, epsilon=2.0, unit="km")
    >>> [figure] = figures_of(survey.estimate(survey.simulate([1, 2, 6] * 300, seed=1)), 0.95)
    >>> figure.name, figure.unit, figure.low < 3 < figure.high, figure.most
    ('mean', 'km', True, 10.0)
    """
    question = estimate.survey.question
    if isinstance(question, Records):
        numbers = [(name, field) for name, field in question.attributes if isinstance(field, NumberGrid)]
        return [_figure(f"mean of {name}", grid, estimate.mean(name, level)) for name, grid in numbers]
    if not isinstance(question, Number):
        return []
    grid = question.grid
    found = [_figure("mean", grid, estimate.mean(level=level))]
    if question.wants != "mean":
        deviation = estimate.standard_deviation(level)
        ends = (deviation.value, deviation.low, deviation.high, 0.0, grid.half)
        found.append(NumberFigure("standard deviation", grid.unit, *ends))
    if question.wants == "distribution":
        found += [_figure(name, grid, estimate.quantile(share, level)) for name, share in _QUANTILES.items()]
    return found


def _figure(name: str, grid: NumberGrid, answer: CombinedAnswer) -> NumberFigure:
    return NumberFigure(name, grid.unit, answer.value, answer.low, answer.high, grid.low, grid.high)


def histogram_of(estimate: Estimate, level: float) -> NumberHistogram | None:
    """The histogram of a survey about a number's distribution; None for others."""
    question = estimate.survey.question
    if not isinstance(question, Number) or question.wants != "distribution":
        return None
    shares = [one.share for one in estimate.histogram(level)]
    return NumberHistogram(
        unit=question.grid.unit,
        ends=question.ends.tolist(),
        value=np.diff(estimate.values, prepend=0.0).tolist(),
        raw=[share.value for share in shares],
        low=[share.low for share in shares],
        high=[share.high for share in shares],
    )
