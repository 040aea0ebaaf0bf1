"""Rejection sampling made public and sound (Alg. 3-4): a seed of public normals and one bit, pure epsilon-LDP."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self, cast, final

import numpy as np

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.limits import check_epsilon, check_integer
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.reference import DeviceRun, Script
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.vector import Reach, VectorMechanism, VectorReference, inside_ball, lift
from sottovoce.mechanisms.vector_codecs import SeedBitCodec
from sottovoce.randomness import ONE, Source, epsilon_of, within_epsilon
from sottovoce.randomness.scripts import random_below
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import binary_law
from sottovoce.theory.rejection import RejectionConstants, best_tilt_and_clip

__all__ = ["Rejection", "estimate_accepted"]

UNIT = 1 << 40
"""`tilt` and `clip` are in units of 2^-40."""

_CODEC = SeedBitCodec()

LARGEST_NORMAL = math.sqrt(66 * math.log(2)) + 2.0**-31
"""The largest normal of a seed, rounded to its fixed point: a word of 32 bits gives no more."""

_CLOSE: Final = 2.0**-40
"""How far a chance computed in another order may be from the device's."""

_HOSTILE_FLOATS: Final = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 0.0, 40.0, -40.0, 1e16, -1e16)
"""What a broken or hostile inner product could be."""


