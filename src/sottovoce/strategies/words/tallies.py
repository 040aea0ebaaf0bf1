"""The counts of a survey of words as a search reads them: by row, and by the bucket that reports support."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.kernels.words import hashes
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes

__all__ = ["Tallies"]


@final
@dataclass(frozen=True, eq=False)
class Tallies:
    """The number of reports of every row, and of those that support each of its buckets.

    Attributes
    ----------
    counts
        Reports of every row (rows) and point (columns).
    supporting
        Reports of every row (rows) that support each bucket (columns).
    trials
        Reports of every row.
    """

    mechanism: HashedPrefixes
    counts: NDArray[Any]
    supporting: NDArray[Any]
    trials: NDArray[np.int64]

    @classmethod
    def of(cls, mechanism: HashedPrefixes, counts: Any) -> Self:
        """The tallies of an aggregate's counts."""
        whole = mechanism.whole(counts)
        return cls(mechanism, whole, mechanism.supporting(whole), np.asarray(whole.sum(axis=1)))

    @cached_property
    def words(self) -> NDArray[np.uint32]:
        """Every row's word for every bit of the code."""
        return np.stack([self.mechanism._words(row) for row in range(len(self.trials))])

    @property
    def chance(self) -> float:
        """The chance of support for a word that nobody has, over the public hashes."""
        return float(self.mechanism.support.other)

    def places(self, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The bucket of every code in every row."""
        words = hashes(self.mechanism.tables, codes).astype(np.uint64)
        return ((words * np.uint64(self.mechanism.buckets)) >> np.uint64(32)).astype(np.int64)
