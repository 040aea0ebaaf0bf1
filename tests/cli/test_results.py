"""What each command prints as JSON and as a table."""

from __future__ import annotations

import dataclasses
import importlib
import math
import statistics

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.cli.arguments import whole_number
from sottovoce.experiments.distribution_error import Errors, measure, seeds_of
from sottovoce.mechanisms import MECHANISMS, create
from sottovoce.mechanisms.channel_registry import CHANNELS
from sottovoce.simulation import histogram_of
from sottovoce.theory.bounds import theorem_4_2

SIMULATE = ("simulate", "distribution", "--domain-size", "32", "--users", "20_000", "--epsilon", "1", "--seed", "5")


def test_simulate_says_what_was_measured_and_what_theory_says(run):
    found = run(*SIMULATE, "--mechanism", "hadamard", "--repeats", "4", "--json").json
    assert found["mechanism"] == "hadamard"
    assert (found["domain_size"], found["users"], found["epsilon"]) == (32, 20_000, 1.0)
    assert (found["distribution"], found["repeats"], found["seed"]) == ("zipf", 4, 5)
    assert 0 < found["l2_projected"] <= found["l2_raw"]
    assert 0 < found["linf_raw"] <= found["l2_raw"]
    truth = 1 / np.arange(1, 33)
    truth /= truth.sum()
    hadamard = create("hadamard", 32, 1.0)
    assert found["l2_raw_predicted"] == pytest.approx(math.sqrt(hadamard.variance(truth, 20_000).sum()))
    assert found["l2_bound_paper"] == theorem_4_2(32, 1.0, 20_000).value
    assert found["l2_projected"] < found["l2_bound"] < found["l2_bound_paper"]
    assert found["report_bits"] == hadamard.report_bits
    assert found["seconds"] > 0
    assert set(found["standard_errors"]) == {"l2_raw", "l2_projected", "linf_raw", "linf_projected"}


def test_the_same_seed_gives_the_same_errors_and_another_gives_others(run):
    first, again = run(*SIMULATE, "--json").json, run(*SIMULATE, "--json").json
    other = run(*SIMULATE[:-1], "6", "--json").json
    assert first["l2_raw"] == again["l2_raw"] != other["l2_raw"]
    assert first["standard_errors"] is None


def test_a_seed_that_was_not_given_is_told(run):
    fresh = run(*SIMULATE[:-2], "--json").json
    assert run(*SIMULATE[:-1], str(fresh["seed"]), "--json").json["l2_raw"] == fresh["l2_raw"]


def test_errors_are_distances_from_the_true_distribution():
    survey = sv.Survey.distribution(3, 1.0, "hadamard")
    estimate = survey.estimate(survey.simulate([0] * 500, seed=1))
    truth = np.array([0.5, 0.25, 0.25])
    found = Errors.of(estimate, truth)
    assert found.l2_raw == pytest.approx(math.dist(estimate.raw, truth))
    assert found.l2_projected == pytest.approx(math.dist(estimate.values, truth))
    assert found.linf_raw == max(abs(estimate.raw - truth))


def test_means_and_standard_errors_are_those_of_the_repeats():
    found = measure(8, 500, 1.0, "hadamard", "uniform", repeats=3, seed=3)
    survey, truth = sv.Survey.distribution(8, 1.0, "hadamard"), np.full(8, 1 / 8)
    seeds = iter(seeds_of(3, 6))
    alone = []
    for people_seed, report_seed in zip(seeds, seeds, strict=True):
        people = histogram_of(truth, 500, people_seed)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed))
        alone.append(Errors.of(estimate, truth).l2_raw)
    assert found.mean.l2_raw == pytest.approx(statistics.mean(alone))
    assert found.standard_error is not None
    assert found.standard_error.l2_raw == pytest.approx(statistics.stdev(alone) / math.sqrt(3))


@pytest.mark.parametrize(("name", "largest"), [("uniform", 1 / 32), ("geometric", 0.05 / (1 - 0.95**32))])
def test_named_distributions(name, largest):
    from sottovoce.populations.distributions import frequencies

    found = frequencies(name, 32)
    assert found.max() == pytest.approx(largest)
    assert found.sum() == pytest.approx(1)


def test_a_distribution_can_come_from_a_file(run, tmp_path):
    shares = np.arange(1, 33) / np.arange(1, 33).sum()
    np.save(tmp_path / "shares.npy", shares)
    np.savetxt(tmp_path / "column.csv", shares)
    (tmp_path / "row.txt").write_text(", ".join(map(repr, shares.tolist())))
    outcomes = [
        run(*SIMULATE, "--distribution", str(tmp_path / name), "--json").json
        for name in ("shares.npy", "column.csv", "row.txt")
    ]
    assert len({outcome["l2_raw"] for outcome in outcomes}) == 1
    assert outcomes[0]["distribution"].endswith("shares.npy")


