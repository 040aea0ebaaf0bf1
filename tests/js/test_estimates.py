"""Reports made in JavaScript, decoded and estimated in Python, for every kind of survey and every mechanism.

Tolerance: a raw answer is a mean of n independent terms, one a report, which differ by at most its spread b between
any two reports and have a mean variance of at most s^2 = n (standard error)^2: that one counts the sampling of people
too, who are fixed here. By Bernstein's inequality it is farther than t from its mean with a chance of at most
2 exp(-n t^2 / (2 s^2 + 2 b t/3)). t is such that all answers of a survey together miss with a chance below 1e-8; of
fewer than thirty surveys one does with a chance below 3e-7. The codebook's mean is the truth but for 3e-4 of the
radius, and but for sharing rotations, which its standard errors count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from js.bridge import Bridge
from js.surveys import LARGER, PEOPLE, domain_of, larger, last_value
from sottovoce.theory.influence import spread

ALPHA = 1e-8
BIAS = 3e-4
ROUNDING = 1e-9

Floats = NDArray[np.float64]


def truth(survey: Any, values: list[Any]) -> Floats:
    """What the survey asks, for people with these values."""
    if survey.kind == "mean":
        return np.mean(values, axis=0)
    numbers = domain_of(survey).indices(values)
    if survey.kind == "queries":
        return np.asarray(survey.workload.columns(numbers).mean(axis=0))
    if survey.kind == "distribution":
        return np.bincount(numbers, minlength=survey.n_answers) / len(values)
    inputs = survey.inputs(survey.survey.domain.split(numbers))
    if survey.kind == "adaptive_question":
        return np.atleast_1d(inputs.mean(axis=0))
    return np.bincount(inputs, minlength=survey.n_answers) / len(values)


def tolerance(survey: Any, answers: Floats, n: int) -> Floats:
    """t above, one an answer."""
    log = np.log(2 * len(answers) / ALPHA)
    b = spread(survey).per_answer
    variance = n * survey.standard_errors(answers, n) ** 2
    half = b * log / 3
    radius = getattr(survey.mechanism, "radius", 0.0) if survey.mechanism.name == "codebook" else 0.0
    return np.asarray((half + np.sqrt(half**2 + 2 * n * variance * log)) / n + BIAS * radius + ROUNDING)


@pytest.mark.parametrize("name", LARGER)
def test_estimates_are_near_the_truth(client: Bridge, name: str) -> None:
    survey, values = larger(name)
    reports = client.reports(survey, values)
    assert len(reports) == PEOPLE
    estimate = survey.estimate(reports)
    answers = truth(survey, values)
    allowed = tolerance(survey, answers, PEOPLE)
    assert (np.abs(estimate.raw - answers) <= allowed).all()
    # Power: reports of people who all have the rarest value are not taken for reports of these people.
    alike = survey.estimate(client.reports(survey, [last_value(survey)] * PEOPLE))
    assert (np.abs(alike.raw - answers) > allowed).any()
