"""One level of the search: every way to go on from the kept prefixes, and which of them the reports support.

A scan finds candidates quickly; `known_words` judges those that ended. Its threshold is a binomial tail. A word that
fills the first level is tried right there by the rows of all later levels, in which zeros follow it; it need not pass
as an open prefix first. Support in a
row is cut off well above what a candidate at the threshold has there: a word has support in all rows, a candidate that
shares one bucket with a common word in a single one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain.words.codes import ENDED, WordCode
from sottovoce.kernels.words import candidate_scores, half_tables, hashes
from sottovoce.strategies.words.tallies import Tallies
from sottovoce.strategies.words.thresholds import chance_tail
from sottovoce.theory.binomial import least_count

__all__ = ["LevelScan", "OpenPrefix", "Rows", "WordCandidate", "scan_level"]

_ABOVE: Final = 4.0
"""Standard errors above twice a row's part of the threshold beyond which its support is not counted."""

_SEVERAL: Final = 8
"""Candidates that are held for every one that is kept, before the least supported are dropped."""


class OpenPrefix(NamedTuple):
    """A prefix that may go on: its bits as a number, and the state of the code after it."""

    bits: int
    state: int


class WordCandidate(NamedTuple):
    """A candidate beyond the threshold: its support, cut off row by row, its bits as a number and its state."""

    score: int
    bits: int
    state: int


@final
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one level, or of it and all later ones, with the threshold of a scan of them."""

    tallies: Tallies
    first: int
    last: int
    tail: float

    @cached_property
    def reports(self) -> int:
        return int(self._trials.sum())

    @property
    def _trials(self) -> NDArray[np.int64]:
        return self.tallies.trials[self.first : self.last]

    @cached_property
    def least(self) -> int:
        """The smallest support that passes."""
        return least_count(self.reports, self.tallies.chance, self.tail)

    @cached_property
    def cut_off(self) -> NDArray[Any]:
        """Support up to what is counted of one row."""
        n, q, held = self._trials, self.tallies.chance, self.tallies.supporting[self.first : self.last]
        needed = (self.least - self.reports * q) * n / max(1, self.reports)
        most = n * q + 2 * needed + _ABOVE * np.sqrt(n * q * (1 - q)) + 1
        return np.asarray(np.minimum(held, most[:, None].astype(held.dtype)))

    def largest_missed(self) -> float:
        """The share above which a word passes but for a deviation of three standard errors."""
        support = self.tallies.mechanism.support
        if not self.reports:
            return 1.0
        chance = min(1.0, self.least / self.reports)
        chance += 3 * np.sqrt(chance * (1 - chance) / self.reports)
        return float(np.clip((chance - float(support.other)) / float(support.signal), 0.0, 1.0))


@final
@dataclass(frozen=True, eq=False)
class LevelScan:
    """The result of a level: open prefixes and words beyond the threshold, the best supported first.

    Attributes
    ----------
    opened, ended, filling
        Prefixes that go on; words that have ended; words that fill this level, which end at the next.
    own, later, next
        The rows of each of these.
    n_open, n_ended, n_filling
        How many of each were tried; ended ones together with those that filled the level before.
    """

    opened: list[WordCandidate]
    ended: list[WordCandidate]
    filling: list[WordCandidate]
    own: Rows
    later: Rows
    next: Rows
    n_open: int
    n_ended: int
    n_filling: int


def scan_level(
    tallies: Tallies,
    code: WordCode,
    level: int,
    prefixes: Sequence[OpenPrefix],
    expected: tuple[float, float],
    most: int,
    filled: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> LevelScan:
    """Try all ways to go on; `expected` open and ended ones pass by chance, on average.

    The `filled` words that filled the level before have been tried there, and are of the same family as those that end.
    """
    mechanism = tallies.mechanism
    start, end = ((0, *mechanism.ends)[level], mechanism.ends[level])
    units = (end - start) // code.unit_bits
    ways = {state: code.extensions(state, units, last=end == mechanism.bits) for state in {p.state for p in prefixes}}
    fills = level == 0 and code.ends_anywhere and end < mechanism.bits
    is_open = {state: way.states != ENDED for state, way in ways.items()}
    # From between two characters, nothing but zeros is the word that filled the level before.
    is_ended = {state: ~is_open[state] & ((way.bits > 0) | (state > 0) | (not filled)) for state, way in ways.items()}
    is_filling = {state: (way.states == 0) & fills for state, way in ways.items()}
    n_open, n_ended, n_filling = (
        sum(int(mask[prefix.state].sum()) for prefix in prefixes) for mask in (is_open, is_ended, is_filling)
    )
    n_ended += filled
    first, after, last = mechanism.starts[level], mechanism.starts[level + 1], len(tallies.trials)
    own = Rows(tallies, first, after, chance_tail(expected[0], n_open))
    later = Rows(tallies, first, last, chance_tail(expected[1], n_ended))
    following = Rows(tallies, after, last, chance_tail(expected[1], n_filling))
    opened, ended, filling = list[WordCandidate](), list[WordCandidate](), list[WordCandidate]()
    bases = _bases(tallies, code, prefixes, start) if prefixes else np.zeros((0, 0), dtype=np.uint32)
    split = {
        (rows, state): (
            half_tables(tallies.words[rows.first : rows.last, start:end], end - start),
            np.ascontiguousarray(way.bits[mask]),
            way.states[mask],
        )
        for state, way in ways.items()
        for rows, mask in ((own, is_open[state]), (later, is_ended[state]), (following, is_filling[state]))
        if rows.reports and mask.any()
    }
    for index, (bits, state) in enumerate(prefixes):
        for rows, candidates in ((own, opened), (later, ended), (following, filling)):
            if (rows, state) not in split:
                continue
            halves, ways_on, states = split[rows, state]
            scores = candidate_scores(rows.cut_off, bases[index][rows.first : rows.last], halves, ways_on)
            for at in np.flatnonzero(scores >= rows.least).tolist():
                candidates.append(
                    WordCandidate(int(scores[at]), bits << (end - start) | int(ways_on[at]), int(states[at]))
                )
            if len(candidates) > 2 * _SEVERAL * most:
                candidates.sort(key=_order)
                del candidates[_SEVERAL * most :]
        if progress is not None:
            progress(index + 1, len(prefixes))
    for candidates in (opened, ended, filling):
        candidates.sort(key=_order)
    return LevelScan(opened, ended, filling, own, later, following, n_open, n_ended, n_filling)


def _bases(tallies: Tallies, code: WordCode, prefixes: Sequence[OpenPrefix], start: int) -> NDArray[np.uint32]:
    """The hash of every prefix in every row."""
    rows = np.stack([code._row(prefix.bits << (code.bits - start)) for prefix in prefixes])
    return hashes(tallies.mechanism.tables, rows)


def _order(candidate: WordCandidate) -> tuple[int, int]:
    return -candidate.score, candidate.bits
