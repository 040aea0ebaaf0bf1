"""Report files cut into pieces for threads, and the rows of a piece as Arrow columns, a bounded number at a time.

The dictionary of a Parquet column is looked at before anything is decoded. A short file may name one long word in every
row, so that decoding a few rows fills the memory. What the footer says is not believed, and asking pyarrow for a
dictionary may cost more than decoding the column: pages are looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any, Final, NamedTuple

import numpy as np

from sottovoce.engines.reports.files import ReportFile
from sottovoce.engines.reports.remote import opened, source
from sottovoce.formats.report_files import REPORT, REPORT_ID, pyarrow
from sottovoce.formats.wire import BATCH_HEADER_BYTES, REPORT_ID_BYTES
from sottovoce.surveys.statement import TAG_BYTES
from sottovoce.surveys.survey import Survey

__all__ = ["DictionaryPage", "FilePiece", "columns", "dictionary_page", "holds_dictionary", "in_pieces", "rows_at_once"]


_LONGEST_HEADER: Final = 1 << 13
_MOST_PAGES: Final = 1 << 14
_LARGEST_PAGE: Final = 1 << 24
"""Bytes: writers end a dictionary at one or a few million."""

_DICTIONARY, _PLAIN, _PLAIN_DICTIONARY = 2, 0, 2  # page type; encodings
_CODECS: Final = {"UNCOMPRESSED": "", "SNAPPY": "snappy", "ZSTD": "zstd", "GZIP": "gzip", "BROTLI": "brotli"}
_INTEGERS, _BYTES, _STRUCT, _FLAGS = (4, 5, 6), 8, 12, (1, 2)  # types of Thrift's compact protocol


class DictionaryPage(NamedTuple):
    """A dictionary all of whose words have the expected length."""

    words: int
    nbytes: int
    """Bytes of the page, decompressed."""


def holds_dictionary(file: IO[bytes], chunk: Any) -> bool:
    """Whether one of a column chunk's pages is a dictionary; so is taken for one what cannot be read."""
    at = _start(chunk)
    end = at + chunk.total_compressed_size
    for _ in range(_MOST_PAGES):
        if at >= end:
            return False
        file.seek(at)
        try:
            header, length = _struct(file.read(_LONGEST_HEADER), 0)
            kind, packed = header[1], header[3]
        except (IndexError, KeyError, ValueError):
            return True
        if kind == _DICTIONARY or packed < 0:
            return True
        at += length + packed
    return True


def dictionary_page(file: IO[bytes], chunk: Any, width: int) -> DictionaryPage | None:
    """The dictionary of a column chunk if all its words have `width` bytes; None if not, or if that is unclear."""
    start = _start(chunk)
    file.seek(start)
    raw = file.read(_LONGEST_HEADER)
    try:
        header, length = _struct(raw, 0)
        kind, nbytes, packed, (words, encoding) = header[1], header[2], header[3], (header[7][1], header[7][2])
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    codec = _CODECS.get(chunk.compression)
    usual = kind == _DICTIONARY and encoding in (_PLAIN, _PLAIN_DICTIONARY) and codec is not None
    fits = words > 0 and words * (4 + width) == nbytes <= _LARGEST_PAGE and 0 <= packed <= _LARGEST_PAGE
    if not (usual and fits):
        return None
    file.seek(start + length)
    body = file.read(packed)
    if codec:
        pa, _ = pyarrow()
        try:
            body = pa.decompress(body, decompressed_size=nbytes, codec=codec)
        except (pa.ArrowException, OSError):
            return None
    if len(body) != nbytes:
        return None
    lengths = np.ndarray((words,), "<u4", body, strides=(4 + width,))
    return DictionaryPage(words, nbytes) if (lengths == width).all() else None


def _start(chunk: Any) -> int:
    """The offset at which pyarrow begins to read."""
    first, data = chunk.dictionary_page_offset, chunk.data_page_offset
    return int(first if first and 0 < first < data else data)


def _struct(raw: bytes, at: int) -> tuple[dict[int, Any], int]:
    """A Thrift struct's fields by number, and where it ends; `ValueError` for types that page headers do not have."""
    fields: dict[int, Any] = {}
    number = 0
    while head := raw[at]:
        at += 1
        number += head >> 4
        kind = head & 15
        if kind in _INTEGERS:
            fields[number], at = _integer(raw, at)
        elif kind == _STRUCT:
            fields[number], at = _struct(raw, at)
        elif kind == _BYTES:
            length, at = _natural(raw, at)
            at += length
        elif kind not in _FLAGS:
            raise ValueError("not a page header")
    return fields, at + 1


def _integer(raw: bytes, at: int) -> tuple[int, int]:
    """A number with its sign in the lowest bit."""
    value, at = _natural(raw, at)
    return (value >> 1) ^ -(value & 1), at


