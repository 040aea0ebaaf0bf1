"""Batches of a stream, on a session that runs tasks twice and out of order: nothing is lost or counts twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.battery import Row, Rows, bad_rows, expected, new_ids, reports_of, survey_of, write_parquet, write_segment
from engines.pretend_spark import PretendSession
from refusing import refuses
from sottovoce import engines
from sottovoce.core import files
from sottovoce.core.errors import CapacityError, MismatchError, ReportError
from sottovoce.engines.reports.rows import Tally
from sottovoce.engines.streams import batches as stream_batches
from sottovoce.engines.streams.batches import BatchCounter, StreamCounts
from sottovoce.engines.streams.state import Horizon, StateFolder, StreamState

SURVEY = "hadamard"
IDS = new_ids(40, 1)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for the disk: no test here takes the power away."""
    monkeypatch.setattr(files, "sync", lambda path: None)


class Stream:
    """What a stream does, without Spark's part in it: batches come by number, and again after a crash."""

    def __init__(self, path: Path, horizon: str = "100 seconds", survey: str = SURVEY, **options: Any) -> None:
        self.survey, self.folder, self.now = survey_of(survey), StateFolder(path / "state"), 1000
        self.options = {"faults": "refuse", "patience": 1.0, "clock": lambda: self.now, **options}
        self.session, self.incoming, self.n = PretendSession(1), path / "incoming", 0
        self.incoming.mkdir()
        state = StreamState(self.survey.id, str(self.incoming), Horizon.parse(horizon), 4)
        with self.folder.locked():
            self.folder.write(state)

    def put(self, rows: Rows) -> list[str]:
        """A file of these rows, and an empty one."""
        self.n += 1
        nothing = write_segment(self.incoming / f"{self.n:03}.svr", self.survey, [])
        return [str(write_parquet(self.incoming / f"{self.n:03}.parquet", rows)), str(nothing)]

    def count(self, number: int, names: Any, **options: Any) -> Tally:
        """One batch, by a stream that was just started."""
        with self.folder.locked():
            counter = BatchCounter(self.session, self.survey, self.folder, **{**self.options, **options})
            counter.count(number, names, "checkpoint")
        return self.tally

    @property
    def state(self) -> StreamState:
        found = self.folder.read()
        assert found is not None
        return found

    @property
    def tally(self) -> Tally:
        return self.state.tally

    def counted(self) -> StreamCounts:
        return StreamCounts(self.survey, self.folder)


def rows_of(first: int, last: int, survey: str = SURVEY) -> Rows:
    return list(zip(new_ids(2000, 5)[first:last], reports_of(survey, 2000)[first:last], strict=True))


class CrashError(BaseException):
    """The driver, or a worker, dies."""


@contextmanager
def crash_at(step: int, *, done: bool) -> Iterator[None]:
    """Die at this renaming of a file, before or after it is done."""
    real, left = os.replace, step

    def replace(source: Any, target: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0 and not done:
            raise CrashError
        real(source, target)
        if left == 0:
            raise CrashError

    files.os.replace = replace  # type: ignore[attr-defined]
    try:
        yield
    except CrashError:
        pass
    finally:
        files.os.replace = real  # type: ignore[attr-defined]


class Model:
    """Every rule of a stream in plain Python, one row at a time."""

    def __init__(self, horizon: int) -> None:
        self.horizon, self.span = horizon, -(-horizon // 8)
        self.known: dict[bytes, int] = {}
        self.reports: list[bytes] = []
        self.rows = 0

    def batch(self, stamp: int, rows: Rows) -> None:
        # The end of the eighth of the horizon in which an id was counted decides how long it is known.
        self.known = {
            one: at
            for one, at in self.known.items()
            if at // self.span * self.span + self.span - 1 >= stamp - self.horizon
        }
        least: dict[bytes, bytes] = {}
        for report_id, report in rows:
            assert report_id is not None
            assert report is not None
            self.rows += 1
            least[report_id] = min(report, least.get(report_id, report))
        for report_id, report in least.items():
            if report_id not in self.known:
                self.known[report_id] = stamp
                self.reports.append(report)


ROW = st.tuples(st.sampled_from(IDS), st.sampled_from(reports_of(SURVEY, 2000)[:5]))
BATCH = st.tuples(
    st.lists(ROW, max_size=12),
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(1, 12), st.booleans()), max_size=3),
    st.booleans(),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(BATCH, max_size=10), st.sampled_from(["100 seconds", "3 batches"]))
