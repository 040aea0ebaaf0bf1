"""A channel written out: for every value a column of integers, the chances of every report out of 2**bits.

A survey carries the matrix; a device checks all of it, exactly, before it draws anything from it.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final, Self, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import MechanismError
from sottovoce.core.limits import check_epsilon
from sottovoce.randomness import within_epsilon

__all__ = ["MAX_BITS", "MAX_MATRIX_ENTRIES", "ChannelMatrix"]

MAX_BITS: Final = 32
"""Most bits of a probability."""

MAX_MATRIX_ENTRIES: Final = 2**24
"""Most entries of a channel matrix (64 MiB); a device unpacks no more, whatever it is sent."""

_MAGIC: Final = b"SVCM"
_HEADER: Final = struct.Struct("<4sIIB")


@final
@dataclass(frozen=True, eq=False, repr=False)
class ChannelMatrix:
    """P(report | value) = integers[report, value] / 2**bits.

    Parameters
    ----------
    integers
        One row per report and one column per value; every column must add up to 2**bits and no entry may be 0. Kept as
        a read-only copy.
    bits
        From 1 to 32.

    Raises
    ------
    MechanismError
        Unless this is a channel: wrong shape, zero entries, or a column that does not add up. Whether it is private
        depends on epsilon: see `verify`.

    Examples
    --------
    >>> matrix = ChannelMatrix(np.array([[11, 5], [5, 11]]), 4)
    >>> matrix
    <channel matrix: 2 reports x 2 values, 4 bits>
    >>> matrix.verify(0.8)
    >>> matrix.verify(0.7)
    Traceback (most recent call last):
    sottovoce.core.errors.MechanismError: the channel matrix is not private enough: ...
    >>> ChannelMatrix.from_bytes(matrix.to_bytes()) == matrix
    True
    """

    integers: NDArray[np.uint32]
    bits: int

    def __post_init__(self) -> None:
        integers, bits = _checked(self.integers, self.bits)
        integers.flags.writeable = False
        object.__setattr__(self, "integers", integers)
        object.__setattr__(self, "bits", bits)

    @property
    def reports(self) -> int:
        """How many different reports there are: the rows."""
        return int(self.integers.shape[0])

    @property
    def values(self) -> int:
        """How many values a person may have: the columns."""
        return int(self.integers.shape[1])

    @cached_property
    def ratio(self) -> Fraction:
        """The largest ratio of two entries of one row, exactly: e to the channel's own epsilon."""
        high, low = self.integers.max(axis=1), self.integers.min(axis=1)
        # Correctly rounded quotients keep the order up to ties, so the exact maximum is among the largest floats.
        quotients = high / low
        leading = np.flatnonzero(quotients == quotients.max())
        pairs = set(zip(high[leading].tolist(), low[leading].tolist(), strict=True))
        return max(Fraction(most, least) for most, least in pairs)

    def verify(self, epsilon: float) -> None:
        """Raise `MechanismError` unless every report's chances lie within a factor e**epsilon, decided exactly."""
        stated = check_epsilon(epsilon)
        if not within_epsilon(self.ratio, stated):
            raise MechanismError(
                f"the channel matrix is not private enough: some report is {float(self.ratio):.9g} times as likely "
                f"for one value as for another, above e^{stated:g}; do not answer this survey"
            )

    @cached_property
    def _content(self) -> bytes:
        """The one way to write the matrix: header, row minima, row maxima, then the codes' bytes plane by plane.

        A code is 0 at the row's minimum, 1 at its maximum, and 1 + (entry - minimum) between: channels that were
        searched for lie at their rows' ends almost everywhere, which packs well.
        """
        low, high = self.integers.min(axis=1), self.integers.max(axis=1)
        codes = self.integers - low[:, None]
        inner = (codes > 0) & (self.integers < high[:, None])
        codes = np.where(inner, codes + np.uint32(1), (codes > 0).astype(np.uint32))
        planes = np.ascontiguousarray(codes, dtype="<u4").view(np.uint8).reshape(-1, 4).T
        header = _HEADER.pack(_MAGIC, self.reports, self.values, self.bits)
        return b"".join([header, low.astype("<u4").tobytes(), high.astype("<u4").tobytes(), planes.tobytes()])

    def to_bytes(self) -> bytes:
        """Compact bytes for a survey: the header, then the rest of the content compressed (zlib)."""
        return self._content[: _HEADER.size] + zlib.compress(self._content[_HEADER.size :], 6)

    @classmethod
    def from_bytes(cls, payload: bytes) -> Self:
        """The matrix that `to_bytes` wrote; anything else raises `MechanismError`.

        No more is unpacked than the header announces, and that is bounded. The content has one form; how zlib packed
        it may differ between its versions, so matrices are compared by `digest`, not by these bytes.
        """
        reports, values, bits = _read_header(payload)
        body = _unpack(payload[_HEADER.size :], 8 * reports + 4 * reports * values)
        low = np.frombuffer(body, "<u4", reports).astype(np.uint32)[:, None]
        high = np.frombuffer(body, "<u4", reports, 4 * reports).astype(np.uint32)[:, None]
        planes = np.frombuffer(body, np.uint8, offset=8 * reports).reshape(4, -1)
        codes = np.ascontiguousarray(planes.T).view("<u4").reshape(reports, values)
        matrix = cls(np.where(codes > 1, low + (codes - np.uint32(1)), np.where(codes == 1, high, low)), bits)
        if matrix._content[_HEADER.size :] != body:
            raise _malformed("its entries are not in canonical form")
        return matrix

    @staticmethod
    def announced_entries(payload: bytes) -> int:
        """How many entries these bytes say that they hold; nothing is unpacked."""
        reports, values, _ = _read_header(payload)
        return reports * values

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the uncompressed content, in hexadecimal."""
        return hashlib.sha256(self._content).hexdigest()

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ChannelMatrix)
            and self.bits == other.bits
            and np.array_equal(self.integers, other.integers)
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<channel matrix: {self.reports:,} reports x {self.values:,} values, {self.bits} bits>"

    def __reduce__(self) -> tuple[Any, ...]:
        # Through the constructor: copying the fields would make the array writeable.
        return ChannelMatrix, (self.integers, self.bits)


def _checked(entries: Any, bits: Any) -> tuple[NDArray[np.uint32], int]:
    """A private copy of the entries and the bits as an int, if they are a channel."""
    if isinstance(bits, bool) or not isinstance(bits, int | np.integer) or not 1 <= bits <= MAX_BITS:
        raise MechanismError(f"a channel matrix's bits must be an integer from 1 to {MAX_BITS}").at("bits")
    try:
        given = np.asarray(entries)
    except ValueError:  # rows of different lengths
        given = np.empty(0)
    if given.ndim != 2 or given.dtype.kind not in "iu":
        raise MechanismError(
            "a channel matrix must be a table of integers: one row per report, one column per value"
        ).at("entries")
    _check_shape(*given.shape)
    unit = 1 << int(bits)
    if given.min() < 1 or given.max() >= unit:
        raise MechanismError(
            f"a channel matrix's entries must lie from 1 to {unit - 1:,}: a report that is impossible for some value "
            "tells that it is not that value"
        ).at("entries")
    integers = given.astype(np.uint32)
    sums = integers.sum(axis=0, dtype=np.uint64)  # at most 2**24 entries below 2**32: no overflow
    if (sums != unit).any():
        raise MechanismError(f"every column of a channel matrix must add up to 2**bits = {unit:,}; some do not").at(
            "entries"
        )
    return integers, int(bits)


def _check_shape(reports: int, values: int) -> None:
    if reports < 2 or values < 2 or reports * values > MAX_MATRIX_ENTRIES:
        raise MechanismError(
            f"a channel matrix of {reports:,} reports and {values:,} values cannot be used; both must be at least 2 "
            f"and there may be {MAX_MATRIX_ENTRIES:,} entries at most"
        ).at("entries")


def _malformed(why: str) -> MechanismError:
    return MechanismError(f"these bytes are not a channel matrix: {why}; write them with ChannelMatrix.to_bytes").at(
        "payload"
    )


def _read_header(payload: bytes) -> tuple[int, int, int]:
    if not isinstance(payload, bytes) or len(payload) < _HEADER.size:
        raise _malformed("they are too short or of the wrong type")
    magic, reports, values, bits = _HEADER.unpack_from(payload)
    if magic != _MAGIC:
        raise _malformed("they do not begin with its header")
    _check_shape(reports, values)
    return reports, values, bits


def _unpack(packed: bytes, size: int) -> bytes:
    """Decompress exactly `size` bytes from exactly these; never holds more than one byte beyond that."""
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(packed, size + 1)
    except zlib.error:
        body = b""
    if len(body) != size or not unpacker.eof or unpacker.unused_data:
        raise _malformed("the packed part is damaged or not as long as announced")
    return body
