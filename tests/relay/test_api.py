"""A relay before a real collector: what it takes, what it refuses and how it says so, and what it tells nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import sottovoce as sv
from collector.service import Service, kept_port, running, until
from relay.service import RelayProcess, delivered, relayed, relaying, sealed
from sottovoce.device import Device, MemoryStore
from sottovoce.oblivious.binary_http import HttpRequest
from sottovoce.oblivious.key_configuration import KeyConfiguration
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, seal_request
from sottovoce.surveys.survey import Survey

DIRECT = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title="Without a relay")
SEALED = {"Content-Type": REQUEST_MEDIA_TYPE}
TOKEN = "secret"


class Pair(NamedTuple):
    """A collector and the relay before it."""

    collector: Service
    relay: RelayProcess
    key: KeyConfiguration


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    flags = ("--wait", "0", "--time-precision", "1", "--metrics-token", TOKEN)
    with running(folder / "data") as collector, relaying(folder / "relay", collector.url, *flags) as relay:
        yield Pair(collector, relay, relay.keys()[0])


def published(pair: Pair, least: int, title: str) -> Survey:
    survey = relayed(least, title, pair.relay.url)
    pair.collector.publish(survey)
    return survey


def test_a_device_answers_through_the_relay_and_is_counted_with_enough_others(pair: Pair) -> None:
    survey = published(pair, 3, "Through the relay")
    for value in ("tea", "coffee", "tea"):
        assert pair.collector.status(survey)["n_reports"] == 0
        with Device(MemoryStore(), relay=pair.relay.url, insist_on_relay=True) as device:
            assert device.answer(pair.collector.url, survey.id, value).state == "sent"
    delivered(pair.collector, survey, 3)
    assert pair.relay.metric("sottovoce_relay_held") == 0


def test_one_too_few_are_never_forwarded(pair: Pair) -> None:
    """A second survey passes everything on meanwhile: the forwarder was at work."""
    few, enough = published(pair, 4, "Too few"), published(pair, 2, "Enough")
    message = sealed(few, pair.key, few.randomize("tea"))
    for one in (message, message, *(sealed(few, pair.key, few.randomize("tea")) for _ in range(2))):
        assert pair.relay.put(few.id, one).json == {"accepted": 1}
    for _ in range(2):
        pair.relay.put(enough.id, sealed(enough, pair.key, enough.randomize("tea")))
    delivered(pair.collector, enough, 2)
    assert pair.collector.status(few)["n_reports"] == 0
    assert pair.relay.metric("sottovoce_relay_duplicates") == 1
    pair.relay.put(few.id, sealed(few, pair.key, few.randomize("tea")))
    delivered(pair.collector, few, 4)


def test_what_the_collector_cannot_open_is_dropped_and_the_others_are_counted(pair: Pair) -> None:
    survey = published(pair, 3, "With a broken one")
    broken = bytearray(sealed(survey, pair.key, survey.randomize("tea")))
    broken[-1] ^= 1
    before = pair.relay.metric("sottovoce_relay_dropped_total")
    for message in (bytes(broken), *(sealed(survey, pair.key, survey.randomize("tea")) for _ in range(2))):
        assert pair.relay.put(survey.id, message).status == 200
    delivered(pair.collector, survey, 2)
    until(lambda: pair.relay.metric("sottovoce_relay_dropped_total") == before + 1, "the broken one is counted")


def test_refusals_say_what_to_do(pair: Pair) -> None:
    survey = published(pair, 2, "Refusals")
    pair.collector.publish(DIRECT)
    good = sealed(survey, pair.key, survey.randomize("tea"))
    other_key = bytes([pair.key.key_id ^ 1]) + good[1:]
    other_suite = good[:1] + bytes(6) + good[7:]
    told = [
        (pair.relay.put(survey.id, good[:-1]), 422, "bad_size"),
        (pair.relay.put(survey.id, b""), 422, "bad_size"),
        (pair.relay.put(survey.id, bytes(2**17)), 413, "body_too_large"),
        (pair.relay.put(survey.id, other_key), 422, "unknown_key"),
        (pair.relay.put(survey.id, other_suite), 422, "unknown_suite"),
        (pair.relay.put("no digest", good), 404, "unknown_survey"),
        (pair.relay.put("ab" * 32, good), 404, "unknown_survey"),
        (pair.relay.put("ab" * 32, good), 404, "unknown_survey"),
        (pair.relay.put(DIRECT.id, good), 422, "no_relay"),
        (pair.relay.ask("POST", f"/v1/boxes/{survey.id}", body=good), 415, "unsupported_media_type"),
        (pair.relay.ask("POST", "/v1/requests", body=good[:-1], headers=SEALED), 422, "bad_size"),
        (pair.relay.ask("GET", f"/v1/boxes/{survey.id}"), 405, "method_not_allowed"),
        (pair.relay.ask("GET", "/metrics"), 401, "unauthorized"),
        (pair.relay.ask("GET", "/metrics", headers={"Authorization": "Bearer wrong"}), 401, "unauthorized"),
    ]
    assert [(answer.status, answer.json["error"]["code"]) for answer, _, _ in told] == [one[1:] for one in told]
    assert pair.relay.metric("sottovoce_relay_held") == 0


def test_a_sealed_survey_takes_no_more(pair: Pair) -> None:
    survey = published(pair, 2, "Sealed")
    pair.collector.ask("POST", f"/v1/surveys/{survey.id}/seal")
    answer = pair.relay.put(survey.id, sealed(survey, pair.key, survey.randomize("tea")))
    assert (answer.status, answer.json["error"]["code"]) == (409, "survey_sealed")


def test_a_request_is_passed_on_and_its_answer_back(pair: Pair) -> None:
    request = seal_request(pair.key, HttpRequest("GET", "/v1/key"))
    answer = pair.relay.ask("POST", "/v1/requests", body=request.message, headers=SEALED)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "message/ohttp-res")
    response = request.open(answer.body)
    assert (response.status, response.content) == (200, pair.collector.ask("GET", "/v1/key").body)


def test_pages_of_any_origin_may_send(pair: Pair) -> None:
    asked = {"Origin": "https://survey.example", "Access-Control-Request-Method": "POST"}
    answer = pair.relay.ask("OPTIONS", "/v1/requests", headers=asked)
    assert answer.headers["Access-Control-Allow-Origin"] == "https://survey.example"
    assert answer.headers["Access-Control-Allow-Headers"] == "Content-Type"
    assert "Access-Control-Allow-Credentials" not in answer.headers


def test_the_log_holds_no_line_of_what_devices_do(pair: Pair) -> None:
    log = pair.relay.log.read_text()
    assert "/v1/boxes" not in log
    assert "127.0.0.1" not in log.replace(pair.collector.url, "")
    assert "Traceback" not in log


def test_while_the_collector_is_away_messages_are_held_and_then_delivered(tmp_path: Path) -> None:
    """An outage of any length: every attempt fails, nothing is lost, and a restart of the relay changes nothing."""
    survey = relayed(2)
    with kept_port() as port:
        to, flags = f"http://127.0.0.1:{port}", ("--port", str(port))
        with running(tmp_path / "data", *flags) as collector:
            collector.publish(survey)
            with relaying(tmp_path / "relay", to) as relay:
                key = relay.keys()[0]
                assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
        with relaying(tmp_path / "relay", to, "--metrics-token", TOKEN) as relay:
            assert relay.keys()[0] == key, "kept for this"
            for _ in range(5):
                assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
            until(lambda: relay.metric("sottovoce_relay_failures_total") > 3, "the relay tries again and again")
            assert relay.ask("GET", "/readyz").status == 200
            answer = relay.put("ab" * 32, sealed(survey, key, survey.randomize("tea")))
            assert (answer.status, answer.json["error"]["code"]) == (503, "collector_unreachable")
            assert int(answer.headers["Retry-After"]) >= 1
            with running(tmp_path / "data", *flags, token=collector.token) as again:
                delivered(again, survey, 6)
                assert again.status(survey)["n_reports"] == 6
            assert relay.stop() == 0


def test_limits(tmp_path: Path) -> None:
    survey = relayed(50)
    with running(tmp_path / "data") as collector:
        collector.publish(survey)
        flags = ("--max-messages", "3", "--per-address", "7")
        with relaying(tmp_path / "relay", collector.url, *flags) as relay:
            key = relay.keys()[0]
            answers = [relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))) for _ in range(7)]
            told = [answer.json["error"]["code"] if answer.status != 200 else "" for answer in answers]
            assert told == ["", "", "", "relay_full", "relay_full", "relay_full", "too_many_requests"]
            assert all(int(answer.headers["Retry-After"]) >= 1 for answer in answers[3:])
