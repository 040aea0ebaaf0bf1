"""The compiled numeric loops at small sizes, each against its definition.

These run compiled here, and once more as plain Python where coverage is measured.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from sottovoce.kernels import reference
from sottovoce.kernels.compiled import normals, rotations, simplex, triangular, walsh, walsh_counts
from sottovoce.kernels.counting import count_into
from sottovoce.kernels.normals import seed_normals
from sottovoce.kernels.projective import hyperplane_sums, singer_polynomial
from sottovoce.kernels.rotations import fold_counts, rotate
from sottovoce.kernels.threads import uninitialized, zeros
from sottovoce.kernels.walsh import walsh_hadamard_of_counts
from sottovoce.mechanisms.projective_space import ProjectiveSpace


@pytest.mark.parametrize("levels", [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14])
def test_a_run_is_transformed_at_every_depth(levels: int) -> None:
    x = np.random.default_rng(levels).integers(-99, 99, size=2 << levels).astype(np.float64)
    expected = np.concatenate([reference.walsh_hadamard(half) for half in np.split(x, 2)])
    walsh.transform_rows(x, 1 << levels, 0, 2)
    np.testing.assert_array_equal(x, expected)


def test_levels_over_all_memory() -> None:
    """From strides of two chunks on: two levels, and the one that is left, make eight times as many entries whole."""
    h = 2 * walsh.CHUNK
    x = np.random.default_rng(0).integers(-99, 99, size=8 * h).astype(np.float64)
    expected = reference.walsh_hadamard(x)
    walsh.transform_rows(x, h, 0, 8)
    walsh.two_levels(x, h, 0, 3)
    walsh.two_levels(x, h, 3, 4)
    walsh.one_level(x, 4 * h, 0, 8)
    np.testing.assert_array_equal(x, expected)


def test_blocks_of_counts_are_transformed_in_single_precision() -> None:
    """All levels of every block; and counts that single precision might not hold are told."""
    block = walsh.BLOCK
    counts = np.random.default_rng(0).integers(0, 9, size=2 * block)
    expected = np.concatenate([reference.walsh_hadamard(part.astype(float)) for part in np.split(counts, 2)])
    found = np.full(2 * block, math.nan, dtype=np.float32)
    assert walsh_counts.transform_blocks(counts, found, 1, 2) == counts[block:].sum()
    assert walsh_counts.transform_blocks(counts, found, 0, 1) == counts[:block].sum()
    np.testing.assert_array_equal(found, expected)
    scaled = np.empty(100)
    walsh_counts.scale(found[:100], 0.1, scaled)
    np.testing.assert_array_equal(scaled, 0.1 * expected[:100])
    for bad in (-1, -(2**63), walsh_counts.LARGEST, 2**63 - 1):
        counts[block + 7] = bad
        with np.errstate(over="ignore"):  # sums go round in compiled code, and in plain Python with a warning
            assert walsh_counts.transform_blocks(counts, found, 1, 2) == -1


@pytest.mark.parametrize("most", [9, 2000])
def test_the_transform_of_counts_is_exact(most: int) -> None:
    """Over all memory, whether their sum is below 2^24 or not."""
    counts = np.random.default_rng(most).integers(0, most + 1, size=1 << 17)
    expected = reference.walsh_hadamard(counts.astype(float))
    np.testing.assert_array_equal(walsh_hadamard_of_counts(counts, 99_999, 0.25), 0.25 * expected[1:100_000])
    few = counts[:8]
    np.testing.assert_array_equal(
        walsh_hadamard_of_counts(few, 7, 1.0), reference.walsh_hadamard(few.astype(float))[1:]
    )


@pytest.mark.parametrize("entries", [0, 5, 1 << 17, (1 << 18) + 1, 10**6])
def test_large_arrays_begin_where_a_huge_page_does(entries: int) -> None:
    held = zeros(entries, np.int64)
    assert (held.shape, held.dtype, held.any()) == ((entries,), np.int64, False)
    others = uninitialized(entries)
    assert (others.shape, others.dtype, others.flags.writeable) == ((entries,), np.float64, True)
    if entries >= 1 << 17:
        assert held.ctypes.data % 2**21 == others.ctypes.data % 2**21 == 0
        assert not np.shares_memory(held, others)


SIZES = [1, 31, 32, 33, 200]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("high", [-10.0, 0.0, 0.5])
def test_the_largest_entry_and_whether_all_are_finite(size: int, high: float) -> None:
    raw = np.random.default_rng(size).normal(size=size)
    raw[size // 3] = 5.0
    *_, largest, finite = simplex.excess(raw, high, 0.0, True)
    assert (largest, finite) == (5.0, True)
    for bad in (math.nan, math.inf, -math.inf):
        for place in {0, size // 2, size - 1}:
            spoilt = raw.copy()
            spoilt[place] = bad
            with np.errstate(invalid="ignore"):
                assert not simplex.excess(spoilt, high, 0.0, True)[-1]


@pytest.mark.parametrize("size", [*SIZES, simplex.RUN + 40])
@pytest.mark.parametrize("above", [0.0, 0.5, 4.0], ids=["all rows", "most rows", "few rows"])
def test_heights_above_a_threshold(size: int, above: float) -> None:
    raw = np.random.default_rng(size).integers(-1024, 1024, size=size) / 1024
    raw[:: 3 * simplex.LANES] += above
    high, low = above, 2.0**-60
    heights = np.maximum(raw - high, 0.0)  # multiples of 2^-10: what lies above `high` lies above `low` more too
    total, count, *_ = simplex.excess(raw, high, low, False)
    assert math.isclose(total, heights.sum(), rel_tol=1e-12)
    assert count == (heights > 0).sum()
    held = np.empty(count)
    simplex.gather(raw, high, low, held)
    assert held.tolist() == raw[heights > 0].tolist()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("spread", [0.01, 1.0], ids=["many above", "few above"])
def test_clipping_states_its_duality_gap(size: int, spread: float) -> None:
    """<r, x> - min r, r = x - (raw - tau): nothing but rounding where tau is the solution, and its size elsewhere."""
    raw = spread * np.random.default_rng(size).normal(size=size)
    tau, out = reference.simplex_threshold_by_sorting(raw), np.empty(size)
    product, least = simplex.clip(raw, tau, 0.0, out)
    np.testing.assert_array_equal(out, np.maximum(raw - tau, 0.0))
    assert abs(product - least) <= 1e-15 * size * (1 + np.abs(raw).max())
    far = raw.max() + 0.5
    product, least = simplex.clip(raw, far, 0.0, out)
    assert not out.any()
    assert (product, least) == (0.0, pytest.approx(0.5, rel=1e-12))


def triangle(n: int, seed: int = 0) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).normal(size=(n, n)))
    upper[np.diag_indices(n)] = 1.0 + np.abs(upper.diagonal())
    return upper


CLOSE = {"rtol": 1e-9, "atol": 1e-9}


@pytest.mark.parametrize("n", [1, 2, 7])
def test_products_and_solutions(n: int) -> None:
    upper, z = triangle(n), np.random.default_rng(n).normal(size=n)
    np.testing.assert_allclose(triangular.multiply(upper, z), upper @ z, **CLOSE)
    np.testing.assert_allclose(triangular.multiply_transposed(upper, z), upper.T @ z, **CLOSE)
    solved = z.copy()
    triangular.solve_normal(upper, solved)
    np.testing.assert_allclose(upper.T @ upper @ solved, z, **CLOSE)
    right = np.random.default_rng(n).normal(size=(n, 3))
    answer = right.copy()
    triangular.solve_transposed(upper, answer)
    np.testing.assert_allclose(upper.T @ answer, right, **CLOSE)


@pytest.mark.parametrize("rank", [1, 3, 6])
def test_the_root_with_pivots_stops_at_the_rank(rank: int) -> None:
    factor = np.random.default_rng(rank).normal(size=(6, rank))
    matrix = factor @ factor.T
    root = matrix.copy()
    order, found = triangular.pivoted_root(root, 1e-9)
    assert found == rank
    assert sorted(order.tolist()) == list(range(6))
    assert order[0] == matrix.diagonal().argmax()
    taken = order[:rank]
    upper = np.triu(root[np.ix_(taken, taken)])
    np.testing.assert_allclose(upper.T @ upper, matrix[np.ix_(taken, taken)], **CLOSE)


@pytest.mark.parametrize("kept", [[0, 1, 1, 0, 1], [1, 1, 1, 0, 0], [0, 0, 0, 0, 1], [1, 0, 1, 0, 1]], ids=str)
def test_a_triangle_without_some_columns(kept: list[int]) -> None:
    stays, upper = np.array(kept, dtype=bool), triangle(5)
    smaller, others = triangular.split(upper, stays)
    np.testing.assert_array_equal(smaller, upper[np.ix_(stays, stays)])
    np.testing.assert_array_equal(others, upper[np.ix_(~stays, stays)])
    starts = np.cumsum(stays)[~stays]
    if starts[0] < len(smaller):
        triangular.absorb(smaller, others, starts)
    np.testing.assert_allclose(smaller.T @ smaller, (upper.T @ upper)[np.ix_(stays, stays)], **CLOSE)
    np.testing.assert_array_equal(smaller, np.triu(smaller))


def test_rows_of_nothing_are_absorbed_without_a_trace() -> None:
    upper, before = triangle(4), triangle(4)
    triangular.absorb(upper, np.zeros((1, 4)), np.zeros(1, dtype=np.int64))
    np.testing.assert_array_equal(upper, before)


def test_normals_of_many_seeds() -> None:
    seeds = np.array([0, 1, 2**32, 2**63 + 5, 2**64 - 1], dtype=np.uint64)
    expected = np.array([seed_normals(int(seed), 40) for seed in seeds])
    found = np.empty((len(seeds), 40))
    normals.many_normals(seeds, found)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    units = np.random.default_rng(0).normal(size=(len(seeds), 39))
    products = np.empty(len(seeds))
    normals.inner_products(units, seeds, products)
    np.testing.assert_allclose(products, np.einsum("ij,ij->i", units, expected[:, :39]), rtol=0, atol=1e-10)
    everyone, accepted = np.zeros(39, dtype=np.int64), np.zeros(39, dtype=np.int64)
    bits = np.array([1, 0, 1, 1, 0], dtype=np.uint64)
    normals.count_normals(everyone, accepted, seeds, bits)
    fixed = np.rint(found[:, :39] * 2.0**30).astype(np.int64)
    assert everyone.tolist() == fixed.sum(axis=0).tolist()
    assert accepted.tolist() == fixed[bits == 1].sum(axis=0).tolist()


@pytest.mark.parametrize("size", [64, 256])
def test_counts_are_turned_back(size: int) -> None:
    """Q^T of every rotation's counts, summed: the inner product with Q x is what it is with x, per rotation."""
    counts = np.random.default_rng(size).integers(-5, 6, size=(3, size))
    counts[1] = 0
    key, x = (3, 4), np.random.default_rng(1).normal(size=size)
    folded = fold_counts(counts, key, 4)
    turned = sum(float(counts[r] @ rotate(x, key, r, 4)) for r in range(3))
    assert math.isclose(float(folded @ x), turned, rel_tol=1e-9, abs_tol=1e-9)
    alone = np.zeros(size)
    rotations.fold(counts, np.uint64(3), np.uint64(4), 4, 0, 1, 2, alone)
    assert not alone.any()


@pytest.mark.parametrize(("order", "dimension"), [(2, 3), (3, 3), (5, 2), (7, 3), (4, 2), (4, 3), (9, 2)])
def test_hyperplane_sums(order: int, dimension: int) -> None:
    space = ProjectiveSpace(order, dimension)
    singer_polynomial.cache_clear()
    counts = np.random.default_rng(order).integers(0, 1000, size=space.points)
    expected = [sum(int(counts[x]) for x in range(space.points) if space.orthogonal(x, v)) for v in range(space.points)]
    assert hyperplane_sums(counts, order, dimension).tolist() == expected


def test_counting() -> None:
    counts = np.array([10, 0, 0, 5])
    count_into(counts, np.array([3, 0, 3, 1], dtype=np.int64))
    assert counts.tolist() == [11, 1, 0, 7]
