"""Vectors of surveys that state a relay, and of statements whose relay a device must refuse."""

from __future__ import annotations

import json
from typing import Any

import sottovoce as sv
from sottovoce.core.errors import SurveyError
from sottovoce.questions import Shares
from sottovoce.surveys.relay import Relay

__all__ = ["relay_vectors"]

RELAYS = [
    Relay("https://relay.example.org", 10_000),
    Relay("https://relay.example.org:8471/ldp/v2", 2, 1e-9),
    Relay("http://127.0.0.1:8471", 100_000, 0.5),
    Relay("http://[::1]", 1000),
]

BAD: list[Any] = [
    None,
    "https://relay.example.org",
    {},
    {"url": "https://relay.example.org", "least": 100},
    {"url": "https://relay.example.org", "least": 100, "delta": 1e-6, "hold": 1},
    *({"least": least} for least in (1, 0, -5, 100.5, True, "100", None, 10**400)),
    *({"delta": delta} for delta in (0, 1, -1e-6, True, "1e-6", None)),
    *(
        {"url": url}
        for url in (None, 5, "", "relay.example.org", "ftp://relay.example.org", "http://relay.example.org")
    ),
    *({"url": f"https://relay.example.org{rest}"} for rest in ("/", "//a", "/..", "?a=1", "#a", "/%41", "/a b")),
    *({"url": f"https://relay.example.org{port}"} for port in (":443", ":0", ":65536", ":080", ":")),
    *(
        {"url": url}
        for url in ("HTTPS://relay.example.org", "https://Relay.example.org", "https://me@relay.example.org")
    ),
    *({"url": url} for url in ("http://127.0.0.1:80", "http://0.0.0.0", "https://\u212aelvin.org", "https://-a.org")),
    {"url": "https://" + "a" * 193},
]
"""What makes a good relay a bad one: fields that are changed, or the whole."""


def relay_vectors() -> dict[str, Any]:
    """Surveys and a tracking survey with a relay, and what is refused in its place."""
    good = sv.Survey(
        sv.shares(["yes", "no"]), epsilon=4.0, mechanism="randomized_response", title="Through a relay", relay=RELAYS[0]
    )
    stated = json.loads(good.to_json())
    weekly = sv.Tracking(
        Shares(["yes", "no"]),
        epsilon=1.0,
        every="week",
        starts="2027-01-04",
        periods=4,
        relay=RELAYS[1],
        title="Every week",
    )
    panel = sv.Panel(range(10), rounds=4, epsilon=1.0)
    gaussian = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian")
    relay = RELAYS[0].to_statement()
    others = [panel, sv.adaptive.round_of(panel, 2, "value < 5"), gaussian]
    bad = [relay | change if _is_change(change) else change for change in BAD]
    return {
        "about": "Surveys whose statement has a `relay`, each with its canonical JSON and id; of the tracking survey "
        "also the ids of its periods, which have the same relay. Statements in `bad` must be refused.",
        "surveys": [_survey(sv.Survey.from_json(json.dumps(stated | {"relay": one.to_statement()}))) for one in RELAYS],
        "tracking": {**_survey(weekly), "periods": [weekly.period(number).id for number in range(1, 5)]},
        "bad": [
            *(_refused({**stated, "relay": one}) for one in bad),
            *(_refused({**json.loads(one.to_json()), "relay": relay}) for one in others),
        ],
    }


def _is_change(change: Any) -> bool:
    return isinstance(change, dict) and len(change) == 1


def _survey(survey: Any) -> dict[str, Any]:
    return {
        "canonical": survey.to_json(),
        "id": survey.id,
        "tag": survey.tag.hex(),
        "relay": survey.relay.to_statement(),
    }


def _refused(statement: dict[str, Any]) -> str:
    text = json.dumps(statement, separators=(",", ":"), ensure_ascii=False)
    try:
        sv.Survey.from_json(text)
    except SurveyError:
        return text
    raise ValueError(f"{text} is accepted")
