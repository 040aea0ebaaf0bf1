"""An auditor fetches what stands behind every entry of a log, and names what is missing, wrong or asked twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sottovoce as sv
from collector.service import running
from device.played import Played, refusal
from device.played_relay import PlayedRelay
from sottovoce.analyst.log_audit import view_log
from sottovoce.analyst.log_statements import StatementFault, check_statements
from sottovoce.cli import main
from sottovoce.device import Http
from sottovoce.surveys.survey import Survey

DRINKS = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="What do you drink?")
FRUIT = Survey(sv.shares(["apple", "pear"]), epsilon=1.0, title="Which fruit?")
SUMS = Survey(sv.queries(sv.workloads.Prefix(8)), epsilon=1.0, strategy="optimized", title="Sums")
AGES = sv.Panel({"age": range(100)}, rounds=3, epsilon=2.0, title="Ages")
TRACK = sv.Tracking(sv.shares(["yes", "no"]), epsilon=1.0, every="week", starts="2026-01-05", periods=4)
YOUNG, OLD = (sv.adaptive.round_of(AGES, 1, f"age < {limit}") for limit in (30, 60))


@pytest.fixture
def played() -> Iterator[Played]:
    with Played() as collector:
        collector.log = [collector.publish(one) for one in (DRINKS, SUMS, AGES, YOUNG, TRACK)]
        yield collector


def faults(played: Played) -> list[StatementFault]:
    http = Http(played.url)
    return check_statements(http, view_log(http).entries)


def test_an_honest_log_has_none(played: Played) -> None:
    assert faults(played) == []
    asked = [path for _, path in played.requests if "/statements/" in path or "/attachments/" in path]
    ((digest, _),) = SUMS.attachments.items()
    assert sorted(asked) == sorted(
        [*(f"/v1/log/statements/{survey}" for survey in played.log or ()), f"/v1/attachments/{digest}"]
    )


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (lambda: refusal(404, "not_in_log"), "cannot be fetched"),
        (lambda: refusal(410, "statement_gone"), "cannot be fetched"),
        (lambda: refusal(403, "no"), "cannot be fetched"),
        (lambda: refusal(451, "for_legal_reasons"), "cannot be fetched"),
        (lambda: (200, {}, DRINKS.canonical + b" "), "the id is not its SHA-256"),
        (lambda: (200, {}, FRUIT.canonical), "the id is not its SHA-256"),
        (lambda: (200, {}, b" " * (2**24 + 1)), "longer than the limit"),
    ],
)
def test_a_statement_that_is_missing_or_another_is_named(played: Played, reply: Callable[[], Any], fault: str) -> None:
    played.twists["GET", f"/statements/{DRINKS.id}"] = lambda _: reply()
    (found,) = faults(played)
    assert (found.position, found.survey) == (0, DRINKS.id)
    assert fault in found.fault
    assert str(found).startswith(f"entry 0, survey {DRINKS.id}: its statement")


@pytest.mark.parametrize("reply", [lambda: refusal(404, "unknown_attachment"), lambda: (200, {}, b"another")])
def test_an_attachment_that_is_missing_or_another_is_named(played: Played, reply: Callable[[], Any]) -> None:
    ((digest, _),) = SUMS.attachments.items()
    played.twists["GET", f"/attachments/{digest}"] = lambda _: reply()
    (found,) = faults(played)
    assert found.survey == SUMS.id
    assert "attachment" in found.fault


def test_one_round_with_two_questions_is_named(played: Played) -> None:
    """Devices of that round could be shown one of them each."""
    played.log = [*(played.log or ()), played.publish(OLD)]
    (found,) = faults(played)
    assert (found.position, found.survey) == (5, OLD.id)
    assert found.fault == f"it is round 1 of panel {AGES.id}, and so is survey {YOUNG.id}"


def test_what_is_no_survey_is_named(played: Played) -> None:
    """Any bytes have a hash that can be logged."""
    for content in (b"[]", b"\xff", b'{"seat":{"round":"x"}}', b'{"design":{"digest":"../../v1/key"}}'):
        survey = hashlib.sha256(content).hexdigest()
        played.log = [survey]
        played.twists = {("GET", f"/statements/{survey}"): lambda _, content=content: (200, {}, content)}
        (found,) = faults(played)
        assert "is not a survey" in found.fault or "its attachment" in found.fault


def test_a_refusal_of_one_hides_no_other(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    played.twists["GET", f"/statements/{DRINKS.id}"] = lambda _: refusal(403, "no")
    other = next(survey for survey in played.log or () if survey != DRINKS.id)
    played.twists["GET", f"/statements/{other}"] = lambda _: refusal(404, "not_in_log")
    assert {found.survey for found in faults(played)} == {DRINKS.id, other}
    assert main(["log", "check", played.url]) == 1
    told = capsys.readouterr()
    assert DRINKS.id in told.out + told.err
    assert other in told.out + told.err


def test_a_long_log_is_read_in_parts(played: Played) -> None:
    gone = [f"{number:064x}" for number in range(2100)]
    played.log = [DRINKS.id, *gone, TRACK.id]
    found = faults(played)
    assert [fault.survey for fault in found] == gone
    assert [fault.position for fault in found] == list(range(1, 2101))


def test_the_command_names_them_and_remembers_the_head(
    played: Played, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = ["log", "check", played.url, "--state", str(tmp_path / "mine")]
    assert main(check) == 0
    assert "every statement can be fetched" in capsys.readouterr().out
    (tmp_path / "mine").unlink()
    played.twists["GET", f"/statements/{TRACK.id}"] = lambda _: refusal(410, "statement_gone")
    assert main(check) == 1
    said = capsys.readouterr().out
    assert f"WRONG: entry 4, survey {TRACK.id}: its statement cannot be fetched" in said
    assert (tmp_path / "mine").read_text() == played.checkpoint(), "the head is signed: the next check continues it"
    assert main([*check, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["statements"] == [{"position": 4, "survey": TRACK.id, "fault": "its statement cannot be fetched"}]
    assert len(told["problems"]) == 1


def test_through_a_relay(played: Played, capsys: pytest.CaptureFixture[str]) -> None:
    with PlayedRelay(played) as relay:
        assert main(["log", "check", played.url, "--relay", relay.url]) == 0
        assert played.requests == [], "the collector is asked by nobody but the relay"
        hidden, played._honest = played._honest, _hiding(played._honest)  # type: ignore[method-assign]
        assert main(["log", "check", played.url, "--relay", relay.url]) == 1
        assert DRINKS.id in capsys.readouterr().out
        played._honest = hidden  # type: ignore[method-assign]


def _hiding(honest: Callable[..., Any]) -> Callable[..., Any]:
    return lambda method, parts: refusal(404, "x") if parts[-2:] == ["statements", DRINKS.id] else honest(method, parts)


def test_a_real_collector_keeps_statements_of_what_it_deletes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(tmp_path / "data", "--workers", "0") as service:
        for survey in (DRINKS, FRUIT, AGES):
            service.publish(survey)  # type: ignore[arg-type]
        said = {"statement": YOUNG.to_json(), "labels": []}
        assert service.ask("POST", f"/v1/surveys/{AGES.id}/rounds", json=said).status == 201
        for survey in (FRUIT, AGES):
            assert service.ask("DELETE", f"/v1/surveys/{survey.id}").status == 200
        assert main(["log", "check", service.url]) == 0
        assert "4 entries" in capsys.readouterr().out
        with sqlite3.connect(tmp_path / "data" / "collector.db") as database:  # as an earlier version left it
            database.execute("UPDATE surveys SET canonical = x'' WHERE id = ?", (FRUIT.id,))
        assert main(["log", "check", service.url]) == 1
        assert f"entry 1, survey {FRUIT.id}: its statement cannot be fetched" in capsys.readouterr().out
