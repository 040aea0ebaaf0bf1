"""Surveys in which fewer things happen, so that tests of planted faults take seconds: each fault needs these alone."""

from __future__ import annotations

from dataclasses import replace

from sottovoce.histories.scenario import Scenario

__all__ = ["fewer"]

_NAMES = {
    "plain survey": (
        *("answer a", "flush", "restart", "answer another survey", "answer a, another survey is shown"),
        *(
            "answer a, the request is lost",
            "answer b, the response is lost",
            "answer a while another process answers b",
        ),
        "answer a, it is signed with another key",
    ),
    "tracking survey": (
        *("answer a", "flush", "a period passes", "a window passes", "answer a, crash after it is recorded"),
        *("answer a, the collector's clock is ahead", "answer a, days pass meanwhile"),
    ),
    "panel": (*("answer a", "flush", "restart", "the next round opens", "answer a, the round asks another question"),),
}


def fewer(scenario: Scenario) -> Scenario:
    """The same survey with fewer events; all of them where none are named."""
    names = _NAMES.get(scenario.name)
    if names is None:
        return scenario
    chosen = tuple(event for event in scenario.events if event.name in names)
    assert len(chosen) == len(names)
    return replace(scenario, events=chosen)
