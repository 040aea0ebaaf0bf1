"""The loops over simulated people give, draw for draw, what the device's code gives: every value, every draw.

These run compiled here, and once more as plain Python where coverage is measured.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from scripted import Script, columns
from sottovoce.kernels.compiled import channels
from sottovoce.kernels.compiled.projective import projective_points
from sottovoce.kernels.compiled.rotations import codebook_reports, count_signed
from sottovoce.kernels.rotations import rotate
from sottovoce.mechanisms.codebook import Codebook, mark
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.hadamard_blocks import HadamardBlocks
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.vector import lift

HALF = np.uint64(1 << 63)
BELOW, ABOVE = np.uint64(0), np.uint64((1 << 64) - 1)


@pytest.mark.parametrize("mechanism", Hadamard.miniatures(1.0), ids=repr)
def test_hadamard_positions(mechanism: Hadamard) -> None:
    size = mechanism.outputs_size
    cases = list(product(range(mechanism.domain_size), (0, 1), range(size)))
    values, signs, words = columns(cases)
    out = np.empty(len(cases), dtype=np.int64)
    # The words' high bits, the sign bit among them, must not matter.
    high = words.astype(np.uint64) | (HALF * (words % 2).astype(np.uint64))
    channels.hadamard_positions(values, np.where(signs, BELOW, ABOVE), high, HALF, size - 1, out)
    assert out.tolist() == [mechanism._randomize(v, Script(sign, word)) for v, sign, word in cases]


@pytest.mark.parametrize("mechanism", HadamardBlocks.miniatures(1.0), ids=repr)
def test_block_positions(mechanism: HadamardBlocks) -> None:
    b = mechanism.block_size
    cases = list(product(range(mechanism.domain_size), (0, 1), range(b), range(mechanism.cells - b // 2)))
    values, inside, favoured, rest = columns(cases)
    out = np.empty(len(cases), dtype=np.int64)
    channels.block_positions(values, inside.astype(bool), favoured, rest, mechanism.blocks, b, out)
    assert out.tolist() == [mechanism._randomize(value, Script(*draws)) for value, *draws in cases]


@pytest.mark.parametrize("size", [2, 3, 6])
def test_randomized_response_values(size: int) -> None:
    mechanism = RandomizedResponse(size, 1.0)
    cases = list(product(range(size), (0, 1), range(size - 1)))
    values, truthful, others = columns(cases)
    out = np.empty(len(cases), dtype=np.int64)
    channels.randomized_response_values(values, np.where(truthful, BELOW, ABOVE), others, HALF, out)
    assert out.tolist() == [mechanism._randomize(value, Script(*draws)) for value, *draws in cases]


@pytest.mark.parametrize(("size", "order", "dimension"), [(7, 2, 3), (13, 3, 3), (21, 4, 3), (9, 8, 2), (8, 9, 2)])
def test_projective_points(size: int, order: int, dimension: int) -> None:
    mechanism = ProjectiveGeometry(size, 1.0, order, dimension)
    ranks = range(mechanism.space.hyperplane_points), range(order ** (dimension - 1))
    cases = list(product(range(size), (0, 1), *ranks))
    values, orthogonal, inside, outside = columns(cases)
    out = np.empty(len(cases), dtype=np.int64)
    projective_points(values, orthogonal.astype(bool), inside, outside, order, dimension, out)
    assert out.tolist() == [mechanism._randomize(value, Script(*draws)) for value, *draws in cases]


def word_for(drawn: int, n: int) -> int:
    """The least 32-bit word whose product with n has `drawn` above and is kept."""
    word = -(-(drawn << 32) // n)
    while (word * n) & 0xFFFFFFFF < (2**32 - n) % n:
        word += 1
    return word


@pytest.mark.parametrize("contains", [True, False])
@pytest.mark.parametrize(("size", "k"), [(4, 2), (5, 3), (18, 1)], ids=str)  # read off a table, twice; then sorted
def test_subsets_are_uniform_over_all_draws(size: int, k: int, contains: bool) -> None:
    bounds = [*range(size - k, size), k]
    for value in range(0, size, 2):
        draws = list(product(*map(range, bounds)))
        words = np.array(
            [[word_for(d, n) for d, n in zip(drawn, bounds, strict=True)] for drawn in draws], dtype=np.uint32
        )
        out = np.empty((len(draws), k), dtype=np.int64)
        everybody, held = np.full(len(draws), value), np.full(len(draws), contains)
        channels.subsets(everybody, held, words, size, np.random.default_rng(0), out)
        met = Counter(map(tuple, out.tolist()))
        assert set(met) == {s for s in combinations(range(size), k) if (value in s) == contains}
        assert set(met.values()) == {len(draws) // len(met)}


def test_a_word_that_would_be_biased_is_drawn_again() -> None:
    """Of 2^32 words, 2^32 mod 3 = 1 is too many for three values: the word 0, whose place another draw takes."""
    people = 300
    words = np.tile(np.array([0, 1], dtype=np.uint32), (people, 1))
    out = np.empty((people, 1), dtype=np.int64)
    rng = np.random.default_rng(3)
    everybody = np.full(people, 3)
    channels.subsets(everybody, np.zeros(people, dtype=bool), words, 4, rng, out)
    # All three others appear: one is missing with probability at most 3 (2/3)^300 < 1e-52.
    assert set(out[:, 0].tolist()) == {0, 1, 2}
    words[:, 0] = 1
    channels.subsets(everybody, np.zeros(people, dtype=bool), words, 4, rng, out)
    assert set(out[:, 0].tolist()) == {0}


def test_codebook_reports() -> None:
    mechanism = Codebook(3, 2.0, 1.0, 0.0, 64, 16, 3, 5, 6, (77, 88))
    h, rng = mechanism.candidates // 2, np.random.default_rng(1)
    cases = [
        (rotation, block, inside, rank)
        for rotation, block in ((0, 0), (4, 7), (2, 3))
        for inside in (0, 1)
        for rank in range(3 if inside else 13)
    ]
    vectors = rng.normal(size=(len(cases), 3))
    vectors *= 1.9 / np.linalg.norm(vectors, axis=1)[:, None]
    rotations, blocks, inside, ranks = columns(cases)
    out = np.empty(len(cases), dtype=np.int64)
    k0, k1 = (np.uint64(word) for word in mechanism.key)
    rows = lift(vectors, 2.0, 64)
    codebook_reports(rows, rotations, blocks, inside.astype(bool), ranks, h, 3, k0, k1, mechanism.layers, out)
    expected = [
        mechanism._randomize(vector, Script(rotation, block, within, rank * within, rank * (1 - within)))
        for vector, (rotation, block, within, rank) in zip(vectors, cases, strict=True)
    ]
    assert out.tolist() == expected
    for row, vector, rotation in zip(rows, lift(vectors, 2.0, 64), rotations, strict=True):
        assert np.allclose(row, rotate(vector, mechanism.key, int(rotation), mechanism.layers), rtol=0, atol=1e-12)


def test_a_score_that_is_no_number_counts_as_zero() -> None:
    """A vector of nothing but nan scores nan everywhere, and still exactly the lowest rows are marked."""
    top = mark(np.full(4, math.nan), 3)
    for inside, group in ((True, np.flatnonzero(top)), (False, np.flatnonzero(~top))):
        n = len(group)
        out = np.empty(n, dtype=np.int64)
        zeros, vectors = np.zeros(n, dtype=np.int64), np.full((n, 64), math.nan)
        inside_all, key = np.full(n, inside), np.uint64(5)
        codebook_reports(vectors, zeros, zeros, inside_all, np.arange(n), 4, 3, key, key, 1, out)
        assert out.tolist() == group.tolist()


def test_signed_counts() -> None:
    counts = np.zeros(3, dtype=np.int64)
    count_signed(counts, np.array([0, 1, 1, 4, 4, 5, 2]))
    assert counts.tolist() == [-1, 1, 1]
