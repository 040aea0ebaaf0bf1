"""Rows of report files, validated for every engine, and how many of them were read, counted and rejected.

Columns are processed as matrices, since all reports of a survey have one width; there is no Python object per row.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from sottovoce.core.words import plural
from sottovoce.formats.report_files import pyarrow
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["BadFile", "Sifted", "Tally", "sift"]


_FILES_NAMED: Final = 3
"""How many bad files a message names."""


class BadFile(NamedTuple):
    """A file that was not counted."""

    path: str
    reason: str


@final
@dataclass(frozen=True)
class Tally:
    """Number of rows by outcome: ``rows == counted + duplicates + foreign + malformed``.

    Examples
    --------
    >>> Tally(rows=5, counted=4, duplicates=1) + Tally(rows=2, counted=1, foreign=1)
    Tally(files=0, rows=7, counted=5, duplicates=1, foreign=1, malformed=0, bad_files=())
    """

    files: int = 0
    """Files that were read, the bad ones not among them; 0 where an engine was handed rows."""
    rows: int = 0
    counted: int = 0
    duplicates: int = 0
    """Rows whose report id another row has that was counted."""
    foreign: int = 0
    """Reports of another survey."""
    malformed: int = 0
    """Rows that no device following the survey could have sent, or without an id of 16 bytes."""
    bad_files: tuple[BadFile, ...] = ()
    """Files that could not be read, or say themselves that they are another survey's; in the order of their names."""

    def __add__(self, other: Tally) -> Tally:
        together = {
            field.name: getattr(self, field.name) + getattr(other, field.name)
            for field in fields(self)
            if field.name != "bad_files"
        }
        return Tally(**together, bad_files=tuple(sorted(self.bad_files + other.bad_files)))

    @property
    def faults(self) -> int:
        """Rows and files that were skipped; duplicates are not faults."""
        return self.foreign + self.malformed + len(self.bad_files)

    def to_dict(self) -> dict[str, Any]:
        """The tally as plain JSON values."""
        named = [{"path": bad.path, "reason": bad.reason} for bad in self.bad_files]
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "bad_files"} | {
            "bad_files": named
        }

    def fault_words(self) -> str:
        """A description of the faults; empty if there are none.

        Examples
        --------
        >>> Tally(rows=9, counted=6, foreign=1, malformed=2).fault_words()
        'of 9 rows, 2 are malformed and 1 is of another survey'
        """
        of_rows = [
            f"{n:,} {'is' if n == 1 else 'are'} {what}"
            for n, what in ((self.malformed, "malformed"), (self.foreign, "of another survey"))
            if n
        ]
        parts = [f"of {plural(self.rows, 'row')}, {' and '.join(of_rows)}"] if of_rows else []
        if self.bad_files:
            named = "; ".join(f"{bad.path} ({bad.reason})" for bad in self.bad_files[:_FILES_NAMED])
            more = len(self.bad_files) - _FILES_NAMED
            rest = f"; and {more:,} more" if more > 0 else ""
            parts.append(f"{plural(len(self.bad_files), 'file')} cannot be used: {named}{rest}")
        return "; ".join(parts)


Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]


class Sifted(NamedTuple):
    """Valid rows, and the tally of all rows; `counted` includes duplicates."""

    ids: Bytes
    """One row of 16 bytes each."""
    payloads: Bytes
    """The reports without their tag, in the same order."""
    tally: Tally


def sift(survey: Survey, report_ids: Any, reports: Any) -> Sifted:
    """Validate two Arrow columns of equal length: report ids and reports, of any binary type."""
    ids, with_id = _matrix(report_ids, REPORT_ID_BYTES)
    payloads, good, foreign = _judged(survey, _in_one(reports))
    good, foreign = good & with_id, foreign & with_id
    if not good.all():
        ids, payloads = ids[good], payloads[good]
    rows, n_foreign = len(with_id), int(foreign.sum())
    tally = Tally(rows=rows, counted=len(ids), foreign=n_foreign, malformed=rows - len(ids) - n_foreign)
    return Sifted(ids, payloads, tally)


