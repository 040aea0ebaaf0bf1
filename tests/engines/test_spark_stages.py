"""The stages of a Spark job give the battery's answers in whatever order rows come and however often tasks are run."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engines.battery import CHECKS, SURVEYS, expected, new_ids, reports_of, survey_of, write_parquet
from engines.pretend_spark import PretendSession, PretendTable
from refusing import refuses
from sottovoce.core.errors import CapacityError, ReportError, ServiceError
from sottovoce.engines.cluster import job as spark_job
from sottovoce.engines.cluster import reading as spark_reading
from sottovoce.engines.cluster import run as spark_run
from sottovoce.engines.cluster.engine import SparkEngine
from sottovoce.engines.cluster.errors import translate_error
from sottovoce.engines.cluster.reading import checked_columns, cut
from sottovoce.engines.cluster.rows import add_up, buckets_of, has_one_cell, pack, unpack, with_one_cell
from sottovoce.engines.reports import files

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", CHECKS)
def test_battery(name: str, tmp_path: Path) -> None:
    CHECKS[name](SparkEngine(PretendSession(len(name)), task_rows=300), tmp_path)


@pytest.mark.parametrize("name", ["mechanism codebook", "mechanism hadamard", "one id", "skewed rotations"])
def test_battery_where_the_driver_holds_little(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Counts are merged in two steps, stay in the cluster's cache, and come a shard at a time.
    monkeypatch.setattr(spark_run, "_DRIVER_BYTES", 0)
    monkeypatch.setattr(spark_run, "_MERGED_BYTES", 1 << 12)
    for share in (1, 1 << 28):
        monkeypatch.setattr(spark_job, "_CELLS_SHARE", share)
        session = PretendSession(share, partitions=5)
        folder = tmp_path / str(share)
        folder.mkdir()
        CHECKS[name](SparkEngine(session, task_rows=100), folder)
        assert session.persisted == 0
        assert session.shuffles <= {1, 2}


@pytest.mark.parametrize("share", [1, 1 << 28])
def test_a_table_is_counted_like_its_rows(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_job, "_CELLS_SHARE", share)
    survey, reports = survey_of("codebook"), reports_of("codebook", 2000)
    ids = new_ids(2000, 3)
    rows: Any = [*zip(ids, reports, strict=True), *zip(ids[:300], reports[1000:], strict=False)]
    wanted = expected(survey, rows, 0)
    session = PretendSession(4)
    with SparkEngine(session).count(survey, session.createDataFrame(rows)) as counted:
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate


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
    seen = [(piece.number, i) for task in tasks for piece in task for i in range(piece.part.first, piece.part.last)]
    assert seen == [(0, 0), (0, 1), (0, 2), *((2, i) for i in range(1999))]
    assert {piece.number for task in tasks for piece in task} == {0, 1, 2}
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
    for paths in ("nonsense://lake/reports", ["nonsense://there/reports"]):
        with pytest.raises(ReportError) as found:
            engine.count(survey_of("hadamard"), paths)
        assert "spark.read.parquet" in found.value.__notes__[0]


def test_files_by_address_are_read_by_tasks(tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    rows: Any = list(zip(new_ids(300, 5), reports_of("hadamard", 2000), strict=False))
    for i in range(2):
        write_parquet(tmp_path / f"{i}.parquet", rows[i::2] + rows[:10])
    engine = SparkEngine(PretendSession(2), task_rows=100)
    wanted = expected(survey, [*rows, *rows[:10], *rows[:10]], 2)
    with engine.count(survey, tmp_path.as_uri()) as counted:
        assert (counted.tally, counted.aggregate()) == (wanted.tally, wanted.aggregate)


def test_a_table_that_gives_other_rows_the_second_time_is_refused() -> None:
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows: Any = [*zip(new_ids(300, 6), reports, strict=False), (new_ids(1, 6)[0], reports[0])]
    session = PretendSession(3)
    tables = iter([session.createDataFrame(rows), session.createDataFrame(rows[:-2])])

    class Changing(PretendTable):
        """Computed anew each time it is used, as tables of Spark are."""

        def mapInArrow(self, stage: Any, schema: str) -> PretendTable:  # noqa: N802
            return next(tables).mapInArrow(stage, schema)

        def select(self, *names: str) -> PretendTable:
            return self

    with pytest.raises(ReportError, match=r"other rows when it was read again .* write it to files"):
        SparkEngine(session).count(survey, Changing(session, []))


def test_files_that_only_the_driver_sees_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unseen(*_: object) -> Any:
        raise FileNotFoundError

    write_parquet(tmp_path / "a.parquet", [(b"\1" * 16, reports_of("hadamard", 2000)[0])])
    monkeypatch.setattr(spark_reading, "columns", unseen)
    with pytest.raises(ReportError, match=r"a\.parquet \(the workers do not see it; it must be where they find it"):
        SparkEngine(PretendSession(1)).count(survey_of("hadamard"), tmp_path)


def test_a_read_that_fails_for_once_fails_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not told as a fault of the file: Spark runs the task again, and others may have taken its rows already.
    def broken(*_: object) -> Any:
        raise OSError(5, "Input/output error", "somewhere")

    write_parquet(tmp_path / "a.parquet", [(b"\1" * 16, reports_of("hadamard", 2000)[0])])
    monkeypatch.setattr(spark_reading, "columns", broken)
    for faults in ("refuse", "skip"):
        with pytest.raises(ReportError, match=r"a\.parquet \(a worker cannot read it: Input/output error\)"):
            SparkEngine(PretendSession(1)).count(survey_of("hadamard"), tmp_path, faults=faults)  # type: ignore[arg-type]


def test_counts_that_are_others_when_they_are_computed_again_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_run, "_DRIVER_BYTES", 0)
    survey = survey_of("hadamard")
    rows: Any = list(zip(new_ids(300, 7), reports_of("hadamard", 2000), strict=False))
    session = PretendSession(5)
    more, fewer = (session.createDataFrame(part) for part in (rows, rows[:-1]))
    counted: Any = SparkEngine(session).count(survey, more)
    counted._table = SparkEngine(session).count(survey, fewer)._table  # type: ignore[attr-defined]
    with pytest.raises(ServiceError, match="computing them again gave others"):
        counted.aggregate()


def test_what_is_no_session_is_refused() -> None:
    with refuses(ReportError, "session"):
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
