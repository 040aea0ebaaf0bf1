"""A survey's identity: canonical JSON, its hash, and the refusal of everything that is not a survey."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import DomainError, SurveyError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.questions import Shares
from sottovoce.workloads import Prefix
from sottovoce.workloads.naming import value_at

COLOURS = ["red", "green", "blue"]


def colours(**changes: Any) -> sv.Survey:
    domain = changes.pop("domain", COLOURS)
    given = {"epsilon": 1.0, "mechanism": "hadamard", "title": "Favourite colour", **changes}
    return sv.Survey(sv.shares(domain), **given)


def test_ids_do_not_change() -> None:
    """An id is on every report ever sent: these may change only together with the format's number."""
    assert colours().to_json() == (
        '{"delta":0,"design":{"mechanism":{"name":"hadamard"},"strategy":"histogram"},"epsilon":1,"format":2,'
        '"question":{"domain":{"labels":["red","green","blue"]},"kind":"shares"},"title":"Favourite colour"}'
    )
    assert colours().id == "9836f572daaf7090f68366b7bc06c923045b3cd26a1f44afcbed833c5605cd05"
    assert (
        sv.Survey(sv.shares(1024), epsilon=0.5, mechanism="subset_selection").id
        == "628de7c8e3343c4c20ed4c6ca9e91e625f467222e2327ce0a910345b7d422d04"
    )
    people = sv.Domain.product(age=range(18, 100), country=["DE", "FR", "Österreich"])
    chosen = sv.Survey(sv.shares(people), epsilon=math.log(3), mechanism="projective_geometry")
    stated = json.loads(chosen.to_json())
    stated["design"]["mechanism"].update(order=5, dimension=5)
    assert (
        sv.Survey.from_json(json.dumps(stated)).id == "eb8d6adaa9e49fcd12233b6dae7a78ff1a3ddac72edef93a1a6893e0f4e3d179"
    )
    assert chosen.mechanism.parameters() == {"order": 4, "dimension": 5}
    ages = sv.Survey(sv.queries(Prefix(range(18, 100))), epsilon=1.0, strategy="haar", mechanism="haar", title="Ages")
    assert ages.to_json() == (
        '{"delta":0,"design":{"mechanism":{"name":"haar","tilt":0},"strategy":"haar"},"epsilon":1,"format":2,'
        '"question":{"kind":"queries","workload":{"domain":{"size":82,"start":18,"step":1},"type":"prefix"}},'
        '"title":"Ages"}'
    )
    assert sv.Survey(sv.vector(1, 2.5), epsilon=1.0, mechanism="binary").to_json() == (
        '{"delta":0,"design":{"mechanism":{"name":"binary"},"strategy":"direct"},"epsilon":1,"format":2,'
        '"question":{"dimension":1,"kind":"vector","radius":2.5},"title":""}'
    )


