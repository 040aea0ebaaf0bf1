"""Channel matrices, trees and parities once more by hand: bytes, weights, sizes and limits worked out on paper."""

from __future__ import annotations

import zlib
from dataclasses import FrozenInstanceError
from struct import pack
from typing import Any

import numpy as np
import pytest

from refusing import refuses
from scripted import Script
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix, _check_shape
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.sampled import tilted_weights

THREE = ChannelMatrix(np.array([[2, 3, 5], [7, 7, 7], [7, 6, 4]]), 4)
HEAD = b"SVCM" + pack("<IIB", 3, 3, 4)
LOW, HIGH = pack("<III", 2, 7, 4), pack("<III", 5, 7, 7)
CODES = bytes([0, 2, 1, 0, 0, 0, 1, 3, 0])
"""Lowest 0, highest 1, others one more than their distance from the lowest: they fit the first of four planes."""
BODY = LOW + HIGH + CODES + bytes(27)


# --- a matrix as bytes ---------------------------------------------------------------------


def test_bytes_by_hand() -> None:
    payload = THREE.to_bytes()
    assert payload[:13] == HEAD
    assert zlib.decompress(payload[13:]) == BODY
    assert ChannelMatrix.from_bytes(HEAD + zlib.compress(BODY, 0)) == THREE
    assert ChannelMatrix.announced_entries(payload) == 9


@pytest.mark.parametrize(
    ("head", "body", "why"),
    [
        (HEAD, LOW[:4] + LOW[4:] + HIGH + bytes([0, 2, 1, 0, 0, 0, 1, 3, 1]) + bytes(27), "add up"),
        (HEAD, pack("<I", 1) + LOW[4:] + HIGH + bytes([2, 3, 1, 0, 0, 0, 1, 3, 0]) + bytes(27), "canonical form"),
        (HEAD, BODY + b"\0", "as long as announced"),
        (HEAD, BODY[:-1], "as long as announced"),
        (b"AVCM" + HEAD[4:], BODY, "do not begin"),
        (b"ZVCM" + HEAD[4:], BODY, "do not begin"),
    ],
)
def test_bytes_that_are_refused(head: bytes, body: bytes, why: str) -> None:
    """Another sum, a minimum that no entry has, a byte too many and one too few, and other first letters."""
    with pytest.raises(MechanismError, match=why):
        ChannelMatrix.from_bytes(head + zlib.compress(body))


def test_a_header_alone_is_damaged_and_less_is_too_short() -> None:
    for length, why in ((13, "damaged"), (12, "too short")):
        with pytest.raises(MechanismError, match=why):
            ChannelMatrix.from_bytes(HEAD[:length])


# --- what is a channel ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entries", "bits", "field"),
    [
        ([[15, 5], [1, 6], [0, 5]], 4, "entries"),  # a report that is impossible for one value
        ([[16, 16]], 4, "entries"),
        ([[16], [16]], 4, "entries"),
        ([[11, 5], [5]], 4, "entries"),
        ([[[11, 5], [5, 11]]], 4, "entries"),
        ([[11, 5], [5, 11]], 0, "bits"),
        ([[11, 5], [5, 11]], 33, "bits"),
    ],
)
def test_what_is_no_channel_is_told(entries: Any, bits: int, field: str) -> None:
    with refuses(MechanismError, field):
        ChannelMatrix(entries, bits)


def test_the_least_and_the_largest() -> None:
    assert ChannelMatrix(np.ones((2, 2), dtype=np.int64), 1).ratio == 1
    assert ChannelMatrix(np.full((2, 2), 2**31), 32).ratio == 1
    _check_shape(4096, 4096)
    for reports, values in ((4097, 4096), (2, 2**23 + 1), (2**23 + 1, 2)):
        with refuses(MechanismError, "entries"):
            _check_shape(reports, values)


def test_two_matrices_are_equal_where_all_entries_are() -> None:
    other = ChannelMatrix(np.array([[2, 3, 5], [7, 7, 6], [7, 6, 5]]), 4)
    assert other != THREE
    assert ChannelMatrix(THREE.integers.copy(), 4) == THREE
    with pytest.raises(FrozenInstanceError):
        other.bits = 5  # type: ignore[misc]


# --- its mechanism -------------------------------------------------------------------------


def test_the_smallest_channel_by_hand() -> None:
    """At epsilon 1, 8 and 9 bits use 93.8 % and 97.7 % of it; 10 bits 99.7 %, with 187 and 69 of 256, and a half."""
    matrix = MatrixChannel.miniatures(1.0)[-1].matrix
    assert matrix.bits == 10
    assert matrix.integers.tolist() == [[187, 128, 69], [69, 187, 128], [128, 69, 187], [640, 640, 640]]
    # At epsilon 16 the entry 1 is too large a share of 2^14 for anything better.
    large = MatrixChannel.miniatures(16.0)[0].matrix
    assert (large.bits, large.integers.min()) == (14, 1)


def test_a_matrix_over_more_values_than_the_survey() -> None:
    with refuses(MechanismError, "matrix"):
        MatrixChannel(2, 1.0, THREE)


def test_a_draw_is_one_of_all_that_the_bits_have() -> None:
    asked = []

    class Spy(np.random.Generator):
        def integers(self, *bounds: int, **given: Any) -> np.ndarray:  # type: ignore[override]
            asked.append(bounds)
            return np.zeros(given["size"], dtype=np.uint64)

    MatrixChannel(3, 2.0, THREE).randomize_many(np.array([0, 2]), Spy(np.random.PCG64(0)))
    assert asked == [(0, 16)]


