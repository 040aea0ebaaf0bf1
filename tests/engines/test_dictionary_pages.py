"""Dictionaries of Parquet columns: kept where they are short, spelt out only where every word has the usual length."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engines.battery import Rows, expected, new_ids, reports_of, survey_of
from sottovoce import engines
from sottovoce.engines.reports.files import scan_files
from sottovoce.engines.reports.reading import DictionaryPage, columns, dictionary_page, holds_dictionary, in_pieces

SURVEY = survey_of("hadamard")


class Chunk:
    """What a footer has of a column."""

    compression = "UNCOMPRESSED"

    def __init__(self, offset: int | None, data: int, nbytes: int = 0) -> None:
        self.dictionary_page_offset, self.data_page_offset, self.total_compressed_size = offset, data, nbytes


def page_of(place: Path, column: int, width: int) -> DictionaryPage | None:
    chunk = pq.read_metadata(place).row_group(0).column(column)
    with place.open("rb") as file:
        return dictionary_page(file, chunk, width)


def write(place: Path, words: list[bytes], **settings: Any) -> Path:
    pq.write_table(pa.table({"word": words}), place, **settings)
    return place


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "brotli"])
@pytest.mark.parametrize(
    "settings", [{}, {"data_page_version": "2.0"}, {"write_page_checksum": True}, {"version": "1.0"}]
)
def test_words_of_one_length_are_seen(tmp_path: Path, compression: str, settings: dict[str, Any]) -> None:
    words = [bytes([number % 7]) * 9 for number in range(5000)]
    place = write(tmp_path / "a.parquet", words, compression=compression, **settings)
    assert page_of(place, 0, 9) == DictionaryPage(7, 7 * 13)
    assert page_of(place, 0, 8) is None
    assert page_of(place, 0, 10) is None


def test_words_that_add_up_to_the_usual_length_are_told_apart(tmp_path: Path) -> None:
    assert page_of(write(tmp_path / "a.parquet", [b"x" * 18, b""] * 50), 0, 9) is None
    assert page_of(write(tmp_path / "b.parquet", [b"x" * 9] * 50, compression="lz4"), 0, 9) is None
    assert page_of(write(tmp_path / "c.parquet", [b"x" * 9, b"y" * 9] * 50), 0, 9) == DictionaryPage(2, 26)


def test_what_is_no_dictionary_is_left_to_others(tmp_path: Path) -> None:
    place = tmp_path / "any"
    place.write_bytes(bytes(range(1, 256)) * 3)
    with place.open("rb") as file:
        for first in range(1, 255):
            assert dictionary_page(file, Chunk(first, 700), 9) is None
        assert dictionary_page(file, Chunk(2000, 3000), 9) is None
        assert dictionary_page(file, Chunk(None, 3000), 9) is None
    good = write(tmp_path / "good.parquet", [b"x" * 9] * 50, compression="none")
    chunk = pq.read_metadata(good).row_group(0).column(0)
    first, data = chunk.dictionary_page_offset, chunk.data_page_offset
    with good.open("rb") as file:
        assert dictionary_page(file, Chunk(first, data), 9) == DictionaryPage(1, 13)
        assert dictionary_page(file, Chunk(first, 1), 9) is None  # pyarrow begins at the lesser of the two
    whole = good.read_bytes()
    for end in range(first, data):
        place.write_bytes(whole[:end])
        with place.open("rb") as file:
            assert dictionary_page(file, Chunk(first, data), 9) is None


def test_a_dictionary_is_found_wherever_it_stands(tmp_path: Path) -> None:
    words = [b"x" * 9, b"y" * 9] * 50
    good = write(tmp_path / "good.parquet", words, compression="none")
    chunk = pq.read_metadata(good).row_group(0).column(0)
    first, data, end = chunk.dictionary_page_offset, chunk.data_page_offset, chunk.total_compressed_size
    whole = good.read_bytes()
    dictionary, rows = whole[first:data], whole[data : first + end]
    for content, found in ((rows + dictionary, True), (rows * 3, False), (rows[:-1], False), (rows + b"\x19", True)):
        (tmp_path / "any").write_bytes(content)
        with (tmp_path / "any").open("rb") as file:
            assert holds_dictionary(file, Chunk(None, 0, len(content))) == found
    for settings in ({"use_dictionary": False}, {"use_dictionary": False, "data_page_version": "2.0"}):
        plain = write(tmp_path / "plain.parquet", words * 2000, data_page_size=1000, **settings)
        with plain.open("rb") as file:
            assert not holds_dictionary(file, pq.read_metadata(plain).row_group(0).column(0))


def test_a_dictionary_that_the_footer_conceals_is_not_spelt_out(tmp_path: Path) -> None:
    place, n = tmp_path / "a.parquet", 500
    table = pa.table({"report_id": new_ids(n, 1), "report": [b"x" * 100_000] * n})
    pq.write_table(table, place, use_dictionary=["report"], write_statistics=False, store_schema=False)
    chunk, whole = pq.read_metadata(place).row_group(0).column(1), place.read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    footer = whole[-8 - length : -8]
    # Fields 9 and 11 of the column's metadata: where its data and its dictionary begin.
    stated = b"\x26" + number(chunk.data_page_offset) + b"\x26" + number(chunk.dictionary_page_offset)
    before, after = footer.split(stated)
    footer = before + b"\x26" + number(chunk.dictionary_page_offset) + bytes([after[0] + 0x20]) + after[1:]
    place.write_bytes(whole[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    assert not pq.read_metadata(place).row_group(0).column(1).has_dictionary_page
    [file] = scan_files(SURVEY, [str(place)]).files
    [piece] = in_pieces([file], 1 << 20)
    assert sum(reports.nbytes for _, reports in columns(SURVEY, piece, n)) < 1_000_000
    with engines.local(cores=1).count(SURVEY, place, faults="skip") as counted:
        assert counted.tally.rows - counted.tally.counted == n


def number(value: int) -> bytes:
    """As footers have it: groups of seven bits, the sign in the lowest."""
    groups = [(2 * value >> shift) & 127 for shift in range(0, (2 * value).bit_length(), 7)]
    return bytes([*(group | 128 for group in groups[:-1]), groups[-1]])


def test_few_words_come_as_a_dictionary_and_count_the_same(tmp_path: Path) -> None:
    rows: Rows = list(zip(new_ids(60_000, 3), reports_of("hadamard", 2000) * 30, strict=True))
    ids, reports = (pa.array(column, type=pa.binary()) for column in zip(*rows, strict=True))
    place = tmp_path / "a.parquet"
    pq.write_table(pa.table({"report_id": ids, "report": reports}), place, row_group_size=30_000)
    assert engines.local(cores=1).aggregate(SURVEY, place) == expected(SURVEY, rows, 1).aggregate
    [file] = scan_files(SURVEY, [str(place)]).files
    for at_once, kept in ((20_000, True), (100, False)):
        [piece] = in_pieces([file], 60_000)
        found = [batch for _, batch in columns(SURVEY, piece, at_once)]
        assert {pa.types.is_dictionary(batch.type) for batch in found} == {kept}
        assert b"".join(value for batch in found for value in batch.to_pylist()) == b"".join(reports.to_pylist())
