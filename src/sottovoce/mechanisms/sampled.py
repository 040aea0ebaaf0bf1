"""Mechanisms that first draw, in public, what they will report on: a level of a tree, or a group of coefficients."""

from __future__ import annotations

import abc
import math
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import ClassVar, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.mechanisms.base import Batch, Counts, Floats, Report
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.reference import (
    ChannelReference,
    CriticalRun,
    Draws,
    Rows,
    TwoLevelReference,
    Values,
    index_rows,
    odd_parity,
)
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.randomness import Source
from sottovoce.randomness.scripts import Request
from sottovoce.theory.blanket import Blanket
from sottovoce.theory.blanket_laws import binary_law

__all__ = ["MAX_TILT", "LevelResponse", "tilted_weights"]

MAX_TILT = 15
"""Weights of neighbouring levels differ by a factor of 16 at most."""

_HEAVIEST = 2**10

_MOST_COLUMNS = 2**16
"""Columns of all levels up to which a client in another language is run on each."""


def tilted_weights(levels: int, tilt: int) -> tuple[int, ...]:
    """Integer weights of levels, the last the heaviest: going up, each is (16 - tilt)/16 of the one below it.

    A negative tilt mirrors them: the first is the heaviest. Integers and floors only, so that every device and
    collector finds the same; no weight is below 1; common factors are divided out.

    Examples
    --------
    >>> tilted_weights(4, 0), tilted_weights(4, 8), tilted_weights(3, -12)
    ((1, 1, 1, 1), (1, 2, 4, 8), (16, 4, 1))
    """
    falling = list(accumulate(range(levels - 1), lambda w, _: max(1, w * (16 - abs(tilt)) // 16), initial=_HEAVIEST))
    common = math.gcd(*falling)
    weights = tuple(weight // common for weight in falling)
    return weights if tilt < 0 else weights[::-1]


@dataclass(frozen=True)
class LevelResponse(ChannelMechanism):
    """One level of a tree over the values, drawn in public; then a random column of a Hadamard matrix, and a bit.

    The bit is the sign of entry (node, column), times the side of the value in its node where the tree is signed,
    through binary randomized response. Given level and column, which do not depend on the value, a report has two
    probabilities in the ratio e^epsilon; and for every value the signs of two different nodes are uncorrelated, so
    that the noise is the same in all directions (`docs/contributors/theory/structured_strategies.md`).
    """

    counted_as = "number"
    signed: ClassVar[bool]
    """Whether the value's side (first half of its node, or second) is reported too."""

    # --- what a subclass writes ---------------------------------------------------------

    @property
    @abc.abstractmethod
    def spans(self) -> tuple[int, ...]:
        """How many values a node holds, level by level, the widest first."""

    @property
    @abc.abstractmethod
    def weights(self) -> tuple[int, ...]:
        """How often each level is drawn, out of their sum."""

    # --- what follows from it -----------------------------------------------------------

    @cached_property
    @final
    def nodes(self) -> tuple[int, ...]:
        """How many nodes of each level hold a value."""
        return tuple(-(-self.domain_size // span) for span in self.spans)

    @cached_property
    @final
    def columns(self) -> tuple[int, ...]:
        """The size of each level's Hadamard matrix: the least power of two that has a row for every node."""
        return tuple(1 << (nodes - 1).bit_length() for nodes in self.nodes)

    @cached_property
    @final
    def offsets(self) -> tuple[int, ...]:
        """The first report of each level, and the number of reports."""
        return tuple(accumulate((2 * size for size in self.columns), initial=0))

    @cached_property
    @final
    def _drawn(self) -> tuple[int, ...]:
        """Cumulative weights: the level of a draw is how many of these it has reached."""
        return tuple(accumulate(self.weights))

    @cached_property
    @final
    def _response(self) -> TwoLevel:
        return TwoLevel(1, 1, self.epsilon)

    @property
    @final
    def signal(self) -> Fraction:
        """2w - 1: the mean of a reported sign, for a sign of +1."""
        return 2 * self._response.probability_inside - 1

    @property
    @final
    def cells(self) -> int:
        """One count per report."""
        return self.offsets[-1]

    @cached_property
    @final
    def codec(self) -> IndexCodec:
        """A report is the number of its level's first report, plus the column, plus the matrix's size for a -1."""
        return IndexCodec(self.cells)

    @final
    def _odd(self, level: int, column: int, value: int) -> bool:
        """Whether the true sign is -1."""
        span = self.spans[level]
        odd = (value // span & column).bit_count() % 2
        return bool(odd ^ (value // (span // 2) % 2)) if self.signed else bool(odd)

    @final
    def _randomize(self, value: int, source: Source) -> Report:
        level = bisect_right(self._drawn, source.below(self._drawn[-1]))
        kept = source.bernoulli(self._response.threshold)
        size = self.columns[level]
        # Drawn for the largest matrix whichever level it is: sizes are powers of two, so the low bits are uniform.
        column = source.below(max(self.columns)) & (size - 1)
        negative = self._odd(level, column, value) == kept
        return self.offsets[level] + column + size * negative

    @final
    def randomize_many(self, values: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        from sottovoce.kernels.channels import below_threshold

        n = len(values)
        levels = np.searchsorted(self._drawn, rng.integers(0, self._drawn[-1], size=n), "right")
        kept = below_threshold(self._response.threshold, n, rng)
        size, span = np.array(self.columns)[levels], np.array(self.spans)[levels]
        column = rng.integers(0, max(self.columns), size=n) & (size - 1)
        odd = np.bitwise_count(values // span & column) & 1
        if self.signed:
            odd ^= (values // (span >> 1) & 1).astype(np.uint8)
        return np.asarray(np.array(self.offsets)[levels] + column + size * (odd == kept))

    @final
    def count_into(self, counts: Counts, batch: Batch) -> None:
        """Histogram of reports."""
        from sottovoce.kernels.counting import count_into

        count_into(counts, batch)

    @final
    def report_chances(self, shares: Floats) -> Floats:
        """The level's share over the matrix's size, halved, times sum p plus or minus the signal's mean sign."""
        from sottovoce.kernels.walsh import walsh_hadamard

        chances, total = np.empty(self.cells), float(shares.sum())
        for level, (size, span, nodes) in enumerate(zip(self.columns, self.spans, self.nodes, strict=True)):
            signs = np.zeros(size)
            signs[:nodes] = float(self.signal) * self._node_signs(shares, span)
            walsh_hadamard(signs)
            start, each = self.offsets[level], self._halved(level)
            np.multiply(each, total + signs, out=chances[start : start + size])
            np.multiply(each, total - signs, out=chances[start + size : start + 2 * size])
        return chances

    @final
    def report_means(self, numbers: Floats) -> Floats:
        """The transpose of `report_chances`, level by level."""
        from sottovoce.kernels.walsh import walsh_hadamard

        means = np.zeros(self.domain_size)
        for level, (size, span, nodes) in enumerate(zip(self.columns, self.spans, self.nodes, strict=True)):
            start, each = self.offsets[level], self._halved(level)
            plus, minus = numbers[start : start + size], numbers[start + size : start + 2 * size]
            signs = plus - minus
            walsh_hadamard(signs)
            by_node = np.repeat(each * float(self.signal) * signs[:nodes], span)
            if self.signed:
                by_node.reshape(nodes, 2, span // 2)[:, 1] *= -1
            means += each * float(plus.sum() + minus.sum())
            means += by_node[: self.domain_size]
        return means

    @final
    def _halved(self, level: int) -> float:
        """Half the probability of a level's column."""
        return self.weights[level] / (2 * self._drawn[-1] * self.columns[level])

    @final
    def _node_signs(self, shares: Floats, span: int) -> Floats:
        """The share of every node of `span` values; where the tree is signed, that of its first half less the rest."""
        padded = np.zeros(-(-self.domain_size // span) * span)
        padded[: self.domain_size] = shares
        if not self.signed:
            return np.asarray(padded.reshape(-1, span).sum(axis=1))
        halves = padded.reshape(-1, 2, span // 2).sum(axis=2)
        return np.asarray(halves[:, 0] - halves[:, 1])

    @final
    def probability(self, report: Report, value: int) -> Fraction:
        """The level's share, over the matrix's size, times w for the true sign and 1 - w for the other."""
        number = cast(int, report)
        level = bisect_right(self.offsets, number) - 1
        negative, column = divmod(number - self.offsets[level], self.columns[level])
        truthful = self._odd(level, column, value) == bool(negative)
        chance = self._response.each_inside if truthful else self._response.each_outside
        return chance * Fraction(self.weights[level], self._drawn[-1] * self.columns[level])

    @final
    def privacy_ratio(self) -> Fraction:
        """Level and column are drawn alike for all; given them, both signs are true for some value of the last level.

        There the values 0 and 1 lie in different nodes, whose rows differ somewhere, or on different sides of one.
        """
        return self._response.ratio

    @final
    def blanket(self) -> Blanket:
        """The law of two values whose signs differ most often.

        On a level, the signs of two nodes differ in half of all columns. Where the tree is not signed, values of
        different nodes of the first level are in different ones on all: no signs differ more often; column 0 has one
        sign for all. Where it is signed, two sides of one node differ in all columns, on one level: on those above it
        they never differ, and below it in half of all. There no column has one sign for all, as the two sides of
        node 0 differ; nor has any but column 0 without signs, as a bit of the column's number is itself a node's.
        """
        shares = [Fraction(weight, self._drawn[-1]) for weight in self.weights]
        if self.signed:
            differing = max(share + sum(shares[level + 1 :], Fraction(0)) / 2 for level, share in enumerate(shares))
            constant = Fraction(0)
        else:
            differing = Fraction(1, 2)
            constant = sum((share / size for share, size in zip(shares, self.columns, strict=True)), Fraction(0))
        law = binary_law(self._response.probability_inside, differing, constant)
        return Blanket((law,), "no two values' signs differ more often")

    @final
    @final
    def audit_reference(self) -> ChannelReference:
        return LevelReference(self.domain_size, self.epsilon, self.spans, self.weights, signed=self.signed)

    def outputs(self) -> Iterator[Report]:
        """All reports."""
        return iter(range(self.cells))


class LevelReference(TwoLevelReference):
    """Level and column are drawn in public; the coin keeps the sign of the value's node there, or turns it."""

    def __init__(
        self, values: int, epsilon: float, spans: tuple[int, ...], weights: tuple[int, ...], *, signed: bool
    ) -> None:
        super().__init__(values, epsilon, inside=1, outside=1)
        self.spans, self.signed = np.array(spans), signed
        self.columns = np.array([1 << (-(-values // span) - 1).bit_length() for span in spans])
        self.shares = np.array([0, *accumulate(weights)])
        self.firsts = np.array([0, *accumulate(self.columns.tolist())])
        self._requests = [int(self.shares[-1]), -self.threshold, int(self.columns.max())]

    def requests(self, value: int) -> list[Request]:
        return self._requests

    def payloads(self, values: Values, draws: Draws) -> Rows:
        drawn, kept, column = draws.T
        level = np.searchsorted(self.shares, drawn, "right") - 1
        span, size = self.spans[level], self.columns[level]
        column = column % size
        negative = odd_parity(values // span & column)
        if self.signed:
            negative = negative ^ (values % span >= span // 2)
        report = 2 * self.firsts[level] + column + size * (negative == (kept == 1))
        return index_rows(report, 2 * int(self.firsts[-1]))

    def critical_runs(self, rng: np.random.Generator) -> Iterator[CriticalRun]:
        """Every column of every level: the first draw is of a level, by its weight, and the last one of a column."""
        if int(self.firsts[-1]) > _MOST_COLUMNS:
            return
        for first, size in zip(self.shares.tolist(), self.columns.tolist(), strict=False):
            for column in range(size):
                yield CriticalRun(int(rng.integers(self.values)), "up", {0: first, 2: column})
                yield CriticalRun(int(rng.integers(self.values)), "down", {0: first, 2: column})

    @cached_property
    def cells(self) -> int:
        """Every column of every level."""
        return int(self.firsts[-1])

    def sweep(self, numbers: Values, rng: np.random.Generator) -> tuple[Values, Draws]:
        """The level and column of that number, by any draw that gives the level."""
        level = np.searchsorted(self.firsts, numbers, "right") - 1
        size, widest = self.columns[level], int(self.columns.max())
        drawn = rng.integers(self.shares[level], self.shares[level + 1])
        column = numbers - self.firsts[level] + size * rng.integers(0, widest // size)
        return rng.integers(0, self.values, size=len(numbers)), np.stack([drawn, 0 * drawn, column], axis=1)
