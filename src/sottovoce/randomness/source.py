"""Where a device's randomness comes from: bytes in, exact integers out, no floating point.

A mechanism sees a `Source` and nothing else, so the same device code runs on OS entropy,
on a fixed tape (test vectors) and under an enumerator that walks every outcome with its
exact probability (the audit).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from sottovoce.randomness.thresholds import ONE, PROBABILITY_BITS

__all__ = ["ByteSource", "Source", "os_source", "tape_source"]


class Source(Protocol):
    """What a mechanism may ask for. Both draws are exact."""

    def below(self, n: int) -> int:
        """An integer uniform over 0 .. n-1."""

    def bernoulli(self, threshold: int) -> bool:
        """True with probability exactly threshold / 2**64."""


class ByteSource:
    """A `Source` over a function that returns fresh random bytes.

    The order in which bytes become integers is part of the wire contract, because test
    vectors in other languages replay it: all words are little-endian; `bernoulli` reads 8
    bytes; `below` reads the fewest bytes that hold n-1, clears the unused high bits, and
    starts again while the result is n or more.

    Nothing is buffered: bytes kept for later would be replayed by both sides of a fork.

    Examples
    --------
    >>> ByteSource(os.urandom).below(6) in range(6)
    True
    """

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self._read = read

    def below(self, n: int) -> int:
        """An integer uniform over 0 .. n-1, by rejection; n = 1 reads nothing."""
        if n < 1:
            raise ValueError(f"cannot draw an integer below {n}; n must be at least 1")
        bits = (n - 1).bit_length()
        if bits == 0:
            return 0
        width, mask = (bits + 7) // 8, (1 << bits) - 1
        while True:
            drawn = int.from_bytes(self._read(width), "little") & mask
            if drawn < n:
                return drawn

    def bernoulli(self, threshold: int) -> bool:
        """True with probability exactly threshold / 2**64."""
        if not 0 <= threshold <= ONE:
            raise ValueError("a threshold must lie in 0 .. 2**64")
        return int.from_bytes(self._read(PROBABILITY_BITS // 8), "little") < threshold


def os_source() -> ByteSource:
    """The only source a device draws from: the operating system's entropy."""
    return ByteSource(os.urandom)


def tape_source(tape: bytes) -> ByteSource:
    """Replays `tape` and raises `EOFError` at its end. For test vectors only.

    Examples
    --------
    >>> tape_source(bytes([5])).below(8)
    5
    """
    position = 0

    def read(n: int) -> bytes:
        nonlocal position
        if position + n > len(tape):
            raise EOFError("the tape of random bytes is used up")
        position += n
        return tape[position - n : position]

    return ByteSource(read)
