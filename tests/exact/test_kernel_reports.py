"""The loops over many reports at small sizes, each against its definition.

These run compiled here, and once more as plain Python where coverage is measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from scripted import Script, columns
from sottovoce.kernels.compiled import counting, repeats, side_by_side
from sottovoce.mechanisms.codebook import Codebook


@pytest.fixture(autouse=True)
def unsigned_arithmetic_goes_round() -> Iterator[None]:
    """As it does in compiled code, and in plain Python with a warning."""
    with np.errstate(over="ignore"):
        yield


@pytest.mark.parametrize(
    ("size", "candidates", "marked"), [(64, 16, 3), (64, 128, 20), (128, 2, 1), (256, 64, 5), (1024, 256, 60)]
)
def test_eight_devices_side_by_side(size: int, candidates: int, marked: int) -> None:
    """What is decided is what the device's code sends, draw for draw; and of general vectors most are decided."""
    mechanism = Codebook(size - 1, 2.0, 1.0, 0.0, size, candidates, marked, 5, 6, (0xFFFFFFFF, 88))
    rng = np.random.default_rng(size)
    cases = [
        (rotation, rotation % (2 * size // candidates), inside, rank)
        for rotation in (0, 4)
        for inside, ranks in ((1, (0, marked - 1)), (0, (0, candidates - marked - 1)))
        for rank in ranks
    ]
    people = len(cases)
    vectors = rng.normal(size=(people, size - 1))
    vectors *= 1.9 / np.linalg.norm(vectors, axis=1)[:, None]
    rotations, blocks, inside, ranks = columns(cases)
    out = np.empty(people, dtype=np.int64)
    words = (np.uint32(word) for word in mechanism.key)
    drawn = rotations, blocks, inside.astype(bool), ranks
    side_by_side.codebook_reports(vectors, 2.0, size, *drawn, candidates // 2, marked, *words, mechanism.layers, out)
    expected = [
        mechanism._randomize(vector, Script(rotation, block, within, rank * within, rank * (1 - within)))
        for vector, (rotation, block, within, rank) in zip(vectors, cases, strict=True)
    ]
    decided = out != side_by_side.OPEN
    assert decided.sum() >= people - 2
    assert out[decided].tolist() == np.array(expected)[decided].tolist()


def test_equal_scores_are_left_open() -> None:
    """Of one coordinate, rotated once, every score has the same size: none can be told to be among the marked."""
    people = side_by_side.LANES
    vectors, zeros = np.zeros((people, 63)), np.zeros(people, dtype=np.int64)
    vectors[:, 5] = 1
    out = np.empty(people, dtype=np.int64)
    key = np.uint32(7)
    side_by_side.codebook_reports(vectors, 1.0, 64, zeros, zeros, zeros == 0, zeros, 8, 3, key, key, 1, out)
    assert (out == side_by_side.OPEN).all()


def rows_of(numbers: list[int], width: int) -> tuple[np.ndarray, np.unsignedinteger]:
    """Words that begin at every row, with what follows it in memory in their high bytes, and the rows' mask."""
    word = np.uint32 if width <= 4 else np.uint64
    raw = b"".join(number.to_bytes(width, "little") for number in numbers) + b"\xff" * 8
    return np.ndarray((len(numbers),), word, raw, strides=(width,)), word((1 << 8 * width) - 1)


WIDTHS = pytest.mark.parametrize("width", [1, 2, 3, 5])


@WIDTHS
def test_rows_are_counted_where_they_stand(width: int) -> None:
    words, mask = rows_of([3, 0, 3, 1, 5, 3], width)
    assert counting.all_below(words, mask, np.uint64(6))
    assert not counting.all_below(words, mask, np.uint64(5))
    counts = np.array([10, 0, 0, 0, 0, 0])
    counting.count_rows(counts, words, mask)
    assert counts.tolist() == [11, 1, 0, 3, 0, 1]
    signed = np.array([10, 0, 0])
    counting.count_signed_rows(signed, words, mask)
    assert signed.tolist() == [10, -3, -1]


@WIDTHS
def test_bytes_that_go_round_carry(width: int) -> None:
    """Four at a time and the rest; 600 times the same, and what is too large in the last entry."""
    words, mask = rows_of([2] * 600 + [0, 1, 4, 200, 2], width)
    table, carries = np.zeros(4, dtype=np.uint8), np.zeros(5, dtype=np.uint32)
    counting.tally_rows(table, carries, words[:255], mask)
    assert not carries.any()
    counting.tally_rows(table, carries, words[255:], mask)
    assert carries[-1]
    counts = np.array([10, 0, 0])
    counting.add_table(counts, table, 0)
    counting.add_table(counts, carries, 8)
    assert counts.tolist() == [11, 1, 601]
    assert (table[3], carries[3]) == (2, 0)
    signed = np.array([10, 0])
    counting.add_signed_table(signed, table, 0)
    counting.add_signed_table(signed, carries, 8)
    assert signed.tolist() == [10, 599]


def test_pairs_of_bytes() -> None:
    words = np.array([0x0004_0003_0002_0001] * 4 + [0xFFFF_0003_0002_0001], dtype=np.uint64)
    tables = np.zeros((4, 1 << 16), dtype=np.uint32)
    counting.tally_pairs(tables, words)
    found = [dict(zip(*map(np.ndarray.tolist, (np.flatnonzero(t), t[t > 0])), strict=True)) for t in tables]
    assert found == [{1: 5}, {2: 5}, {3: 5}, {4: 4, 0xFFFF: 1}]
    one = np.zeros((1, 1 << 16), dtype=np.uint32)
    counting.tally_pairs(one, words)
    assert one[0].tolist() == tables.sum(axis=0).tolist()


def test_a_sample_of_words() -> None:
    words = np.array([0, 7, 9, 15, 16, 2**64 - 1, 7], dtype=np.uint64)
    held = np.zeros(14, dtype=np.uint64)
    n = repeats.sample(held[:7], words[::2], np.uint64(3), np.uint64(2), np.uint64(5))
    assert held[:n].tolist() == [0, 9, 7], "3 x 16 + 2 is 32 or more"
    assert repeats.sample(held, words, np.uint64(3), np.uint64(1), np.uint64(4)) == 1, "a product that goes round"


def test_words_that_occur_twice() -> None:
    """In two buckets by their highest bit; 0 too; words that meet in the table; and a bucket beyond the table."""
    low, high = [0, 5, 0, 5, 5, 6, 9], [1 << 63, (1 << 63) + 1, 1 << 63]
    words = np.array([5, 1 << 63, 0, 5, (1 << 63) + 1, 0, 5, 6, 1 << 63, 9], dtype=np.uint64)
    one, shift = np.uint64(1), np.uint64(63)
    sizes = np.zeros(2, dtype=np.int64)
    repeats.measure(sizes, words, one, shift)
    assert sizes.tolist() == [7, 3]
    places, held = np.array([0, 7]), np.empty(10, dtype=np.uint64)
    repeats.spread(held, places, words, one, shift)
    assert places.tolist() == [7, 10]
    assert sorted(held[:7].tolist()) == sorted(low)
    assert sorted(held[7:].tolist()) == sorted(high)
    starts = np.array([0, 7, 10])

    def found(first: int, last: int, places: int) -> list[int]:
        mine, table = held.copy(), np.empty(places, dtype=np.uint64)
        # A shift of 60 sends all of the low words to the table's first place: each but the first has to move on.
        n = repeats.repeated(mine, starts, first, last, table, one, np.uint64(60))
        return sorted(mine[starts[first] : starts[first] + n].tolist())

    assert found(0, 2, 16) == [0, 5, 5, 1 << 63]
    assert found(1, 2, 16) == [1 << 63]
    assert found(0, 2, 8) == [1 << 63], "seven words want fourteen places, and are passed over"
