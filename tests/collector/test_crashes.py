"""The service killed, starved and cut off under load: no acknowledged report is lost, and none is counted twice.

Each test sends batches from several threads, resends what was not acknowledged, and at the end compares the ids that
were acknowledged with those in the exported segments.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

import sottovoce as sv
from collector.disks import fill, small_disk
from collector.service import Load, Service, assert_exactly_once, children, running, until
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

SURVEY = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
REPORT = SURVEY.randomize("tea")
REPORT_BYTES = SURVEY.mechanism.report_bytes

FLAGS = ("--lease-seconds", "0.5", "--log-level", "warning")


def settled(service: Service, load: Load) -> None:
    """Everything is counted, exactly once, and the counts that estimates are made of say so too."""
    load.rest()
    counted = service.counted(SURVEY, REPORT_BYTES)
    assert_exactly_once(load, counted)
    assert service.status(SURVEY)["n_reports"] == len(counted)
    assert service.ask("GET", f"/v1/surveys/{SURVEY.id}/estimate").json["n_reports"] == len(counted)
    log = service.log.read_text()
    assert "Traceback" not in log


def planted(acknowledged: int = 3, sent: int = 4) -> Load:
    load = Load(SURVEY, REPORT)
    load.sent = {bytes([i]) * 16 for i in range(sent)}
    load.acknowledged = {bytes([i]) * 16 for i in range(acknowledged)}
    return load


def test_the_comparison_notices_a_lost_a_doubled_and_an_invented_report():
    ids = [bytes([i]) * 16 for i in range(6)]
    assert_exactly_once(planted(), Counter(ids[:3]))
    assert_exactly_once(planted(), Counter(ids[:4]))  # an acknowledgement that was lost on its way is no fault
    for wrong in (ids[:2], [*ids[:3], ids[0]], [*ids[:3], ids[5]]):
        with pytest.raises(AssertionError):
            assert_exactly_once(planted(), Counter(wrong))


def test_kill_nine_under_load(place):
    rng = np.random.default_rng(20)
    kills, token = 4 if place.database else 8, ""
    with Load(SURVEY, REPORT) as load:
        for kill in range(kills):
            service = Service(place.data, *FLAGS, database=place.database, token=token)
            token = service.token
            try:
                if kill == 0:
                    service.publish(SURVEY)
                load.service = service
                load.acknowledges(int(rng.integers(20, 800)))
            finally:
                service.kill()
        with running(place.data, *FLAGS, database=place.database, token=token) as service:
            settled(service, load)
    assert load.statuses[0] > 0  # some requests were cut off without an answer


def test_counting_processes_killed_again_and_again(place):
    with (
        running(place.data, *FLAGS, "--workers", "2", database=place.database) as service,
        Load(SURVEY, REPORT, threads=2) as load,
    ):
        service.publish(SURVEY)
        load.service = service
        for _ in range(3):
            counted = service.status(SURVEY)["n_reports"]
            until(lambda counted=counted: service.status(SURVEY)["n_reports"] > counted, "some more are counted")
            for pid in until(service.workers, "a counting process runs"):
                os.kill(pid, signal.SIGKILL)
        settled(service, load)
        # Where one of two was killed, the other may have counted everything before the supervisor told of it.
        until(lambda: service.log.read_text().count("killed by SIGKILL") >= 3, "every kill is in the log")
    assert set(load.statuses) == {200}  # devices notice nothing


def test_a_stop_under_load(place):
    with Load(SURVEY, REPORT, threads=8) as load:
        with running(place.data, *FLAGS, database=place.database) as service:
            service.publish(SURVEY)
            load.service = service
            load.acknowledges(1000)
            assert service.stop() == 0
            load.service = None
        with running(place.data, *FLAGS, database=place.database, token=service.token) as again:
            settled(again, load)


@pytest.mark.parametrize("kind", ["disk", "quota"])
def test_no_room_and_room_again(kind, tmp_path):
    with small_disk(tmp_path / "small", 24) if kind == "disk" else contextlib.nullcontext() as small:
        data = (small or tmp_path) / "data"
        tight = () if small else ("--max-database-bytes", str(2**20))
        with Load(SURVEY, REPORT, batch=100) as load:
            with running(data, *FLAGS, *tight) as service:
                service.publish(SURVEY)
                load.service = service
                load.acknowledges(1000)
                filled = fill(small) if small else None
                assert int(load.answers(507).headers["Retry-After"]) > 0
                until(lambda: service.ask("GET", "/readyz").status == 503, "the service says that it is not ready")
                assert service.ask("GET", "/healthz").status == 200
                if filled:
                    filled.unlink()
                    load.acknowledges(1000)
                    until(lambda: service.ask("GET", "/readyz").status == 200, "the service is ready again")
                    settled(service, load)
            if not filled:
                with running(data, *FLAGS, token=service.token) as roomy:
                    load.service = roomy
                    load.acknowledges(1000)
                    settled(roomy, load)


def test_postgresql_gone_then_hanging_then_back(tmp_path, own_postgresql):
    with running(tmp_path / "data", *FLAGS, database=own_postgresql.url) as service:
        with Load(SURVEY, REPORT) as load:
            service.publish(SURVEY)
            load.service = service
            load.acknowledges(500)
            own_postgresql.stop()
            assert int(load.answers(503).headers["Retry-After"]) > 0
            assert service.ask("GET", "/readyz").status == 503
            assert service.ask("GET", "/healthz").status == 200
            own_postgresql.start()
            load.acknowledges(500)
            hanging = server_processes(own_postgresql.url)
            for pid in hanging:
                os.kill(pid, signal.SIGSTOP)
            try:
                before = len(load.acknowledged)
                assert service.ask("GET", "/healthz").status == 200
                told = load.answers(503)
                assert told.json["error"]["code"] == "store_unavailable"
                assert int(told.headers["Retry-After"]) >= 1
            finally:
                for pid in hanging:
                    os.kill(pid, signal.SIGCONT)
            until(lambda: len(load.acknowledged) > before, "reports are acknowledged again")
            load.acknowledges(500)
            settled(service, load)
        assert service.stop() == 0


def server_processes(url: str) -> list[int]:
    """A PostgreSQL server's own, by the folder its socket is in."""
    (folder,) = parse_qs(urlsplit(url).query)["host"]
    first = int((Path(folder) / "postmaster.pid").read_text().split()[0])
    return [first, *children(first)]


def test_two_services_on_one_postgresql_with_the_same_reports(tmp_path, new_postgresql):
    database = new_postgresql()
    flags = (*FLAGS, "--workers", "1")
    with running(tmp_path / "one", *flags, database=database) as one:
        (tmp_path / "two").mkdir(mode=0o700)
        (tmp_path / "two" / "signing.key").write_bytes((tmp_path / "one" / "signing.key").read_bytes())
        with running(tmp_path / "two", *flags, database=database, token=one.token) as two:
            one.publish(SURVEY)
            assert two.fingerprint == one.fingerprint
            with Load(SURVEY, REPORT) as load:
                load.service = one
                load.acknowledges(500)
                for _ in range(20):
                    batch = [(report_id, REPORT) for report_id in list(load.acknowledged)[-50:]]
                    assert two.send(SURVEY, batch).status == 200
                load.service = two
                load.acknowledges(500)
                one.kill()
                load.acknowledges(500)
                settled(two, load)
