"""The spread of a mechanism's answers: the largest difference between two reports, in closed form.

g(z) is the raw estimate from the report z alone; estimates are means of it. The spread of answer i is the largest
g_i(z) less the smallest, over all reports that decode: a malicious device may send any of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "ReconstructionNorms",
    "Spread",
    "farthest",
    "norms_of_columns",
    "spread_of_channel",
    "spread_of_vectors",
]

Floats = NDArray[np.float64]

UNLUCKY_BITS: Final = 64
"""A bound on all rows of public rotations fails for one survey in 2^64."""

_MOST_REPORTS: Final = 4096
"""Reports up to which all pairs are compared."""

_MOST_PRODUCTS: Final = 2**21
"""Up to this many products of answers with rows of rotations, all are evaluated."""


@final
@dataclass(frozen=True, eq=False)
class Spread:
    """The largest differences of the answers between two single reports.

    Attributes
    ----------
    per_answer
        For each raw answer.
    l2
        For all raw answers together.
    projected
        For all projected answers together; an upper bound.
    exact, l2_exact
        Whether two reports are that far apart; otherwise it is an upper bound.
    approximate
        Empty; or under which condition the numbers are upper bounds, and then only to first order in the number of
        reports.
    """

    per_answer: Floats
    l2: float
    projected: float
    exact: bool
    l2_exact: bool
    approximate: str = ""


@final
@dataclass(frozen=True, eq=False)
class ReconstructionNorms:
    """Answers = shift + R y from a mean y that a vector mechanism estimates.

    Attributes
    ----------
    absolute, length
        L1 and L2 norms of R's rows.
    norm
        R's largest singular value.
    matrix
        R, where it has few entries; None where it is too large, or the identity.
    """

    absolute: Floats
    length: Floats
    norm: float
    matrix: Floats | None

    @classmethod
    def identity(cls, dimension: int) -> ReconstructionNorms:
        """The answers are the mean itself."""
        ones = np.ones(dimension)
        small = dimension * dimension <= _MOST_PRODUCTS
        return cls(ones, ones, 1.0, np.eye(dimension) if small else None)


def spread_of_channel(mechanism: FiniteMechanism) -> Spread:
    """Every value's spread, as the mechanism knows it, else by going through all reports.

    Examples
    --------
    >>> from sottovoce.mechanisms import create
    >>> spread = spread_of_channel(create("hadamard", 1_000_000, 1.0))
    >>> round(float(spread.per_answer[0]), 3), spread.exact
    (4.328, True)
    """
    spread = mechanism.report_spread
    if spread is None:
        return _listed(mechanism)
    each = np.broadcast_to(np.float64(spread.each), (mechanism.domain_size,))
    return Spread(each, spread.l2, spread.l2, True, spread.l2_exact)


def _listed(mechanism: FiniteMechanism) -> Spread:
    """By going through all reports, for a mechanism that nothing else is known of."""
    high, low = np.full(mechanism.domain_size, -np.inf), np.full(mechanism.domain_size, np.inf)
    for _, answers in mechanism.single_estimates():
        high, low = np.maximum(high, answers), np.minimum(low, answers)
    l2 = float(np.linalg.norm(high - low))
    return Spread(high - low, l2, l2, True, False)


def spread_of_vectors(mechanism: VectorMechanism, reading: ReconstructionNorms | None = None) -> Spread:
    """What two reports of a vector mechanism can do to answers read from the mean it estimates.

    Examples
    --------
    >>> from sottovoce.mechanisms.binary import Binary
    >>> spread_of_vectors(Binary(1, 1.0, 1.0, 0.0)).per_answer.round(3)
    array([4.328])
    """
    whole = reading is None
    read = ReconstructionNorms.identity(mechanism.dimension) if reading is None else reading
    if isinstance(mechanism, Codebook):
        return _codebook(mechanism, read, whole)
    reach = mechanism.reach
    if reach is None:
        raise MechanismError(f"how far {mechanism.name} reports reach is not known")
    l2 = 2 * reach.entry * reach.length * read.norm
    exact = reach.exact and (whole or mechanism.dimension == 1)
    return Spread(2 * reach.entry * read.absolute, l2, l2, reach.exact, exact)


def _codebook(mechanism: Codebook, read: ReconstructionNorms, whole: bool) -> Spread:
    """A report is a row of a rotation or its opposite, times r/c; a malicious device chooses the worst rotation.

    Few rows are enumerated. For many: an entry of Q a, Q's last layer being random signs s and a
    Walsh-Hadamard transform, is a sum of s_j z_j/sqrt(D) with |z| = |a|, and by Hoeffding's inequality larger than
    t |a| with probability 2 exp(-D t^2/2) at most. t makes that 2^-64 for all rows, rotations and answers together.
    """
    step = 2 * mechanism.radius / mechanism.constants.scale
    products = mechanism.rotations * mechanism.size * len(read.length)
    if read.matrix is not None and products <= _MOST_PRODUCTS:
        longest, far = _all_rows(mechanism, read.matrix)
        return Spread(step * longest, step * far, step * (far if whole else read.norm), True, True)
    tail = math.log(2 * products) + UNLUCKY_BITS * math.log(2)
    entry = min(1.0, math.sqrt(2 * tail / mechanism.size))
    return Spread(step * entry * read.length, step * read.norm, step * read.norm, False, False)


def _all_rows(mechanism: Codebook, matrix: Floats) -> tuple[Floats, float]:
    """For each answer the largest |<answer's row of R, row of Q>|, and the largest |R q| over rows q of all Q."""
    from sottovoce.kernels.rotations import rotate_rows

    answers, dimension = matrix.shape
    longest, far = np.zeros(answers), 0.0
    for rotation in range(mechanism.rotations):
        turned = np.zeros((answers, mechanism.size))
        turned[:, :dimension] = matrix
        rotate_rows(turned, mechanism.key, rotation, mechanism.layers)
        longest = np.maximum(longest, np.abs(turned).max(axis=1))
        far = max(far, float(np.einsum("ij,ij->j", turned, turned).max()))
    return longest, math.sqrt(far)


def norms_of_columns(matrix_columns: Iterable[Floats], answers: int, columns: int, norm: float) -> ReconstructionNorms:
    """The reading whose R has these columns, one after another: norms are added up, R is kept if it is small."""
    absolute, squares = np.zeros(answers), np.zeros(answers)
    kept = np.empty((answers, columns)) if answers * columns <= _MOST_PRODUCTS else None
    for index, column in enumerate(matrix_columns):
        absolute += np.abs(column)
        squares += column**2
        if kept is not None:
            kept[:, index] = column
    return ReconstructionNorms(absolute, np.sqrt(squares), norm, kept)


def farthest(columns: Floats, gram: Floats | None = None) -> tuple[float, bool]:
    """The largest |A (x - y)| over pairs of columns, and whether it is exact: for very many a diameter bounds it.

    `gram` is A^T A; without it, A is the identity.
    """
    centred = columns - columns.mean(axis=1, keepdims=True)
    carried = centred if gram is None else gram @ centred
    lengths = np.einsum("ij,ij->j", centred, carried)
    if columns.shape[1] > _MOST_REPORTS:
        return 2 * math.sqrt(max(0.0, float(lengths.max()))), False
    squares = lengths[:, None] + lengths - 2 * (centred.T @ carried)
    return math.sqrt(max(0.0, float(squares.max()))), True
