"""The variance of a design's answers: types, and algebra shared by all strategies.

For one row w of weights, X(z) is the estimate from the report z alone, and h_u = sum_i w_i A_iu is the true answer of
value u.
With M(u) = E[X(z)^2 | u], and people drawn independently from shares p,

    n Var = sum_u p_u M(u) - (sum_u p_u h_u)^2.

Where only the answer y = sum_u p_u h_u is known, the largest variance is env(y) - y^2, env being the upper concave
envelope of the points (h_u, M(u)); where nothing is known, the largest of env(t) - t^2 over all t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Self, final

import numpy as np

from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms.base import Floats
from sottovoce.workloads import Identity, Workload
from sottovoce.workloads.base import Body

__all__ = [
    "Parabola",
    "PerAnswer",
    "Population",
    "Status",
    "Variance",
    "VarianceCurve",
    "checked_weights",
    "listed_variance",
    "tangent",
]

PerAnswer = float | Floats
"""One number for all answers, or one each."""

Status = Literal["exact", "bound", "within"]
"""Exact; an upper bound; or within a stated truncation error."""

_ROUNDS: Final = 200
"""Maximum number of steps to find the segment of an envelope; about ten suffice."""


class Variance(NamedTuple):
    """One or several variances, and how exact they are.

    Attributes
    ----------
    value
        One number, or one for each answer or row of weights.
    note
        Which bound it is, or the truncation error; empty if exact.
    """

    value: Any
    status: Status
    note: str = ""


@final
@dataclass(frozen=True, eq=False)
class Population:
    """A population: the shares of all values, or only the true answers, or unknown.

    Examples
    --------
    >>> from sottovoce.workloads import Prefix
    >>> Population.of([0.5, 0.25, 0.25], Prefix(3)).answers
    array([0.5 , 0.75, 1.  ])
    >>> Population.answering([0.5, 0.75, 1.0]).shares is None
    True
    """

    shares: Floats | None = None
    answers: Floats | None = None

    @classmethod
    def answering(cls, answers: Any) -> Self:
        """A population known by its true answers alone, one per query."""
        return cls(None, np.asarray(answers, dtype=np.float64))

    @classmethod
    def of(cls, people: Any, workload: Workload | Body) -> Population:
        """From None (unknown), shares of all values, or a `Population`; raises `SurveyError` if it does not fit."""
        if people is None:
            return _ANYBODY
        if isinstance(people, Population):
            if people.answers is not None and people.answers.shape != (workload.n_queries,):
                raise SurveyError(f"the population must have {workload.n_queries:,} answers, one per query").at(
                    "people"
                )
            if people.shares is None:
                # For the identity the answers are the shares.
                are_shares = (
                    isinstance(workload, Identity) and people.answers is not None and _are_shares(people.answers)
                )
                return cls(people.answers, people.answers) if are_shares else people
            if people.answers is not None:
                return people
            people = people.shares
        if isinstance(workload, Body):
            raise SurveyError(
                "these values cannot be listed, so they have no shares; give Population.answering(answers) instead"
            ).at("people")
        shares = _checked_shares(people, workload.n_values)
        return cls(shares, workload.matvec(shares))

    @property
    def known(self) -> bool:
        """Whether anything is known."""
        return self.answers is not None


_ANYBODY: Final = Population()


def _checked_shares(people: Any, n_values: int) -> Floats:
    try:
        shares = np.asarray(people, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.shape != (n_values,):
        raise SurveyError(f"the population must be {n_values:,} shares, one per value").at("people")
    if not _are_shares(shares):
        raise SurveyError(
            "the population's shares must not be negative and must sum to one; divide them by their sum"
        ).at("people")
    return shares


def _are_shares(numbers: Floats) -> bool:
    return bool((numbers >= 0).all()) and abs(float(numbers.sum()) - 1) <= 1e-6


def checked_weights(weights: Any, n_queries: int) -> Floats:
    """Return weights of the answers, or rows of them; raises `SurveyError` unless finite and one per answer."""
    try:
        rows = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim not in (1, 2) or rows.shape[-1] != n_queries or not np.isfinite(rows).all():
        raise SurveyError(f"weights must be {n_queries:,} finite numbers, one per answer, or rows of these").at(
            "weights"
        )
    return rows


class VarianceCurve(NamedTuple):
    """An upper bound on n Var as a function of the true answer: constant + linear d + square d^2, d = y - centre.

    square is negative. Around a centre, since answers can be far from zero and close together.
    """

    constant: Any
    linear: Any
    square: Any
    centre: Any = 0.0

    def at(self, answers: Floats) -> Floats:
        """Its value for these answers, not below 0."""
        away = answers - self.centre
        return np.asarray(np.maximum(0.0, self.constant + away * (self.linear + away * self.square)))

    @property
    def peak(self) -> Floats:
        """The answers for which it is largest."""
        return np.asarray(self.centre - np.asarray(self.linear) / (2 * np.asarray(self.square)))


@final
@dataclass(frozen=True, eq=False)
class Parabola:
    """Rows of weights for which M depends on a value u only through d_u = h_u - centre.

    n Var = fixed + linear E d + slope E d^2 - (E d)^2, the expectations over people. Every field is one number, or one
    for each row.

    Attributes
    ----------
    low, high
        Limits of the d_u.
    attained
        Whether some values lie at `low` and at `high`.
    two_valued
        Whether all values lie at `low` or at `high`: E d^2 then follows from E d.
    """

    centre: Any
    fixed: Any
    linear: Any
    slope: Any
    low: Any
    high: Any
    attained: bool
    two_valued: Any = False

    def of_moments(self, answers: Floats, squares: Floats) -> Floats:
        """n Var where the true answers and E d^2 are known; exact."""
        mean = answers - self.centre
        return np.asarray(np.maximum(0.0, self.fixed + self.linear * mean + self.slope * squares - mean**2))

    def of_answers(self, answers: Floats) -> tuple[Floats, Status]:
        """The largest n Var where only the true answers are known.

        E d^2 is at most (low + high) E d - low high, attained by people at both ends, and at least (E d)^2. Impossible
        answers are clipped to the limits.
        """
        mean = np.clip(answers - self.centre, self.low, self.high)
        return self.curve.at(mean + self.centre), self._status

    @property
    def _spread_out(self) -> Any:
        """Whether E d^2 is largest, or known to be, with people at both ends."""
        return (np.asarray(self.slope) > 0) | np.asarray(self.two_valued)

    @property
    def curve(self) -> VarianceCurve:
        """`of_answers` as a polynomial of the answer."""
        ends = self.low * self.high
        constant = self.fixed - np.where(self._spread_out, self.slope * ends, 0.0)
        linear = self.linear + np.where(self._spread_out, self.slope * (self.low + self.high), 0.0)
        square = np.where(self._spread_out, -1.0, np.asarray(self.slope) - 1.0)
        return VarianceCurve(constant, linear, square, self.centre)

    @property
    def floor(self) -> Floats:
        """The least variance of one person's report, whatever the person's value: sampling of people not included."""
        bend = np.asarray(self.slope) - 1.0
        with np.errstate(divide="ignore", invalid="ignore"):
            lowest = np.clip(np.nan_to_num(-self.linear / (2 * bend)), self.low, self.high)
        places = np.broadcast_arrays(
            self.low, self.high, np.where((bend > 0) & ~np.asarray(self.two_valued), lowest, self.low)
        )
        least = np.min([self.fixed + d * (self.linear + d * bend) for d in places], axis=0)
        return np.asarray(np.maximum(0.0, least))

    def worst(self) -> tuple[Floats, Status]:
        """The largest n Var over all populations: at the peak of `of_answers`, or at the nearest limit."""
        rising = self._spread_out
        tilt = np.where(rising, self.linear + self.slope * (self.low + self.high), self.linear)
        bend = np.where(rising, 1.0, 1.0 - np.asarray(self.slope))
        return self.of_answers(np.asarray(self.centre + tilt / (2 * bend)))

    @property
    def _status(self) -> Status:
        known = (np.asarray(self.slope) == 0) | np.asarray(self.two_valued)
        attained = known | (self.attained & (np.asarray(self.slope) > 0))
        return "exact" if bool(np.all(attained)) else "bound"


def listed_variance(values: Floats, moments: Floats, answers: Floats | None) -> Floats:
    """The largest n Var for rows whose h and M are listed; one number per row.

    Parameters
    ----------
    values, moments
        h and M, one row for each row of weights and one column per value.
    answers
        The true answers, one per row; None if unknown.

    Examples
    --------
    Three values that answer 0, 1 and 2: worst where half of the people have the first, half the last.

    >>> h, M = np.array([[0.0, 1.0, 2.0]]), np.array([[1.0, 2.0, 5.0]])
    >>> listed_variance(h, M, None)
    array([2.])
    """
    level, slope, target = tangent(values, moments, answers)
    return np.asarray(np.maximum(0.0, level + slope * target - target**2))


def tangent(values: Floats, moments: Floats, answers: Floats | None) -> tuple[Floats, Floats, Floats]:
    """The tangent of every row's envelope at its answer, or where env(t) - t^2 is largest: level, slope, and place.

    A tangent is above the envelope everywhere: env(t) <= level + slope t.
    """
    # Among equal values take the largest moment: the envelope begins and ends there.
    left, right = _end(values, moments, -1), _end(values, moments, 1)
    rows = np.arange(len(values))
    for _ in range(_ROUNDS):
        first, last = values[rows, left], values[rows, right]
        rise = moments[rows, right] - moments[rows, left]
        slope = np.divide(rise, last - first, out=np.zeros(len(rows)), where=last > first)
        above = moments - slope[:, None] * values
        top = above.argmax(axis=1)
        peak, level = above[rows, top], above[rows, left]
        target = np.clip(slope / 2 if answers is None else answers, values.min(axis=1), values.max(axis=1))
        moved = (peak - level > 1e-12 * (1 + np.abs(level))) & (last > first)
        if not moved.any():
            break
        beyond = values[rows, top] <= target
        left, right = np.where(moved & beyond, top, left), np.where(moved & ~beyond, top, right)
    # The tangent at the highest point is above the envelope, even if the search was cut off.
    return np.asarray(peak), np.asarray(slope), np.asarray(np.clip(target, first, last))


def _end(values: Floats, moments: Floats, side: int) -> Any:
    """The value of the largest (or least) h of every row, of the largest M among equals."""
    signed = side * values
    ends = signed == signed.max(axis=1, keepdims=True)
    return np.where(ends, moments, -np.inf).argmax(axis=1)