def _natural(raw: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits."""
    value = shift = 0
    while True:
        value |= (raw[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if raw[at - 1] < 128:
            return value, at


_MOST_ROWS: Final = 1 << 17
"""Rows of a batch: enough to hide what a batch costs, few enough for the second-level cache to hold a column."""

_COPIES: Final = 8
"""How often the bytes of a row stand in memory at once, at most: decompressed, decoded, sifted, counted."""

_LEAST_BYTES: Final = 1 << 18
"""What a thread holds even where less memory is allowed: smaller batches would cost more than they save."""

_BUFFER: Final = 1 << 20
"""Bytes read ahead of a column."""

_ROWS_A_WORD: Final = 8
"""Rows of a batch for each word of a dictionary, at least, where it is kept: every batch comes with all words anew."""


class FilePiece(NamedTuple):
    """Part of a file that one thread reads."""

    file: ReportFile
    first: int
    """Row group of a Parquet file, row of a segment; `last` is the one after."""
    last: int
    rows: int


def rows_at_once(survey: Survey, memory_bytes: int, cores: int) -> int:
    """How many rows a thread may hold."""
    each = _COPIES * (REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes)
    return max(1, min(_MOST_ROWS, max(_LEAST_BYTES, memory_bytes // (4 * cores)) // each))


def in_pieces(files: Sequence[ReportFile], rows: int) -> list[FilePiece]:
    """Pieces of about `rows` rows, in order; a row group is never cut."""
    pieces = []
    for file in files:
        if file.kind == "segment":
            total = file.rows
            starts = range(0, total, rows)
            pieces += [FilePiece(file, at, min(total, at + rows), min(total, at + rows) - at) for at in starts]
            continue
        first = held = 0
        for group, n in enumerate(file.groups):
            held += n
            if held >= rows or group + 1 == len(file.groups):
                pieces.append(FilePiece(file, first, group + 1, held))
                first, held = group + 1, 0
    return pieces


def columns(survey: Survey, piece: FilePiece, at_once: int) -> Iterator[tuple[Any, Any]]:
    """Columns of report ids and of reports, `at_once` rows at a time."""
    return _of_segment(survey, piece, at_once) if piece.file.kind == "segment" else _of_parquet(survey, piece, at_once)


def _of_parquet(survey: Survey, piece: FilePiece, at_once: int) -> Iterator[tuple[Any, Any]]:
    _, pq = pyarrow()
    settings: dict[str, Any] = {"page_checksum_verification": True, "pre_buffer": False, "buffer_size": _BUFFER}
    groups = range(piece.first, piece.last)
    # Twice: lengths are stored beside values. Files of anything longer are read in smaller batches.
    usual = 2 * (REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes)
    with pq.ParquetFile(source(piece.file.path), **settings) as file:
        settings["metadata"] = footer = file.metadata
        fewer = max(1, at_once * usual // max(usual, _bytes_a_row(footer, groups)))
        kept = _kept_as_dictionaries(survey, piece, footer, fewer)
        if not kept:
            yield from _batches(file, groups, fewer)
            return
    with pq.ParquetFile(source(piece.file.path), read_dictionary=kept, **settings) as file:
        yield from _batches(file, groups, fewer)


def _kept_as_dictionaries(survey: Survey, piece: FilePiece, footer: Any, at_once: int) -> list[str]:
    """Columns whose words are not to be spelt out: some may be long, or few words stand for many rows."""
    widths = {REPORT_ID: REPORT_ID_BYTES, REPORT: TAG_BYTES + survey.mechanism.report_bytes}
    groups = [footer.row_group(at) for at in range(piece.first, piece.last)]
    rows = sum(group.num_rows for group in groups)
    kept = []
    for name, width in widths.items():
        every = [chunk for group in groups for chunk in _chunks(group) if chunk.path_in_schema == name]
        if any(chunk.physical_type != "BYTE_ARRAY" for chunk in every):
            continue  # of a fixed width, which the footer states for all
        with opened(piece.file.path) as file:
            chunks = [chunk for chunk in every if holds_dictionary(file, chunk)]
            pages = [dictionary_page(file, chunk, width) for chunk in chunks]
        usual = [page for page in pages if page is not None]
        # Where the words did not fit in a dictionary the rest is spelt out in the file: no gain there.
        spelt = sum(chunk.total_uncompressed_size for chunk in chunks) > rows * (4 + width) // 2
        few = max((page.words for page in usual), default=0) * _ROWS_A_WORD <= at_once and not spelt
        if len(usual) < len(pages) or (pages and len(pages) == len(every) and few):
            kept.append(name)
    return kept


def _batches(file: Any, groups: range, at_once: int) -> Iterator[tuple[Any, Any]]:
    for batch in file.iter_batches(at_once, row_groups=groups, columns=[REPORT_ID, REPORT], use_threads=False):
        yield batch.column(REPORT_ID), batch.column(REPORT)


def _chunks(group: Any) -> list[Any]:
    """What the footer has of the two columns in a row group."""
    every = (group.column(i) for i in range(group.num_columns))
    return [chunk for chunk in every if chunk.path_in_schema in (REPORT_ID, REPORT)]


def _bytes_a_row(footer: Any, groups: range) -> int:
    """How long a row's id and report are in the row group where they are longest."""
    longest = 0
    for group in map(footer.row_group, groups):
        held = sum(chunk.total_uncompressed_size for chunk in _chunks(group))
        longest = max(longest, held // max(1, group.num_rows))
    return longest


def _of_segment(survey: Survey, piece: FilePiece, at_once: int) -> Iterator[tuple[Any, Any]]:
    width = REPORT_ID_BYTES + TAG_BYTES + survey.mechanism.report_bytes
    with opened(piece.file.path) as file:
        file.seek(BATCH_HEADER_BYTES + piece.first * width)
        for first in range(piece.first, piece.last, at_once):
            wanted = min(at_once, piece.last - first) * width
            data = file.read(wanted)
            if len(data) != wanted:
                raise OSError("it was cut while it was read")
            rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)
            yield _column(rows[:, :REPORT_ID_BYTES]), _column(rows[:, REPORT_ID_BYTES:])


def _column(rows: Any) -> Any:
    pa, _ = pyarrow()
    return pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(rows.tobytes())]
    )
