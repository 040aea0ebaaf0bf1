"""Judging candidates by the rows in which no better supported word or prefix has their bucket.

What people with other words add to a candidate's buckets: the law of it, and tails that include it.

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

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.words.scan import Rows, WordCandidate
from sottovoce.kernels.words import free_scores
from sottovoce.strategies.words.tallies import Tallies
from sottovoce.theory.binomial import borrowed_tail, log_tail

__all__ = ["KnownWords", "SharedBuckets", "Suspect", "Verdict", "judged", "kept_apart"]

Floats = NDArray[np.float64]

_PIECES: Final = 12
"""Steps of a standard error in which added support is reckoned, rounded up."""
_MOST_STEPS: Final = 12 * _PIECES
"""Largest number of steps beyond the mean; more are counted as this many."""
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
        """Largest factor by which shared buckets increase the variance of support."""
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
        """The probability of support, over the public hashes: q."""
        return self.none + (self.own - self.none) / self.buckets

    def tail(self, hits: Any, trials: Any) -> Floats:
        """P(support >= hits) of a candidate that nobody has, in `trials` reports; added support is as in all rows."""
        hits, trials = np.asarray(hits, dtype=np.float64), np.asarray(trials, dtype=np.float64)
        added, law = self._law
        chances = np.exp(log_tail(hits[..., None] - added, trials[..., None], self.chance))
        return np.asarray(np.minimum(1.0, chances @ law))

    def borrowed(self, hits: int, trials: int, rows: int, support: float) -> float:
        """P(support >= hits), if words of as large a share as the candidate seems to have are not known either.

        Candidates are judged in the order of their support, so those that follow may be as common: with few rows and
        few buckets, one of many candidates shares all buckets with a word and looks like it. `support` is that of all
        rows, which decides the order; three standard errors are added to it.
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


NOBODY = -1
_OPEN = -2
_SEVERAL = -3


@final
@dataclass(frozen=True, eq=False)
class KnownWords:
    """The best supported word or prefix that is known to be in each bucket of each row, by number.

    Numbers from 0 are those of words; -2 is an open prefix, which a word that has ended there cannot be; buckets that
    a word shares with others that are known and common are -3.
    """

    tallies: Tallies
    owners: NDArray[np.int32] = field(repr=False)

    @classmethod
    def none(cls, tallies: Tallies) -> KnownWords:
        return cls(tallies, np.full(tallies.supporting.shape, NOBODY, dtype=np.int32))

    def mark(self, places: NDArray[np.int64], first: int, last: int, number: int) -> None:
        """Enter a word in those of its buckets that nobody has yet."""
        rows = np.arange(first, last)
        free = self.owners[rows, places[first:last]] == NOBODY
        self.owners[rows[free], places[first:last][free]] = number

    def crowd(self, places: NDArray[np.int64], first: int, last: int, number: int) -> None:
        """Leave the words entered before this one without the buckets that it shares with them."""
        rows = np.arange(first, last)
        held = self.owners[rows, places[first:last]]
        several = (held >= 0) & (held != number)
        self.owners[rows[several], places[first:last][several]] = _SEVERAL

    def counted(self, places: NDArray[np.int64], first: int, last: int, number: int = NOBODY) -> tuple[int, int, int]:
        """Support and reports of a candidate in rows from `first` to before `last` whose bucket nobody known has.

        The third number is that of these rows that have reports. Buckets that the word itself holds count as free.
        """
        rows = np.arange(first, last)
        held = self.owners[rows, places[first:last]]
        free = rows[(held == NOBODY) | (held == number)]
        hits = self.tallies.supporting[free, places[free]]
        trials = self.tallies.trials[free]
        return int(hits.sum(dtype=np.int64)), int(trials.sum()), int((trials > 0).sum())

    def counted_many(
        self, codes: NDArray[np.uint8], first: int, numbers: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Support and reports of whole codes, as by `counted`; buckets that a word itself holds count as free."""
        tallies = self.tallies
        tables = tallies.mechanism.tables[first:]
        return free_scores(
            tallies.supporting[first:], tallies.trials[first:], self.owners[first:], tables, codes, numbers
        )


class Suspect(NamedTuple):
    """A candidate to be judged, or an open prefix to be entered: its level, its buckets, its share of support."""

    level: int
    places: NDArray[np.int64]
    share: float
    candidate: WordCandidate
    code: NDArray[np.uint8]
    ended: bool


class Verdict(NamedTuple):
    """A candidate that passed: its support and reports where it is alone, and its tail, also of borrowed support."""

    suspect: Suspect
    supporting: int
    trials: int
    tail: float


def kept_apart(rows: Rows, suspects: list[Suspect], most: int) -> list[Suspect]:
    """Open prefixes that pass by the rows in which no better supported one has their bucket; at most `most`.

    Many prefixes share all buckets where a level has a single row; only one of them can be identified, and is kept.
    """
    tallies, kept = rows.tallies, list[Suspect]()
    known = KnownWords.none(tallies)
    for suspect in sorted(suspects, key=lambda suspect: -suspect.share):
        hits, trials, _ = known.counted(suspect.places, rows.first, rows.last)
        if trials and float(log_tail(hits, trials, tallies.chance)) <= np.log(rows.tail):
            known.mark(suspect.places, rows.first, rows.last, 0)
            kept.append(suspect)
            if len(kept) > most:
                break
    return kept


def judged(
    tallies: Tallies, suspects: list[Suspect], shared: list[SharedBuckets], largest_tail: list[float]
) -> tuple[KnownWords, list[Verdict]]:
    """Judge ended candidates by level-wise tails, the best supported first; those that pass are known from then on."""
    known, passed, starts = KnownWords.none(tallies), list[Verdict](), tallies.mechanism.starts
    for suspect in sorted(suspects, key=lambda suspect: -suspect.share):
        first = starts[suspect.level]
        if not suspect.ended:
            known.mark(suspect.places, first, starts[suspect.level + 1], _OPEN)
            continue
        hits, trials, rows = known.counted(suspect.places, first, len(known.owners))
        tail = float(shared[suspect.level].tail(hits, trials)) if trials else 1.0
        if tail <= largest_tail[suspect.level]:
            known.mark(suspect.places, first, len(known.owners), len(passed))
            borrowed = shared[suspect.level].borrowed(hits, trials, rows, suspect.share)
            passed.append(Verdict(suspect, hits, trials, max(tail, borrowed)))
    return known, _alone(known, suspects, passed, shared)


def _alone(
    known: KnownWords, suspects: list[Suspect], passed: list[Verdict], shared: list[SharedBuckets]
) -> list[Verdict]:
    """Support and reports by the rows that remain without less common words too, as far as these are known.

    A word that passed was judged before them. Those no more common than an unknown one may be are not set aside.
    """
    starts, last = known.tallies.mechanism.starts, len(known.owners)
    for suspect in suspects:
        if not suspect.ended and shared[suspect.level].is_known(suspect.share):
            known.crowd(suspect.places, starts[suspect.level], starts[suspect.level + 1], _OPEN)
    for number, verdict in enumerate(passed):
        suspect = verdict.suspect
        if shared[suspect.level].is_known(suspect.share):
            known.crowd(suspect.places, starts[suspect.level], last, number)
    verdicts = []
    for number, verdict in enumerate(passed):
        suspect = verdict.suspect
        hits, trials, _ = known.counted(suspect.places, starts[suspect.level], last, number)
        verdicts.append(verdict._replace(supporting=hits, trials=trials) if trials else verdict)
    return verdicts
