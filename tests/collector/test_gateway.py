"""The gateway: sealed requests answered, sealed reports kept once, and everything else refused by its position."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, Pair, honest, running
from sottovoce.collector.sealing.keys import forget_key, rotate_keys
from sottovoce.core.errors import SignatureError, StoreUnavailableError
from sottovoce.core.signing import SigningKey
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest, encode_request
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import (
    MESSAGE_SIZES,
    REQUEST_MEDIA_TYPE,
    RESPONSE_MEDIA_TYPE,
    SEALED_MEDIA_TYPE,
    _seal,
    encode_sealed_batch,
    seal_request,
)
from sottovoce.surveys.survey import Survey

SNACKS = Survey(sv.shares(["fruit", "nuts"]), epsilon=1.0, title="What do you eat?")
TOYS = Survey(sv.shares(["ball", "kite", "doll"]), epsilon=1.0, title="What do you play with?")

SIZE = MESSAGE_SIZES[0]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """One service for all, since its processes take a while to start."""
    with running(tmp_path_factory.mktemp("gateway")) as api:
        for survey in (DRINKS, SNACKS, TOYS, AGES):
            api.publish(survey)
        yield api


def key_of(api: Api) -> KeyConfiguration:
    return read_signed_keys(api.ask("GET", "/v1/keys", token="").content, api.key.public)[0]


def request_of(survey: Survey, *pairs: Pair) -> HttpRequest:
    headers = ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    return HttpRequest(
        "POST", f"/v1/surveys/{survey.id}/reports", headers=headers, content=encode_batch(survey.id, pairs)
    )


def sealed(key: KeyConfiguration, survey: Survey, pair: Pair) -> bytes:
    return seal_request(key, request_of(survey, pair)).message


def pass_on(api: Api, message: bytes) -> Any:
    headers = {"Content-Type": REQUEST_MEDIA_TYPE}
    return api.ask("POST", "/v1/oblivious", token="", content=message, headers=headers)


def send(api: Api, messages: list[bytes], size: int = SIZE) -> Any:
    headers = {"Content-Type": SEALED_MEDIA_TYPE}
    body = encode_sealed_batch(size, messages)
    return api.ask("POST", "/v1/oblivious/batch", token="", content=body, headers=headers)


def counted(api: Api, survey: Survey) -> int:
    api.count()
    return int(api.ask("GET", f"/v1/surveys/{survey.id}/status").json()["n_reports"])


def codes(response: Any) -> dict[int, str]:
    return {one["position"]: one["code"] for one in response.json()["refused"]}


# --- keys ---------------------------------------------------------------------------------------


def test_keys_are_signed_by_the_key_that_signs_surveys(api: Api) -> None:
    body = api.ask("GET", "/v1/keys", token="").content
    assert len(read_signed_keys(body, api.key.public)) == 1
    with pytest.raises(SignatureError, match="the collector's keys were not signed by"):
        read_signed_keys(body, SigningKey(secrets.token_bytes(32)).public)
    # A signature over the same bytes as a survey is none over keys.
    other = {**msgspec.json.decode(body)}
    survey = api.ask("GET", f"/v1/surveys/{DRINKS.id}", token="").json()
    with pytest.raises(SignatureError):
        read_signed_keys(msgspec.json.encode({**other, "signature": survey["signature"]}), api.key.public)


def test_rotated_keys_reach_a_running_service_and_retired_ones_still_open(api: Api) -> None:
    path = api.app.service.settings.data / "sealing.keys"
    old = key_of(api)
    before = counted(api, SNACKS)
    message = sealed(old, SNACKS, *honest(SNACKS, "nuts", 1))
    rotate_keys(path)
    new = key_of(api)
    assert new.key_id != old.key_id
    assert send(api, [message]).json() == {"accepted": 1, "refused": []}
    assert counted(api, SNACKS) == before + 1
    forget_key(path, old.key_id)
    again = sealed(old, SNACKS, *honest(SNACKS, "nuts", 1))
    assert codes(send(api, [again, sealed(new, SNACKS, *honest(SNACKS, "nuts", 1))])) == {0: "unknown_key"}
    assert pass_on(api, again).json()["error"]["code"] == "unknown_key"


# --- one request --------------------------------------------------------------------------------


def test_a_request_in_a_message_is_answered_like_a_direct_one(api: Api) -> None:
    direct = api.ask("GET", f"/v1/surveys/{DRINKS.id}", token="")
    request = seal_request(key_of(api), HttpRequest("GET", f"/v1/surveys/{DRINKS.id}"))
    response = pass_on(api, request.message)
    assert response.headers["content-type"] == RESPONSE_MEDIA_TYPE
    assert len(response.content) in MESSAGE_SIZES
    opened = request.open(response.content)
    assert (opened.status, opened.content) == (200, direct.content)
    assert (b"content-type", b"application/json") in opened.headers


def test_a_report_in_a_message_is_kept(api: Api) -> None:
    before = counted(api, DRINKS)
    request = seal_request(key_of(api), request_of(DRINKS, *honest(DRINKS, "tea", 1)))
    for _ in range(2):
        opened = request.open(pass_on(api, request.message).content)
        assert (opened.status, opened.content) == (200, b'{"accepted":1,"refused":[]}')
    assert counted(api, DRINKS) == before + 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/tokens"),
        ("GET", "/metrics"),
        ("GET", "/"),
        ("POST", "/v1/oblivious"),
        ("POST", "/v1/oblivious/batch"),
        ("DELETE", "/v1/surveys/%7Bsurvey%7D"),
    ],
)
def test_what_is_not_for_devices_cannot_be_asked_in_a_message(api: Api, method: str, path: str) -> None:
    """Not even with an admin's token: whoever may see it asks for it directly."""
    headers = ((b"authorization", f"Bearer {api.admin}".encode()),)
    request = seal_request(key_of(api), HttpRequest(method, path, headers=headers))
    response = request.open(pass_on(api, request.message).content)
    assert response.status in (404, 405)


