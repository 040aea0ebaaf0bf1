"""A device's randomness: every byte string of a small width is tried, so uniformity is counted and not estimated.

The order of bytes is part of the wire contract; see `vectors/source.json` for the same in data.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from sottovoce.randomness import ONE, ByteSource, os_source, tape_source


class Recorder:
    """Hands out a tape and notes the sizes asked for."""

    def __init__(self, tape: bytes) -> None:
        self.tape = tape
        self.asked: list[int] = []

    def __call__(self, n: int) -> bytes:
        start = sum(self.asked)
        self.asked.append(n)
        return self.tape[start : start + n]


def outcomes(n: int, width: int) -> tuple[Counter[int], int]:
    """How often each result follows from one word of `width` bytes, and how many words are rejected."""
    drawn: Counter[int] = Counter()
    rejected = 0
    for word in range(256**width):
        try:
            drawn[tape_source(word.to_bytes(width, "little")).below(n)] += 1
        except EOFError:
            rejected += 1
    return drawn, rejected


def test_one_byte_gives_every_integer_equally_often() -> None:
    for n in range(2, 257):
        drawn, rejected = outcomes(n, 1)
        each = 256 >> (n - 1).bit_length()
        assert drawn == dict.fromkeys(range(n), each), n
        assert rejected == 256 - n * each, n


@pytest.mark.parametrize("n", [257, 1000, 32769, 65536])
def test_two_bytes_give_every_integer_equally_often(n: int) -> None:
    drawn, rejected = outcomes(n, 2)
    each = 65536 >> (n - 1).bit_length()
    assert drawn == dict.fromkeys(range(n), each)
    assert rejected == 65536 - n * each


@pytest.mark.parametrize("n", [2**k for k in range(1, 17)])
def test_powers_of_two_never_reject(n: int) -> None:
    width = ((n - 1).bit_length() + 7) // 8
    for word in (0, 1, n - 1, n, 256**width - 1):
        recorder = Recorder((word % 256**width).to_bytes(width, "little"))
        assert ByteSource(recorder).below(n) == word % n
        assert recorder.asked == [width]


def test_a_word_of_n_or_more_is_thrown_away() -> None:
    recorder = Recorder(bytes([5, 6, 7, 0b1111_1101, 4]))
    # Bits above the third are cleared first: 0b1111_1101 counts as 5.
    assert ByteSource(recorder).below(5) == 4
    assert recorder.asked == [1, 1, 1, 1, 1]


def test_words_are_little_endian() -> None:
    assert tape_source(bytes([0x34, 0x12])).below(65536) == 0x1234
    assert tape_source(bytes([0x78, 0x56, 0x34])).below(2**24) == 0x345678
    assert tape_source(bytes(7) + b"\x01").bernoulli(1 << 56) is False
    assert tape_source(b"\x01" + bytes(7)).bernoulli(1 << 56) is True


def test_a_single_outcome_reads_nothing() -> None:
    recorder = Recorder(b"")
    assert ByteSource(recorder).below(1) == 0
    assert recorder.asked == []


THRESHOLDS = [1, 2, 255, 256, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**63 + 1, ONE - 1]


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_bernoulli_turns_at_the_threshold(threshold: int) -> None:
    for word, expected in ((0, True), (threshold - 1, True), (threshold, False), (ONE - 1, False)):
        assert tape_source(word.to_bytes(8, "little")).bernoulli(threshold) is expected


def test_impossible_and_certain_events_still_read_their_word() -> None:
    """The number of bytes read is the same whatever the probability."""
    for word in (0, ONE - 1):
        recorder = Recorder(word.to_bytes(8, "little") * 2)
        source = ByteSource(recorder)
        assert source.bernoulli(0) is False
        assert source.bernoulli(ONE) is True
        assert recorder.asked == [8, 8]


@pytest.mark.parametrize("n", [0, -1, -(2**70)])
def test_there_is_no_integer_below_zero(n: int) -> None:
    with pytest.raises(ValueError, match="n must be at least 1"):
        os_source().below(n)


@pytest.mark.parametrize("threshold", [-1, ONE + 1])
def test_a_threshold_is_a_probability(threshold: int) -> None:
    with pytest.raises(ValueError, match=r"0 \.\. 2\*\*64"):
        os_source().bernoulli(threshold)


def test_nothing_is_buffered() -> None:
    recorder = Recorder(bytes(range(64)))
    source = ByteSource(recorder)
    for draw in (lambda: source.below(3), lambda: source.bernoulli(ONE // 2), lambda: source.below(2**40)):
        before = len(recorder.asked)
        draw()
        assert len(recorder.asked) > before
    assert recorder.asked == [1, 8, 5]
    assert not hasattr(source, "__dict__")
    assert ByteSource.__slots__ == ("_read",)


def test_a_tape_ends() -> None:
    source = tape_source(bytes([1, 2, 3]))
    assert [source.below(256) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(EOFError):
        source.below(2)
    with pytest.raises(EOFError):
        tape_source(bytes(7)).bernoulli(1)


def test_devices_draw_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def urandom(n: int) -> bytes:
        asked.append(n)
        return bytes(n)

    monkeypatch.setattr(os, "urandom", urandom)
    assert os_source().below(1000) == 0
    assert os_source().bernoulli(1) is True
    assert asked == [2, 8]


FORK = """
import os
from sottovoce.randomness import os_source

source = os_source()
source.below(2**128)  # used before the fork: anything kept from here would be common property
outputs = []
for _ in range(2):
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writable, str(source.below(2**128)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    outputs.append(os.read(readable, 100))
outputs.append(str(source.below(2**128)).encode())
print(len(set(outputs)))
"""


def test_forked_children_draw_different_numbers() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"
