"""Panels and the seats of their rounds: what they state, what is refused, and what a device answers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import QueryError, SurveyError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.registry import create
from sottovoce.questions import Queries, Shares, Vector
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.surveys.panel import MAX_CHOICES, Panel
from sottovoce.workloads import Identity, Prefix
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.naming import value_at

PERSON = {"age": range(10, 16), "city": ["Oslo", "Rome"], "score": range(-4, 5, 2)}
PANEL = sv.Panel(PERSON, rounds=5, epsilon=1.5, radius=2.0, title="A panel")
MEAN = sv.adaptive.round_of(PANEL, 2, "(age - 12) / 3", title="A round")
CHOICE = sv.adaptive.round_of(PANEL, 5, "find(city, ('Rome', 'Oslo'))", 3)
ROUNDS = {"mean": MEAN, "choice": CHOICE}
WRONG: list[Any] = [None, True, [], {}, "x" * 201, -1, 2.5e300, [[]], {"name": None}, 10**140, 0]


def refused(statement: Any) -> SurveyError:
    with pytest.raises(SurveyError) as caught:
        sv.Survey.from_json(json.dumps(statement))
    return caught.value


def changed(statement: dict[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """The statement with one part replaced."""
    inner = value if len(path) == 1 else changed(statement[path[0]], path[1:], value)
    return {**statement, path[0]: inner}


def without(statement: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """The statement with one part left out."""
    if len(path) > 1:
        return {**statement, path[0]: without(statement[path[0]], path[1:])}
    return {name: value for name, value in statement.items() if name != path[0]}


# --- statements ---------------------------------------------------------------------------------


def test_a_panel_survives_its_json() -> None:
    assert PANEL.to_statement() == {
        "format": 2,
        "title": "A panel",
        "epsilon": 1.5,
        "panel": {"domain": sv.Domain.of(PERSON).to_statement(), "rounds": 5, "radius": 2.0},
    }
    again = sv.Survey.from_json(PANEL.to_json())
    assert isinstance(again, Panel)
    assert (again, again.id, again.kind) == (PANEL, PANEL.id, "panel")


@pytest.mark.parametrize("survey", ROUNDS.values(), ids=ROUNDS.keys())
def test_a_round_survives_its_json(survey: sv.Survey) -> None:
    again = sv.Survey.from_json(survey.to_json())
    assert isinstance(again, sv.Survey)
    assert again == survey
    assert (again.id, again.seat, again.design) == (survey.id, survey.seat, survey.design)
    assert again.seat is not None
    assert again.seat.panel == PANEL
    assert (again.epsilon, again.delta, again.domain) == (PANEL.epsilon, 0.0, PANEL.domain)
    assert (again.query_text, again.answer_labels()) == (survey.query_text, survey.answer_labels())
    assert again.answer_range == survey.answer_range


def test_what_a_round_states() -> None:
    mean, choice = MEAN.to_statement(), CHOICE.to_statement()
    assert mean["question"] == {"kind": "vector", "dimension": 1, "radius": 2.0}
    assert mean["design"] == {"strategy": "direct", "mechanism": {"name": "binary"}}
    assert choice["question"] == {"kind": "shares", "domain": {"size": 3, "start": 0, "step": 1}}
    assert choice["design"]["strategy"] == "histogram"
    query = sv.query("find(city, ('Rome', 'Oslo'))").tree
    assert choice["seat"] == {"panel": PANEL.to_statement(), "round": 5, "query": query}


def test_everything_a_round_states_is_part_of_its_identity() -> None:
    other = sv.Panel(PERSON, rounds=5, epsilon=1.5, radius=2.0, title="Another panel")
    rounds = [
        *ROUNDS.values(),
        sv.adaptive.round_of(PANEL, 3, "(age - 12) / 3", title="A round"),
        sv.adaptive.round_of(PANEL, 2, "(age - 12) / 4", title="A round"),
        sv.adaptive.round_of(PANEL, 2, "(age - 12) / 3"),
        sv.adaptive.round_of(other, 2, "(age - 12) / 3", title="A round"),
        sv.adaptive.round_of(PANEL, 5, "find(city, ('Rome', 'Oslo'))", 2),
    ]
    assert len({one.id for one in rounds}) == len({one.tag for one in rounds}) == len(rounds)


# --- fields missing, extra or wrong -------------------------------------------------------------

PANEL_FIELDS = [
    ("format",),
    ("title",),
    ("epsilon",),
    ("panel",),
    *(("panel", f) for f in ("domain", "rounds", "radius")),
]
SEAT_FIELDS = [("seat", field) for field in ("panel", "round", "query")]


@pytest.mark.parametrize("path", PANEL_FIELDS, ids=".".join)
def test_every_field_of_a_panel_is_needed_and_of_its_type(path: tuple[str, ...]) -> None:
    statement = PANEL.to_statement()
    refused(without(statement, path))
    for wrong in WRONG:
        refused(changed(statement, path, wrong))


@pytest.mark.parametrize("survey", ROUNDS.values(), ids=ROUNDS.keys())
@pytest.mark.parametrize(
    "path", [("seat",), *SEAT_FIELDS, *(("seat", "panel", *path) for path in PANEL_FIELDS)], ids=".".join
)
def test_every_field_of_a_seat_is_needed_and_of_its_type(path: tuple[str, ...], survey: sv.Survey) -> None:
    statement = survey.to_statement()
    if path != ("seat",):  # without a seat it is another survey, and a sound one
        refused(without(statement, path))
    for wrong in WRONG:
        if not (path == ("seat", "query") and isinstance(wrong, int | float)):  # constants are queries
            refused(changed(statement, path, wrong))


@pytest.mark.parametrize("inside", [(), ("panel",)], ids=["panel", "panel.panel"])
def test_a_panel_holds_nothing_else(inside: tuple[str, ...]) -> None:
    assert "exactly these fields" in str(refused(changed(PANEL.to_statement(), (*inside, "more"), 1)))


@pytest.mark.parametrize("inside", [(), ("seat",), ("seat", "panel"), ("seat", "panel", "panel")], ids=".".join)
def test_a_round_holds_nothing_else(inside: tuple[str, ...]) -> None:
    assert "exactly these fields" in str(refused(changed(MEAN.to_statement(), (*inside, "more"), 1)))


def test_a_panel_has_no_seat() -> None:
    assert "exactly these fields" in str(refused({**PANEL.to_statement(), "seat": MEAN.to_statement()["seat"]}))
    assert "exactly these fields" in str(refused({**MEAN.to_statement(), "panel": PANEL.to_statement()["panel"]}))


def test_a_round_inside_a_round_is_refused() -> None:
    inner = MEAN.to_statement()
    assert "exactly these fields" in str(refused(changed(inner, ("seat", "panel"), inner)))
    assert "exactly these fields" in str(refused(changed(inner, ("seat", "panel", "seat"), inner["seat"])))
    # However deep: what is inside is not read before it is known to be a panel.
    text = MEAN.to_json()
    for _ in range(100):
        text = json.dumps(changed(inner, ("seat", "panel"), json.loads(text)))
    with pytest.raises(SurveyError):
        sv.Survey.from_json(text)


# --- what does not go together ------------------------------------------------------------------


@pytest.mark.parametrize("survey", ROUNDS.values(), ids=ROUNDS.keys())
def test_epsilon_is_the_panels(survey: sv.Survey) -> None:
    for epsilon in (0.5, 1.5000000000000002, 16.0):
        refused(changed(survey.to_statement(), ("epsilon",), epsilon))
    error = refused(changed(survey.to_statement(), ("seat", "panel", "epsilon"), 1.0))
    assert "epsilon must be that of the round" in str(error)
    assert error.field == "epsilon"
    refused(changed(survey.to_statement(), ("delta",), 1e-6))


@pytest.mark.parametrize("number", [0, -1, 6, 2.0, True, "2", None], ids=repr)
def test_rounds_are_those_of_the_panel(number: Any) -> None:
    with refuses(SurveyError, "round"):
        sv.adaptive.round_of(PANEL, number, "1")


def test_a_mean_is_asked_by_one_bit() -> None:
    seat = MEAN.seat
    assert seat is not None
    codebook = sv.Survey(seat.mean(), epsilon=PANEL.epsilon, mechanism="codebook", people=1000).design
    with refuses(SurveyError, "mechanism"):
        sv.Survey.of_design(seat.mean(), codebook, "", seat=seat)
    stated = codebook.to_statement()["mechanism"]
    assert "must be 'binary'" in str(refused(changed(MEAN.to_statement(), ("design", "mechanism"), stated)))
    for name in ("gaussian", "rejection", "randomized_response", "hadamard"):
        refused(changed(MEAN.to_statement(), ("design", "mechanism"), {"name": name}))
    for extra in ({"name": "binary", "more": 1}, {"name": "binary", "amplitude": 5}):
        refused(changed(MEAN.to_statement(), ("design", "mechanism"), extra))


@pytest.mark.parametrize(
    "question",
    [
        Vector(2, 2.0),
        Vector(1, 1.0),
        Shares(["Rome", "Oslo", "others"]),
        Shares(range(1, 4)),
        Shares(range(0, 6, 2)),
        Shares([0, 1, 2]),
        Shares({"x": 3}),
        Queries(Prefix(3)),
        Queries(Identity(3)),
    ],
    ids=lambda question: f"{question.kind} {question.to_statement()!r:.60}",
)
def test_a_round_asks_for_a_mean_or_for_shares_of_choices(question: Any) -> None:
    asked = sv.Survey(question, epsilon=PANEL.epsilon, people=1000)
    for survey in ROUNDS.values():
        with refuses(SurveyError, "question"):
            sv.Survey.of_design(asked.question, asked.design, "", seat=survey.seat)
        stated = asked.to_statement()
        assert "a round must ask for a mean" in str(refused({**stated, "seat": survey.to_statement()["seat"]}))


def test_designs_of_a_round_are_for_its_question() -> None:
    seat = CHOICE.seat
    assert seat is not None
    question = seat.choice(3)
    for mechanism in serving(FiniteMechanism):
        design = Histogram(question.workload, create(mechanism, 3, PANEL.epsilon))
        survey = sv.Survey.of_design(question, design, "", seat=seat)
        assert sv.Survey.from_json(survey.to_json()) == survey
    for design in (HaarStrategy.best(Identity(3), 1.5), Histogram(Identity(4), create("hadamard", 4, 1.5))):
        with refuses(SurveyError, "design"):
            sv.Survey.of_design(question, design, "", seat=seat)
    # A mean's answer has the query's name and range, in the design as in the question.
    bare = Direct(Ball(1, 2.0), Binary(1, 2.0, 1.5, 0.0))
    with refuses(SurveyError, "design"):
        sv.Survey.of_design(Vector(1, 2.0), bare, "", seat=MEAN.seat)


@pytest.mark.parametrize("size", [1, 0, -3, MAX_CHOICES + 1, 2.0, True, "3"], ids=repr)
def test_how_many_choices_there_may_be(size: Any) -> None:
    with refuses(SurveyError, "size"):
        sv.adaptive.round_of(PANEL, 1, "age", size)


def test_too_many_choices_in_a_statement() -> None:
    statement = changed(CHOICE.to_statement(), ("question", "domain", "size"), MAX_CHOICES + 1)
    assert "size" in str(refused(changed(statement, ("design", "mechanism"), {"name": "hadamard"})))


@pytest.mark.parametrize("query", ["age / 2", "0.5", "(age - 12) / 3"])
def test_a_choice_needs_an_integer(query: str) -> None:
    with refuses(QueryError, "query"):
        sv.adaptive.round_of(PANEL, 1, query, 3)
    refused(changed(CHOICE.to_statement(), ("seat", "query"), sv.query(query).tree))


@pytest.mark.parametrize("query", ["height < 3", "city < 3", "1 / (age - 12)", "age +", ""])
def test_a_query_that_could_go_wrong_for_somebody_is_refused(query: str) -> None:
    for size in (None, 3):
        with pytest.raises(QueryError):
            sv.adaptive.round_of(PANEL, 1, query, size)


@pytest.mark.parametrize("tree", [["<", ["attribute", "salary"], 3], "city", ["attribute", "city"], ["leak", 1], []])
def test_a_tampered_query_is_refused(tree: Any) -> None:
    for survey in ROUNDS.values():
        refused(changed(survey.to_statement(), ("seat", "query"), tree))


def test_a_query_beyond_the_radius_is_not_asked_and_is_clipped_by_devices() -> None:
    beyond = sv.adaptive.round_of(PANEL, 1, "age - 12")
    assert beyond.seat is not None
    with pytest.raises(QueryError, match=r"from -2 to 3; this panel allows \[-2, 2\]") as caught:
        beyond.seat.check_radius()
    assert caught.value.field == "query"
    session = sv.Session.simulated(PANEL, {"age": [10], "city": ["Rome"], "score": [0]}, seed=1)
    with refuses(QueryError, "query"):
        session.ask("age - 12")
    assert session.remaining == PANEL.rounds
    assert beyond.answer_range == (-2.0, 2.0)
    assert MEAN.seat is not None
    MEAN.seat.check_radius()
    assert MEAN.answer_range == pytest.approx((-2 / 3, 1.0))


# --- what a person answers ----------------------------------------------------------------------

RECORDS = [value_at(PANEL.domain, number) for number in range(PANEL.domain.size)]


def by_hand(record: Any) -> dict[str, Any]:
    return dict(record) if isinstance(record, dict) else dict(zip(PERSON, record, strict=True))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("(age - 12) / 3", lambda person: (person["age"] - 12) / 3),
        ("city == 'Rome'", lambda person: float(person["city"] == "Rome")),
        ("score", lambda person: float(min(2, max(-2, person["score"])))),
        ("age", lambda person: 2.0),
        (
            "-1e300 if city == 'Oslo' else score / 4",
            lambda person: -2.0 if person["city"] == "Oslo" else person["score"] / 4,
        ),
    ],
)
def test_the_number_of_every_record(query: str, expected: Any) -> None:
    """What the query gives, clipped into the panel's radius; the same for a device and for simulated people."""
    survey = sv.adaptive.round_of(PANEL, 1, query)
    simulated = survey.people(RECORDS).between(0, len(RECORDS))
    counted = survey.people_of_histogram(np.ones(len(RECORDS), dtype=np.int64)).between(0, len(RECORDS))
    for number, record in enumerate(RECORDS):
        found = survey.private_input(record)
        assert found.shape == (1,)
        assert found[0] == simulated[number, 0] == counted[number, 0] == expected(by_hand(record))


