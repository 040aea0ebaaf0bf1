"""A stream on a real Spark: files come, drivers are killed, batches come again, and every report counts once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet, write_segment
from engines.stream_driver import SETTINGS
from sottovoce import engines
from sottovoce.core.errors import ReportError
from sottovoce.engines.cluster.session import session as make_session

# pyspark leaves the sockets that results came through to the garbage collector.
pytestmark = [pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"), pytest.mark.slow]

SURVEY = survey_of("hadamard")
ROWS: Rows = list(zip(new_ids(2000, 31), reports_of("hadamard", 2000), strict=True))
DRIVER = Path(__file__).with_name("stream_driver.py")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with make_session("local[2]", settings=SETTINGS, answer_seconds=300.0) as begun:
        yield begun


def killed(folder: Path, place: str) -> None:
    """A driver of its own counts what has come, and dies there."""
    statement = folder / "survey.json"
    statement.write_text(SURVEY.to_json())
    arguments = [str(statement), str(folder / "incoming"), str(folder / "state"), place]
    # Not through pipes: Spark's own processes hold them for a minute after the driver is gone.
    with (folder / "told").open("wb") as told:
        command = [sys.executable, str(DRIVER), *arguments]
        done = subprocess.run(command, stdout=told, stderr=told, timeout=300, check=False)
    assert done.returncode == -signal.SIGKILL, (folder / "told").read_text()[-2000:]


def test_drivers_that_are_killed(spark: Any, tmp_path: Path) -> None:
    """Of one batch: before it is counted, with its ids written, and when it counts already."""
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    stream = engines.follow(spark, SURVEY, incoming, state=tmp_path / "state", horizon="7 days")
    write_parquet(incoming / "0 %41.parquet", ROWS[:300] + ROWS[:20])
    assert stream.run_once().counted == 300
    write_parquet(incoming / "1.parquet", ROWS[200:500])
    for place in ("before it is counted", "after its ids are written"):
        killed(tmp_path, place)
        assert stream.tally.counted == 300
        assert stream.aggregate() == expected(SURVEY, ROWS[:300], 1).aggregate
    # What comes meanwhile belongs to the next batch.
    write_segment(incoming / "2.svr", SURVEY, ROWS[450:700])
    killed(tmp_path, "before Spark takes note")
    assert stream.tally.counted == 500
    stream.run_once()
    wanted = expected(SURVEY, ROWS[:300] + ROWS[:20] + ROWS[200:500] + ROWS[450:700], 3)
    assert stream.tally == wanted.tally
    assert stream.aggregate() == wanted.aggregate
    assert stream.run_once() == wanted.tally
    # The folder has what counts, and no more.
    assert len(os.listdir(tmp_path / "state" / "ids")) == len(os.listdir(tmp_path / "state" / "counts")) == 3


def test_a_stream_that_runs(spark: Any, tmp_path: Path) -> None:
    """One refuses, another skips what the first refused and goes on, and a third is not let in meanwhile."""
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    (incoming / "bad.parquet").write_text("hello")
    (incoming / "notes.txt").write_text("hello")
    place: dict[str, Any] = {"state": tmp_path / "state", "horizon": "9 batches"}
    refusing = engines.follow(spark, SURVEY, incoming, **place)
    with pytest.raises(ReportError, match=r"batch 0 was not counted and stays pending: .*bad\.parquet"):
        refusing.run_once()
    told: list[object] = []
    stream = engines.follow(spark, SURVEY, incoming, faults="skip", **place)
    with stream.start("1 second", progress=lambda *done: told.append(done)):
        write_parquet(incoming / "good.parquet", ROWS[:100])
        while stream.tally.counted < 100:
            assert not stream.wait(0.5)
        with pytest.raises(ReportError, match="runs already"):
            stream.run_once()
        with pytest.raises(ReportError, match="another stream is using"):
            refusing.run_once()
    assert stream.wait()
    assert told
    assert [bad.path for bad in stream.tally.bad_files] == [str(incoming / "bad.parquet")]
    assert refusing.run_once() == stream.tally


def test_a_streaming_table(spark: Any, tmp_path: Path) -> None:
    incoming = tmp_path / "incoming"
    incoming.mkdir()
    table = spark.readStream.schema("report_id binary, report binary").parquet(str(incoming))
    stream = engines.follow(spark, SURVEY, table, state=tmp_path / "state", horizon="7 days")
    for i in range(2):
        write_parquet(incoming / f"{i}.parquet", ROWS[100 * i : 100 * i + 150])
        stream.run_once()
    assert (stream.tally.rows, stream.tally.counted, stream.tally.duplicates) == (300, 250, 50)
    with pytest.raises(ReportError, match="the table is not a streaming one"):
        engines.follow(spark, SURVEY, spark.read.parquet(str(incoming)), state=tmp_path / "state")


def test_a_checkpoint_that_is_gone(spark: Any, tmp_path: Path) -> None:
    """Spark would begin with batch 0 again, which the state takes for counted."""
    incoming, state = tmp_path / "incoming", tmp_path / "state"
    incoming.mkdir()
    write_parquet(incoming / "0.parquet", ROWS[:100])
    stream = engines.follow(spark, SURVEY, incoming, state=state, horizon="7 days")
    stream.run_once()
    (state / "checkpoint").rename(tmp_path / "elsewhere")
    with pytest.raises(ReportError, match=r"the checkpoint in .*state is missing, damaged or of another stream"):
        stream.run_once()
    (tmp_path / "elsewhere").rename(state / "checkpoint")
    assert stream.run_once().counted == 100
