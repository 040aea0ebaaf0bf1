"""A collector that logs the hash of a survey and shows its statement to one person only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played, refusal
from device.played_relay import PlayedRelay
from sottovoce.core.errors import MismatchError, ServiceError, TransparencyError
from sottovoce.device import MemoryStore
from sottovoce.surveys.survey import Survey


@pytest.fixture
def relay(played: Played) -> Iterator[PlayedRelay]:
    with PlayedRelay(played) as found:
        yield found


def publish(played: Played, relay: PlayedRelay | None = None) -> Survey:
    """A survey in the log of a collector."""
    stated = None if relay is None else sv.Relay(relay.url, 100)
    survey = sv.Survey(sv.shares(2**40), epsilon=0.1, mechanism="hadamard", title="For one person", relay=stated)
    played.log = [played.publish(survey)]
    return survey


def hide(played: Played, survey: Survey) -> None:
    """Show the survey to those who connect to the collector, whose addresses it knows, and to nobody else."""
    honest = played._honest

    def to_strangers(method: str, parts: list[str]) -> Any:
        is_hidden = method == "GET" and "proofs" not in parts and survey.id in parts
        return refusal(404, "unknown_survey") if is_hidden else honest(method, parts)

    def to_the_victim(handler: BaseHTTPRequestHandler) -> object:
        return honest(handler.command, handler.path.strip("/").split("/"))

    played._honest = to_strangers  # type: ignore[method-assign]
    played.twists["GET", ""] = to_the_victim


def test_a_statement_that_a_relay_cannot_fetch_is_not_answered(
    played: Played, relay: PlayedRelay, device: MakeDevice
) -> None:
    """The device requires the log and holds the key; the survey is signed, open, and in the log."""
    survey = publish(played, relay)
    hide(played, survey)
    victim = device(key=played.key.public, require_log=True)
    with pytest.raises(TransparencyError, match="nobody else can fetch"):
        victim.answer(played.url, survey.id, 7)
    assert (len(victim.ledger), relay.boxes) == (0, {})


def test_without_a_relay_the_same_collector_is_found_by_others_alone(played: Played, device: MakeDevice) -> None:
    """It knows who asks by the address: the page on the log says so, and that auditors find it."""
    survey = publish(played)
    hide(played, survey)
    assert device(key=played.key.public, require_log=True).answer(played.url, survey.id, 7).state == "sent"


def test_the_statement_is_asked_for_as_by_a_stranger(played: Played, relay: PlayedRelay, device: MakeDevice) -> None:
    plain, stated = publish(played), publish(played, relay)
    played.log = [plain.id, stated.id]
    seen: list[str] = []

    def look(handler: BaseHTTPRequestHandler) -> object:
        if "/statements/" in handler.path:
            seen.append(f"{handler.path} {sorted(handler.headers.items())}")
        return Played.HONEST

    played.twists["GET", ""] = look
    for _ in range(3):
        assert device(MemoryStore()).answer(played.url, plain.id, 7).state == "sent"
    assert len(set(seen)) == 1
    assert len(set(played.ports)) == len(played.ports), "each request has a connection of its own"
    seen.clear()
    assert device(MemoryStore()).answer(played.url, stated.id, 7).state == "sent"
    assert seen == [], "but through the relay that the survey states"
    assert ("POST", "/v1/requests") in relay.requests
    # The owner's relay comes first: nothing is asked of another one, but to take the report.
    with PlayedRelay(played) as own:
        relay.requests.clear()
        assert device(MemoryStore(), relay=own.url).answer(played.url, stated.id, 7).state == "sent"
        assert {path.split("/")[2] for _, path in relay.requests} == {"keys", "boxes"}


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (lambda survey: refusal(404, "not_in_log"), TransparencyError),
        (lambda survey: refusal(410, "statement_gone"), TransparencyError),
        (lambda survey: (200, {}, b"{}"), TransparencyError),
        (lambda survey: (200, {}, survey.canonical + b" "), TransparencyError),
        (lambda survey: (200, {}, b" " * 2**22), ServiceError),
        (lambda survey: refusal(503, "log_behind"), ServiceError),
        (lambda survey: refusal(403, "no"), ServiceError),
    ],
)
def test_what_is_missing_or_another_is_refused(
    played: Played, device: MakeDevice, reply: Callable[[Survey], Any], error: type[Exception]
) -> None:
    survey = publish(played)
    played.twists["GET", f"/v1/log/statements/{survey.id}"] = lambda _: reply(survey)
    mine = device()
    with pytest.raises(error):
        mine.answer(played.url, survey.id, 7)
    assert (len(mine.ledger), played.bodies) == (0, [])


def test_a_relay_that_is_away_lets_nothing_be_drawn(played: Played, relay: PlayedRelay, device: MakeDevice) -> None:
    """Whoever can stop one request must not be able to do without the statement."""
    survey = publish(played, relay)
    relay.twists["POST", "/v1/requests"] = lambda _: refusal(503, "busy")
    mine = device()
    with pytest.raises(ServiceError):
        mine.answer(played.url, survey.id, 7)
    assert len(mine.ledger) == 0
    relay.twists.clear()
    assert mine.answer(played.url, survey.id, 7).state == "sent"


def test_a_relay_that_the_owner_does_not_allow_is_not_asked(
    played: Played, relay: PlayedRelay, device: MakeDevice
) -> None:
    survey = publish(played, relay)
    with pytest.raises(MismatchError, match="has not allowed"):
        device(relays=["https://relay.example.org"]).answer(played.url, survey.id, 7)
    assert relay.requests == []
