"""Gaussian noise on every coordinate (Alg. 1-2 made sound): integers drawn exactly, (epsilon, delta)-LDP."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.core.limits import check_delta, check_dimension, check_epsilon, check_integer
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.vector import Reach, VectorMechanism
from sottovoce.mechanisms.vector_codecs import SignedCodec
from sottovoce.randomness import Source
from sottovoce.randomness.discrete_gaussian import discrete_gaussian, sample_many
from sottovoce.theory.calibration import discrete_gaussian_variance, zcdp_delta_upper

__all__ = ["Gaussian"]

BIAS = 0.01
"""Largest step of the grid, in an estimate's standard errors at the expected users."""

LEAST_VARIANCE, MOST_VARIANCE = 2**20, 2**53 - 1
"""Noise in squared grid steps: coarser grids are no use, larger integers do not travel in JSON."""

MOST_STEPS = 2**30


@final
@dataclass(frozen=True)
class Gaussian(VectorMechanism):
    """The vector on a fine grid plus a discrete Gaussian on every coordinate.

    Guarantee
        (epsilon, delta)-LDP. Vectors are integers of norm at most r/g, so two people differ by at most 2r/g
        and the noise is rho-zCDP with rho = 2 (r/g)^2/variance (Canonne, Kamath, Steinke 2020, Thm 4 and
        Sec. 2.3); delta follows by their Prop. 12, with 60 digits and rounded up, from the integers that the
        survey states. A survey whose noise is too small is refused.
    Error
        n Var = sigma^2 plus the people's own variance, in every coordinate; proxy sigma^2 + r^2. Truncation
        moves an estimate toward zero, by no more than `bias_bound`; intervals and bounds hold it.
    Symbols
        r/g is `steps`, sigma^2/g^2 is `noise_variance`, both integers.
    Deviations
        Alg. 1 is calibrated to a sensitivity of r where two columns can be 2r apart, which makes it unsound
        (`evidence.published.gaussian`), and sends floats. A report's entries are cut at `bound`, beyond which
        any of them falls with probability below 2^-64; cutting is post-processing and costs no privacy.
    Limits
        The time to draw noise depends on the noise, not on the vector; a device must not let the time between
        being asked and answering be measured by those it answers.
    Raises
        `MechanismError` for delta = 0 or too little noise, `ReportError` for foreign bytes.
    """

    steps: int
    noise_variance: int

    name: ClassVar[str] = "gaussian"
    summary: ClassVar[str] = "every coordinate with integer Gaussian noise"
    use_when: ClassVar[str] = "delta above 0 is acceptable and reports may be as long as the vector"
    in_browsers: ClassVar[bool] = False

    @classmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, users: int) -> Self:
        """The least noise, on the finest grid in the fewest bytes that keep its step below `BIAS` for `users`."""
        _check_delta_positive(delta := check_delta(delta))
        dimension, needed = check_dimension(dimension), discrete_gaussian_variance(check_epsilon(epsilon), delta)
        for bytes_each in (2, 3, 4):
            largest = (1 << (8 * bytes_each - 1)) - 1
            # The noise alone fills most of the range; one step less than the exact solution never overfills it.
            reach = 1 + math.sqrt(needed * _squared_reach(dimension))
            limit = min(largest / reach, math.sqrt(MOST_VARIANCE / needed), float(MOST_STEPS))
            steps = max(1, int(limit) - 1)
            noise_variance = math.ceil(needed * steps**2)
            if noise_variance >= LEAST_VARIANCE and users <= BIAS**2 * noise_variance:
                break
        return cls(dimension, radius, epsilon, delta, steps, noise_variance)

    def _check_parameters(self) -> None:
        _check_delta_positive(self.delta)
        check_integer("steps", self.steps, 1, MOST_STEPS)
        check_integer("noise_variance", self.noise_variance, LEAST_VARIANCE, MOST_VARIANCE)
        if self.delta_upper > Fraction(self.delta):
            raise MechanismError(
                f"the stated noise is too small: steps {self.steps} and noise_variance {self.noise_variance} give "
                f"delta {float(self.delta_upper):.3g} at epsilon {self.epsilon:g}, above the stated {self.delta:g}; "
                "increase the noise, or state a larger epsilon or delta"
            )

    @cached_property
    def delta_upper(self) -> Fraction:
        """The delta of the integers really used, rounded up; at most the stated one."""
        return zcdp_delta_upper(Fraction(2 * self.steps**2, self.noise_variance), self.epsilon)

    @property
    def bound(self) -> int:
        """Where entries are cut: the largest of any vector, and noise beyond what 2^64 reports would show."""
        return self.steps + math.isqrt(_squared_reach(self.dimension) * self.noise_variance) + 1

    @cached_property
    def codec(self) -> SignedCodec:
        """One integer a coordinate."""
        return SignedCodec(self.dimension, self.bound)

    @property
    def cells(self) -> int:
        """One sum per coordinate."""
        return self.dimension

    def on_grid(self, vector: Floats) -> list[int]:
        """The vector in grid steps, truncated toward zero, with sum of squares at most steps^2 in exact integers.

        The last holds whatever the floats were: a sum that rounding, or anything else, made too large is
        shrunk by steps/ceil(sqrt(sum)), again toward zero.
        """
        steps = self.steps
        whole = [int(number) for number in np.nan_to_num(vector / self.radius * steps).clip(-steps, steps)]
        squares = sum(number * number for number in whole)
        length = math.isqrt(squares)
        length += length * length < squares
        if length > steps:
            whole = [number * steps // length if number > 0 else -(-number * steps // length) for number in whole]
        return whole

    def _randomize(self, vector: Floats, source: Source) -> Report:
        bound = self.bound
        noisy = (number + discrete_gaussian(self.noise_variance, source) for number in self.on_grid(vector))
        return tuple(max(-bound, min(bound, number)) for number in noisy)

    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        """Vectorised; rounded continuous noise, which differs from the device's by less than can be measured."""
        whole: NDArray[np.int64] = np.trunc(vectors / self.radius * self.steps).astype(np.int64)
        whole += sample_many(self.noise_variance, vectors.shape, rng)
        return np.clip(whole, -self.bound, self.bound, out=whole)

    @property
    def largest_step(self) -> int:
        """An entry at the cut."""
        return self.bound

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Sums per coordinate."""
        counts += batch.sum(axis=0, dtype=np.int64)

    @property
    def step(self) -> float:
        """g, the width of a grid step in the vectors' units."""
        return self.radius / self.steps

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """g sums/n; truncation leaves it a little nearer to zero than the mean: see `bias_bound`."""
        return np.asarray(counts * (self.step / n_reports))

    @property
    def bias_bound(self) -> float:
        """2 g: truncation takes less than one step, and shrinking what floats made too long at most one more."""
        return 2 * self.step

    @property
    def noise(self) -> float:
        """sigma^2; the discrete Gaussian's own variance is smaller by less than can be computed."""
        return self.noise_variance * self.step**2

    @property
    def along(self) -> float:
        """sigma^2 + r^2."""
        return self.noise + self.radius**2

    @property
    def truncation(self) -> float:
        """2 sqrt(d) g/sigma: the grid moves <vector, b> by 2 g |b|_1 at most, and its standard deviation by no more.

        Against a standard error of sigma |b| or more that is 2 sqrt(d) g/sigma. Beside it the rest is nothing: the
        discrete Gaussian's variance is smaller than sigma^2 by a factor 1 - exp(-2 pi^2 sigma^2/g^2) or nearer to 1,
        and entries are cut with a probability below 2^-64.
        """
        return 2 * math.sqrt(self.dimension / self.noise_variance)

    @property
    def proxy(self) -> float:
        """sigma^2 + r^2: the noise is no heavier than a Gaussian's, and a person's <a_v, a> spans at most 2 r |a|."""
        return self.noise + self.radius**2

    @property
    def worst_total_variance(self) -> float:
        """d sigma^2 + r^2."""
        return self.dimension * self.noise + self.radius**2

    def sharing_factor(self, n_reports: int) -> float:
        """Nothing is shared."""
        return 1.0

    @property
    def skew(self) -> float:
        """0.43 (r/sigma)^3 + 1e-3: the noise is normal already, and smooths what people's own vectors are not.

        Replacing people's components, of at most 2 r from their mean and variance r^2 at most, one by one by normal
        ones changes a tail by (E|.|^3 + 1.6 r^3)/6 times the largest third derivative of the noise's own, 0.4 over its
        cubed deviation (Lindeberg): 0.24 (r/sigma)^3/sqrt(n). The integers' steps are below 1e-3 of sigma.
        """
        return 0.43 * math.sqrt(self.radius**2 / self.noise) ** 3 + 1e-3

    @property
    def reach(self) -> Reach:
        """Every entry at the cut."""
        return Reach(self.bound * self.step, math.sqrt(self.dimension), True)

    def citation(self) -> str:
        """The protocol is Bassily's, the noise and its account Canonne, Kamath and Steinke's."""
        return (
            "@inproceedings{canonne2020discrete, author={Canonne, Cl{\\'e}ment L. and Kamath, Gautam and Steinke, "
            "Thomas}, title={The Discrete Gaussian for Differential Privacy}, booktitle={NeurIPS}, year={2020}}\n"
            "@inproceedings{bassily2019linear, author={Bassily, Raef}, title={Linear Queries Estimation with "
            "Local Differential Privacy}, booktitle={AISTATS}, year={2019}}"
        )


def _check_delta_positive(delta: float) -> None:
    if delta == 0:
        raise MechanismError(
            "gaussian cannot give delta = 0: state a delta such as 1e-6, or use mechanism='codebook', which is pure"
        )


def _squared_reach(dimension: int) -> int:
    """z^2 with 2 d exp(-z^2/2) < 2^-64, the sub-Gaussian tail of all coordinates; 13863/10000 is above 2 log 2."""
    return 13863 * (65 + dimension.bit_length()) // 10000 + 1
