"""The ledger in words: what a person sees, also where the titles are a stranger's."""

from __future__ import annotations

import json

import pytest

import sottovoce as sv
from device.played import Played, refusal
from refusing import refuses
from sottovoce.core.errors import BudgetError
from sottovoce.device import Device, MemoryStore, RecordedAnswer


@pytest.fixture
def mine(played: Played) -> Device:
    """One answer sent, one not yet."""
    made = Device(MemoryStore())
    for epsilon, title in ((1.0, "Colours"), (0.1, "<b>Soups</b>")):
        made.answer(played.url, played.publish(sv.Survey(sv.shares(5), epsilon=epsilon, title=title)), 1)
        played.twists["POST", "/reports"] = lambda _: refusal(409, "survey_sealed")
    made.close()
    return made


def test_as_a_table(mine: Device, played: Played) -> None:
    lines = str(mine.ledger).splitlines()
    assert lines[0].split() == ["date", "collector", "title", "epsilon", "delta", "state"]
    assert lines[2].split()[1:] == [played.url, "Colours", "1", "0", "sent"]
    assert lines[3].endswith("refused by the collector")
    assert lines[-1] == "epsilon 6.9 of 8 left for life, 6.9 of 8 in any 91 days"
    assert repr(mine.ledger) == "<ledger of 2 answers: epsilon 6.9 of 8 left for life, 6.9 of 8 in any 91 days>"


def test_as_html_and_json(mine: Device) -> None:
    page = mine.ledger._repr_html_()
    assert "&lt;b&gt;Soups" in page
    assert "<b>" not in page
    told = json.loads(mine.ledger.to_json())
    assert told["epsilon"] == {"spent": 1.1, "left": 6.9, "budget": 8.0}
    assert told["answers"] == {"given": 2, "left": 998, "limit": 1000}
    assert [entry["state"] for entry in told["entries"]] == ["sent", "refused by the collector"]
    assert told["window"] == {"days": 91, "spent": 1.1, "left": 6.9, "budget": 8.0}
    assert told["renewals"] == []
    names = {"day", "collector", "title", "epsilon", "delta", "state", "survey", "window", "renews", "period"}
    assert set(told["entries"][0]) == names


def test_titles_cannot_move_the_cursor() -> None:
    """A survey's own check refuses such titles; the ledger does not rely on it."""
    title = "Soup\x1b[2J\r\n\u202eof\tthe \u2066day" + "y" * 500
    url = "https://stats.example.org"
    made = RecordedAnswer("ab" * 32, "cd" * 32, url, bytes(32), title, 1.0, 0.0, "", bytes(16), b"report")
    store = MemoryStore()
    store.record(made.question, 1, lambda answers: made)
    ledger = Device(store).ledger
    (entry,) = ledger
    assert entry.title.startswith("Soup[2J of the day")
    assert len(entry.title) == 200
    assert str(ledger).replace("\n", "").isprintable()
    assert max(map(len, str(ledger).splitlines())) < 160


def test_a_limit_on_answers(mine: Device) -> None:
    lower = Device(mine._store, max_answers=1).ledger
    assert lower.answers_left == 0
    assert str(lower).endswith("epsilon 6.9 of 8 left for life, 6.9 of 8 in any 91 days, no more answers of at most 1")
    for bad in (-1, 1.5, True, None, float("inf")):
        with refuses(BudgetError, "max_answers"):
            Device(MemoryStore(), max_answers=bad)  # type: ignore[arg-type]


def test_a_budget_that_was_lowered(mine: Device) -> None:
    lower = Device(mine._store, budget=0.5)
    assert (lower.ledger.left, lower.ledger.spent) == (0.0, 1.1)
