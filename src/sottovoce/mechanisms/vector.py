"""Mechanisms whose value is a vector in a ball: the contract for query sets and means."""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, ClassVar, Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.entries import is_missing
from sottovoce.core.errors import ValueOutsideDomainError
from sottovoce.core.limits import MAX_DIMENSION, as_float, check_delta, check_dimension, check_epsilon, check_radius
from sottovoce.domain.trials import Trial, Trials
from sottovoce.mechanisms.base import Batch, Counts, Floats, InputLength, Mechanism, Report
from sottovoce.mechanisms.reference import DeviceRun, SampledReference
from sottovoce.randomness import Source
from sottovoce.theory.bounds import maximum_of_proxy

__all__ = [
    "Reach",
    "VectorMechanism",
    "VectorReference",
    "VectorTrials",
    "as_floats",
    "as_vector",
    "clip_to_ball",
    "inside_ball",
    "lift",
]

_TINY: Final = 1e-300
"""What a length is taken to be at least, where it is divided by."""

MOST_AXES: Final = 64
"""Axes whose both ends are always run in an audit; of more dimensions, the others are drawn at random."""

MOST_NUMBERS: Final = 2**20
"""Numbers that the vectors at the ends of axes may take together."""

_TYPICAL_PEOPLE: Final = 10_000
"""People that an instance to audit is made for."""


class Reach(NamedTuple):
    """How large the estimate from one report can be: an entry, its length over that, and whether both are attained."""

    entry: float
    length: float
    exact: bool


