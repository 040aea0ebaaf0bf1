"""Query sets and means on the command line: results and pictures."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.experiments.error_curves import REPEATS, affordable, crowds_of, error_curves, people_simulated
from sottovoce.experiments.offline_error import measure_mean, measure_queries
from sottovoce.mechanisms.vector_registry import VECTOR_MECHANISMS, create_vector
from sottovoce.populations.distributions import frequencies
from sottovoce.populations.vectors import people_with_vectors, true_mean
from sottovoce.simulation import histogram_of
from sottovoce.theory.offline_bounds import offline_bound, theorem_3_2, theorem_3_4
from sottovoce.workloads import Prefix

QUERIES = ("simulate", "queries", "--workload", "prefix:12", "--users", "2000", "--epsilon", "1", "--seed", "5")
MEAN = ("simulate", "mean", "--dimension", "8", "--radius", "3", "--users", "2000", "--epsilon", "1", "--seed", "5")
PLAN_QUERIES = ("plan", "queries", "--workload", "prefix:12", "--users", "2000", "--epsilon", "1")
PLAN_MEAN = ("plan", "mean", "--dimension", "8", "--users", "2000", "--epsilon", "1")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is taken from the user's cache, nor kept there."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "strategies"))


# --- help -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [words[:2] for words in (QUERIES, MEAN, PLAN_QUERIES, PLAN_MEAN)], ids=" ".join)
def test_help_shows_examples_of_that_command(run, words):
    outcome = run(*words, "--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert " ".join(("sottovoce", *words)) in outcome.out.split("examples:\n", 1)[1]
    if words[1] == "queries":
        assert "marginals:age=10,sex=2,country=30:2" in outcome.out.split("workloads:\n", 1)[1]


# --- simulate -------------------------------------------------------------------------------


def test_simulate_queries_says_what_was_measured_and_what_theory_says(run):
    found = run(*QUERIES, "--strategy", "direct", "--repeats", "3", "--json").json
    codebook = create_vector("codebook", 12, math.sqrt(12), 1.0, 0.0, 2000)
    assert (found["mechanism"], found["workload"], found["distribution"]) == ("codebook", "prefix", "zipf")
    assert (found["n_queries"], found["domain_size"], found["radius"]) == (12, 12, math.sqrt(12))
    assert (found["users"], found["epsilon"], found["delta"], found["repeats"], found["seed"]) == (2000, 1.0, 0.0, 3, 5)
    assert 0 < found["l2_projected"] <= found["l2_raw"]
    assert found["l2_symmetric"] <= found["l2_raw"]
    ours = offline_bound(
        12,
        12,
        math.sqrt(12),
        codebook.proxy,
        codebook.worst_total_variance,
        2000,
        sharing=codebook.sharing_factor(2000),
    ).value
    assert (found["l2_bound"], found["l2_bound_paper"]) == (ours, theorem_3_4(12, 12, math.sqrt(12), 1.0, 2000).value)
    assert found["predicted_variance"] == pytest.approx(codebook.noise / 12)
    assert 0 <= found["gap"] < 1e-9
    assert found["report_bits"] == codebook.report_bits
    assert found["seconds"] > 0
    spread = found["standard_errors"]
    assert set(spread) == {"l2_raw", "l2_projected", "l2_symmetric", "per_coordinate_variance"}
    assert all(number > 0 for number in spread.values())


def test_simulate_mean_has_no_domain_and_no_symmetric_hull(run):
    found = run(*MEAN, "--mechanism", "gaussian", "--delta", "1e-6", "--json").json
    assert (found["mechanism"], found["delta"], found["dimension"], found["radius"]) == ("gaussian", 1e-6, 8, 3.0)
    assert found["l2_symmetric"] is None
    assert found["standard_errors"] is None
    paper = theorem_3_2(8, 10**300, 3.0, 1.0, 1e-6, 2000)
    assert paper.value == found["l2_bound_paper"]
    assert "domain_size" not in found


def test_the_paper_says_nothing_about_a_pure_survey_of_few(run):
    words = [*QUERIES]
    words[5] = "119"
    assert run(*words, "--json").json["l2_bound_paper"] is None
    assert "Theorem" not in run(*words).out


@pytest.mark.parametrize("words", [QUERIES, MEAN])
def test_the_same_seed_gives_the_same_errors_and_another_gives_others(run, words):
    first, again = run(*words, "--json").json, run(*words, "--json").json
    other = run(*words[:-1], "6", "--json").json
    assert first["l2_raw"] == again["l2_raw"] != other["l2_raw"]
    fresh = run(*words[:-2], "--json").json
    assert run(*words[:-1], str(fresh["seed"]), "--json").json["l2_raw"] == fresh["l2_raw"]


def test_errors_are_against_the_answers_of_the_population():
    from sottovoce.experiments.distribution_error import seeds_of

    workload, weights = Prefix(9), frequencies("geometric", 9)
    stated = {"distribution": "geometric", "strategy": "direct", "repeats": 3, "seed": 3}
    found = measure_queries(workload, 700, 2.0, **stated)
    survey = sv.Survey.queries(workload, 2.0, strategy="direct", users=700)
    truth, seeds = workload.matvec(weights), iter(seeds_of(3, 6))
    raw, symmetric, variances, gaps = [], [], [], []
    for people_seed, report_seed in zip(seeds, seeds, strict=True):
        people = histogram_of(weights, 700, people_seed)
        estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=report_seed))
        raw.append(math.dist(estimate.raw, truth))
        symmetric.append(math.dist(survey.project(estimate.raw, symmetric=True).values, truth))
        variances.append(float(np.mean((estimate.raw - truth) ** 2)) * 700 / 9)
        gaps.append(estimate.gap)
    assert found.mean.l2_raw == pytest.approx(statistics.mean(raw))
    assert found.mean.l2_symmetric == pytest.approx(statistics.mean(symmetric))
    assert found.mean.per_coordinate_variance == pytest.approx(statistics.mean(variances))
    assert found.standard_error is not None
    assert found.standard_error.l2_raw == pytest.approx(statistics.stdev(raw) / math.sqrt(3))
    assert found.gap == max(gaps)
    without = measure_queries(workload, 700, 2.0, symmetric=False, **stated)
    assert (without.mean.l2_raw, without.mean.l2_symmetric) == (found.mean.l2_raw, None)


def test_measured_variance_is_the_predicted_one():
    """Gaussian noise: repeats times dimension squared normals, whose sum is chi-square.

    Each coordinate's variance is sigma^2/n plus the population's own, together (1/3 - 0.09) r^2 over all coordinates.
    The bounds hold but for a chance of 1e-9 each; noise a fifth too small or too large would fall outside them.
    """
    from scipy.stats import chi2

    dimension, repeats = 100, 25
    found = measure_mean(dimension, 2.0, 300, 1.0, 1e-6, "gaussian", repeats=repeats, seed=8)
    expected = found.predicted_variance + (1 / 3 - 0.09) / dimension
    ratio, freedom = found.mean.per_coordinate_variance / expected, dimension * repeats
    low, high = chi2.ppf([1e-9], freedom)[0] / freedom, chi2.isf([1e-9], freedom)[0] / freedom
    assert 0.8 < low < ratio < high < 1.2


@pytest.mark.parametrize("dimension", [1, 2, 30])
def test_simulated_vectors_have_the_stated_mean_and_stay_in_the_ball(dimension):
    """The mean of n vectors in a ball is within r (1 + sqrt(2 log 1e9))/sqrt(n) of theirs but for a chance of 1e-9
    (E||error|| <= r/sqrt(n), and McDiarmid); a mean off by a third would be 0.1 r away."""
    n, radius = 40_000, 2.0
    vectors = people_with_vectors(dimension, radius, n, seed=6).between(0, n)
    norms = np.linalg.norm(vectors, axis=1)
    tolerance = radius * (1 + math.sqrt(2 * math.log(1e9))) / math.sqrt(n)
    assert tolerance < 0.1 * radius
    assert np.linalg.norm(vectors.mean(axis=0) - true_mean(dimension, radius)) < tolerance
    assert norms.max() <= radius * (1 + 1e-12)
    # Uniform norms: none of 40,000 below (above) a hundredth (99 hundredths) has a chance of 0.99^40000 < 1e-170.
    assert norms.min() < 0.01 * radius
    assert norms.max() > 0.99 * radius
    if dimension > 1:
        assert vectors @ true_mean(dimension, 1.0) == pytest.approx(0.6 * norms * 0.3)


# --- plan -----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [PLAN_QUERIES, PLAN_MEAN])
def test_plan_solves_for_what_is_missing(run, words):
    asked, found = words[:4], run(*words, "--json").json
    assert (found["solved_for"], found["mechanism"], found["target_error"]) == (
        "error",
        "codebook",
        found["candidates"][0]["l2_bound"],
    )
    target = str(found["target_error"] * (1 + 1e-9))
    people = run(*asked, "--epsilon", "1", "--target-error", target, "--json").json
    assert (people["solved_for"], people["users"]) == ("users", 2000)
    epsilon = run(*asked, "--users", "2000", "--target-error", target, "--json").json
    assert epsilon["solved_for"] == "epsilon"
    assert 0.999 <= epsilon["epsilon"] <= 1.0101


def test_plans_as_tables(run):
    queries = " ".join(run(*PLAN_QUERIES, "--delta", "1e-6", "--max-report-bytes", "20").out.split())
    for words in (
        "12 queries over 12 values, radius 3.464; 2,000 people at epsilon 1, delta 1e-06: what error?",
        "➜ codebook",
        "gaussian, delta 1e-06",
        "(too long)",
        "mechanisms of the direct strategy",
        "a prefix workload has no",
        "times the error",
        "with strategy='direct'",
    ):
        assert words in queries
    mean = " ".join(run("plan", "mean", "--dimension", "8", "--epsilon", "1", "--target-error", "0.1").out.split())
    assert "mean of 8 numbers, radius 1; epsilon 1, error at most 0.1: how many people?" in mean
    assert "strategy" not in mean
    assert "delta" not in mean
    words = ("--users", "2000", "--target-error", "0.5", "--delta", "1e-6")
    epsilon = " ".join(run("plan", "mean", "--dimension", "8", *words).out.split())
    assert "2,000 people, delta 1e-06, error at most 0.5: what epsilon?" in epsilon
    assert "codebook, delta" not in epsilon


@pytest.mark.parametrize("words", [PLAN_QUERIES, QUERIES, MEAN], ids=" ".join)
def test_a_bound_that_is_proved_for_ideal_rotations_alone_is_not_called_proved(run, words):
    assert "proved" not in run(*words).out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (QUERIES, ("12 queries over 12 values (zipf)", "simulated once", "Theorem 3.4", "paper's polytope", "seed 5")),
        ((*QUERIES, "--strategy", "haar"), ("(zipf), haar", "epsilon 1, haar", "for the worst value")),
        ((*MEAN, "--repeats", "2"), ("mean of 8 numbers, radius 3", "±", "2 times", "where nobody's vector points")),
        ((*MEAN, "--delta", "1e-6", "--mechanism", "gaussian"), ("delta 1e-06, gaussian", "Theorem 3.2")),
        (("mechanisms", "--delta", "0"), ("never on a device", "none on a device", "gaussian cannot give delta = 0")),
    ],
)
def test_tables_for_people(run, words, expected):
    outcome = run(*words)
    assert (outcome.status, outcome.err) == (0, "")
    unwrapped = " ".join(outcome.out.split())
    for text in expected:
        assert text in unwrapped


def test_vector_mechanisms_are_listed_best_first(run):
    found = run("mechanisms", "--dimension", "50", "--epsilon", "2", "--delta", "1e-9", "--json").json
    rows = found["vector_mechanisms"]
    assert (found["dimension"], found["delta"]) == (50, 1e-9)
    assert {row["name"] for row in rows} == set(VECTOR_MECHANISMS)
    assert {row["family"] for row in rows} == {"queries and means"}
    assert {row["family"] for row in found["mechanisms"]} == {"distributions"}
    compared = [row for row in rows if "relative_error" in row]
    assert [row["name"] for row in rows if row not in compared] == ["binary"]  # which answers one number
    assert [row["relative_error"] for row in compared] == sorted(row["relative_error"] for row in compared)
    for row in compared:
        mechanism = VECTOR_MECHANISMS[row["name"]].best(50, 1.0, 2.0, 1e-9, 10**6)
        assert row["serves"] == mechanism.deployable
        assert row["worst_total_variance"] == mechanism.worst_total_variance
        assert row["guarantee"] == {"gaussian": "(epsilon, 1e-09)-LDP", "sphere": "none on a device"}.get(
            row["name"], "pure epsilon-LDP"
        )


# --- pictures -------------------------------------------------------------------------------


def test_curves_are_the_formulas_and_points_are_simulations():
    workload = Prefix(12)
    plan = sv.plan(workload=workload, epsilon=1.0, users=3000)
    done: list[int] = []
    curves = error_curves(plan, workload, done.append)
    assert sum(done) == people_simulated(plan) == REPEATS * sum(point.users for point in curves.measured)
    assert (curves.people[0], curves.people[-1]) == (30, 30_000)
    m = plan.best.mechanism
    at = len(curves.people) // 2
    n = curves.people[at]
    assert curves.l2_raw[at] == math.sqrt(m.worst_total_variance / n)
    assert (
        curves.l2_bound[at]
        == offline_bound(12, 12, m.radius, m.proxy, m.worst_total_variance, n, sharing=m.sharing_factor(n)).value
    )
    assert curves.l2_bound_paper[at] == theorem_3_4(12, 12, m.radius, 1.0, n).value
    assert math.isnan(curves.l2_bound_paper[0])  # stated for 120 or more
    last = curves.measured[-1]
    assert last.users == 3000
    again = measure_queries(workload, 3000, 1.0, mechanism="codebook", repeats=REPEATS, seed=7, symmetric=False)
    assert (last.l2_raw, last.l2_projected) == (again.mean.l2_raw, again.mean.l2_projected)


def test_crowds_stay_affordable():
    huge = sv.plan(2**21, epsilon=1.0, users=10**9)
    assert affordable(huge) == 0
    assert crowds_of(huge.users, 0).points == ()
    wide = sv.plan(dimension=2**16, epsilon=1.0, users=10**6)
    crowds = crowds_of(wide.users, affordable(wide))
    assert crowds.points[-1] == affordable(wide) == 256
    assert crowds.lines[0] == 10
    assert crowds_of(1, 10**6).points == (10,)


@pytest.mark.parametrize(
    "words",
    [
        ("plan", "distribution", "--domain-size", "20", "--users", "3000", "--epsilon", "1"),
        ("plan", "distribution", "--domain-size", "2e6", "--users", "3000", "--epsilon", "1"),
        PLAN_QUERIES,
        PLAN_MEAN,
    ],
)
def test_plans_can_be_drawn(run, tmp_path, words):
    path = tmp_path / "error.png"
    found = run(*words, "--picture", str(path), "--json").json
    assert found["picture"] == str(path)
    assert path.read_bytes().startswith(b"\x89PNG")
    table = run(*words, "--picture", str(tmp_path / "error.svg")).out
    assert "error.svg" in table
    assert (tmp_path / "error.svg").stat().st_size > 10_000


def test_the_picture_shows_the_curves():
    from sottovoce.plotting import error_figure

    curves = error_curves(sv.plan(20, epsilon=1.0, users=2000))
    (axes,) = error_figure(curves).axes
    drawn = {line.get_label(): line for line in axes.lines}
    assert list(drawn["projected, bound for every population"].get_ydata()) == list(curves.l2_bound)
    assert list(drawn["raw, for the worst population"].get_ydata()) == list(curves.l2_raw)
    assert list(drawn["the paper's bound (Theorem 4.2, as printed)"].get_ydata()) == list(curves.l2_bound_paper)
    simulated = drawn["projected, simulated (zipf)"]
    assert list(simulated.get_ydata()) == [point.l2_projected for point in curves.measured]
    assert list(simulated.get_xdata()) == [point.users for point in curves.measured]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
