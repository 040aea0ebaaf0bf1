"""Judging candidates by the rows in which no better supported word or prefix has their bucket."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.estimates.words.scan import Rows, WordCandidate
from sottovoce.estimates.words.shared_buckets import SharedBuckets
from sottovoce.kernels.words import free_scores
from sottovoce.strategies.words.tallies import Tallies
from sottovoce.theory.binomial import log_tail

__all__ = ["KnownWords", "Suspect", "Verdict", "judged", "kept_apart"]

NOBODY = -1
_OPEN = -2
_SEVERAL = -3


@final
@dataclass(frozen=True, eq=False)
class KnownWords:
    """Of every row and bucket the best supported word or prefix that is known to be in it, by number.

    Numbers from 0 are those of words; open prefixes, of which no word that has ended there can be one, are -2; buckets
    that a word shares with others that are known and common are -3.
    """

    tallies: Tallies
    owners: NDArray[np.int32] = field(repr=False)

    @classmethod
    def none(cls, tallies: Tallies) -> KnownWords:
        return cls(tallies, np.full(tallies.supporting.shape, NOBODY, dtype=np.int32))

    def mark(self, places: NDArray[np.int64], first: int, last: int, number: int) -> None:
        """Enter one in the buckets of rows that nobody has yet."""
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

        And how many of these rows have reports. A word with a number is not in its own way.
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
        """The same for whole codes; a word with a number is not in its own way."""
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
    """Open prefixes that pass by the rows in which no better supported one has their bucket, at most so many.

    Of prefixes that share all buckets, as many do where a level has a single row, only one can be told, and is kept.
    """
    tallies, kept = rows.tallies, list[Suspect]()
    known = KnownWords.none(tallies)
    for one in sorted(suspects, key=lambda suspect: -suspect.share):
        hits, trials, _ = known.counted(one.places, rows.first, rows.last)
        if trials and float(log_tail(hits, trials, tallies.chance)) <= np.log(rows.tail):
            known.mark(one.places, rows.first, rows.last, 0)
            kept.append(one)
            if len(kept) > most:
                break
    return kept


def judged(
    tallies: Tallies, suspects: list[Suspect], shared: list[SharedBuckets], largest_tail: list[float]
) -> tuple[KnownWords, list[Verdict]]:
    """Judge ended candidates by level-wise tails, the best supported first; those that pass are known from then on."""
    known, passed, starts = KnownWords.none(tallies), list[Verdict](), tallies.mechanism.starts
    for one in sorted(suspects, key=lambda suspect: -suspect.share):
        first = starts[one.level]
        if not one.ended:
            known.mark(one.places, first, starts[one.level + 1], _OPEN)
            continue
        hits, trials, rows = known.counted(one.places, first, len(known.owners))
        tail = float(shared[one.level].tail(hits, trials)) if trials else 1.0
        if tail <= largest_tail[one.level]:
            known.mark(one.places, first, len(known.owners), len(passed))
            borrowed = shared[one.level].borrowed(hits, trials, rows, one.share)
            passed.append(Verdict(one, hits, trials, max(tail, borrowed)))
    return known, _alone(known, suspects, passed, shared)


def _alone(
    known: KnownWords, suspects: list[Suspect], passed: list[Verdict], shared: list[SharedBuckets]
) -> list[Verdict]:
    """Support and reports by the rows that remain without less common words too, as far as these are known.

    A word that passed was judged before them. Those no more common than an unknown one may be are not set aside.
    """
    starts, last = known.tallies.mechanism.starts, len(known.owners)
    for one in suspects:
        if not one.ended and shared[one.level].is_known(one.share):
            known.crowd(one.places, starts[one.level], starts[one.level + 1], _OPEN)
    for number, verdict in enumerate(passed):
        one = verdict.suspect
        if shared[one.level].is_known(one.share):
            known.crowd(one.places, starts[one.level], last, number)
    found = []
    for number, verdict in enumerate(passed):
        one = verdict.suspect
        hits, trials, _ = known.counted(one.places, starts[one.level], last, number)
        found.append(verdict._replace(supporting=hits, trials=trials) if trials else verdict)
    return found
