"""How reports become bytes: fixed width, canonical, strict.

Fixed width, because a length is an output too. Canonical, so that the order in which a set
was drawn cannot leak: a set has one encoding. Strict, so that anything a device following
the survey could not have sent is refused before it is counted.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, Final, Protocol, TypeAlias, cast, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.errors import ReportError

__all__ = [
    "BitmapCodec",
    "Codec",
    "IndexCodec",
    "Report",
    "SubsetBitmapCodec",
    "SubsetCodec",
    "TablesCodec",
    "rows_of",
    "subset_codec",
]

Report: TypeAlias = int | tuple[int, ...]
"""One report: an output's number, or several integers. One type per mechanism."""

Payloads = NDArray[np.uint8]
Verdicts = NDArray[np.bool_]


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

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Which rows `decode` would take; a bad row costs no more than a good one."""

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


def _padded(payloads: Payloads, bits: int) -> Verdicts:
    """Rows with a bit set beyond the first `bits`; the last byte holds at least one of these first bits."""
    verdicts: Verdicts = payloads[:, -1] > 0xFF >> (8 * payloads.shape[1] - bits)
    return verdicts


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
        batch = self._integers(payloads)
        _refuse_rows(batch >= self.outputs, f"is out of range (at most {self.outputs - 1})")
        return batch.astype(np.int64)

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Integers below `outputs`."""
        return self._integers(payloads) < self.outputs

    def check_many(self, batch: NDArray[Any]) -> None:
        """Integers, all below `outputs`."""
        _check_batch(batch, "iu")
        _refuse_rows((batch < 0) | (batch >= self.outputs), f"is out of range (at most {self.outputs - 1})")

    def _integers(self, payloads: Payloads) -> NDArray[np.uint64]:
        _check_rows(payloads, self.width)
        # The eight bytes from each row's first on; what is the next row's goes.
        words = np.ndarray((len(payloads),), "<u8", payloads.tobytes() + bytes(8), strides=(self.width,))
        return words & np.uint64((1 << 8 * self.width) - 1)


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
        """The rows unchanged; refused when a padding bit is set."""
        _refuse_rows(~self.good_rows(payloads), "sets a bit beyond the domain")
        return payloads

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Bitmaps without a padding bit."""
        _check_rows(payloads, self.width)
        return ~_padded(payloads, self.bits)

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
        _refuse_rows(~self._full(rows), f"does not hold {self.subset_size} values")
        bits = np.unpackbits(rows, axis=1, bitorder="little")
        return np.nonzero(bits)[1].reshape(len(rows), self.subset_size)

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Bitmaps of `subset_size` values, without a padding bit."""
        return self._bitmap.good_rows(payloads) & self._full(payloads)

    def _full(self, rows: Payloads) -> Verdicts:
        verdicts: Verdicts = np.bitwise_count(rows).sum(axis=1, dtype=np.int64) == self.subset_size
        return verdicts

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

    @cached_property
    def _starts(self) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """In which byte, and at which bit of it, each member begins; made when first needed, for sets can be long."""
        first = np.arange(self.subset_size) * self.bits_each
        return first // 8, (first % 8).astype(np.uint64)

    def encode(self, report: tuple[int, ...]) -> bytes:
        """Members in increasing order, whatever order they are given in."""
        # Digits, since shifting a long integer once for every member would take the square of their number.
        digits = "".join(f"{member:0{self.bits_each}b}" for member in sorted(report, reverse=True))
        return int(digits, 2).to_bytes(self.width, "little")

    def decode(self, payload: bytes) -> tuple[int, ...]:
        """The members; refused unless increasing, inside the domain, and padded with zeros."""
        _check_width(payload, self.width)
        step = self.bits_each
        digits = f"{int.from_bytes(payload, 'little'):0{self.bits}b}"
        report = tuple(int(digits[at : at + step], 2) for at in range(len(digits) - step, -1, -step))
        if len(digits) > self.bits or report[-1] >= self.domain_size:
            raise ReportError(f"report names a value beyond the survey's {self.domain_size} values")
        if any(a >= b for a, b in pairwise(report)):
            raise ReportError("report is not canonical: its members must be distinct and in increasing order")
        return report

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """Packed rows of sorted members."""
        shifts = np.arange(self.bits_each)
        bits = (batch.astype(np.int64)[:, :, None] >> shifts & 1).astype(np.uint8)
        return np.packbits(bits.reshape(len(batch), self.bits), axis=1, bitorder="little")

    def decode_many(self, payloads: Payloads) -> NDArray[np.int64]:
        """Rows of sorted members."""
        batch, padded = self._members(payloads)
        _refuse_rows(padded, "has non-zero padding")
        self.check_many(batch)
        return batch

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Rows of members that increase, inside the domain, padded with zeros."""
        batch, padded = self._members(payloads)
        return ~(padded | _outside(batch, self.domain_size) | _unsorted(batch))

    def _members(self, payloads: Payloads) -> tuple[NDArray[np.int64], Verdicts]:
        """The members as they stand, and which rows have non-zero padding."""
        _check_rows(payloads, self.width)
        # The eight bytes from each byte on: they hold a whole member, as those have at most 40 bits.
        windows = np.ndarray(payloads.shape, "<u8", payloads.tobytes() + bytes(8), strides=(self.width, 1))
        first_byte, first_bit = self._starts
        members = windows[:, first_byte] >> first_bit & np.uint64((1 << self.bits_each) - 1)
        return members.astype(np.int64), _padded(payloads, self.bits)

    def check_many(self, batch: NDArray[Any]) -> None:
        """Rows of sorted members."""
        _check_subsets(batch, self.domain_size, self.subset_size)


def _check_subsets(batch: NDArray[Any], domain_size: int, subset_size: int) -> None:
    _check_batch(batch, "i", subset_size)
    _refuse_rows(_outside(batch, domain_size), "names a value beyond the domain")
    _refuse_rows(_unsorted(batch), "is not canonical (members must increase)")


def _outside(batch: NDArray[np.int64], domain_size: int) -> Verdicts:
    """Which of the rows, all increasing, have a member outside the domain."""
    return (batch[:, 0] < 0) | (batch[:, -1] >= domain_size)


def _unsorted(batch: NDArray[np.int64]) -> Verdicts:
    verdicts: Verdicts = np.any(batch[:, 1:] <= batch[:, :-1], axis=1)
    return verdicts


def subset_codec(domain_size: int, subset_size: int) -> Codec:
    """The shorter of the two encodings of a set of known size; the bitmap when they tie."""
    listed, bitmap = SubsetCodec(domain_size, subset_size), SubsetBitmapCodec(domain_size, subset_size)
    return listed if listed.width < bitmap.width else bitmap


_OTHER: Final = "is not a report of the table that it names"


@final
class TablesCodec:
    """A report is (table, inner report), or (table, members..) where the inner report is a set.

    A batch is the matrix of encoded reports: reports of different tables have different shapes.
    """

    def __init__(self, inner: tuple[Codec, ...]) -> None:
        self.inner = inner
        self.numbers = IndexCodec(len(inner))
        self.start = self.numbers.width
        self.width = self.start + max(codec.width for codec in inner)
        self.bits = self.numbers.bits + max(codec.bits for codec in inner)

    def encode(self, report: Report) -> bytes:
        """The table's number, then its own report, then zeros."""
        table, *rest = cast(tuple[int, ...], report)
        codec = self.inner[table]
        inner = rest[0] if isinstance(codec, IndexCodec) else tuple(rest)
        return (self.numbers.encode(table) + codec.encode(inner)).ljust(self.width, b"\0")

    def decode(self, payload: bytes) -> Report:
        """The table and its report; refused for an unknown table, a wrong inner report, or other padding than zeros."""
        if len(payload) != self.width:
            kind = "truncated" if len(payload) < self.width else "too long"
            raise ReportError(f"report is {kind}: it has {len(payload)} bytes, this survey's reports have {self.width}")
        table = self.numbers.decode(payload[: self.start])
        end = self.start + self.inner[table].width
        if any(payload[end:]):
            raise ReportError("report has non-zero padding after the report of its table")
        inner = self.inner[table].decode(payload[self.start : end])
        return (table, inner) if isinstance(inner, int) else (table, *inner)

    def encode_many(self, batch: NDArray[Any]) -> Payloads:
        """The rows are encoded already."""
        return batch.astype(np.uint8, copy=False)

    def decode_many(self, payloads: Payloads) -> Payloads:
        """The rows unchanged, after each one is checked."""
        wrong = ~self.good_rows(payloads)
        if wrong.any():
            raise ReportError(
                f"report {int(np.argmax(wrong))} of {len(wrong)} {_OTHER}; no report of the batch was counted"
            )
        return payloads

    def check_many(self, batch: NDArray[Any]) -> None:
        """The rows are encoded already."""
        self.decode_many(batch)

    def good_rows(self, payloads: Payloads) -> Verdicts:
        """Rows with a known table, a report of that table, and zeros after it."""
        if not isinstance(payloads, np.ndarray) or payloads.ndim != 2 or payloads.shape[1] != self.width:
            raise ReportError(f"reports must come as rows of {self.width} bytes, the width of this survey's reports")
        if payloads.dtype != np.uint8:
            raise ReportError("reports must come as rows of bytes")
        good = self.numbers.good_rows(payloads[:, : self.start])
        for table, rows in self.groups(payloads, good):
            codec = self.inner[table]
            end = self.start + codec.width
            inner = np.ascontiguousarray(payloads[rows, self.start : end])
            good[rows] = codec.good_rows(inner) & ~payloads[rows, end:].any(axis=1)
        return good

    def groups(self, payloads: Payloads, good: Verdicts | None = None) -> list[tuple[int, NDArray[np.int64]]]:
        """The rows of every table, among the good ones if these are given."""
        numbers = self.numbers._integers(payloads[:, : self.start]).astype(np.int64)
        if good is not None:
            numbers = np.where(good, numbers, len(self.inner))
        return rows_of(numbers, len(self.inner))


def rows_of(numbers: NDArray[np.int64], tables: int) -> list[tuple[int, NDArray[np.int64]]]:
    """For every table that occurs, the rows with its number."""
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(tables + 1))
    return [(table, order[ends[table] : ends[table + 1]]) for table in range(tables) if ends[table] < ends[table + 1]]
