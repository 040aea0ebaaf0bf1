"""Small codecs against their definition, on every byte string of their width, in milliseconds.

What a payload means is computed here from its bits alone; one decoder, the bulk decoder and the verdicts on rows must
all say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from codec_rows import check_other_rows_are_refused
from sottovoce.core.errors import ReportError
from sottovoce.mechanisms.codecs import BitmapCodec, Codec, IndexCodec, SubsetBitmapCodec, SubsetCodec, subset_codec

Meaning = Callable[[int], Any]
"""From the payload as a little-endian integer to the report, or None where there is none."""


def index(outputs: int) -> Meaning:
    return lambda bits: bits if bits < outputs else None


def bitmap(domain_size: int, subset_size: int | None = None) -> Meaning:
    def meaning(bits: int) -> tuple[int, ...] | None:
        members = tuple(v for v in range(bits.bit_length()) if bits >> v & 1)
        fits = bits < 2**domain_size and subset_size in (None, len(members))
        return members if fits else None

    return meaning


def listed(domain_size: int, subset_size: int, bits_each: int) -> Meaning:
    def meaning(bits: int) -> tuple[int, ...] | None:
        members = tuple(bits >> (i * bits_each) & (2**bits_each - 1) for i in range(subset_size))
        increase = all(a < b for a, b in pairwise(members))
        fits = bits < 2 ** (bits_each * subset_size) and max(members) < domain_size
        return members if increase and fits else None

    return meaning


CASES: list[tuple[type, tuple[int, ...], int, int, Meaning]] = [
    (IndexCodec, (2,), 1, 1, index(2)),
    (IndexCodec, (5,), 3, 1, index(5)),
    (IndexCodec, (256,), 8, 1, index(256)),
    (IndexCodec, (257,), 9, 2, index(257)),
    (BitmapCodec, (5,), 5, 1, bitmap(5)),
    (BitmapCodec, (8,), 8, 1, bitmap(8)),
    (BitmapCodec, (9,), 9, 2, bitmap(9)),
    (SubsetBitmapCodec, (5, 2), 5, 1, bitmap(5, 2)),
    (SubsetBitmapCodec, (8, 2), 8, 1, bitmap(8, 2)),
    (SubsetBitmapCodec, (9, 3), 9, 2, bitmap(9, 3)),
    (SubsetCodec, (5, 2), 6, 1, listed(5, 2, 3)),
    (SubsetCodec, (16, 2), 8, 1, listed(16, 2, 4)),
    (SubsetCodec, (17, 2), 10, 2, listed(17, 2, 5)),
    (SubsetCodec, (7, 3), 9, 2, listed(7, 3, 3)),
    (SubsetCodec, (3, 1), 2, 1, listed(3, 1, 2)),
]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0].__name__}{case[1]}")
def case(request: pytest.FixtureRequest) -> tuple[Codec, int, int, Meaning]:
    kind, arguments, bits, width, meaning = request.param
    return kind(*arguments), bits, width, meaning


def payloads_of(width: int) -> list[int]:
    """Every payload of one byte; of two bytes every eleventh, the first thousand and the last hundred."""
    last = 256**width
    return sorted({*range(min(last, 1000)), *range(0, last, 11), *range(max(0, last - 100), last)})


def rows_of(payloads: list[int], width: int) -> np.ndarray:
    return np.array([list(p.to_bytes(width, "little")) for p in payloads], dtype=np.uint8).reshape(-1, width)


def reports_in(codec: Codec, batch: np.ndarray) -> list[Any]:
    if isinstance(codec, IndexCodec):
        return batch.tolist()
    if isinstance(codec, BitmapCodec):
        return [tuple(np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist()) for row in batch]
    return [tuple(row) for row in batch.tolist()]


def test_sizes(case: tuple[Codec, int, int, Meaning]) -> None:
    codec, bits, width, _ = case
    assert (codec.bits, codec.width) == (bits, width)


def test_one_report(case: tuple[Codec, int, int, Meaning]) -> None:
    codec, _, width, meaning = case
    for payload in payloads_of(width)[:600]:
        encoded, expected = payload.to_bytes(width, "little"), meaning(payload)
        if expected is None:
            with pytest.raises(ReportError):
                codec.decode(encoded)
        else:
            assert codec.decode(encoded) == expected
            assert codec.encode(expected) == encoded
            assert codec.encode(tuple(reversed(expected)) if isinstance(expected, tuple) else expected) == encoded
    for wrong in (b"", bytes(width + 1), bytes(width - 1)):
        with pytest.raises(ReportError, match="truncated" if len(wrong) < width else "too long"):
            codec.decode(wrong)


def test_many_reports(case: tuple[Codec, int, int, Meaning]) -> None:
    codec, _, width, meaning = case
    payloads = payloads_of(width)
    good = [payload for payload in payloads if meaning(payload) is not None]
    verdicts = codec.good_rows(rows_of(payloads, width))
    assert verdicts.dtype == np.bool_
    assert verdicts.tolist() == [meaning(payload) is not None for payload in payloads]
    rows = rows_of(good, width)
    batch = codec.decode_many(rows)
    codec.check_many(batch)
    assert reports_in(codec, batch) == [meaning(payload) for payload in good]
    assert np.array_equal(codec.encode_many(batch), rows)
    assert codec.encode_many(batch[:0]).shape == (0, codec.width)
    assert len(codec.decode_many(rows[:0])) == 0


def test_the_first_bad_row_is_named(case: tuple[Codec, int, int, Meaning]) -> None:
    codec, _, width, meaning = case
    payloads = payloads_of(width)
    good = next(payload for payload in payloads if meaning(payload) is not None)
    for bad in [payload for payload in payloads if meaning(payload) is None][::50]:
        with pytest.raises(ReportError, match="report 1 of 4"):
            codec.decode_many(rows_of([good, bad, good, bad], width))


def test_rows_of_another_shape_or_kind_are_refused(case: tuple[Codec, int, int, Meaning]) -> None:
    codec, _, width, _ = case
    check_other_rows_are_refused(codec, width)


@pytest.mark.parametrize(
    ("kind", "arguments", "good", "shape"),
    [
        (IndexCodec, (5,), np.array([0, 4]), r"\(number of reports\)"),
        (SubsetBitmapCodec, (9, 2), np.array([[0, 8], [3, 4]]), r"\(number of reports, 2\)"),
        (SubsetCodec, (9, 2), np.array([[0, 8], [3, 4]]), r"\(number of reports, 2\)"),
    ],
)
def test_batches_made_by_hand(kind: type, arguments: tuple[int, ...], good: np.ndarray, shape: str) -> None:
    codec = kind(*arguments)
    codec.check_many(good)
    codec.check_many(good[:1])
    for wrong in (good.tolist(), good.astype(float), good[:, None], good[0]):
        with pytest.raises(ReportError, match=shape):
            codec.check_many(wrong)  # type: ignore[arg-type]
    for change in (-1, 9):
        bad = good.copy()
        bad[1] = change
        with pytest.raises(ReportError, match=r"report 1 of 2 (is out of range \(at most 4\)|names a value)"):
            codec.check_many(bad)


@pytest.mark.parametrize("kind", [SubsetBitmapCodec, SubsetCodec])
@pytest.mark.parametrize("members", [(-1, 4), (4, 9), (-1, 9)])
def test_one_member_outside_is_enough(kind: type, members: tuple[int, int]) -> None:
    """Beyond either end, or beyond both: each would be counted outside the array."""
    with pytest.raises(ReportError, match="report 1 of 2 names a value"):
        kind(9, 2).check_many(np.array([(0, 8), members]))


def test_the_first_index_that_is_too_large() -> None:
    codec = IndexCodec(5)
    with pytest.raises(ReportError, match=r"report 1 of 2 is out of range \(at most 4\)"):
        codec.check_many(np.array([4, 5]))
    with pytest.raises(ReportError, match=r"report 1 of 2 is out of range \(at most 4\)"):
        codec.decode_many(np.array([[4], [5]], dtype=np.uint8))
    with pytest.raises(ReportError, match="below 5"):
        codec.decode(b"\5")


def test_indices_may_be_unsigned_and_members_may_not() -> None:
    IndexCodec(5).check_many(np.array([4], dtype=np.uint64))
    with pytest.raises(ReportError, match="array of integers"):
        SubsetCodec(9, 2).check_many(np.array([[1, 2]], dtype=np.uint64))


@pytest.mark.parametrize("bits_each", [1, 7, 9, 31, 33, 39, 40])
def test_members_that_straddle_bytes(bits_each: int) -> None:
    """The largest domains have members of 40 bits; each width starts some member at an odd bit of a byte."""
    size = 2**bits_each
    members = tuple(sorted({0, size // 3, size // 2, size - 2, size - 1}))
    codec = SubsetCodec(size, len(members))
    packed = sum(member << (i * bits_each) for i, member in enumerate(members))
    payload = packed.to_bytes((bits_each * len(members) + 7) // 8, "little")
    assert codec.encode(members) == payload
    assert codec.decode(payload) == members
    rows = np.frombuffer(payload * 2, dtype=np.uint8).reshape(2, -1)
    assert codec.decode_many(rows).tolist() == [list(members)] * 2
    assert codec.good_rows(rows).all()


@pytest.mark.parametrize("outputs", [2**16, 2**16 + 1, 2**40, 2**42])
def test_large_indices(outputs: int) -> None:
    codec = IndexCodec(outputs)
    width = ((outputs - 1).bit_length() + 7) // 8
    rows = rows_of([0, 1, outputs - 1], width)
    assert (codec.width, codec.decode_many(rows).tolist()) == (width, [0, 1, outputs - 1])
    assert codec.decode_many(rows).dtype == np.int64
    if outputs < 256**width:
        assert codec.good_rows(rows_of([outputs - 1, outputs, 256**width - 1], width)).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("domain_size", "subset_size", "kind"), [(9, 4, SubsetBitmapCodec), (17, 3, SubsetCodec), (8, 1, SubsetBitmapCodec)]
)
def test_a_tie_goes_to_the_bitmap(domain_size: int, subset_size: int, kind: type) -> None:
    """Of nine values four take two bytes either way; of seventeen three take two as a list and three as a bitmap."""
    assert type(subset_codec(domain_size, subset_size)) is kind
