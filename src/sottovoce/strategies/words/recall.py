"""What a search for words finds, before any report: the tests that a word must pass, and with what probability."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Final, final

from sottovoce.domain.words.codes import WordCode
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.strategies.words.thresholds import (
    SearchRule,
    Ways,
    certain_tail,
    chance_tail,
    ways_on,
)
from sottovoce.theory.binomial import borrowed_tail, least_count
from sottovoce.theory.detection import SupportTest, detection_probability, least_detectable

__all__ = ["CONCENTRATION", "WordRecall"]

CONCENTRATION: Final = 0.05
"""Sum of squared shares that people who share a bucket are reckoned with; words that are found are set aside."""


@final
@dataclass(frozen=True, eq=False)
class WordRecall:
    """The probability that a word is found and certain, as a function of its share and of where it ends.

    Its prefixes must pass at every level before the one at which it ends, each by the reports of that level; then
    the word itself by the reports of all levels from there on. One that fills the first level need not pass there.
    These are different people's, so that probabilities are multiplied. How many prefixes are kept is not known
    beforehand: besides those kept by chance it is reckoned with as many as can have this share, one over it. A word
    that shares its prefix with others is found more often.
    """

    mechanism: HashedPrefixes
    code: WordCode
    people: int
    rule: SearchRule = field(default_factory=SearchRule)

    @cached_property
    def _ways(self) -> tuple[Ways, ...]:
        ends = [end // self.code.unit_bits for end in self.mechanism.ends]
        return tuple(
            ways_on(self.code, after - before, last=after == ends[-1]) for before, after in pairwise([0, *ends])
        )

    def route(self, units: int) -> tuple[int, int]:
        """At how many levels a word of `units` must pass as an open prefix, and at which it has ended.

        It has where a unit of zeros follows it, or nothing.
        """
        ends, bits = self.mechanism.ends, units * self.code.unit_bits
        level = min(bisect_right(ends, bits), len(ends) - 1)
        return (0 if self._filled and bits == ends[0] else level), level

    @property
    def _filled(self) -> int:
        """Words that fill the first level, and are tried by the rows of all later ones."""
        several = len(self._ways) > 1 and self.code.ends_anywhere
        whole = ways_on(self.code, self.mechanism.ends[0] // self.code.unit_bits, last=True)
        return whole.ended - self._ways[0].ended if several else 0

    def _kept(self, level: int, share: float) -> float:
        """Prefixes from which a level goes on."""
        if level == 0:
            return 1.0
        return min(self.rule.most_prefixes, self.rule.spurious + 1 / share)

    def tests(self, units: int, share: float) -> list[SupportTest]:
        """The tests that a word of `units` and of this share must pass."""
        tests, (opened, level) = [], self.route(units)
        for prefix in range(opened):
            candidates = self._kept(prefix, share) * self._ways[prefix].open
            tests.append(self._test(prefix, prefix + 1, chance_tail(self.rule.spurious, candidates)))
        whole = self._test(level, len(self._ways), self._certain_tail(level, share), share)
        return [*tests, self._told_apart(whole, level, share)]

    def _certain_tail(self, level: int, share: float) -> float:
        ending = sum(ways.ended > 0 for ways in self._ways)
        candidates = self._kept(level, share) * self._ways[level].ended + (self._filled if level == 1 else 0)
        return certain_tail(self.rule, ending, candidates)

    def _told_apart(self, test: SupportTest, level: int, share: float) -> SupportTest:
        """The test with as much support as tells a word from one that shares all buckets with others as common.

        Words as common as it seems, three standard errors more, may be unknown; so the search reckons.
        """
        starts, support = self.mechanism.starts, self.mechanism.support
        rows, chances = starts[-1] - starts[level], (float(support.other), float(support.signal))
        tail = self._certain_tail(level, share)

        def borrowed(hits: int) -> bool:
            chance = hits / test.trials
            most = chance + 3 * math.sqrt(chance * (1 - chance) / test.trials)
            common = min(1.0, max(0.0, (most - chances[0]) / chances[1]))
            return borrowed_tail(hits, test.trials, rows, common, self.mechanism.buckets, chances) > tail

        low, most = test.least - 1, math.floor(test.trials) + 1  # none below passes, and at the upper end all
        step = 1  # mostly little is missing
        while low + step < most and borrowed(low + step):
            low, step = low + step, 4 * step
        high = min(low + step, most)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if borrowed(middle) else (low, middle)
        return replace(test, least=max(test.least, high))

    def _test(self, first: int, after: int, tail: float, unknown: float = 0.0) -> SupportTest:
        """A test by the rows of some levels; words of the share `unknown` may be in a candidate's buckets."""
        starts, other = self.mechanism.starts, float(self.mechanism.support.other)
        rows = starts[after] - starts[first]
        trials = self.people * rows / starts[-1]
        # Others are in a candidate's bucket of a row too; the variance of their share there is c / K, where
        # c is the sum of all squared shares: at most u, if none is above u.
        per_share = rows * (trials / rows * float(self.mechanism.support.signal)) ** 2 / self.mechanism.buckets
        least = least_count(trials, other, tail)
        stretch = math.sqrt(1 + unknown * per_share / max(1.0, trials * other * (1 - other)))
        stretched = math.ceil(trials * other + (least - trials * other) * stretch)
        return SupportTest(trials, stretched, CONCENTRATION * per_share)

    def probability(self, share: float, units: int) -> float:
        """The probability that a word of this share and of `units` is found, and certain."""
        support = self.mechanism.support
        return detection_probability(self.tests(units, share), share, float(support.own), float(support.other))

    def least_share(self, probability: float, units: int) -> float:
        """The least share that is found with this probability; 1 if none is."""
        return least_detectable(lambda share: self.probability(share, units), probability)
