"""The covariance of combinations of raw answers: from the design and the population, or from the counted reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.core.progress import steps
from sottovoce.estimates.combinations import RawAnswers, weights_of
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.laws.variance import Population, checked_weights

__all__ = ["MOST_TOGETHER", "answers_covariance", "covariance", "listed_rows", "population_covariance", "rows_of"]

MOST_TOGETHER: Final = 200
"""Answers or combinations up to which their covariance is computed."""


def covariance(design: Strategy, rows: Floats, population: Any, n_reports: int) -> Floats:
    """The covariance of combinations, one per row of weights, for a population: by polarization.

    Exact where the design's variances are. Cov(a, b) = (Var(a + b) - Var(a) - Var(b))/2.

    Examples
    --------
    >>> import sottovoce as sv
    >>> design = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0).design
    >>> covariance(design, np.eye(2), [0.5, 0.5], 100).round(4)
    array([[ 0.0117, -0.0117],
           [-0.0117,  0.0117]])
    """
    own = np.asarray(design.variance(rows, population, n_reports).value)
    result = np.diag(own)
    for at in range(len(rows) - 1):
        joint = np.asarray(design.variance(rows[at] + rows[at + 1 :], population, n_reports).value)
        result[at, at + 1 :] = (joint - own[at] - own[at + 1 :]) / 2
    return np.asarray(result + np.triu(result, 1).T)


def population_covariance(design: Strategy, rows: Floats, population: Any, n_reports: int) -> Floats | None:
    """`covariance`, or None where the population is not known well enough: its answers alone bound variances only."""
    people = Population.of(population, design.workload)
    if len(rows) > MOST_TOGETHER or not (people.shares is not None or design.answers_tell_variances):
        return None
    return covariance(design, rows, people, n_reports)


def answers_covariance(answers: RawAnswers, rows: Floats) -> Floats:
    """The covariance of combinations of an estimate's raw answers, at its projected population.

    Where that does not tell it, from the counts of the reports, if these are listed. A bound is refused: bounds of
    variances do not make a covariance.
    """
    design, n = answers.survey.design, answers.n_reports
    # Weights of any size: variances square them.
    scale = np.abs(rows).max(axis=1)
    scale = np.where(scale > 0, scale, 1.0)
    rows = rows / scale[:, None]
    with steps("computing covariances"):
        found = None
        if design.variance(rows[:1], answers.population, n).status != "bound":
            found = population_covariance(design, rows, answers.population, n)
        if found is None and answers.counts is not None:
            found = design.observed_covariance(rows, answers.counts, n)
    if found is None:
        raise SurveyError(
            f"the covariance of these answers is not known: reports of {answers.survey.mechanism.name} do not tell how "
            "often answers occur together, so that variances of sums have a bound only; ask for combinations one by "
            "one, with combine, whose intervals hold"
        ).at("weights")
    return np.asarray(found * np.outer(scale, scale))


def rows_of(given: Any, n_answers: int, read: Callable[[Any], Floats], all_answers: Callable[[], Floats]) -> Floats:
    """One row of weights for each combination: of labels, mappings of labels to numbers, a list of such, or an array.

    `read` gives the weights of labels in a list, or of a mapping; `all_answers` those that are meant by None.
    """
    if given is None:
        if n_answers > MOST_TOGETHER:
            raise SurveyError(
                f"there are {n_answers:,} answers, and the covariance of at most {MOST_TOGETHER} is computed; name "
                "those that are meant, such as ['a', 'b']"
            ).at("weights")
        return all_answers()
    if isinstance(given, np.ndarray) and given.dtype.kind in "fiu":
        rows = np.atleast_2d(checked_weights(given, n_answers))
    elif isinstance(given, Mapping):
        rows = read(given)[None]
    elif isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        rows = read([given])[None]
    else:
        listed = list(given)
        if not listed:
            raise SurveyError("weights is empty: name at least one answer, or leave it out").at("weights")
        if len(listed) > MOST_TOGETHER:
            raise _too_many(len(listed))
        rows = np.stack([read(one if isinstance(one, Mapping) else [one]) for one in listed])
    if len(rows) > MOST_TOGETHER:
        raise _too_many(len(rows))
    return np.asarray(rows)


def listed_rows(answers: RawAnswers, given: Any) -> Floats:
    """`rows_of` for answers that a survey lists."""
    size = len(answers.raw)
    return rows_of(given, size, lambda weights: weights_of(answers.survey, weights), lambda: np.eye(size))


def _too_many(count: int) -> SurveyError:
    return SurveyError(
        f"weights has {count:,} combinations; the covariance of at most {MOST_TOGETHER} is computed: name fewer"
    ).at("weights")
