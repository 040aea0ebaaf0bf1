"""Simulating on the command line: what is measured, beside what theory says, for every kind of question."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.lab.populations.distributions import frequencies
from sottovoce.lab.simulation.survey_error import measure
from sottovoce.questions import QUESTIONS, Choices, Number, Queries, Records, Shares, Vector
from sottovoce.questions.relation import Relation
from sottovoce.theory.bounds import theorem_4_2
from sottovoce.theory.offline_bounds import theorem_3_2, theorem_3_4
from sottovoce.workloads import Prefix

GIVEN = ("--people", "2000", "--epsilon", "1", "--seed", "5")
SIMULATE = {
    "shares": ("simulate", "shares", "--values", "32", *GIVEN),
    "queries": ("simulate", "queries", "--workload", "prefix:12", *GIVEN),
    "vector": ("simulate", "vector", "--dimension", "8", "--radius", "3", *GIVEN),
    "number": ("simulate", "number", "--low", "0", "--high", "3", *GIVEN),
    "choices": ("simulate", "choices", "--options", "a,b,c,d", "--most", "2", *GIVEN),
    "records": ("simulate", "records", "--attributes", "city=a,b,c", "age=0..9", "h=number:0..9", *GIVEN),
    "relation": ("simulate", "relation", "--regressors", "city=a,b,c", "--outcome", "h=number:0..9", *GIVEN),
}
QUESTION = {
    "shares": Shares(32),
    "queries": Queries(Prefix(12)),
    "vector": Vector(8, 3.0),
    "number": Number.of(low=0, high=3),
    "choices": Choices(list("abcd"), 2),
    "records": Records({"city": list("abc"), "age": range(10), "h": sv.number(0, 9)}),
    "relation": Relation({"city": list("abc")}, {"h": sv.number(0, 9)}),
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken from the user's cache, nor kept there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "strategies"))


def test_every_kind_of_question_can_be_simulated():
    assert set(SIMULATE) == set(QUESTION) == set(QUESTIONS) - {"words"}, "words: see test_words"


@pytest.mark.parametrize("kind", SIMULATE)
def test_what_is_measured_is_what_the_laboratory_measures(run, kind):
    found = run(*SIMULATE[kind], "--repeats", "3", "--json").json
    survey = sv.Survey(QUESTION[kind], epsilon=1.0, people=2000)
    expected = measure(survey, 2000, repeats=3, seed=5, symmetric=kind == "queries").to_dict()
    assert found.pop("seconds") > 0
    assert found == {name: value for name, value in expected.items() if name != "seconds"}
    assert (found["strategy"], found["mechanism"]) == (survey.design.name, survey.mechanism.name)
    assert (found["l2_symmetric"] is None) == (kind != "queries")
    assert 0 < found["l2_projected"] <= found["l2_raw"]
    assert found["standard_errors"]["l2_raw"] > 0


def test_what_theory_says_stands_beside_it(run):
    shares = run(*SIMULATE["shares"], "--mechanism", "hadamard", "--json").json
    hadamard = sv.Survey(sv.shares(32), epsilon=1.0, mechanism="hadamard").mechanism
    truth = frequencies("zipf", 32)
    assert shares["l2_raw_predicted"] == pytest.approx(math.sqrt(hadamard.variance(truth, 2000).sum()))
    assert shares["l2_bound_paper"] == theorem_4_2(32, 1.0, 2000).value
    queries = run(*SIMULATE["queries"], "--strategy", "direct", "--json").json
    assert queries["l2_bound_paper"] == theorem_3_4(12, 12, math.sqrt(12), 1.0, 2000).value
    private = ("--mechanism", "gaussian", "--delta", "1e-6", "--max-report-bytes", "200")
    vector = run(*SIMULATE["vector"], *private, "--json").json
    assert (vector["mechanism"], vector["delta"], vector["values"]) == ("gaussian", 1e-6, None)
    assert vector["l2_bound_paper"] == theorem_3_2(8, 10**300, 3.0, 1.0, 1e-6, 2000).value


def test_the_paper_says_nothing_about_a_pure_survey_of_few(run):
    words = [*SIMULATE["queries"]]
    words[words.index("2000")] = "119"
    assert run(*words, "--json").json["l2_bound_paper"] is None
    assert "Theorem" not in run(*words).out


@pytest.mark.parametrize("words", SIMULATE.values(), ids=SIMULATE)
def test_the_same_seed_gives_the_same_errors_and_another_gives_others(run, words):
    first, again = run(*words, "--json").json, run(*words, "--json").json
    other = run(*words[:-1], "6", "--json").json
    assert first["l2_raw"] == again["l2_raw"] != other["l2_raw"]
    assert first["standard_errors"] is None
    fresh = run(*words[:-2], "--json").json
    assert run(*words[:-1], str(fresh["seed"]), "--json").json["l2_raw"] == fresh["l2_raw"]


def test_a_distribution_can_come_from_a_file(run, tmp_path):
    shares = np.arange(1, 33) / np.arange(1, 33).sum()
    np.save(tmp_path / "shares.npy", shares)
    np.savetxt(tmp_path / "column.csv", shares)
    (tmp_path / "row.txt").write_text(", ".join(map(repr, shares.tolist())))
    outcomes = [
        run(*SIMULATE["shares"], "--population", str(tmp_path / name), "--json").json
        for name in ("shares.npy", "column.csv", "row.txt")
    ]
    assert len({outcome["l2_raw"] for outcome in outcomes}) == 1
    assert outcomes[0]["distribution"].endswith("shares.npy")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (SIMULATE["shares"], ("shares: 32 answers; 2,000 people (zipf), epsilon 1", "L2, projected", "Theorem 4.2")),
        (SIMULATE["queries"], ("queries: 12 answers", "simulated once", "Theorem 3.4", "paper's polytope", "seed 5")),
        ((*SIMULATE["queries"], "--strategy", "haar"), ("haar with haar", "each answer: ±")),
        ((*SIMULATE["vector"], "--repeats", "2"), ("vector: 8 answers", "±", "2 times", "around one direction")),
    ],
)
def test_tables_for_people(run, words, expected):
    outcome = run(*words)
    assert (outcome.status, outcome.err) == (0, "")
    unwrapped = " ".join(outcome.out.split())
    for text in expected:
        assert text in unwrapped


def test_the_strategy_of_a_simulation_is_the_surveys(run):
    words = ("simulate", "queries", "--workload", "prefix:8", "--people", "500", "--epsilon", "1", "--seed", "3")
    best = run(*words, "--json").json
    assert best["strategy"] == sv.Survey(sv.queries(Prefix(8)), epsilon=1.0, people=500).design.name
    haar = run(*words, "--strategy", "haar", "--json").json
    assert (haar["strategy"], haar["mechanism"]) == ("haar", "haar")
    assert best["l2_raw_predicted"] <= haar["l2_raw_predicted"]
