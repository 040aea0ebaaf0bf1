"""Gaussian noise on every coordinate (Alg. 1-2 made sound): integers drawn exactly, (epsilon, delta)-LDP."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from typing import ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.core.limits import check_delta, check_dimension, check_epsilon, check_integer
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.reference import DeviceRun, Script
from sottovoce.mechanisms.vector import Reach, VectorMechanism, VectorReference, inside_ball
from sottovoce.mechanisms.vector_codecs import SignedCodec
from sottovoce.randomness import Source
from sottovoce.randomness.discrete_gaussian import discrete_gaussian, sample_many
from sottovoce.randomness.scripts import Request, ScriptedSource
from sottovoce.theory.calibration import discrete_gaussian_variance, zcdp_delta_upper, zcdp_epsilon

__all__ = ["Gaussian"]

BIAS = 0.01
"""Largest step of the grid, in an estimate's standard errors at the expected people."""

LEAST_VARIANCE, MOST_VARIANCE = 2**20, 2**53 - 1
"""Noise in squared grid steps: coarser grids are useless, larger integers do not travel in JSON."""

MOST_STEPS = 2**30

_TAPES: Final = 5_000
"""Runs of an audit with random outcomes, and as many numbers drawn as that takes in 16 dimensions."""

_SIGMAS: Final = (0, 0.001, 0.5, 1, 2, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)
"""Noise that every coordinate is made to have, in standard deviations, with both signs; that at the cut is added."""


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
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        """The least noise, on the finest grid in the fewest bytes that keep its step below `BIAS` for `people`."""
        _check_delta_positive(delta := check_delta(delta))
        dimension, needed = check_dimension(dimension), discrete_gaussian_variance(check_epsilon(epsilon), delta)
        for bytes_each in (2, 3, 4):
            largest = (1 << (8 * bytes_each - 1)) - 1
            # The noise alone fills most of the range; one step less than the exact solution never overfills it.
            reach = 1 + math.sqrt(needed * _squared_reach(dimension))
            limit = min(largest / reach, math.sqrt(MOST_VARIANCE / needed), float(MOST_STEPS))
            steps = max(1, int(limit) - 1)
            noise_variance = math.ceil(needed * steps**2)
            if noise_variance >= LEAST_VARIANCE and people <= BIAS**2 * noise_variance:
                break
        return cls(dimension, radius, epsilon, delta, steps, noise_variance)

    @classmethod
    def typical(cls, size: int, epsilon: float, delta: float = 0.0) -> Self:
        """An instance with this delta; without one there is none."""
        return cls.best(size, 1.0, epsilon, delta, 10_000)

    def _check_parameters(self) -> None:
        _check_delta_positive(self.delta)
        check_integer("steps", self.steps, 1, MOST_STEPS)
        check_integer("noise_variance", self.noise_variance, LEAST_VARIANCE, MOST_VARIANCE)
        if self.delta_upper > Fraction(self.delta):
            raise MechanismError(
                f"the stated noise is too small: steps {self.steps} and noise_variance {self.noise_variance} give "
                f"delta {float(self.delta_upper):.3g} at epsilon {self.epsilon:g}, above the stated {self.delta:g}; "
                "increase the noise, or state a larger epsilon or delta"
            ).at("noise_variance")

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

    def log_prob(self, report: Report, vector: Floats) -> float:
        """The log probability of the discrete Gaussian, up to a constant."""
        grid = self.on_grid(inside_ball(vector, self.radius))
        away = np.subtract(cast(tuple[int, ...], report), grid).astype(np.float64)
        return -float(away @ away) / (2 * self.noise_variance)

    def audit_reference(self) -> GaussianReference:
        return GaussianReference(
            self.dimension,
            self.radius,
            (self.epsilon, self.delta, self.delta_upper),
            self.steps,
            self.noise_variance,
            self.bound,
            self.on_grid,
        )

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
        ).at("delta")


def _squared_reach(dimension: int) -> int:
    """z^2 with 2 d exp(-z^2/2) < 2^-64, the sub-Gaussian tail of all coordinates; 13863/10000 is above 2 log 2."""
    return 13863 * (65 + dimension.bit_length()) // 10000 + 1


