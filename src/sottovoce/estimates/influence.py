"""How far malicious devices can move an estimate, for every kind of survey.

Of n reports k come from malicious devices, which may send any report that decodes. Compare the estimate with the one
from honest reports in place of the k. No raw answer differs by more than k/n times its spread: the largest distance
that two reports can put between it (proof in `docs/contributors/theory/influence.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.core.limits import check_integer
from sottovoce.core.words import plural
from sottovoce.estimates.asked import AskedSurvey
from sottovoce.strategies.laws.spread import Floats

__all__ = ["Influence", "hostile_count", "influence"]

_MOST_REPORTS = 2**63
_ROUNDING = 1e-9
"""A fraction of n within this distance of a whole number counts as that number."""


@final
@dataclass(frozen=True, eq=False)
class Influence:
    """The largest effect of `hostile` devices among `n_reports` on the answers.

    Attributes
    ----------
    hostile, fraction
        The number of malicious devices, and that number divided by `n_reports`.
    per_answer
        How far each raw answer can be moved.
    largest
        The maximum of these.
    l2
        How far all raw answers together can be moved, in L2; an upper bound unless `l2_exact`.
    projected_l2
        How far all projected answers together can be moved, in L2, up to the projection's certificate; an upper bound.
    exact
        Whether `per_answer` is attained; otherwise it is an upper bound.
    statement
        The result in a sentence.
    """

    n_reports: int
    hostile: int
    fraction: float
    per_answer: Floats = field(repr=False)
    largest: float
    l2: float
    projected_l2: float
    exact: bool
    l2_exact: bool
    statement: str

    def to_dict(self) -> dict[str, Any]:
        """All fields but `per_answer`, as plain values."""
        return {
            "n_reports": self.n_reports,
            "hostile": self.hostile,
            "fraction": self.fraction,
            "largest": self.largest,
            "l2": self.l2,
            "projected_l2": self.projected_l2,
            "exact": self.exact,
            "statement": self.statement,
        }

    def __str__(self) -> str:
        return self.statement


def influence(survey: AskedSurvey, n_reports: int, hostile: int | float = 0.01) -> Influence:
    """How far `hostile` of `n_reports` devices can move every answer of a survey.

    Parameters
    ----------
    hostile
        The number of devices (an int), or their fraction of the reports (a float between 0 and 1, rounded up).

    Raises
    ------
    SurveyError
        For an impossible number of devices.

    Examples
    --------
    >>> import sottovoce as sv
    >>> survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    >>> print(influence(survey, 1_000, hostile=2))
    2 malicious devices among 1,000 reports can move an answer by up to 0.00433
    >>> influence(survey, 1_000, hostile=0.05).hostile
    50
    """
    n = check_integer("n_reports", n_reports, 1, _MOST_REPORTS)
    k = hostile_count(hostile, n)
    spread = survey.design.spread
    share = k / n
    per_answer = spread.per_answer * share
    per_answer.flags.writeable = False
    largest = float(per_answer.max())
    return Influence(
        n,
        k,
        share,
        per_answer,
        largest,
        share * spread.l2,
        min(share * spread.projected, survey.question.workload.diameter),
        spread.exact,
        spread.l2_exact,
        _sentence(k, n, _movable(survey, per_answer), spread.exact, spread.approximate),
    )


def hostile_count(hostile: object, n_reports: int) -> int:
    """The number of malicious devices, from a count or a fraction of the reports.

    Examples
    --------
    >>> hostile_count(3, 1000), hostile_count(0.07, 100), hostile_count(0.001, 150)
    (3, 7, 1)
    """
    remedy = "give a number of devices, such as 10, or a fraction of the reports between 0 and 1, such as 0.01"
    if isinstance(hostile, bool) or not isinstance(hostile, Real):
        raise SurveyError(f"hostile has type {type(hostile).__name__}: {remedy}").at("hostile")
    if isinstance(hostile, Integral):
        return check_integer("hostile", hostile, 1, n_reports)
    share = float(hostile)
    if not 0 < share < 1:
        raise SurveyError(f"hostile is {share:g}: {remedy}").at("hostile")
    return max(1, math.ceil(share * n_reports - _ROUNDING))


def _movable(survey: AskedSurvey, per_answer: Floats) -> float | None:
    """How far an answer can be moved within its range; None if from one end of it to the other."""
    least, most = survey.answer_range
    span = np.broadcast_to(np.asarray(most) - np.asarray(least), per_answer.shape)
    return None if (per_answer >= span).any() else float(per_answer.max())


def _sentence(k: int, n: int, largest: float | None, exact: bool, approximate: str) -> str:
    devices = "1 malicious device" if k == 1 else f"{k:,} malicious devices"
    if largest is None:
        return f"{devices} among {plural(n, 'report')} {'can' if exact else 'may'} move an answer to any value"
    moved = f"{_rounded_up(largest):.3g}"
    if exact:
        return f"{devices} among {plural(n, 'report')} can move an answer by up to {moved}"
    if approximate:
        return f"{devices} among {plural(n, 'report')} move no answer by much more than {moved}, {approximate}"
    return f"{devices} among {plural(n, 'report')} cannot move any answer by more than {moved}"


def _rounded_up(number: float) -> float:
    """Round up to three digits, so that the statement stays true."""
    if number == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(number)) - 2)
    return math.ceil(number / unit * (1 - 1e-12)) * unit
