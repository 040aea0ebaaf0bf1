"""What a list of words is worth, over simulated surveys: each has new hashes, new people and new reports.

How often a word that nobody has is called certain, and how many such words are on the list; how often the 95 %
intervals of words that were found, and of words that were chosen, miss the share of the population; and how often as
many malicious devices as are stated bring a word onto the list.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import sottovoce as sv
from sottovoce.estimates.words.influence import intrusion
from sottovoce.estimates.words.intervals import chosen_words, selected_interval
from sottovoce.estimates.words.search import WordSearch, search_words
from sottovoce.lab.populations.real_data import real_data
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.strategies.words.tallies import Tallies

__all__ = ["run"]

Row = dict[str, object]
Codes = NDArray[np.uint8]

RUNS, PEOPLE, EPSILON = 200, 20_000, 3.0
LETTERS, LONGEST = "abcdefg", 12
"""Two levels of six letters; 7^12 words, so that hardly two people have the same."""

ATTACKS = 40
ZIPF_RUNS, ZIPF_PEOPLE, ZIPF_EPSILON, CHOSEN = 60, 60_000, 4.0, 300
VOCABULARY = 50_000
LEVEL = 0.95


def run() -> list[Row]:
    """Every figure, one row each."""
    survey = sv.Survey(sv.words(LONGEST, LETTERS), epsilon=EPSILON, people=PEOPLE)
    return [*_false(survey, common=False), *_false(survey, common=True), *_attacks(survey), *_coverage()]


def search(survey: Any, codes: Codes, rng: np.random.Generator, hostile: Any = None) -> WordSearch:
    """What is found in the reports of people with these codes; `hostile(mechanism)` gives reports that are added."""
    mechanism = survey.mechanism.for_key(tuple(rng.integers(0, 2**32, 2).tolist()))
    counts = np.bincount(mechanism.randomize_many(codes, rng), minlength=mechanism.cells)
    if hostile is not None:
        counts += np.bincount(hostile(mechanism), minlength=mechanism.cells)
    return search_words(Tallies.of(mechanism, counts), survey.question.code)


def _uniform(survey: Any, n: int, rng: np.random.Generator, length: int = LONGEST) -> Codes:
    """Codes of words of so many letters, all letters alike."""
    code = survey.question.code
    units = np.zeros((n, code.units), dtype=np.int64)
    units[:, :length] = rng.integers(1, len(LETTERS) + 1, size=(n, length))
    bits = (units[:, :, None] >> np.arange(code.unit_bits - 1, -1, -1) & 1).astype(np.uint8)
    return np.packbits(bits.reshape(n, -1), axis=1)


# --- words that nobody has -----------------------------------------------------------------------


def _false(survey: Any, common: bool) -> list[Row]:
    who = "half of the people have one word" if common else "no common word"
    name = f"words, {PEOPLE:,} people, epsilon {EPSILON:g}, {who}"
    wrong, doubtful, expected, rng = 0, list[int](), list[float](), np.random.default_rng([1, common])
    for _ in range(RUNS):
        codes = _uniform(survey, PEOPLE, rng)
        if common:
            codes[: PEOPLE // 2] = _uniform(survey, 1, rng, int(rng.integers(1, LONGEST + 1)))
        held, found = {row.tobytes() for row in codes}, search(survey, codes, rng)
        nobodys = [one for one in found.found if one.code.tobytes() not in held]
        wrong += any(one.certain for one in nobodys)
        doubtful.append(sum(not one.certain for one in nobodys))
        expected.append(found.rule.doubtful * sum(one.candidates > 0 for one in found.levels))
    stated = found.rule.false_discovery
    mean, error = float(np.mean(doubtful)), float(np.std(doubtful)) / math.sqrt(RUNS)
    most = round(1 + 3 * error / float(np.mean(expected)), 3)
    return [
        _rate(f"{name}: runs in which a word that nobody has is certain", wrong, RUNS, stated),
        {
            **_at_most(f"{name}: doubtful words that nobody has", mean / float(np.mean(expected)), "expected", most),
            "mean": mean,
            "standard_error": error,
            "expected": float(np.mean(expected)),
        },
    ]


# --- intervals -----------------------------------------------------------------------------------


def _coverage() -> list[Row]:
    """Words of a language, whose shares fall as Zipf's law says."""
    words = real_data("words", VOCABULARY)
    survey: Any = sv.Survey(sv.words(6, "latin"), epsilon=ZIPF_EPSILON, people=ZIPF_PEOPLE)
    codes = survey.question.code.rows(words.labels)
    kept = codes.any(axis=1)
    codes, shares = codes[kept], words.shares[kept] / words.shares[kept].sum()
    truth = {row.tobytes(): float(share) for row, share in zip(codes, shares, strict=True)}
    listed, certain, chosen, rng = list[bool](), list[bool](), list[bool](), np.random.default_rng(2)
    for _ in range(ZIPF_RUNS):
        found = search(survey, codes[rng.choice(len(shares), size=ZIPF_PEOPLE, p=shares)], rng)
        mechanism = found.known.tallies.mechanism
        low, high = selected_interval(mechanism, found, LEVEL, False)
        share = np.array([truth.get(one.code.tobytes(), 0.0) for one in found.found])
        held = ((low <= share) & (share <= high)).tolist()
        listed += held
        certain += [one for one, word in zip(held, found.found, strict=True) if word.certain]
        asked = chosen_words(mechanism, survey.question.code, found, codes[:CHOSEN], LEVEL)
        chosen += ((asked.low <= shares[:CHOSEN]) & (shares[:CHOSEN] <= asked.high)).tolist()
    name = f"English words of up to six letters, {ZIPF_PEOPLE:,} people, epsilon {ZIPF_EPSILON:g}"
    return [
        _misses(f"{name}: misses of the intervals of words found", listed),
        _misses(f"{name}: misses of the intervals of words found that are certain", certain),
        _misses(f"{name}: misses of the intervals of the {CHOSEN} most common words, found or not", chosen),
    ]


