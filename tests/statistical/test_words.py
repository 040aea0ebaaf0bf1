"""Lists of words: no false word is certain, intervals cover after selection, and malicious devices need their number.

Every run has new hashes and new people, from entropy of the operating system. A test fails by chance with probability
1e-8 at most: limits are quantiles of the binomial number of runs, or words, that may go wrong.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from sottovoce.estimates.words.influence import intrusion
from sottovoce.estimates.words.intervals import chosen_words, selected_interval
from words_runs import Runs, small

pytestmark = pytest.mark.slow

ALPHA = 1e-8
N = 4000


@pytest.fixture(scope="module")
def runs() -> Runs:
    return small(people=N)


def most(trials: int, chance: float) -> int:
    """What a binomial number exceeds with probability `ALPHA` at most."""
    return int(stats.binom.isf(ALPHA, trials, chance))


def shares_of(codes: Any) -> dict[bytes, float]:
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    return {row.tobytes(): count / len(codes) for row, count in zip(rows, counts.tolist(), strict=True)}


def test_words_nobody_has_are_seldom_certain(runs: Runs) -> None:
    """Half of the runs without any common word; half with one that every second person has."""
    rng, wrong, number = np.random.default_rng(), 0, 50
    for run in range(number):
        codes = runs.uniform(N, rng)
        if run % 2:
            codes[: N // 2] = runs.uniform(1, rng, length=int(rng.integers(2, 13)))
        held = shares_of(codes)
        search = runs.search(codes, rng)
        wrong += any(one.certain and one.code.tobytes() not in held for one in search.found)
        assert not run % 2 or any(one.certain for one in search.found), "half of the people have one word"
    assert wrong <= most(number, 0.05)


def test_intervals_cover_after_selection_and_for_chosen_words(runs: Runs) -> None:
    rng, missed, listed, chosen_missed, chosen = np.random.default_rng(), 0, 0, 0, 0
    weights = np.array([0.3, 0.1, *[0.03] * 8, *[0.015] * 12])
    for _ in range(20):
        words = np.concatenate([runs.uniform(1, rng, length=int(rng.integers(2, 13))) for _ in weights])
        codes = runs.uniform(N, rng)
        drawn = rng.choice(len(weights) + 1, size=N, p=[*weights, 1 - weights.sum()])
        codes[drawn < len(weights)] = words[drawn[drawn < len(weights)]]
        held, search = shares_of(codes), runs.search(codes, rng)
        mechanism = search.known.tallies.mechanism
        low, high = selected_interval(mechanism, search, 0.95, False)
        truth = np.array([held.get(one.code.tobytes(), 0.0) for one in search.found])
        missed, listed = missed + int(((truth < low) | (truth > high)).sum()), listed + len(truth)
        assert all(end > 0 for one, end in zip(search.found, low, strict=True) if one.certain)
        answers = chosen_words(mechanism, runs.code, search, words, 0.95)
        truth = np.array([held.get(row.tobytes(), 0.0) for row in words])
        chosen_missed += int(((truth < answers.low) | (truth > answers.high)).sum())
        chosen += len(words)
    assert listed > 100
    assert missed <= most(listed, 0.05)
    assert chosen_missed <= most(chosen, 0.05)


def attack(runs: Runs, word: str, devices: int, plain: Any) -> Any:
    """Reports that support a word: as many at every open level as it needs, the others where it has ended."""
    row = runs.code.row(word)

    def reports(mechanism: Any) -> Any:
        first = int(np.ceil(devices * plain[0]))
        rows = np.concatenate(
            [
                np.arange(first) % mechanism.rows[0],
                mechanism.rows[0] + np.arange(devices - first) % mechanism.rows[1],
            ]
        )
        places = np.array([_supporter(mechanism, mechanism.bucket(row, int(at))) for at in range(sum(mechanism.rows))])
        return rows * mechanism.buckets + places[rows]

    return reports


def _supporter(mechanism: Any, bucket: int) -> int:
    """A point that supports a bucket: the likeliest of all."""
    chances = [mechanism.inner.probability(point, bucket) for point in range(64)]
    return int(np.argmax(chances))


def test_the_stated_number_of_malicious_devices_is_what_it_takes(runs: Runs) -> None:
    rng, word = np.random.default_rng(), "abcabcabcabc"
    successes = {1.0: 0, 0.5: 0}
    number = 8
    for _ in range(number):
        codes = runs.uniform(N, rng)
        honest = runs.search(codes, rng)
        stated = intrusion(runs.mechanism, runs.code, honest, N, 1)
        assert stated.devices is not None
        assert stated.devices < N // 4
        first = intrusion(runs.mechanism, runs.code, honest, N, 0)
        assert first.devices is not None
        assert first.devices < stated.devices
        opened, ended = (honest.levels[0].least_open, honest.levels[0].open_reports), honest.levels[1]
        need = opened[0] - opened[1] * float(runs.mechanism.support.other)
        last = int(ended.shared.least(ended.shared.reports, ended.certain_tail))
        part = need / (need + last - ended.shared.reports * float(runs.mechanism.support.other))
        for share in successes:
            devices = int(share * stated.devices)
            search = runs.search(codes[devices:], rng, hostile=attack(runs, word, devices, (part,)))
            successes[share] += any(one.certain and one.value == word for one in search.found)
    assert successes[1.0] >= stats.binom.ppf(1e-6, number, 0.9)
    assert successes[0.5] <= number // 2  # each has a chance below 0.03, five of eight one below 1e-6


def test_a_word_that_shares_all_buckets_with_another_is_not_certain(runs: Runs) -> None:
    """Of some thousand candidates many share the few buckets of few rows with the words that people have."""
    few = Runs(runs.survey)
    few.mechanism = replace(runs.mechanism, rows=(3, 3), order=5, dimension=2)
    rng, wrong, surely, number = np.random.default_rng(), 0, 0, 40
    for _ in range(number):
        codes = runs.uniform(2, rng)[rng.integers(0, 2, size=2000)]
        held, search = shares_of(codes), few.search(codes, rng)
        wrong += any(one.certain and one.code.tobytes() not in held for one in search.found)
        low = selected_interval(search.known.tallies.mechanism, search, 0.95, False).low
        surely += any(end > 0 for one, end in zip(search.found, low, strict=True) if one.code.tobytes() not in held)
    assert wrong <= most(number, 0.05)
    assert surely <= most(number, 0.05)


def test_common_words_are_estimated_by_rows_in_which_each_is_alone(runs: Runs) -> None:
    """Also the better supported of two: with few buckets they share some, however many rows there are."""
    few = Runs(runs.survey)
    few.mechanism = replace(runs.mechanism, rows=(20, 20), order=11, dimension=2)
    words = few.code.rows(["abcabc", "cba"])
    search = few.search(words[np.arange(4000) % 2], np.random.default_rng())
    tallies = search.known.tallies
    apart = np.not_equal(*tallies.places(words))
    trials = {one.code.tobytes(): one.trials for one in search.found}
    for row, first in zip(words, (tallies.mechanism.starts[1], 0), strict=True):
        assert 0 < trials[row.tobytes()] <= tallies.trials[first:][apart[first:]].sum()
