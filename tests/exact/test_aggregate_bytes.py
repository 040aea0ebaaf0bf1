"""Aggregates as bytes: back again exactly, and nothing else is read."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from sottovoce.core.errors import MismatchError, ReportError, SottovoceError
from sottovoce.formats.aggregate_bytes import MEDIA_TYPE, from_bytes, to_bytes
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

SURVEY = Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, mechanism="hadamard")
COUNTS = np.array([3, -1, 2**62, 0], dtype=np.int64)
GOOD = to_bytes(Aggregate(SURVEY, 7, COUNTS))
HEADER = 4 + 32 + 8 + 8


def signed(body: bytes) -> bytes:
    """With the digest that belongs to it."""
    return body + hashlib.sha256(body).digest()


def test_the_layout_is_written_down() -> None:
    expected = b"SVA\1" + bytes.fromhex(SURVEY.id) + struct.pack("<QQ4q", 7, 4, 3, -1, 2**62, 0)
    assert signed(expected) == GOOD
    assert MEDIA_TYPE == "application/vnd.sottovoce.aggregate"


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=4, max_size=4), st.integers(0, 2**63 - 1))
def test_back_again(numbers: list[int], n: int) -> None:
    aggregate = Aggregate(SURVEY, n, np.array(numbers, dtype=np.int64))
    assert from_bytes(SURVEY, to_bytes(aggregate)) == aggregate


@pytest.mark.parametrize("survey", [Survey(sv.vector(3, 1.0), epsilon=1.0), Survey(sv.shares(1000), epsilon=1.0)])
def test_every_kind_of_survey(survey: Survey) -> None:
    counts = np.arange(survey.mechanism.cells, dtype=np.int64) - 2
    assert from_bytes(survey, to_bytes(Aggregate(survey, 5, counts))) == Aggregate(survey, 5, counts)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", ReportError, "truncated: it has 0 bytes"),
        (GOOD[: HEADER - 1], ReportError, "truncated"),
        (GOOD[:-1], ReportError, "truncated"),
        (GOOD + b"\0", ReportError, "too long"),
        (b"PNG" + GOOD[3:], ReportError, "not an aggregate: they must begin with SVA"),
        (GOOD[:3] + b"\2" + GOOD[4:], ReportError, "format 2; this version reads format 1"),
        (GOOD[:4] + bytes(32) + GOOD[36:], MismatchError, "of survey 000000000000"),
        (signed(GOOD[:44] + struct.pack("<Q", 2**60) + GOOD[52:-32]), ReportError, "cells, the survey has 4"),
        (signed(GOOD[:36] + struct.pack("<Q", 2**63) + GOOD[44:-32]), ReportError, "more than its counters"),
        (GOOD[:52] + b"\xff" + GOOD[53:], ReportError, "damaged: its digest"),
        (GOOD[:-1] + bytes([GOOD[-1] ^ 1]), ReportError, "damaged: its digest"),
    ],
)
def test_anything_else_is_refused(data: bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        from_bytes(SURVEY, data)


@given(st.integers(0, 8 * len(GOOD) - 1))
def test_one_flipped_bit_is_noticed(bit: int) -> None:
    damaged = bytearray(GOOD)
    damaged[bit // 8] ^= 1 << bit % 8
    with pytest.raises(SottovoceError):
        from_bytes(SURVEY, bytes(damaged))


@given(st.binary(max_size=200))
def test_noise_is_refused_on_purpose(data: bytes) -> None:
    with pytest.raises(SottovoceError):
        from_bytes(SURVEY, data)
