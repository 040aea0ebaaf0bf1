"""Validate rows of report files, for every engine.

Columns are processed as matrices, since all reports of a survey have one width; there is no Python object per row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sottovoce.engines.tally import Tally
from sottovoce.formats.report_files import pyarrow
from sottovoce.formats.wire import REPORT_ID_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["Sifted", "sift"]

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
    width, tag = survey.mechanism.report_bytes, np.frombuffer(survey.tag, dtype=np.uint8)
    ids, with_id = _matrix(report_ids, REPORT_ID_BYTES)
    bodies, whole = _matrix(reports, len(tag) + width)
    heads, with_tag = (bodies, whole) if whole.all() else _matrix(reports, len(tag), longer=True)
    ours = with_tag & (_items(heads, 0, len(tag)) == tag.view(f"V{len(tag)}"))
    foreign = with_id & with_tag & ~ours
    good = with_id & whole & ours
    payloads = _rows(_items(bodies, len(tag), width), width)
    if not good.all():
        ids, payloads = ids[good], payloads[good]
    sound = survey.mechanism.codec.good_rows(payloads)
    if not sound.all():
        ids, payloads = ids[sound], payloads[sound]
    rows, n_foreign = len(with_id), int(foreign.sum())
    tally = Tally(rows=rows, counted=len(ids), foreign=n_foreign, malformed=rows - len(ids) - n_foreign)
    return Sifted(ids, payloads, tally)


def _items(rows: Bytes, first: int, width: int) -> Any:
    """So many bytes of each row as one item, where they stand: items are compared and copied whole."""
    return rows[:, first : first + width].view(f"V{width}")[:, 0]


def _rows(items: Any, width: int) -> Bytes:
    """Items as rows, one after the other in memory."""
    return np.ascontiguousarray(items).view(np.uint8).reshape(-1, width)


def _matrix(column: Any, width: int, *, longer: bool = False) -> tuple[Bytes, Flags]:
    """A column's values as rows of `width` bytes, and which of them have that width (or, if asked, are longer).

    Rows that do not are of no meaning. Where all do, no byte is copied.
    """
    pa, _ = pyarrow()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # of no chunk, or too long for one
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], type=column.type)
    n = len(column)
    valid = np.ones(n, dtype=bool) if not column.null_count else np.asarray(column.is_valid())
    if pa.types.is_dictionary(column.type):  # never spelt out: a short file may repeat a long value without end
        words, fit = _matrix(column.dictionary, width, longer=longer)
        if not len(words):
            return _nothing(n, width), np.zeros(n, dtype=bool)
        places = np.asarray(column.indices.fill_null(0))
        return words[places], valid & fit[places]
    if pa.types.is_fixed_size_binary(column.type):
        each = column.type.byte_width
        data = np.frombuffer(column.buffers()[1] or b"", dtype=np.uint8)
        held = data[column.offset * each : (column.offset + n) * each].reshape(n, each) if each else _nothing(n, 0)
        if each == width or (longer and each > width):
            return held[:, :width], valid
        return _nothing(n, width), np.zeros(n, dtype=bool)
    if not pa.types.is_large_binary(column.type):
        column = column.cast(pa.large_binary())
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int64)[column.offset : column.offset + n + 1]
    data = np.frombuffer(column.buffers()[2] or b"", dtype=np.uint8)
    if n == 0:
        return _nothing(0, width), valid
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