@final
class VectorTrials(Trials):
    """Corners, the centre, dense and random points of a ball, and vectors that are not in it at all."""

    def __init__(self, dimension: int, radius: float) -> None:
        self.dimension, self.radius = dimension, radius

    def edges(self) -> Iterator[Trial]:
        d, r = self.dimension, self.radius
        rng = np.random.default_rng(0)
        first, dense = np.eye(1, d)[0], np.full(d, 1 / math.sqrt(d))
        most = max(2, min(MOST_AXES, MOST_NUMBERS // d))
        axes = dict.fromkeys([0, d - 1, *range(min(d, most))])
        ends = [sign * r * np.eye(1, d, axis)[0] for axis in axes for sign in (1, -1)]
        inside = [r * dense, -r * dense, 0.0 * first, r / 2 * first, 5e-324 * first]
        random = [r * clip_to_ball(rng.standard_normal(d), 1.0) * share for share in (1.0, 1.0, 0.3)]
        outside = [1e300 * first, np.full(d, 1e200), r * (1 + 1e-12) * dense, np.full(d, np.nan), np.full(d, -np.inf)]
        return map(_named, [*ends, *inside, *random, *outside])

    def random(self, rng: np.random.Generator) -> Trial:
        """One end of a random axis, or a random point, inside the ball or a little outside it."""
        vector = np.zeros(self.dimension)
        if rng.integers(2):
            vector[rng.integers(self.dimension)] = self.radius * (1 - 2 * rng.integers(2))
        else:
            vector = rng.standard_normal(self.dimension)
            vector *= self.radius * 1.1 * rng.random() ** (1 / self.dimension) / np.linalg.norm(vector)
        return _named(vector)

    def apart(self, rng: np.random.Generator) -> list[Trial]:
        """Both ends of the first axis."""
        end = np.eye(1, self.dimension)[0] * self.radius
        return [_named(end), _named(-end)]


def _named(vector: Floats) -> Trial:
    entries = ", ".join(f"{float(entry):.6g}" for entry in vector[:6])
    return Trial(f"the vector ({entries}{', ..' if len(vector) > 6 else ''})", vector)


class VectorReference(SampledReference):
    """The requests and reports of a mechanism for vectors, whose privacy rests on a few integers."""

    noun = "vectors"
    unit = "dimension"

    def __init__(self, dimension: int, radius: float) -> None:
        super().__init__(VectorTrials(dimension, radius), dimension)
        self.dimension, self.radius = dimension, radius

    @abc.abstractmethod
    def wrong_run(self, run: DeviceRun, vector: Floats) -> str:
        """What is wrong with one run, for the vector that the device makes of its input."""

    def inside(self, vector: Floats) -> Floats:
        """What a device must make of any vector, written apart from its code; operations on floats round as there.

        An entry that is not finite counts as zero, and the rest is clipped to the ball.
        """
        finite = np.array([entry if math.isfinite(entry) else 0.0 for entry in np.asarray(vector).tolist()])
        largest = max(float(np.abs(finite).max()), _TINY)
        direction = finite / largest
        limit = self.radius / max(float(np.linalg.norm(direction)), _TINY)
        return finite if largest <= limit else np.asarray(direction * limit)

    def first_wrong(self, runs: Sequence[DeviceRun]) -> str:
        faults = (self.wrong_run(run, self.inside(run.input)) for run in runs)
        return next((f"{run.name}: {words}" for run, words in zip(runs, faults, strict=True) if words), "")


@dataclass(frozen=True)
class VectorMechanism(Mechanism):
    """One local randomizer for a vector of norm at most `radius`, with both its sides.

    Estimates are of the mean of everybody's vectors. Variances are in the units of the vectors squared.
    """

    dimension: int
    radius: float
    epsilon: float
    delta: float

    stated_by_survey: ClassVar[frozenset[str]] = frozenset({"dimension", "radius", "epsilon", "delta", "key"})
    serves: ClassVar[str] = "vectors"
    deployed_size: ClassVar[int] = 16
    largest_dimension: ClassVar[int] = MAX_DIMENSION
    """How many coordinates it can serve."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", check_dimension(self.dimension))
        object.__setattr__(self, "radius", check_radius(self.radius))
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "delta", check_delta(self.delta))
        self._check_parameters()
        self._check_report_size()

    @classmethod
    @abc.abstractmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        """The mechanism with its own parameters chosen for the least error with about `people` people."""

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """The mechanism with the best parameters in `size` dimensions, or as many as it can serve."""
        return cls.best(min(size, cls.largest_dimension), 1.0, epsilon, 0.0, _TYPICAL_PEOPLE)

    @abc.abstractmethod
    def _randomize(self, vector: Floats, source: Source) -> Report:
        """Draw a report for a finite vector inside the ball. Draws must not depend on the vector."""

    @abc.abstractmethod
    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        """Reports of many people (rows) at once, by the same law, for simulation. Vectors are trusted."""

    @abc.abstractmethod
    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """Estimate of the mean vector, unbiased but for `bias_bound`, for vectors of any norm up to the radius."""

    @property
    @abc.abstractmethod
    def noise(self) -> float:
        """n_reports times the variance of a coordinate in which nobody's vector has any component."""

    @property
    @abc.abstractmethod
    def along(self) -> float:
        """n_reports times the second moment of the estimate in the direction of a vector of norm r that all share."""

    @property
    @abc.abstractmethod
    def truncation(self) -> float | None:
        """The share of itself by which a standard error that follows from `noise` and `along` can be off.

        None where it is an upper bound instead.
        """

    @property
    @abc.abstractmethod
    def proxy(self) -> float:
        """tau^2: <raw - mean, a> is sub-Gaussian with proxy tau^2 |a|^2 / n_reports, sampling of people included.

        For people who share no public randomness.
        """

    @property
    @abc.abstractmethod
    def worst_total_variance(self) -> float:
        """An upper bound on n_reports times the trace of the raw estimate's covariance, for all populations.

        For people who share no public randomness; `sharing_factor` times that otherwise.
        """

    @abc.abstractmethod
    def sharing_factor(self, n_reports: int) -> float:
        """What people sharing public randomness can multiply the variance by; 1 where nobody shares any."""

    def expected_maximum(self, directions: int, n_reports: int) -> float:
        """What E max_j <raw - mean, a_j> stays below, for that many vectors a_j of length 1; sampling included.

        By the proxy, for people who share no public randomness.
        """
        return maximum_of_proxy(self.proxy, directions, n_reports)

    @property
    def bias_bound(self) -> float:
        """The most that any coordinate's expectation can be off, however many people report; 0 where it is unbiased.

        Proved; what is only measured is in `measured_bias`.
        """
        return 0.0

    @property
    def two_outcomes(self) -> bool:
        """Whether one report's estimate of a coordinate can be two numbers only."""
        return False

    @property
    def skew(self) -> float | None:
        """A bound on rho/sigma^3 in Berry and Esseen's theorem, for every direction; None where none is known."""
        return None

    @property
    def measured_bias(self) -> float:
        """The most that the expected vector can be off beyond `bias_bound`, in L2; measured, not proved, 0 for most."""
        return 0.0

    @property
    def reach(self) -> Reach | None:
        """How large the estimate from one report can be; None where that depends on public randomness."""
        return None

    @final
    def randomize(self, vector: NDArray[Any], source: Source) -> Report:
        """One device's report.

        A vector outside the ball is clipped to it: a report must leave whatever the value is, and a hostile
        query must not widen it. Only a vector of the wrong shape, which says nothing about the value, raises;
        entries that are not finite count as zero.
        """
        array = as_vector(vector, self.dimension)
        if array is None:
            raise ValueOutsideDomainError(f"the vector must be one-dimensional with {self.dimension} entries").at(
                "vector"
            )
        return self._randomize(inside_ball(array, self.radius), source)

    @property
    def input_length(self) -> InputLength:
        return InputLength("a vector", self.dimension, "coordinates")

    @property
    @final
    def simulation_words(self) -> int:
        """Numbers held for one simulated report."""
        return self.dimension


def as_vector(value: object, dimension: int) -> Floats | None:
    """`value` as a float64 vector of that length, or None; raises nothing, so that nothing can hold the value.

    A vector of one number may be that number, or None.

    Examples
    --------
    >>> as_vector(3, 1), as_vector([3], 1), as_vector(3, 2)
    (array([3.]), array([3.]), None)
    """
    listed = [value] if dimension == 1 and not isinstance(value, bool) and _is_number(value) else value
    array = as_floats(listed)
    return array if array is not None and array.shape == (dimension,) else None


def as_floats(values: object) -> Floats | None:
    """Numbers in lists or an array as float64, or None; texts, dates and spans of time are not numbers.

    Examples
    --------
    >>> as_floats([0.5, True]), as_floats(["0.5"])
    (array([0.5, 1. ]), None)
    """
    try:
        if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
            return np.where(np.ma.getmaskarray(values), np.nan, values.data.astype(np.float64))
        array = np.asarray(values)
        if array.dtype.kind != "O":
            return np.asarray(values, dtype=np.float64) if array.dtype.kind in "biuf" else None
        entries = array.ravel().tolist()
        if not all(map(_is_number, entries)):
            return None
        floats = [math.nan if is_missing(entry) else as_float(entry) for entry in entries]
        return np.array(floats, dtype=np.float64).reshape(array.shape)
    except (TypeError, ValueError, OverflowError):
        return None


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, (Real, Decimal)) and not isinstance(value, np.timedelta64))


