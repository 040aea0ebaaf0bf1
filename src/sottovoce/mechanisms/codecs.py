"""How reports become bytes: fixed width, canonical, strict.

Fixed width, because a length is an output too. Canonical, so that the order in which a set
was drawn cannot leak: a set has one encoding. Strict, so that anything a device following
the survey could not have sent is refused before it is counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sottovoce.errors import ReportError

__all__ = ["BitmapCodec", "Codec", "IndexCodec", "SubsetBitmapCodec", "SubsetCodec", "subset_codec"]

Payloads = NDArray[np.uint8]


class Codec(Protocol):
    """Reports to bytes and back, one at a time and many at once."""

    @property
    def bits(self) -> int:
        """Bits in one report."""

    @property
    def width(self) -> int:
        """Bytes in one report."""

    def encode(self, report: Any) -> bytes:
        """The one encoding of `report`."""

    def decode(self, payload: bytes) -> Any:
        """The report, or `ReportError`."""

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """One row of bytes per report."""

    def decode_many(self, payloads: Payloads) -> NDArray[Any]:
        """A batch, or `ReportError` naming the first bad row."""

    def check_many(self, batch: NDArray[Any]) -> None:
        """Raise `ReportError` unless the batch could have come from `decode_many`: counting trusts it."""


def _check_width(payload: bytes, width: int) -> None:
    if len(payload) != width:
        kind = "truncated" if len(payload) < width else "too long"
        raise ReportError(f"report is {kind}: it has {len(payload)} bytes, this survey's reports have {width}")


def _check_rows(payloads: Payloads, width: int) -> None:
    if payloads.ndim != 2 or payloads.shape[1] != width or payloads.dtype != np.uint8:
        raise ReportError(f"reports must come as rows of {width} bytes, the width of this survey's reports")


def _check_batch(batch: object, kinds: str, *widths: int) -> None:
    if not isinstance(batch, np.ndarray) or batch.dtype.kind not in kinds or batch.shape[1:] != widths:
        shape = ", ".join(map(str, ("number of reports", *widths)))
        raise ReportError(f"a batch of this survey's reports must be an array of integers of shape ({shape})")


def _refuse_rows(bad: Any, what: str) -> None:
    if bad.any():
        raise ReportError(f"report {int(np.argmax(bad))} of {len(bad)} {what}; no report of the batch was counted")


class IndexCodec:
    """A report is one integer below `outputs`: little-endian, in the fewest bytes."""

    def __init__(self, outputs: int) -> None:
        self.outputs = outputs
        self.bits = (outputs - 1).bit_length()
        self.width = (self.bits + 7) // 8

    def encode(self, report: int) -> bytes:
        """Little-endian bytes."""
        return report.to_bytes(self.width, "little")

    def decode(self, payload: bytes) -> int:
        """The integer, refused when it is `outputs` or more."""
        _check_width(payload, self.width)
        report = int.from_bytes(payload, "little")
        if report >= self.outputs:
            raise ReportError(f"report is out of range: this survey's reports are below {self.outputs}")
        return report

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Rows of little-endian bytes."""
        words = np.ascontiguousarray(batch, dtype="<u8")
        return words.view(np.uint8).reshape(-1, 8)[:, : self.width]

    def decode_many(self, payloads: Payloads) -> NDArray[np.int64]:
        """Integers, all below `outputs`."""
        _check_rows(payloads, self.width)
        words = np.zeros((len(payloads), 8), dtype=np.uint8)
        words[:, : self.width] = payloads
        batch = words.view("<u8").reshape(-1)
        _refuse_rows(batch >= self.outputs, f"is out of range (at most {self.outputs - 1})")
        return batch.astype(np.int64)

    def check_many(self, batch: NDArray[Any]) -> None:
        """Integers, all below `outputs`."""
        _check_batch(batch, "iu")
        _refuse_rows((batch < 0) | (batch >= self.outputs), f"is out of range (at most {self.outputs - 1})")


