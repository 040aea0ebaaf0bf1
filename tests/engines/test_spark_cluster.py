"""A real cluster of a master and two workers: the battery, failures in words, and workers killed in the middle."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engines.battery import CHECKS, SURVEYS, expected, new_ids, reports_of, survey_of
from engines.spark_cluster import Cluster, Daemon, running_cluster
from sottovoce import engines
from sottovoce.core.errors import CapacityError, ReportError, ServiceError, SottovoceError
from sottovoce.engines.cluster.engine import SparkEngine
from sottovoce.engines.cluster.session import session as spark_session

# pyspark leaves the sockets that results came through to the garbage collector.
pytestmark = [pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"), pytest.mark.slow]

PATIENCE = 300.0
ENCODINGS = (
    "hadamard",
    "subset_selection",
    "unary_symmetric",
    "codebook",
    "gaussian",
    "rejection",
    "binary",
    "set_selection",
    "tables",
)
"""A mechanism for each way of encoding; `test_spark_stages` runs the others through the same stages, without Spark."""

OTHERS = set(SURVEYS) - set(ENCODINGS)

JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Code that runs for some seconds is not worth compiling well."""

SETTINGS = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "3",
    "spark.task.maxFailures": "3",
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.cores.max": "2",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executor.extraJavaOptions": JAVA,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_cluster(tmp_path_factory.mktemp("spark")) as started:
        yield started


@pytest.fixture(scope="module")
def session(cluster: Cluster) -> Iterator[Any]:
    with spark_session(cluster.url, settings=SETTINGS, answer_seconds=PATIENCE) as begun:
        yield begun


@pytest.mark.parametrize("name", [name for name in CHECKS if name.removeprefix("mechanism ") not in OTHERS])
def test_battery(name: str, session: Any, tmp_path: Path) -> None:
    CHECKS[name](SparkEngine(session, task_rows=1000), tmp_path)


def test_no_way_of_encoding_is_left_out() -> None:
    kinds = [{type(survey_of(name).mechanism.codec) for name in names} for names in (SURVEYS, ENCODINGS)]
    assert kinds[0] == kinds[1]


def test_a_table_is_counted_like_its_rows(session: Any) -> None:
    survey, reports = survey_of("codebook"), reports_of("codebook", 2000)
    ids = new_ids(2000, 11)
    rows = [*zip(ids, reports, strict=True), *zip(ids[:100], reports[500:], strict=False)]
    wanted = expected(survey, rows, 0)
    assert wanted.tally.duplicates == 100
    table = session.createDataFrame([(i, r, 1) for i, r in rows], "report_id binary, report binary, other int")
    steps: list[tuple[int, int, str]] = []
    with engines.spark(session).count(survey, table, progress=lambda *step: steps.append(step)) as counted:
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate
    assert steps[-1][0] == steps[-1][1] > 0
    assert [step[:2] for step in steps] == sorted(step[:2] for step in steps)
    with pytest.raises(ReportError, match="were closed"):
        counted.aggregate()


def _raises(error: BaseException) -> Any:
    """A stage that raises; made here, so that it travels to workers that do not have this file."""

    def stage(batches: Any) -> Iterator[Any]:
        raise error

    return stage


def _dies() -> Any:
    """A stage whose process is gone."""

    def stage(batches: Any) -> Iterator[Any]:
        os._exit(1)

    return stage


@pytest.mark.parametrize(
    ("trouble", "kind", "words"),
    [
        (
            _raises(ModuleNotFoundError("No module named 'sottovoce'")),
            ServiceError,
            "workers have no sottovoce: install",
        ),
        (_raises(MemoryError()), CapacityError, r"ran out of memory.*spark\.executor\.memory"),
        (_dies(), ServiceError, "lost workers until it gave up"),
        (_raises(LookupError("a row's secret")), ServiceError, r"could not run the job \(.*\), and nothing was"),
    ],
    ids=["no package", "no memory", "no process", "anything"],
)
def test_failures_are_told_in_words(session: Any, trouble: Any, kind: type[SottovoceError], words: str) -> None:
    table = session.range(0, 1, 1, 1).mapInArrow(trouble, "report_id binary, report binary")
    with pytest.raises(kind, match=words) as told:
        engines.spark(session).count(survey_of("codebook"), table)
    assert "secret" not in str(told.value)
    assert "Traceback" not in str(told.value)
    assert told.value.__cause__ is None


def _rows_one_by_one(folder: str, parts: list[list[tuple[bytes, bytes]]]) -> Any:
    """A stage whose first two tasks end at once, and whose others wait until two workers have been killed."""

    def stage(batches: Any) -> Iterator[Any]:
        place = Path(folder)
        for batch in batches:
            for part in batch.column(0).to_pylist():
                (place / f"begun-{part}-{os.getsid(0)}").touch()
                while part > 1 and not (place / "killed").exists():
                    time.sleep(0.02)
                ids, reports = zip(*parts[part], strict=True)
                yield pa.RecordBatch.from_arrays(
                    [pa.array(ids, type=pa.binary()), pa.array(reports, type=pa.binary())],
                    names=["report_id", "report"],
                )
                (place / f"done-{part}-{os.getsid(0)}").touch()

    return stage


def _marks(folder: Path, what: str) -> list[tuple[int, int]]:
    """Parts that are begun or done, and the worker, by its process, that did it."""
    return [(int(part), int(home)) for _, part, home in (mark.name.split("-") for mark in folder.glob(f"{what}-*"))]


def test_a_worker_is_lost_twice(session: Any, cluster: Cluster, tmp_path: Path) -> None:
    """One is killed when it has done something, and the one that takes its place when it has begun something."""
    survey, reports = survey_of("hadamard"), reports_of("hadamard", 2000)
    rows = [*zip(new_ids(2000, 12), reports, strict=True)]
    rows += rows[:200]
    parts = [rows[i::8] for i in range(8)]
    table = session.range(0, 8, 1, 8).mapInArrow(
        _rows_one_by_one(str(tmp_path), parts), "report_id binary, report binary"
    )
    lost: list[int] = []

    def kill(candidates: list[Daemon], what: str) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            homes = {home for _, home in _marks(tmp_path, what)}
            for worker in candidates:
                if worker.process.pid in homes:
                    worker.kill()
                    lost.append(worker.process.pid)
                    return
            time.sleep(0.02)

    def kill_twice() -> None:
        try:
            kill(list(cluster.workers), "done")
            kill([cluster.add_worker()], "begun")
        finally:
            (tmp_path / "killed").touch()

    killer = threading.Thread(target=kill_twice)
    killer.start()
    try:
        with engines.spark(session).count(survey, table) as counted:
            wanted = expected(survey, rows, 0)
            assert counted.tally == wanted.tally
            assert counted.aggregate() == wanted.aggregate
    finally:
        killer.join()
    assert len(lost) == 2
    # What was done by those that are lost was done again by the one that is left.
    done = _marks(tmp_path, "done")
    again = {part for part, home in done if home in lost}
    assert again
    assert again <= {part for part, home in done if home not in lost}


def test_without_any_worker_left_the_job_ends(session: Any, cluster: Cluster, tmp_path: Path) -> None:
    for worker in cluster.workers:
        worker.kill()
    table = session.createDataFrame([(b"", b"")], "report_id binary, report binary")
    with pytest.raises(ServiceError, match="no worker for 1 seconds, and nothing was counted: start workers") as told:
        SparkEngine(session, patience=1.0).count(survey_of("hadamard"), table)
    assert told.value.code == "no_workers"
