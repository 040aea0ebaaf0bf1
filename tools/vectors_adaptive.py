"""Vectors of panels: what a device derives from a panel and a round of it, and reports from known bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

import sottovoce as sv
from sottovoce.mechanisms.binary import Binary
from sottovoce.randomness import ByteSource

__all__ = ["adaptive_vectors"]

Tape = Callable[[str], Any]

PEOPLE = sv.Domain.product(
    age=range(18, 100), country=["DE", "FR", "Österreich"], words=2**40, name=sv.Domain.text(4, "abcdefgh")
)
RECORDS: list[tuple[object, ...]] = [
    (18, "DE", 0, ""),
    (99, "Österreich", 2**40 - 1, "hhhh"),
    (42, "FR", 2**39 + 12345, "abba"),
]
QUESTIONS = [
    "age < 30 and country in ('FR', 'DE')",
    "(age - 58) / 41",
    "bit(words, 13) or prefix(name, 2) == 'ab'",
    "1000 * age - 50000",  # a hostile query: devices clip it
]
CHOICES = [("find(country, ('FR', 'DE'))", 3), ("prefix(words, 10)", 1024), ("age * 100 - 5000", 7)]


def adaptive_vectors(tape: Tape) -> dict[str, Any]:
    """Panels, and rounds with reports; `tape` makes a recorder of known bytes from a label."""
    small = sv.Panel(PEOPLE, rounds=6, epsilon=1.0, title="Sechs Fragen")
    wide = sv.Panel(2**60, rounds=300, epsilon=0.5, radius=2.5)
    rounds = [sv.adaptive.round_of(small, j, text) for j, text in enumerate(QUESTIONS, 1)]
    rounds += [sv.adaptive.round_of(small, j, text, size) for j, (text, size) in enumerate(CHOICES, 1)]
    rounds.append(sv.adaptive.round_of(wide, 300, f"2.5 if value >= {2**59} else -1.25"))
    return {
        "about": "Panels, as `surveys`; and rounds: the number or choice that a record gives, clipped by the device, "
        "the bytes drawn, and the bytes sent. Integers of 2**53 and more stand as decimal text.",
        "surveys": [_stated(panel) for panel in (small, wide)],
        "rounds": [_round(asked, tape) for asked in rounds],
        "thresholds": [_thresholds(epsilon, radius) for epsilon, radius in ((1.0, 1.0), (0.25, 3.0), (16.0, 1e-3))],
    }


def _stated(stated: Any) -> dict[str, Any]:
    return {"survey": json.loads(stated.canonical), "canonical": stated.to_json(), "id": stated.id}


def _round(asked: sv.Survey, tape: Tape) -> dict[str, Any]:
    records = RECORDS if asked.domain == PEOPLE else [0, 2**59 - 1, 2**59, 2**60 - 1]
    return {
        **_stated(asked),
        "tag": asked.tag.hex(),
        "reports": [_report(asked, record, run, tape) for record in records for run in range(2)],
    }


def _report(asked: sv.Survey, record: object, run: int, tape: Tape) -> dict[str, Any]:
    recorder = tape(f"sottovoce {asked.id} {record} {run}")
    given = asked.private_input(record)
    payload = asked.mechanism.encode(asked.mechanism.randomize(given, ByteSource(recorder)))
    positions = {name: str(column[0]) for name, column in asked.domain.columns([record]).items()}
    number = float(np.asarray(given).reshape(-1)[0])
    return {
        "positions": positions,
        "input": number.hex() if asked.kind == "vector" else int(number),
        "tape": recorder.read.hex(),
        "report": (asked.tag + payload).hex(),
    }


def _thresholds(epsilon: float, radius: float) -> dict[str, Any]:
    """Chances of a 1 out of 2**64, as decimal text; numbers as hexadecimal floats."""
    mechanism = Binary(1, radius, epsilon, 0.0)
    shares = (-1.0, -0.3, -1e-17, 0.0, 5e-324, 1 / 3, 0.999999, 1.0)
    return {
        "epsilon": epsilon,
        "radius": radius,
        "amplitude": str(mechanism.amplitude),
        "chances": [[(share * radius).hex(), str(mechanism.threshold(share * radius))] for share in shares],
    }
