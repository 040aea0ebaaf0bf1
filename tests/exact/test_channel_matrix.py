"""Channel matrices and the mechanism that draws from them: exact checks, one encoding, nothing tampered accepted."""

from __future__ import annotations

import copy
import math
import pickle
import struct
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refusing import refuses
from sottovoce.auditing.channel import device_channel, stated_channel
from sottovoce.core.errors import MechanismError, ReportError, SurveyError, ValueOutsideDomainError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.randomness import tape_source, within_epsilon

HEADER = struct.Struct("<4sIIB")


def two_by_two(high: int, bits: int) -> ChannelMatrix:
    low = (1 << bits) - high
    return ChannelMatrix(np.array([[high, low], [low, high]]), bits)


def random_matrix(seed: int, reports: int, values: int, bits: int) -> ChannelMatrix:
    """Entries in [1, ..], columns adding up, otherwise arbitrary."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(reports, 0.7), size=values).T
    integers = 1 + np.floor(shares * ((1 << bits) - reports)).astype(np.int64)
    integers[0] += (1 << bits) - integers.sum(axis=0)
    return ChannelMatrix(integers, bits)


# --- what is refused ----------------------------------------------------------------------


def test_one_unit_decides_whether_a_matrix_is_private() -> None:
    """e = 2.718281828459045..: the largest allowed entry passes, one unit more does not."""
    bits = 32
    near = int((1 << bits) / (1 + math.e))
    low = next(n for n in range(near - 9, near + 9) if within_epsilon(Fraction((1 << bits) - n, n), 1.0))
    high = (1 << bits) - low
    two_by_two(high, bits).verify(1.0)
    with pytest.raises(MechanismError, match="not private enough"):
        two_by_two(high + 1, bits).verify(1.0)
    assert MatrixChannel(2, 1.0, two_by_two(high, bits)).exact_epsilon <= 1.0
    with pytest.raises(MechanismError, match="not private enough"):
        MatrixChannel(2, 1.0, two_by_two(high + 1, bits))


def test_a_ratio_that_floats_cannot_tell_apart_is_found() -> None:
    """Two rows whose ratios agree to 2^-60 or so: the exact maximum is taken."""
    bits = 32
    a, b = 3_000_000_019, 1_000_000_007
    rest = (1 << bits) - a
    matrix = ChannelMatrix(np.array([[a, b], [rest - 1, (1 << bits) - b - 2], [1, 2]]), bits)
    brute = max(Fraction(int(row.max()), int(row.min())) for row in matrix.integers)
    assert matrix.ratio == brute


@pytest.mark.parametrize(
    ("entries", "bits"),
    [
        ([[11, 5], [5, 12]], 4),  # a column too large by one
        ([[11, 5], [5, 10]], 4),  # too small by one
        ([[16, 5], [0, 11]], 4),  # a zero
        ([[17, 5], [-1, 11]], 4),  # a negative entry that adds up
        ([[16, 16]], 4),  # one report
        ([[11], [5]], 4),  # one value
        ([11, 5], 4),
        ([[11.0, 5.0], [5.0, 11.0]], 4),
        ([[11, 5], [5, 11]], 5),
        ([[11, 5], [5, 11]], 0),
        ([[11, 5], [5, 11]], 33),
        ([[11, 5], [5, 11]], True),
        ([[11, 5], [5, 11]], 4.0),
        ([[2**32 + 11, 5], [5, 11]], 4),  # would wrap round to 11 in 32 bits
    ],
)
def test_what_is_no_channel_is_refused(entries: object, bits: object) -> None:
    with pytest.raises(MechanismError):
        ChannelMatrix(np.array(entries), bits)  # type: ignore[arg-type]


def test_a_sum_that_wraps_round_is_refused() -> None:
    """Columns that sum to 2^32 + 2^bits would pass a 32-bit sum."""
    entries = np.full((2**18 + 1, 2), 2**14, dtype=np.int64)
    assert np.uint32(entries[:, 0].sum() % 2**32) == 2**14
    with pytest.raises(MechanismError):
        ChannelMatrix(entries, 15)


def test_the_matrix_is_the_survey_s_own_copy() -> None:
    entries = np.array([[11, 5], [5, 11]], dtype=np.uint32)
    matrix = ChannelMatrix(entries, 4)
    entries[0, 0] = 99
    assert matrix.integers.tolist() == [[11, 5], [5, 11]]
    for held in (matrix, copy.deepcopy(matrix), pickle.loads(pickle.dumps(matrix))):  # noqa: S301
        assert held == matrix
        with pytest.raises(ValueError, match="read-only"):
            held.integers[0, 0] = 1


# --- bytes --------------------------------------------------------------------------------


@given(st.integers(0, 2**32), st.integers(2, 9), st.integers(2, 7), st.integers(8, 32))
def test_bytes_there_and_back(seed: int, reports: int, values: int, bits: int) -> None:
    matrix = random_matrix(seed, reports, values, bits)
    again = ChannelMatrix.from_bytes(matrix.to_bytes())
    assert again == matrix
    assert again.digest == matrix.digest
    assert hash(again) == hash(matrix)
    assert matrix != two_by_two(9, 4)


def test_every_flipped_bit_is_noticed() -> None:
    """Nothing that differs in one bit passes for the same matrix: it is refused, or its digest differs."""
    matrix = random_matrix(1, 5, 4, 12)
    payload = matrix.to_bytes()
    for i in range(8 * len(payload)):
        flipped = bytearray(payload)
        flipped[i // 8] ^= 1 << i % 8
        try:
            found = ChannelMatrix.from_bytes(bytes(flipped))
        except MechanismError:
            continue
        assert found == matrix or found.digest != matrix.digest


@pytest.mark.parametrize("cut", [0, 1, 12, 13, 14, -1])
def test_short_and_long_bytes_are_refused(cut: int) -> None:
    payload = two_by_two(11, 4).to_bytes()
    for bad in (payload[:cut], payload + b"\0", b"X" + payload[1:]):
        with pytest.raises(MechanismError):
            ChannelMatrix.from_bytes(bad)


def test_a_bomb_is_not_unpacked() -> None:
    """A few kilobytes that would unpack to many megabytes: refused, without unpacking more than was announced."""
    bomb = HEADER.pack(b"SVCM", 2, 2, 4) + zlib.compress(bytes(2**26), 9)
    with pytest.raises(MechanismError, match="damaged"):
        ChannelMatrix.from_bytes(bomb)
    huge = HEADER.pack(b"SVCM", 2**31, 2**31, 4) + zlib.compress(b"")
    with refuses(MechanismError, "entries"):
        ChannelMatrix.from_bytes(huge)


def test_other_codes_for_the_same_entries_are_refused() -> None:
    """An entry at its row's maximum may be written as 1 only; written as a distance it would be a second form."""
    matrix = two_by_two(11, 4)
    body = bytearray(zlib.decompress(matrix.to_bytes()[HEADER.size :]))
    planes = 16  # two minima and two maxima of four bytes
    assert body[planes] == 1
    body[planes] = 1 + 11 - 5
    with pytest.raises(MechanismError, match="canonical form"):
        ChannelMatrix.from_bytes(matrix.to_bytes()[: HEADER.size] + zlib.compress(bytes(body)))