@pytest.mark.parametrize("text", ["1000000", "1_000_000", "1,000,000", "1e6", " 1E+6 ", "1000000.0"])
def test_whole_numbers_may_be_written_in_several_ways(text):
    assert whole_number(text) == 1_000_000


def test_mechanisms_are_all_there_best_first(run):
    found = run("mechanisms", "--json").json
    assert (found["domain_size"], found["epsilon"]) == (1024, 1.0)
    rows = found["mechanisms"]
    assert {row["name"] for row in rows} == set(MECHANISMS)
    assert rows[0]["relative_error"] == 1.0
    assert [row["relative_error"] for row in rows] == sorted(row["relative_error"] for row in rows)
    for row in rows:
        mechanism = create(row["name"], 1024, 1.0)
        assert row["guarantee"] == "pure epsilon-LDP"
        assert row["exact_epsilon"] <= 1.0
        assert row["report_bytes"] == mechanism.report_bytes
        assert row["worst_total_variance"] == mechanism.worst_total_variance


def test_mechanisms_that_cannot_serve_say_why(run):
    found = run("mechanisms", "--domain-size", "1e9", "--json").json
    unable = {row["name"]: row["reason"] for row in found["mechanisms"] if not row["serves"]}
    assert "unary_optimized" in unable
    assert "bytes a report" in unable["unary_optimized"]


def test_audit_says_whether_it_is_sound(run):
    outcome = run(
        "audit", "randomized_response", "--epsilon", "0.5", "--domain-size", "3", "--samples", "2000", "--json"
    )
    (result,) = outcome.json["results"]
    assert outcome.status == 0
    assert result["mechanism"] == "randomized_response"
    assert (result["epsilon"], result["delta"], result["sound"]) == (0.5, 0.0, True)
    assert result["certified_lower_bound"] <= result["exact_epsilon"] <= 0.5


def test_audit_of_none_by_name_is_of_all(run):
    outcome = run("audit", "--domain-size", "3", "--samples", "200", "--json")
    assert [result["mechanism"] for result in outcome.json["results"]] == [
        *MECHANISMS,
        "codebook",
        "gaussian",
        "rejection",
        "binary",
        *CHANNELS,
    ]


@pytest.mark.parametrize("form", [("--json",), ()])
def test_an_unsound_mechanism_makes_the_audit_fail(run, monkeypatch, form):
    module = importlib.import_module("sottovoce.audit")
    sound = module.audit("randomized_response", 1.0, domain_size=3, samples=200)
    broken = dataclasses.replace(sound, sound=False, exact_epsilon=math.inf)
    monkeypatch.setattr(module, "audit", lambda *_, **__: broken)
    outcome = run("audit", "randomized_response", *form)
    assert outcome.status == 1
    if form:
        assert outcome.json["results"][0]["exact_epsilon"] is None
    else:
        assert "NO" in outcome.out


@pytest.mark.parametrize(
    ("given", "solved_for"),
    [
        (("--epsilon", "1", "--users", "1e6"), "error"),
        (("--epsilon", "1", "--target-error", "0.05"), "users"),
        (("--users", "1e6", "--target-error", "0.05"), "epsilon"),
    ],
)
def test_plan_solves_for_what_is_missing(run, given, solved_for):
    words = ("plan", "distribution", "--domain-size", "300", *given, "--max-report-bytes", "4")
    found = run(*words, "--json").json
    assert found["solved_for"] == solved_for
    assert found["candidates"]
    assert found["mechanism"] in MECHANISMS
    table = run(*words).out
    assert found["mechanism"] in table
    assert "too long" in table


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (SIMULATE, ("L2, projected", "Theorem 4.2", "seed 5")),
        ((*SIMULATE, "--repeats", "2"), ("±", "2 times")),
        (("mechanisms",), ("hadamard_blocks", "pure ε-LDP", "× 1.00")),
        (("audit", "hadamard", "--domain-size", "3", "--samples", "200"), ("hadamard", "yes")),
    ],
)
def test_tables_for_people(run, words, expected):
    outcome = run(*words)
    assert outcome.status == 0
    assert outcome.err == ""
    unwrapped = " ".join(outcome.out.split())
    for text in expected:
        assert text in unwrapped
