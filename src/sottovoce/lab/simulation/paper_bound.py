"""What the paper prints for a survey's question: its bound on the error of its own protocol for the same problem."""

from __future__ import annotations

import math
from typing import Any, Final

from sottovoce.questions.shares import Shares
from sottovoce.surveys.terms import Terms
from sottovoce.theory.bounds import Bound, theorem_4_2
from sottovoce.theory.offline_bounds import theorem_3_2, theorem_3_4

__all__ = ["paper_bound"]

_FEWEST: Final = 120
"""People from whom on Theorem 3.4 is stated."""


def paper_bound(survey: Terms, users: int) -> Bound | None:
    """The bound as printed; None where the theorem is not stated for so few people.

    Theorem 4.2 for shares; otherwise Theorem 3.2 where there is a delta, and else Theorem 3.4. For vectors, which have
    no finite domain, it is the second term of these.

    Examples
    --------
    >>> from sottovoce.surveys.survey import Survey
    >>> paper_bound(Survey.distribution(1024, 1.0), 20_000).statement
    'Bassily 2019, Theorem 4.2, as printed'
    """
    asked, epsilon = survey.question.workload, survey.epsilon
    if isinstance(survey.question, Shares):
        return theorem_4_2(survey.n_answers, epsilon, users)
    # Without a finite domain the term with log J is no bound.
    values: Any = math.inf if asked.n_values is None else asked.n_values
    if survey.delta > 0:
        return theorem_3_2(asked.n_queries, values, asked.radius, epsilon, survey.delta, users)
    return theorem_3_4(asked.n_queries, values, asked.radius, epsilon, users) if users >= _FEWEST else None
