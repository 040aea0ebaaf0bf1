"""Sphere sampling (Duchi, Jordan, Wainwright 2013): the paper's previous work, a baseline for simulations only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.vector import Reach, VectorMechanism
from sottovoce.mechanisms.vector_codecs import SignedCodec
from sottovoce.randomness import Source

__all__ = ["Sphere"]

FIXED_POINT = 1 << 30
"""Directions are kept as integers in units of 2^-30, so that sums are exact in any order."""


@final
@dataclass(frozen=True)
class Sphere(VectorMechanism):
    """A uniform point of the half of a large sphere on the vector's side, or, less likely, of the other half.

    Guarantee
        Pure epsilon-LDP in exact arithmetic: two densities in the ratio e^epsilon. Its output is continuous; floats
        have gaps that depend on the value, so nothing is guaranteed of a machine's output and none is deployed.
    Error
        n Var = B^2/d less the square of the mean, in every coordinate whatever the data.
    Symbols
        a' = +-r a/|a| with probability 1/2 +- |a|/(2r); the half sphere of radius B on the side of a' has probability
        e^eps/(1 + e^eps); B = r coth(eps/2) sqrt(pi) Gamma((d+1)/2)/Gamma(d/2) is `length`.
    Deviations
        A report is the direction in integers of 2^-30, for the aggregate's sake.
    Raises
        `MechanismError` when a device is asked to randomize.
    """

    name: ClassVar[str] = "sphere"
    summary: ClassVar[str] = "a point of a half sphere, in floating point"
    use_when: ClassVar[str] = "never on a device: a baseline for experiments"
    deployable: ClassVar[bool] = False
    in_browsers: ClassVar[bool] = False

    @classmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        return cls(dimension, radius, epsilon, 0.0)

    def _check_parameters(self) -> None:
        if self.delta != 0:
            raise SurveyError("delta must be 0 for sphere: its guarantee is pure epsilon-LDP").at("delta")

    @cached_property
    def codec(self) -> SignedCodec:
        """One integer a coordinate of the direction."""
        return SignedCodec(self.dimension, FIXED_POINT)

    @property
    def cells(self) -> int:
        """One sum per coordinate."""
        return self.dimension

    @cached_property
    def _levels(self) -> TwoLevel:
        return TwoLevel(1, 1, self.epsilon)

    @cached_property
    def signal(self) -> float:
        """E of the report's component along a', as a share of B: E|x| on the unit sphere times 2 P(right side) - 1."""
        half = self.dimension / 2
        mean = math.exp(math.lgamma(half) - math.lgamma(half + 0.5)) / math.sqrt(math.pi)
        return mean * float(2 * self._levels.probability_inside - 1)

    @property
    def length(self) -> float:
        """B."""
        return self.radius / self.signal

    def _randomize(self, vector: Floats, source: Source) -> Report:
        raise MechanismError("sphere is a baseline for simulations and never runs on a device; use 'codebook'")

    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        """Directions, in units of 2^-30."""
        from sottovoce.kernels.channels import below_threshold

        n = len(vectors)
        norms = np.linalg.norm(vectors, axis=1)
        toward = rng.random(n) < 0.5 + norms / (2 * self.radius)
        inside = below_threshold(self._levels.threshold, n, rng)
        points = rng.standard_normal(vectors.shape)
        points /= np.linalg.norm(points, axis=1)[:, None]
        # Any fixed direction serves a vector of zeros: which way is taken is a fair coin.
        components = np.where(norms > 0, np.einsum("ij,ij->i", points, vectors), points[:, 0])
        points[((components > 0) == toward) != inside] *= -1
        return np.rint(points * FIXED_POINT).astype(np.int64)

    @property
    def largest_step(self) -> int:
        """A coordinate of a unit vector, in fixed point."""
        return FIXED_POINT

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Sums per coordinate."""
        counts += batch.sum(axis=0, dtype=np.int64)

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """B mean(direction)."""
        return np.asarray(counts * (self.length / (FIXED_POINT * n_reports)))

    @property
    def noise(self) -> float:
        """B^2/d: a half sphere has the second moments of the whole."""
        return self.length**2 / self.dimension

    @property
    def along(self) -> float:
        """B^2/d, as across."""
        return self.noise

    @property
    def truncation(self) -> float:
        """Directions are rounded to units of 2^-30."""
        return 1e-6

    @cached_property
    def proxy(self) -> float:
        """B^2 max(1/(d-1), T) + r^2, T the least proxy of a direction's component along a'.

        Given that component, the rest of the direction is uniform on a sphere of radius at most 1 in d-1 dimensions,
        whose projections have proxy 1/(d-1); people's own means lie in [-r, r], which adds r^2 (Hoeffding).
        """
        across = 1 / (self.dimension - 1) if self.dimension > 1 else 0.0
        return self.length**2 * max(across, self._tail) + self.radius**2

    @property
    def _tail(self) -> float:
        """T = sup over x of 2 x^-2 log E exp(x (t - E t)), for t = +-|component|, on a grid and bounded beyond it.

        The component of a uniform point is sin(angle) with density cos^(d-2); beyond the grid E exp(x t) is at most
        twice that of a uniform point, whose proxy is 1/d.
        """
        d, right = self.dimension, float(self._levels.probability_inside)
        if d == 1:
            angles, weights = np.array([math.pi / 2]), np.array([1.0])
        else:
            end = min(math.pi / 2, 34 / math.sqrt(d))  # beyond where the grid's last tilt moves the mass
            nodes, weights = np.polynomial.legendre.leggauss(200)
            angles = (nodes + 1) * (end / 2)
            weights = weights * np.cos(angles) ** (d - 2)
            weights /= weights.sum()
        sizes = np.sin(angles)
        grid = np.geomspace(0.02, 20, 300) * math.sqrt(d)
        on_grid = self._excess(sizes, weights, right, np.concatenate([-grid, grid]))
        last = float(grid[-1])
        beyond = 1 / d + 2 * (math.log(2) + last * self.signal) / last**2
        # Steps of 2 % move the smooth supremum by far less than this margin.
        return max(on_grid, beyond) * 1.001

    def _excess(self, sizes: Floats, weights: Floats, right: float, x: Floats) -> float:
        """The largest 2 x^-2 log E exp(x (t - E t)) over the given x."""
        exponents = np.abs(x)[:, None] * sizes
        top = exponents.max(axis=1)
        same, other = np.exp(exponents - top[:, None]) @ weights, np.exp(-exponents - top[:, None]) @ weights
        chance = np.where(x > 0, right, 1 - right)
        log_mgf = top + np.log(chance * same + (1 - chance) * other)
        return float((2 * (log_mgf - x * self.signal) / x**2).max())

    @property
    def worst_total_variance(self) -> float:
        """B^2, for people whose vectors cancel."""
        return self.length**2

    def sharing_factor(self, n_reports: int) -> float:
        """Nothing is shared."""
        return 1.0

    @property
    def reach(self) -> Reach:
        """Every entry at the codec's bound."""
        return Reach(self.codec.bound * self.length / FIXED_POINT, math.sqrt(self.dimension), True)

    def audit_reference(self) -> None:
        """None: no device runs it."""

    def citation(self) -> str:
        """Duchi, Jordan and Wainwright 2013."""
        return (
            "@inproceedings{duchi2013local, author={Duchi, John C. and Jordan, Michael I. and Wainwright, Martin J.}, "
            "title={Local Privacy and Statistical Minimax Rates}, booktitle={FOCS}, year={2013}}"
        )
