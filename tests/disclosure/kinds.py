"""A survey of every kind, small enough to be disclosed in a moment."""

from __future__ import annotations

from functools import cache
from typing import Any

import sottovoce as sv
from sottovoce.questions import Shares
from sottovoce.workloads import Prefix

__all__ = ["RELAY", "of_every_kind"]

RELAY = sv.Relay("https://relay.example.org", least=1000)


@cache
def of_every_kind() -> dict[str, Any]:
    """Surveys that can be disclosed as a whole, by name: every question, and each way to ask it."""
    panel = sv.Survey.adaptive({"age": range(4), "city": ["Oslo", "Rome"]}, 3, 1.0, title="People")
    weekly: dict[str, Any] = {"every": "week", "starts": "2027-01-04", "relay": RELAY}
    habit = Shares(["yes", "no"])
    year = sv.Survey.tracking(habit, 1.0, periods=52, **weekly)
    return {
        "shares": sv.Survey.distribution(["tea", "coffee", "water"], 1.0, title="Drinks"),
        "shuffled": sv.Survey.distribution(["tea", "coffee", "water"], 1.0, relay=RELAY),
        "queries": sv.Survey.queries(Prefix(8), 1.0, strategy="haar"),
        "attached": sv.Survey.queries(Prefix(4), 1.0, strategy="optimized"),
        "vector": sv.Survey.mean(3, 2.0, 1.0, users=2000),
        "approximate": sv.Survey.mean(3, 2.0, 1.0, 1e-6, "gaussian", users=2000),
        "choices": sv.Survey.choices(["bus", "tram", "bike"], 1.0),
        "number": sv.Survey.number(0, 600, 3.0, unit="minutes"),
        "records": sv.Survey.records({"plan": ["free", "pro"], "minutes": sv.number(0, 600)}, epsilon=1.0),
        "words": sv.Survey.words(4, "latin", epsilon=2.0),
        "round": sv.Survey.round(panel, 1, "age", size=4),
        "tracking": year,
        "period": year.period(3),
        "renewed": sv.Survey.tracking(habit, 1.0, periods=52, renews="quarter", **weekly),
        "endless": sv.Survey.tracking(habit, 1.0, renews="quarter", **weekly),
    }