def test_every_report_counts_once_whatever_crashes(
    tmp_path_factory: pytest.TempPathFactory,
    batches: list[tuple[Rows, int, list[tuple[int, bool]], bool]],
    horizon: str,
) -> None:
    stream = Stream(tmp_path_factory.mktemp("stream"), horizon)
    model = Model(Horizon.parse(horizon).length)
    for number, (rows, passed, crashes, again) in enumerate(batches):
        names = stream.put(rows)
        stream.now += passed
        stamp = None
        for step, done in [*crashes, (0, False)]:
            with crash_at(step, done=done):
                stream.count(number, names)
            if stamp is None and (stream.state.begun or stream.state.batches > number):
                stamp = stream.now if "seconds" in horizon else number
            # Once it was begun, what the clock says later does not change what it remembers.
            assert stamp in (None, stream.state.stamp)
            stream.now += 1
        assert stamp is not None
        model.batch(stamp, rows)
        if again:
            stream.count(number, names)
        state = stream.state
        assert (state.batches, state.begun) == (number + 1, False)
        assert sum(sum(run.ids) for run in state.runs) == len(model.known)
        assert {run.name for run in state.runs} == set(os.listdir(stream.folder.path / "ids"))
        assert {span.name for span in state.counts} == set(os.listdir(stream.folder.path / "counts"))
    counted, n = len(model.reports), model.rows
    assert stream.tally == Tally(2 * len(batches), n, counted, n - counted)
    assert stream.counted().aggregate() == stream.survey.aggregate().add(model.reports)


def test_batches_within_the_horizon_come_to_what_the_folder_does(tmp_path: Path) -> None:
    stream, every = Stream(tmp_path, "20 batches"), list[Row]()
    for number in range(20):
        rows = rows_of(20 * number, 20 * number + 50)
        every += rows
        stream.count(number, stream.put(rows))
    wanted = expected(stream.survey, every, 40)
    assert stream.tally == wanted.tally
    with engines.local().count(stream.survey, stream.incoming) as at_once:
        assert stream.counted().aggregate() == at_once.aggregate() == wanted.aggregate
        assert stream.tally == at_once.tally
    assert stream.counted().save(tmp_path / "counted.bin").path.read_bytes() == wanted.file(tmp_path)


@pytest.mark.parametrize("name", ["codebook", "gaussian", "set_selection"])
@pytest.mark.parametrize(("memory", "driver"), [(1 << 28, 0), (1 << 10, 0), (1 << 10, 1 << 26)])
def test_surveys_of_many_cells(
    name: str, memory: int, driver: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_batches, "_DRIVER_BYTES", driver)
    stream = Stream(tmp_path, survey=name, memory=memory)
    for number in range(2):
        stream.count(number, stream.put(rows_of(300 * number, 300 * number + 500, name)))
    wanted = expected(stream.survey, rows_of(0, 800, name), 0).aggregate
    assert stream.counted().aggregate() == wanted
    assert stream.session.persisted == 0


def test_a_table_is_a_batch_too(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    for number, (first, last) in enumerate([(0, 60), (30, 90)]):
        stream.count(number, stream.session.createDataFrame(rows_of(first, last)))  # type: ignore[arg-type]
    assert stream.tally == Tally(0, 120, 90, 30)


def test_files_stay_few_and_ids_are_forgotten(tmp_path: Path) -> None:
    stream, most = Stream(tmp_path, "100 seconds"), 0
    for number in range(120):
        stream.now += 1
        stream.count(number, stream.put(rows_of(number, number + 1)))
        state = stream.state
        most = max(most, len(state.runs))
        assert sum(sum(run.ids) for run in state.runs) <= 100 + 13 + 1
        assert len(state.counts) <= 7 * 3
    # Nine spans that are over or will be, of one run each, and those of a span of 13 batches that is not.
    assert most <= 9 + 8
    assert stream.tally.counted == 120
    assert stream.counted().n_reports == 120


def test_large_runs_are_merged_by_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_batches, "_DRIVER_IDS", 0)
    stream = Stream(tmp_path, "1 day")
    for number in range(8):
        stream.count(number, stream.put(rows_of(10 * number, 10 * number + 10)))
    assert [sum(run.ids) for run in stream.state.runs] == [80]
    stream.count(8, stream.put(rows_of(0, 81)))
    assert (stream.tally.counted, stream.tally.duplicates) == (81, 80)


