"""What a strategy is: a way to get a workload's answers from one report a person, A p = shift + R V p.

V maps a distribution to *coordinates*. A mechanism gives an unbiased estimate of V p whose noise is the same, or nearly
the same, in all directions; answers are R times that. Projecting on the hull of V's columns, in V's space, is then
generalised least squares: the nearest distribution by the noise's own measure.
"""

from __future__ import annotations

import abc
import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import SurveyError
from sottovoce.limits import MAX_REPORT_BYTES
from sottovoce.mechanisms.base import Counts, Floats, Mechanism
from sottovoce.projections.operator import Operator
from sottovoce.simulation import AnyMechanism
from sottovoce.theory.bounds import BY_PROJECTION, BY_VARIANCE, Bound
from sottovoce.theory.offline_bounds import besides
from sottovoce.workloads import Workload

__all__ = ["Ends", "Projection", "Setting", "Statement", "Strategy"]

Ends = float | Floats


@dataclass(frozen=True)
class Setting:
    """What a strategy is made for."""

    workload: Workload
    epsilon: float
    delta: float
    users: int
    mechanism: str = "auto"
    max_report_bytes: int = MAX_REPORT_BYTES


class Statement(NamedTuple):
    """What a survey states of a strategy: all that it is restored from."""

    workload: Workload
    epsilon: float
    delta: float
    mechanism: object
    parameters: dict[str, Any]
    attachment: bytes

    def check_mechanism(self, expected: type[Mechanism]) -> None:
        """Raise `SurveyError` unless it states this mechanism, with exactly its own parameters, and delta 0."""
        names = expected.parameter_names()
        if self.mechanism != expected.name or sorted(self.parameters) != sorted(names) or self.delta != 0:
            raise SurveyError(
                f"this strategy goes with mechanism {expected.name!r}, with parameters {sorted(names) or 'none'} and "
                "delta 0; the survey states something else"
            )


class Projection(NamedTuple):
    """Projected answers, the certificate in the space they were projected in, and the distribution behind them."""

    values: Floats
    gap: float
    support: NDArray[np.int64]
    weights: Floats