def test_messages_that_cannot_be_opened(api: Api) -> None:
    key = key_of(api)
    good = seal_request(key, HttpRequest("GET", "/v1/key")).message
    stranger = KeyConfiguration(key.key_id, PrivateKey(secrets.token_bytes(32)).public)
    nonzero = encode_request(HttpRequest("GET", "/v1/key")).ljust(100, b"\0") + b"x"
    wrong = {
        "": "bad_message",
        "cut": "cannot_open",
        "altered": "cannot_open",
        "to another key": "cannot_open",
        "a point of small order": "cannot_open",
        "another suite": "unknown_suite",
        "padded with other than zeros": "bad_message",
        "no HTTP": "bad_message",
    }
    messages = {
        "": b"",
        "cut": good[:-1],
        "altered": good[:-1] + bytes([good[-1] ^ 1]),
        "to another key": seal_request(stranger, HttpRequest("GET", "/v1/key")).message,
        "a point of small order": good[:7] + bytes(32) + good[39:],
        "another suite": good[:6] + b"\x03" + good[7:],
        "padded with other than zeros": _seal(key, nonzero, PrivateKey(secrets.token_bytes(32))).message,
        "no HTTP": _seal(key, bytes([2]) * 90, PrivateKey(secrets.token_bytes(32))).message,
    }
    found = {name: pass_on(api, message) for name, message in messages.items()}
    assert {name: response.json()["error"]["code"] for name, response in found.items()} == wrong
    assert {response.status_code for response in found.values()} == {422}
    assert pass_on(api, bytes(MESSAGE_SIZES[-1] + 1)).status_code == 413


# --- many reports -------------------------------------------------------------------------------


def test_sealed_reports_of_several_surveys_are_kept_once(api: Api) -> None:
    key = key_of(api)
    before = [counted(api, survey) for survey in (DRINKS, SNACKS)]
    messages = [sealed(key, DRINKS, pair) for pair in honest(DRINKS, "tea", 70)]
    messages += [sealed(key, SNACKS, pair) for pair in honest(SNACKS, "nuts", 30)]
    secrets.SystemRandom().shuffle(messages)
    for _ in range(2):
        assert send(api, messages).json() == {"accepted": 100, "refused": []}
    assert [counted(api, survey) for survey in (DRINKS, SNACKS)] == [before[0] + 70, before[1] + 30]


