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
    panel = sv.Panel({"age": range(4), "city": ["Oslo", "Rome"]}, rounds=3, epsilon=1.0, title="People")
    weekly: dict[str, Any] = {"every": "week", "starts": "2027-01-04", "relay": RELAY}
    habit = Shares(["yes", "no"])
    year = sv.Tracking(habit, epsilon=1.0, periods=52, **weekly)
    return {
        "shares": sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, title="Drinks"),
        "shuffled": sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, relay=RELAY),
        "queries": sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="haar"),
        "attached": sv.Survey(sv.queries(Prefix(4)), epsilon=1.0, strategy="optimized"),
        "vector": sv.Survey(sv.vector(3, 2.0), epsilon=1.0, people=2000),
        "approximate": sv.Survey(sv.vector(3, 2.0), epsilon=1.0, delta=1e-6, mechanism="gaussian", people=2000),
        "choices": sv.Survey(sv.choices(["bus", "tram", "bike"]), epsilon=1.0),
        "number": sv.Survey(sv.number(0, 600, "minutes"), epsilon=3.0),
        "relation": sv.Survey(
            sv.relation({"age": sv.number(18, 90), "plan": ["free", "pro"]}, outcome=sv.number(0, 600, "minutes")),
            epsilon=1.0,
        ),
        "records": sv.Survey(sv.records({"plan": ["free", "pro"], "minutes": sv.number(0, 600)}), epsilon=1.0),
        "words": sv.Survey(sv.words(4, "latin"), epsilon=2.0),
        "round": sv.adaptive.round_of(panel, 1, "age", 4),
        "tracking": year,
        "period": year.period(3),
        "renewed": sv.Tracking(habit, epsilon=1.0, periods=52, renews="quarter", **weekly),
        "endless": sv.Tracking(habit, epsilon=1.0, renews="quarter", **weekly),
    }
