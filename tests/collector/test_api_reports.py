"""Reports over HTTP: what is taken, and every way in which something is not."""

import asyncio
import gzip
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.core.signing import to_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

PATH = f"/v1/surveys/{DRINKS.id}/reports"
OTHER = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="Another")


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("reports"), max_body_bytes=4096, max_batch_reports=100) as api:
        api.publish(DRINKS)
        yield api


def waiting(api: Api, survey: Survey = DRINKS) -> int:
    return api.store.waiting(survey.id)


def as_json(pair: tuple[bytes, bytes]) -> dict[str, str]:
    return {"id": pair[0].hex(), "report": to_base64url(pair[1])}


def code_of(response: Any, status: int) -> str:
    assert response.status_code == status, response.text
    return str(response.json()["error"]["code"])


# --- what is taken ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 100])
def test_batch_is_durable_when_acknowledged(api: Api, n: int) -> None:
    before = waiting(api)
    response = api.send(DRINKS, honest(DRINKS, "tea", n))
    assert response.status_code == 200
    assert response.json() == {"accepted": n, "refused": []}
    assert waiting(api) == before + n


def test_json_of_one_and_of_several(api: Api) -> None:
    before = waiting(api)
    one, *several = [as_json(pair) for pair in honest(DRINKS, "water", 4)]
    assert api.ask("POST", PATH, token="", json=one).json() == {"accepted": 1, "refused": []}
    assert api.ask("POST", PATH, token="", json={"reports": several}).json() == {"accepted": 3, "refused": []}
    assert waiting(api) == before + 4


def test_the_same_again_is_acknowledged_and_counted_once(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        pairs = honest(DRINKS, "tea", 5)
        assert [api.send(DRINKS, pairs).json()["accepted"] for _ in range(3)] == [5, 5, 5]
        api.count()
        assert api.ask("GET", f"/v1/surveys/{DRINKS.id}/status").json()["n_reports"] == 5


def test_good_ones_beside_bad_ones(api: Api) -> None:
    good, other = honest(DRINKS, "tea", 1)[0], honest(OTHER, "tea", 1)[0]
    broken = (secrets.token_bytes(16), DRINKS.tag + b"\xff")
    before = waiting(api)
    response = api.send(DRINKS, [other, good, broken])
    assert response.status_code == 200
    told = response.json()
    assert told["accepted"] == 1
    assert [(one["position"], one["code"]) for one in told["refused"]] == [(0, "wrong_survey"), (2, "bad_report")]
    assert waiting(api) == before + 1


def test_nothing_good_is_422_with_every_reason(api: Api) -> None:
    before = waiting(api)
    response = api.send(DRINKS, honest(OTHER, "tea", 2))
    assert code_of(response, 422) == "wrong_survey"
    assert response.json()["accepted"] == 0
    assert [one["position"] for one in response.json()["refused"]] == [0, 1]
    assert waiting(api) == before


# --- bodies that are none -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [b"", b"SVR1", b"SVR2" + bytes(32), encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))[:-1], b"{}", b"\0" * 100],
    ids=["empty", "only letters", "other letters", "cut short", "JSON", "zeros"],
)
def test_no_batch(api: Api, body: bytes) -> None:
    response = api.ask("POST", PATH, token="", content=body, headers={"Content-Type": BATCH_MEDIA_TYPE})
    assert code_of(response, 400) == "bad_batch"


def test_batch_of_another_survey_and_batch_of_nothing(api: Api) -> None:
    response = api.send(DRINKS, [], content=encode_batch(OTHER.id, honest(OTHER, "tea", 1)))
    assert code_of(response, 422) == "wrong_survey"
    assert code_of(api.send(DRINKS, []), 422) == "empty_batch"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"id": 1, "report": ""}', b'{"reports": {}}', b"\xff"])