def test_each_message_has_its_own_verdict(api: Api) -> None:
    key = key_of(api)
    before = counted(api, DRINKS)
    (report_id, report), second = honest(DRINKS, "tea", 2)
    two = seal_request(key, request_of(DRINKS, (report_id, report), second)).message
    bad_report = report[:4] + b"\xff" * (len(report) - 4)
    other = replace(request_of(DRINKS, second), path=f"/v1/surveys/{SNACKS.id}/reports")
    unknown = Survey(sv.shares(["a", "b"]), epsilon=1.0, title="never published")
    panel = HttpRequest(
        "POST", f"/v1/surveys/{AGES.id}/reports", headers=other.headers, content=encode_batch(AGES.id, [second])
    )
    good = sealed(key, DRINKS, second)
    messages = {
        "": good,
        "cannot_open": good[:-1] + bytes([good[-1] ^ 1]),
        "unknown_key": bytes([(key.key_id + 7) % 256]) + good[1:],
        "wrong_length": two,
        "bad_report": sealed(key, DRINKS, (report_id, bad_report)),
        "wrong_survey": sealed(key, DRINKS, (report_id, bytes(4) + report[4:])),
        "no_report": seal_request(key, other).message,
        "unknown_survey": sealed(key, unknown, honest(unknown, "a", 1)[0]),
        "survey_panel": seal_request(key, panel).message,
    }
    response = send(api, [*messages.values()])
    assert response.json()["accepted"] == 1
    assert codes(response) == {place: code for place, code in enumerate(messages) if code}
    assert counted(api, DRINKS) == before + 1
    assert report.hex() not in response.text


def test_a_sealed_survey_refuses_its_own_messages_only(api: Api) -> None:
    key = key_of(api)
    api.ask("POST", f"/v1/surveys/{TOYS.id}/seal")
    late, on_time = (
        sealed(key, survey, honest(survey, value, 1)[0]) for survey, value in ((TOYS, "ball"), (DRINKS, "tea"))
    )
    response = send(api, [late, on_time, late])
    assert (response.json()["accepted"], codes(response)) == (1, {0: "survey_sealed", 2: "survey_sealed"})


def test_transient_trouble_acknowledges_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    key = key_of(api)
    before = counted(api, SNACKS)
    message = sealed(key, SNACKS, *honest(SNACKS, "nuts", 1))

    def away(*_: object) -> Any:
        raise StoreUnavailableError("no answer")

    with monkeypatch.context() as patched:
        patched.setattr(type(api.store), "append", away)
        patched.setattr(type(api.store), "append_at_once", away)
        response = send(api, [message, bytes(SIZE)])
        assert (response.status_code, response.json()["error"]["code"]) == (503, "store_unavailable")
    assert codes(send(api, [message, bytes(SIZE)])) == {1: "unknown_suite"}
    assert counted(api, SNACKS) == before + 1


HEAD = b"SVS1" + SIZE.to_bytes(4)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"SVS1",
        HEAD,
        HEAD + bytes(SIZE + 1),
        b"SVS1" + (99).to_bytes(4) + bytes(99),
        b"SVR1" + HEAD[4:] + bytes(SIZE),
    ],
    ids=["empty", "no size", "no message", "mixed sizes", "a size there is not", "another format"],
)
def test_bodies_that_are_no_batch(api: Api, body: bytes) -> None:
    headers = {"Content-Type": SEALED_MEDIA_TYPE}
    response = api.ask("POST", "/v1/oblivious/batch", token="", content=body, headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (400, "bad_sealed_batch")


def test_metrics_count_messages(api: Api) -> None:
    text = api.ask("GET", "/metrics").text
    opened = next(line for line in text.splitlines() if line.startswith("sottovoce_messages_opened_total "))
    assert float(opened.split()[1]) > 100
    assert 'sottovoce_reports_refused_total{code="cannot_open"}' in text
