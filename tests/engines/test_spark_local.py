"""Spark on this machine: sessions, tables that are wrong, masters that do not answer, and the code of the page."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet
from sottovoce import engines
from sottovoce.core.errors import ReportError, ServiceError
from sottovoce.engines.cluster import session as spark_session
from sottovoce.engines.cluster.session import session as make_session

# pyspark leaves the sockets that results came through to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")

TOLD: list[str] = []
"""What was said while the session of these tests was started."""

DOCS = Path(__file__).parents[2] / "docs"
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def blocks(page: str) -> list[str]:
    """The Python of a page."""
    return re.findall(r"^```\{code-block\} python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with make_session(settings=SETTINGS, answer_seconds=300.0, tell=TOLD.append) as begun:
        yield begun


def rows_of(survey: str, seed: int, n: int = 400) -> Rows:
    return list(zip(new_ids(n, seed), reports_of(survey, 2000)[:n], strict=True))


def test_a_master_that_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    for master, what in (
        (f"spark://127.0.0.1:{free}", "Spark master"),
        (f"spark://127.0.0.1:{free},127.0.0.1:{free}", "Spark master"),
        ("spark://nowhere", "Spark master"),
        (f"k8s://https://127.0.0.1:{free}", "Kubernetes API server"),
        (f"sc://127.0.0.1:{free}", "Spark Connect server"),
    ):
        words = rf"{what} at {re.escape(master)} does not answer"
        with pytest.raises(ServiceError, match=words) as told, make_session(master):
            pass
        assert told.value.code == "unreachable"


@pytest.mark.slow
def test_a_master_that_takes_connections_and_says_nothing() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"127.0.0.1:{silent.getsockname()[1]}"
        for master in (f"spark://{place}", f"sc://{place}/;token=secret"):
            with pytest.raises(ServiceError, match="does not answer") as told, make_session(master, answer_seconds=1.0):
                pass
            assert "secret" not in str(told.value)


def test_a_server_that_is_none() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        master = f"sc://127.0.0.1:{silent.getsockname()[1]}/path;token=secret"
        with pytest.raises(ServiceError, match=r"write it like sc://host:15002") as told, make_session(master):
            pass
    assert "secret" not in str(told.value)


def test_no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with (
        pytest.raises(ServiceError, match="java is not on the path: install one, or let JAVA_HOME name it"),
        make_session(),
    ):
        pass


@pytest.mark.slow
def test_a_session_that_suits_counting(spark: Any) -> None:
    assert spark.sparkContext.master == "local[*]"
    assert spark.conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.uiWebUrl is None
    assert "PYSPARK_PYTHON" not in os.environ
    assert [words.partition(";")[0] for words in TOLD[:1]] == ["starting Java and Spark"]
    assert "first job also starts Python" in TOLD[-1]
    with pytest.raises(ServiceError, match=r"has a Spark session already: give that to sottovoce\.engines\.spark"):
        make_session().__enter__()


def test_tables_of_other_columns_are_refused_by_name(spark: Any) -> None:
    engine, survey = engines.spark(spark), survey_of("hadamard")
    for columns, words in (
        ("report_id binary, payload binary", "no column report: .*it has report_id, payload"),
        ("report_id string, report binary", "column report_id of the table is of type string"),
    ):
        with pytest.raises(ReportError, match=words):
            engine.count(survey, spark.createDataFrame([], columns))


def test_a_damaged_file_of_a_table_is_named(spark: Any, tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    harmed = write_parquet(tmp_path / "harmed.parquet", rows_of("hadamard", 21))
    table = spark.read.parquet(str(tmp_path))
    harmed.write_bytes(harmed.read_bytes()[:-30])
    with pytest.raises(ReportError, match=r"harmed\.parquet that the table is read from cannot be read"):
        engines.spark(spark).count(survey, table)


def test_who_looks_at_progress_may_stop_the_job(spark: Any) -> None:
    def stop(done: int, total: int, step: str) -> None:
        raise KeyboardInterrupt

    table = spark.createDataFrame(rows_of("hadamard", 22), "report_id binary, report binary")
    with pytest.raises(KeyboardInterrupt):
        engines.spark(spark).count(survey_of("hadamard"), table, progress=stop)


@pytest.mark.slow
def test_the_code_of_the_pages(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    *counting, warm, stream = blocks("spark.md")
    assert len(counting) == 5
    survey, folder = survey_of("hadamard"), tmp_path / "reports"
    folder.mkdir()
    rows = rows_of("hadamard", 23)
    write_parquet(folder / "a.parquet", rows)
    wanted = expected(survey, rows, 1).aggregate

    @contextmanager
    def same_session(master: str | None = None, **_: object) -> Iterator[Any]:
        yield spark

    monkeypatch.setattr(spark_session, "session", same_session)
    monkeypatch.chdir(tmp_path)
    page: dict[str, Any] = {"survey": survey, "folder": folder, "spark": spark}
    places = {"/shared/reports/*.parquet": f"{folder}/*.parquet", "s3a://lake/reports/": str(folder)}
    for block in counting:
        for stated, real in places.items():
            block = block.replace(stated, real)
        exec(block, page)  # noqa: S102 (the code is the documentation's own)
        assert page.pop("aggregate", wanted) == wanted
    assert engines.local().aggregate(survey, folder) == wanted
    for day in ("monday", "tuesday"):
        (tmp_path / day).mkdir()
        write_parquet(tmp_path / day / "a.parquet", rows)
    exec(warm.replace("/shared", str(tmp_path)), page)  # noqa: S102
    assert page["aggregates"] == dict.fromkeys(("monday", "tuesday"), wanted)
    for place in ("incoming", "state"):
        stream = stream.replace(f"/shared/{place}", str(tmp_path / place))
    (tmp_path / "incoming").mkdir()
    for last in (250, 400):
        write_parquet(tmp_path / "incoming" / f"{last}.parquet", rows[:last])
        exec(stream, page)  # noqa: S102
        assert page["stream"].tally.counted == last
    assert page["aggregate"] == wanted