def _misses(name: str, held: list[bool]) -> Row:
    return _rate(name, len(held) - sum(held), len(held), 1 - LEVEL)


# --- malicious devices ---------------------------------------------------------------------------


def _attacks(survey: Any) -> list[Row]:
    """Devices of a word of the last level: as many for its open prefix as that needs, the others where it has ended."""
    rng, successes, shares = np.random.default_rng(3), {1.0: 0, 0.5: 0}, list[float]()
    q = float(survey.mechanism.support.other)
    for _ in range(ATTACKS):
        codes, word = _uniform(survey, PEOPLE, rng), _uniform(survey, 1, rng)[0]
        honest = search(survey, codes, rng)
        stated = intrusion(survey.mechanism, survey.question.code, honest, PEOPLE, 1)
        assert stated.devices is not None
        shares.append(stated.share)
        opened, ended = honest.levels
        needed = opened.least_open - q * opened.open_reports
        last = int(ended.shared.least(ended.shared.reports, ended.certain_tail)) - q * ended.shared.reports
        for part in successes:
            devices = int(part * stated.devices)
            first = math.ceil(devices * needed / (needed + last))
            bad = _devices(word, first, devices - first)
            found = search(survey, codes[devices:], rng, bad)
            successes[part] += any(one.certain and one.code.tobytes() == word.tobytes() for one in found.found)
    name = f"words, {PEOPLE:,} people, epsilon {EPSILON:g}: failures of"
    missed = ATTACKS - successes[1.0]
    return [
        {**_rate(f"{name} the stated malicious devices", missed, ATTACKS, 1 - LEVEL), "share": float(np.mean(shares))},
        {
            "name": f"{name} half of the stated malicious devices",
            "ratio": 1 - successes[0.5] / ATTACKS,
            "against": "1",
        },
    ]


def _devices(word: Codes, first: int, last: int) -> Any:
    """Reports of the two levels that support a word, spread over their rows."""

    def reports(mechanism: HashedPrefixes) -> NDArray[np.int64]:
        ways = ((first, 0, mechanism.rows[0]), (last, mechanism.rows[0], mechanism.rows[1]))
        rows = np.concatenate([start + np.arange(n) % of for n, start, of in ways])
        points = np.array([_supporter(mechanism, mechanism.bucket(word, row)) for row in range(sum(mechanism.rows))])
        return np.asarray(rows * mechanism.buckets + points[rows])

    return reports


def _supporter(mechanism: HashedPrefixes, bucket: int) -> int:
    """A point that supports a bucket: the likeliest of some."""
    return int(np.argmax([float(mechanism.inner.probability(point, bucket)) for point in range(64)]))


# --- rows ----------------------------------------------------------------------------------------


def _rate(name: str, count: int, of: int, stated: float) -> Row:
    """A rate over the stated one; a target that a rate as stated misses with probability 0.001."""
    low, high = (float(end) for end in stats.binomtest(count, of).proportion_ci(LEVEL))
    most = float(stats.binom.isf(0.001, of, stated)) / of / stated
    found = _at_most(name, count / of / stated, f"{stated:.2g}", round(most, 3))
    return {**found, "count": count, "of": of, "interval": [low, high]}


def _at_most(name: str, ratio: float, against: str, most: float) -> Row:
    return {"name": name, "ratio": ratio, "against": against, "target": f"<= {most:.4g}", "met": ratio <= most}


if __name__ == "__main__":
    for found in run():
        print(found)
