"""Health, metrics, the log level, the OpenAPI document; the one error shape; and what must never be written down."""

import io
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from collector.client import ADDRESS, AGES, DRINKS, Api, assert_error, honest, running
from sottovoce.collector.api import pages
from sottovoce.collector.app import ROUTES
from sottovoce.core.errors import (
    CapacityError,
    MismatchError,
    NoReportsError,
    ReportError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
    SurveyError,
)
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.service.http.openapi import openapi_document
from sottovoce.service.refusal import Refusal, refusal_of
from sottovoce.service.running.log import configure_logging, set_level


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    with running(tmp_path) as api:
        yield api


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One for all requests that change nothing."""
    with running(tmp_path_factory.mktemp("untouched")) as api:
        yield api


# --- operators ----------------------------------------------------------------------------------


def test_living_and_ready(untouched: Api) -> None:
    for path in ("/healthz", "/readyz"):
        response = untouched.ask("GET", path, token="")
        assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_living_but_not_ready(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.store.close()
        assert api.ask("GET", "/healthz", token="").status_code == 200
        response = api.ask("GET", "/readyz", token="")
        assert (response.status_code, response.json()["error"]["code"]) == (503, "not_ready")
        assert int(response.headers["retry-after"]) >= 1


def metrics(api: Api) -> dict[str, float]:
    lines = api.ask("GET", "/metrics", token=api.token("read")).text.splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_metrics_count_and_name_nobody(api: Api) -> None:
    api.publish(DRINKS)
    api.publish(AGES)
    api.send(DRINKS, honest(DRINKS, "tea", 7))
    api.send(DRINKS, [(bytes(16), DRINKS.tag + b"\xff")])
    api.ask("GET", "/somewhere/private", token="")
    api.count()
    api.send(DRINKS, honest(DRINKS, "tea", 2))
    api.ask("GET", f"/v1/surveys/{DRINKS.id}/estimate")
    found = metrics(api)
    assert found["sottovoce_reports_accepted_total"] == 9
    assert found['sottovoce_reports_refused_total{code="bad_report"}'] == 1
    assert found['sottovoce_requests_total{route="/v1/surveys/{survey_id}/reports",status="200"}'] == 2
    assert found['sottovoce_requests_total{route="/v1/surveys/{survey_id}/reports",status="422"}'] == 1
    assert found['sottovoce_requests_total{route="none",status="404"}'] == 1
    assert (found["sottovoce_counted_reports"], found["sottovoce_waiting_reports"]) == (7, 2)
    assert found["sottovoce_commit_seconds_count"] == 2
    assert found["sottovoce_estimate_seconds_count"] == 1
    assert found["sottovoce_queued_reports"] == 0
    assert found["sottovoce_workers"] == 0
    assert (found["sottovoce_stalled_surveys"], found["sottovoce_missing_numbers"]) == (0, 0)
    text = api.ask("GET", "/metrics").text
    assert not any(word in text for word in (DRINKS.id[:12], DRINKS.title, "private"))


def test_metrics_are_for_those_with_a_token_and_tell_no_moment(api: Api) -> None:
    response = api.ask("GET", "/metrics", token="")
    assert (response.status_code, response.json()["error"]["code"]) == (401, "unauthorized")
    began = time.time()
    api.publish(DRINKS)
    api.send(DRINKS, honest(DRINKS, "tea", 1))
    found = metrics(api)
    assert not [name for name in found if "_created" in name]
    # Nor under another name: every number here is a count, a bound of a bucket or a length of time.
    assert max(found.values()) < began - 86400


def test_two_services_in_one_process_do_not_mix(tmp_path: Path) -> None:
    with running(tmp_path / "one") as one, running(tmp_path / "two") as two:
        one.publish(DRINKS)
        one.send(DRINKS, honest(DRINKS, "tea", 3))
        assert metrics(one)["sottovoce_reports_accepted_total"] == 3
        assert metrics(two)["sottovoce_reports_accepted_total"] == 0


def test_the_log_level_while_running(api: Api) -> None:
    logger = logging.getLogger("sottovoce")
    before = logger.level
    try:
        for level in ("error", "debug"):
            assert api.ask("PUT", "/v1/log-level", json={"level": level}).json() == {"level": level}
            assert logger.level == getattr(logging, level.upper())
        for body in ({}, {"level": "loud"}, {"level": 10}):
            assert api.ask("PUT", "/v1/log-level", json=body).status_code == 400
    finally:
        logger.setLevel(before)


# --- the one error shape ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1", 404),
        ("GET", "/v2/surveys", 404),
        ("GET", "/schema", 404),
        ("GET", "/docs", 404),
        ("GET", "/v1/surveys/a/b/c/d", 404),
        ("GET", "/../../etc/passwd", 404),
        ("POST", "/healthz", 405),
        ("DELETE", "/v1/surveys", 405),
        ("PATCH", "/v1/key", 405),
        ("TRACE", "/v1/key", 405),
        ("GET", f"/v1/surveys/{DRINKS.id}/reports", 405),
    ],
)
def test_addresses_and_methods_there_are_not(untouched: Api, method: str, path: str, status: int) -> None:
    response = untouched.ask(method, path, token="")
    assert response.status_code == status
    assert response.json()["error"]["code"] == {404: "not_found", 405: "method_not_allowed"}[status]
    assert ("allow" in response.headers) == (status == 405)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/surveys", "GET, OPTIONS, POST"),
        (f"/v1/surveys/{DRINKS.id}", "DELETE, GET, OPTIONS"),
        (f"/v1/surveys/{DRINKS.id}/reports", "OPTIONS, POST"),
        ("/v1/tokens", "GET, OPTIONS, POST"),
    ],
)
def test_which_methods_an_address_takes(untouched: Api, path: str, allowed: str) -> None:
    response = untouched.ask("OPTIONS", path, token="")
    assert (response.status_code, response.headers["allow"]) == (204, allowed)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Refusal(418, "teapot", "short and stout"), 418, "teapot"),
        (StoreFullError("x"), 507, "storage_full"),
        (StoreUnavailableError("x"), 503, "store_unavailable"),
        (StoreError("x"), 503, "store_failed"),
        (ReportError("x"), 422, "invalid_report"),
        (SurveyError("x"), 422, "invalid_survey"),
        (MismatchError("x"), 409, "mismatch"),
        (NoReportsError("x"), 409, "too_few_reports"),
        (CapacityError("x"), 409, "too_much"),
        (RuntimeError("x"), 500, "internal"),
        (KeyError("x"), 500, "internal"),
    ],
)
def test_every_exception_has_an_answer(error: Exception, status: int, code: str) -> None:
    refused = refusal_of(error)
    assert (refused.status, refused.code) == (status, code)
    assert ("Retry-After" in refused.headers) == (status in (429, 503, 507))
    assert_error(json.loads(refused.body()) | {"error": {"code": code, "message": "long enough", "field": None}})


def test_what_nobody_foresaw_is_logged_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        try:
            raise KeyError("the secret")
        except KeyError as error:
            raise RuntimeError("the secret's wrapper") from error

    with pytest.raises(RuntimeError) as caught:
        fail()
    body = refusal_of(caught.value).body().decode()
    assert "secret" not in caplog.text + body
    assert all(word in caplog.text for word in ("RuntimeError", "caused by KeyError", "in fail"))


# --- what must never be written down ------------------------------------------------------------


def test_no_address_and_no_browser_in_logs_metrics_or_database(tmp_path: Path) -> None:
    browser, secret = "Mozilla/9.9 (unmistakable)", "unmistakable-query"
    lines = io.StringIO()
    configure_logging("debug", "text", lines)
    try:
        with running(tmp_path) as api:
            api.publish(DRINKS)
            pairs = honest(DRINKS, "tea", 2)
            headers = {
                "Content-Type": BATCH_MEDIA_TYPE,
                "User-Agent": browser,
                "X-Forwarded-For": ADDRESS,
                "Referer": f"https://{secret}/",
                "Cookie": secret,
            }

            async def whole(body: bytes) -> AsyncIterator[dict[str, Any]]:
                yield {"type": "http.request", "body": body, "more_body": False}

            place = f"/v1/surveys/{DRINKS.id}"
            told = api.raw("POST", f"{place}/reports?{secret}", headers, whole(encode_batch(DRINKS.id, pairs)))
            assert told.status == 200
            assert api.raw("POST", f"{place}/reports", headers, whole(b"rubbish")).status == 400
            assert api.raw("GET", f"{place}?{secret}", headers, whole(b"")).status == 200
            assert api.raw("GET", f"/{secret}", headers, whole(b"")).status == 404
            api.count()
            shown = api.ask("GET", "/metrics").text
    finally:
        set_level("info")
        configure_logging("info", "text")
        logging.getLogger().handlers = [one for one in logging.getLogger().handlers if one.get_name() != "sottovoce"]
    text = lines.getvalue()
    assert "route=/metrics status=200" in text
    assert "{survey_id}" not in text  # what devices ask for, and when, is nobody's business
    assert "/reports" not in text
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert DRINKS.canonical in kept
    for word in (ADDRESS, "unmistakable", DRINKS.title, DRINKS.id[:12], api.admin[12:]):
        assert word not in text
        assert word not in shown
    for word in (ADDRESS, "unmistakable", api.admin[12:]):
        assert word.encode() not in kept


# --- the document -------------------------------------------------------------------------------


DOCUMENTED = [route for route in ROUTES if not route.is_page]
"""What programs ask; the addresses of pages are for people."""


def test_every_address_is_in_the_document(untouched: Api) -> None:
    response = untouched.ask("GET", "/openapi.json", token="")
    told = response.json()
    assert told == json.loads(json.dumps(openapi_document(ROUTES)))
    listed = {(method.upper(), path) for path, place in told["paths"].items() for method in place}
    assert listed == {(method, path) for route in DOCUMENTED for path in route.paths for method in route.methods}
    assert set(ROUTES) - set(DOCUMENTED) == set(pages.ROUTES)
    assert len(listed) == len(DOCUMENTED)


def test_the_document_is_whole() -> None:
    told = openapi_document(ROUTES)
    schemas = told["components"]["schemas"]
    text = json.dumps(told)
    for name in {part.partition('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in schemas
    for path, place in told["paths"].items():
        for operation in place.values():
            named = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
            assert named == {part.partition("}")[0] for part in path.split("{")[1:]}
            for status, answer in operation["responses"].items():
                assert answer["description"]
                if int(status) >= 400:
                    (content,) = answer["content"].values()
                    special = path.endswith("/reports") and status == "422"
                    assert content["schema"]["$ref"].endswith("RefusedUpload" if special else "ErrorBody")
            refused = {"401", "403"} & operation["responses"].keys()
            # Signing in and out needs no token, and is refused to other sites.
            signing = operation["operationId"] in ("sign_in", "sign_out")
            assert refused if signing else refused == ({"401", "403"} if "security" in operation else set())


def test_every_operation_has_its_own_name() -> None:
    names = [route.name for route in ROUTES]
    assert len(names) == len(set(names))


def test_the_document_is_valid() -> None:
    import schemathesis

    schema = schemathesis.openapi.from_dict(openapi_document(ROUTES))
    schema.validate()
    assert sum(1 for _ in schema.get_all_operations()) == len(DOCUMENTED)