@final
class GaussianReference(VectorReference):
    """Integers of bounded norm, and a device that draws as the exact sampler does, tails included.

    The sampler is written once more here. Both get the same outcomes: they must ask for the same integers and find the
    same noise. Outcomes are random, or chosen so that the noise is a given number, however far out. `on_grid` is the
    device's own: the guarantee follows from the largest squared norm that it was seen to make.
    """

    def __init__(
        self,
        dimension: int,
        radius: float,
        stated: tuple[float, float, Fraction],
        steps: int,
        noise_variance: int,
        bound: int,
        on_grid: Callable[[Floats], list[int]],
    ) -> None:
        super().__init__(dimension, radius)
        self.epsilon, self.delta, self.delta_upper = stated
        self.steps, self.variance, self.bound, self.on_grid = steps, noise_variance, bound, on_grid
        self.longest = steps**2
        self.least = max(20, min(_TAPES, 16 * _TAPES // dimension))

    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        return repeat([[]])

    def rare_scripts(self, rng: np.random.Generator) -> Iterator[Script]:
        """Every coordinate meets each noise of `_SIGMAS` and that at the cut, of both signs."""
        sigma = math.isqrt(self.variance)
        sizes = [round(share * sigma) for share in _SIGMAS]
        sizes += [self.bound - self.steps, self.bound, self.bound + self.steps, 2 * self.bound]
        noises = [sign * size for size in sizes for sign in (1, -1) if size or sign > 0]
        scripts = [outcomes_for(noise, self.variance) for noise in noises]
        for shift in range(len(scripts)):
            yield [outcome for axis in range(self.dimension) for outcome in scripts[(axis + shift) % len(scripts)]]

    def guarantee(self) -> tuple[float, str]:
        words = ""
        if self.longest > self.steps**2:
            words = f"a vector has the squared norm {self.longest} on the grid, where {self.steps**2} is allowed"
        if self.delta_upper > Fraction(self.delta):
            words = f"delta is {float(self.delta_upper):.6g} at epsilon {self.epsilon:g}, stated {self.delta:g}"
        return zcdp_epsilon(float(Fraction(2 * self.longest, self.variance)), self.delta), words

    def wrong_run(self, run: DeviceRun, vector: Floats) -> str:
        grid = self.on_grid(vector)
        self.longest = max(self.longest, sum(number * number for number in grid))
        again = ScriptedSource(run.played, np.random.default_rng(0))
        noise = [sample(self.variance, again) for _ in range(self.dimension)]
        if again.asked != run.asked:
            return _parting(run.asked, again.asked)
        right = [max(-self.bound, min(self.bound, number + drawn)) for number, drawn in zip(grid, noise, strict=True)]
        width, sent = self.bound.bit_length() // 8 + 1, run.sent
        reported = [int.from_bytes(sent[at : at + width], "little", signed=True) for at in range(0, len(sent), width)]
        if reported == right and len(sent) == width * self.dimension:
            return ""
        axis = next(
            (i for i, (value, expected) in enumerate(zip(reported, right, strict=False)) if value != expected), 0
        )
        return (
            f"noise {noise[axis]} ({noise[axis] / math.sqrt(self.variance):.3g} standard deviations) in coordinate "
            f"{axis} makes the device send {reported[axis] if axis < len(reported) else sent.hex()[:48]}, where "
            f"{right[axis]} is right"
        )

    def method(self, done: int) -> str:
        return (
            f"integer sensitivity 2r/g and the zCDP account of the discrete Gaussian, rounded up; the device draws as "
            f"the exact sampler for {done:,} random tapes, and for noise up to the cut in every coordinate"
        )

    def assumptions(self, done: int) -> tuple[str, ...]:
        theorem = "Algorithms 1 to 3 of Canonne, Kamath and Steinke (2020) sample the discrete Gaussian exactly"
        return (*super().assumptions(done), theorem)


def _parting(requests: list[Request], right: list[Request]) -> str:
    at = next(
        (i for i, (request, expected) in enumerate(zip(requests, right, strict=False)) if request != expected), None
    )
    if at is None:
        return f"the device draws {len(requests)} integers, where the sampler draws {len(right)}"
    return f"draw {at} of the device is below {requests[at]}, where the sampler's is below {right[at]}"


def sample(variance: int, source: ScriptedSource) -> int:
    """A discrete Gaussian: Laplace proposals y, kept with probability exp(-(|y| - variance/t)^2/(2 variance))."""
    t = math.isqrt(variance) + 1
    while True:
        rest = source.below(t)
        if not _exponential(rest, t, source):
            continue
        size = rest
        while _exponential(1, 1, source):
            size += t
        negative = source.below(2)
        if negative and not size:
            continue
        if _exponential((size * t - variance) ** 2, 2 * variance * t * t, source):
            return -size if negative else size


def _exponential(over: int, under: int, source: ScriptedSource) -> bool:
    """True with probability exp(-over/under): the whole factors 1/e, then the rest by its alternating series."""
    units = max(0, -(-over // under) - 1)
    return all(_series(1, 1, source) for _ in range(units)) and _series(over - units * under, under, source)


def _series(over: int, under: int, source: ScriptedSource) -> bool:
    length = 0
    while source.below((length + 1) * under) < over:
        length += 1
    return length % 2 == 0


def outcomes_for(noise: int, variance: int) -> list[int]:
    """Outcomes for which the sampler finds this noise at its first attempt.

    Examples
    --------
    >>> source = ScriptedSource(outcomes_for(-(10**7), 2**40), np.random.default_rng(1))
    >>> sample(2**40, source)
    -10000000
    """
    t = math.isqrt(variance) + 1
    whole, rest = divmod(abs(noise), t)
    over, under = (abs(noise) * t - variance) ** 2, 2 * variance * t * t
    units = max(0, -(-over // under) - 1)
    unit, last = [0, 0, 2], [0, 0, 3 * under - 1] if over - units * under == under else [under - 1]
    return [rest, t - 1, *unit * whole, 0, 1, int(noise < 0), *unit * units, *last]