def test_no_json(api: Api, body: bytes) -> None:
    response = api.ask("POST", PATH, token="", content=body, headers={"Content-Type": "application/json"})
    assert code_of(response, 400) == "bad_json"


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/octet-stream", "multipart/form-data", "application/jsonx", "*/*"]
)
def test_other_media_types(api: Api, content_type: str) -> None:
    body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))
    assert code_of(api.send(DRINKS, [], content=body, headers={"Content-Type": content_type}), 415) == (
        "unsupported_media_type"
    )


def test_parameters_and_case_of_the_media_type_do_not_matter(api: Api) -> None:
    one = as_json(honest(DRINKS, "tea", 1)[0])
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert api.ask("POST", PATH, token="", json=one, headers=headers).status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity"])
def test_compressed_bodies_are_not_opened(api: Api, encoding: str) -> None:
    bomb = gzip.compress(bytes(2**22))[:4000]
    before = waiting(api)
    assert code_of(api.send(DRINKS, [], content=bomb, headers={"Content-Encoding": encoding}), 415) == "compressed_body"
    assert waiting(api) == before


def test_too_many_reports_and_too_many_bytes(api: Api) -> None:
    assert code_of(api.send(DRINKS, honest(DRINKS, "tea", 101)), 413) == "too_many_reports"
    assert code_of(api.send(DRINKS, [], content=bytes(4097)), 413) == "body_too_large"


async def parts(*bodies: bytes, end: bool = True) -> AsyncIterator[dict[str, Any]]:
    for i, body in enumerate(bodies):
        yield {"type": "http.request", "body": body, "more_body": i + 1 < len(bodies) or not end}
    if not end:
        yield {"type": "http.disconnect"}


def test_a_body_in_parts_is_put_together(api: Api) -> None:
    body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 2))
    told = api.raw("POST", PATH, {"Content-Type": BATCH_MEDIA_TYPE}, parts(body[:7], b"", body[7:50], body[50:]))
    assert (told.status, told.json) == (200, {"accepted": 2, "refused": []})


def test_a_body_of_unsaid_length_is_counted_while_it_comes(api: Api) -> None:
    read = 0

    async def endless() -> AsyncIterator[dict[str, Any]]:
        nonlocal read
        while True:
            read += 1000
            yield {"type": "http.request", "body": bytes(1000), "more_body": True}

    told = api.raw("POST", PATH, {"Content-Type": BATCH_MEDIA_TYPE}, endless())
    assert (told.status, told.json["error"]["code"]) == (413, "body_too_large")
    assert read == 5000


def test_a_length_beyond_the_limit_is_refused_unread(api: Api) -> None:
    async def never() -> AsyncIterator[dict[str, Any]]:
        raise AssertionError("the body was read")
        yield {}

    headers = {"Content-Type": BATCH_MEDIA_TYPE, "Content-Length": "999999999999"}
    assert api.raw("POST", PATH, headers, never()).status == 413


def test_whoever_hangs_up_has_sent_nothing(api: Api) -> None:
    body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 3))
    before = waiting(api)
    for cut in (0, 40, len(body)):
        told = api.raw("POST", PATH, {"Content-Type": BATCH_MEDIA_TYPE}, parts(body[:cut], end=False))
        assert (told.status, told.json["error"]["code"]) == (408, "incomplete_body"), "a device sends it again"
    assert waiting(api) == before


def test_slow_bodies(tmp_path: Path) -> None:
    body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))

    async def drops() -> AsyncIterator[dict[str, Any]]:
        # Each part comes soon after the one before it; only the whole takes too long.
        for byte in body:
            await asyncio.sleep(0.02)
            yield {"type": "http.request", "body": bytes([byte]), "more_body": True}

    with running(tmp_path, body_seconds=0.5) as api:
        api.publish(DRINKS)
        told = api.raw("POST", PATH, {"Content-Type": BATCH_MEDIA_TYPE}, drops())
        assert (told.status, told.json["error"]["code"]) == (408, "body_too_slow")
        assert waiting(api) == 0


# --- surveys that take none ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["0" * 64, "x", DRINKS.id[:-1], DRINKS.id.upper(), "%2e%2e", "' OR 1=1 --", DRINKS.id + "%00"]
)
def test_unknown_surveys(api: Api, name: str) -> None:
    body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))
    headers = {"Content-Type": BATCH_MEDIA_TYPE}
    response = api.ask("POST", f"/v1/surveys/{name}/reports", token="", content=body, headers=headers)
    assert code_of(response, 404) in ("unknown_survey", "not_found")


def test_sealed_deleted_and_adaptive(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(DRINKS)
        api.publish(AGES)
        headers = {"Content-Type": BATCH_MEDIA_TYPE}
        body = encode_batch(AGES.id, [(bytes(16), AGES.tag + b"\0")])
        adaptive = api.ask("POST", f"/v1/surveys/{AGES.id}/reports", token="", content=body, headers=headers)
        assert code_of(adaptive, 422) == "survey_panel"
        assert api.send(DRINKS, honest(DRINKS, "tea", 1)).status_code == 200
        assert api.ask("POST", f"/v1/surveys/{DRINKS.id}/seal").json() == {"id": DRINKS.id, "state": "sealed"}
        assert code_of(api.send(DRINKS, honest(DRINKS, "tea", 1)), 409) == "survey_sealed"
        assert api.ask("DELETE", f"/v1/surveys/{DRINKS.id}").json() == {"id": DRINKS.id, "state": "deleted"}
        assert code_of(api.send(DRINKS, honest(DRINKS, "tea", 1)), 410) == "survey_deleted"


# --- too much, too fast, nowhere to put it ------------------------------------------------------


def test_more_than_a_survey_takes_a_second(tmp_path: Path) -> None:
    with running(tmp_path, max_reports_per_second=1) as api:
        api.publish(DRINKS)
        # Taken after a rest, and paid for with a minute in which nothing is, however slow this machine is.
        assert api.send(DRINKS, honest(DRINKS, "tea", 60)).status_code == 200
        response = api.send(DRINKS, honest(DRINKS, "tea", 1))
        assert code_of(response, 429) == "too_many_requests"
        assert int(response.headers["retry-after"]) >= 1
        assert waiting(api) == 60


def test_a_full_queue_while_the_database_is_locked(tmp_path: Path) -> None:
    with running(tmp_path, max_batch_reports=5, queue_reports=5) as api, ThreadPoolExecutor(1) as threads:
        api.publish(DRINKS)
        assert api.send(DRINKS, honest(DRINKS, "tea", 1)).status_code == 200
        holder = sqlite3.connect(tmp_path / "collector.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        first = threads.submit(api.send, DRINKS, honest(DRINKS, "tea", 5))
        service = api.app.service
        while service.committer.depth < 5:
            time.sleep(0.001)
        overloaded = api.send(DRINKS, honest(DRINKS, "tea", 1))
        assert code_of(overloaded, 503) == "overloaded"
        assert int(overloaded.headers["retry-after"]) >= 1
        holder.execute("ROLLBACK")
        holder.close()
        assert first.result().json() == {"accepted": 5, "refused": []}
        assert waiting(api) == 6


def test_a_full_disk(tmp_path: Path) -> None:
    with running(tmp_path, max_bytes=2**20) as api:
        api.publish(DRINKS)
        kept = 0
        for _ in range(20):
            response = api.send(DRINKS, honest(DRINKS, "tea", 1) * 10_000)
            if response.status_code != 200:
                break
            kept += 10_000
        assert code_of(response, 507) == "storage_full"
        assert int(response.headers["retry-after"]) >= 1
        assert waiting(api) == kept