def test_a_refused_batch_stays_pending_and_is_named(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    stream.count(0, stream.put(rows_of(0, 10)))
    bad = stream.put(bad_rows(stream.survey, reports_of(SURVEY, 2000)) + rows_of(5, 15))
    with pytest.raises(ReportError, match=r"batch 1 was not counted and stays pending: .*of 24 rows, 11 are malformed"):
        stream.count(1, bad)
    stream.now += 50
    assert stream.counted().n_reports == 10
    assert (stream.state.begun, stream.state.stamp) == (True, 1000)
    stream.count(1, bad, faults="skip")
    assert (stream.tally.counted, stream.tally.duplicates, stream.tally.malformed) == (15, 5, 11)


@pytest.mark.parametrize("damage", [lambda file: b"hello", lambda file: file[:100] + bytes(4096) + file[4196:]])
def test_a_file_that_is_not_parquet(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """Found by its footer, or when its pages are read: what was read of it before must not be remembered."""
    stream = Stream(tmp_path)
    names = [*stream.put(rows_of(0, 10)), *stream.put(rows_of(10, 600))]
    whole = Path(names[2]).read_bytes()
    Path(names[2]).write_bytes(damage(whole))
    with pytest.raises(ReportError, match=r"batch 0 .* 1 file cannot be used: .*002\.parquet"):
        stream.count(0, names)
    tally = stream.count(0, names, faults="skip")
    assert (tally.counted, [bad.path for bad in tally.bad_files]) == (10, [names[2]])
    assert stream.count(1, stream.put(rows_of(0, 600))).counted == 600


def _some_ids(stream: Stream) -> Path:
    return next(file for file in stream.folder.run(stream.state.runs[0].name).iterdir() if file.suffix == ".ids")


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize(
    "harm",
    [
        lambda file: _flip(file, 20),
        lambda file: _flip(file, -30),
        lambda file: _flip(file, -2),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(b""),
    ],
)
def test_a_damaged_file_of_ids_is_named(tmp_path: Path, harm: Callable[[Path], object]) -> None:
    stream = Stream(tmp_path)
    stream.count(0, stream.put(rows_of(0, 400)))
    harmed = _some_ids(stream)
    harm(harmed)
    with pytest.raises(ReportError, match=rf"batch 1 .*{harmed.name} of a stream's state .* is damaged"):
        stream.count(1, stream.put(rows_of(0, 400)))
    harmed.unlink()
    with pytest.raises(ReportError, match=rf"{harmed.name} of a stream's state is missing: restore the state folder"):
        stream.count(1, stream.put(rows_of(0, 400)))
    assert stream.tally.counted == 400


def test_workers_that_write_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(tmp_path)
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
    with pytest.raises(ReportError, match=r"the workers do not see .*must be in a folder that the driver"):
        stream.count(0, stream.put(rows_of(0, 40)))
    monkeypatch.undo()
    monkeypatch.setattr(stream_batches, "seen_count", lambda _: 1)
    with pytest.raises(ReportError, match=r"the workers wrote 40 report ids .* and 4 of them are seen here"):
        stream.count(0, stream.put(rows_of(0, 40)))


def test_a_clock_that_goes_backwards(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    stream.count(0, stream.put(rows_of(0, 10)))
    stream.now -= 90
    stream.count(1, stream.put(rows_of(0, 20)))
    assert (stream.tally.counted, stream.state.stamp) == (20, 1000)
    stream.now -= 11
    with pytest.raises(ReportError, match="the clock is 101 seconds behind the last batch"):
        stream.count(2, stream.put(rows_of(0, 30)))
    stream.now += 400
    assert stream.count(2, stream.put(rows_of(0, 30))).counted == 50


def test_batches_that_are_not_those_of_the_checkpoint(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    names = [stream.put(rows_of(10 * i, 10 * i + 10)) for i in range(3)]
    stream.count(0, names[0])
    stream.count(1, names[1])
    for number, batch in ((0, names[0]), (1, names[2]), (3, names[2])):
        with pytest.raises(ReportError, match=f"2 batches were counted, and Spark comes with another batch {number}"):
            stream.count(number, batch)
    with stream.folder.locked(), pytest.raises(ReportError, match="does not belong to the state"):
        BatchCounter(stream.session, stream.survey, stream.folder, **stream.options).count(2, names[2], "another")
    assert stream.count(1, names[1]).counted == 20


def test_more_reports_than_can_be_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(tmp_path)
    stream.count(0, stream.put(rows_of(0, 10)))
    monkeypatch.setattr(type(stream.survey.mechanism), "max_reports", 15)
    with pytest.raises(CapacityError, match="batch 1 was not counted and stays pending: 20 reports could overflow"):
        stream.count(1, stream.put(rows_of(10, 20)))


def follow(path: Path, **given: Any) -> Any:
    """A stream that is not started, of a session that does nothing."""
    wanted: dict[str, Any] = {"state": path / "state", "horizon": "100 seconds", **given}
    reports, survey = wanted.pop("reports", path / "incoming"), wanted.pop("survey", survey_of(SURVEY))
    session = wanted.pop("session", SimpleNamespace(sparkContext=object()))
    return engines.follow(session, survey, reports, **wanted)


@pytest.mark.parametrize(
    ("given", "error", "field"),
    [
        ({"survey": survey_of("wheel")}, MismatchError, "survey"),
        ({"reports": "."}, MismatchError, "reports"),
        ({"horizon": "99 seconds"}, MismatchError, "horizon"),
        ({"horizon": "100 batches"}, MismatchError, "horizon"),
        ({"buckets": 8}, MismatchError, "buckets"),
        ({"buckets": 3}, ReportError, "buckets"),
        ({"horizon": "soon"}, ReportError, "horizon"),
        ({"horizon": "0 days"}, ReportError, "horizon"),
        ({"reports": "s3://bucket/incoming"}, ReportError, "reports"),
        ({"reports": "missing"}, ReportError, "reports"),
        ({"reports": 7}, ReportError, "reports"),
        ({"faults": "ignore"}, ReportError, "faults"),
        ({"files_per_batch": 0}, ReportError, "files_per_batch"),
        ({"session": SimpleNamespace()}, ReportError, "session"),
    ],
)
def test_what_a_stream_refuses(tmp_path: Path, given: dict[str, Any], error: type[Exception], field: str) -> None:
    Stream(tmp_path)
    follow(tmp_path)
    with refuses(error, field):
        follow(tmp_path, **given)


def test_folders_that_are_no_state(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    with refuses(ReportError, "horizon"):
        follow(tmp_path, state=tmp_path / "state2", horizon=None)
    stream.put([])
    with pytest.raises(ReportError, match=r"incoming has no stream\.json and is not empty"):
        follow(tmp_path, state=tmp_path / "incoming")
    document = stream.folder.path / "stream.json"
    _flip(document, 150)
    with pytest.raises(ReportError, match=r"stream\.json is damaged, or was written by another version"):
        follow(tmp_path)


def test_a_longer_horizon(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    assert follow(tmp_path, horizon=None)._agreed(stream.state).horizon.length == 100
    assert follow(tmp_path, horizon="1 hour")._agreed(stream.state).horizon == Horizon(3600, "seconds")


def test_one_stream_at_a_time(tmp_path: Path) -> None:
    stream = Stream(tmp_path)
    with stream.folder.locked(), pytest.raises(ReportError, match=r"another stream is using .*state: stop it"):
        stream.count(0, [])


def test_reading_while_files_are_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(tmp_path)
    for number in range(7):
        stream.count(number, stream.put(rows_of(10 * number, 10 * number + 10)))
    read, states = StateFolder.read, [stream.state]
    stream.count(7, stream.put(rows_of(70, 80)))
    monkeypatch.setattr(StateFolder, "read", lambda folder: states.pop() if states else read(folder))
    assert stream.counted().aggregate().n_reports == 80
    monkeypatch.undo()
    (stream.folder.path / "counts" / "000000000-000000007.bin").unlink()
    with pytest.raises(ReportError, match=r"000000000-000000007\.bin cannot be read"):
        stream.counted()
