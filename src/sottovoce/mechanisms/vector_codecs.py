"""How the reports of vector mechanisms become bytes: rows of small signed integers, or a seed and one bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError
from sottovoce.mechanisms.codecs import Payloads, Verdicts, _check_batch, _check_rows, _check_width, _refuse_rows

__all__ = ["SeedBitCodec", "SignedCodec"]


class SignedCodec:
    """A report is `dimension` integers from -bound to bound.

    Each takes the fewest whole bytes that hold the bound, little-endian, in two's complement.

    Examples
    --------
    >>> codec = SignedCodec(dimension=3, bound=1000)
    >>> codec.encode((1, -1, 1000)).hex()
    '0100ffffe803'
    >>> codec.decode(bytes.fromhex("0100ffffe803"))
    (1, -1, 1000)
    """

    def __init__(self, dimension: int, bound: int) -> None:
        self.dimension, self.bound = dimension, bound
        self.bytes_each = bound.bit_length() // 8 + 1
        self.width = dimension * self.bytes_each
        self.bits = 8 * self.width

    def encode(self, report: tuple[int, ...]) -> bytes:
        """One integer after the other."""
        return b"".join(number.to_bytes(self.bytes_each, "little", signed=True) for number in report)

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """The integers; refused when one is beyond the bound."""
        _check_width(payload, self.width)
        pieces = (payload[at : at + self.bytes_each] for at in range(0, self.width, self.bytes_each))
        report = tuple(int.from_bytes(piece, "little", signed=True) for piece in pieces)
        if any(abs(number) > self.bound for number in report):
            raise ReportError(f"report is out of range: this survey's entries lie within {self.bound} of zero")
        return report

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Rows of little-endian bytes."""
        words = np.ascontiguousarray(batch, dtype="<i8").view(np.uint8)
        return words.reshape(len(batch), self.dimension, 8)[:, :, : self.bytes_each].reshape(len(batch), self.width)

    def decode_many(self, payloads: Payloads) -> NDArray[np.int64]:
        """Rows of integers, all within the bound."""
        batch = self._integers(payloads)
        self.check_many(batch)
        return batch

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Rows of integers within the bound."""
        return ~self._outside(self._integers(payloads))

    def _integers(self, payloads: Payloads) -> NDArray[np.int64]:
        _check_rows(payloads, self.width)
        # The eight bytes that end with each integer, shifted down: what stood before it goes, and the sign follows.
        before = bytes(8 - self.bytes_each)
        shape, strides = (len(payloads), self.dimension), (self.width, self.bytes_each)
        words = np.ndarray(shape, "<i8", before + payloads.tobytes(), strides=strides)
        return (words >> (64 - 8 * self.bytes_each)).astype(np.int64, copy=False)

    def _outside(self, batch: NDArray[np.int64]) -> Verdicts:
        verdicts: Verdicts = np.any((batch > self.bound) | (batch < -self.bound), axis=1)
        return verdicts

    def check_many(self, batch: NDArray[Any]) -> None:
        """Rows of integers, all within the bound."""
        _check_batch(batch, "i", self.dimension)
        _refuse_rows(self._outside(batch), f"is out of range (entries lie within {self.bound} of zero)")


class SeedBitCodec:
    """A report is a 64-bit seed and one bit: eight little-endian bytes and a byte that is 0 or 1.

    Examples
    --------
    >>> SeedBitCodec().encode((258, 1)).hex()
    '020100000000000001'
    """

    bits = 65
    width = 9

    def encode(self, report: tuple[int, ...]) -> bytes:
        """The seed, then the bit."""
        seed, bit = report
        return seed.to_bytes(8, "little") + bytes([bit])

    def decode(self, payload: bytes) -> tuple[int, int]:
        """Seed and bit; the last byte must be 0 or 1."""
        _check_width(payload, self.width)
        if payload[8] > 1:
            raise ReportError("report is not canonical: its last byte must be 0 or 1")
        return int.from_bytes(payload[:8], "little"), payload[8]

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Rows of nine bytes from rows (seed, bit)."""
        out = np.empty((len(batch), self.width), dtype=np.uint8)
        out[:, :8] = np.ascontiguousarray(batch[:, 0], dtype="<u8").view(np.uint8).reshape(-1, 8)
        out[:, 8] = batch[:, 1]
        return out

    def decode_many(self, payloads: Payloads) -> NDArray[np.uint64]:
        """Rows (seed, bit)."""
        _check_rows(payloads, self.width)
        batch = np.empty((len(payloads), 2), dtype=np.uint64)
        batch[:, 0] = np.ascontiguousarray(payloads[:, :8]).view("<u8")[:, 0]
        batch[:, 1] = payloads[:, 8]
        self.check_many(batch)
        return batch

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Rows whose last byte is 0 or 1."""
        _check_rows(payloads, self.width)
        return payloads[:, 8] <= 1

    def check_many(self, batch: NDArray[Any]) -> None:
        """Rows (seed, bit) of unsigned 64-bit integers."""
        _check_batch(batch, "u", 2)
        _refuse_rows(batch[:, 1] > 1, "is not canonical (its last byte must be 0 or 1)")