def inside_ball(vector: Floats, radius: float) -> Floats:
    """What a device makes of any vector: an entry that is not finite counts as zero, then the nearest of the ball."""
    return clip_to_ball(np.where(np.isfinite(vector), vector, 0.0), radius)


def clip_to_ball(vector: Floats, radius: float) -> Floats:
    """The nearest point of the ball; scaled before squaring, so that nothing overflows.

    The same operations whatever the vector is, zero included: the time taken is an output too.

    Examples
    --------
    >>> clip_to_ball(np.array([3.0, 4.0]), 1.0)
    array([0.6, 0.8])
    """
    with np.errstate(all="ignore"):  # what is not chosen in the end may overflow
        largest = np.maximum(np.abs(vector).max(initial=0.0), _TINY)
        direction = vector / largest
        limit = radius / np.maximum(np.linalg.norm(direction), _TINY)
        return np.asarray(np.where(largest <= limit, vector, direction * limit))


def lift(vectors: Floats, radius: float, size: int) -> Floats:
    """Rows on the unit sphere: (a, sqrt(r^2 - |a|^2), 0, ..)/r, padded with zeros to `size` columns.

    Everybody then has norm one and de-biasing is exact for everyone; estimates drop the lift again.
    """
    rows = np.atleast_2d(vectors)
    n, dimension = rows.shape
    out = np.zeros((n, size))
    out[:, :dimension] = rows / radius
    out[:, dimension] = np.sqrt(np.maximum(0.0, 1.0 - np.einsum("ij,ij->i", out, out)))
    return out
