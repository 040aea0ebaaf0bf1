"""Intervals of the share of a word: chosen beforehand, or found by the same reports.

Both are of the binomial number of supporting reports, in the rows where no known word has the word's bucket.
People with unknown words in shared buckets add to its variance; they are taken for a design effect, reports and support
being divided by it (Korn and Graubard 1998). That is exact where the effect is one, and normal in what it adds.

A word is found because its support passed a threshold, so of those listed support is too large on average. Their
intervals are given that it passed (Fithian, Sun and Taylor 2014), and so hold for each word on the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain.words.codes import ENDED, WordCode
from sottovoce.estimates.arms import Arms
from sottovoce.estimates.intervals import Interval
from sottovoce.estimates.words.search import FoundWord, LevelRule, WordSearch
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.strategies.laws.variance import VarianceCurve
from sottovoce.theory.binomial import limit_given_passing, limits_of_many, log_tail

__all__ = ["ChosenWords", "chosen_words", "first_levels", "raw_share", "selected_interval", "word_arms", "word_numbers"]

Floats = NDArray[np.float64]

UNCUT: Final = "binomial limits; people in shared buckets as a design effect"
METHOD: Final = "binomial limits, given that the word was found; people in shared buckets as a design effect"

_AT_ONCE: Final = 2**14


class ChosenWords(NamedTuple):
    """Raw shares of words chosen beforehand, their intervals, and which are certain."""

    raw: Floats
    low: Floats
    high: Floats
    certain: NDArray[np.bool_]


def first_levels(code: WordCode, mechanism: HashedPrefixes, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """The first level at which each code has ended, so that no other word has its prefix there."""
    last = len(mechanism.ends) - 1
    if not code.ends_anywhere:
        return np.full(len(rows), last, dtype=np.int64)
    return np.concatenate(
        [_first_levels(code, mechanism, rows[start : start + _AT_ONCE]) for start in range(0, len(rows), _AT_ONCE)]
        or [np.zeros(0, dtype=np.int64)]
    )


def _first_levels(code: WordCode, mechanism: HashedPrefixes, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    bits = np.unpackbits(rows, axis=1)[:, : code.bits].reshape(len(rows), code.units, code.unit_bits)
    tables, states = {0: code.step(0)}, np.zeros(len(rows), dtype=np.int64)
    ended_after = np.full(len(rows), code.units, dtype=np.int64)
    for position in range(code.units):
        unit = np.zeros(len(rows), dtype=np.int16)
        for bit in bits[:, position].T:
            unit = unit << 1 | bit
        following = np.full(len(rows), ENDED)
        for state in np.unique(states[states != ENDED]).tolist():
            table = tables.setdefault(state, code.step(state))
            here = states == state
            following[here] = table[unit[here]]
        ended_after[(following == ENDED) & (states != ENDED)] = position + 1
        states = following
        if (states == ENDED).all():
            break
    return np.searchsorted(np.array(mechanism.ends), ended_after * code.unit_bits)


def raw_share(mechanism: HashedPrefixes, hits: Any, trials: Any) -> Floats:
    """The share of supporting reports, with chance and the noise taken off: unbiased over the public hashes."""
    support = mechanism.support
    share = np.asarray(hits) / np.maximum(np.asarray(trials), 1)
    return np.asarray((share - float(support.other)) / float(support.signal))


def chosen_words(
    mechanism: HashedPrefixes, code: WordCode, search: WordSearch, rows: NDArray[np.uint8], level: float
) -> ChosenWords:
    """Raw shares and intervals of codes chosen without looking at the answers.

    With probability `false_discovery` at most, a word called certain is nobody's (Bonferroni). The tails are those of
    words found, and include shared buckets.
    """
    first = first_levels(code, mechanism, rows)
    numbers = word_numbers(search, rows)
    raw, low, high = np.zeros(len(rows)), np.zeros(len(rows)), np.ones(len(rows))
    certain, sure = np.zeros(len(rows), dtype=bool), search.rule.false_discovery / max(1, len(rows))
    for at in np.unique(first).tolist():
        mine = np.flatnonzero(first == at)
        hits, n = search.known.counted_many(rows[mine], mechanism.starts[at], numbers[mine])
        raw[mine] = np.where(n > 0, raw_share(mechanism, hits, n), 0.0)
        low[mine], high[mine] = _shares(mechanism, _chosen_limits(hits, n, search.levels[at], (1 - level) / 2), n)
        certain[mine] = _certain(mechanism, search.levels[at], hits, n, low[mine] > 0, sure)
    return ChosenWords(raw, low, high, certain)


def word_arms(
    mechanism: HashedPrefixes, code: WordCode, search: WordSearch, rows: NDArray[np.uint8], level: float
) -> Arms:
    """Codes chosen without looking at the answers, for a comparison: intervals that are not cut to shares.

    A report supports a word or does not, so its variance follows from the share; people in shared buckets divide the
    reports by the design effect.
    """
    first, numbers = first_levels(code, mechanism, rows), word_numbers(search, rows)
    raw, reports = np.zeros(len(rows)), np.zeros(len(rows))
    low, high = np.full(len(rows), -np.inf), np.full(len(rows), np.inf)
    other, signal = float(mechanism.support.other), float(mechanism.support.signal)
    fewest = float(mechanism.inner._support.other)  # with nobody in shared buckets
    for at in np.unique(first).tolist():
        mine = np.flatnonzero(first == at)
        hits, n = search.known.counted_many(rows[mine], mechanism.starts[at], numbers[mine])
        mine, hits, n = mine[n > 0], hits[n > 0], n[n > 0]
        effect, miss = search.levels[at].shared.design_effect, (1 - level) / 2
        below = limits_of_many(hits / effect, n / effect, float(np.log(miss)))
        above = limits_of_many(hits / effect + 1, n / effect, float(np.log1p(-miss)))
        raw[mine], reports[mine] = raw_share(mechanism, hits, n), n / effect
        low[mine] = (np.where(hits > 0, below, 0.0) - other) / signal
        high[mine] = (np.where(hits < n, above, 1.0) - fewest) / signal
    nothing, middle = np.zeros(len(rows)), (0.5 - other) / signal
    curve = VarianceCurve(nothing + 1 / (4 * signal**2), nothing, nothing - 1, nothing + middle)
    return Arms(raw, low, high, nothing, nothing, nothing + 1, reports, curve, UNCUT)


def word_numbers(search: WordSearch, rows: NDArray[np.uint8]) -> NDArray[np.int32]:
    """The number of each code among the known words; -1 for the others."""
    codes = np.ascontiguousarray(rows).view(f"V{rows.shape[1]}").ravel().tolist()
    return np.fromiter(map(search.numbers.get, codes, repeat(-1)), dtype=np.int32, count=len(codes))


def _certain(
    mechanism: HashedPrefixes, rule: LevelRule, hits: Any, n: Any, likely: NDArray[np.bool_], sure: float
) -> NDArray[np.bool_]:
    """Whether each support has probability `sure` at most by chance; that takes long, so few are tried."""
    certain = np.zeros(len(hits), dtype=bool)
    tried = np.flatnonzero(likely)
    tried = tried[log_tail(hits[tried], n[tried], float(mechanism.support.other)) <= np.log(sure)]
    for start in range(0, len(tried), _AT_ONCE):
        some = tried[start : start + _AT_ONCE]
        certain[some] = rule.shared.tail(hits[some], n[some]) <= sure
    return certain


def _chosen_limits(hits: Any, n: Any, rule: LevelRule, miss: float) -> tuple[Floats, Floats]:
    """Limits of the chance of support of very many words."""
    effect, (fewer, more) = rule.shared.design_effect, _possible(hits, n, rule)
    low = limits_of_many(fewer / effect, n / effect, float(np.log(miss)))
    high = limits_of_many(more / effect + 1, n / effect, float(np.log1p(-miss)))
    return np.where(hits > 0, low, 0.0), np.where(hits < n, high, 1.0)


def _possible(hits: Any, n: Any, rule: LevelRule) -> tuple[Floats, Floats]:
    """Support for the lower and for the upper limit, at most a standard deviation beyond everybody's and nobody's.

    So no interval is a point: a limit is moved outwards only, where support is hardly possible.
    """
    own, none = rule.shared.own, rule.shared.none
    most, least = (n * own + np.sqrt(n * own * (1 - own)), n * none - np.sqrt(n * none * (1 - none)))
    return np.minimum(hits, most), np.maximum(hits, least)


def selected_interval(mechanism: HashedPrefixes, search: WordSearch, level: float, simultaneous: bool) -> Interval:
    """Intervals of words that were found: given that each has passed its threshold."""
    words: Sequence[FoundWord] = search.found
    low, high = np.zeros(len(words)), np.ones(len(words))
    miss = (1 - level) / 2 / (max(1, len(words)) if simultaneous else 1)
    levels = np.array([word.level for word in words])
    hits, least, n = (np.array([getattr(word, name) for word in words]) for name in ("supporting", "least", "trials"))
    for at in np.unique(levels).tolist():
        mine = levels == at
        ends = _limits(hits[mine], least[mine], n[mine], search.levels[at], miss)
        low[mine], high[mine] = _shares(mechanism, ends, n[mine])
        # Where all of its support may be another word's, nothing is said against that.
        borrowed = np.array([word.tail > search.levels[at].listed_tail for word in words])
        low[mine & borrowed] = 0.0
    return Interval(low, high, METHOD)


def _limits(hits: Any, least: Any, n: Any, rule: LevelRule, miss: float) -> tuple[Floats, Floats]:
    """Limits of the chance of support, given that it reached the least."""
    fewer, more = _possible(hits, n, rule)
    low_at, high_at, passed, reports = (column / rule.shared.design_effect for column in (fewer, more, least, n))
    low = limit_given_passing(low_at, passed, reports, float(np.log(miss)))
    high = limit_given_passing(high_at + 1, passed, reports, float(np.log1p(-miss)))
    return np.where(hits > 0, low, 0.0), np.where(hits < n, high, 1.0)


def _shares(mechanism: HashedPrefixes, chances: tuple[Floats, Floats], n: Any) -> tuple[Floats, Floats]:
    """Shares from chances: of the lower end with as many people in shared buckets as can be, of the upper with none."""
    inner, other = mechanism.inner._support, float(mechanism.support.other)
    signal = float(mechanism.support.signal)
    low = np.clip((chances[0] - other) / signal, 0.0, 1.0)
    high = np.clip((chances[1] - float(inner.other)) / signal, 0.0, 1.0)
    return np.where(n > 0, low, 0.0), np.where(n > 0, high, 1.0)
