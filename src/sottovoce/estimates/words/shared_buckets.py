"""What people with other words add to a candidate's buckets: the law of it, and tails that include it.

A candidate that nobody has is supported by a report with chance P0, and with P1 if the reporting person's prefix is in
its bucket. Known words and prefixes are dealt with by leaving out the rows in which one of them has the candidate's
bucket. Of unknown ones no share is above some u, so most is added, in convex order, where all people have words of
share u: each falls into the candidate's bucket of a row with chance 1/K.

Proved, if buckets of different words are independent: that law, as a compound Poisson number (which is above the
binomial one in convex order; Shaked and Shanthikumar 2007, Thm 3.A.12). Linear hashes are independent for any two words
beside the candidate, and so have this variance; more is not proved. Nor is that no unknown word is above u: such a one
would have been kept at its level but for a deviation of three standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.theory.binomial import borrowed_tail, log_tail

__all__ = ["SharedBuckets"]

Floats = NDArray[np.float64]

_PIECES: Final = 12
"""Steps of a standard error in which added support is reckoned, rounded up."""
_MOST_STEPS: Final = 12 * _PIECES
"""Steps beyond the mean that are told apart; all that is more counts as so many."""
_LEFT_OUT: Final = 1e-16
_HALVINGS: Final = 48


@final
@dataclass(frozen=True, eq=False)
class SharedBuckets:
    """Support from unknown words in some rows.

    Attributes
    ----------
    trials
        Reports in every row.
    unknown
        For every row the largest share of a word whose prefix there is unknown.
    buckets
        K.
    none, own
        P0 and P1: the chances of support from a report in another bucket, and in the same one.
    """

    trials: NDArray[np.int64]
    unknown: Floats
    buckets: int
    none: float
    own: float

    @cached_property
    def reports(self) -> int:
        return int(self.trials.sum())

    @cached_property
    def _noise(self) -> float:
        return float(np.sqrt(max(1.0, self.reports * self.none * (1 - self.none))))

    @property
    def _rates(self) -> Floats:
        """Words of the largest share, in the candidate's bucket of every row, on average."""
        return np.asarray(1 / (np.maximum(self.unknown, 1e-12) * self.buckets))

    @property
    def _added(self) -> Floats:
        """Reports that one of them adds in every row."""
        return np.asarray(self.trials * self.unknown * (self.own - self.none))

    def is_known(self, support: float) -> bool:
        """Whether a word with this share of supporting reports is more common than an unknown one can be."""
        return bool((support - self.chance) / (self.own - self.none) > self.unknown[0])

    @cached_property
    def design_effect(self) -> float:
        """By how much shared buckets increase the variance of support, at most: a factor."""
        return 1 + float((self._rates * self._added**2).sum()) / self._noise**2

    @cached_property
    def _law(self) -> tuple[Floats, Floats]:
        """Added support less its mean, in steps, and the probability of each."""
        step = self._noise / _PIECES
        sizes = np.ceil(self._added / step).astype(np.int64)
        mean = float((sizes * self._rates).sum())
        most = int(mean) + _MOST_STEPS
        rate = np.bincount(np.minimum(sizes, most), weights=self._rates, minlength=most + 1).astype(np.float64)
        rate[0] = 0.0  # a row without reports adds nothing
        law = _compound_poisson(rate)
        kept = np.flatnonzero(law > _LEFT_OUT)
        return np.asarray((kept - mean) * step), law[kept]

    @property
    def chance(self) -> float:
        """That of support, over the public hashes: q."""
        return self.none + (self.own - self.none) / self.buckets

    def tail(self, hits: Any, trials: Any) -> Floats:
        """P(support >= hits) of a candidate that nobody has, of so many reports; what is added is as in all rows."""
        hits, trials = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
        added, law = self._law
        chances = np.exp(log_tail(hits[..., None] - added, trials[..., None], self.chance))
        return np.asarray(np.minimum(1.0, chances @ law))

    def borrowed(self, hits: int, trials: int, rows: int, support: float) -> float:
        """P(support >= hits), if words of as large a share as the candidate seems to have are not known either.

        Candidates are judged in the order of their support, so those that follow may be as common: with few rows and
        few buckets, one of many candidates shares all buckets with a word, and cannot be told from it. `support` is
        that of all rows, which decides the order; of it three standard errors more are taken.
        """
        most = min(1.0, support + 3 * float(np.sqrt(support * (1 - support) / max(1, self.reports))))
        share = min(1.0, (most - self.none) / (self.own - self.none))
        return borrowed_tail(hits, trials, rows, share, self.buckets, (self.chance, self.own - self.none))

    def least(self, trials: Any, tail: float) -> NDArray[np.int64]:
        """The smallest support with at most this tail, for each number of reports; one more if there is none."""
        n = np.asarray(trials, dtype=np.int64)
        low, high = np.zeros(n.shape, dtype=np.int64), n + 1  # the tail at low is 1; at high it is taken for 0
        for _ in range(_HALVINGS):
            if (high - low <= 1).all():
                break
            middle = (low + high) // 2
            passes = self.tail(middle, n) <= tail
            low, high = np.where(passes, low, middle), np.where(passes, middle, high)
        return np.asarray(high)


def _compound_poisson(rate: Floats) -> Floats:
    """The law of a sum of Poisson(rate[j]) many numbers j, what is beyond the last place counted there.

    Panjer's recursion (1981) for a part of the rate that does not underflow, and then sums of two alike.
    """
    halvings = max(0, int(np.ceil(np.log2(max(1.0, rate.sum() / 256)))))
    size, part = len(rate), rate / 2**halvings
    law = np.zeros(size)
    law[0] = np.exp(-part.sum())
    weights = np.arange(size) * part
    for total in range(1, size):
        law[total] = weights[1 : total + 1] @ law[total - 1 :: -1] / total
    law[-1] += max(0.0, 1 - law.sum())
    for _ in range(halvings):
        twice = np.convolve(law, law)
        law = twice[:size]
        law[-1] += twice[size:].sum()
    return law