# --- trees ---------------------------------------------------------------------------------


def test_weights_by_hand() -> None:
    assert tilted_weights(4, 0) == (1, 1, 1, 1)
    assert tilted_weights(4, 8) == (1, 2, 4, 8)
    assert tilted_weights(3, -12) == (16, 4, 1)
    assert tilted_weights(5, 1) == (790, 843, 900, 960, 1024)
    assert tilted_weights(5, -1) == (1024, 960, 900, 843, 790)
    assert tilted_weights(5, 15) == (1, 1, 4, 64, 1024)
    assert tilted_weights(1, 15) == (1,)
    assert Haar(8, 1.0, 15).weights == (1, 16, 256)
    assert Hierarchical(8, 1.0, 2, -15).weights == (256, 16, 1)


@pytest.mark.parametrize(
    ("tree", "spans", "columns"),
    [
        (Haar(2, 1.0), (2,), (1,)),
        (Haar(4, 1.0), (4, 2), (1, 2)),
        (Haar(5, 1.0), (8, 4, 2), (1, 2, 4)),
        (Hierarchical(2, 1.0, 2), (1,), (2,)),
        (Hierarchical(4, 1.0, 4), (1,), (4,)),
        (Hierarchical(5, 1.0, 2), (4, 2, 1), (2, 4, 8)),
        (Hierarchical(9, 1.0, 3), (3, 1), (4, 16)),
    ],
)
def test_levels_by_hand(tree: Haar | Hierarchical, spans: tuple[int, ...], columns: tuple[int, ...]) -> None:
    assert tree.spans == spans
    assert tree.columns == columns
    assert set(tree.weights) == {1}, "levels are drawn alike unless told otherwise"


@pytest.mark.parametrize("kind", [Haar, Hierarchical])
def test_small_trees_for_the_audit_differ_in_what_matters(kind: Any) -> None:
    made = kind.miniatures(1.0)
    assert {len(tree.spans) > 1 for tree in made} == {True, False}
    assert {tree.domain_size & (tree.domain_size - 1) == 0 for tree in made} == {True, False}
    assert {len(set(tree.weights)) > 1 for tree in made} == {True, False}
    assert kind.typical(9, 1.0) == (kind(9, 1.0) if kind is Haar else kind(9, 1.0, 2))


# --- parities ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain_size", "sizes", "given", "field"),
    [
        (6, (), {}, "sizes"),
        (6, 6, {}, "sizes"),
        (6, (1, 6), {}, "sizes[0]"),
        (6, (2, 4), {}, "sizes"),
        (6, (2, 2), {}, "sizes"),
        (6, (2, 3), {"order": 0}, "order"),
        (6, (2, 3), {"order": 3}, "order"),
        (6, (2, 3), {"only": -1}, "only"),
        (6, (2, 3), {"only": 3}, "only"),
        (6, (2, 3), {"order": 2, "only": 1}, "order"),
    ],
)
def test_attributes_that_do_not_fit(domain_size: int, sizes: Any, given: dict[str, int], field: str) -> None:
    with refuses(SurveyError, field):
        Fourier(domain_size, 1.0, sizes, **{"order": 1} | given)


def test_as_many_parities_as_there_may_be() -> None:
    """One attribute of 2^24 values has 2^24 - 1 parities, one of two values has one, and one of three has three."""
    assert Fourier(2**25, 1.0, (2**24, 2), 1).cells == 2**25
    with refuses(SurveyError, "order"):
        Fourier(3 * 2**24, 1.0, (2**24, 3), 1)


@pytest.mark.parametrize("sizes", [(2, 4), (3, 3), (4, 3), (5,), (3, 2, 5)])
def test_codes_stand_side_by_side(sizes: tuple[int, ...]) -> None:
    domain_size = int(np.prod(sizes))
    fourier = Fourier(domain_size, 1.0, sizes, 1)
    widths = [(size - 1).bit_length() for size in sizes]
    expected = []
    for digits in np.ndindex(*sizes):
        text = "".join(format(digit, f"0{width}b") for digit, width in zip(digits, widths, strict=True))
        expected.append(int(text, 2))
    assert fourier.codes(np.arange(domain_size)).tolist() == expected
    assert [fourier._code(value) for value in range(domain_size)] == expected
    with pytest.raises(ValueError, match="read-only"):
        fourier.coefficients[0] = 1


def test_a_parity_of_three_bits() -> None:
    """Coefficient 6 of one attribute of eight values is the mask 7: of values 7 and 1 the parity is odd, of 3 even."""
    fourier = Fourier(8, 1.0, (8,), 1)
    assert fourier.weights == (1,)
    for value, odd in ((7, 1), (1, 1), (3, 0), (0, 0)):
        assert fourier._randomize(value, Script(6, True)) == 12 + odd
        assert fourier._randomize(value, Script(6, False)) == 12 + (1 - odd)


def test_what_is_audited_of_parities_and_matrices() -> None:
    assert Fourier.typical(9, 1.0) == Fourier(9, 1.0, (9,), 1)
    assert MatrixChannel.typical(9, 1.0) == MatrixChannel.miniatures(1.0)[-1]
    small = Fourier.miniatures(1.0)
    assert {(one.order, one.only, len(set(one.weights)) > 1) for one in small} == {
        (2, 0, False),
        (2, 0, True),
        (1, 2, False),
    }
