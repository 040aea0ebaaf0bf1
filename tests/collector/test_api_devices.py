"""What devices and the web pages of allowed origins fetch."""

import hashlib
from collections.abc import Iterator

import pytest

from collector.client import DRINKS, Api, honest, running
from sottovoce.core.signing import from_base64url, verify
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch

PAGE = "https://survey.example"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("devices"), allow_origins=(PAGE,)) as api:
        api.publish(DRINKS)
        yield api


def test_the_key(api: Api) -> None:
    told = api.ask("GET", "/v1/key", token="").json()
    assert from_base64url(told["key"]) == api.key.public
    assert told["fingerprint"] == hashlib.sha256(api.key.public).hexdigest()


def test_surveys(api: Api) -> None:
    about = {"id": DRINKS.id, "title": DRINKS.title, "kind": "shares"}
    entry = {**about, "epsilon": 2.0, "delta": 0.0, "state": "open"}
    assert api.ask("GET", "/v1/surveys", token="").json() == {"surveys": [entry], "page": 1, "pages": 1}
    told = api.ask("GET", f"/v1/surveys/{DRINKS.id}", token="").json()
    assert set(told) == {"id", "statement", "signature", "key", "attachments", "state"}
    verify(api.key.public, told["statement"].encode(), from_base64url(told["signature"], 64))


@pytest.mark.parametrize("name", ["0" * 64, DRINKS.id.upper(), DRINKS.id + "0", "..%2f..", "%00", "a" * 5000])
def test_unknown_surveys_and_attachments(api: Api, name: str) -> None:
    for place, codes in (("surveys", {"unknown_survey"}), ("attachments", {"unknown_attachment"})):
        response = api.ask("GET", f"/v1/{place}/{name}", token="")
        assert response.status_code == 404
        assert response.json()["error"]["code"] in codes | {"not_found"}


def test_pages_of_an_allowed_origin(api: Api) -> None:
    for path in ("/v1/key", "/v1/surveys", f"/v1/surveys/{DRINKS.id}"):
        response = api.ask("GET", path, token="", headers={"Origin": PAGE})
        assert response.headers["access-control-allow-origin"] == PAGE
        assert "Origin" in response.headers["vary"]
    asked = {"Origin": PAGE, "Access-Control-Request-Method": "POST"}
    response = api.ask("OPTIONS", f"/v1/surveys/{DRINKS.id}/reports", token="", headers=asked)
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == PAGE
    assert "POST" in response.headers["access-control-allow-methods"]
    assert response.headers["access-control-allow-headers"] == "Content-Type"
    sent = api.send(DRINKS, honest(DRINKS, "tea", 1), headers={"Origin": PAGE})
    assert sent.headers["access-control-allow-origin"] == PAGE
    refused = api.send(DRINKS, [], headers={"Origin": PAGE})
    assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (422, PAGE)


@pytest.mark.parametrize("origin", ["https://evil.example", "https://survey.example.evil", "null", ""])
def test_pages_of_other_origins(api: Api, origin: str) -> None:
    response = api.ask("GET", "/v1/key", token="", headers={"Origin": origin})
    assert "access-control-allow-origin" not in response.headers


def test_analysts_addresses_are_for_no_page(api: Api) -> None:
    status = f"/v1/surveys/{DRINKS.id}/status"
    for method, path in (("GET", status), ("OPTIONS", status), ("GET", "/v1/tokens"), ("POST", "/v1/surveys")):
        response = api.ask(method, path, headers={"Origin": PAGE})
        assert "access-control-allow-origin" not in response.headers


def test_no_origin_is_allowed_unless_set(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("closed")) as api:
        response = api.ask("GET", "/v1/key", token="", headers={"Origin": PAGE})
        assert not {"access-control-allow-origin", "vary"} & set(response.headers)


def test_any_origin_where_set(tmp_path_factory: pytest.TempPathFactory) -> None:
    with running(tmp_path_factory.mktemp("open"), allow_origins=("*",)) as api:
        api.publish(DRINKS)
        body = encode_batch(DRINKS.id, honest(DRINKS, "tea", 1))
        headers = {"Origin": "https://anywhere.example", "Content-Type": BATCH_MEDIA_TYPE}
        response = api.ask("POST", f"/v1/surveys/{DRINKS.id}/reports", token="", content=body, headers=headers)
        assert response.headers["access-control-allow-origin"] == "https://anywhere.example"
        assert "access-control-allow-credentials" not in response.headers
