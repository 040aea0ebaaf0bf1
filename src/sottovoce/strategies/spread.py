"""How far apart two reports of a mechanism can put the answers: closed forms, no list of reports.

g(z) is the raw estimate made from the report z alone; estimates are means of it. The spread of answer i is the largest
g_i(z) less the smallest, over all reports that decode: a hostile device need not draw its report, only name one.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import MechanismError
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.finite import FiniteMechanism
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.sphere import FIXED_POINT, Sphere
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.support import SupportMechanism
from sottovoce.mechanisms.unary import Unary
from sottovoce.mechanisms.vector import VectorMechanism

__all__ = [
    "MOST_LISTED",
    "Reading",
    "Spread",
    "differing",
    "estimates_of_reports",
    "most_odd",
    "reading_of",
    "spread_of_channel",
    "spread_of_vectors",
]

Floats = NDArray[np.float64]

LARGEST_NORMAL: Final = math.sqrt(66 * math.log(2)) + 2.0**-31
"""The largest normal of a seed, rounded to its fixed point: a word of 32 bits gives no more."""

UNLUCKY_BITS: Final = 64
"""A bound on all rows of public rotations fails for one survey in 2^64."""

_MOST_PRODUCTS: Final = 2**21
"""Up to so many products of answers with rows of rotations, all are looked at."""

MOST_LISTED: Final = 2**22
"""Products of reports and values up to which all reports are gone through."""


@final
@dataclass(frozen=True, eq=False)
class Spread:
    """How far apart two single reports can put the answers.

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
    """

    per_answer: Floats
    l2: float
    projected: float
    exact: bool
    l2_exact: bool


@final
@dataclass(frozen=True, eq=False)
class Reading:
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
    def identity(cls, dimension: int) -> Reading:
        """The answers are the mean itself."""
        ones = np.ones(dimension)
        small = dimension * dimension <= _MOST_PRODUCTS
        return cls(ones, ones, 1.0, np.eye(dimension) if small else None)


def most_odd(n: int) -> int:
    """The largest number of i in 0 .. n-1 with an odd <i, x>, over all bit masks x.

    Below the lowest bit b of x nothing counts. Runs of 2^(b+1) numbers are half odd; of the rest of n, which is a run
    of 2^b and a tail if bit b of n is set and a tail only if not, x's higher bits can make one of the two odd, if there
    is any higher bit to choose.

    Examples
    --------
    >>> [most_odd(n) for n in (1, 2, 3, 4, 7, 8)]
    [0, 1, 2, 2, 4, 4]
    """
    best = 0
    for b in range(n.bit_length()):
        run, tail = 1 << b, n & ((1 << b) - 1)
        pairs, has_run = n >> (b + 1), bool(n >> b & 1)
        one, none = (run, tail) if has_run else (tail, 0)
        rest = one if pairs else none
        best = max(best, pairs * run + rest)
    return best


def differing(mechanism: SupportMechanism) -> tuple[int, bool]:
    """In how many values the supports of two reports can differ, and whether that is exact."""
    J = mechanism.domain_size
    match mechanism:
        case RandomizedResponse():
            return 2, True
        case SubsetSelection():
            return 2 * min(mechanism.subset_size, J - mechanism.subset_size), True
        case Unary():
            return J, True
        case ProjectiveGeometry():
            apart = 2 * (mechanism.space.hyperplane_points - mechanism.space.shared_points)
            return min(J, apart), mechanism.space.points == J
    return J, False


def spread_of_channel(mechanism: FiniteMechanism) -> Spread:
    """Every value's spread: twice the de-biasing factor where reports agree or not, once where they support or not.

    Examples
    --------
    >>> from sottovoce.mechanisms import create
    >>> found = spread_of_channel(create("hadamard", 1_000_000, 1.0))
    >>> round(float(found.per_answer[0]), 3), found.exact
    (4.328, True)
    """
    J, scale = mechanism.domain_size, float(1 / mechanism.signal)
    match mechanism:
        case Hadamard():
            return _alike(J, 2 * scale, 2 * scale * math.sqrt(most_odd(J + 1)), True)
        case HadamardBlocks():
            # Two reports of the fullest block differ twice as far in half of it as any other two do in all of both.
            rows = min(J, mechanism.block_size - 1)
            return _alike(J, 2 * scale, 2 * scale * math.sqrt(most_odd(rows + 1)), True)
        case SupportMechanism():
            apart, exact = differing(mechanism)
            return _alike(J, scale, scale * math.sqrt(apart), exact)
    return _listed(mechanism)


def _alike(answers: int, each: float, l2: float, l2_exact: bool) -> Spread:
    """Where all answers have one spread, and are projected in their own space."""
    return Spread(np.broadcast_to(np.float64(each), (answers,)), l2, l2, True, l2_exact)


def _listed(mechanism: FiniteMechanism) -> Spread:
    """By going through all reports, for a mechanism that nothing else is known of."""
    high, low = np.full(mechanism.domain_size, -np.inf), np.full(mechanism.domain_size, np.inf)
    for answers in estimates_of_reports(mechanism):
        high, low = np.maximum(high, answers), np.minimum(low, answers)
    l2 = float(np.linalg.norm(high - low))
    return Spread(high - low, l2, l2, True, False)


def estimates_of_reports(mechanism: FiniteMechanism) -> Iterator[Floats]:
    """The frequencies that each report alone says, one after another; raises `MechanismError` for too many."""
    for number, report in enumerate(mechanism.outputs()):
        if number * mechanism.domain_size > MOST_LISTED:
            raise MechanismError(f"{mechanism.name} has too many reports to go through for what each can do")
        payload: NDArray[np.uint8] = np.frombuffer(mechanism.encode(report), dtype=np.uint8)
        counts = mechanism.empty()
        mechanism.count_into(counts, mechanism.codec.decode_many(payload[None, :]))
        yield mechanism.estimate(counts, 1)


def spread_of_vectors(mechanism: VectorMechanism, reading: Reading | None = None) -> Spread:
    """What two reports of a vector mechanism can do to answers read from the mean it estimates.

    Examples
    --------
    >>> spread_of_vectors(Binary(1, 1.0, 1.0, 0.0)).per_answer.round(3)
    array([4.328])
    """
    whole = reading is None
    read = Reading.identity(mechanism.dimension) if reading is None else reading
    match mechanism:
        case Codebook():
            return _codebook(mechanism, read, whole)
        case Binary():
            reach, corner, exact = mechanism.debias * mechanism.radius, 1.0, True
        case Gaussian():
            reach, corner, exact = mechanism.bound * mechanism.step, math.sqrt(mechanism.dimension), True
        case Sphere():
            bound = mechanism.codec.bound * mechanism.length
            reach, corner, exact = bound / FIXED_POINT, math.sqrt(mechanism.dimension), True
        case Rejection():
            constants = mechanism.constants
            weight = max(constants.accepted, 1 - constants.accepted) / constants.signal
            # Two normals come from one radius, so that no pair of them is longer than the largest.
            reach, corner = LARGEST_NORMAL * weight * mechanism.radius, math.sqrt(-(-mechanism.dimension // 2))
            exact = False
        case _:
            raise MechanismError(f"how far {mechanism.name} reports reach is not known")
    l2 = 2 * reach * corner * read.norm
    return Spread(2 * reach * read.absolute, l2, l2, exact, exact and (whole or mechanism.dimension == 1))


def _codebook(mechanism: Codebook, read: Reading, whole: bool) -> Spread:
    """A report is a row of a rotation or its opposite, times r/c; a hostile device picks the worst of all rotations.

    Few rows are looked at one by one. For many: an entry of Q a, Q's last layer being random signs s and a
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
    from sottovoce.kernels.rotations import signs
    from sottovoce.kernels.walsh import walsh_hadamard_rows

    answers, dimension = matrix.shape
    longest, far = np.zeros(answers), 0.0
    shrink = float(mechanism.size) ** (-0.5 * mechanism.layers)
    for rotation in range(mechanism.rotations):
        turned = np.zeros((answers, mechanism.size))
        turned[:, :dimension] = matrix
        for layer in signs(mechanism.key, mechanism.size, rotation, mechanism.layers):
            turned *= layer
            walsh_hadamard_rows(turned)
        turned *= shrink
        longest = np.maximum(longest, np.abs(turned).max(axis=1))
        far = max(far, float(np.einsum("ij,ij->j", turned, turned).max()))
    return longest, math.sqrt(far)


def reading_of(matrix_columns: Iterable[Floats], answers: int, columns: int, norm: float) -> Reading:
    """The reading whose R has these columns, one after another: norms are added up, R is kept if it is small."""
    absolute, squares = np.zeros(answers), np.zeros(answers)
    kept = np.empty((answers, columns)) if answers * columns <= _MOST_PRODUCTS else None
    for place, column in enumerate(matrix_columns):
        absolute += np.abs(column)
        squares += column**2
        if kept is not None:
            kept[:, place] = column
    return Reading(absolute, np.sqrt(squares), norm, kept)
