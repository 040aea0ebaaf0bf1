"""The fault that is found in a body: there is one exactly where msgspec refuses, and it quotes nothing."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.protocol.access import LogLevel, NewToken
from sottovoce.protocol.drafts import Draft, PlanRequest, RoundQuestion
from sottovoce.protocol.reports import ReportsBody
from sottovoce.protocol.surveys import Publication, RoundOpening
from sottovoce.service.http.validation import find_fault

VALID: dict[Any, dict[str, Any]] = {
    NewToken: {"scopes": ["read"], "note": "for Ada"},
    LogLevel: {"level": "info"},
    Publication: {"statement": "{}", "attachments": {"0" * 64: "AAAA"}, "minimum_reports": 3},
    RoundOpening: {"statement": "{}", "labels": ["a", "b"], "minimum_reports": None},
    ReportsBody: {"reports": [{"id": "0" * 32, "report": "AA"}]},
    Draft: {"kind": "shares", "parameters": {"values": 3}, "epsilon": 1, "criterion": "l2", "people": 10},
    PlanRequest: {"kind": "shares", "population": "uniform", "margin": 0.1},
    RoundQuestion: {"query": "age < 3", "choices": ["a", "b"]},
}

SECRET = "gazpacho"

JSON = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**63 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.sampled_from(["", SECRET, "read", "uniform", "l2", "0" * 64, "a\0b"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["id", SECRET]), inner)),
    max_leaves=4,
)


def accepts(body: Any, kind: Any) -> bool:
    try:
        msgspec.json.decode(json.dumps(body), type=kind)
    except msgspec.ValidationError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("kind", VALID, ids=lambda kind: kind.__name__)
@settings(max_examples=150, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_fault_is_found_where_msgspec_refuses_and_nowhere_else(kind: Any, data: st.DataObject) -> None:
    body: Any = dict(VALID[kind])
    assert accepts(body, kind)
    assert find_fault(body, kind) is None
    match data.draw(st.sampled_from(["replace", "remove", "add", "whole"])):
        case "replace":
            body[data.draw(st.sampled_from(sorted(body)))] = data.draw(JSON)
        case "remove":
            del body[data.draw(st.sampled_from(sorted(body)))]
        case "add":
            body[SECRET] = data.draw(JSON)
        case "whole":
            body = data.draw(JSON)
    fault = find_fault(body, kind)
    assert (fault is None) == accepts(body, kind)
    assert fault is None or SECRET not in fault.message
