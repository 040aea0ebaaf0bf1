"""Binary response: one number, one bit (Alg. 6, one round)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import repeat
from typing import ClassVar, Final, Self, final

import numpy as np

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.base import Batch, Counts, Floats, Report, log_of
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import DeviceRun, Script
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.vector import Reach, VectorMechanism, VectorReference, inside_ball
from sottovoce.randomness import ONE, Source, epsilon_of, within_epsilon
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import binary_law

__all__ = ["Binary"]

_HALF: Final = ONE // 2
_STEPS_BITS: Final = 53
"""A number's share of the radius is read in steps of 2**-53, toward 0: integers that any language computes alike."""


@final
@dataclass(frozen=True)
class Binary(VectorMechanism):
    """1 with probability (1 + x/(c r))/2, else 0, for a number x in [-r, r].

    Guarantee
        Pure epsilon-LDP, exactly: whatever x is, the chance of a 1 lies between 1/(1+e^eps) and e^eps/(1+e^eps),
        both rounded toward 1/2 in integers, and the chance of a 0 with it.
    Error
        Unbiased; n Var = (c r)^2 - E[x]^2, sampling of people included; sub-Gaussian with proxy (c r)^2 by
        Hoeffding, since one report's estimate is +-c r.
    Symbols
        c = (e^eps + 1)/(e^eps - 1) is `debias`, at the rounded probability really used.
    Deviations
        A number that is not finite counts as 0 and one outside [-r, r] is clipped, on the device: the paper trusts
        the query to stay inside.
    """

    name: ClassVar[str] = "binary"
    summary: ClassVar[str] = "one bit, often flipped"
    use_when: ClassVar[str] = "one number a person; every round of a panel"
    largest_dimension: ClassVar[int] = 1

    @classmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        return cls(dimension, radius, epsilon, 0.0)

    def _check_parameters(self) -> None:
        if self.delta != 0:
            raise SurveyError("delta must be 0 for binary: its guarantee is pure epsilon-LDP").at("delta")
        if self.dimension != 1:
            raise MechanismError(f"binary answers one number, not {self.dimension}: use 'codebook' or 'auto'").at(
                "dimension"
            )

    @cached_property
    def codec(self) -> IndexCodec:
        """The bit."""
        return IndexCodec(2)

    @property
    def cells(self) -> int:
        """How many sent a 1."""
        return 1

    @property
    def largest_step(self) -> int:
        """A report is counted once."""
        return 1

    @cached_property
    def amplitude(self) -> int:
        """How far the chance of a 1 moves from 1/2 at x = r, out of 2**64."""
        return TwoLevel(1, 1, self.epsilon).threshold - _HALF

    @property
    def debias(self) -> float:
        """What the mean of the +-1 reports is multiplied by: c, at the rounded probability."""
        return _HALF / self.amplitude

    @property
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(Fraction(_HALF + self.amplitude, _HALF - self.amplitude))

    def threshold(self, number: float) -> int:
        """The chance of a 1 for x in [-r, r], out of 2**64, rounded toward 1/2.

        Examples
        --------
        >>> coin = Binary(1, 2.0, 1.0, 0.0)
        >>> coin.threshold(0.0) == 2**63, coin.threshold(-2.0) + coin.threshold(2.0) == 2**64
        (True, True)
        """
        steps = int(number / self.radius * 2.0**_STEPS_BITS)
        moved = (self.amplitude * min(abs(steps), 1 << _STEPS_BITS)) >> _STEPS_BITS
        return _HALF + moved if steps > 0 else _HALF - moved

    def probability(self, report: Report, number: float) -> Fraction:
        """The exact probability that x = `number` sends `report`."""
        chance = Fraction(self.threshold(number), ONE)
        return chance if report == 1 else 1 - chance

    def blanket(self) -> Blanket:
        """The law of the two ends: the chances of all numbers between them are mixtures of theirs.

        L is linear in the chances of each of the pair, so it is the mean of that of pairs of ends, and no convex
        function of it has a larger mean than the worst of these pairs.
        """
        law = binary_law(Fraction(_HALF + self.amplitude, ONE), Fraction(1))
        return Blanket((law,), "all numbers are mixtures of the two ends")

    def _randomize(self, vector: Floats, source: Source) -> Report:
        return int(source.bernoulli(self.threshold(float(vector[0]))))

    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        """Vectorised, same law to 53 bits."""
        chance = 0.5 + vectors[:, 0] * (self.amplitude / ONE / self.radius)
        return (rng.random(len(vectors)) < chance).astype(np.int64)

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Ones."""
        counts[0] += int(batch.sum())

    def estimate(self, counts: Counts, n_reports: int) -> Floats:
        """The mean: c r times that of the reports as +-1."""
        return np.array([self.debias * self.radius * (2 * int(counts[0]) - n_reports) / n_reports])

    @property
    def noise(self) -> float:
        """(c r)^2: where everybody's number is 0."""
        return (self.debias * self.radius) ** 2

    @property
    def along(self) -> float:
        """(c r)^2, whatever everybody's number is: one report's estimate is +-c r."""
        return self.noise

    @property
    def truncation(self) -> float:
        """None to speak of: numbers are read to 53 bits."""
        return 0.0

    @property
    def proxy(self) -> float:
        """(c r)^2, by Hoeffding's lemma."""
        return self.noise

    @property
    def worst_total_variance(self) -> float:
        """(c r)^2."""
        return self.noise

    def sharing_factor(self, n_reports: int) -> float:
        """Nobody shares any public randomness."""
        return 1.0

    @property
    def two_outcomes(self) -> bool:
        """A report is one bit."""
        return True

    @property
    def reach(self) -> Reach:
        """One end of the interval, de-biased."""
        return Reach(self.debias * self.radius, 1.0, True)

    def log_prob(self, report: Report, vector: Floats) -> float:
        return log_of(self.probability(report, float(inside_ball(vector, self.radius)[0])))

    def audit_reference(self) -> BinaryReference:
        return BinaryReference(self.radius, self.epsilon, self.amplitude)

    def citation(self) -> str:
        """Bassily 2019, Algorithm 6; the bit is Warner's."""
        return (
            "@inproceedings{bassily2019linear, author={Bassily, Raef}, title={Linear Queries Estimation with Local "
            "Differential Privacy}, booktitle={AISTATS}, year={2019}}"
        )