def test_repr_is_short() -> None:
    assert len(repr(random_matrix(0, 200, 100, 32))) < 80


# --- the mechanism ------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [2.0**-20, 0.1, 0.5, 1.0, 3.0, 5.0])
def test_miniatures_do_what_they_state(epsilon: float) -> None:
    for small in MatrixChannel.miniatures(epsilon):
        small.matrix.verify(epsilon)
        assert epsilon < 0.1 or small.exact_epsilon > 0.99 * epsilon
    if 0.5 <= epsilon <= 1:
        assert device_channel(small) == stated_channel(small)


def test_the_device_looks_up_one_draw() -> None:
    channel = MatrixChannel(3, 3.0, ChannelMatrix(np.array([[1, 2, 5], [3, 4, 1], [4, 2, 2]]), 3))
    drawn = [[channel.randomize(value, tape_source(bytes([draw]))) for draw in range(8)] for value in range(3)]
    assert drawn == [[0, 1, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 0, 0, 1, 2, 2]]
    assert channel.probability(1, 0) == Fraction(3, 8)
    assert channel.privacy_ratio() == 5
    with pytest.raises(ValueOutsideDomainError):
        channel.randomize(3, tape_source(b"\0"))
    with pytest.raises(ReportError):
        channel.decode(b"\3")


class FixedDraws(np.random.Generator):
    """Hands out the draws it was given, to compare the vectorised look-up with the device's draw by draw."""

    def __init__(self, draws: np.ndarray) -> None:
        super().__init__(np.random.PCG64(0))
        self._draws = draws

    def integers(self, *_: object, **__: object) -> np.ndarray:  # type: ignore[override]
        return self._draws.copy()


def test_many_people_at_once_are_looked_up_as_devices_do() -> None:
    matrix = random_matrix(5, 7, 4, 8)
    channel = MatrixChannel(4, 16.0, matrix)
    values, draws = (part.ravel() for part in np.meshgrid(np.arange(4), np.arange(256), indexing="ij"))
    together = channel.randomize_many(values, FixedDraws(draws.astype(np.uint64)))
    alone = [channel.randomize(int(v), tape_source(bytes([d]))) for v, d in zip(values, draws, strict=True)]
    assert together.tolist() == alone


def test_the_matrix_must_fit_the_domain() -> None:
    with refuses(MechanismError, "matrix"):
        MatrixChannel(3, 1.0, two_by_two(9, 4))
    with refuses(MechanismError, "matrix"):
        MatrixChannel(2, 1.0, np.array([[9, 7], [7, 9]]))  # type: ignore[arg-type]
    with pytest.raises(SurveyError):
        MatrixChannel(2, -1.0, two_by_two(9, 4))
