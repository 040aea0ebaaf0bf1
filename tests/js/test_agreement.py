"""Random surveys, signatures, domains and expressions, made in Python, mean the same to JavaScript, to the last bit."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest
import rfc8785
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

import sottovoce as sv
from js.bridge import Bridge, Refused, as_sent, double, doubles
from js.surveys import LARGER, larger, last_value
from property.test_expressions import domains, questions
from sottovoce.core.errors import QueryError, SurveyError
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url
from sottovoce.expressions import Query
from sottovoce.formats.wire import batch_rows, batch_survey
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.workloads.naming import value_at

together = settings(max_examples=150)
MAX_REPORT_BYTES = 2**16

epsilons = st.one_of(st.sampled_from([2.0**-20, 0.1, 1.0, 2.5, 16.0]), st.floats(2.0**-20, 16.0))
titles = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=30)


@st.composite
def surveys(draw: st.DrawFn) -> Any:
    """Surveys of every kind but queries, whose strategies would have to be searched for."""
    try:
        survey = draw(st.sampled_from([distributions, means, rounds]).flatmap(lambda kind: kind()))
    except SurveyError:
        reject()  # such a mechanism over such a domain
    # Whoever signs a survey decides how much work it is; JavaScript goes less far with that than Python.
    assume(survey.kind == "panel" or survey.mechanism.report_bytes <= MAX_REPORT_BYTES)
    return survey


@st.composite
def distributions(draw: st.DrawFn) -> Any:
    mechanism = draw(st.sampled_from(["auto", *serving(FiniteMechanism)]))
    return sv.Survey(sv.shares(draw(domains)), epsilon=draw(epsilons), mechanism=mechanism, title=draw(titles))


@st.composite
def means(draw: st.DrawFn) -> Any:
    size, radius = draw(st.integers(1, 300)), draw(st.floats(1e-100, 1e100))
    return sv.Survey(
        sv.vector(size, radius), epsilon=draw(epsilons), mechanism="codebook", title=draw(titles), people=100
    )


@st.composite
def rounds(draw: st.DrawFn) -> Any:
    panel = sv.Panel(draw(domains), rounds=draw(st.integers(1, 2**16)), epsilon=draw(epsilons), title=draw(titles))
    asked = (panel, sv.adaptive.round_of(panel, panel.rounds, "0.5"), sv.adaptive.round_of(panel, 1, "1", 40))
    return draw(st.sampled_from(asked))


@together
@given(survey=surveys())
def test_surveys_are_the_same_to_both(client: Bridge, survey: Any) -> None:
    found = client.ask("survey", statement=survey.to_json())
    assert (found["id"], found["canonical"], found["kind"]) == (survey.id, survey.to_json(), survey.kind)
    assert (found["title"], double(found["epsilon"])) == (survey.title, survey.epsilon)
    if survey.kind == "panel":
        return
    assert (found["tag"], found["width"]) == (survey.tag.hex(), survey.mechanism.report_bytes)
    [report] = client.reports(survey, [last_value(survey)])
    assert report.startswith(survey.tag)
    assert survey.mechanism.encode(survey.mechanism.decode(report[len(survey.tag) :])) == report[len(survey.tag) :]


@together
@given(survey=surveys(), private=st.binary(min_size=32, max_size=32), bit=st.integers(0, 2**16))
def test_signatures(client: Bridge, survey: Any, private: bytes, bit: int) -> None:
    key, statement = SigningKey(private), survey.to_json()
    signature = key.sign(statement.encode())
    public = to_base64url(key.public)
    signed = {"key": public, "statement": statement, "signature": to_base64url(signature)}
    assert client.ask("verify", **signed) == fingerprint(key.public)
    for change in (
        {"statement": f"{statement} "},
        {"signature": to_base64url(flipped(signature, bit))},
        {"key": to_base64url(flipped(key.public, bit))},
    ):
        with pytest.raises(Refused, match="SignatureError"):
            client.ask("verify", **{**signed, **change})


def flipped(content: bytes, bit: int) -> bytes:
    """The bytes with one bit changed."""
    changed = bytearray(content)
    changed[bit // 8 % len(content)] ^= 1 << bit % 8
    return bytes(changed)


odd_values = st.sampled_from(
    [None, True, 0, -1, 1, 2, 3, 2**53 - 1, 1e300, 0.5, "", "x", [], {}, [0], {"name": "hadamard"}]
)


def as_canonical(digits: str) -> int | float:
    """A number as it is written again: beyond 2**53 only as a real."""
    return int(digits) if abs(int(digits)) < 2**53 else float(digits)


@st.composite
def altered(draw: st.DrawFn) -> str:
    """The canonical JSON of a survey with one part replaced, left out or put in."""
    statement: Any = json.loads(draw(surveys()).to_json(), parse_int=as_canonical)
    inside = statement
    while True:
        keys = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
        key = draw(st.sampled_from(keys))
        if isinstance(inside[key], dict | list) and inside[key] and draw(st.booleans()):
            inside = inside[key]
            continue
        change = draw(st.sampled_from(["replace", "replace", "drop", "add"]))
        if change == "drop":
            del inside[key]
        elif change == "add" and isinstance(inside, dict):
            inside["more"] = draw(odd_values)
        else:
            inside[key] = draw(odd_values)
        return rfc8785.dumps(statement).decode()


@settings(max_examples=250)
@given(text=altered())
def test_altered_surveys_are_refused_by_both_or_the_same_to_both(client: Bridge, text: str) -> None:
    try:
        expected = sv.Survey.from_json(text).id
    except SurveyError:
        expected = None
    try:
        found = client.ask("survey", statement=text)["id"]
    except Refused:
        found = None
    assert found == expected


GAPS = [([7, 3], "as 3"), (5, "as 0"), (range(-9, 9, 3), "as -3"), (["x", "y"], "as other")]
with_gaps = st.sampled_from([sv.Domain.of(values).with_missing(policy) for values, policy in GAPS])


@together
@given(domain=domains | with_gaps, odd=st.lists(odd_values | st.just(3.0), max_size=4), data=st.data())
def test_domains(client: Bridge, domain: sv.Domain, odd: list[Any], data: st.DataObject) -> None:
    numbers = data.draw(st.lists(st.integers(0, domain.size - 1), min_size=1, max_size=8))
    values = [*(value_at(domain, number) for number in numbers), *odd]
    found = client.ask(
        "domain",
        domain=domain.to_statement(),
        values=[as_sent(value) for value in values],
        numbers=[str(number) for number in numbers],
    )
    assert (int(found["size"]), found["stated"]) == (domain.size, domain.to_statement())
    assert found["labels"] == [domain.label(number) for number in numbers]
    assert [int(number) for number in found["found"]] == [domain._find(value) for value in values]


@settings(max_examples=250)
@given(question=questions(), data=st.data())
def test_expressions(client: Bridge, question: tuple[sv.Domain, Any], data: st.DataObject) -> None:
    domain, tree = question
    records = [*data.draw(st.lists(st.integers(0, domain.size - 1), max_size=8)), 0, domain.size - 1]
    asked = {"domain": domain.to_statement(), "tree": Query.from_tree(tree).tree, "records": [str(r) for r in records]}
    try:
        checked = Query.from_tree(tree).check(domain)
    except QueryError:
        with pytest.raises(Refused, match="QueryError"):
            client.ask("query", **asked)
        return
    found = client.ask("query", **asked)
    answers = Query.from_tree(tree).evaluate(domain, domain.split(records)).tolist()
    assert found["kind"] == checked.kind
    assert found["answers"] == [told(bool(answer) if checked.kind == "truth" else answer) for answer in answers]
    if checked.kind != "truth":
        assert found["ends"] == [told(checked.low), told(checked.high)]


def told(answer: object) -> str:
    """A real by its bits, everything else by its text."""
    if isinstance(answer, float):
        return struct.pack(">d", answer).hex()
    return str(answer).lower()


@pytest.mark.parametrize("name", LARGER)
def test_what_is_randomized_for_a_value(client: Bridge, name: str) -> None:
    survey, people = larger(name)
    values = people[:20]
    domain = survey.domain
    if domain is not None:
        values = [value_at(domain, number) for number in range(domain.size)]
    found = client.about(survey, "inputs", values=[as_sent(value) for value in values])
    for value, randomized in zip(values, found, strict=True):
        expected = survey.private_input(value)
        if isinstance(randomized, str):
            assert np.array_equal(doubles(randomized), np.asarray(expected))
        else:
            assert randomized == expected


def test_batches(client: Bridge) -> None:
    survey, people = larger("hadamard")
    reports = [(bytes([i]) * 16, report) for i, report in enumerate(client.reports(survey, people[:5]))]
    body = bytes.fromhex(client.ask("batch", id=survey.id, reports=[[i.hex(), report.hex()] for i, report in reports]))
    assert batch_survey(body) == survey.id
    rows = batch_rows(body, survey.id, survey.mechanism.report_bytes)
    assert [row.tobytes() for row in rows] == [report_id + report for report_id, report in reports]