@final
class BinaryReference(VectorReference):
    """One coin, whose chance lies within the stated amplitude of one half, and the bit that it shows.

    Then no two numbers can be distinguished better than the ends of the range.
    """

    outcomes: ClassVar[Sequence[Script]] = ([0], [1])
    least = 10_000

    def __init__(self, radius: float, epsilon: float, amplitude: int) -> None:
        super().__init__(1, radius)
        self.epsilon, self.amplitude = epsilon, amplitude

    def scripts(self, rng: np.random.Generator) -> Iterator[list[Script]]:
        return repeat(list(self.outcomes))

    def guarantee(self) -> tuple[float, str]:
        ratio = Fraction(_HALF + self.amplitude, _HALF - self.amplitude)
        words = f"both ends of the range have chances in the ratio {float(ratio):.9g}"
        return epsilon_of(ratio), "" if within_epsilon(ratio, self.epsilon) else words

    def wrong_run(self, run: DeviceRun, vector: Floats) -> str:
        amplitude, share = self.amplitude, Fraction(float(vector[0])) / Fraction(self.radius)
        if len(run.asked) != 1 or not _HALF - amplitude <= -run.asked[0] <= _HALF + amplitude:
            return f"the device asks for {run.asked}, beyond the stated chances"
        if abs(-run.asked[0] - _HALF - share * amplitude) > amplitude / 2**50 + 1:
            return f"the device asks for {run.asked}, not the chance of its number"
        if run.sent != bytes(run.played):
            return f"the coin falls {run.played[0]}, and the device sends {run.sent.hex()}"
        return ""

    def method(self, done: int) -> str:
        return f"both outcomes of the one coin, for the ends, numbers outside the range, and {done:,} others"
