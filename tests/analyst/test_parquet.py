"""Exported files: the same integers when counted anew, taken up again, and nothing overwritten."""

from __future__ import annotations

import os
import re
import secrets
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.analyst.parquet import Folder, read_export
from sottovoce.core.errors import MismatchError, ReportError, ServiceError
from sottovoce.engines.reports.files import find_files, scan_files
from sottovoce.formats.wire import REPORT_ID_BYTES, encode_batch
from sottovoce.protocol.surveys import SegmentEntry

SURVEY = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0, title="Colours")
OTHER = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=2.0)


def rows(n, survey=SURVEY, seed=1):
    """Reports with fresh ids, in the order of their ids."""
    reports = survey.simulate(["red"] * n, seed=seed)
    return sorted(zip((secrets.token_bytes(REPORT_ID_BYTES) for _ in range(n)), reports, strict=True))


def write(folder, number, pairs, epoch=5, written=frozenset(), survey=SURVEY):
    segment = SegmentEntry(number, epoch, len(pairs))
    return Folder(survey, folder).write(segment, encode_batch(survey.id, pairs), set(written))


def test_files_are_counted_to_the_same_integers(tmp_path):
    first, second = rows(50), rows(30, seed=2)
    assert (write(tmp_path, 3, first), write(tmp_path, 4, second, epoch=6)) == (50, 30)
    expected = SURVEY.aggregate().add([report for _, report in first + second])
    assert read_export(SURVEY, tmp_path) == expected


def test_the_schema_is_the_documented_one(tmp_path):
    pairs = rows(7)
    write(tmp_path, 12, pairs, epoch=490_000)
    (path,) = tmp_path.iterdir()
    assert path.name == "reports-0000000012.parquet"
    table = pq.read_table(path)
    assert table.schema.names == ["report_id", "report", "epoch"]
    assert table.schema.types == [pa.binary(16), pa.binary(len(pairs[0][1])), pa.int64()]
    assert table.to_pylist() == [{"report_id": i, "report": r, "epoch": 490_000} for i, r in pairs]
    metadata = {name.decode(): value.decode() for name, value in table.schema.metadata.items()}
    told = {name.removeprefix("sottovoce."): value for name, value in metadata.items() if name.startswith("sottovoce.")}
    assert told == {
        "format": "1",
        "survey": SURVEY.id,
        "statement": SURVEY.to_json(),
        "segment": "12",
        "reports": "7",
        "rows": "7",
        "unique_in": told["unique_in"],
    }
    assert re.fullmatch("[0-9a-f]{32}", told["unique_in"])


def export(folder, segments, written=frozenset()):
    """One run of an export: segments by their numbers."""
    held = Folder(SURVEY, folder)
    held.prepare()
    for number, pairs in segments.items():
        held.write(SegmentEntry(number, 5, len(pairs)), encode_batch(SURVEY.id, pairs), set(written))


def believed(*paths):
    """Whether an engine believes that ids are unique in these files."""
    return scan_files(SURVEY, find_files(paths)).ids_unique


def test_ids_are_unique_in_a_folder_whatever_run_wrote_its_files(tmp_path):
    early, late = rows(20), rows(10, seed=2)
    export(tmp_path, {1: early, 2: rows(5, seed=3)})
    export(tmp_path, {7: sorted(early + late)}, {report_id for report_id, _ in early})
    assert believed(tmp_path)
    assert believed(tmp_path / "reports-0000000007.parquet")
    counted = sv.engines.local().count(SURVEY, tmp_path)
    assert (counted.ids, counted.n_reports) == ("stated", 35)