def _judged(survey: Survey, reports: Any) -> tuple[Bytes, Flags, Flags]:
    """Reports without their tag, which of them are sound, and which have the tag of another survey."""
    width = survey.mechanism.report_bytes
    if pyarrow()[0].types.is_dictionary(reports.type):  # each word is judged once, however often it stands there
        words = _judged(survey, reports.dictionary)
        payloads, good, foreign = (_spread(judged, reports) for judged in words)
        valid = _valid(reports)
        return payloads, good & valid, foreign & valid
    bodies, whole = _matrix(reports, TAG_BYTES + width)
    heads, with_tag = (bodies, whole) if whole.all() else _matrix(reports, TAG_BYTES, longer=True)
    ours = with_tag & (heads[:, :TAG_BYTES].view(np.uint32)[:, 0] == np.frombuffer(survey.tag, dtype=np.uint32)[0])
    payloads = _rows(_items(bodies[:, TAG_BYTES:]), width)
    return payloads, whole & ours & survey.mechanism.codec.good_rows(payloads), with_tag & ~ours


def _items(rows: Bytes) -> Any:
    """Each row as one item, where it stands: items are copied whole, many times faster than byte by byte."""
    return rows.view(f"V{rows.shape[1]}")[:, 0]


def _rows(items: Any, width: int) -> Bytes:
    """Items as rows, one after the other in memory."""
    return np.ascontiguousarray(items).view(np.uint8).reshape(-1, width)


def _spread(words: Any, column: Any) -> Any:
    """What belongs to a dictionary's words, for each row of the column; a row of none gets that of any word."""
    if not len(words):
        return np.zeros((len(column), *words.shape[1:]), dtype=words.dtype)
    indices = column.indices.fill_null(0) if column.null_count else column.indices
    places = np.asarray(indices)
    return words.take(places) if words.ndim == 1 else _rows(_items(words).take(places), words.shape[1])


def _valid(column: Any) -> Flags:
    return np.ones(len(column), dtype=bool) if not column.null_count else np.asarray(column.is_valid())


def _in_one(column: Any) -> Any:
    """A column's chunks as one array."""
    pa, _ = pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # of no chunk, or too long for one
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    return column


def _matrix(column: Any, width: int, *, longer: bool = False) -> tuple[Bytes, Flags]:
    """A column's values as rows of `width` bytes, and which of them have that width (or, if asked, are longer).

    Rows that do not are of no meaning. Where all do, no byte is copied.
    """
    pa, _ = pyarrow()
    column = _in_one(column)
    n, valid = len(column), _valid(column)
    if pa.types.is_dictionary(column.type):  # never spelt out: a short file may repeat a long value without end
        words, fit = (_spread(held, column) for held in _matrix(column.dictionary, width, longer=longer))
        return words, valid & fit
    if pa.types.is_fixed_size_binary(column.type):
        each = column.type.byte_width
        data = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint8)
        held = data[column.offset * each : (column.offset + n) * each].reshape(n, each) if each else _nothing(n, 0)
        if each == width or (longer and each > width):
            return held[:, :width], valid
        return _nothing(n, width), np.zeros(n, dtype=bool)
    if n == 0:
        return _nothing(0, width), valid
    if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        column = column.cast(pa.large_binary())
    stored = np.int32 if pa.types.is_binary(column.type) else np.int64
    offsets: NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=stored)[column.offset : column.offset + n + 1]
    data = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    lengths = np.diff(offsets)
    each = int(lengths[0])
    if each and (lengths == each).all() and (each == width or (longer and each > width)):
        return data[offsets[0] : offsets[-1]].reshape(n, each)[:, :width], valid
    fit = valid & ((lengths >= width) if longer else (lengths == width))
    held = _nothing(n, width)
    held[fit] = data[offsets[:-1][fit][:, None] + np.arange(width)]
    return held, fit


def _nothing(n: int, width: int) -> Bytes:
    return np.zeros((n, width), dtype=np.uint8)
