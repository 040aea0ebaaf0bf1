"""Collectors that contradict themselves, or change while they are read: an analyst is told, nothing counts twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

import sottovoce as sv
from device.played import Played, as_json, refusal
from sottovoce.analyst.collector import Collector
from sottovoce.analyst.parquet import read_export
from sottovoce.core.errors import ServiceError, SessionError
from sottovoce.core.signing import to_base64url
from sottovoce.device.http import BAD_ANSWER
from sottovoce.formats.wire import encode_batch
from sottovoce.protocol.surveys import RoundStatus, Status

AGES = sv.Panel(sv.Domain.of(10), rounds=4, epsilon=1.0, title="Ages")
COLOURS = sv.Survey(sv.shares(["red", "green"]), epsilon=1.0, title="Colours")


@pytest.fixture
def played() -> Iterator[Played]:
    with Played() as collector:
        collector.twists["GET", "/v1/key"] = lambda _: as_json(200, {"key": to_base64url(collector.key.public)})
        yield collector


def connected(played: Played) -> Collector:
    return sv.connect(played.url, "a-token")


def with_rounds(played: Played, *rounds: Any, labels: tuple[str, ...] = ()) -> None:
    """A collector that lists these surveys as rounds 1, 2, ..."""
    played.publish(AGES)
    status = Status(AGES.id, "", "panel", 1.0, 0.0, None, "open", 0, 0, 1, len(rounds), 0)
    played.twists["GET", f"{AGES.id}/status"] = lambda _: as_json(200, status.to_dict())
    told = [
        to_builtins(RoundStatus(played.publish(asked), place, "open", 0, 0, "", list(labels)))
        for place, asked in enumerate(rounds, 1)
    ]
    played.twists["GET", f"{AGES.id}/rounds"] = lambda _: as_json(200, {"rounds": told})


def session(played: Played) -> object:
    return connected(played).survey(AGES.id).session(reports=5, finish=False)


def test_a_round_that_belongs_to_something_else(played: Played) -> None:
    other = sv.Panel(sv.Domain.of(10), rounds=2, epsilon=1.0)
    for foreign in (COLOURS, sv.adaptive.round_of(other, 1, sv.query("value < 3"))):
        with_rounds(played, foreign)
        with pytest.raises(SessionError, match=f"round 1 is not a round of panel {AGES.id[:12]}"):
            session(played)


def test_rounds_out_of_order(played: Played) -> None:
    first, second = (sv.adaptive.round_of(AGES, number, sv.query("value < 3")) for number in (1, 2))
    with_rounds(played, first)
    session(played)
    for listed in ((second,), (first, second)):  # one is missing; the second was opened while the first still is
        with_rounds(played, *listed)
        with pytest.raises(SessionError, match="not in order"):
            session(played)


def test_more_names_than_choices(played: Played) -> None:
    with_rounds(played, sv.adaptive.round_of(AGES, 1, sv.query("value"), 3), labels=("a", "b"))
    with pytest.raises(SessionError, match="names 2 choices for round 1, which has 3"):
        session(played)


@pytest.mark.parametrize("answer", [{"segments": "many"}, {"segments": [{"number": 1}]}, [1], None], ids=repr)
def test_an_answer_of_another_shape(played: Played, answer: object) -> None:
    played.publish(COLOURS)
    played.twists["GET", "/segments"] = lambda _: as_json(200, answer)
    with pytest.raises(ServiceError, match="is it a collector, and of the same version") as refused:
        connected(played).survey(COLOURS.id).segments()
    assert refused.value.code == BAD_ANSWER


class Merging:
    """A collector whose segments 1 and 2 become segment 3 while they are exported; it may forget that for ever."""

    def __init__(self, played: Played, *, gone: bool = False) -> None:
        self.rows = [(bytes([number]) * 16, COLOURS.randomize("red")) for number in range(4)]
        self.merged = gone
        self.gone = gone
        self.asked = 0
        played.publish(COLOURS)
        played.twists["GET", "/segments"] = lambda _: as_json(200, {"segments": self.listed()})
        played.twists["GET", "/segments/1"] = lambda _: self.part(self.rows[:2])
        played.twists["GET", "/segments/2"] = lambda _: self.lost()
        played.twists["GET", "/segments/3"] = lambda _: self.lost() if self.gone else self.part(self.rows)

    def listed(self) -> list[dict[str, int]]:
        sizes = {3: 4} if self.merged else {1: 2, 2: 2}
        return [{"number": number, "epoch": 0, "n": n} for number, n in sizes.items()]

    def part(self, rows: list[tuple[bytes, bytes]]) -> Any:
        return 200, {"Content-Type": "application/octet-stream"}, encode_batch(COLOURS.id, rows)

    def lost(self) -> Any:
        self.merged = True
        self.asked += 1
        return refusal(404, "unknown_segment")


def test_segments_merged_while_they_are_exported_count_once(played: Played, tmp_path: Path) -> None:
    merging = Merging(played)
    live = connected(played).survey(COLOURS.id)
    told: list[int] = []
    done = live.export(tmp_path / "out", progress=told.append)
    assert (done.files, done.reports, merging.asked) == (2, 4, 1)
    assert told == [2, 4]
    assert read_export(COLOURS, tmp_path / "out").n_reports == 4
    assert live.export(tmp_path / "out").reports == 0
    assert repr(live).startswith("<live shares survey")


def test_a_segment_that_is_listed_and_never_there_ends_the_export(played: Played, tmp_path: Path) -> None:
    merging = Merging(played, gone=True)
    with pytest.raises(ServiceError, check=lambda error: error.status == 404):
        connected(played).survey(COLOURS.id).export(tmp_path / "out")
    assert 1 < merging.asked <= 1000
