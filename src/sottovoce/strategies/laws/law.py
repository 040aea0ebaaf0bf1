"""What the law of one report says of answers: the types that intervals are computed from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Counts, Floats
from sottovoce.strategies.laws.variance import VarianceCurve

__all__ = ["Evidence", "ReportLaw", "ThreeValues", "fixed"]


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """The counts behind an estimate, from which more is known than from the true answers alone."""

    counts: Counts | None
    n_reports: int
    miss: float
    """One-sided miss of the interval that is asked for."""
    always: bool = False
    """Whether the law is for all looks together."""

    @property
    def limiting(self) -> Counts | None:
        """The counts, if variances may be limited by them: such limits hold at one look, and not at all of them."""
        return None if self.always else self.counts


@final
@dataclass(frozen=True, eq=False)
class ThreeValues:
    """Answers whose X is `base` or `step` below or above it; NaN where it is not.

    Attributes
    ----------
    least, most
        Limits of the chance that X is not `base`.
    miss
        What is left of the one-sided miss once these limits are accounted for.
    """

    step: Floats
    base: Floats
    least: Floats
    most: Floats
    miss: float


@final
@dataclass(frozen=True, eq=False)
class ReportLaw:
    """X of some answers, or combinations of answers.

    Attributes
    ----------
    curve
        n Var of the raw answers at most, around given true answers.
    floor
        The variance of X at least, whatever a person's value is.
    reach
        X is at most so far from its expectation, whatever a person's value is.
    above, below
        X is at most so far above its expectation, or below it; None if not more is known than `reach`.
    bits
        The two numbers that X can be, or NaN where there are more.
    proxy
        tau^2 such that X is sub-Gaussian; None if unknown.
    skew
        A bound on rho/sigma^3 where more is known than `reach` and `proxy` say.
    third
        The mean third absolute moment of X about people's own expectations at most, if given answers are the true ones;
        None if unknown.
    miss
        What is left of the one-sided miss.
    anywhere
        n Var at most around given true answers and wherever the true ones are; None if `curve` is that.
    counted
        The number of reports behind each count of bits; None: all reports.
    note
        What else there is to say about the interval.
    steady
        Whether X of a report stays what it is as further reports come in; not so where it counts by their number.
    expected
        The expected part of all reports that is behind each count of bits.
    listed
        X of every answer (rows) in every report that is counted by itself (columns), where these are few; None else.
    three
        Answers whose X can be three numbers, for people drawn from a population; None if there are none.
    """

    curve: Callable[[Floats], VarianceCurve]
    floor: Floats
    reach: Floats
    bits: tuple[Floats, Floats] | None
    proxy: Any
    skew: Any
    miss: float
    anywhere: Callable[[Floats], VarianceCurve] | None = None
    counted: NDArray[np.int64] | None = None
    note: str = ""
    steady: bool = True
    expected: Any = 1.0
    listed: Floats | None = None
    above: Floats | None = None
    below: Floats | None = None
    third: Callable[[Floats], Floats] | None = None
    three: ThreeValues | None = None


def fixed(curve: VarianceCurve) -> Callable[[Floats], VarianceCurve]:
    """A curve that does not depend on where the true answers are."""
    return lambda _: curve
