"""Finding words level by level: which prefixes go on, and which words are on the list.

At a level every way to go on from a kept prefix is a candidate. How many reports support it is one look-up per row.
Of a candidate that nobody holds this is a binomial number, N trials of chance q (Hoeffding 1956: no sum of independent
bits with that mean has a heavier tail), and a part from people who share its buckets (`known_words`). It is kept,
listed or called certain by its tail probability times the number of candidates that were tried (Bonferroni).

*Open* prefixes go on by the reports of their own level. *Ended* words are judged by all levels from there on, whose
rows hash the same code: neither their reports nor their hashes had a part in choosing the prefixes, so the number of
candidates is fixed before the test.

Memory: two tables of R K supports and one of owners, 12 bytes for every counter of the survey; 28 bytes for each of at
most 2^22 ways to go on; and about 2 KiB for every one of `most_prefixes`, at every level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.domain.words.codes import WordCode
from sottovoce.estimates.words.known_words import KnownWords, SharedBuckets, Suspect, Verdict, judged, kept_apart
from sottovoce.estimates.words.scan import LevelScan, OpenPrefix, Rows, WordCandidate, scan_level
from sottovoce.strategies.words.tallies import Tallies
from sottovoce.strategies.words.thresholds import SearchRule, certain_tail

__all__ = ["FoundWord", "LevelRule", "SearchRule", "WordSearch", "search_words"]


@final
@dataclass(frozen=True)
class FoundWord:
    """A listed word.

    Attributes
    ----------
    value
        The word.
    supporting, trials
        Reports that support it, and all reports, in the rows where no known word has its bucket.
    least
        The smallest number of supporting reports with which it would have been listed.
    tail
        The probability that as many support a word that nobody has, by chance or as they support another in all rows.
    candidates
        How many candidates were tried with it.
    certain
        Whether it is on the list that holds no wrong word at all, but for the stated probability.
    level
        The level at which it ended, from 0.
    """

    value: Any
    code: NDArray[np.uint8]
    supporting: int
    trials: int
    least: int
    tail: float
    candidates: int
    certain: bool
    level: int


class LevelRule(NamedTuple):
    """The thresholds of a level: of open prefixes, and tails with which ended words are listed or certain."""

    least_open: int
    open_reports: int
    listed_tail: float
    certain_tail: float
    candidates: int
    shared: SharedBuckets


@final
@dataclass(frozen=True, eq=False)
class WordSearch:
    """The result of a search: words by evidence, the prefixes kept at every level, and whether memory cut any off.

    `numbers` are those of all codes in `known`: the words found, and "other" if it has as much support.
    """

    found: tuple[FoundWord, ...]
    kept: tuple[int, ...]
    candidates: int
    cut: bool
    rule: SearchRule
    levels: tuple[LevelRule, ...]
    known: KnownWords
    numbers: dict[bytes, int]


def search_words(
    tallies: Tallies,
    code: WordCode,
    rule: SearchRule | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> WordSearch:
    """Find words from the reports of every row.

    `progress` is called with a number of steps and of how many, as the search goes on.
    """
    rule = rule or SearchRule()
    levels = len(tallies.mechanism.ends)
    scans, prefixes, kept, cut = list[LevelScan](), [OpenPrefix(0, 0)], list[int](), False
    suspects = list[Suspect]()
    for level in range(levels):
        advance = None if progress is None else _part(progress, level, levels)
        filled = scans[-1].n_filling if scans else 0
        expected = rule.spurious, rule.doubtful
        scan = scan_level(tallies, code, level, prefixes, expected, rule.most_prefixes, filled, advance)
        opened = kept_apart(scan.own, _suspects(tallies, code, level, scan.own, scan.opened, False), rule.most_prefixes)
        cut = cut or len(opened) > rule.most_prefixes
        del opened[rule.most_prefixes :]
        prefixes = [OpenPrefix(suspect.candidate.bits, suspect.candidate.state) for suspect in opened]
        suspects += opened + _suspects(tallies, code, level, scan.later, scan.ended, True)
        suspects += [
            suspect._replace(level=level + 1)
            for suspect in _suspects(tallies, code, level, scan.next, scan.filling, True)
        ]
        kept.append(len(prefixes))
        scans.append(scan)
    rules = _level_rules(tallies, scans, rule)
    known, passed = judged(tallies, suspects, [each.shared for each in rules], [each.listed_tail for each in rules])
    words = _found_words(code, passed, rules)
    tried = sum(scan.n_ended for scan in scans)
    numbers = {verdict.suspect.code.tobytes(): number for number, verdict in enumerate(passed)}
    return WordSearch(tuple(words), tuple(kept), tried, cut, rule, tuple(rules), known, numbers)


def _part(progress: Callable[[int, int], object], level: int, levels: int) -> Callable[[int, int], object]:
    return lambda done, of: progress(1000 * level + 1000 * done // of, 1000 * levels)


def _level_rules(tallies: Tallies, scans: Sequence[LevelScan], rule: SearchRule) -> list[LevelRule]:
    """Thresholds, from the number of candidates tried and the largest share that an unknown word can have."""
    mechanism, ending = tallies.mechanism, sum(scan.n_ended > 0 for scan in scans)
    missed = np.zeros(len(scans))
    for level, scan in enumerate(scans):
        tried = [rows.largest_missed() for rows, n in ((scan.own, scan.n_open), (scan.later, scan.n_ended)) if n]
        missed[level] = max(tried, default=1.0)
    unknown = np.repeat(np.maximum.accumulate(missed), mechanism.rows)
    own, none = float(mechanism.inner._support.own), float(mechanism.inner._support.other)
    rules = []
    for level, scan in enumerate(scans):
        rows = slice(mechanism.starts[level], None)
        shared = SharedBuckets(tallies.trials[rows], unknown[rows], mechanism.buckets, none, own)
        tails = scan.later.tail, certain_tail(rule, ending, scan.n_ended)
        rules.append(LevelRule(scan.own.least, scan.own.reports, *tails, scan.n_ended, shared))
    return rules


def _suspects(
    tallies: Tallies, code: WordCode, level: int, rows: Rows, ones: Sequence[WordCandidate], ended: bool
) -> list[Suspect]:
    """Candidates with their whole support, not cut off."""
    if not ones:
        return []
    shift = tallies.mechanism.bits - tallies.mechanism.ends[level]
    codes = np.stack([code._row(candidate.bits << shift) for candidate in ones])
    places, numbers = tallies.places(codes), np.arange(rows.first, rows.last)
    hits = tallies.supporting[numbers, places[:, rows.first : rows.last]].sum(axis=1, dtype=np.int64)
    shares = (hits / rows.reports).tolist()
    return [Suspect(level, *fields, ended) for fields in zip(places, shares, ones, codes, strict=True)]


def _found_words(code: WordCode, passed: Sequence[Verdict], rules: Sequence[LevelRule]) -> list[FoundWord]:
    """Listed words, the largest share first; chains of units that no word is written in are none."""
    words = []
    for suspect, hits, trials, tail in passed:
        row, rule = suspect.code, rules[suspect.level]
        value = code.value(int.from_bytes(row.tobytes(), "big") >> (8 * code.row_bytes - code.bits))
        if value is not None:
            least = min(hits, int(rule.shared.least(trials, rule.listed_tail)))
            certain = tail <= rule.certain_tail
            words.append(FoundWord(value, row, hits, trials, least, tail, rule.candidates, certain, suspect.level))
    return sorted(words, key=lambda word: -word.supporting / word.trials)
