"""The exact delta of a shuffled crowd, and of the blanket's lemma, by going through every multiset; in integers.

A channel is a matrix of integers, a row per value, whose rows add up to one number: chances times that number. Laws of
multisets are arrays over the counts of all reports but the last, so that a product of channels is a convolution.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations
from operator import mul

import numpy as np
from numpy.typing import NDArray

Channel = tuple[tuple[int, ...], ...]
Law = NDArray[np.int64]


@cache
def crowd_law(channel: Channel, people: tuple[int, ...], n: int) -> Law:
    """The law of the multiset of these people's reports, times a power of the rows' total."""
    reports = len(channel[0])
    if not people:
        start = np.zeros((n + 1,) * (reports - 1), dtype=np.int64)
        start[(0,) * (reports - 1)] = 1
        return start
    before, row = crowd_law(channel, people[:-1], n), channel[people[-1]]
    law = row[-1] * before
    for axis in range(reports - 1):
        law = law + row[axis] * np.roll(before, 1, axis=axis)  # nothing goes round: no count exceeds n
    return law


def exact_delta(channel: Channel, n: int, weight: Fraction) -> Fraction:
    """The largest hockey-stick divergence of two crowds of n that differ in one person's value."""
    values, total = range(len(channel)), sum(channel[0])
    assert total**n * max(weight.numerator, weight.denominator) < 2**62, "everything fits into 64 bits"
    most = 0
    for others in combinations_with_replacement(values, n - 1):
        laws = [crowd_law(channel, (*others, x), n) for x in values]
        for x, y in permutations(values, 2):
            excess = weight.denominator * laws[x] - weight.numerator * laws[y]
            most = max(most, int(np.maximum(excess, 0).sum()))
    return Fraction(most, weight.denominator * total**n)


def lemma_delta(channel: Channel, n: int, weight: Fraction) -> Fraction:
    """The right side of the blanket's lemma, largest over pairs: a sum over all multisets of the blanket's reports."""
    least = [min(column) for column in zip(*channel, strict=True)]
    total, mass = sum(channel[0]), sum(least)
    # Counts of each report of the blanket, and last of those who do not use it.
    sizes = [*least, total - mass]
    ways = {row: _multinomial(row) * math.prod(map(pow, sizes, row)) for row in _compositions(n, len(sizes))}
    most = Fraction(0)
    for x, y in permutations(range(len(channel)), 2):
        losses = [
            Fraction(mass, total) * (channel[x][i] - weight * channel[y][i]) / g if g else Fraction(0)
            for i, g in enumerate(least)
        ]
        sums = ((way, sum(map(mul, row, losses), Fraction(0))) for row, way in ways.items())
        found = sum((way * loss for way, loss in sums if loss > 0), Fraction(0))
        most = max(most, found / total**n / (Fraction(mass, total) * n))
    return most


def _multinomial(counts: tuple[int, ...]) -> int:
    return math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))


def _compositions(n: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(n,)]
    return [(k, *rest) for k in range(n + 1) for rest in _compositions(n - k, parts - 1)]
