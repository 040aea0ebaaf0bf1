"""What each command prints as JSON and as a table."""

from __future__ import annotations

import dataclasses
import importlib
import math

import pytest

import sottovoce as sv
from sottovoce.cli.arguments import whole_number
from sottovoce.formats.aggregate_file import write_aggregate
from sottovoce.mechanisms import (
    ChannelMechanism,
    FiniteMechanism,
    HashedPrefixes,
    SetMechanism,
    Tables,
    VectorMechanism,
    create,
    serving,
)
from sottovoce.mechanisms.products import Products
from sottovoce.mechanisms.shards import Shard


@pytest.mark.parametrize(("name", "largest"), [("uniform", 1 / 32), ("geometric", 0.05 / (1 - 0.95**32))])
def test_named_distributions(name, largest):
    from sottovoce.lab.populations.distributions import frequencies

    found = frequencies(name, 32)
    assert found.max() == pytest.approx(largest)
    assert found.sum() == pytest.approx(1)


@pytest.mark.parametrize("text", ["1000000", "1_000_000", "1,000,000", "1e6", " 1E+6 ", "1000000.0"])
def test_whole_numbers_may_be_written_in_several_ways(text):
    assert whole_number(text) == 1_000_000


def test_mechanisms_are_all_there_best_first(run):
    found = run("mechanisms", "--json").json
    assert (found["values"], found["epsilon"]) == (1024, 1.0)
    rows = found["mechanisms"]
    assert {row["name"] for row in rows} == set(serving(FiniteMechanism))
    assert rows[0]["relative_error"] == 1.0
    assert [row["relative_error"] for row in rows] == sorted(row["relative_error"] for row in rows)
    for row in rows:
        mechanism = create(row["name"], 1024, 1.0)
        assert row["guarantee"] == "pure epsilon-LDP"
        assert row["exact_epsilon"] <= 1.0
        assert row["report_bytes"] == mechanism.report_bytes
        assert row["worst_total_variance"] == mechanism.worst_total_variance


def test_mechanisms_that_cannot_serve_say_why(run):
    found = run("mechanisms", "--values", "1e9", "--json").json
    unable = {row["name"]: row["reason"] for row in found["mechanisms"] if not row["serves"]}
    assert "unary_optimized" in unable
    assert "bytes per report" in unable["unary_optimized"]


def test_audit_says_whether_it_is_sound(run):
    outcome = run("audit", "randomized_response", "--epsilon", "0.5", "--values", "3", "--samples", "2000", "--json")
    (result,) = outcome.json["results"]
    assert outcome.status == 0
    assert result["mechanism"] == "randomized_response"
    assert (result["epsilon"], result["delta"], result["sound"]) == (0.5, 0.0, True)
    assert result["certified_lower_bound"] <= result["exact_epsilon"] <= 0.5


@pytest.mark.slow
def test_audit_of_none_by_name_is_of_all(run):
    outcome = run("audit", "--values", "3", "--samples", "200", "--seconds", "0.2", "--json")
    assert [result["mechanism"] for result in outcome.json["results"]] == [
        *serving(FiniteMechanism),
        "codebook",
        "gaussian",
        "rejection",
        "binary",
        *serving(ChannelMechanism),
        *serving(Tables),
        *serving(Products),
        *serving(HashedPrefixes),
        *serving(SetMechanism),
    ]


@pytest.mark.parametrize("form", [("--json",), ()])
def test_an_unsound_mechanism_makes_the_audit_fail(run, monkeypatch, form):
    module = importlib.import_module("sottovoce.auditing")
    sound = module.audit("randomized_response", epsilon=1.0, domain_size=3, samples=200)
    broken = dataclasses.replace(sound, verdict="broken", exact_epsilon=math.inf)
    monkeypatch.setattr(module, "audit", lambda *_, **__: broken)
    outcome = run("audit", "randomized_response", *form)
    assert outcome.status == 1
    if form:
        assert outcome.json["results"][0]["exact_epsilon"] is None
    else:
        assert "BROKEN" in outcome.out


def test_vector_mechanisms_are_listed_best_first(run):
    found = run("mechanisms", "--dimension", "50", "--epsilon", "2", "--delta", "1e-9", "--json").json
    rows = found["vector_mechanisms"]
    assert (found["dimension"], found["delta"]) == (50, 1e-9)
    assert {row["name"] for row in rows} == set(serving(VectorMechanism))
    assert {row["family"] for row in rows} == {"vector"}
    assert {row["family"] for row in found["mechanisms"]} == {"finite"}
    compared = [row for row in rows if "relative_error" in row]
    assert [row["name"] for row in rows if row not in compared] == ["binary"]  # which answers one number
    assert [row["relative_error"] for row in compared] == sorted(row["relative_error"] for row in compared)
    for row in compared:
        mechanism = serving(VectorMechanism)[row["name"]].best(50, 1.0, 2.0, 1e-9, 10**6)
        assert row["serves"] == mechanism.deployable
        assert row["worst_total_variance"] == mechanism.worst_total_variance
        assert row["guarantee"] == {"gaussian": "(epsilon, 1e-09)-LDP", "sphere": "none on a device"}.get(
            row["name"], "pure epsilon-LDP"
        )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("mechanisms",), ("hadamard_blocks", "pure ε-LDP", "× 1.00")),
        (("mechanisms", "--delta", "0"), ("never on a device", "none on a device", "gaussian cannot give delta = 0")),
        (("audit", "hadamard", "--values", "3", "--samples", "200"), ("hadamard", "proved", "These verdicts rely on")),
    ],
)
def test_tables_for_people(run, words, expected):
    outcome = run(*words)
    assert outcome.status == 0
    assert outcome.err == ""
    unwrapped = " ".join(outcome.out.split())
    for text in expected:
        assert text in unwrapped


def test_intervals_of_every_look_are_shown_with_those_of_one_beside(run, tmp_path):
    survey = sv.Survey(sv.shares(["tea", "coffee"]), epsilon=1.0)
    aggregate = survey.aggregate().add(survey.simulate(["tea"] * 700 + ["coffee"] * 300, seed=1))
    path, estimate = tmp_path / "drinks.bin", survey.estimate(aggregate)
    write_aggregate(path, survey, aggregate.n_reports, [Shard(0, aggregate.counts)])
    words = ("estimate", "--aggregate", str(path))
    fixed, always = run(*words, "--json").json, run(*words, "--always", "--fixed", "--json").json
    assert (fixed["always"], always["always"]) == (None, "population")
    assert [row["low"] for row in always["answers"]] == [answer.low for answer in estimate.top(always=True)]
    beside = [(row["fixed_low"], row["fixed_high"]) for row in always["answers"]]
    assert beside == [(row["low"], row["high"]) for row in fixed["answers"]]
    shown = " ".join(run(*words, "--always", "--fixed").out.split())
    assert "however often you look" in shown
    assert "at one look" in shown
    assert "however often" not in run(*words).out
    refused = run(*words, "--fixed", "--json").json["error"]
    assert "--watch or --always" in refused["message"]
