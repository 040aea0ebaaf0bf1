"""Distribution estimation (Alg. 5): counts, unbiased estimate, projection on the simplex."""

from __future__ import annotations

from sottovoce.aggregate import Aggregate
from sottovoce.errors import NoReportsError
from sottovoce.estimate import Estimate
from sottovoce.projections.simplex import project_simplex
from sottovoce.theory.bounds import projected_distribution_bound

__all__ = ["estimate"]


def estimate(aggregate: Aggregate) -> Estimate:
    """Raw and projected frequencies of every value.

    The raw estimate is unbiased; the projected one is never farther from any distribution, so it is
    always computed, and both are returned.
    """
    n, survey = aggregate.n_reports, aggregate.survey
    if n == 0:
        raise NoReportsError("there is nothing to estimate from: the aggregate holds no report yet")
    mechanism = survey.mechanism
    raw = mechanism.estimate(aggregate.counts, n)
    projected = project_simplex(raw)
    bound = projected_distribution_bound(
        mechanism.domain_size, mechanism.proxy, mechanism.worst_total_variance, n
    )
    return Estimate(survey, n, raw, projected.values, projected.gap, bound)
