"""A real Spark Connect server whose workers have no sottovoce: what is said, how to ship it, and then the battery."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import sottovoce
from engines.battery import CHECKS, new_ids, reports_of, survey_of
from engines.spark_cluster import ConnectServer
from sottovoce import engines
from sottovoce.core.errors import ServiceError
from sottovoce.engines.cluster.engine import SparkEngine
from sottovoce.engines.cluster.session import session as make_session

pytestmark = [
    pytest.mark.slow,
    # pyspark leaves its channels to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

SOME = ("mechanism hadamard", "one id", "refusals")
PATIENCE = 300.0


class Connected(NamedTuple):
    server: ConnectServer
    session: Any
    without: ServiceError
    """What counting said before the package was shipped."""
    told: list[str]


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    folder = tmp_path_factory.mktemp("connect")
    server, told = ConnectServer(folder / "spark"), list[str]()
    package = Path(sottovoce.__file__).parent
    try:
        with make_session(server.url, answer_seconds=PATIENCE, tell=told.append) as session:
            with pytest.raises(ServiceError) as without:
                engines.spark(session).count(survey_of("hadamard"), table_of(session))
            packed = shutil.make_archive(str(folder / "sottovoce"), "zip", package.parent, package.name)
            session.addArtifacts(packed, pyfile=True)
            yield Connected(server, session, without.value, told)
    finally:
        server.daemon.kill()


def table_of(session: Any) -> Any:
    rows = list(zip(new_ids(300, 31), reports_of("hadamard", 2000)[:300], strict=True))
    return session.createDataFrame(rows, "report_id binary, report binary")


def test_workers_without_the_package_are_told_how_to_get_it(connected: Connected) -> None:
    assert connected.without.code == "not_installed"
    assert "have no sottovoce: install it" in str(connected.without)
    assert "session.addArtifacts" in str(connected.without)


def test_what_is_waited_for_is_told(connected: Connected) -> None:
    first, last = connected.told
    assert first.startswith(f"connecting to {connected.server.url}; this ")
    assert "first job also starts Python on every worker" in last


@pytest.mark.parametrize("name", SOME)
def test_battery(name: str, connected: Connected, tmp_path: Path) -> None:
    CHECKS[name](SparkEngine(connected.session, task_rows=1000), tmp_path)


def test_who_looks_at_progress_may_stop_the_job_and_begin_again(connected: Connected) -> None:
    def stop(done: int, total: int, step: str) -> None:
        raise KeyboardInterrupt

    engine, table = engines.spark(connected.session), table_of(connected.session)
    with pytest.raises(KeyboardInterrupt):
        engine.count(survey_of("hadamard"), table, progress=stop)
    steps: list[tuple[int, int, str]] = []
    again = engine.aggregate(survey_of("hadamard"), table, progress=lambda *step: steps.append(step))
    assert again.n_reports == 300
    assert steps[-1][0] == steps[-1][1] > 0
    assert all(name for _, _, name in steps)


def test_a_server_that_is_gone(connected: Connected) -> None:
    """Last of all, for it ends the server."""
    table = table_of(connected.session)
    assert table.columns == ["report_id", "report"]
    connected.server.daemon.kill()
    connected.session.client.set_retry_policies([])
    with pytest.raises(ServiceError, match="connection is gone, and nothing was counted") as told:
        engines.spark(connected.session).count(survey_of("hadamard"), table)
    assert told.value.code == "driver_gone"
