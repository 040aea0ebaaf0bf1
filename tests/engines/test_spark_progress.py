"""What is told while Spark starts and runs, without Spark: stages added up, steps by name, and lines for logs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refusing import refuses
from sottovoce.core.errors import ServiceError
from sottovoce.core.progress import StepLines
from sottovoce.engines.cluster.masters import check_master, kind_of, remember, usually
from sottovoce.engines.cluster.watched import StageWork, Work, watched, work_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("jobs", "work"),
    [
        ([], Work(0, 0, 0)),
        ([[(3, 0)]], Work(0, 3, 0)),
        (
            [[(3, 3)], [(3, 0), (2, 0)]],
            Work(3, 5, 1),
        ),  # the second job has skipped its first stage
        ([[(3, 3)], [(3, 0), (2, 1)]], Work(4, 5, 1)),
        ([[(3, 3)], [(3, 0), (2, 2)]], Work(5, 5, 2)),
        (
            [[(3, 1), (2, 0), (1, 0)]],
            Work(1, 6, 0),
        ),  # one job of all stages, nothing skipped
        ([[(3, 3), (2, 2), (1, 0)]], Work(5, 6, 2)),
        ([[(3, 4)]], Work(3, 3, 1)),  # a task that ran twice
    ],
)
def test_stages_that_spark_skips_are_no_work(jobs: list[list[tuple[int, int]]], work: Work) -> None:
    assert work_of([StageWork(*stage) for stage in job] for job in jobs) == work


class ConnectSession:
    """As much of a session over Spark Connect as watching needs; its operation takes a turn whenever it is let."""

    def __init__(self) -> None:
        self.handlers: list[Callable[..., None]] = []
        self.tags = threading.local()
        self.interrupted: list[str] = []

    def registerProgressHandler(self, handler: Any) -> None:  # noqa: N802 (Spark's name)
        self.handlers.append(handler)

    def removeProgressHandler(self, handler: Any) -> None:  # noqa: N802
        self.handlers.remove(handler)

    def getTags(self) -> set[str]:  # noqa: N802
        return set(getattr(self.tags, "held", ()))

    def addTag(self, tag: str) -> None:  # noqa: N802
        self.tags.held = {*self.getTags(), tag}

    def interruptTag(self, tag: str) -> None:  # noqa: N802
        self.interrupted.append(tag)

    def send(self, *stages: tuple[int, int, int]) -> None:
        told = [SimpleNamespace(stage_id=i, num_tasks=n, num_completed_tasks=done) for i, n, done in stages]
        for handler in self.handlers:
            handler(stages=told, inflight_tasks=0, operation_id="1", done=False)


def test_steps_over_spark_connect_have_their_names() -> None:
    session, told, seen = ConnectSession(), list[Any](), threading.Event()
    session.addTag("the caller's")
    updates = [
        [(7, 3, 1)],
        [(7, 3, 3)],
        [(7, 3, 3), (8, 3, 0), (9, 2, 0)],
        [(7, 3, 3), (8, 3, 0), (9, 2, 1)],
    ]

    def progress(*step: Any) -> None:
        told.append(step)
        seen.set()

    def action() -> set[str]:
        elsewhere = threading.Thread(target=lambda: session.send((1, 1000, 1000)))  # another operation of the session
        elsewhere.start()
        elsewhere.join()
        for stages in updates:
            seen.clear()
            session.send(*stages)
            assert seen.wait(60)
        return session.getTags()

    tags = watched(session, action, progress, steps=("reading", "looking"))
    assert told[-5:] == [
        (1, 3, "reading"),
        (3, 3, "looking"),
        (3, 5, "looking"),
        (4, 5, "looking"),
        (5, 5, "looking"),
    ]
    assert "the caller's" in tags
    assert len(tags) == 2
    assert (session.handlers, session.interrupted) == ([], [])


def test_who_stops_a_job_over_spark_connect_interrupts_its_tag() -> None:
    session, stopped = ConnectSession(), threading.Event()
    found: list[set[str]] = []

    def action() -> None:
        found.append(session.getTags())
        stopped.wait(60)

    def stop(*step: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        watched(session, action, stop)
    stopped.set()
    assert [set(session.interrupted)] == found
    assert session.handlers == []


def test_a_start_says_how_long_the_last_one_took(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert usually("local") == "this usually takes 5 to 15 seconds"
    remember("local", 7.2)
    remember("yarn", 31.0)
    assert (usually("local"), usually("yarn")) == ("this took 7 s last time", "this took 31 s last time")
    for content in ("{", "[]", '{"local": "soon"}', '{"local": -1}'):
        (tmp_path / "sottovoce" / "spark_starts.json").write_text(content)
        assert "usually" in usually("local")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "sottovoce" / "spark_starts.json"))
    remember("local", 7.2)
    assert "usually" in usually("local")


def test_lines_for_a_log_name_every_step_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = StepLines(quiet_seconds=0.0)
    lines._timer.join()
    lines.say("starting")
    for done in range(5):
        lines.progress(done, 5_000, "reading")
    lines.progress(5, 6_000, "merging")
    lines.close()
    assert capsys.readouterr().err.splitlines() == ["starting", "reading: 0 of 5,000", "merging: 5 of 6,000"]


def test_a_run_that_is_over_at_once_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    lines = StepLines(quiet_seconds=3600.0)
    lines.say("starting")
    lines.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("master", ["", "http://127.0.0.1", "spark://", "localhost", "yarn-client", "sc://"])
def test_masters_that_are_none_are_refused(master: str) -> None:
    with refuses(ServiceError, "master") as told:
        kind_of(master)
    assert told.value.code == "bad_master"


def test_yarn_needs_its_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("YARN_CONF_DIR", raising=False)
    for folder in ("", str(tmp_path)):
        monkeypatch.setenv("HADOOP_CONF_DIR", folder)
        with refuses(ServiceError, "master"):
            check_master("yarn")
    (tmp_path / "yarn-site.xml").write_text("<configuration/>")
    check_master("yarn")
