"""The JavaScript device and the log of surveys: the real collector's, and proofs on which Python has the last word."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import sottovoce as sv
from collector.service import Service, running
from js.bridge import Bridge, Refused
from relay.service import delivered, relayed, relaying
from sottovoce.core.errors import TransparencyError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.device import Device, MemoryStore
from sottovoce.protocol.log import PUBLISHED, LogEntry, LogProof
from sottovoce.transparency.evidence import BLOCK_ENTRIES, block_of, check_log_proof, log_proof
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import TreeHead, read_checkpoint, sign_checkpoint

KEY = SigningKey(bytes(range(32)))
SURVEYS = [hashlib.sha256(b"%d" % number).hexdigest() for number in range(3 * BLOCK_ENTRIES + 5)]
SIZES = (1, 2, 3, 7, 8, 100, 255, 256, 257, 300, 511, 512, 513, 700, 768, len(SURVEYS))

HASHES = ("inclusion", "before", "block", "consistency")


@pytest.fixture(scope="module")
def tree() -> GrowingTree:
    grown = GrowingTree()
    for survey in SURVEYS:
        grown.append(leaf_hash(LogEntry(PUBLISHED, survey).leaf))
    return grown


def head(tree: GrowingTree, size: int) -> str:
    return sign_checkpoint(KEY, TreeHead(size, tree.root(size)))


def sent(tree: GrowingTree, size: int, position: int, old: int) -> dict[str, Any]:
    """What a device is sent that remembers a log of `old` entries; 0 for none."""
    proof: dict[str, Any] = msgspec.to_builtins(log_proof(tree, head(tree, size), size, position, block_of(old)))
    return proof


def python_accepts(proof: dict[str, Any], survey: str, remembered: str | None) -> bool:
    before = None if remembered is None else read_checkpoint(remembered, KEY.public)
    try:
        check_log_proof(msgspec.convert(proof, LogProof), KEY.public, survey, before)
    except (TransparencyError, msgspec.ValidationError):
        return False
    return True


def javascript_accepts(client: Bridge, proof: dict[str, Any], survey: str, remembered: str | None) -> bool:
    try:
        client.ask("log", proof=proof, key=to_base64url(KEY.public), survey=survey, remembered=remembered)
    except Refused as refused:
        if refused.name not in ("TransparencyError", "ServiceError"):
            raise
        return False
    return True


def test_javascript_accepts_every_log_that_goes_on(client: Bridge, tree: GrowingTree) -> None:
    for number, size in enumerate(SIZES):
        for old in (0, *SIZES[: number + 1]):
            position = (7 * old + 3) % size
            remembered = head(tree, old) if old else None
            assert javascript_accepts(client, sent(tree, size, position, old), SURVEYS[position], remembered), (
                size,
                old,
            )


def altered(proof: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The same with one thing changed: a hash, how many there are, their order, a place, or the sizes signed."""
    changed = {**proof, **{name: list(proof[name]) for name in HASHES}}
    name = str(rng.choice(HASHES))
    match int(rng.integers(5)):
        case 0 if changed[name]:
            changed[name][rng.integers(len(changed[name]))] = to_base64url(rng.bytes(32))
        case 1 if changed[name]:
            changed[name].pop(int(rng.integers(len(changed[name]))))
        case 2:
            changed[name].insert(int(rng.integers(len(changed[name]) + 1)), to_base64url(rng.bytes(32)))
        case 3 if len(changed[name]) > 1:
            changed[name][:2] = changed[name][1::-1]
        case _:
            place = str(rng.choice(["position", "start"]))
            changed[place] = int(changed[place] + rng.choice([-256, -1, 1, 256]))
    return changed


def test_both_refuse_what_was_altered(client: Bridge, tree: GrowingTree) -> None:
    rng = np.random.default_rng(1)
    refused = 0
    for _ in range(300):
        size = int(rng.choice(SIZES))
        old = int(rng.choice([0, *(one for one in SIZES if one <= size)]))
        position = int(rng.integers(size))
        remembered = head(tree, old) if old else None
        proof = altered(sent(tree, size, position, old), rng)
        told = python_accepts(proof, SURVEYS[position], remembered)
        assert javascript_accepts(client, proof, SURVEYS[position], remembered) == told, (size, old, position)
        refused += not told
    # What is wrong about the block matters only to who remembers something.
    assert 150 < refused < 300


def drinks(title: str) -> sv.Survey:
    return sv.Survey(sv.shares(["tea", "water"]), epsilon=0.5, title=title)


def answer(client: Bridge, owner: str, service: Service, survey: sv.Survey, **options: Any) -> Any:
    given = {"key": service.ask("GET", "/v1/key").json["key"], **options}
    return client.ask("answer", owner=owner, url=service.url, id=survey.id, value="tea", options=given)


def received(service: Service, survey: sv.Survey) -> int:
    return service.counted(survey, survey.mechanism.report_bytes).total()


def test_a_real_collector_and_another_one_that_has_its_key_and_shows_another_list(
    client: Bridge, tmp_path: Path
) -> None:
    first, second, hidden = drinks("first"), drinks("second"), drinks("asked of some")
    python = Device(MemoryStore(), require_log=True)
    with running(tmp_path / "data") as service:
        key = service.ask("GET", "/v1/key").json["key"]
        service.publish(first)
        assert answer(client, "Ada", service, first, requireLog=True) == "sent"
        python.answer(service.url, first.id, "tea")
        service.publish(second)
        assert answer(client, "Ada", service, second) == "sent"
        seen = service.ask("GET", "/v1/log/checkpoint").body.decode()
        told = client.ask("remembered", owner="Ada", key=key)
        assert told == {"checkpoint": seen, "conflicts": [], "answers": 2}
        assert received(service, second) == 1
    (tmp_path / "other").mkdir()
    shutil.copy(tmp_path / "data" / "signing.key", tmp_path / "other")
    with running(tmp_path / "other") as other:
        for survey in (hidden, first, second):
            other.publish(survey)
        assert answer(client, "somebody new", other, hidden) == "sent"
        with pytest.raises(Refused, match="does not continue the one that was shown before") as refused:
            answer(client, "Ada", other, hidden)
        assert refused.value.name == "TransparencyError"
        shown = other.ask("GET", "/v1/log/checkpoint").body.decode()
        told = client.ask("remembered", owner="Ada", key=key)
        assert told == {"checkpoint": seen, "conflicts": [[seen, shown]], "answers": 2}
        with pytest.raises(TransparencyError):
            python.answer(other.url, hidden.id, "tea")
        assert received(other, hidden) == 1, "of somebody new alone"


def test_through_a_real_relay_the_log_is_looked_into_as_well(client: Bridge, tmp_path: Path) -> None:
    with running(tmp_path / "data") as service, relaying(tmp_path / "relay", service.url) as relay:
        survey = relayed(2, "Through a relay", relay.url)
        service.publish(survey)
        for owner in ("Bo", "Cy"):
            assert answer(client, owner, service, survey, relay=relay.url, requireLog=True) == "sent"
            told = client.ask("remembered", owner=owner, key=service.ask("GET", "/v1/key").json["key"])
            assert told["checkpoint"] == service.ask("GET", "/v1/log/checkpoint").body.decode()
        delivered(service, survey, 2)
