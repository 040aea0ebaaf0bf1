"""What two estimates of listed answers say of the answers that are compared: arms, processes and covariances.

A test asks what would happen if both populations were the same: everything is taken at the population of both estimates
together, each weighted by its precision.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.arms import Arms, arms_of_observed
from sottovoce.estimates.combinations import RawAnswers
from sottovoce.estimates.covariance import MOST_TOGETHER, population_covariance
from sottovoce.estimates.intervals import Observed
from sottovoce.estimates.watched import arm_process
from sottovoce.mechanisms.base import Floats
from sottovoce.strategies.laws.rows import combined_ranges
from sottovoce.strategies.laws.variance import Population
from sottovoce.theory.two_arms import ArmProcess

__all__ = ["Chosen", "arms_of", "common_population", "covariance_of", "process_of"]

Indices = NDArray[np.int64]


@final
@dataclass(frozen=True, eq=False)
class Chosen:
    """The compared answers: those that a survey lists, and combinations of these.

    Attributes
    ----------
    listed, numbers
        Which of the compared answers the survey lists, and their numbers among its answers.
    combined, weights
        Which are combinations, and their weights, one row each.
    error, constant
        For every compared answer: how far it may be from that combination, and what is added to it.
    """

    listed: Indices
    numbers: Indices
    combined: Indices
    weights: Floats
    error: Floats
    constant: Floats

    def __len__(self) -> int:
        return len(self.error)

    def rows(self, n_answers: int) -> Floats:
        """The weights of all of them."""
        rows = np.zeros((len(self), n_answers))
        rows[self.listed, self.numbers] = 1.0
        rows[self.combined] = self.weights
        return rows


def common_population(first: RawAnswers, second: RawAnswers) -> Population:
    """The population of both estimates together: shares where both are known, else answers."""
    weights = np.array([_precision(answers) for answers in (first, second)])
    weights /= weights.sum()
    shares = [_shares(answers) for answers in (first, second)]
    values = weights[0] * first.values + weights[1] * second.values
    if shares[0] is None or shares[1] is None:
        return Population(answers=values)
    return Population.of(weights[0] * shares[0] + weights[1] * shares[1], first.survey.design.workload)


def _precision(answers: RawAnswers) -> float:
    """The precision of all raw answers together, which follows from the design alone."""
    return float(answers.survey.design.raw_bound(answers.n_reports).value) ** -2


def _shares(answers: RawAnswers) -> Floats | None:
    """The shares of all values behind the projected answers; None if they are not known."""
    if not isinstance(answers.population, Population):
        return np.asarray(answers.population)
    design = answers.survey.design
    if answers.counts is None or design.workload.n_values is None:
        return None
    projected = design.read(answers.counts, answers.n_reports).projected
    if not len(projected.support):
        return None
    shares = np.zeros(design.workload.n_values)
    shares[projected.support] = projected.weights
    return np.asarray(shares / shares.sum())


def arms_of(answers: RawAnswers, chosen: Chosen, level: float, population: Population) -> Arms:
    """The compared answers of one estimate; variances that reports do not tell are those for the population."""
    design, parts = answers.survey.design, []
    for places, observed, kept in _observed(answers, chosen):
        known = design.variance(observed.weights, population, answers.n_reports)
        variances = np.asarray(known.value) * answers.n_reports
        error, constant = (np.zeros(len(observed.raw)) for _ in range(2))
        error[kept], constant[kept] = chosen.error[places], chosen.constant[places]
        parts.append((places, arms_of_observed(observed, level, variances, error, constant).taken(kept)))
    return Arms.joined(parts, len(chosen))


def process_of(answers: RawAnswers, chosen: Chosen, miss: float) -> ArmProcess | None:
    """The processes of the compared answers of one estimate; None where its reports have none."""
    parts = []
    for places, observed, kept in _observed(answers, chosen):
        process = arm_process(observed, miss)
        if process is None:
            return None
        parts.append((places, process.taken(kept, chosen.constant[places])))
    return ArmProcess.joined(parts, len(chosen))


def covariance_of(answers: RawAnswers, chosen: Chosen, population: Population) -> Floats | None:
    """The covariance of the compared raw answers for the population; None where that does not tell it."""
    if len(chosen) > MOST_TOGETHER:
        return None
    rows = chosen.rows(len(answers.raw))
    return population_covariance(answers.survey.design, rows, population, answers.n_reports)


def _observed(answers: RawAnswers, chosen: Chosen) -> Iterator[tuple[Indices, Observed, Any]]:
    """Which of the compared answers, as they were observed among others, and where among these."""
    design, n = answers.survey.design, answers.n_reports
    if len(chosen.listed):
        every = Observed(design, answers.raw, n, answers.counts, *answers.survey.answer_range)
        yield chosen.listed, every, chosen.numbers
    if len(chosen.combined):
        weights = chosen.weights
        ends = combined_ranges(design.workload, weights)
        yield (
            chosen.combined,
            Observed(design, weights @ answers.raw, n, answers.counts, *ends, weights),
            np.arange(len(weights)),
        )
