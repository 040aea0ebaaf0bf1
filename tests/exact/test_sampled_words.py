"""Samples of words: the same words wherever they stand, about as many as they should be, whoever chose them."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.kernels.repeats import WordMarks, bucket_numbers, sample_bits, sampled, secret_multiplier, spread_words


def test_how_large_a_sample_is() -> None:
    assert [sample_bits(rows) for rows in (0, 1, 2**22)] == [0, 0, 0]
    assert [sample_bits(rows) for rows in (2**22 + 1, 2**23, 2**23 + 1, 2**28, 2**28 + 1, 2**60)] == [1, 1, 2, 6, 6, 6]


@pytest.mark.parametrize("bits", [0, 1, 6])
def test_a_word_is_taken_wherever_it_stands(bits: int) -> None:
    words = np.random.default_rng(1).integers(0, 2**64, 5000, dtype=np.uint64)
    found = sampled(words, 12345, bits)
    inside = np.isin(words, found)
    assert np.array_equal(found, words[inside]), "in their order, and none left out"
    assert abs(len(found) - 5000 / 2**bits) < 6 * (5000 / 2**bits) ** 0.5
    rows = np.column_stack([words[::-1], words]).copy()
    rows.setflags(write=False)
    assert np.array_equal(sampled(rows[:, 0], 12345, bits), found[::-1])
    found[:] = 0
    assert words.all(), "what is found is a copy"


HOSTILE = (0, 1, 2**63, 2**58, 63 * 2**58, 2**64 - 1)


@pytest.mark.parametrize("word", HOSTILE)
def test_no_word_is_always_in_or_always_out(word: int) -> None:
    """Whatever it is, and all of them or none where one word stands everywhere.

    Of 4096 multipliers one in 64 takes it: 64, with a standard deviation of 8; six of them make a false alarm rarer
    than 1 in 10^8.
    """
    words = np.full(3, word, dtype=np.uint64)
    numbers = np.random.default_rng(2).integers(0, 2**63, 4096).tolist()
    sizes = [len(sampled(words, 2 * number + 1, 6)) for number in numbers]
    assert set(sizes) == {0, 3}
    assert 16 < sizes.count(3) < 112


def test_a_sample_fills_all_buckets_of_the_same_multiplier() -> None:
    words = np.random.default_rng(3).integers(0, 2**64, 64_000, dtype=np.uint64)
    multiplier = secret_multiplier()
    found = sampled(words, multiplier, 4)
    ordered, sizes = spread_words(found, multiplier, 3)
    assert sizes.min() > 300
    assert np.array_equal(np.sort(ordered), np.sort(found))
    assert np.array_equal(bucket_numbers(ordered, multiplier, 3), np.repeat(np.arange(8), sizes))


@pytest.mark.parametrize("n", [1, 100, 70_000])
def test_known_words_are_found_wherever_they_stand(n: int) -> None:
    rng = np.random.default_rng(n)
    known = np.unique(rng.integers(0, 2**64, n, dtype=np.uint64))
    others = np.arange(5000, dtype=np.uint64) << np.uint64(50)
    edges = np.array([0, 2**64 - 1], dtype=np.uint64)
    every = rng.permutation(np.concatenate([known, known[: n // 2], others, edges]))
    wanted = np.flatnonzero(np.isin(every, known))
    assert np.array_equal(WordMarks(rng.permutation(known)).positions(every), wanted)
    rows = np.zeros((len(every), 2), dtype=np.uint64)
    rows[:, 0] = every
    rows.flags.writeable = False
    assert np.array_equal(WordMarks(known).positions(rows[:, 0]), wanted)
