"""Table 1, third row: one round for each person, against analysts fixed beforehand and one who overfits."""

from __future__ import annotations

import math
from typing import cast

from evidence.reproduce.records import Case, Measured, Progress
from sottovoce.lab.simulation.adaptive_error import AdaptiveErrors
from sottovoce.lab.simulation.adaptive_error import measure_adaptive as measure_session
from sottovoce.lab.simulation.repeats import check_repeats
from sottovoce.theory.adaptive_bounds import adaptive_bound
from sottovoce.theory.bounds import debias

__all__ = ["measure_adaptive"]


def measure_adaptive(case: Case, repeats: int, seed: int, progress: Progress | None = None) -> Measured:
    """The largest error over all rounds of sessions in which every true answer is 0.

    Examples
    --------
    >>> found = measure_adaptive(Case("adaptive", "users", "overfit", 20_000, 8, 1020, 1.0), 3, seed=1)
    >>> found.error < found.bound, found.previous
    (True, None)
    """
    found = measure_session(
        case.queries,
        case.users,
        case.epsilon,
        case.population,
        repeats=check_repeats(repeats, fewest=2),
        seed=seed,
        progress=progress,
    )
    spread = cast(AdaptiveErrors, found.standard_error)  # there are two repeats or more
    stated = adaptive_bound(case.queries, 1.0, case.epsilon, case.users)
    d, c = case.queries, debias(case.epsilon)
    return Measured(
        case,
        repeats,
        seed,
        found.mean.linf_error,
        spread.linf_error,
        previous=None,
        previous_standard_error=None,
        bound=stated.value,
        bound_printed=found.linf_bound_paper,
        lower_shape=min(math.sqrt(c**2 * d * math.log(d) / case.users), 1.0),
        bound_statement=stated.statement,
    )