def test_what_is_more_than_one_export_is_not_believed(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    export(one, {1: rows(20), 2: rows(5, seed=3)})
    export(other, {3: rows(9, seed=4)})
    assert believed(other)
    assert not believed(one, other)
    assert not believed(one, _raw(tmp_path / "sent.svr"))
    # A copy, under whatever name, and in a folder that an export is then continued in.
    shutil.copy(one / "reports-0000000002.parquet", tmp_path / "copy.parquet")
    assert not believed(one, tmp_path / "copy.parquet")
    shutil.copy(one / "reports-0000000002.parquet", other)
    export(other, {4: rows(3, seed=5)})
    assert not believed(other)


def test_metadata_that_programs_copied_are_not_believed(tmp_path):
    export(tmp_path, {1: rows(20), 2: rows(5, seed=3)})
    table = pq.read_table(tmp_path / "reports-0000000001.parquet")
    pq.write_table(table.slice(0, 10), tmp_path / "fewer.parquet")
    pq.write_table(pa.concat_tables([table, table]), tmp_path / "more.parquet")
    pq.write_table(table.replace_schema_metadata(None), tmp_path / "plain.parquet")
    for name in ("fewer", "more", "plain"):
        assert not believed(tmp_path / f"{name}.parquet")
    counted = sv.engines.local().count(SURVEY, tmp_path / "more.parquet")
    assert (counted.ids, counted.n_reports, counted.tally.duplicates) == ("removed", 20, 20)


def _raw(place):
    place.write_bytes(encode_batch(SURVEY.id, rows(3, seed=8)))
    return place


def test_what_stands_is_not_fetched_again(tmp_path):
    write(tmp_path, 3, rows(5))
    listed = [SegmentEntry(3, 5, 5), SegmentEntry(4, 5, 6)]
    assert Folder(SURVEY, tmp_path).missing(listed) == [SegmentEntry(4, 5, 6)]
    with pytest.raises(MismatchError, match="another collector"):
        Folder(SURVEY, tmp_path).missing([SegmentEntry(3, 5, 9)])


def test_what_stands_is_never_overwritten(tmp_path):
    write(tmp_path, 3, rows(5))
    before = (tmp_path / "reports-0000000003.parquet").read_bytes()
    with pytest.raises(ReportError, match="cannot be written"):
        write(tmp_path, 3, rows(6, seed=9))
    assert [path.name for path in tmp_path.iterdir()] == ["reports-0000000003.parquet"]
    assert (tmp_path / "reports-0000000003.parquet").read_bytes() == before


def test_segments_that_were_merged_since_are_not_exported_twice(tmp_path):
    early, late, other = rows(20), rows(10, seed=2), rows(5, seed=3)
    write(tmp_path, 1, early, epoch=5)
    write(tmp_path, 2, other, epoch=6)
    folder, merged = Folder(SURVEY, tmp_path), sorted(early + late)
    listed = [SegmentEntry(2, 6, 5), SegmentEntry(7, 5, 30)]
    assert folder.missing(listed) == [listed[1]]
    superseded = folder.superseded(listed)
    assert superseded == {5: {report_id for report_id, _ in early}}
    assert write(tmp_path, 7, merged, epoch=5, written=superseded[5]) == 10
    assert folder.missing(listed) == []
    expected = SURVEY.aggregate().add([report for _, report in early + late + other])
    assert read_export(SURVEY, tmp_path) == expected


def test_what_a_crash_left_is_swept_and_never_read(tmp_path):
    write(tmp_path, 1, rows(5))
    (tmp_path / ".reports-0000000002.parquet.0123456789abcdef.part").write_bytes(b"PAR1 half")
    assert read_export(SURVEY, tmp_path).n_reports == 5
    Folder(SURVEY, tmp_path).prepare()
    assert [path.name for path in tmp_path.iterdir()] == ["reports-0000000001.parquet"]


def test_another_survey_has_no_place_in_the_folder(tmp_path):
    write(tmp_path, 1, rows(5))
    for use in (Folder(OTHER, tmp_path).prepare, lambda: read_export(OTHER, tmp_path)):
        with pytest.raises(MismatchError, match=SURVEY.id[:12]):
            use()


def test_damaged_and_foreign_files_are_named_and_left(tmp_path):
    path = tmp_path / "reports-0000000001.parquet"
    for content in (b"", b"PAR1", secrets.token_bytes(500)):
        path.write_bytes(content)
        with pytest.raises(MismatchError, match=r"reports-0000000001\.parquet is not an exported file"):
            Folder(SURVEY, tmp_path).prepare()
        assert path.read_bytes() == content
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(MismatchError, match="is not an exported file"):
        read_export(SURVEY, tmp_path)


def test_no_flipped_bit_changes_a_count(tmp_path):
    """Reports carry no redundancy of their own: pages have checksums."""
    pairs = rows(400)
    write(tmp_path, 1, pairs)
    (path,) = tmp_path.glob("*.parquet")
    good, expected = path.read_bytes(), read_export(SURVEY, tmp_path)
    noticed = 0
    for place in range(8, len(good) - 8, 61):
        path.write_bytes(good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :])
        try:
            assert read_export(SURVEY, tmp_path) == expected
        except (MismatchError, ReportError):
            noticed += 1
    assert noticed > len(good) // 61 // 2


def test_a_renamed_file_is_noticed(tmp_path):
    write(tmp_path, 1, rows(5))
    os.rename(tmp_path / "reports-0000000001.parquet", tmp_path / "reports-0000000009.parquet")
    with pytest.raises(MismatchError, match="segment 1"):
        read_export(SURVEY, tmp_path)


def test_a_report_that_lies_there_twice_is_noticed(tmp_path):
    pairs = rows(5)
    write(tmp_path, 1, pairs)
    write(tmp_path, 2, pairs[:1])
    with pytest.raises(ReportError, match=r"two reports .* have the same id"):
        read_export(SURVEY, tmp_path)


def test_an_empty_folder_is_no_export(tmp_path):
    with refuses(ReportError, "folder"):
        read_export(SURVEY, tmp_path)


def test_a_short_answer_is_refused(tmp_path):
    pairs = rows(5)
    with pytest.raises(ServiceError, match="came with 5 reports and has 6"):
        Folder(SURVEY, tmp_path).write(SegmentEntry(1, 5, 6), encode_batch(SURVEY.id, pairs), set())
    with pytest.raises(MismatchError, match="another survey"):
        Folder(SURVEY, tmp_path).write(SegmentEntry(1, 5, 5), encode_batch(OTHER.id, rows(5, OTHER)), set())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "taken").write_text("a file, no folder")
    with pytest.raises(ReportError, match=r"taken cannot be written: .*; name another folder"):
        Folder(SURVEY, tmp_path / "taken").prepare()
