"""Parities: the characters of {0, 1}^bits, queries for k-way correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Final, Self, final

import numpy as np

from sottovoce.core.entries import as_integer
from sottovoce.core.errors import WorkloadError
from sottovoce.domain import Domain, ProductDomain, RangeDomain
from sottovoce.workloads.base import Floats, Indices, Workload, check_integer_parameter

__all__ = ["Parities"]

_MAX_BITS: Final = 52
_BLOCK: Final = 2**20  # entries of integer scratch


@final
@dataclass(frozen=True, eq=False, repr=False, init=False)
class Parities(Workload):
    """The characters (-1)^<S, v> of {0, 1}^bits for all sets S of 1 to `order` bits.

    Row S answers P(the bits in S have even sum) - P(odd), in [-1, 1]. Sets come by size, then in the lexicographic
    order of their members. All entries are +-1, so the radius is the square root of the number of rows.
    Products with A take one fast Walsh-Hadamard transform of length 2^bits.

    Parameters
    ----------
    bits
        The number of bits of an integer value (members are named bit0, the lowest, bit1, ..), or a product
        domain whose attributes all have two values (members are named by attribute; the second value is 1).
    order
        The size of the largest set.

    Examples
    --------
    >>> habits = Parities(Domain.product(smokes=["no", "yes"], drinks=["no", "yes"]), order=2)
    >>> list(habits.names()), habits.column(2)
    (['smokes', 'drinks', 'smokes ^ drinks'], array([-1.,  1., -1.]))
    >>> Parities(10, order=3).find("bit0 ^ bit9")
    18
    """

    order: int

    kind: ClassVar[str] = "parities"

    def __init__(self, bits: object, order: int = 2) -> None:
        count = as_integer(bits)
        whole = bits if count is None else range(2 ** check_integer_parameter("bits", count, 1, _MAX_BITS))
        domain = Domain.of(whole)
        members = len(_weights(domain))
        self._freeze(domain, order=check_integer_parameter("order, the size of the largest set,", order, 1, members))

    @cached_property
    def _members(self) -> dict[str, int]:
        """Weights in a value's number, by name."""
        return _weights(self.domain)

    @cached_property
    def n_queries(self) -> int:
        """C(bits, 1) + .. + C(bits, order)."""
        return sum(math.comb(len(self._members), size) for size in range(1, self.order + 1))

    @cached_property
    def _sets(self) -> Indices:
        """Each row's set, as the sum of its members' weights."""
        weights = np.array(list(self._members.values()), dtype=np.int64)
        last, sums, sums_by_size = np.array([-1]), np.zeros(1, dtype=np.int64), []
        for _ in range(self.order):
            # Every set is extended by each later member, which keeps the lexicographic order.
            later = len(weights) - 1 - last
            parent = np.repeat(np.arange(len(last)), later)
            step = np.arange(len(parent)) - np.repeat(np.cumsum(later) - later, later)
            last = last[parent] + 1 + step
            sums = sums[parent] + weights[last]
            sums_by_size.append(sums)
        sets: Indices = np.concatenate(sums_by_size)
        sets.flags.writeable = False
        return sets

    @property
    def radius(self) -> float:
        """sqrt(n_queries): every entry is +-1."""
        return math.sqrt(self.n_queries)

    @property
    def answer_range(self) -> tuple[float | Floats, float | Floats]:
        return -1.0, 1.0

    @property
    def _same_norm(self) -> bool:
        return True

    def _squared_norms(self, indices: Indices) -> Floats:
        return np.full(len(indices), float(self.n_queries))

    def _columns(self, indices: Indices) -> Floats:
        answers = np.empty((len(indices), self.n_queries))
        people = max(1, _BLOCK // self.n_queries)
        for first in range(0, len(indices), people):
            odd = np.bitwise_count(indices[first : first + people, None] & self._sets) & 1
            np.subtract(1.0, 2.0 * odd, out=answers[first : first + people])
        return answers

    def _matvec(self, x: Floats) -> Floats:
        from sottovoce.kernels.walsh import walsh_hadamard

        transformed = x.copy()
        walsh_hadamard(transformed)
        return transformed[self._sets]

    def _rmatvec(self, y: Floats) -> Floats:
        from sottovoce.kernels.walsh import walsh_hadamard

        transformed = np.zeros(self.domain.size)
        transformed[self._sets] = y
        walsh_hadamard(transformed)
        return transformed

    def _name(self, query: int) -> str:
        chosen = int(self._sets[query])
        return " ^ ".join(name for name, weight in self._members.items() if chosen & weight)

    def _find(self, name: str) -> int:
        positions = {member: position for position, member in enumerate(self._members)}
        chosen = sorted({positions.get(member, -1) for member in name.split(" ^ ")})
        size, count = name.count(" ^ ") + 1, len(positions)
        if chosen[0] < 0 or len(chosen) != size or size > self.order:
            return -1
        smaller = sum(math.comb(count, k) for k in range(1, size))
        # Sets of this size before it: those that agree up to some member and then have a smaller one.
        return smaller + sum(
            math.comb(count - 1 - skipped, size - 1 - i)
            for i, (before, here) in enumerate(pairwise([-1, *chosen]))
            for skipped in range(before + 1, here)
        )

    def _parameters(self) -> dict[str, Any]:
        return {"order": self.order}

    @classmethod
    def _restore(cls, domain: Domain, parameters: dict[str, Any]) -> Self:
        match parameters:
            case {"order": int(order), **rest} if not rest:
                return cls(domain, order)
        raise WorkloadError("a parities workload must have a domain of bits and the integer order, and no other field")


def _weights(domain: Domain) -> dict[str, int]:
    if isinstance(domain, ProductDomain) and all(inner.size == 2 for _, inner in domain.attributes):
        count = len(domain.attributes)
        return {name: 1 << (count - 1 - index) for index, (name, _) in enumerate(domain.attributes)}
    if isinstance(domain, RangeDomain) and (domain.start, domain.step) == (0, 1) and domain.size.bit_count() == 1:
        return {f"bit{index}": 1 << index for index in range(domain.size.bit_length() - 1)}
    raise WorkloadError(
        "parities need bits: give their number, or a product domain whose attributes have two values each"
    )
