"""What a relay keeps, and when it lets go: never fewer than a survey states, all alike to the collector."""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sottovoce.collector.store.sqlite import SqliteStore
from sottovoce.core.errors import StoreError
from sottovoce.core.signing import SigningKey
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.relay.forwarder import Parts
from sottovoce.relay.keys import PublishedKeys
from sottovoce.relay.store import RELAY_FILE, RelayStore, frame
from sottovoce.service.storage.committer import Arrival

SURVEY, OTHER = "ab" * 32, "cd" * 32
LEAST = 5
NEVER = -1
"""No message came before this time."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RelayStore]:
    opened = RelayStore(tmp_path / RELAY_FILE)
    opened.learn(SURVEY, LEAST)
    opened.learn(OTHER, 3)
    yield opened
    opened.close()


def message(key: int = 1, size: int = 512) -> bytes:
    return bytes([key]) + secrets.token_bytes(size - 1)


def put(store: RelayStore, *messages: bytes, survey: str = SURVEY, epoch: int = 1000) -> None:
    joined = b"".join(frame(one) for one in messages)
    assert store.append([Arrival(survey, epoch, len(messages), joined)]) == [None]


def batch_contents(store: RelayStore) -> list[bytes]:
    batch = store.batch()
    assert batch is not None
    return store.contents([number for number, _ in batch.left])


def test_a_message_sent_again_is_held_once_and_counts_once(store: RelayStore) -> None:
    once = message()
    put(store, once, once)
    put(store, once)
    (box,) = store.boxes()
    assert (store.n_messages, box.held, store.duplicates) == (1, 1, 2)


def test_one_that_comes_again_after_it_was_forwarded_counts_for_no_later_batch(store: RelayStore) -> None:
    sent = [message() for _ in range(LEAST)]
    put(store, *sent)
    assert store.release(0, NEVER) == LEAST
    batch = store.batch()
    assert batch is not None
    store.forget([number for number, _ in batch.left])
    store.end_batch()
    put(store, *sent)
    assert (store.boxes(), store.n_messages) == ([], 0)


@pytest.mark.parametrize(
    ("held", "hold", "before", "released"),
    [
        (LEAST - 1, 0, NEVER, 0),
        (LEAST - 1, 2, 10**12, 0),  # neither a lower setting nor an endless wait releases fewer
        (LEAST, 0, NEVER, LEAST),
        (LEAST, LEAST + 2, NEVER, 0),
        (LEAST + 2, LEAST + 2, NEVER, LEAST + 2),
        (LEAST, LEAST + 2, 1000, 0),
        (LEAST, LEAST + 2, 1001, LEAST),
    ],
)
def test_when_a_box_is_ripe(store: RelayStore, held: int, hold: int, before: int, released: int) -> None:
    put(store, *(message() for _ in range(held)))
    assert store.release(hold, before) == released
    assert (store.batch() is None) == (released == 0)


def test_a_box_whose_survey_closes_soon_is_ripe_with_the_least_number(store: RelayStore) -> None:
    put(store, *(message() for _ in range(LEAST - 1)))
    assert store.release(2 * LEAST, NEVER, {SURVEY}) == 0, "and never with fewer"
    put(store, message())
    assert store.release(2 * LEAST, NEVER, {OTHER}) == 0
    assert store.release(2 * LEAST, NEVER, {SURVEY}) == LEAST


@pytest.mark.parametrize("kinds", [(1, 512, 2, 512), (1, 512, 1, 2048)], ids=["keys", "sizes"])
def test_what_the_collector_can_tell_apart_does_not_hide_one_another(
    store: RelayStore, kinds: tuple[int, int, int, int]
) -> None:
    few, many = [message(*kinds[:2]) for _ in range(LEAST - 1)], [message(*kinds[2:]) for _ in range(LEAST)]
    put(store, *few, *many)
    assert store.release(0, 10**12) == LEAST
    assert sorted(batch_contents(store)) == sorted(many)


def test_a_number_stands_for_one_key_while_a_message_to_it_waits(store: RelayStore) -> None:
    """However long: counted with messages to a later key of that number, it would be the only one of its kind."""
    signing, day = SigningKey(b"\x07" * 32), 86400

    def published(seed: int) -> bytes:
        key = KeyConfiguration(1, PrivateKey.derive(bytes([seed]) * 32).public)
        return msgspec.json.encode(sign_keys(signing, (key,)))

    now, body = [0.0], [published(1)]
    keys = PublishedKeys(store, lambda: body[0], lambda: now[0])
    keys.refresh()
    put(store, message(key=1))
    now[0], body[0] = 400 * day, published(2)
    keys.refresh()
    assert (keys.body, "another key under number 1" in keys.trouble) == (published(1), True)
    assert store.drop(SURVEY) == 1
    keys.refresh()
    assert (keys.body, keys.trouble) == (published(2), "")


def test_all_ripe_boxes_leave_together_and_nobody_else_joins(store: RelayStore) -> None:
    here, there = [message() for _ in range(LEAST)], [message() for _ in range(3)]
    put(store, *here)
    put(store, *there, survey=OTHER)
    assert store.release(0, NEVER) == LEAST + 3
    put(store, *(message() for _ in range(LEAST)))
    assert store.release(0, NEVER) == 0, "one batch at a time"
    assert sorted(batch_contents(store)) == sorted(here + there)


def test_a_batch_is_the_same_after_a_restart(tmp_path: Path, store: RelayStore) -> None:
    put(store, *(message(size=size) for size in (512, 2048) for _ in range(20)))
    store.release(0, NEVER)
    batch = store.batch()
    assert batch is not None
    parts, left = Parts(batch.seed, batch.left), []
    store.forget(parts.next(3, 2**20))
    parts.remove(parts.next(3, 2**20))
    while part := parts.next(3, 2**20):
        left.append(part)
        parts.remove(part)
    again = RelayStore(tmp_path / RELAY_FILE)
    found = again.batch()
    assert found is not None
    assert again.n_messages == 37
    parts = Parts(found.seed, found.left)
    for part in left:
        assert parts.next(3, 2**20) == part
        parts.remove(part)
    again.close()


def test_what_nobody_wants_is_dropped_and_a_box_never_seems_fuller(store: RelayStore) -> None:
    put(store, *(message() for _ in range(LEAST - 1)))
    put(store, *(message() for _ in range(2)), survey=OTHER)
    assert store.drop(SURVEY) == LEAST - 1
    put(store, message())
    assert [(box.survey, box.held) for box in store.boxes()] == [(SURVEY, 1), (OTHER, 2)]
    assert store.release(0, 10**12) == 0


def test_a_batch_under_way_is_not_dropped(store: RelayStore) -> None:
    put(store, *(message() for _ in range(LEAST)))
    store.release(0, NEVER)
    assert (store.drop(SURVEY), len(batch_contents(store))) == (0, LEAST)


def test_ids_are_forgotten_in_time(store: RelayStore) -> None:
    once = message()
    put(store, once)
    store.forget_seen(1000)
    put(store, once)
    assert store.n_messages == 1
    store.forget_seen(1001)
    put(store, once)
    assert store.n_messages == 2


def test_an_unknown_survey_keeps_nothing(store: RelayStore) -> None:
    assert store.append([Arrival("ef" * 32, 1000, 1, frame(message()))]) == ["unknown"]
    assert store.n_messages == 0


def test_a_file_of_another_program_or_version_is_left_alone(tmp_path: Path, store: RelayStore) -> None:
    SqliteStore(tmp_path / "collector.db").close()
    with pytest.raises(StoreError, match="another program"):
        RelayStore(tmp_path / "collector.db")
    store.close()
    with sqlite3.connect(tmp_path / RELAY_FILE) as connection:
        connection.execute("INSERT INTO migrations VALUES (2, 'later')")
    connection.close()
    with pytest.raises(StoreError, match="schema 2"):
        RelayStore(tmp_path / RELAY_FILE)