class BitmapCodec:
    """A report is any set of values below `domain_size`: bit v of the little-endian bitmap is value v."""

    def __init__(self, domain_size: int) -> None:
        self.domain_size = self.bits = domain_size
        self.width = (domain_size + 7) // 8

    def encode(self, report: tuple[int, ...]) -> bytes:
        """The bitmap of a set."""
        bits = np.zeros(self.width * 8, dtype=np.uint8)
        bits[list(report)] = 1
        return np.packbits(bits, bitorder="little").tobytes()

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """The sorted set; padding bits must be zero."""
        _check_width(payload, self.width)
        bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8), bitorder="little")
        if bits[self.domain_size :].any():
            raise ReportError(f"report sets a bit beyond the survey's {self.domain_size} values")
        return tuple(np.flatnonzero(bits).tolist())

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Bitmaps are their own batch form."""
        return batch.astype(np.uint8, copy=False)

    def decode_many(self, payloads: Payloads) -> Payloads:
        """The same rows, refused when a padding bit is set."""
        _check_rows(payloads, self.width)
        spare = self.width * 8 - self.domain_size
        _refuse_rows(payloads[:, -1] >> (8 - spare) != 0, "sets a bit beyond the domain")
        return payloads

    def check_many(self, batch: NDArray[Any]) -> None:
        """Bitmaps are their own batch form."""
        self.decode_many(batch)


class SubsetBitmapCodec:
    """A report is a set of exactly `subset_size` values, as a bitmap."""

    def __init__(self, domain_size: int, subset_size: int) -> None:
        self._bitmap = BitmapCodec(domain_size)
        self.subset_size = subset_size
        self.bits, self.width = self._bitmap.bits, self._bitmap.width

    def encode(self, report: tuple[int, ...]) -> bytes:
        """The bitmap of a set."""
        return self._bitmap.encode(report)

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """The sorted set; it must have `subset_size` members."""
        report = self._bitmap.decode(payload)
        if len(report) != self.subset_size:
            raise ReportError(f"report holds {len(report)} values, this survey's reports hold {self.subset_size}")
        return report

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Bitmaps of rows of sorted members."""
        bits = np.zeros((len(batch), self._bitmap.width * 8), dtype=np.uint8)
        np.put_along_axis(bits, batch.astype(np.int64), 1, axis=1)
        return np.packbits(bits, axis=1, bitorder="little")

    def decode_many(self, payloads: Payloads) -> NDArray[np.int64]:
        """Rows of sorted members."""
        rows = self._bitmap.decode_many(payloads)
        wrong = np.bitwise_count(rows).sum(axis=1, dtype=np.int64) != self.subset_size
        _refuse_rows(wrong, f"does not hold {self.subset_size} values")
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        return np.nonzero(bits)[1].reshape(len(rows), self.subset_size)

    def check_many(self, batch: NDArray[Any]) -> None:
        """Rows of sorted members."""
        _check_subsets(batch, self._bitmap.domain_size, self.subset_size)


class SubsetCodec:
    """A report is a set of exactly `subset_size` values, listed in increasing order.

    Members are `bits_each` bits wide and packed little-endian, the smallest in the lowest bits.
    """

    def __init__(self, domain_size: int, subset_size: int) -> None:
        self.domain_size, self.subset_size = domain_size, subset_size
        self.bits_each = (domain_size - 1).bit_length()
        self.bits = self.bits_each * subset_size
        self.width = (self.bits + 7) // 8

    def encode(self, report: tuple[int, ...]) -> bytes:
        """Members in increasing order, whatever order they are given in."""
        return self.encode_many(np.array([sorted(report)])).tobytes()

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """The members; refused unless increasing, inside the domain, and padded with zeros."""
        _check_width(payload, self.width)
        bits = np.unpackbits(np.frombuffer(payload, dtype=np.uint8), bitorder="little")
        members = bits[: self.bits].reshape(self.subset_size, self.bits_each).astype(np.int64)
        report = tuple((members @ (1 << np.arange(self.bits_each, dtype=np.int64))).tolist())
        if bits[self.bits :].any() or report[-1] >= self.domain_size:
            raise ReportError(f"report names a value beyond the survey's {self.domain_size} values")
        if any(a >= b for a, b in pairwise(report)):
            raise ReportError("report is not canonical: its members must be distinct and in increasing order")
        return report

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Packed rows of sorted members."""
        shifts = np.arange(self.bits_each)
        bits = (batch.astype(np.int64)[:, :, None] >> shifts & 1).astype(np.uint8)
        return np.packbits(bits.reshape(len(batch), -1), axis=1, bitorder="little")

    def decode_many(self, payloads: Payloads) -> NDArray[np.int64]:
        """Rows of sorted members."""
        _check_rows(payloads, self.width)
        bits = np.unpackbits(payloads, axis=1, bitorder="little")
        _refuse_rows(bits[:, self.bits :].any(axis=1), "has non-zero padding")
        cut = bits[:, : self.bits].reshape(len(payloads), self.subset_size, self.bits_each)
        batch = cut.astype(np.int64) @ (1 << np.arange(self.bits_each, dtype=np.int64))
        self.check_many(batch)
        return batch

    def check_many(self, batch: NDArray[Any]) -> None:
        """Rows of sorted members."""
        _check_subsets(batch, self.domain_size, self.subset_size)


def _check_subsets(batch: NDArray[Any], domain_size: int, subset_size: int) -> None:
    _check_batch(batch, "i", subset_size)
    outside = (batch[:, 0] < 0) | (batch[:, -1] >= domain_size)
    _refuse_rows(outside, "names a value beyond the domain")
    _refuse_rows((batch[:, 1:] <= batch[:, :-1]).any(axis=1), "is not canonical (members must increase)")


def subset_codec(domain_size: int, subset_size: int) -> Codec:
    """The shorter of the two encodings of a set of known size; the bitmap when they tie."""
    listed, bitmap = SubsetCodec(domain_size, subset_size), SubsetBitmapCodec(domain_size, subset_size)
    return listed if listed.width < bitmap.width else bitmap
