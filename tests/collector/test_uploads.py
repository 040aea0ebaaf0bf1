"""Uploads: every kind of body and its status, the same with a slash at the end of the address, and no other address."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.surveys.survey import Survey

OTHER = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="Another")
SEALED = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="Sealed")

ORIGIN = "https://a.example"

_GOOD = encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))
_MIXED = encode_batch(DRINKS.id, [*honest(DRINKS, "tea", 2), (secrets.token_bytes(16), DRINKS.tag + b"\xff")])
_BINARY = {"Content-Type": BATCH_MEDIA_TYPE}

CASES: dict[str, tuple[str, dict[str, str], bytes, int]] = {
    "one": (DRINKS.id, _BINARY, _GOOD, 200),
    "some good": (DRINKS.id, _BINARY, _MIXED, 200),
    "of a page": (DRINKS.id, {**_BINARY, "Origin": ORIGIN}, _GOOD, 200),
    "JSON": (DRINKS.id, {"Content-Type": "application/json"}, b'{"id": "", "report": ""}', 422),
    "no JSON": (DRINKS.id, {"Content-Type": "application/json"}, b"{", 400),
    "of another": (DRINKS.id, _BINARY, encode_batch(OTHER.id, honest(OTHER, "tea", 1)), 422),
    "too long": (DRINKS.id, _BINARY, bytes(5000), 413),
    "compressed": (DRINKS.id, {**_BINARY, "Content-Encoding": "gzip"}, _GOOD, 415),
    "no type": (DRINKS.id, {}, _GOOD, 415),
    "unknown": ("ab" * 32, _BINARY, _GOOD, 404),
    "panel": (AGES.id, _BINARY, _GOOD, 422),
    "sealed": (SEALED.id, _BINARY, encode_batch(SEALED.id, honest(SEALED, "tea", 1)), 409),
}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("uploads"), max_body_bytes=4096, allow_origins=(ORIGIN,)) as api:
        for survey in (DRINKS, SEALED, AGES):
            api.publish(survey)
        assert api.ask("POST", f"/v1/surveys/{SEALED.id}/seal").status_code == 200
        yield api


@pytest.mark.parametrize("case", CASES)
def test_a_slash_at_the_end_changes_nothing(api: Api, case: str) -> None:
    survey_id, headers, body, status = CASES[case]
    found = []
    for path in (f"/v1/surveys/{survey_id}/reports", f"/v1/surveys/{survey_id}/reports/"):
        answer = api.ask("POST", path, token="", content=body, headers=headers)
        found.append((answer.status_code, sorted(answer.headers.items()), answer.content))
    assert found[0] == found[1]
    assert found[0][0] == status


def test_a_slash_at_the_end_is_counted_alike(api: Api) -> None:
    def uploads() -> float:
        lines = api.ask("GET", "/metrics").text.splitlines()
        name = 'sottovoce_requests_total{route="/v1/surveys/{survey_id}/reports",status="200"}'
        return next(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))

    path = f"/v1/surveys/{DRINKS.id}/reports"
    assert api.ask("POST", path, token="", content=_GOOD, headers=_BINARY).status_code == 200
    before = uploads()
    for written in (path, f"{path}/"):
        assert api.ask("POST", written, token="", content=_GOOD, headers=_BINARY).status_code == 200
    assert uploads() == before + 2


def test_no_other_writing_of_the_address_is_an_upload(tmp_path: Path) -> None:
    async def events() -> AsyncIterator[dict[str, Any]]:
        yield {"type": "http.request", "body": _GOOD, "more_body": False}

    with running(tmp_path) as api:
        api.publish(DRINKS)
        path = f"/v1/surveys/{DRINKS.id}/reports"
        assert api.raw("POST", path, _BINARY, events()).status == 200
        for other in (f"{path}x", path.upper(), f"{path}\n", f"/v1/surveys/{'a/' * 32}/reports"):
            assert api.raw("POST", other, _BINARY, events()).status == 404
        assert api.raw("GET", path, _BINARY, events()).status == 405
        assert api.raw("OPTIONS", path, _BINARY, events()).status == 204
        assert api.store.waiting(DRINKS.id) == 1