class Strategy(abc.ABC):
    """One way to answer one workload. Frozen; both sides derive everything from its statement."""

    name: ClassVar[str]
    """Name in a survey's JSON and on the command line."""
    summary: ClassVar[str]
    """What it does, in a few words."""

    attached: ClassVar[bool] = False
    """Whether there is an `attachment`."""

    workload: Workload
    mechanism: AnyMechanism

    @classmethod
    @abc.abstractmethod
    def make(cls, setting: Setting) -> Self:
        """The strategy with its own parameters chosen for the least error; raises `SurveyError` if it cannot serve."""

    @classmethod
    @abc.abstractmethod
    def restore(cls, stated: Statement) -> Self:
        """The strategy that a survey states; raises `SurveyError` unless all of it is in order."""

    # --- the device's side ------------------------------------------------------------------

    @abc.abstractmethod
    def inputs(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """What the mechanism randomizes, one row a person, for people whose values have these numbers."""

    # --- the analyst's side -----------------------------------------------------------------

    @property
    @abc.abstractmethod
    def coordinates(self) -> Operator:
        """V, as an operator."""

    @abc.abstractmethod
    def raw_coordinates(self, counts: Counts, n_reports: int) -> Floats:
        """An unbiased estimate of V p."""

    @abc.abstractmethod
    def answers(self, coordinates: Floats) -> Floats:
        """The answers that belong to coordinates: shift + R v."""

    # --- what is known of the error ---------------------------------------------------------

    @abc.abstractmethod
    def standard_errors(self, values: Floats, n_reports: int) -> Floats:
        """Standard error of every raw answer, or what it stays below for all populations with these answers."""

    @property
    @abc.abstractmethod
    def proxy(self) -> Ends | None:
        """tau^2 such that a raw answer is sub-Gaussian with proxy tau^2/n: for all, or one each; None if not known."""

    @property
    @abc.abstractmethod
    def worst(self) -> float:
        """The largest sum over the answers of one report's variance, for any one value: what strategies compete in.

        Noise alone: for a population of one value there is no sampling.
        """

    @property
    @abc.abstractmethod
    def total(self) -> float:
        """The same, on average over all values."""

    @property
    @abc.abstractmethod
    def column_proxy(self) -> float:
        """tau^2 such that <estimate of V p - V p, v_j> is sub-Gaussian with proxy tau^2/n, for every column v_j."""

    @property
    @abc.abstractmethod
    def coordinate_variance(self) -> float:
        """N times what the trace of the covariance of `raw_coordinates` stays below, sampling of people included."""

    @property
    @abc.abstractmethod
    def operator_norm(self) -> float:
        """The largest factor by which R stretches a vector of coordinates, or a bound on it."""

    def sharing_factor(self, n_reports: int) -> float:
        """What people sharing public randomness can multiply the variance by; 1 where nobody shares any."""
        return 1.0

    @property
    def bias_bound(self) -> Ends:
        """The most that the expectation of a raw answer can be off: for all, or one each; 0 for most strategies."""
        return 0.0

    @property
    def coordinate_bias(self) -> float:
        """The most that the expectation of `raw_coordinates` can be off, in L2."""
        return 0.0

    # --- identity ---------------------------------------------------------------------------

    @final
    def to_statement(self) -> dict[str, Any]:
        """The strategy's own part of a survey's JSON; the workload and the mechanism stand beside it.

        What is too long for that stands there by its digest.
        """
        return {"name": self.name, **({} if self.digest is None else {"digest": self.digest})}

    @property
    def attachment(self) -> bytes | None:
        """What both sides need besides the survey's JSON, which names it by its digest; None for most."""
        return None

    @property
    def digest(self) -> str | None:
        """SHA-256 of what the attachment holds, in hexadecimal, however it was packed."""
        return None

    # --- what follows from it ---------------------------------------------------------------

    def project(self, raw: Floats) -> Projection:
        """The answers of the distribution whose coordinates are nearest to the raw ones."""
        from sottovoce.projections.hull import project_hull

        found = project_hull(self.coordinates, raw)
        people = np.zeros(self.workload.domain.size)
        people[found.support] = found.weights
        return Projection(self.workload.matvec(people), found.gap, found.support, found.weights)

    @final
    def expected_error(self, users: int) -> float:
        """The L2 error of all answers to expect with so many people: what strategies are compared by.

        The root mean square of the raw answers' noise for the worst value, or, where that is smaller, what the error
        after projection provably stays below.

        Examples
        --------
        >>> from sottovoce.strategies.haar import HaarStrategy
        >>> from sottovoce.workloads import Prefix
        >>> round(HaarStrategy.best(Prefix(128), 1.0).expected_error(100_000), 3)
        0.163
        """
        raw = math.sqrt(max(0.0, self.worst) * self.sharing_factor(users) / users)
        return min(raw, self.bound(users).value)

    def bound(self, n_reports: int) -> Bound:
        """What the expected L2 error of the projected answers stays below, for every distribution.

        With z the error of the raw coordinates and x the projected distribution, ||V x - V p||^2 is at most ||z||^2
        (a projection on a convex set that holds V p) and at most max_j <z, v_j> - min_j <z, v_j> (the angle at a
        projection is obtuse), whose expectation is at most 2 sqrt(2 tau^2 log J/n). R stretches neither by more than
        its norm, and Jensen takes the roots. What does not average out adds to both, as in `offline_bound`.
        """
        J = self.workload.domain.size
        sharing = self.sharing_factor(n_reports)
        bias = self.coordinate_bias
        more = besides(sharing, bias)
        spread = math.sqrt(sharing * max(0.0, self.coordinate_variance) / n_reports)
        hull = math.sqrt(2 * math.sqrt(2 * sharing * self.column_proxy * math.log(J) / n_reports))
        diameter = 2 * self.workload.radius
        value = self.operator_norm * (min(spread, hull) + bias)
        if value >= diameter:
            return Bound(diameter, "no two sets of answers are farther apart: twice the radius")
        if hull < spread:
            return Bound(value, f"{BY_PROJECTION} the hull: |R| sqrt(2 tau sqrt(2 log J / n)){more}")
        return Bound(value, f"{BY_VARIANCE} of the coordinates: |R| sqrt(V / n){more}")
