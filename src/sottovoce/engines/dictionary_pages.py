"""Looking at the dictionary of a Parquet column before anything is decoded: how many words, and all of one length?

A short file may name one long word in every row, so that decoding a few rows fills the memory. What the footer says is
not believed, and asking pyarrow for a dictionary may cost more than decoding the column: pages are looked at.
"""

from __future__ import annotations

from typing import IO, Any, Final, NamedTuple

import numpy as np

from sottovoce.formats.report_files import pyarrow

__all__ = ["DictionaryPage", "dictionary_page", "holds_dictionary"]

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
    """Of the page, decompressed."""


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
    """Where pyarrow begins to read."""
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
