"""Reports made in JavaScript, decoded and estimated in Python, for every kind of survey and every mechanism.

Tolerance: a raw answer is a mean of n independent terms, one a report, which differ by at most its spread b between
any two reports and have a mean variance of at most s^2 = n (standard error)^2: that one counts the sampling of people
too, who are fixed here. By Bernstein's inequality it is farther than t from its mean with a chance of at most
2 exp(-n t^2 / (2 s^2 + 2 b t/3)). t is such that all answers of a survey together miss with a chance below 1e-8; of
fewer than thirty surveys one does with a chance below 3e-7. The codebook's mean is the truth but for
`ROTATION_BIAS` of the radius, and but for sharing rotations, which its standard errors count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from js.bridge import Bridge
from js.surveys import LARGER, PEOPLE, larger, last_value
from sottovoce.mechanisms.codebook import ROTATION_BIAS
from sottovoce.strategies.laws.variance import Population

ALPHA = 1e-8
ROUNDING = 1e-9

Floats = NDArray[np.float64]


def truth(survey: Any, values: list[Any]) -> Floats:
    """What the survey asks, for people with these values."""
    if survey.kind in ("records", "relation", "choices"):
        inputs = survey.question.people(values).between(0, len(values))
        return np.asarray(survey.question.workload.columns(inputs).mean(axis=0))
    if survey.kind == "number":
        return truth_of_numbers(survey.question, np.array(values))
    if survey.domain is None:
        return np.asarray(np.mean(values, axis=0))
    held = survey.domain.indices(values)
    if survey.seat is not None:
        held = survey.seat.inputs(survey.question, survey.domain.split(held))
    return np.asarray(survey.question.workload.columns(held).mean(axis=0))


def truth_of_numbers(question: Any, values: Floats) -> Floats:
    """Of rounded numbers in place of their squares, as the workload has it."""
    if question.answers_are_shares:
        return np.array([np.mean(values <= end) for end in question.ends[1:]])
    return np.array([np.interp(values, question.grid.values, row).mean() for row in question.workload.dense()])


def tolerance(survey: Any, answers: Floats, n: int) -> Floats:
    """t above, one an answer."""
    log = np.log(2 * len(answers) / ALPHA)
    b = survey.design.spread.per_answer
    variance = n * survey.design.variance(None, Population(answers=answers), n).value
    half = b * log / 3
    radius = survey.mechanism.radius if survey.mechanism.name == "codebook" else 0.0
    return np.asarray((half + np.sqrt(half**2 + 2 * n * variance * log)) / n + ROTATION_BIAS * radius + ROUNDING)


# Words are not listed: see `test_words`.
@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in LARGER if name != "words"])
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
