"""Public randomness: known answers, and the NumPy and compiled forms agree bit for bit."""

import numpy as np
import pytest

from sottovoce.kernels.compiled.normals import philox4x32 as compiled
from sottovoce.kernels.compiled.rotations import flip_signs, rotate_back
from sottovoce.kernels.compiled.rotations import rotate as rotate_compiled
from sottovoce.kernels.rotations import rotate, signs
from sottovoce.randomness.philox import key_of, philox4x32, words

ONES = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("key", "counter", "answer"),
    [
        ((0, 0), (0, 0, 0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ((ONES, ONES), (ONES, ONES, ONES, ONES), "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ],
)
def test_known_answers(key, counter, answer) -> None:
    found = philox4x32(key, np.array([counter], dtype=np.uint32))[0]
    assert " ".join(f"{word:08x}" for word in found) == answer


def test_compiled_form_agrees() -> None:
    rng = np.random.default_rng(1)
    counters = rng.integers(0, 2**32, size=(500, 4), dtype=np.uint32)
    key = (0x12345678, 0x9ABCDEF0)
    reference = philox4x32(key, counters)
    for row, expected in zip(counters, reference, strict=True):
        assert [int(w) for w in compiled(*(np.uint64(x) for x in (*key, *row)))] == expected.tolist()


def test_streams_are_addressed_by_their_counter() -> None:
    stream = words((1, 2), 11, layers=4, rotation=4, purpose=5)[3]
    block = philox4x32((1, 2), np.array([[2, 3, 4, 5]], dtype=np.uint32))[0]
    assert stream[8:11].tolist() == block[:3].tolist()


def test_key_is_the_start_of_the_id() -> None:
    assert key_of(bytes(range(32))) == (0x03020100, 0x07060504)


@pytest.mark.parametrize("size", [64, 128, 256, 1024])
def test_device_and_compiled_rotations_agree(size: int) -> None:
    key, x = (77, 88), np.random.default_rng(size).normal(size=size)
    flipped = x.copy()
    flip_signs(flipped, np.uint64(77), np.uint64(88), 9, 2)
    assert np.array_equal(flipped, x * signs(key, size, 9, 3)[2])
    turned = x.copy()
    rotate_compiled(turned, np.uint64(77), np.uint64(88), 9, 3)
    assert np.allclose(turned, rotate(x, key, 9, 3), rtol=0, atol=1e-12)
    rotate_back(turned, np.uint64(77), np.uint64(88), 9, 3)
    assert np.allclose(turned, x, rtol=0, atol=1e-12)


def test_signs_are_balanced_and_streams_differ() -> None:
    """65,536 signs: the sum has standard deviation 256, so 2,000 is out of reach (1e-14)."""
    many = np.concatenate([signs((5, 6), 1024, rotation, 1)[0] for rotation in range(64)])
    assert abs(many.sum()) < 2000
    first, second = signs((5, 6), 64, 0, 2)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, signs((5, 6), 64, 1, 1)[0])
    assert not np.array_equal(first, signs((5, 7), 64, 0, 1)[0])