def test_the_id_is_the_hash_of_the_canonical_bytes() -> None:
    survey = colours()
    assert survey.id == hashlib.sha256(survey.canonical).hexdigest()
    assert survey.tag == bytes.fromhex(survey.id)[:4]
    assert survey.canonical.decode() == survey.to_json()
    statement = json.loads(survey.canonical)
    assert (
        survey.canonical
        == json.dumps(
            {**statement, "delta": 0, "epsilon": 1}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode()
    )


@pytest.mark.parametrize("name", serving(FiniteMechanism))
@pytest.mark.parametrize("domain", [2, ["a", "b", "ü"], range(-7, 40, 3), {"x": 5, "y": ["p", "q"]}], ids=repr)
@pytest.mark.parametrize("epsilon", [2.0**-20, 0.1, 1, math.pi, 16.0])
def test_json_restores_the_survey(name: str, domain: Any, epsilon: float) -> None:
    survey = sv.Survey(sv.shares(domain), epsilon=epsilon, mechanism=name, title="Übung 1")
    for text in (survey.to_json(), survey.canonical, json.dumps(json.loads(survey.to_json()), indent=2)):
        again = sv.Survey.from_json(text)
        assert again == survey
        assert again.id == survey.id
        assert again.epsilon == survey.epsilon
        assert again.mechanism == survey.mechanism


def test_the_order_of_keys_does_not_matter() -> None:
    statement = json.loads(sv.Survey(sv.shares({"x": 5, "y": 3}), epsilon=1.0, mechanism="subset_selection").to_json())

    def backwards(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: backwards(value[key]) for key in reversed(value)}
        return [backwards(entry) for entry in value] if isinstance(value, list) else value

    turned = json.dumps(backwards(statement))
    assert turned != json.dumps(statement)
    assert sv.Survey.from_json(turned).canonical == sv.Survey.from_json(json.dumps(statement)).canonical


@pytest.mark.parametrize("one", [1, 1.0, True - 0, Fraction(1), np.float64(1), np.float32(1), np.int8(1)], ids=repr)
def test_one_is_one(one: Any) -> None:
    assert colours(epsilon=one).id == colours().id
    assert type(colours(epsilon=one).epsilon) is float


def test_every_change_makes_another_survey() -> None:
    variants = [
        colours(),
        colours(epsilon=math.nextafter(1.0, 2)),
        colours(title="Favourite color"),
        colours(title=""),
        colours(domain=["green", "red", "blue"]),
        colours(domain=["red", "green", "blue", "grey"]),
        colours(domain=3),
        colours(domain=range(1, 4)),
        colours(domain=range(0, 6, 2)),
        colours(domain=[0, 1, 2]),
        colours(domain=["0", "1", "2"]),
        colours(domain={"x": 3}),
        colours(domain={"y": 3}),
        colours(mechanism="randomized_response"),
        colours(mechanism="hadamard_blocks"),
        colours(mechanism="unary_optimized"),
        colours(mechanism="unary_symmetric"),
        colours(mechanism="subset_selection"),
        colours(mechanism="projective_geometry"),
    ]
    statement = json.loads(colours(mechanism="hadamard_blocks", domain=9).to_json())
    for blocks in (1, 2, 4, 8):
        statement["design"]["mechanism"]["blocks"] = blocks
        variants.append(sv.Survey.from_json(json.dumps(statement)))
    assert len({survey.id for survey in variants}) == len(variants)
    assert len(set(variants)) == len(variants)


def test_attributes_are_ordered_because_records_are_numbered_by_them() -> None:
    assert colours(domain={"x": 2, "y": 3}).id != colours(domain={"y": 3, "x": 2}).id


def test_a_survey_is_frozen_and_of_one_piece() -> None:
    survey = colours()
    with pytest.raises(dataclasses.FrozenInstanceError):
        survey.title = "other"  # type: ignore[misc]
    for change in ({"question": Shares(4)}, {"design": colours(domain=4).design}, {"title": "two\nlines"}):
        with pytest.raises(SurveyError):
            sv.Survey.of_design(**{"question": survey.question, "design": survey.design, **change})
    assert sv.Survey.of_design(survey.question, survey.design, "other").id == colours(title="other").id


@pytest.mark.parametrize("title", ["two\nlines", "x" * 201, "\ud800", "\x00", 5, None, b"bytes"], ids=repr)
def test_titles_are_one_printable_line(title: Any) -> None:
    with refuses(SurveyError, "title"):
        colours(title=title)


def test_surveys_tell_what_they_are_in_one_line() -> None:
    text = repr(colours())
    assert text.startswith(f"<shares survey {colours().id[:12]}: 3 ")
    assert text.endswith(", epsilon 1, hadamard>")


DOMAINS = {
    "size": 16,
    "range": range(0, 32, 2),
    "labels": [str(i) for i in range(16)],
    "product": {"x": 4, "y": [1, 2, 3, 4]},
}


@cache
def text_of(name: str, domain: str) -> str:
    return sv.Survey(sv.shares(DOMAINS[domain]), epsilon=1.0, mechanism=name).to_json()


def statement_of(name: str = "hadamard", domain: str = "size") -> dict[str, Any]:
    return json.loads(text_of(name, domain))


def refused(statement: Any) -> SurveyError:
    text = statement if isinstance(statement, (str, bytes)) else json.dumps(statement)
    with pytest.raises(SurveyError) as caught:
        sv.Survey.from_json(text)
    return caught.value


@pytest.mark.parametrize("field", ["format", "title", "epsilon", "delta", "question", "design"])
def test_every_field_is_needed_and_of_its_type(field: str) -> None:
    statement = statement_of()
    missing = {key: value for key, value in statement.items() if key != field}
    assert "a survey " in str(refused(missing))
    for wrong in (None, True, [], {}, "x" * 201, -1, 2.5e300, [[]], {"name": None}, 10**140):
        refused({**statement, field: wrong})


@pytest.mark.parametrize("part", ["question", "design"])
@pytest.mark.parametrize(
    "made",
    [colours, lambda: sv.Survey(sv.queries(Prefix(5)), epsilon=1.0), lambda: sv.Survey(sv.vector(2, 1.0), epsilon=1.0)],
)
def test_every_field_of_a_question_and_a_design_is_needed_and_of_its_type(part: str, made: Any) -> None:
    statement = made().to_statement()
    refused({**statement, part: {**statement[part], "more": 1}})
    for field in statement[part]:
        refused({**statement, part: {key: value for key, value in statement[part].items() if key != field}})
        for wrong in (None, True, [], {}, "x" * 201, -1, 2.5e300, [[]], {"name": None}, 10**140):
            refused({**statement, part: {**statement[part], field: wrong}})


def test_parts_of_different_surveys_do_not_go_together() -> None:
    shares, queries, mean = (
        made.to_statement()
        for made in (
            colours(domain=5),
            sv.Survey(sv.queries(Prefix(5)), epsilon=1.0, strategy="haar"),
            sv.Survey(sv.vector(5, 1.0), epsilon=1.0),
        )
    )
    for whole, other in ((shares, queries), (shares, mean), (mean, shares), (mean, queries)):
        refused({**whole, "design": other["design"]})
    refused({**shares, "delta": 1e-6})


def test_unknown_fields_are_refused() -> None:
    assert "exactly these fields" in str(refused({**statement_of(), "salt": 1}))
    statement = statement_of()
    statement["design"]["mechanism"]["threshold"] = 5
    assert "exactly the mechanism's own" in str(refused(statement))
    statement = statement_of()
    statement["question"]["domain"]["more"] = 5
    assert isinstance(refused(statement), DomainError)


@pytest.mark.parametrize("version", [0, 1, 3, -1, "2", 2.0, True, None, [2]], ids=repr)
def test_other_formats_are_refused(version: Any) -> None:
    assert "format 2" in str(refused({**statement_of(), "format": version}))


@pytest.mark.parametrize("kind", ["census", "", "Shares", "distribution", "adaptive", None, 1, ["shares"]], ids=repr)
def test_other_kinds_are_refused(kind: Any) -> None:
    statement = statement_of()
    statement["question"]["kind"] = kind
    assert "kind must be one of shares, queries, vector" in str(refused(statement))


HOSTILE: dict[str, list[tuple[str, Any]]] = {
    "projective_geometry": [
        *[("order", bad) for bad in (0, 1, 6, 12, 289, 512, -3, 2**31, 10**30, 3.0, True, "3", None, [], {})],
        *[("dimension", bad) for bad in (0, 1, -1, 65, 10**30, 3.0, True, "3", None)],
    ],
    "subset_selection": [("subset_size", bad) for bad in (0, 16, 17, -1, 10**30, 3.0, True, "3", None)],
    "hadamard_blocks": [("blocks", bad) for bad in (0, 3, 5, 12, 32, -4, 10**30, 4.0, True, "4", None)],
}


@pytest.mark.parametrize(("name", "field", "bad"), [(name, *case) for name, cases in HOSTILE.items() for case in cases])
def test_hostile_parameters_are_refused(name: str, field: str, bad: Any) -> None:
    statement = statement_of(name)
    assert field in statement["design"]["mechanism"]
    statement["design"]["mechanism"][field] = bad
    assert field in str(refused(statement)) or f"{field.capitalize()} " in str(refused(statement))


def test_a_space_too_small_for_the_domain_is_refused() -> None:
    statement = statement_of("projective_geometry")
    statement["design"]["mechanism"].update(order=2, dimension=2)
    assert "too few for 16 values" in str(refused(statement))


@pytest.mark.parametrize(
    "mechanism", [None, "hadamard", [], {}, {"name": None}, {"name": "nobody"}, {"name": []}, {"name": "auto"}]
)
def test_unknown_mechanisms_are_refused(mechanism: Any) -> None:
    statement = statement_of()
    statement["design"]["mechanism"] = mechanism
    assert "mechanism" in str(refused(statement))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        "NaN",
        "nonsense",
        '{"format":2,}',
        colours().to_json().replace('"epsilon":1', '"epsilon":8,"epsilon":1'),
        "\ufeff{}",
        b"\xff\xfe",
        b'{"\xff": 1}',
        '"\ud800"',
        '{"format": 1e999}',
        "[" * 100_000,
        '{"domain":' * 100_000,
        '{"a":' * 900 + "1" + "}" * 900,
        "9" * 100_000,
    ],
    ids=lambda text: repr(text)[:30],
)
def test_texts_that_are_no_survey(text: str | bytes) -> None:
    refused(text)


