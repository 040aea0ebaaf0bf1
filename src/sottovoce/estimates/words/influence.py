"""The influence of malicious devices on a list of words: they bring a word onto it, or move the share of a listed one.

A device may name any row and any point that supports its word there. To bring a word onto the list it must be kept as
an open prefix at every level before its end, and there reach the threshold of certain words. The devices that do so are
counted from the thresholds of this very search: d of N reports lift the support of a word nobody has to q (N - d) + d.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, Final, NamedTuple

import numpy as np

from sottovoce.core.words import plural
from sottovoce.domain.words.codes import ByteCode, WordCode
from sottovoce.estimates.influence import Influence, hostile_count
from sottovoce.estimates.words.search import WordSearch
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.strategies.words.thresholds import certain_tail, chance_tail, ways_on
from sottovoce.theory.binomial import least_count

__all__ = ["Intrusion", "intrusion", "intrusions", "word_influence"]

_SUCCESS: Final = 0.95
"""The probability with which that number of devices brings a word onto the list."""


class Intrusion(NamedTuple):
    """The number of malicious devices that bring any word of up to `characters` onto the list, called certain.

    `devices` is None where no number of them does.
    """

    level: int
    characters: int
    devices: int | None
    share: float

    def to_dict(self) -> dict[str, Any]:
        """These facts as plain values."""
        return {"characters": self.characters, "devices": self.devices, "share": self.share}


def intrusion(mechanism: HashedPrefixes, code: WordCode, search: WordSearch, n_reports: int, level: int) -> Intrusion:
    """Devices that suffice for a word that ends at this level, with probability 95 %."""
    units = mechanism.ends[level] // code.unit_bits
    characters = min(units if level + 1 == len(mechanism.ends) else units - 1, getattr(code, "longest", units))
    q, miss = float(mechanism.support.other), (1 - _SUCCESS) / (level + 1)
    reached = search.levels[level]
    # Where no prefix was kept, that of the devices would be one, and its ways to go on are tried.
    starts = (0, *mechanism.ends)
    ways = [
        ways_on(code, (end - start) // code.unit_bits, last=end == mechanism.bits)
        for start, end in zip(starts, mechanism.ends, strict=False)
    ]
    steps = []
    for own, way in zip(search.levels[:level], ways, strict=False):
        least = least_count(own.open_reports, q, chance_tail(search.rule.spurious, way.open))
        steps.append((max(own.least_open, least), own.open_reports))
    ending = sum(step.candidates > 0 for step in search.levels)
    tail = min(reached.certain_tail, certain_tail(search.rule, ending, ways[level].ended))
    steps.append((int(reached.shared.least(reached.shared.reports, tail)), reached.shared.reports))
    if any(least > n for least, n in steps):
        return Intrusion(level, characters, None, 1.0)
    devices = sum(_devices(least, n, q, miss) for least, n in steps)
    return Intrusion(level, characters, devices, devices / n_reports)


def _devices(least: int, n: int, q: float, miss: float) -> int:
    """The smallest d with q (n - d) + d at least `least`, and what the noise of the other reports takes off."""
    noise = NormalDist().inv_cdf(1 - miss) * math.sqrt(n * q * (1 - q))
    return max(1, math.ceil((least + noise - n * q) / (1 - q)))


def intrusions(mechanism: HashedPrefixes, code: WordCode, search: WordSearch, n_reports: int) -> dict[str, Any]:
    """The influence on words that end at the first level at which any do, and at the last; and a sentence."""
    last = len(mechanism.ends) - 1
    first = 0 if code.ends_anywhere else last
    ends = [intrusion(mechanism, code, search, n_reports, level) for level in (first, last)]
    return {"shortest": ends[0].to_dict(), "longest": ends[1].to_dict(), "statement": _sentence(code, ends)}


def _sentence(code: WordCode, ends: list[Intrusion]) -> str:
    parts = []
    for end in ends if code.ends_anywhere and ends[0].level < ends[1].level else ends[1:]:
        length = plural(end.characters, "byte" if isinstance(code, ByteCode) else "character")
        if end.devices is None:
            what = f"word of {length}" if code.ends_anywhere else "value"
            parts.append(f"no {what} can be certain with so few reports")
        else:
            what = f"word of up to {length}" if code.ends_anywhere else "value"
            devices = f"{plural(end.devices, 'malicious device')} ({100 * end.share:.2g} %)"
            parts.append(f"about {devices} suffice to put any {what} on this list")
    return "; ".join(parts)


def word_influence(
    mechanism: HashedPrefixes, code: WordCode, search: WordSearch, n_reports: int, hostile: int | float
) -> Influence:
    """How far malicious devices move the share of a listed word, and how many of them bring one onto the list.

    A word's raw share is (H/N - q)/(P1 - q), H of N reports in its rows supporting it. Other reports in place of k of
    them change H/N by k/N at most, also where devices name rows as they like: k (N - H)/(N (N - k)) is below k/N, since
    the k are among the H. This holds while the list of better supported words stays as it is.
    """
    k = hostile_count(hostile, n_reports)
    trials = np.array([word.trials for word in search.found] or [max(1, search.levels[-1].shared.reports)])
    per_answer = np.minimum(k / trials, 1.0) / float(mechanism.support.signal)
    per_answer.flags.writeable = False
    largest, l2 = float(per_answer.max()), float(np.sqrt((per_answer**2).sum()))
    devices, reports = plural(k, "malicious device"), plural(n_reports, "report")
    by = f"cannot move the share of a listed word by more than {largest:.3g}"
    moved = f"{devices} among {reports} {by if largest < 1 else 'may move the share of a listed word to any value'}"
    sentence = f"{moved}; {intrusions(mechanism, code, search, n_reports)['statement']}"
    return Influence(
        n_reports, k, k / n_reports, per_answer, largest, l2, min(l2, math.sqrt(2)), False, False, sentence
    )
