"""The codebook: one row of a public random rotation, or its opposite. A few bytes, whatever the dimension."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Final, Self, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.core.limits import DEFAULT_COUNTERS
from sottovoce.mechanisms.base import Batch, Counts, Floats, InputLength, Report, log_of
from sottovoce.mechanisms.codebook_reference import CodebookReference
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.shards import Sharded, blocks_of_rows
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.vector import VectorMechanism, inside_ball, lift
from sottovoce.randomness import Source, epsilon_of
from sottovoce.randomness.philox import Key
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import two_level_law
from sottovoce.theory.codebook import SHARING, CodebookConstants, best_sizes, codebook_constants

__all__ = ["ROTATION_BIAS", "Codebook", "layers_for", "mark"]

MIN_SIZE = 64
"""Short vectors are padded to this: in fewer coordinates signs and transforms are not random enough."""

MAX_ROTATIONS = 2**32
"""A rotation's number is one word of the public randomness's counter."""

ROTATION_BIAS: Final = 3e-4
"""The most by which rotations of `layers_for` layers change the estimate of a vector, relative to its length.

Measured, not proved: over vectors of one, two, four and all entries, sizes 64 to 1024 and epsilon 1, 4 and 8, the
largest deviation from uniformly random rotations was 1.3e-4, with a standard error of 0.25e-4. The tests hold every
size to this limit at epsilon 1.
"""


@final
@dataclass(frozen=True)
class Codebook(VectorMechanism):
    """One of M candidates, rows of a random block of a random public rotation and their opposites.

    The m candidates nearest to the person's vector have weight e^eps, the others weight 1.

    Guarantee
        Pure epsilon-LDP, exactly, for any floating-point error: rotation and block do not depend on the value, and
        whatever the ranking does, exactly m of the M candidates are marked, so two values' probabilities of any
        report are in the ratio e^eps at most.
    Error
        Unbiased for uniformly random rotations; n Var = r^2 (1 - kappa)/(c^2 (D-1)) in a coordinate orthogonal to
        the data, within 2 % of the best known (PrivUnitG) for epsilon up to 8; see `theory.codebook`.
    Symbols
        D is `size`, M `candidates`, m `marked`, P `rotations`, k `layers`; h = M/2 rows make a block. The report
        2 (rotation D + row) + sign is one integer; the aggregate holds signed counts over (rotation, row).
    Deviations
        Not in the paper: it replaces Alg. 3-4, whose printed form is unsound (see the findings), and removes the
        log n of its error. Rotations are k layers of random signs and Walsh-Hadamard transforms, whose bias against
        uniform ones is measured and bounded in the tests.
    """

    size: int
    candidates: int
    marked: int
    rotations: int
    layers: int
    key: Key = field(default=(0, 0), repr=False)

    name: ClassVar[str] = "codebook"
    summary: ClassVar[str] = "one row of a public rotation, or its opposite"
    use_when: ClassVar[str] = "the default: pure epsilon, a few bytes, near the best known error"
    counted_as = "signed number"

    @classmethod
    def best(cls, dimension: int, radius: float, epsilon: float, delta: float, people: int) -> Self:
        """The least size, the best (M, m), and a rotation for every g = 0.05 D/B expected people."""
        size = max(MIN_SIZE, 1 << dimension.bit_length())
        candidates, marked = best_sizes(size, epsilon)
        made = cls(dimension, radius, epsilon, 0.0, size, candidates, marked, 1, layers_for(size))
        return made.for_people(people, DEFAULT_COUNTERS)

    def for_people(self, people: int, max_counters: int) -> Self:
        """This mechanism with a rotation for every g = 0.05 D/B people, as far as `max_counters` allows."""
        group = SHARING * self.size / self.constants.sharing
        rotations = min(max(1, math.ceil(people / group)), max(1, max_counters // self.size), MAX_ROTATIONS)
        return replace(self, rotations=rotations)

    def _check_parameters(self) -> None:
        if self.delta != 0:
            raise SurveyError("delta must be 0 for codebook: its guarantee is pure epsilon-LDP").at("delta")
        self._check_own("size", MIN_SIZE, 2**21)
        self._check_own("candidates", 2, 2 * self.size)
        self._check_own("marked", 1, self.candidates // 2)
        self._check_own("rotations", 1, MAX_ROTATIONS)
        self._check_own("layers", layers_for(self.size), 8)
        if self.size & (self.size - 1) or self.candidates & (self.candidates - 1):
            raise SurveyError("size and candidates must be powers of two").at("size")
        if self.size <= self.dimension:
            raise SurveyError(f"size is {self.size}: it must be above the dimension, {self.dimension}").at("size")
        if not self.constants.is_informative:
            raise MechanismError(
                f"epsilon {self.epsilon:g} is too small: the report carries nothing; use a larger one"
            ).at("epsilon")

    @cached_property
    def codec(self) -> IndexCodec:
        """2 (rotation D + row) + sign."""
        return IndexCodec(2 * self.rotations * self.size)

    @property
    def cells(self) -> int:
        """One signed count per rotation and row."""
        return self.rotations * self.size

    @property
    def input_length(self) -> InputLength:
        """A vector is rotated in up to twice as many dimensions."""
        return InputLength("a vector", max(self.dimension, self.size // 2), "coordinates")

    @cached_property
    def levels(self) -> TwoLevel:
        """The two weights of a candidate, at the rounded probability really used."""
        return TwoLevel(self.marked, self.candidates - self.marked, self.epsilon)

    @property
    def exact_epsilon(self) -> float:
        """The epsilon of the rounded channel; never above the stated one."""
        return epsilon_of(self.levels.ratio)

    @cached_property
    def constants(self) -> CodebookConstants:
        """De-biasing and error constants at the rounded probability really used."""
        inside = float(self.levels.probability_inside)
        return codebook_constants(self.size, self.candidates, self.marked, inside)

    def blanket(self) -> Blanket:
        """The law of two vectors that mark no candidate in common, which is the highest in convex order.

        Rotation and block are drawn alike for all, and given them all vectors mark m of M candidates, whatever
        floating point does; a vector and its opposite mark opposite ones.
        """
        M, levels = self.candidates, self.levels
        law = two_level_law(
            levels.each_inside * M, levels.each_outside * M, favoured=Fraction(self.marked, M), shared=Fraction(0)
        )
        return Blanket((law,), "opposite vectors mark no candidate in common")

    def _randomize(self, vector: Floats, source: Source) -> Report:
        from sottovoce.kernels.rotations import rotate

        h = self.candidates // 2
        rotation = source.below(self.rotations)
        block = source.below(self.size // h)
        inside = source.bernoulli(self.levels.threshold)
        among_marked = source.below(self.marked)
        among_others = source.below(self.candidates - self.marked)
        unit = lift(vector, self.radius, self.size)[0]
        scores = rotate(unit, self.key, rotation, self.layers)[block * h : (block + 1) * h]
        top = mark(scores, self.marked)
        group = np.flatnonzero(top == inside)
        candidate = int(group[among_marked if inside else among_others])
        return 2 * (rotation * self.size + block * h) + candidate

    def randomize_many(self, vectors: Floats, rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import below_threshold
        from sottovoce.kernels.rotations import simulate_codebook

        n, h = len(vectors), self.candidates // 2
        inside = below_threshold(self.levels.threshold, n, rng)
        ranks = np.where(
            inside, rng.integers(0, self.marked, size=n), rng.integers(0, self.candidates - self.marked, size=n)
        )
        return simulate_codebook(
            np.asarray(vectors, dtype=np.float64),
            self.radius,
            self.size,
            self.key,
            self.layers,
            h,
            self.marked,
            rng.integers(0, self.rotations, size=n),
            rng.integers(0, self.size // h, size=n),
            inside,
            ranks,
            lambda rows: lift(rows, self.radius, self.size),
        )

    @property
    def largest_step(self) -> int:
        """A report is counted once."""
        return 1

    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Signed counts over (rotation, row)."""
        from sottovoce.kernels.rotations import count_signed

        count_signed(counts, batch)

    def estimate(self, counts: Counts | Sharded, n_reports: int) -> Floats:
        """r/(c n) sum over rotations of Q^T counts, padding and lift dropped; counts that come in shards too."""
        from sottovoce.kernels.rotations import fold_counts

        folded = np.zeros(self.size)
        for first, block in blocks_of_rows(counts, self.rotations, self.size):
            folded += fold_counts(block, self.key, self.layers, first)
        return folded[: self.dimension] * (self.radius / (self.constants.scale * n_reports))

    @property
    def noise(self) -> float:
        """r^2 (1 - kappa)/(c^2 (D-1)), each user with a rotation of its own."""
        return self.radius**2 * self.constants.noise

    def sharing_factor(self, n_reports: int) -> float:
        """What sharing rotations can multiply the noise by, at the very worst (everybody the same vector)."""
        return 1 + self.constants.sharing * n_reports / (self.rotations * self.size)

    def expected_maximum(self, directions: int, n_reports: int) -> float:
        """By `CodebookConstants.expected_maximum`: the proxy is for people who share no rotations."""
        return self.radius * self.constants.expected_maximum(self.rotations, directions, n_reports)

    @property
    def measured_bias(self) -> float:
        """r times `ROTATION_BIAS`: rotations are of signs and transforms, not uniformly random."""
        return self.radius * ROTATION_BIAS

    @property
    def along(self) -> float:
        """r^2 kappa/c^2."""
        return self.radius**2 * self.constants.along

    @property
    def truncation(self) -> float | None:
        """None: what sharing rotations adds is bounded."""
        return None

    @property
    def proxy(self) -> float:
        """r^2 (max(1/(D-1), T)/c^2 + 1)."""
        return self.radius**2 * self.constants.proxy

    @property
    def worst_total_variance(self) -> float:
        """r^2 [(d-1) noise + along]: one direction holds all of everybody's vector, the others none."""
        return self.radius**2 * ((self.dimension - 1) * self.constants.noise + self.constants.along)

    def probability(self, report: Report, vector: Floats) -> Fraction:
        """The rotation's and the block's shares of draws, times the chance of a candidate that is marked or not."""
        from sottovoce.kernels.rotations import rotate

        cell, sign = divmod(cast(int, report), 2)
        (rotation, row), h = divmod(cell, self.size), self.candidates // 2
        block, index = divmod(row, h)
        unit = lift(inside_ball(vector, self.radius), self.radius, self.size)[0]
        top = mark(rotate(unit, self.key, rotation, self.layers)[block * h : (block + 1) * h], self.marked)
        chance = self.levels.each_inside if top[2 * index + sign] else self.levels.each_outside
        return chance / (self.rotations * (self.size // h))

    def log_prob(self, report: Report, vector: Floats) -> float:
        return log_of(self.probability(report, vector))

    def privacy_ratio(self) -> Fraction:
        """The ratio of the two levels: whatever the ranking does, equally many candidates are marked."""
        return self.levels.ratio

    @classmethod
    def miniatures(cls, epsilon: float) -> tuple[Self, ...]:
        """So few rotations and candidates that every outcome can be run."""
        return (cls(3, 1.0, epsilon, 0.0, MIN_SIZE, 4, 1, 1, 6),)

    def own_miniatures(self) -> tuple[Self, ...]:
        return tuple(replace(small, radius=self.radius, key=self.key) for small in self.miniatures(self.epsilon))

    def miniature_inputs(self) -> list[Floats]:
        """The centre, and both ends of an axis."""
        end = np.eye(1, self.dimension)[0] * self.radius
        return [0 * end, end, -end]

    def outputs(self) -> Iterator[Report]:
        """Every candidate of every rotation."""
        return iter(range(2 * self.cells))

    def audit_reference(self) -> CodebookReference:
        return CodebookReference(
            self.dimension,
            self.radius,
            self.epsilon,
            self.size,
            self.candidates,
            self.marked,
            self.rotations,
            self.layers,
            self.key,
            mark,
        )

    def citation(self) -> str:
        """The limit it approaches is PrivUnitG's."""
        return (
            "@inproceedings{asi2022optimal, author={Asi, Hilal and Feldman, Vitaly and Talwar, Kunal}, title={Optimal "
            "Algorithms for Mean Estimation under Local Differential Privacy}, booktitle={ICML}, year={2022}}"
        )


def layers_for(size: int) -> int:
    """Layers that bring a rotation's bias against a uniformly random one below `ROTATION_BIAS`."""
    return {64: 6, 128: 5, 256: 4, 512: 4}.get(size, 3)


def mark(scores: Floats, marked: int) -> NDArray[np.bool_]:
    """Which of the 2 h candidates are the `marked` highest; candidate 2 i is row i, 2 i + 1 its opposite.

    Exactly `marked` are, whatever the scores: one that is not a number counts as zero, ties go to the lower row, and
    of a row and its opposite at most one is marked, since at most h are.

    Examples
    --------
    >>> mark(np.array([0.1, -0.7, np.nan]), 2).astype(int)
    array([1, 0, 0, 1, 0, 0])
    """
    finite = np.where(np.isnan(scores), 0.0, scores)
    rows = np.argsort(-np.abs(finite), kind="stable")[:marked]
    top = np.zeros(2 * len(scores), dtype=np.bool_)
    top[2 * rows + (finite[rows] < 0)] = True
    return top
