"""The stages of a Spark job give the battery's answers in whatever order rows come and however often tasks are run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.battery import CHECKS, SURVEYS, expected, new_ids, reports_of, survey_of, write_parquet
from engines.pretend_spark import PretendSession
from sottovoce.core.errors import CapacityError, ReportError, ServiceError
from sottovoce.engines import files, spark_engine, spark_tasks
from sottovoce.engines.spark_engine import SparkEngine
from sottovoce.engines.spark_errors import translate_error
from sottovoce.engines.spark_input import checked_columns, cut
from sottovoce.engines.spark_rows import add_up, buckets_of, has_one_cell, least, pack, unpack, with_one_cell


@pytest.mark.parametrize("name", CHECKS)
def test_battery(name: str, tmp_path: Path) -> None:
    CHECKS[name](SparkEngine(PretendSession(len(name)), task_rows=300), tmp_path)


@pytest.mark.parametrize("name", ["mechanism codebook", "mechanism hadamard", "one id", "skewed rotations"])
def test_battery_where_the_driver_holds_little(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Counts are merged in two steps, stay in the cluster's cache, and come a shard at a time.
    monkeypatch.setattr(spark_engine, "_DRIVER_BYTES", 0)
    monkeypatch.setattr(spark_engine, "_FAN", 1)
    for dense_cells in (1 << 40, 1):
        session = PretendSession(dense_cells, partitions=5)
        folder = tmp_path / str(dense_cells)
        folder.mkdir()
        CHECKS[name](SparkEngine(session, task_rows=100, dense_cells=dense_cells), folder)
        assert session.persisted == 0
        assert session.shuffles == ({3} if dense_cells > 1 else {2})


@pytest.mark.parametrize("cells", [1, 1 << 40])
def test_a_table_is_counted_like_its_rows(cells: int) -> None:
    survey, reports = survey_of("codebook"), reports_of("codebook", 2000)
    ids = new_ids(2000, 3)
    rows: Any = [*zip(ids, reports, strict=True), *zip(ids[:300], reports[1000:], strict=False)]
    wanted = expected(survey, rows, 0)
    session = PretendSession(4)
    with SparkEngine(session, dense_cells=cells).count(survey, session.createDataFrame(rows)) as counted:
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 255))), st.randoms())
def test_of_one_id_the_least_bytes_stay(drawn: list[tuple[int, int, int]], order: Any) -> None:
    rows = [bytes([a] + 7 * [0] + [b] + 7 * [0] + [c, c ^ 255]) for a, b, c in drawn]
    wanted: dict[bytes, bytes] = {}
    for row in rows:
        wanted[row[:16]] = min(row, wanted.get(row[:16], row))
    order.shuffle(rows)
    matrix = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(-1, 18)
    assert sorted(row.tobytes() for row in least(matrix)) == sorted(wanted.values())


@pytest.mark.parametrize("name", [name for name in SURVEYS if has_one_cell(survey_of(name).mechanism)])
def test_moved_cells_are_those_of_all_cells(name: str) -> None:
    mechanism = survey_of(name).mechanism
    payloads = np.array([list(report[4:]) for report in reports_of(name, 2000)], dtype=np.uint8)
    dense = mechanism.empty()
    mechanism.count_into(dense, mechanism.codec.decode_many(payloads))
    found = add_up([with_one_cell(mechanism, part) for part in np.array_split(payloads, 3)])
    assert np.array_equal(found.places, np.flatnonzero(dense))
    assert np.array_equal(found.counts, dense[found.places])
    for counts in (dense, found):
        assert np.array_equal(unpack(pack(counts, mechanism.cells), mechanism.cells), dense)


def test_ids_that_follow_each_other_spread_over_the_buckets() -> None:
    ids = np.zeros((1 << 14, 16), dtype=np.uint8)
    ids[:, 12:14] = np.arange(1 << 14, dtype=np.uint16).view(np.uint8).reshape(-1, 2)
    one = buckets_of(ids, (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03), 64)
    filled = np.bincount(one, minlength=64)
    assert filled.max() < 2 * (1 << 14) / 64
    assert not np.array_equal(one, buckets_of(ids, (0x9E3779B97F4A7C15, 0x94D049BB133111EB), 64))


@pytest.mark.parametrize("most", [1, 700, None])
def test_files_are_cut_into_pieces_that_hold_every_row_once(most: int | None) -> None:
    there = [
        files.ReportFile("a", "parquet", (500, 500, 300), 1, 0),
        files.ReportFile("b", "parquet", (), 1, 0),
        files.ReportFile("c", "segment", (1999,), 1, 0),
    ]
    tasks = cut(there, 2, most)
    seen = [(piece.file, i) for task in tasks for piece in task for i in range(piece.first, piece.last)]
    assert seen == [(0, 0), (0, 1), (0, 2), *((2, i) for i in range(1999))]
    assert {piece.file for task in tasks for piece in task} == {0, 1, 2}
    assert all(tasks)


def _table(*columns: tuple[str, str]) -> Any:
    types = [SimpleNamespace(simpleString=lambda kind=kind: kind) for _, kind in columns]
    fields = [SimpleNamespace(name=name, dataType=kind) for (name, _), kind in zip(columns, types, strict=True)]
    return SimpleNamespace(schema=SimpleNamespace(fields=fields))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((("report", "binary"), ("id", "string")), r"no column report_id: it needs .* binary; it has report, id"),
        ((), "it has none"),
        ((("report_id", "string"), ("report", "binary")), r"report_id of the table is of type string, not .*unhex"),
        ((("report_id", "binary"), ("report", "array<tinyint>")), r"report of the table is of type array<tinyint>"),
        ((("report_id", "binary"), ("report_id", "binary")), "has 2 columns report_id: drop all but one"),
    ],
)
def test_wrong_columns_are_named(columns: Any, words: str) -> None:
    with pytest.raises(ReportError, match=words):
        checked_columns(_table(*columns))


def test_paths_that_python_cannot_read_are_refused() -> None:
    engine = SparkEngine(PretendSession(1))
    for paths in ("s3a://lake/reports", ["here", "hdfs://there/reports"]):
        with pytest.raises(ReportError, match=r"no path that Python can read: give the table, spark\.read\.parquet\("):
            engine.count(survey_of("hadamard"), paths)


def test_files_that_only_the_driver_sees_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(*_: object) -> Any:
        raise FileNotFoundError

    write_parquet(tmp_path / "a.parquet", [(b"\1" * 16, reports_of("hadamard", 2000)[0])])
    monkeypatch.setattr(spark_tasks, "_columns", unseen)
    with pytest.raises(ReportError, match=r"a\.parquet \(the workers do not see it; it must be where they find it"):
        SparkEngine(PretendSession(1)).count(survey_of("hadamard"), tmp_path)


def test_what_is_no_session_is_refused() -> None:
    with pytest.raises(ReportError, match=r"session has type str: give a pyspark\.sql\.SparkSession"):
        SparkEngine("local[*]")


@pytest.mark.parametrize(
    ("told", "kind", "words"),
    [
        (
            "java.io.IOException: No space left on device",
            CapacityError,
            r"disk of the cluster is full.*spark\.local\.dir",
        ),
        ("Total size ... is bigger than spark.driver.maxResultSize 1024 MiB", CapacityError, "maxResultSize allows"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker", ServiceError, "another version of Python"),
        ('java.io.IOException: Cannot run program "/opt/python"', ServiceError, "workers cannot start Python"),
        ("Job 3 cancelled part of cancelled job group x", ServiceError, "was cancelled"),
        ("SparkContext was shut down", ServiceError, "make a new session"),
        (
            "[FAILED_READ_FILE.NO_HINT] reading file file:///data/a%20b.parquet.",
            ReportError,
            r"/data/a%20b\.parquet that",
        ),
        (
            "x: org.apache.spark.SparkException: the value 'secret'",
            ServiceError,
            r"\(org\.apache\.spark\.SparkException\)",
        ),
    ],
)
def test_what_spark_says_is_said_in_words(told: str, kind: type[Exception], words: str) -> None:
    from py4j.protocol import Py4JError

    found = translate_error(Py4JError(told))
    assert isinstance(found, kind)
    with pytest.raises(kind, match=words):
        raise found
    assert "secret" not in str(found)


def test_errors_of_others_are_left_alone() -> None:
    assert translate_error(ZeroDivisionError()) is None
    assert translate_error(ReportError("ours")) is None
