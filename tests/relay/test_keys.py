"""The collector's keys at the relay: the same to everybody, and never taken for lost ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import msgspec
import pytest

from collector.service import kept_port, running, until
from relay.service import delivered, relayed, relaying, sealed
from sottovoce.collector.sealing.keys import SEALING_FILE
from sottovoce.core.errors import ServiceError
from sottovoce.core.signing import SigningKey
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.relay.keys import PublishedKeys
from sottovoce.relay.store import RELAY_FILE, RelayStore

SIGNER = SigningKey(bytes(range(32)))


def published(number: int, seed: int) -> bytes:
    key = PrivateKey.derive(bytes([seed]) * 32)
    return msgspec.json.encode(sign_keys(SIGNER, (KeyConfiguration(number, key.public),)))


class Fetch:
    """Answers what it is told to, or nothing."""

    def __init__(self, body: bytes) -> None:
        self.body = body

    def __call__(self) -> bytes:
        if not self.body:
            raise ServiceError("nobody answers")
        return self.body


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RelayStore]:
    opened = RelayStore(tmp_path / RELAY_FILE)
    yield opened
    opened.close()


def test_doubt_lasts_while_the_collector_is_away_or_publishes_another_key_under_the_number(store: RelayStore) -> None:
    fetch = Fetch(published(1, seed=1))
    keys = PublishedKeys(store, fetch)
    assert keys.doubt() == ""
    fetch.body = b""
    assert "nobody answers" in keys.doubt()
    assert keys.trouble == "", "a collector that is away is no fault"
    fetch.body = published(1, seed=2)
    assert "another key under number 1" in keys.doubt()
    assert keys.body == published(1, seed=1)
    fetch.body = published(2, seed=2)
    assert keys.doubt() == ""
    assert keys.knows(2)


@pytest.mark.slow
def test_a_collector_that_has_lost_its_sealing_keys_loses_no_message(tmp_path: Path) -> None:
    """Started without them it makes others: what was sealed to the old ones waits until they are put back."""
    survey, file, other = relayed(3), tmp_path / "data" / SEALING_FILE, tmp_path / "elsewhere"
    with kept_port() as port, ExitStack() as stack:
        flags = "--port", str(port)
        with running(tmp_path / "data", *flags) as collector:
            collector.publish(survey)
            relay = stack.enter_context(relaying(tmp_path / "relay", collector.url))
            key = relay.keys()[0]
            messages = [sealed(survey, key, survey.randomize("tea")) for _ in range(4)]
            assert [relay.put(survey.id, one).status for one in messages[:2]] == [200, 200]
        file.rename(other)
        assert relay.put(survey.id, messages[2]).status == 200
        with running(tmp_path / "data", *flags, token=collector.token):
            until(lambda: relay.ask("GET", "/readyz").status == 503, "the relay has noticed")
            answer = relay.put(survey.id, messages[3])
            assert (answer.status, answer.json["error"]["code"]) == (503, "keys_in_doubt")
        other.replace(file)
        with running(tmp_path / "data", *flags, token=collector.token) as again:
            delivered(again, survey, 3)
            until(lambda: relay.put(survey.id, messages[3]).status == 200, "messages are taken again")
