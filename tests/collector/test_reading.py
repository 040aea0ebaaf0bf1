"""Analysts are answered in a process of their own: whole bodies come through it, and devices never wait for it."""

import contextlib
import http.client
import os
import secrets
import signal
from collections.abc import Iterator

import pytest

import sottovoce as sv
from collector.client import DRINKS, honest
from collector.service import Service, until
from sottovoce.surveys.survey import Survey

WIDE = Survey(sv.shares(range(60_000)), epsilon=1.0)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    service = Service(tmp_path_factory.mktemp("reading") / "data")
    service.publish(WIDE)
    reports = [(secrets.token_bytes(16), WIDE.randomize(value)) for value in range(20)]
    assert service.send(WIDE, reports).status == 200
    until(lambda: service.status(WIDE)["n_reports"] == 20, "they are counted")
    yield service
    service.stop()


def test_long_bodies_come_whole(service: Service) -> None:
    place = f"/v1/surveys/{WIDE.id}"
    whole = service.ask("GET", f"{place}/estimate")
    assert int(whole.headers["content-length"]) == len(whole.body) > 2**21
    assert len(whole.json["answers"]) == 60_000
    assert service.ask("GET", f"{place}/table.json").json["answers"] == whole.json["answers"]
    known = {"If-None-Match": whole.headers["etag"]}
    assert service.ask("GET", f"{place}/estimate", headers=known).status == 304


def test_whoever_leaves_in_the_middle_harms_nobody(service: Service) -> None:
    host = service.url.removeprefix("http://")
    for _ in range(20):
        connection = http.client.HTTPConnection(host)
        headers = {"Authorization": f"Bearer {service.token}"}
        connection.request("GET", f"/v1/surveys/{WIDE.id}/estimate", headers=headers)
        connection.getresponse().read(1000)
        connection.close()
    assert service.ask("GET", f"/v1/surveys/{WIDE.id}/estimate?page_size=1").status == 200
    (reader,) = service.readers()
    until(lambda: sockets_of(reader) < 10, "the sockets of those who left are closed")


def sockets_of(process: int) -> int:
    found = 0
    for name in os.listdir(f"/proc/{process}/fd"):
        with contextlib.suppress(FileNotFoundError):  # it was closed meanwhile
            found += os.readlink(f"/proc/{process}/fd/{name}").startswith("socket:")
    return found


def test_devices_are_served_while_it_stands_still(service: Service) -> None:
    service.publish(DRINKS)
    (reader,) = service.readers()
    os.kill(reader, signal.SIGSTOP)
    try:
        assert service.send(DRINKS, honest(DRINKS, "tea", 5)).status == 200
        assert service.ask("GET", f"/v1/surveys/{DRINKS.id}").status == 200
        assert service.ask("GET", "/readyz").status == 200
    finally:
        os.kill(reader, signal.SIGCONT)
    until(lambda: service.status(DRINKS)["n_reports"] == 5, "they are counted")


def test_the_next_one_answers_when_it_is_killed(service: Service) -> None:
    (reader,) = service.readers()
    os.kill(reader, signal.SIGKILL)
    assert service.send(WIDE, [(secrets.token_bytes(16), WIDE.randomize(1))]).status == 200
    answers = [service.ask("GET", f"/v1/surveys/{WIDE.id}/status").status]
    until(lambda: service.readers() not in ([], [reader]), "another starts")
    answers.append(service.ask("GET", f"/v1/surveys/{WIDE.id}/status").status)
    assert answers in ([200, 200], [503, 200])


def test_the_list_shows_a_change_at_once(service: Service) -> None:
    """It may be a second old where another service made the change, but not where this one did."""
    titles = [f"survey {number}" for number in range(3)]
    for title in titles:
        service.publish(Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title=title))
        listed = service.ask("GET", "/v1/surveys").json
        assert [entry["title"] for entry in listed["surveys"]][-1] == title
    beyond = service.ask("GET", "/v1/surveys?page=2")
    assert (beyond.status, beyond.json["error"]["field"]) == (404, "page")
    assert service.ask("GET", "/v1/surveys?page=0").status == 400
