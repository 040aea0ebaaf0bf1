"""Codecs of vector reports against their definition, and how rows of bytes are counted, in milliseconds.

What a payload means is computed here from its digits alone; one decoder, the bulk decoder and the verdicts on rows must
all say the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from codec_rows import check_other_rows_are_refused
from sottovoce.core.errors import ReportError
from sottovoce.kernels import counting
from sottovoce.mechanisms.base import Mechanism
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.vector_codecs import SeedBitCodec, SignedCodec

Codec = SignedCodec | SeedBitCodec

SIGNED = [(1, 1, 1), (1, 100, 1), (1, 127, 1), (2, 3, 1), (1, 128, 2), (1, 32_767, 2), (2, 300, 2), (1, 32_768, 3)]
"""Dimension, bound, and the bytes that each entry takes."""


def number(digits: bytes) -> int:
    """Little-endian in base 256; the upper half of all such numbers stands for those below zero."""
    plain: int = sum(digit * 256**place for place, digit in enumerate(digits))
    return plain - 256 ** len(digits) if digits[-1] >= 128 else plain


def signed(payload: bytes, bound: int, bytes_each: int) -> tuple[int, ...] | None:
    entries = tuple(number(payload[at : at + bytes_each]) for at in range(0, len(payload), bytes_each))
    return entries if all(-bound <= entry <= bound for entry in entries) else None


def seed_and_bit(payload: bytes) -> tuple[int, ...] | None:
    seed = sum(digit * 256**place for place, digit in enumerate(payload[:8]))
    return (seed, payload[8]) if payload[8] in (0, 1) else None


def strings(width: int) -> list[bytes]:
    """Every string of one byte; of more, all those of a few bytes at the edges of signs and bounds."""
    if width == 1:
        return [bytes([byte]) for byte in range(256)]
    return [bytes(digits) for digits in product((0, 1, 3, 4, 44, 45, 127, 128, 129, 211, 212, 254, 255), repeat=width)]


Meanings = list[tuple[bytes, tuple[int, ...] | None]]
Case = tuple[Codec, int, int, Meanings]


def cases() -> list[tuple[str, Callable[[], Codec], int, int, Meanings]]:
    """How each codec is made, its bits and bytes, and what strings of its width mean."""
    found: list[tuple[str, Callable[[], Codec], int, int, Meanings]] = []
    for dimension, bound, bytes_each in SIGNED:
        width = dimension * bytes_each
        meanings = [(text, signed(text, bound, bytes_each)) for text in strings(width)[:: (1, 1, 1, 5, 41)[width]]]
        made = partial(SignedCodec, dimension, bound)
        found.append((f"signed-{dimension}-{bound}", made, 8 * width, width, meanings))
    seeds = (bytes(8), bytes(range(1, 9)), b"\2\1" + bytes(6), bytes(7) + b"\x80", b"\xff" * 8, bytes(7) + b"\2")
    texts = [seed + bytes([last]) for last in (0, 1, 2, 3, 128, 255) for seed in seeds]
    found.append(("seed and bit", SeedBitCodec, 65, 9, [(text, seed_and_bit(text)) for text in texts]))
    return found


@pytest.fixture(params=cases(), ids=lambda case: case[0])
def case(request: pytest.FixtureRequest) -> Case:
    _, made, bits, width, meanings = request.param
    return made(), bits, width, meanings


def rows_of(texts: list[bytes], width: int) -> np.ndarray:
    return np.frombuffer(b"".join(texts), dtype=np.uint8).reshape(-1, width)


def test_sizes(case: Case) -> None:
    codec, bits, width, _ = case
    assert (codec.bits, codec.width) == (bits, width)


def test_one_report(case: Case) -> None:
    codec, _, width, meanings = case
    assert {meaning is None for _, meaning in meanings} >= {False}
    for text, meaning in meanings:
        if meaning is None:
            with pytest.raises(ReportError, match=r"out of range|not canonical"):
                codec.decode(text)
        else:
            assert codec.decode(text) == meaning
            assert codec.encode(meaning) == text
    for wrong in (b"", bytes(width - 1), bytes(width + 1)):
        with pytest.raises(ReportError, match="truncated" if len(wrong) < width else "too long"):
            codec.decode(wrong)


def test_many_reports(case: Case) -> None:
    codec, _, width, meanings = case
    verdicts = codec.good_rows(rows_of([text for text, _ in meanings], width))
    assert verdicts.dtype == np.bool_
    assert verdicts.tolist() == [meaning is not None for _, meaning in meanings]
    good = [(text, meaning) for text, meaning in meanings if meaning is not None]
    rows = rows_of([text for text, _ in good], width)
    batch = codec.decode_many(rows)
    codec.check_many(batch)
    assert batch.shape == (len(good), len(good[0][1]))
    assert batch.dtype == (np.uint64 if isinstance(codec, SeedBitCodec) else np.int64)
    assert [tuple(row) for row in batch.tolist()] == [meaning for _, meaning in good]
    encoded = codec.encode_many(batch)
    assert encoded.dtype == np.uint8
    assert np.array_equal(encoded, rows)
    assert codec.decode_many(rows[:0]).shape == (0, batch.shape[1])
    assert codec.encode_many(batch[:0]).shape == (0, width)


def test_the_first_bad_row_is_named(case: Case) -> None:
    codec, _, width, meanings = case
    good = next(text for text, meaning in meanings if meaning is not None)
    for bad in [text for text, meaning in meanings if meaning is None][::20]:
        with pytest.raises(ReportError, match="report 1 of 4"):
            codec.decode_many(rows_of([good, bad, good, bad], width))


def test_rows_of_another_shape_or_kind_are_refused(case: Case) -> None:
    codec, _, width, _ = case
    check_other_rows_are_refused(codec, width)


@pytest.mark.parametrize(
    ("made", "good", "bad"),
    [
        (partial(SignedCodec, 2, 5), np.array([[5, -5], [0, 1]]), [(6, 0), (0, -6), (6, -6), (2**40, 0)]),
        (SeedBitCodec, np.array([[2**64 - 1, 1], [0, 0]], dtype=np.uint64), [(0, 2), (0, 3), (1, 2**63)]),
    ],
)
def test_batches_made_by_hand(made: Callable[[], Codec], good: np.ndarray, bad: list[tuple[int, int]]) -> None:
    codec = made()
    codec.check_many(good)
    codec.check_many(good[:1])
    swapped = good.astype(np.int64 if good.dtype.kind == "u" else np.uint64)
    wrong: Any
    for wrong in (good.tolist(), good.astype(float), swapped, good[:, :1], np.hstack([good, good[:, :1]]), good[0]):
        with pytest.raises(ReportError, match=r"\(number of reports, 2\)"):
            codec.check_many(wrong)
    for row in bad:
        batch = good.copy()
        batch[1] = row
        with pytest.raises(ReportError, match="report 1 of 2"):
            codec.check_many(batch)


@pytest.fixture(params=["a number", "a signed number"])
def counted(request: pytest.FixtureRequest) -> Mechanism:
    if request.param == "a number":
        return Hadamard(5, epsilon=1.0)
    return Codebook(5, 1.0, 1.0, 0.0, 64, 32, 11, 1, 6, key=(1, 2))


def test_numbers_are_counted_as_their_bytes_stand(counted: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop over bytes gets them as they came, and where it has taken them nothing else is counted."""
    rows, seen = rows_of([b"\0", b"\5", b"\4", b"\5"], 1), []

    def loop(counts: np.ndarray, rows: np.ndarray, outputs: int, *, signed: bool) -> bool:
        seen.append((rows.tolist(), outputs, signed))
        counts += 1
        return True

    monkeypatch.setattr(counting, "count_encoded", loop)
    counts = counted.empty()
    counted.count_encoded(counts, rows)
    outputs, signed = (8, False) if isinstance(counted, Hadamard) else (128, True)
    assert seen == [([[0], [5], [4], [5]], outputs, signed)]
    assert (counts == 1).all()


def test_rows_of_zeros_count_only_in_their_own_shape_and_kind(counted: Mechanism) -> None:
    """Whatever their width, zeros read as the number 0; they are refused all the same, before anything is counted."""
    width, counts = counted.report_bytes, counted.empty()
    shapes = (3, width + 1), (3, 2 * width), (3, 1, width), (3, width, 1), (3, 0), (width,)
    for wrong in (*(np.zeros(shape, np.uint8) for shape in shapes), *(np.zeros((3, width), kind) for kind in "?bHq")):
        with pytest.raises(ReportError, match=f"rows of {width} bytes"):
            counted.count_encoded(counts, wrong)
        assert not counts.any()
