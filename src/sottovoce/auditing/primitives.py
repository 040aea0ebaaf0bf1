"""Are the device's draws exact? The real `below` and `bernoulli` on the words that decide, for given requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from sottovoce.randomness import os_source
from sottovoce.randomness.scripts import Request, random_below

__all__ = ["wrong_draw"]

ALL_WORDS_BITS = 10
"""Widths up to which `below` is run on every word."""

_RANDOM_WORDS = 16


def wrong_draw(requests: Iterable[Request]) -> str:
    """The first request that the device's source does not draw exactly, in words; empty if there is none.

    An integer below n is uniform if words of the fewest bits are taken as they stand when below n and drawn again
    otherwise; a coin has its chance if it compares 64 bits with its threshold. Both are step functions of one word, so
    they are run on both sides of their steps, with every single bit turned, on the ends, and on random words.

    Examples
    --------
    >>> wrong_draw([6, -(2**63), 3**50])
    ''
    """
    rng = np.random.default_rng(1)
    for request in dict.fromkeys(requests):
        wrong = _wrong_below(request, rng) if request > 0 else _wrong_coin(-request, rng)
        if wrong:
            return wrong
    return ""


class _Tape:
    """Hands out words, and counts the bytes that were read."""

    def __init__(self, *words: bytes) -> None:
        self._bytes, self.read = b"".join(words), 0

    def __call__(self, n: int) -> bytes:
        self.read += n
        return self._bytes[self.read - n : self.read].ljust(n, b"\0")


def _wrong_below(n: int, rng: np.random.Generator) -> str:
    bits = (n - 1).bit_length()
    width = (bits + 7) // 8
    for word in _words(n, bits, 8 * width, rng):
        kept = word % (1 << bits)
        again = random_below(n, rng)
        expected, read = (kept, width) if kept < n else (again, 2 * width)
        tape = _Tape(word.to_bytes(width, "little"), again.to_bytes(width, "little"))
        drawn = type(os_source())(tape).below(n)
        if (drawn, tape.read) != (expected, read):
            return (
                f"below({n}) of the word {word:#x}, then {again:#x}, is {drawn} and reads {tape.read} bytes, where "
                f"{expected} and {read} are right"
            )
    return ""


def _wrong_coin(threshold: int, rng: np.random.Generator) -> str:
    for word in _words(threshold, 64, 64, rng):
        tape = _Tape(word.to_bytes(8, "little"))
        fallen = type(os_source())(tape).bernoulli(threshold)
        if (fallen, tape.read) != (word < threshold, 8):
            return (
                f"bernoulli({threshold}) of the word {word:#x} is {fallen} and reads {tape.read} bytes, where "
                f"{word < threshold} and 8 are right"
            )
    return ""


def _words(step: int, bits: int, width: int, rng: np.random.Generator) -> Iterator[int]:
    """Words of `width` bits: all if they are few, else those about `step`, with single bits turned, and both ends."""
    top = 1 << bits
    if bits <= ALL_WORDS_BITS:
        yield from range(1 << width if width <= ALL_WORDS_BITS else top)
    near = [step - 2, step - 1, step, step + 1]
    near += [number ^ 1 << bit for number in (step - 1, step) for bit in range(bits)]
    near += [0, 1, top // 2 - 1, top // 2, top - 2, top - 1, *(random_below(top, rng) for _ in range(_RANDOM_WORDS))]
    for word in near:
        if 0 <= word < top:
            yield word
            yield word | random_below(1 << width, rng) >> bits << bits  # what stands above the bits must not matter