def test_ten_megabytes_of_garbage() -> None:
    refused(np.random.default_rng(1).bytes(10_000_000))
    refused("x" * 10_000_000)
    refused({**statement_of(), "title": "x" * 10_000_000})
    refused({**statement_of(), "question": {"kind": "shares", "domain": {"labels": ["x"] * 1_000_000}}})


@pytest.mark.parametrize(
    "text", [None, 5, {}, [], bytearray(b"{}"), memoryview(b"{}")], ids=lambda text: type(text).__name__
)
def test_only_text_and_bytes_are_read(text: Any) -> None:
    with refuses(SurveyError, "text"):
        sv.Survey.from_json(text)


junk = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.integers(-20, 20)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["hadamard", "labels", "attributes", "shares", "name"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    """A valid statement with up to three things replaced, removed, added or doubled somewhere inside."""
    name = draw(st.sampled_from(sorted(serving(FiniteMechanism))))
    statement = statement_of(name, draw(st.sampled_from(sorted(DOMAINS))))
    for _ in range(draw(st.integers(1, 3))):
        here: Any = statement
        while True:
            keys = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(here[key], (dict, list)) and draw(st.booleans()):
                here = here[key]
                continue
            action = draw(st.sampled_from(["replace", "remove", "add"]))
            if action == "replace":
                here[key] = draw(junk)
            elif action == "remove":
                del here[key]
            elif isinstance(here, dict):
                here[draw(st.text(max_size=5))] = draw(junk)
            else:
                here.append(draw(junk))
            break
    return statement


@settings(deadline=None, max_examples=300)
@given(mutated())
@example({**statement_of(), "epsilon": 10**40})
@example({**statement_of(), "question": {"kind": "shares", "domain": {"start": True, "step": 1, "size": 16}}})
def test_a_damaged_statement_is_refused_or_is_a_survey(statement: Any) -> None:
    """Nothing but `SurveyError` comes out, and what is accepted has one canonical form and works."""
    text = json.dumps(statement)
    try:
        survey = sv.Survey.from_json(text)
    except SurveyError:
        return
    again = sv.Survey.from_json(survey.to_json())
    assert again.canonical == survey.canonical
    assert isinstance(survey, sv.Survey)
    assert survey.domain is not None
    report = survey.randomize(value_at(survey.domain, survey.domain.size - 1))
    assert len(report) == len(survey.tag) + survey.mechanism.report_bytes


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_noise_is_refused(text: str | bytes) -> None:
    refused(text)


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_damaged_bytes_are_refused_or_a_survey(data: st.DataObject) -> None:
    text = bytearray(colours().canonical)
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    try:
        survey = sv.Survey.from_json(bytes(text))
    except SurveyError:
        return
    assert sv.Survey.from_json(survey.canonical) == survey
