"""The samplers on scripted draws: what they ask for, draw by draw, and what they make of every answer.

The laws are proved elsewhere by summing over outcomes; here each step of Canonne, Kamath and Steinke's Algorithms 1 to
3 is held to its printed form, which takes no time at all.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from scripted import Script
from sottovoce.randomness import discrete_gaussian as sampler
from sottovoce.randomness import philox
from sottovoce.randomness.source import ByteSource, tape_source


class Integers(Script):
    """These samplers ask for integers only."""

    def bernoulli(self, threshold: int) -> bool:
        raise AssertionError("these samplers ask for integers only")


@pytest.mark.parametrize(
    ("answers", "asked", "result"),
    [
        ([2], [3], True),
        ([1, 2], [3, 6], False),
        ([1, 1, 2], [3, 6, 9], True),
        ([0, 1, 0, 5], [3, 6, 9, 12], False),
    ],
)
def test_small_exponents_count_coins_until_one_fails(answers: list[int], asked: list[int], result: bool) -> None:
    """exp(-2/3): coins of chance 2/3, 2/6, 2/9, ..; True when the first that fails is an odd one."""
    script = Integers(*answers)
    assert sampler.bernoulli_exp(2, 3, script) is result
    assert (script.asked, script.answers) == (asked, [])


def test_large_exponents_are_split_into_ones_and_a_rest() -> None:
    """exp(-7/3) takes exp(-1) twice and exp(-1/3) once, and stops at the first that fails."""
    script = Integers(0, 0, 1, 0, 0, 1, 1)
    assert sampler.bernoulli_exp(7, 3, script) is True
    assert script.asked == [1, 2, 3, 1, 2, 3, 3]
    script = Integers(0, 0, 1, 0, 1)
    assert sampler.bernoulli_exp(7, 3, script) is False
    assert script.asked == [1, 2, 3, 1, 2]


def test_an_exponent_of_one_is_not_split() -> None:
    script = Integers(2, 5)
    assert sampler.bernoulli_exp(3, 3, script) is False
    assert script.asked == [3, 6]


@pytest.mark.parametrize(
    ("answers", "asked", "result"),
    [
        # rest 2 of 5 kept (2/5 fails at once), no whole, plus
        ([2, 4, 0, 1, 0], [5, 5, 1, 2, 2], 2),
        # the same, minus
        ([2, 4, 0, 1, 1], [5, 5, 1, 2, 2], -2),
        # rest 2 refused (the second coin fails), then rest 1 kept, one whole, minus
        ([2, 1, 9, 1, 4, 0, 0, 2, 0, 1, 1], [5, 5, 10, 5, 5, 1, 2, 3, 1, 2, 2], -6),
        # minus zero is drawn again, plus zero is not
        ([0, 0, 0, 1, 1, 0, 0, 0, 1, 0], [5, 5, 1, 2, 2, 5, 5, 1, 2, 2], 0),
    ],
)
def test_a_laplace_draw(answers: list[int], asked: list[int], result: int) -> None:
    script = Integers(*answers)
    assert sampler.discrete_laplace(5, script) == result
    assert (script.asked, script.answers) == (asked, [])


@pytest.mark.parametrize("variance", [1, 2, 3, 4, 9, 100, Fraction(9, 2), Fraction(1, 10), Fraction(99, 7)])
def test_a_gaussian_draw_accepts_as_printed(variance: int | Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scale floor(sigma) + 1, and acceptance with exp(-(|y| - sigma^2/t)^2 / (2 sigma^2))."""
    scale = math.isqrt(math.floor(variance)) + 1
    drawn, exponents, scales = [3, -7, 0], [], []

    def laplace(t: int, source: object) -> int:
        scales.append(t)
        return drawn[len(scales) - 1]

    def accept(numerator: int, denominator: int, source: object) -> bool:
        exponents.append(Fraction(numerator, denominator))
        return len(exponents) == 3

    monkeypatch.setattr(sampler, "discrete_laplace", laplace)
    monkeypatch.setattr(sampler, "bernoulli_exp", accept)
    assert sampler.discrete_gaussian(variance, Integers()) == 0
    assert scales == [scale] * 3
    assert exponents == [(abs(y) - Fraction(variance) / scale) ** 2 / (2 * Fraction(variance)) for y in drawn]


@pytest.mark.parametrize("variance", [0, -1, Fraction(-1, 3)])
def test_a_variance_must_be_above_zero(variance: int | Fraction) -> None:
    with pytest.raises(ValueError, match="above 0"):
        sampler.discrete_gaussian(variance, Integers())


def test_simulated_draws_are_rounded_normals_of_the_variance() -> None:
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    drawn = sampler.sample_many(10_000, (3, 4), rng)
    assert (drawn.dtype, drawn.shape) == (np.int64, (3, 4))
    assert np.array_equal(drawn, np.rint(100 * again.standard_normal((3, 4))))


@pytest.mark.parametrize(
    ("n", "tape", "result", "used"),
    [
        (1, b"", 0, 0),
        (2, b"\xff", 1, 1),
        (2, b"\xfe", 0, 1),
        (3, b"\x03\x07\x06", 2, 3),
        (5, b"\x05\x0c", 4, 2),
        (256, b"\xff", 255, 1),
        (257, b"\x01\x01\x01\xfe", 1, 4),
        (257, b"\x00\x01", 256, 2),
        (65536, b"\x34\x12", 0x1234, 2),
        (65537, b"\x00\x00\x01", 65536, 3),
    ],
)
def test_integers_from_a_tape(n: int, tape: bytes, result: int, used: int) -> None:
    """The fewest bytes that hold n - 1, little-endian, unused bits cleared, and again while n or more."""
    reads: list[int] = []
    source = tape_source(tape)
    read = source._read

    def counted(width: int) -> bytes:
        reads.append(width)
        return read(width)

    assert ByteSource(counted).below(n) == result
    assert sum(reads) == used == len(tape)
    assert 0 not in reads


@pytest.mark.parametrize("n", [0, -1])
def test_nothing_lies_below_zero(n: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        tape_source(bytes(8)).below(n)


def test_a_coin_reads_eight_bytes_and_compares_below() -> None:
    one = (5).to_bytes(8, "little")
    assert [tape_source(one).bernoulli(threshold) for threshold in (0, 5, 6, 2**64)] == [False, False, True, True]
    assert tape_source(b"\xff" * 8).bernoulli(2**64) is True
    assert tape_source(b"\xff" * 8).bernoulli(2**64 - 1) is False
    with pytest.raises(EOFError):
        tape_source(bytes(7)).bernoulli(1)
    for threshold in (-1, 2**64 + 1):
        with pytest.raises(ValueError, match=r"0 \.\. 2\*\*64"):
            tape_source(bytes(8)).bernoulli(threshold)


def test_a_tape_is_read_once_in_order_to_its_last_byte() -> None:
    source = tape_source(bytes(range(10)))
    assert [source.below(256), source.below(65536), source.below(256)] == [0, 0x0201, 3]
    with pytest.raises(EOFError):
        source.bernoulli(1)
    assert [source.below(256) for _ in range(6)] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(EOFError):
        source.below(2)


def test_purposes_of_public_randomness_are_part_of_the_wire() -> None:
    assert (philox.ROTATION_SIGNS, philox.REJECTION_NORMALS) == (0, 2)
    assert philox.key_of(bytes(range(16))) == (0x03020100, 0x07060504)
