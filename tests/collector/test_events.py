"""Server-sent events: what is told and when, to how many, and every way in which a stream ends."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, assert_headers, honest, running
from collector.readers import QUICK, at_pace, over, soon
from collector.service import PATIENCE, Service, until
from collector.service import running as serving
from sottovoce.collector.api.admission import COOKIE
from sottovoce.collector.reading import streams
from sottovoce.collector.reading.streams import MOST_STREAMS, Feeds, Stream
from sottovoce.core.errors import StoreUnavailableError


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        yield api


def play(test: Callable[[], Awaitable[None]]) -> None:
    asyncio.run(test())  # type: ignore[arg-type]


# --- what is told -------------------------------------------------------------------------------


def test_at_once_and_whenever_it_changes(api: Api) -> None:
    place = at_pace(api)

    def status() -> Any:
        return api.ask("GET", f"/v1/surveys/{DRINKS.id}/status").json()

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: reader.events)
        assert reader.text.startswith(b"retry: 2000\n\n")
        assert_headers(reader.headers)
        assert reader.headers["content-type"] == "text/event-stream; charset=utf-8"
        assert reader.headers["cache-control"] == "no-store"
        told = [status()]
        for change in (
            lambda: api.send(DRINKS, honest(DRINKS, "tea", 3)),
            api.count,
            lambda: api.ask("POST", f"/v1/surveys/{DRINKS.id}/seal"),
        ):
            change()
            told.append(status())
            await soon(lambda: len(reader.events) >= len(told))
        # Many looks later nothing has been repeated.
        looked = place.looks[DRINKS.id]
        await soon(lambda: place.looks[DRINKS.id] > looked + 5)
        assert reader.events == [("status", one) for one in told]
        assert [(one["n_reports"], one["waiting"], one["state"]) for one in told] == [
            (0, 0, "open"),
            (0, 3, "open"),
            (3, 0, "open"),
            (3, 0, "sealed"),
        ]
        reader.left.set()
        await over(stream)

    play(test)


def test_an_adaptive_survey_with_its_rounds(api: Api) -> None:
    place = at_pace(api)
    api.publish(AGES)
    asked = sv.adaptive.round_of(AGES, 1, "age < 30")

    async def test() -> None:
        reader, stream = await place.follow(AGES.id)
        await soon(lambda: reader.events)
        assert reader.events[0][1]["rounds_info"] == []
        api.open_round(asked)
        await soon(lambda: len(reader.events) == 2)
        api.send(asked, honest(asked, {"age": 3, "smokes": "no"}, 4))
        await soon(lambda: len(reader.events) == 3)
        name, told = reader.events[-1]
        info = told.pop("rounds_info")
        assert (name, told) == ("status", api.ask("GET", f"/v1/surveys/{AGES.id}/status").json())
        assert info == api.ask("GET", f"/v1/surveys/{AGES.id}/rounds").json()["rounds"]
        assert (info[0]["query"], info[0]["waiting"]) == ("age < 30", 4)
        reader.left.set()
        await over(stream)

    play(test)


def test_long_labels_are_left_to_the_list_of_rounds(api: Api) -> None:
    place = at_pace(api)
    api.publish(AGES)
    for number, width in ((1, 40), (2, 41)):
        asked = sv.adaptive.round_of(AGES, number, "age", 100)
        assert api.open_round(asked, [f"{age:0{width}d}" for age in range(100)]).status_code == 201
        api.ask("POST", f"/v1/surveys/{asked.id}/seal")

    async def test() -> None:
        reader, stream = await place.follow(AGES.id)
        await soon(lambda: reader.events)
        whole = api.ask("GET", f"/v1/surveys/{AGES.id}/rounds").json()["rounds"]
        assert [len(one["labels"]) for one in whole] == [100, 100]
        assert reader.events[0][1]["rounds_info"] == [whole[0], whole[1] | {"labels": []}]
        reader.left.set()
        await over(stream)

    play(test)


def test_a_heartbeat_when_there_is_nothing_to_tell(api: Api) -> None:
    place = at_pace(api, replace(QUICK, heartbeat=0.05))

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: reader.text.count(b"\n\n: still here\n\n") >= 3)
        assert len(reader.events) == 1
        reader.left.set()
        await over(stream)

    play(test)


def test_it_ends_by_itself_after_a_while(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    place, later = at_pace(api), 0.0
    monkeypatch.setattr(streams, "monotonic", lambda: time.monotonic() + later)

    async def test() -> None:
        nonlocal later
        reader, stream = await place.follow()
        await soon(lambda: reader.events)
        assert not stream.done()
        later = QUICK.longest
        await over(stream)
        assert reader.ended
        assert [name for name, _ in reader.events] == ["status"]
        assert (len(place.streams), len(place.streams.feeds)) == (0, 0)

    play(test)


# --- who may follow -----------------------------------------------------------------------------


def test_who_may_follow(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        cookie = f"{COOKIE}={api.token('read')}"
        for given in (
            {"Authorization": f"Bearer {api.token('read')}"},
            {"Authorization": f"Bearer {api.token('publish')}"},
            {"Cookie": cookie},
            {"Cookie": cookie, "Sec_Fetch_Site": "same-origin"},
        ):
            reader, stream = await place.follow(**given)
            await soon(lambda reader=reader: reader.events)
            reader.left.set()
            await over(stream)
        for given in (
            {"Accept": "*/*"},
            {"Authorization": "Bearer sv_00000000_" + "A" * 43},
            {"Cookie": cookie, "Sec_Fetch_Site": "cross-site"},
            {"Cookie": cookie, "Sec_Fetch_Site": "same-site"},
        ):
            reader, stream = await place.follow(**given)
            await over(stream)
            assert reader.code == (401, "unauthorized")

    play(test)


def test_a_revoked_token_ends_its_streams_and_no_others(api: Api) -> None:
    place = at_pace(api)
    made = api.ask("POST", "/v1/tokens", json={"scopes": ["read"]}).json()

    async def test() -> None:
        reader, stream = await place.follow(Cookie=f"{COOKIE}={made['token']}")
        other, others_stream = await place.follow()
        await soon(lambda: reader.events and other.events)
        api.ask("DELETE", f"/v1/tokens/{made['id']}")
        await over(stream)
        assert (reader.events[-1], reader.ended) == (("revoked", {}), True)
        assert [name for name, _ in other.events] == ["status"]
        assert not others_stream.done()
        again, refused = await place.follow(Cookie=f"{COOKIE}={made['token']}")
        await over(refused)
        assert again.code == (401, "unauthorized")
        other.left.set()
        await over(others_stream)

    play(test)


def test_a_deleted_survey_ends_its_streams(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        found = [await place.follow() for _ in range(3)]
        await soon(lambda: all(reader.events for reader, _ in found))
        api.ask("DELETE", f"/v1/surveys/{DRINKS.id}")
        await over(*(stream for _, stream in found))
        for reader, _ in found:
            assert ([name for name, _ in reader.events], reader.ended) == (["status", "deleted"], True)
        again, refused = await place.follow()
        await over(refused)
        assert again.code == (410, "survey_deleted")

    play(test)


@pytest.mark.parametrize("survey_id", ["0" * 64, "x", "%00"])
def test_no_such_survey(api: Api, survey_id: str) -> None:
    place = at_pace(api)

    async def test() -> None:
        reader, stream = await place.follow(survey_id)
        await over(stream)
        assert reader.code == (404, "unknown_survey")
        assert len(place.streams) == 0

    play(test)


def test_there_are_at_most_so_many(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        found = [await place.follow() for _ in range(MOST_STREAMS)]
        assert len(place.streams) == MOST_STREAMS == 64
        reader, refused = await place.follow()
        await over(refused)
        assert reader.code == (503, "too_many_streams")
        assert reader.headers["retry-after"].isdigit()
        found[7][0].left.set()
        await over(found[7][1])
        reader, stream = await place.follow()
        assert reader.status == 200
        for one, _ in [*found, (reader, stream)]:
            one.left.set()
        await over(*(stream for _, stream in found), stream)
        assert (len(place.streams), len(place.streams.feeds)) == (0, 0)

    play(test)


def test_also_when_all_come_at_once(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        found = await asyncio.gather(*(place.follow() for _ in range(MOST_STREAMS + 20)))
        statuses = Counter(reader.status for reader, _ in found)
        assert statuses == {200: MOST_STREAMS, 503: 20}
        place.streams.close()
        await over(*(stream for _, stream in found))

    play(test)


# --- what it costs ------------------------------------------------------------------------------


def test_many_streams_of_a_survey_are_one_look_at_a_time(api: Api) -> None:
    """Of one feed: the looks that 30 readers cause are those that one causes."""
    place = at_pace(api, replace(QUICK, look=600.0))
    api.publish(AGES)

    async def test() -> None:
        found = [await place.follow() for _ in range(30)] + [await place.follow(AGES.id)]
        await soon(lambda: all(reader.events for reader, _ in found))
        assert place.looks == {DRINKS.id: 1, AGES.id: 1}
        assert len(place.streams.feeds) == 2
        place.streams.close()
        await over(*(stream for _, stream in found))
        assert len(place.streams.feeds) == 0

    play(test)


def test_nobody_looks_when_nobody_follows(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: place.looks[DRINKS.id] > 3)
        reader.left.set()
        await over(stream)
        looked = place.looks[DRINKS.id]
        await asyncio.sleep(10 * QUICK.look)
        assert place.looks[DRINKS.id] == looked

    play(test)


# --- trouble ------------------------------------------------------------------------------------


def test_a_database_that_is_away_is_asked_again(api: Api) -> None:
    place = at_pace(api)
    service: Any = api.app.service
    ask = service.wait_for_store

    async def away(*_: Any) -> Any:
        raise StoreUnavailableError("the database does not answer")

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: reader.events)
        service.wait_for_store = away
        looked = place.looks[DRINKS.id]
        await soon(lambda: place.looks[DRINKS.id] > looked + 5)
        assert not stream.done()
        service.wait_for_store = ask
        api.send(DRINKS, honest(DRINKS, "tea", 1))
        await soon(lambda: len(reader.events) == 2)
        reader.left.set()
        await over(stream)

    play(test)


def test_a_reader_who_does_not_read_gets_the_latest_only_and_holds_up_nobody(api: Api) -> None:
    place = at_pace(api)

    async def test() -> None:
        reader, stream = await place.follow()
        other, others_stream = await place.follow()
        await soon(lambda: reader.events)
        reader.slow = True
        for n in range(2, 5):
            api.send(DRINKS, honest(DRINKS, "tea", 1))
            await soon(lambda n=n: len(other.events) == n)
        assert len(reader.events) == 1
        place.streams.close()
        await over(stream, others_stream)
        assert (other.ended, reader.ended) == (True, False)

    play(test)


def test_a_reader_who_reads_nothing_for_long_loses_its_place(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    place = at_pace(api, replace(QUICK, send=0.05))

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: reader.events)
        reader.slow = True
        assert not stream.done()
        api.send(DRINKS, honest(DRINKS, "tea", 1))
        await over(stream)
        assert (len(reader.events), reader.ended) == (1, False)
        assert (len(place.streams), len(place.streams.feeds)) == (0, 0)

    play(test)
    # Sending the report has a line of its own.
    assert not [record for record in caplog.records if record.name != "sottovoce.access"]


def test_a_server_that_does_not_give_up_sending_holds_up_no_end(api: Api) -> None:
    place = at_pace(api)
    stuck = asyncio.Event()

    async def test() -> None:
        reader, stream = await place.follow()
        await soon(lambda: reader.events)

        async def send(_: Any) -> None:
            while not stuck.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await stuck.wait()

        talking = place.streams.begin(Stream(place.streams, DRINKS.id, admitted)._talk(send))
        await asyncio.sleep(0)
        place.streams.close()
        await over(stream)
        await soon(talking.done)
        stuck.set()

    async def admitted() -> bool:
        return True

    play(test)


def test_a_look_that_fails_for_a_reason_nobody_foresaw_ends_no_other(caplog: pytest.LogCaptureFixture) -> None:
    looks = 0

    async def look(_: str) -> bytes:
        nonlocal looks
        looks += 1
        if looks == 2:
            raise ZeroDivisionError("somebody's words")
        return b"%d" % looks

    async def test() -> None:
        with Feeds(look, 0.001).follow("x") as (feed, _):
            await soon(lambda: looks > 3 and int(feed.latest or 0) > 3)

    play(test)
    assert "ZeroDivisionError" in caplog.text
    assert "somebody" not in caplog.text


# --- the real service ---------------------------------------------------------------------------


def connect(service: Service, survey_id: str = DRINKS.id) -> socket.socket:
    host, port = service.url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=PATIENCE)
    said = f"GET /v1/surveys/{survey_id}/events HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer {service.token}\r\n\r\n"
    connection.sendall(said.encode())
    return connection


def heard(connection: socket.socket, until_word: bytes) -> bytes:
    found = b""
    while until_word not in found:
        part = connection.recv(65536)
        assert part, found
        found += part
    return found


def test_over_a_real_connection_and_to_the_end_of_the_service(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        service = stack.enter_context(serving(tmp_path / "data", "--body-seconds", "60"))
        service.publish(DRINKS)
        first = stack.enter_context(connect(service))
        assert b'"waiting":0' in heard(first, b"event: status")
        service.send(DRINKS, honest(DRINKS, "tea", 5))
        heard(first, b'"n_reports":5')
        # Readers who leave make room for others, again and again.
        for _ in range(3):
            with contextlib.ExitStack() as many:
                for _ in range(MOST_STREAMS - 1):
                    until(lambda many=many: _begins(service, many), "a stream can begin")
                assert service.ask("GET", f"/v1/surveys/{DRINKS.id}/events").status == 503
        for _ in range(20):
            until(lambda: _begins(service, stack), "a stream can begin")
        # Were they waited for, it would take a minute, and a line in the log would say so.
        assert service.stop() == 0
        assert heard(first, b"0\r\n\r\n").endswith(b"0\r\n\r\n")
        assert "cut off" not in service.log.read_text()
        assert "Error" not in service.log.read_text()


def _begins(service: Service, stack: contextlib.ExitStack) -> bool:
    """Whether a stream begins now, which is then open until the stack ends."""
    connection = connect(service)
    if b" 503 " in heard(connection, b"\r\n\r\n")[:20]:
        connection.close()
        return False
    stack.enter_context(connection)
    return True