@pytest.mark.parametrize(
    ("query", "size", "expected"),
    [
        ("find(city, ('Rome', 'Oslo'))", 3, lambda person: ["Rome", "Oslo"].index(person["city"])),
        ("age - 10", 6, lambda person: person["age"] - 10),
        ("age", 4, lambda person: 3),
        ("score", 4, lambda person: min(3, max(0, person["score"]))),
        ("age > 12", 2, lambda person: int(person["age"] > 12)),
    ],
)
def test_the_choice_of_every_record(query: str, size: int, expected: Any) -> None:
    """What the query gives, or the nearest choice that there is."""
    survey = sv.adaptive.round_of(PANEL, 1, query, size)
    simulated = survey.people(RECORDS).between(0, len(RECORDS))
    counted = survey.people_of_histogram(np.ones(len(RECORDS), dtype=np.int64)).between(0, len(RECORDS))
    for number, record in enumerate(RECORDS):
        found = survey.private_input(record)
        assert type(found) is int
        assert found == simulated[number] == counted[number] == expected(by_hand(record))


def test_estimates_of_rounds_lie_in_the_querys_range() -> None:
    """With three reports a raw mean lies far outside; what is shown lies where the query's values can."""
    for query, low, high in (("city == 'Rome'", 0.0, 1.0), ("(age - 12) / 3", -2 / 3, 1.0), ("score", -2.0, 2.0)):
        survey = sv.adaptive.round_of(PANEL, 1, query)
        for bit in (0, 1):
            estimate = survey.estimate([survey.tag + survey.mechanism.encode(bit)] * 3)
            assert low <= estimate.values[0] <= high
            assert (estimate.interval().low >= low).all()
            assert (estimate.interval().high <= high).all()
