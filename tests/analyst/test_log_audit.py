"""Auditors: what a collector shows to two of them is one list, or they hold the proof that it is not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import sottovoce as sv
from collector.service import Service, running
from sottovoce.cli import main
from sottovoce.core.signing import SigningKey
from sottovoce.protocol.log import PUBLISHED, LogEntry
from sottovoce.surveys.survey import Survey
from sottovoce.transparency.tree import GrowingTree, leaf_hash
from sottovoce.transparency.tree_head import TreeHead, sign_checkpoint

DRINKS = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
FRUIT = Survey(sv.shares(["apple", "pear"]), epsilon=1.0, title="Which fruit?")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path / "data", "--workers", "0") as one:
        one.publish(DRINKS)
        yield one


def other_head(folder: Path, *surveys: str) -> str:
    """What the same key would have signed of another list."""
    tree = GrowingTree()
    for survey in surveys:
        tree.append(leaf_hash(LogEntry(PUBLISHED, survey).leaf))
    return sign_checkpoint(SigningKey.load_or_create(folder / "signing.key"), TreeHead(tree.size, tree.root(tree.size)))


def test_the_commands(service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state, check = tmp_path / "mine", ["log", "check", service.url]
    assert main(["log", "show", service.url]) == 0
    said = capsys.readouterr().out
    assert DRINKS.id[:12] in said
    assert "What do you drink?" in said
    assert service.fingerprint in said
    assert main([*check, "--state", str(state)]) == 0
    first = state.read_text()
    assert first == service.ask("GET", "/v1/log/checkpoint").body.decode()
    capsys.readouterr()
    service.publish(FRUIT)
    assert main([*check, "--state", str(state), "--against", service.url, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["size"], told["problems"], told["evidence"], len(told["agreed"])) == (2, [], [], 2)
    assert state.read_text() == told["checkpoint"] != first
    (tmp_path / "older").write_text(first)
    assert main([*check, "--against", str(tmp_path / "older")]) == 0
    assert "it continues" in capsys.readouterr().out
    assert main(["log", "show", service.url, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["entries"]
    assert [(one["position"], one["survey"], one["title"]) for one in listed] == [
        (0, DRINKS.id, DRINKS.title),
        (1, FRUIT.id, FRUIT.title),
    ]

    # Another list of the same length, and a longer one, of the same key: each is proof enough.
    evidence = [tmp_path / "mine.conflict.json", tmp_path / "mine.conflict-2.json"]
    lists = {"fork": [FRUIT.id, DRINKS.id], "longer": [DRINKS.id, FRUIT.id, "ab" * 32]}
    for place, (name, surveys) in zip(evidence, lists.items(), strict=True):
        other = other_head(tmp_path / "data", *surveys)
        (tmp_path / name).write_text(other)
        before = state.read_text()
        assert main([*check, "--state", str(state), "--against", str(tmp_path / name)]) == 1
        said = capsys.readouterr().out
        assert "WRONG" in said
        assert other in said
        assert state.read_text() == before, "what was remembered stays"
        (kept,) = json.loads(place.read_text())
        assert kept["checkpoints"] == [other, before]
        assert main([*check, "--state", str(state), "--against", str(tmp_path / name)]) == 1
        assert str(place) in capsys.readouterr().out, "the same evidence again needs no other file"
    assert sorted(tmp_path.glob("*conflict*")) == sorted(evidence), "and earlier evidence stays"
    state.write_text(other_head(tmp_path / "data", FRUIT.id))
    assert main([*check, "--state", str(state), "--json"]) == 1
    assert "has signed two lists" in json.loads(capsys.readouterr().out)["problems"][0]

    # What is no checkpoint of this log is an error, and no verdict.
    for content, words in (
        ("nonsense", "not a checkpoint"),
        (sign_checkpoint(SigningKey(bytes(32)), TreeHead(0, bytes(32))), "log that key"),
    ):
        (tmp_path / "bad").write_text(content)
        assert main([*check, "--against", str(tmp_path / "older"), "--against", str(tmp_path / "bad")]) == 2
        told = capsys.readouterr().err
        assert words in told
        assert f"{tmp_path / 'bad'}: " in told, "which of the two"
    assert main([*check, "--against", str(tmp_path / "nowhere")]) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert main([*check, "--key", "0" * 64]) == 2
    assert "is not the given one" in capsys.readouterr().err


def test_what_is_published_while_two_views_are_compared_is_hidden_by_nobody(
    service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    class Elsewhere(BaseHTTPRequestHandler):
        """Another address of the same collector, where somebody has just published."""

        def do_GET(self) -> None:
            service.publish(FRUIT)
            body = service.ask("GET", "/v1/log/checkpoint").body
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        status = main(["log", "check", service.url, "--against", f"http://127.0.0.1:{other.server_port}"])
        other.shutdown()
        thread.join()
    said = capsys.readouterr().out
    assert (status, "WRONG" in said) == (0, False), said
    assert "of 2 entries" in said
