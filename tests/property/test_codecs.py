"""Encoded reports: one width, one encoding each, and nothing else accepted.

Where the width is one or two bytes every byte string is tried; elsewhere Hypothesis looks.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.core.errors import ReportError
from sottovoce.mechanisms import FiniteMechanism, Mechanism, create, serving
from sottovoce.mechanisms.codecs import (
    BitmapCodec,
    Codec,
    IndexCodec,
    SubsetBitmapCodec,
    SubsetCodec,
    subset_codec,
)

ALL = [
    create(name, J, e)
    for name in serving(FiniteMechanism)
    for J, e in ((2, 1.0), (5, 2.0), (8, 0.5), (17, 1.0), (300, 4.0))
]
CODECS: list[Codec] = [m.codec for m in ALL] + [
    IndexCodec(256),
    IndexCodec(257),
    IndexCodec(2**41),
    BitmapCodec(16),
    SubsetBitmapCodec(16, 3),
    SubsetCodec(2**20, 3),
    SubsetCodec(1000, 1),
    SubsetCodec(33, 5),
]


def reports_of(codec: Codec) -> st.SearchStrategy[Any]:
    if isinstance(codec, IndexCodec):
        return st.integers(0, codec.outputs - 1)
    if isinstance(codec, BitmapCodec):
        return _sets(codec.domain_size, 0, codec.domain_size)
    if isinstance(codec, SubsetBitmapCodec):
        return _sets(codec.bits, codec.subset_size, codec.subset_size)
    assert isinstance(codec, SubsetCodec)
    return _sets(codec.domain_size, codec.subset_size, codec.subset_size)


def _sets(domain_size: int, least: int, most: int) -> st.SearchStrategy[tuple[int, ...]]:
    members = st.sets(st.integers(0, domain_size - 1), min_size=least, max_size=most)
    return members.map(lambda chosen: tuple(sorted(chosen)))


def rows_of(payloads: list[bytes], width: int) -> np.ndarray:
    return np.frombuffer(b"".join(payloads), dtype=np.uint8).reshape(len(payloads), width)


def as_report(codec: Codec, row: Any) -> Any:
    """One entry of a batch as the single decoder would give it."""
    if isinstance(codec, IndexCodec):
        return int(row)
    if isinstance(codec, BitmapCodec):
        return tuple(np.flatnonzero(np.unpackbits(row, bitorder="little")).tolist())
    return tuple(row.tolist())


def refused(decode: Callable[[Any], Any], payload: Any) -> bool:
    try:
        decode(payload)
    except ReportError:
        return True
    return False


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_decoding_undoes_encoding(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(CODECS))
    report = data.draw(reports_of(codec))
    payload = codec.encode(report)
    assert len(payload) == codec.width
    assert codec.decode(payload) == report


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_batches_agree_with_single_reports(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(CODECS))
    reports = data.draw(st.lists(reports_of(codec), min_size=1, max_size=5))
    payloads = [codec.encode(report) for report in reports]
    batch = codec.decode_many(rows_of(payloads, codec.width))
    codec.check_many(batch)
    assert [as_report(codec, row) for row in batch] == reports
    assert codec.encode_many(batch).tobytes() == b"".join(payloads)


@settings(deadline=None, max_examples=500)
@given(st.data())
def test_bytes_are_refused_or_canonical(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(CODECS))
    payload = data.draw(st.binary(max_size=codec.width + 1) | st.binary(min_size=codec.width, max_size=codec.width))
    accepted = not refused(codec.decode, payload)
    if accepted:
        assert codec.encode(codec.decode(payload)) == payload
    if len(payload) == codec.width:
        assert accepted != refused(codec.decode_many, rows_of([payload], codec.width))


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_a_flipped_bit_never_passes_for_the_same_report(data: st.DataObject) -> None:
    codec = data.draw(st.sampled_from(CODECS))
    payload = codec.encode(data.draw(reports_of(codec)))
    bit = data.draw(st.integers(0, 8 * codec.width - 1))
    flipped = (int.from_bytes(payload, "little") ^ (1 << bit)).to_bytes(codec.width, "little")
    assert refused(codec.decode, flipped) or codec.decode(flipped) != codec.decode(payload)


SMALL = [create(name, J, 1.0) for name in serving(FiniteMechanism) for J in (2, 3, 7, 8, 9)]


@pytest.mark.parametrize("mechanism", SMALL, ids=lambda m: f"{m.name}-{m.domain_size}")
def test_exactly_the_possible_reports_are_accepted(mechanism: Mechanism) -> None:
    """All byte strings of the width, against the encodings of all outputs."""
    codec, width = mechanism.codec, mechanism.report_bytes
    assert width <= 2
    payloads = [n.to_bytes(width, "little") for n in range(256**width)]
    accepted = [payload for payload in payloads if not refused(codec.decode, payload)]
    assert set(accepted) == {codec.encode(report) for report in mechanism.outputs()}
    assert [codec.encode(codec.decode(payload)) for payload in accepted] == accepted
    # In bulk: the accepted all together, the others one by one (a few hundred of them are enough).
    batch = codec.decode_many(rows_of(accepted, width))
    assert [as_report(codec, row) for row in batch] == [codec.decode(payload) for payload in accepted]
    others = sorted(set(payloads) - set(accepted))
    for payload in others[:: max(1, len(others) // 300)]:
        assert refused(codec.decode_many, rows_of([payload], width))


@pytest.mark.parametrize("codec", CODECS, ids=lambda c: f"{type(c).__name__}-{c.bits}")
def test_other_lengths_are_refused(codec: Codec) -> None:
    first = _some_report(codec)
    payload = codec.encode(first)
    for wrong in (b"", payload[:-1], payload + b"\0", payload * 2):
        with pytest.raises(ReportError, match=rf"truncated|too long.*have {codec.width}"):
            codec.decode(wrong)
    rows = rows_of([payload, payload], codec.width)
    for wrong_rows in (rows[:, :-1], np.hstack([rows, rows]), rows[0], rows.astype(np.int64)):
        with pytest.raises(ReportError, match=f"rows of {codec.width} bytes"):
            codec.decode_many(wrong_rows)


def _some_report(codec: Codec) -> Any:
    if isinstance(codec, IndexCodec):
        return 1
    return tuple(range(getattr(codec, "subset_size", 2)))


def test_integers_out_of_range_are_refused() -> None:
    codec = IndexCodec(300)
    assert codec.decode(b"\x2b\x01") == 299
    for bad in (b"\x2c\x01", b"\xff\xff"):
        with pytest.raises(ReportError, match="below 300"):
            codec.decode(bad)
        with pytest.raises(ReportError, match=r"report 1 of 2 .* \(at most 299\)"):
            codec.decode_many(rows_of([b"\x00\x00", bad], 2))


def packed(members: list[int], bits_each: int, width: int) -> bytes:
    return sum(v << (i * bits_each) for i, v in enumerate(members)).to_bytes(width, "little")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ([5, 3, 900], "increas"),
        ([3, 3, 900], "increas"),
        ([3, 900, 900], "increas"),
        ([3, 5, 1000], "beyond"),
        ([1000, 1001, 1023], "beyond"),
        ([3, 1001, 5], "increas"),
    ],
)
def test_lists_of_members_are_sorted_distinct_and_inside(members: list[int], reason: str) -> None:
    codec = SubsetCodec(1000, 3)
    payload = packed(members, 10, codec.width)
    with pytest.raises(ReportError, match=reason):
        codec.decode(payload)
    with pytest.raises(ReportError, match=reason):
        codec.decode_many(rows_of([payload], codec.width))


def test_padding_must_be_zero() -> None:
    listed = SubsetCodec(1000, 3)
    for bit in (30, 31):
        payload = (int.from_bytes(listed.encode((1, 2, 3)), "little") | 1 << bit).to_bytes(4, "little")
        assert refused(listed.decode, payload)
        assert refused(listed.decode_many, rows_of([payload], 4))
    bitmap = BitmapCodec(13)
    for bit in (13, 14, 15):
        payload = (0b11 | 1 << bit).to_bytes(2, "little")
        assert refused(bitmap.decode, payload)
        assert refused(bitmap.decode_many, rows_of([payload], 2))


@pytest.mark.parametrize("size", [0, 1, 2, 4, 5, 13])
def test_sets_of_another_size_are_refused(size: int) -> None:
    codec = SubsetBitmapCodec(13, 3)
    payload = BitmapCodec(13).encode(tuple(range(size)))
    with pytest.raises(ReportError, match="hold"):
        codec.decode(payload)
    with pytest.raises(ReportError, match="does not hold 3 values"):
        codec.decode_many(rows_of([payload], codec.width))


def test_the_order_of_drawing_does_not_show() -> None:
    for codec in (SubsetCodec(1000, 3), SubsetBitmapCodec(13, 3), BitmapCodec(13)):
        assert codec.encode((9, 2, 5)) == codec.encode((2, 5, 9)) == codec.encode((5, 9, 2))


def test_the_shorter_encoding_of_a_set_is_taken() -> None:
    for domain_size in (2, 9, 17, 100):
        for subset_size in range(1, domain_size):
            codec = subset_codec(domain_size, subset_size)
            rivals = SubsetCodec(domain_size, subset_size), SubsetBitmapCodec(domain_size, subset_size)
            assert codec.width == min(rival.width for rival in rivals)


@pytest.mark.parametrize(
    ("codec", "batch"),
    [
        (IndexCodec(5), np.array([0, 5])),
        (IndexCodec(5), np.array([-1])),
        (IndexCodec(5), np.array([1.0])),
        (IndexCodec(5), np.array([[1]])),
        (IndexCodec(5), [1, 2]),
        (BitmapCodec(5), np.array([[0b100000]], dtype=np.uint8)),
        (BitmapCodec(5), np.array([[1]])),
        (SubsetCodec(100, 2), np.array([[3, 100]])),
        (SubsetCodec(100, 2), np.array([[-1, 5]])),
        (SubsetCodec(100, 2), np.array([[5, 5]])),
        (SubsetCodec(100, 2), np.array([[1, 2, 3]])),
        (SubsetBitmapCodec(9, 2), np.array([[8, 9]])),
        (SubsetBitmapCodec(9, 2), np.array([[4, 3]])),
    ],
)
def test_batches_made_by_hand_are_checked(codec: Codec, batch: Any) -> None:
    """Counting is compiled and does not look: a bad index would write outside its array."""
    with pytest.raises(ReportError):
        codec.check_many(batch)


def test_subsets_are_numbered_completely() -> None:
    codec = SubsetCodec(33, 2)
    sets = list(combinations(range(33), 2))
    payloads = [codec.encode(chosen) for chosen in sets]
    assert len(set(payloads)) == len(sets)
    assert codec.encode_many(codec.decode_many(rows_of(payloads, codec.width))).tobytes() == b"".join(payloads)
