"""The demo's second part: a hundred questions at once, answered by one report per person."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.estimate import Estimate
from sottovoce.questions.queries import Queries
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix

__all__ = ["AGES", "AgeQuantile", "Ages", "read_ages", "state_ages", "true_ages"]

AGES = range(100)
EPSILON = 1.0
PEOPLE = 1_000_000
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True)
class AgeQuantile:
    """The age below or at which a share of the people are: in truth, and by the estimate."""

    share: float
    truth: int
    estimate: int


@dataclass(frozen=True)
class Ages:
    """The estimates of all hundred answers, beside the truth."""

    people: int
    epsilon: float
    n_queries: int
    mechanism: str
    report_bytes: int
    l2_raw: float
    l2_projected: float
    l2_bound: float
    gap: float
    support: int
    quantiles: tuple[AgeQuantile, ...]
    truth: tuple[float, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without the hundred answers."""
        return {key: value for key, value in asdict(self).items() if key not in ("truth", "values", "low", "high")}


def true_ages() -> NDArray[np.float64]:
    """An invented population: a bulge at thirty, another at fifty-five, few beyond ninety."""
    age = np.arange(len(AGES))
    weights = np.exp(-(((age - 30) / 14) ** 2)) + 0.8 * np.exp(-(((age - 55) / 13) ** 2)) + 0.15 * (age < 85)
    return np.asarray(weights / weights.sum())


def state_ages() -> Survey:
    """How many people are at most 0, 1, .., 99 years old?"""
    return Survey(Queries(Prefix(AGES)), epsilon=EPSILON, strategy="haar", people=PEOPLE, title="How old are you?")


def read_ages(survey: Survey, estimate: Estimate) -> Ages:
    """What the estimate says, beside the truth."""
    cdf = survey.design.workload.matvec(true_ages())
    return Ages(
        people=estimate.n_reports,
        epsilon=survey.epsilon,
        n_queries=survey.n_answers,
        mechanism=survey.mechanism.name,
        report_bytes=survey.mechanism.report_bytes,
        l2_raw=float(np.linalg.norm(estimate.raw - cdf)),
        l2_projected=float(np.linalg.norm(estimate.values - cdf)),
        l2_bound=estimate.bound.value,
        gap=estimate.gap,
        support=0 if estimate.distribution is None else len(estimate.distribution.support),
        quantiles=tuple(
            AgeQuantile(share, int(np.searchsorted(cdf, share)), int(np.searchsorted(estimate.values, share)))
            for share in QUANTILES
        ),
        truth=tuple(cdf.tolist()),
        values=tuple(estimate.shown().tolist()),
        low=tuple(estimate.interval().low.tolist()),
        high=tuple(estimate.interval().high.tolist()),
    )
