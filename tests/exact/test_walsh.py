"""The fast Walsh-Hadamard transform against its definition, its reference and its algebra."""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, current_thread, main_thread

import numpy as np
import pytest

from sottovoce.kernels import reference, threads
from sottovoce.kernels.walsh import walsh_hadamard, walsh_hadamard_rows

# From 2^17 on there are passes over all memory, with and without a last single level; from 2^19 on, threads.
ALL_LEVELS = range(21)


def transformed(x):
    y = np.array(x, dtype=np.float64)
    walsh_hadamard(y)
    return y


def integers(size, bound=1000):
    return np.random.default_rng(size).integers(-bound, bound, size=size, endpoint=True)


@pytest.mark.parametrize("levels", range(10))
def test_it_is_multiplication_by_the_sylvester_matrix(levels):
    size = 1 << levels
    matrix = [[(-1) ** (i & j).bit_count() for j in range(size)] for i in range(size)]
    x = integers(size)
    np.testing.assert_array_equal(transformed(x), np.array(matrix) @ x)


@pytest.mark.parametrize("levels", ALL_LEVELS)
def test_integers_are_transformed_exactly_at_every_size(levels):
    x = integers(1 << levels)
    np.testing.assert_array_equal(transformed(x), reference.walsh_hadamard(x))


@pytest.mark.parametrize("levels", ALL_LEVELS)
def test_real_numbers_agree_with_the_reference(levels):
    x = np.random.default_rng(levels).normal(size=1 << levels)
    # Either side adds the entries along a binary tree as deep as there are levels, in an order of its own.
    tolerance = 2 * levels * 2.0**-53 * np.abs(x).sum() * (1 + 1e-9)
    assert np.abs(transformed(x) - reference.walsh_hadamard(x)).max() <= tolerance


@pytest.mark.parametrize("levels", ALL_LEVELS)
def test_twice_is_multiplication_by_the_length(levels):
    x = integers(1 << levels)
    np.testing.assert_array_equal(transformed(transformed(x)), x.size * x)


@pytest.mark.parametrize("levels", [1, 4, 9, 12, 15, 18])
def test_integers_are_exact_up_to_the_last_double_that_holds_them(levels):
    size = 1 << levels
    x = integers(size, bound=2**53 // size)
    x[0] = 2**53 - np.abs(x[1:]).sum()  # the absolute values now sum to 2^53
    assert np.abs(reference.walsh_hadamard(x)).max() > 2**48
    np.testing.assert_array_equal(transformed(x).astype(np.int64), reference.walsh_hadamard(x))


@pytest.mark.parametrize("position", [0, 1, 77, 65_535, 65_536, 2**19 - 1])
def test_a_unit_vector_becomes_its_row_of_the_matrix(position):
    x = np.zeros(2**19)
    x[position] = 1.0
    walsh_hadamard(x)
    np.testing.assert_array_equal(x, 1.0 - 2.0 * (np.bitwise_count(np.arange(2**19) & position) % 2))


def test_four_threads_at_once_get_what_one_gets():
    inputs = [np.random.default_rng(seed).normal(size=2**20) for seed in range(4)]
    alone = [transformed(x) for x in inputs]
    start = Barrier(4)

    def together(x):
        start.wait()
        return [transformed(x) for _ in range(5)]

    with ThreadPoolExecutor(4) as pool:
        for expected, results in zip(alone, pool.map(together, inputs), strict=True):
            for result in results:
                np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_the_number_of_cores_changes_no_bit(monkeypatch, cores):
    x = np.random.default_rng(0).normal(size=2**21)
    expected = transformed(x)
    monkeypatch.setattr(threads, "cores", lambda: cores)
    np.testing.assert_array_equal(transformed(x), expected)


def test_a_forked_child_can_transform_too():
    program = """
import os
import numpy as np
from sottovoce.kernels import threads
from sottovoce.kernels.walsh import walsh_hadamard

def right():
    x = np.zeros(2**20)
    x[0] = 1.0
    walsh_hadamard(x)
    return bool((x == 1.0).all())

assert right()
pool = threads._pool()
child = os.fork()
if child == 0:
    os._exit(0 if right() and threads._pool() is not pool else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert right()
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=300)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (5, 8), (7, 1 << 10), (3, 1 << 17), (200, 1 << 12), (0, 4)])
def test_rows_are_transformed_each_on_its_own(shape):
    x = np.random.default_rng(0).integers(-9, 9, size=shape).astype(np.float64)
    expected = np.array([reference.walsh_hadamard(row) for row in x]).reshape(shape)
    walsh_hadamard_rows(x)
    np.testing.assert_array_equal(x, expected)


def frozen(x):
    x.flags.writeable = False
    return x


def misaligned(size):
    return np.zeros(8 * size + 1, dtype=np.uint8)[1:].view(np.float64)


@pytest.mark.parametrize(
    ("x", "remedy"),
    [
        (np.arange(8.0)[::2], "copy"),
        (np.arange(8.0)[::-1], "copy"),
        (frozen(np.arange(8.0)), "copy"),
        (misaligned(8), "copy"),
        (np.arange(8), "astype"),
        (np.arange(8.0, dtype=np.float32), "astype"),
        (np.arange(8.0).astype(">f8"), "astype"),
        ([1.0, 2.0], "astype"),
        (np.ones((2, 2)), "reshape"),
        (np.array(1.0), "reshape"),
        (np.arange(0.0), "power of two"),
        (np.arange(3.0), "power of two"),
        (np.arange(12.0), "power of two"),
    ],
)
def test_other_arrays_are_refused_and_left_alone(x, remedy):
    before = np.array(x)
    with pytest.raises(ValueError, match=remedy):
        walsh_hadamard(x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("x", [np.ones(4), np.ones((2, 3)), np.ones((4, 4)).T[:2], np.ones((2, 0))])
def test_other_matrices_are_refused(x):
    with pytest.raises(ValueError, match=r"dimensions|power of two|contiguous"):
        walsh_hadamard_rows(x)


def test_the_compiled_half_is_only_imported_when_it_is_used():
    program = "import sys, sottovoce.kernels.walsh, sottovoce.projections; sys.exit('numba' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_error_in_one_piece_reaches_the_caller():
    def work(piece):
        if piece == 3:
            raise RuntimeError("piece 3")

    with pytest.raises(RuntimeError, match="piece 3"):
        threads.for_each_piece(work, 8)


def test_the_caller_waits_for_what_a_helper_has_begun(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 2)
    both_at_work, done = Barrier(2), []

    def work(piece):
        both_at_work.wait(timeout=60)
        if current_thread() is not main_thread():
            time.sleep(0.2)
        done.append(piece)

    threads.for_each_piece(work, 2)
    assert sorted(done) == [0, 1]
