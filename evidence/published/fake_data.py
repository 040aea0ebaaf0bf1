"""Random sampling plus fake data (RS+FD, Arcolezi et al. 2021): its channel, and the epsilon that it really has.

Never deploy it as claimed. One attribute of d, drawn in secret, is randomized at the amplified epsilon
ln(d (e^eps - 1) + 1); the others are made up. Sampling would amplify if reports did not show every attribute. They do:
a record that differs in all attributes changes every term of the mixture, so the claimed epsilon is really the
amplified one. Which attribute was drawn can besides be guessed from the report (Arcolezi, Gambs, Couchot,
Palamidessi: On the risks of collecting multidimensional data under local differential privacy. PVLDB 16(5), 2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Final

from sottovoce.core.errors import SimulationError

__all__ = [
    "FAKE_DATA_CITATION",
    "audited_epsilon",
    "claimed_epsilon",
    "fake_data_probability",
    "fake_data_ratio",
    "zero_vector_ratio",
]

FAKE_DATA_CITATION: Final = (
    "Arcolezi, Couchot, Al Bouna, Xiao: Random sampling plus fake data: multidimensional frequency estimates with "
    "local differential privacy. CIKM 2021"
)

_MOST_PAIRS: Final = 10**7


def audited_epsilon(attributes: int, claimed: float) -> float:
    """The epsilon of a whole record's report, where `claimed` is what the package is given.

    Examples
    --------
    >>> [round(audited_epsilon(10, claimed), 2) for claimed in (1, 2, 4)]
    [2.9, 4.17, 6.29]
    """
    return math.log1p(attributes * math.expm1(claimed))


def claimed_epsilon(attributes: int, audited: float) -> float:
    """What the package must be given so that whole records have the epsilon `audited`.

    Examples
    --------
    >>> round(claimed_epsilon(10, audited_epsilon(10, 1.0)), 12)
    1.0
    """
    return math.log1p(math.expm1(audited) / attributes)


def fake_data_probability(
    report: Sequence[int], record: Sequence[int], sizes: Sequence[int], ratio: Fraction
) -> Fraction:
    """P(report | record) of RS+FD with randomized response, exactly.

    Parameters
    ----------
    sizes
        The number of values of each attribute.
    ratio
        e to the claimed epsilon.
    """
    amplified = len(sizes) * (ratio - 1) + 1
    fake = Fraction(1, math.prod(sizes))
    drawn = sum(
        size * (amplified if sent == held else 1) / (amplified + size - 1)
        for sent, held, size in zip(report, record, sizes, strict=True)
    )
    return fake * drawn / len(sizes)


def fake_data_ratio(sizes: Sequence[int], ratio: Fraction) -> Fraction:
    """The largest P(report | record)/P(report | other record), by enumerating all of them; e to the real epsilon.

    Examples
    --------
    >>> fake_data_ratio([2, 3, 4], Fraction(3)), 3 * (3 - 1) + 1
    (Fraction(7, 1), 7)
    """
    if math.prod(sizes) ** 2 > _MOST_PAIRS:
        raise SimulationError("the records are too many to enumerate: use fewer or smaller attributes")
    records = list(product(*(range(size) for size in sizes)))
    worst = Fraction(0)
    for report in records:
        chances = [fake_data_probability(report, record, sizes, ratio) for record in records]
        worst = max(worst, max(chances) / min(chances))
    return worst


def zero_vector_ratio(sizes: Sequence[int], ratio: Fraction) -> Fraction:
    """The same for optimized unary encoding with fake zero vectors (RS+FD[OUE-z]).

    A person's value keeps its bit with probability 1/2, every other bit is set with probability 1/(amplified + 1); a
    fake attribute has no value.

    Examples
    --------
    >>> zero_vector_ratio([2, 3], Fraction(3)), 2 * (3 - 1) + 1
    (Fraction(5, 1), 5)
    """
    amplified = len(sizes) * (ratio - 1) + 1
    # A term of the mixture over that of zero vectors alone depends on one bit: that of the value held.
    held = {True: (amplified + 1) / 2, False: (amplified + 1) / (2 * amplified)}
    if math.prod(sizes) << sum(sizes) > _MOST_PAIRS:
        raise SimulationError("the reports are too many to enumerate: use fewer or smaller attributes")
    records = list(product(*(range(size) for size in sizes)))
    reports = product(*(list(product((False, True), repeat=size)) for size in sizes))
    worst = Fraction(0)
    for report in reports:
        terms = [sum(held[bits[value]] for bits, value in zip(report, record, strict=True)) for record in records]
        worst = max(worst, Fraction(max(terms)) / Fraction(min(terms)))
    return worst
