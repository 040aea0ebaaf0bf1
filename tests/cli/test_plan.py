"""Planning on the command line: the same plan as in Python, for every kind of question."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.parser import build_parser
from sottovoce.domain import Domain
from sottovoce.questions import QUESTIONS, Choices, Number, Queries, Records, Shares, Vector
from sottovoce.questions.base import Question
from sottovoce.questions.parameter import Parameter
from sottovoce.questions.people import People
from sottovoce.questions.relation import Relation
from sottovoce.questions.words import Words
from sottovoce.surveys.panel import Panel
from sottovoce.workloads import Identity, Prefix

ASKED: dict[str, tuple[tuple[str, ...], Question]] = {
    "shares": (("shares", "--values", "40"), Shares(40)),
    "queries": (("queries", "--workload", "prefix:8"), Queries(Prefix(8))),
    "vector": (("vector", "--dimension", "8", "--radius", "3"), Vector(8, 3.0)),
    "number": (("number", "--low", "0", "--high", "3", "--unit", "m"), Number.of(low=0, high=3, unit="m")),
    "choices": (("choices", "--options", "a,b,c,d", "--most", "2"), Choices(list("abcd"), 2)),
    "records": (
        ("records", "--attributes", "city=a,b,c", "age=0..9", "--tables", "2"),
        Records({"city": list("abc"), "age": range(10)}),
    ),
    "relation": (
        ("relation", "--regressors", "age=number:18..90", "--outcome", "minutes=number:0..600"),
        Relation({"age": sv.number(18, 90)}, {"minutes": sv.number(0, 600)}),
    ),
    "words": (("words", "--longest", "8", "--alphabet", "latin"), Words.of(longest=8, alphabet="latin")),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken from the user's cache, nor kept there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "strategies"))


def unwrapped(text: str) -> str:
    return " ".join(text.split())


def test_every_kind_of_question_can_be_planned():
    assert set(ASKED) == set(QUESTIONS)


# --- results --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize("target", ["margin", "l2"])
def test_the_plan_is_that_of_python(run, kind, target):
    words, question = ASKED[kind]
    value = {"margin": 0.05, "l2": 0.4}[target]
    found = run("plan", *words, "--epsilon", "2", f"--{target}", str(value), "--json").json
    plan = sv.plan(question, epsilon=2.0, **{target: value})
    assert (found["solved_for"], found["people"], found["criterion"]) == ("people", plan.people, target)
    assert found[target] == getattr(plan, target) <= value
    assert (found["strategy"], found["mechanism"]) == (plan.best.strategy, plan.best.mechanism)
    assert found["survey"] == plan.survey().id
    assert [one["strategy"] for one in found["options"]] == [one.strategy for one in plan.options]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_two_of_three_give_the_third(run, kind):
    words, _ = ASKED[kind]
    error = run("plan", *words, "--epsilon", "1", "--people", "1e5", "--criterion", "margin", "--json").json
    assert (error["solved_for"], error["target"]) == ("error", None)
    margin = f"{error['margin'] * (1 + 1e-9)!r}"
    people = run("plan", *words, "--epsilon", "1", "--margin", margin, "--json").json
    assert (people["solved_for"], people["people"]) == ("people", pytest.approx(1e5, rel=3e-3))
    epsilon = run("plan", *words, "--people", "1e5", "--margin", margin, "--strategy", error["strategy"], "--json")
    if error["strategy"] == "optimized":  # a channel is searched for one epsilon
        assert epsilon.status == 2
    else:
        assert epsilon.json["epsilon"] == pytest.approx(1, rel=0.011)


def test_a_known_population_needs_no_more_people_than_the_worst(run, tmp_path):
    words = ("plan", "shares", "--values", "10", "--epsilon", "2", "--people", "1e4", "--json")
    worst = run(*words).json
    uniform = run(*words, "--population", "uniform").json
    assert (worst["population"], uniform["population"]) == ("worst case", "given")
    assert uniform["margin"] < worst["margin"]
    shares = [0.1] * 10
    (tmp_path / "shares.csv").write_text("\n".join(map(str, shares)))
    assert run(*words, "--population", str(tmp_path / "shares.csv")).json["margin"] == pytest.approx(uniform["margin"])


@pytest.mark.parametrize(
    ("given", "domain"),
    [
        (("--labels", "tea, coffee,water"), ["tea", "coffee", "water"]),
        (("--labels", "@{folder}/drinks.txt"), ["tea", "coffee", "water"]),
        (("--range", "18..99"), range(18, 100)),
        (("--range", "-2..2"), range(-2, 3)),
        (("--values", "1_000"), 1000),
        (
            ("--attributes", "age=0..9", "sex=f,m", "size=3", "name=text:1"),
            {"age": range(10), "sex": ["f", "m"], "size": 3, "name": Domain.text(1)},
        ),
    ],
)
def test_values_can_be_given_in_every_way(run, tmp_path, given, domain):
    (tmp_path / "drinks.txt").write_text("tea\n\ncoffee\nwater\n")
    words = [word.format(folder=tmp_path) for word in given]
    words = [f"{words[0]}={words[1]}", *words[2:]] if words[1].startswith("-") else words
    found = run("plan", "shares", *words, "--epsilon", "1", "--people", "1e4", "--json").json
    assert found["survey"] == sv.plan(sv.shares(domain), epsilon=1.0, people=10_000).survey().id


# --- tables ---------------------------------------------------------------------------------


def test_the_margin_comes_first_and_shares_are_in_points(run):
    shown = unwrapped(run("plan", "shares", "--values", "40", "--epsilon", "2", "--margin", "0.01").out)
    plan = sv.plan(sv.shares(40), epsilon=2.0, margin=0.01)
    for words in (
        "shares: 40 answers; epsilon 2, margin at most 1 point: how many people?",
        "➜ histogram",
        "margin, points",
        "errors are for the worst population",
        f"{plan.people:,} people: {plan.accuracy}.",
        "times as much",
    ):
        assert words in shown
    assert "of one answer (95 %)" not in shown, "the margin is not said a second time"


def test_other_answers_are_in_their_own_unit(run):
    words = ("plan", "queries", "--workload", "prefix:40", "--people", "1e5", "--epsilon", "2", "--delta", "1e-6")
    shown = unwrapped(run(*words).out)
    for words in (
        "queries: 40 answers; 100,000 people at epsilon 2, delta 1e-06: what error?",
        "gaussian, delta 1e-06",
        "direct with gaussian: its report takes",
        "optimized: not tried:",
        "sottovoce optimize --workload",
        "each answer is known to about ±0.0",
        "fetch",
    ):
        assert words in shown
    mean = unwrapped(run("plan", "vector", "--dimension", "1", "--people", "1e4", "--l2", "0.5").out)
    assert "vector: 1 answer; 10,000 people, l2 at most 0.5: what epsilon?" in mean
    assert "together" not in mean
    marginals = unwrapped(run("plan", "queries", "--workload", "bins:20:10", "--people", "1e4", "--epsilon", "1").out)
    assert "queries: 2 answers over 20 values; 10,000 people" in marginals


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
@pytest.mark.parametrize(
    "given",
    [
        ("--epsilon", "1.1234567", "--margin", "0.2"),
        ("--people", "1e5", "--l2", "0.5", "--max-report-bytes", "5"),
    ],
)
def test_the_command_that_publishes_makes_the_planned_survey(run, kind, given):
    words = ("plan", *ASKED[kind][0], *given)
    (publish,) = [line for line in run(*words).out.splitlines() if line.startswith("to publish it:")]
    parsed = build_parser().parse_args(shlex.split(publish.split(":", 1)[1])[1:])
    assert parsed.state(parsed).id == run(*words, "--json").json["survey"]


@pytest.mark.slow
def test_a_plan_for_one_population_is_published_with_its_own_design(run):
    words = ("plan", "shares", "--values", "300", "--epsilon", "1", "--people", "1e5", "--population", "zipf")
    (publish,) = [line for line in run(*words).out.splitlines() if line.startswith("to publish it:")]
    parsed = build_parser().parse_args(shlex.split(publish.split(":", 1)[1])[1:])
    assert parsed.state(parsed).id == run(*words, "--json").json["survey"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ASKED)
def test_a_plan_can_be_drawn(run, tmp_path, kind):
    words = ("plan", *ASKED[kind][0], "--people", "1000", "--epsilon", "1")
    found = run(*words, "--picture", str(tmp_path / "error.png"), "--json").json
    assert found["picture"] == str(tmp_path / "error.png")
    assert (tmp_path / "error.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_is_named_below_the_table(run, tmp_path):
    path = tmp_path / "error.svg"
    shown = run("plan", *ASKED["shares"][0], "--people", "1000", "--epsilon", "1", "--picture", str(path)).out
    assert "error.svg: error against people" in shown
    assert path.stat().st_size > 10_000


# --- a question that is added ---------------------------------------------------------------


@dataclass(frozen=True)
class Truths(Question):
    """How many people say yes: a question that only this test knows."""

    answers: tuple[str, ...]

    kind: ClassVar[str] = "truths"
    summary: ClassVar[str] = "how many people say yes"
    parameters: ClassVar[tuple[Parameter, ...]] = (Parameter("answers", "labels", "the two answers", "yes,no"),)
    strategies: ClassVar[tuple[str, ...]] = ("histogram",)
    projected_on: ClassVar[str] = "simplex"

    @classmethod
    def _of(cls, **given: Any) -> Self:
        return cls(tuple(given["answers"]))

    @classmethod
    def _fields(cls) -> tuple[str, ...]:
        return ("answers",)

    @classmethod
    def _from_statement(cls, statement: dict[str, Any]) -> Self:
        return cls(tuple(statement["answers"]))

    def _statement(self) -> dict[str, Any]:
        return {"answers": list(self.answers)}

    @property
    def domain(self) -> Domain:
        return Domain.of(list(self.answers))

    @property
    def workload(self) -> Identity:
        return Identity(self.domain)

    def private_input(self, value: object) -> int:
        return self.domain.index(value)

    def people(self, values: Any) -> People:
        return People.with_values(self.domain.indices(values))

    def label(self, index: int) -> str:
        return self.domain.label(index)


def test_a_question_that_is_registered_is_there_in_every_command(run, monkeypatch):
    monkeypatch.setitem(QUESTIONS, Truths.kind, Truths)
    asked = ("truths", "--answers", "yes,no", "--epsilon", "1", "--people", "1000")
    planned = run("plan", *asked, "--json").json
    assert (planned["question"], planned["answers"]) == ("truths", 2)
    simulated = run("simulate", *asked, "--seed", "1", "--json").json
    assert (simulated["question"], simulated["mechanism"]) == ("truths", planned["mechanism"])
    parsed = build_parser().parse_args(["survey", "create", *asked])
    assert parsed.state(parsed).id == planned["survey"]
    assert "how many people say yes" in run("plan", "--help").out


def test_panels_are_stated_from_the_same_declarations():
    words = ["survey", "create", "panel", "--attributes", "age=0..99", "country=DE,FR", "--rounds", "20"]
    parsed = build_parser().parse_args([*words, "--epsilon", "1", "--title", "People"])
    panel = Panel(Domain.of({"age": range(100), "country": ["DE", "FR"]}), rounds=20, epsilon=1.0, title="People")
    assert parsed.state(parsed) == panel


def test_figures_are_finite_in_json(run):
    found = run("plan", "queries", "--workload", "prefix:12", "--epsilon", "1", "--people", "1e4", "--json").json
    assert any(one["l2"] is None for one in found["options"])
    assert all(np.isfinite(one["l2"]) for one in found["options"] if one["l2"] is not None)


@pytest.mark.slow
def test_a_plan_of_words_says_what_is_found(run, tmp_path):
    words = [*ASKED["words"][0], "--epsilon", "2", "--share", "0.005", "--probability", "0.8"]
    same = sv.plan(ASKED["words"][1], epsilon=2.0, share=0.005, probability=0.8)
    told = run("plan", *words, "--json").json
    assert told["people"] == same.people
    assert told["recall"] == same.recall.to_dict()
    picture = tmp_path / "recall.svg"
    shown = unwrapped(run("plan", *words, "--picture", str(picture)).out)
    assert "0.5 % found with probability 0.8: how many people?" in shown
    assert "by letters of the word: up to 3:" in shown
    assert "up to 8 letters" in picture.read_text()