@final
@dataclass(frozen=True)
class Rejection(VectorMechanism):
    """A public normal vector, and one bit: would a Gaussian around the person's vector rather have given it?

    Guarantee
        Pure epsilon-LDP, exactly: the seed does not depend on the value, and the chance of the bit is an integer
        out of 2^64 held between `lowest` and `highest`, in the ratio e^eps' at most with eps' <= epsilon, whatever
        floating point made of it; so no rounding, overflow or NaN can widen it.
    Error
        n Var = r^2 E acc (1 - E acc)/E[t acc]^2 in a coordinate orthogonal to the data: 30.6 r^2 at epsilon 0.5,
        10.1 at 1, 5.02 at 2, and 4.55 from 2.81 on, however large epsilon is. See `theory.rejection`.
    Symbols
        G is the seed's normal vector, u the lifted unit vector, s = r/sigma is `tilt`, eps' is `clip`; t = <u, G>,
        bit 1 has chance acc(t) = exp(clip(s t - s^2/2, -eps'/2, eps'/2))/(2 cosh(eps'/2)).
    Deviations
        Alg. 3 sends y itself and refuses outside a region that depends on the value, which is unsound
        (`evidence.published.rejection`). Here y = sigma G(seed) is public, refusals are reports too, and clipping
        replaces refusing. The estimate uses the refusals; `estimate_accepted` does without, as Alg. 4.
    Limits
        Both sides spend O(d) work a report. Kept for fidelity to the paper; `codebook` is better in every respect.
    Raises
        `SurveyError` for parameters out of range, `ReportError` for foreign bytes.
    """

    tilt: int
    clip: int

    name: ClassVar[str] = "rejection"
    summary: ClassVar[str] = "a public normal vector's seed and one bit"
    use_when: ClassVar[str] = "to follow the paper's pure protocol; codebook has less error"
    in_browsers: ClassVar[bool] = False

    @classmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        """The tilt and clip of least noise."""
        tilt, clip = best_tilt_and_clip(epsilon := check_epsilon(epsilon))
        return cls(dimension, radius, epsilon, 0.0, round(tilt * UNIT), int(clip * UNIT))

    def _check_parameters(self) -> None:
        if self.delta != 0:
            raise SurveyError("delta must be 0 for rejection: its guarantee is pure epsilon-LDP").at("delta")
        check_integer("tilt", self.tilt, 1, 8 * UNIT)
        check_integer("clip", self.clip, 1, int(self.epsilon * UNIT))
        if not self.constants.signal > 1e-12:
            raise MechanismError("tilt and clip leave nothing of the signal; use those of Rejection.best").at("tilt")

    @cached_property
    def constants(self) -> RejectionConstants:
        """De-biasing and error constants."""
        return RejectionConstants(self.tilt / UNIT, self.clip / UNIT)

    @property
    def codec(self) -> SeedBitCodec:
        """Eight bytes of seed and one of the bit."""
        return _CODEC

    @property
    def cells(self) -> int:
        """Reports with bit 1; sums of all normals; sums of normals with bit 1."""
        return 1 + 2 * self.dimension

    @cached_property
    def highest(self) -> int:
        """Largest chance of bit 1, out of 2^64: the floor of 2^64 e^eps'/(1 + e^eps')."""
        return TwoLevel(1, 1, self.clip / UNIT).threshold

    @property
    def lowest(self) -> int:
        """Smallest chance of bit 1, out of 2^64."""
        return ONE - self.highest

    def privacy_ratio(self) -> Fraction:
        """highest/lowest = (1 - lowest)/(1 - highest): no two values' chances of either bit can differ by more."""
        return Fraction(self.highest, self.lowest)

    def blanket(self) -> Blanket:
        """As if every seed had vectors with the highest chance of bit 1 and with the lowest.

        The seed is drawn alike for all; given it, all chances are mixtures of these two, as in `Binary.blanket`. How
        often a pair of vectors comes near both depends on the seeds, so no pair's own law is stated.
        """
        law = binary_law(Fraction(self.highest, ONE), Fraction(1))
        why = "given the seed, all vectors are mixtures of the two chances allowed"
        return Blanket((), why, Blanket((law,), why))

    def threshold(self, inner_product: float) -> int:
        """The chance of bit 1 out of 2^64 for t = `inner_product`, in [lowest, highest] for any float at all.

        Examples
        --------
        >>> m = Rejection.best(3, 1.0, 1.0, 0.0, 1000)
        >>> m.lowest <= m.threshold(float("-inf")) < m.threshold(float("nan")) < m.threshold(1e308) <= m.highest
        True
        """
        s, half = self.tilt / UNIT, self.clip / UNIT / 2
        log_ratio = s * inner_product - s * s / 2
        if math.isnan(log_ratio):
            log_ratio = 0.0
        chance = math.exp(max(-half, min(half, log_ratio))) / (2 * math.cosh(half))
        return max(self.lowest, min(self.highest, int(chance * 2.0**64)))

    def _randomize(self, vector: Floats, source: Source) -> Report:
        from sottovoce.kernels.normals import seed_normals

        seed = source.below(1 << 64)
        unit = lift(vector, self.radius, self.dimension + 1)[0]
        inner_product = float(unit @ seed_normals(seed, self.dimension + 1))
        return seed, int(source.bernoulli(self.threshold(inner_product)))

    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.normals import inner_products

        s, half = self.tilt / UNIT, self.clip / UNIT / 2
        out = rng.integers(0, ONE - 1, size=(len(vectors), 2), dtype=np.uint64, endpoint=True)
        t = inner_products(lift(vectors, self.radius, self.dimension + 1), out[:, 0])
        chances = np.exp(np.clip(s * t - s * s / 2, -half, half)) / (2 * math.cosh(half))
        out[:, 1] = out[:, 1] < (chances * 2.0**64).astype(np.uint64)
        return out

    @property
    def largest_step(self) -> int:
        """A normal made of 32-bit words is below 7 in absolute value: sqrt(2 log 2^33) is 6.77."""
        from sottovoce.kernels.normals import FIXED_POINT

        return 7 * FIXED_POINT

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Reports with bit 1, and the sums of their normals and of everybody's, in units of 2^-30."""
        from sottovoce.kernels.normals import count_normals

        counts[0] += int(batch[:, 1].sum())
        count_normals(counts[1 : 1 + self.dimension], counts[1 + self.dimension :], batch[:, 0], batch[:, 1])

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """r mean(G (bit - E acc))/E[t acc]."""
        from sottovoce.kernels.normals import FIXED_POINT

        everyone, accepted = counts[1 : 1 + self.dimension], counts[1 + self.dimension :]
        total = accepted - self.constants.accepted * everyone
        return np.asarray(total * (self.radius / (FIXED_POINT * self.constants.signal * n_reports)))

    @property
    def noise(self) -> float:
        """r^2 E acc (1 - E acc)/E[t acc]^2."""
        return self.radius**2 * self.constants.noise

    @property
    def along(self) -> float:
        """r^2 E[t^2 (bit - E acc)^2]/E[t acc]^2."""
        return self.radius**2 * self.constants.along

    @property
    def truncation(self) -> float:
        """1e-4: normals are made of 32-bit words.

        Drawn together with the normals they stand for, they differ from them by 4e-6 in root mean square (all of it in
        the tail beyond 6.7, of chance 2^-32). The second moments that the variance is made of are Lipschitz in that,
        with a constant of some units.
        """
        return 1e-4

    @property
    def proxy(self) -> float:
        """r^2 (max(q^2, T)/E[t acc]^2 + 1); see `RejectionConstants.proxy`."""
        return self.radius**2 * self.constants.proxy

    @property
    def worst_total_variance(self) -> float:
        """r^2 [(d-1) noise + max(noise, along)]: people's squared entries sum to r^2 at most."""
        constants = self.constants
        return self.radius**2 * ((self.dimension - 1) * constants.noise + max(constants.noise, constants.along))

    def sharing_factor(self, n_reports: int) -> float:
        """Nothing is shared."""
        return 1.0

    @property
    def reach(self) -> Reach:
        """The largest normal of a seed in every other entry: two come from one radius, and no pair is longer."""
        weight = max(self.constants.accepted, 1 - self.constants.accepted) / self.constants.signal
        return Reach(LARGEST_NORMAL * weight * self.radius, math.sqrt(-(-self.dimension // 2)), False)

    def log_prob(self, report: Report, vector: Floats) -> float:
        seed, bit = cast(tuple[int, int], report)
        chance = self.audit_reference().chance_of_one(inside_ball(vector, self.radius), seed)
        return math.log(chance if bit else 1 - chance)

    def audit_reference(self) -> RejectionReference:
        return RejectionReference(
            self.dimension, self.radius, self.epsilon, self.tilt, self.clip, (self.lowest, self.highest), self.threshold
        )

    def citation(self) -> str:
        """The protocol is Bassily's; sharing the proposal comes from Bun, Nelson and Stemmer."""
        return (
            "@inproceedings{bassily2019linear, author={Bassily, Raef}, title={Linear Queries Estimation with "
            "Local Differential Privacy}, booktitle={AISTATS}, year={2019}}\n"
            "@inproceedings{bun2018heavy, author={Bun, Mark and Nelson, Jelani and Stemmer, Uri}, title={Heavy "
            "Hitters and the Structure of Local Privacy}, booktitle={PODS}, year={2018}}"
        )


def estimate_accepted(mechanism: Rejection, counts: Counts) -> Floats:
    """The paper's estimator (Alg. 4), from reports with bit 1 only: r mean(G)/m, m = E[t acc]/E[acc].

    Its n Var/r^2 in a coordinate orthogonal to the data is E acc/E[t acc]^2 (17.4 at epsilon 1), against
    `Rejection.estimate`'s E acc (1 - E acc)/E[t acc]^2: what the refusals tell is worth keeping.
    """
    from sottovoce.kernels.normals import FIXED_POINT

    constants, accepted = mechanism.constants, int(counts[0])
    if accepted == 0:
        return np.zeros(mechanism.dimension)
    scale = mechanism.radius * constants.accepted / (constants.signal * accepted * FIXED_POINT)
    return np.asarray(counts[1 + mechanism.dimension :] * scale)


@final
class RejectionReference(VectorReference):
    """A public seed, and a bit whose chance stays within its bounds for every seed and vector.

    The seed's law does not depend on the vector, and the device must send the seed and the bit that were drawn, so the
    ratio of two reports' chances is that of their bits given the seed. Chances between the bounds imply the guarantee
    for all vectors, seeds and float errors. `threshold` is the device's own, which hostile floats are tried on.
    """

    sure_scripts: ClassVar[int] = 12

    def __init__(
        self,
        dimension: int,
        radius: float,
        epsilon: float,
        tilt: int,
        clip: int,
        bounds: tuple[int, int],
        threshold: Callable[[float], int],
    ) -> None:
        super().__init__(dimension, radius)
        self.epsilon, self.tilt, self.half = epsilon, tilt / UNIT, clip / UNIT / 2
        (self.lowest, self.highest), self.threshold = bounds, threshold

    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        while True:
            seed = random_below(ONE, rng)
            yield [[seed, 0], [seed, 1]]

    def edge_scripts(self, rng: np.random.Generator) -> list[Script]:
        seeds = (0, 1, 2**32 - 1, 2**32, ONE - 1, random_below(ONE, rng))
        return [[seed, bit] for seed in seeds for bit in (0, 1)]

    def guarantee(self) -> tuple[float, str]:
        ratio = Fraction(self.highest, self.lowest)
        right = within_epsilon(ratio, self.epsilon) and self.lowest + self.highest == ONE
        words = f"the bounds of the bit's chance are in the ratio {float(ratio):.9g}"
        return epsilon_of(ratio), "" if right else words

    def wrong_law(self) -> str:
        beyond = [x for x in _HOSTILE_FLOATS if not self.lowest <= self.threshold(x) <= self.highest]
        return f"an inner product of {beyond[0]} has a chance beyond the stated bounds" if beyond else ""

    def wrong_run(self, run: DeviceRun, vector: Floats) -> str:
        seed, bit = run.played[0], run.played[-1]
        where = f"seed {seed:#x}, bit {bit}: the device"
        if run.asked[:1] != [ONE] or len(run.asked) != 2 or not self.lowest <= -run.asked[1] <= self.highest:
            return f"{where} asks for {run.asked}, beyond the stated chances {self.lowest} to {self.highest}"
        if run.sent != seed.to_bytes(8, "little") + bytes([bit]):
            return f"{where} sends {run.sent.hex()}"
        right = self.chance_of_one(vector, seed)
        if abs(-run.asked[1] / ONE - right) > _CLOSE:
            return f"{where} asks for the chance {-run.asked[1] / ONE:.9g}, where {right:.9g} is stated"
        return ""

    def chance_of_one(self, vector: Floats, seed: int) -> float:
        """The stated chance of a 1, computed from the seed's normals."""
        from sottovoce.kernels.normals import seed_normals

        s, half, size = self.tilt, self.half, self.dimension + 1
        t = float(np.dot(lift(vector, self.radius, size)[0], seed_normals(seed, size)))
        return math.exp(min(half, max(-half, s * t - s * s / 2))) / (math.exp(half) + math.exp(-half))

    def method(self, done: int) -> str:
        return f"integer bounds of the bit's chance, kept by the device for {done:,} seeds and any inner product"

    def assumptions(self, done: int) -> tuple[str, ...]:
        return (*super().assumptions(done), "seeds that were not run do as those that were")
