"""Planning query sets and means: what is compared, what is solved for, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DomainError, MechanismError, PlanError, SurveyError, WorkloadError
from sottovoce.mechanisms.hadamard import Hadamard
from sottovoce.mechanisms.vector_registry import create_vector
from sottovoce.projections import project_hull, project_simplex
from sottovoce.theory import offline_planner
from sottovoce.theory.histogram_route import MAX_ENTRIES, histogram_route, squared_frobenius
from sottovoce.theory.offline_bounds import offline_bound
from sottovoce.theory.offline_planner import compare_vectors, explain_vectors
from sottovoce.theory.solving import MAX_USERS, fewest_users, least_epsilon
from sottovoce.workloads import Dense, Identity, Marginals, Prefix, Ranges, Workload

USERS = 50_000


# --- comparing ------------------------------------------------------------------------------


@pytest.mark.parametrize("domain_size", [None, 40])
def test_candidates_hold_what_the_mechanisms_and_the_bounds_say(domain_size: int | None) -> None:
    compared = compare_vectors(300, 2.0, 1.0, 1e-6, USERS, domain_size, max_report_bytes=100)
    assert {c.name for c in compared} == {"codebook", "gaussian", "rejection"}
    assert all(a.l2_raw <= b.l2_raw for a, b in pairwise(compared))
    for c in compared:
        m = create_vector(c.name, 300, 2.0, 1.0, 1e-6, USERS)
        assert c.mechanism == m
        sharing = 1.05 if c.name == "codebook" else 1.0
        assert m.sharing_factor(USERS) <= sharing
        assert c.l2_raw == math.sqrt(m.worst_total_variance * sharing / USERS)
        assert c.bound == offline_bound(300, domain_size, 2.0, m.proxy, m.worst_total_variance, USERS, sharing=sharing)
        assert c.l2_bound == c.bound.value
        survey = sv.Survey.mean(300, 2.0, 1.0, 1e-6, c.name, users=USERS)
        widest = survey.standard_errors(np.zeros(300), USERS)
        assert c.margin == pytest.approx(NormalDist().inv_cdf(0.975) * widest[0])
        assert c.fits == (c.name != "gaussian")
        assert (c.report_bits, c.report_bytes) == (m.report_bits, m.report_bytes)


def test_without_delta_gaussian_cannot_serve() -> None:
    assert [c.name for c in compare_vectors(10, 1.0, 1.0, 0.0, USERS)] == ["codebook", "rejection"]


def test_a_choice_is_explained_by_its_neighbours() -> None:
    compared = compare_vectors(300, 1.0, 1.0, 1e-6, USERS, max_report_bytes=100)
    text = explain_vectors(compared, "codebook")
    assert text.startswith("codebook has expected L2 error ")
    assert "the next best that fits, rejection, errs" in text
    assert "codebook would err" in explain_vectors(compared, "rejection")


@pytest.mark.parametrize("name", ["codebook", "gaussian", "rejection"])
def test_surveys_explain_themselves(name: str) -> None:
    delta = 1e-6 if name == "gaussian" else 0.0
    queries = sv.Survey.queries(Prefix(10), 1.0, delta, name, users=1000)
    mean = sv.Survey.mean(10, 1.0, 1.0, delta, name, users=1000)
    assert f"direct (a vector mechanism on the queries' own columns; {name})" in queries.explain(users=1000)
    assert mean.explain(users=1000).startswith(name)


# --- solving --------------------------------------------------------------------------------


def bound_of(plan, users: int, epsilon: float) -> float:
    """The guaranteed error of the plan's mechanism elsewhere."""
    m = create_vector(plan.best.name, plan.dimension, plan.radius, epsilon, plan.delta, users)
    sharing = 1.05 if plan.best.name == "codebook" else 1.0
    bound = offline_bound(
        m.dimension, plan.domain_size, m.radius, m.proxy, m.worst_total_variance, users, sharing=sharing
    )
    return bound.value


ASKED = [{"workload": Prefix(100)}, {"workload": Ranges(20), "delta": 1e-6}, {"dimension": 50, "radius": 3.0}]


@pytest.mark.parametrize("asked", ASKED, ids=["prefix", "ranges", "mean"])
def test_users_are_the_fewest_that_are_enough(asked) -> None:
    target = sv.plan(**asked, epsilon=1.0, users=12_345).best.l2_bound
    plan = sv.plan(**asked, epsilon=1.0, target_error=target)
    assert (plan.solved_for, plan.target_error) == ("users", target)
    assert plan.best.l2_bound <= target
    assert bound_of(plan, plan.users - 1, 1.0) > target
    assert abs(plan.users - 12_345) <= 1  # rounding of the root that made the target


@pytest.mark.parametrize("asked", ASKED, ids=["prefix", "ranges", "mean"])
def test_epsilon_is_the_least_to_three_digits(asked) -> None:
    target = sv.plan(**asked, epsilon=0.7, users=USERS).best.l2_bound
    plan = sv.plan(**asked, users=USERS, target_error=target)
    assert plan.solved_for == "epsilon"
    assert 0.7 <= plan.epsilon <= 0.7021
    assert plan.best.l2_bound <= target < bound_of(plan, USERS, 0.699)


def test_the_error_follows_from_the_other_two() -> None:
    plan = sv.plan(workload=Prefix(100), epsilon=1.0, users=USERS)
    assert plan.solved_for == "error"
    assert plan.target_error == plan.best.l2_bound == plan.candidates[0].l2_bound
    assert (plan.kind, plan.dimension, plan.domain_size, plan.radius) == ("queries", 100, 100, 10.0)
    told = plan.to_dict()
    assert (told["n_queries"], told["domain_size"], told["mechanism"]) == (100, 100, "codebook")
    assert [c["mechanism"] for c in told["candidates"]] == ["codebook", "rejection"]
    mean = sv.plan(dimension=5, epsilon=1.0, users=USERS).to_dict()
    assert (mean["kind"], mean["dimension"], mean["radius"]) == ("mean", 5, 1.0)
    assert "alternative" not in mean


def test_the_first_that_fits_is_best() -> None:
    plan = sv.plan(dimension=300, epsilon=1.0, users=1000, max_report_bytes=9)
    assert plan.best.name == "codebook"
    with pytest.raises(MechanismError, match="in 1 bytes a report"):
        sv.plan(dimension=300, epsilon=1.0, users=10**6, max_report_bytes=1)


def test_mechanisms_whose_parameters_follow_the_users_in_a_circle(monkeypatch) -> None:
    # With up to 999 users expected 1,000 are needed, with more 900 are: a circle. 1,000 are enough for their own.
    def choose(dimension, radius, epsilon, delta, users, limit):
        variance = 1000.0 if users < 1000 else 900.0
        return SimpleNamespace(worst_total_variance=variance, proxy=1.0, epsilon=epsilon, sharing_factor=lambda n: 1.0)

    monkeypatch.setattr(offline_planner, "choose_vector", choose)
    asked = offline_planner._Asked("mean", 4, None, 1.0, 0.0, 64)
    assert asked._users_for(1.0, 1.0) == 1000


@pytest.mark.parametrize("least", [1, 2, 3, 1000, MAX_USERS - 1, MAX_USERS])
def test_fewest(least: int) -> None:
    assert fewest_users(lambda users: users >= least) == least


def test_least_epsilon_is_enough_even_where_errors_rise_by_a_hair() -> None:
    found = least_epsilon(lambda epsilon: epsilon > 0.50010 and not 0.5005 < epsilon < 0.5025)
    assert found == pytest.approx(0.503)

    def silent(epsilon: float) -> bool:
        if epsilon < 1:
            raise MechanismError("too small")
        return True

    assert 1 <= least_epsilon(silent) <= 1.0101  # in steps of 0.01
    assert least_epsilon(lambda epsilon: epsilon >= 16) == 16


# --- the other way --------------------------------------------------------------------------

WORKLOADS: list[Workload] = [
    Identity(7),
    Prefix(7),
    Prefix(12),
    Ranges(6),
    Marginals({"a": 2, "b": 3, "c": 2}, 2),
    Dense(np.random.default_rng(3).normal(size=(5, 9))),
    Dense(np.ones((1, 15))),
]


def exact_second_moment(workload: Workload, hadamard: Hadamard, value: int) -> float:
    """E||c A h_z||^2 over the exact channel, by enumeration."""
    rows = np.arange(1, workload.domain.size + 1)
    total = 0.0
    for z in range(hadamard.outputs_size):
        signs = np.array([(-1) ** (int(row) & z).bit_count() for row in rows], dtype=float)
        answers = workload.matvec(signs) / float(hadamard.signal)
        total += float(hadamard.probability(z, value)) * float(answers @ answers)
    return total


@pytest.mark.parametrize("workload", WORKLOADS, ids=repr)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_variance_of_the_other_way_is_bounded(workload: Workload, epsilon: float) -> None:
    """For a point mass n tr Cov is the second moment less ||a_v||^2; mixtures have less than the largest of them."""
    hadamard = Hadamard.best(workload.domain.size, epsilon)
    squared = squared_frobenius(workload)
    assert squared == pytest.approx(np.linalg.norm(workload.dense()) ** 2)
    bound = histogram_route(workload, squared, epsilon, 1).l2_raw ** 2
    worst = max(exact_second_moment(workload, hadamard, v) for v in range(workload.domain.size))
    assert worst <= bound * (1 + 1e-12)


def test_the_bound_cannot_be_a_tenth_smaller() -> None:
    """One query that everybody answers with 1: the second moment is (2w (K-2) + 1) c^2, the bound 2w (K-1) c^2."""
    workload = WORKLOADS[-1]
    hadamard = Hadamard.best(15, 1.0)
    bound = histogram_route(workload, squared_frobenius(workload), 1.0, 1).l2_raw ** 2
    assert exact_second_moment(workload, hadamard, 4) > 0.9 * bound


def test_norms_are_added_up_in_blocks(monkeypatch) -> None:
    whole = squared_frobenius(Prefix(50))
    monkeypatch.setattr("sottovoce.theory.histogram_route._BLOCK", 120)  # two columns at a time
    assert squared_frobenius(Prefix(50)) == whole == 50 * 51 / 2


def test_the_other_way_is_recommended_where_it_is_better_and_only_there() -> None:
    better = sv.plan(workload=Ranges(20), epsilon=1.0, users=USERS)
    assert better.alternative.l2_raw < better.best.l2_raw
    assert "less before projection: run Survey.distribution(" in better.note
    assert better.to_dict()["alternative"]["deployable_here"] is False
    coarse = Dense(np.kron(np.eye(2), np.ones((1, 100))))  # two queries over 200 values
    worse = sv.plan(workload=coarse, epsilon=1.0, users=USERS)
    assert worse.alternative.l2_raw > worse.best.l2_raw
    assert "more before projection" in worse.note


def test_the_other_way_is_left_out_where_the_matrix_is_too_large() -> None:
    workload = Prefix(2**14)
    assert workload.n_queries * workload.domain.size > MAX_ENTRIES
    plan = sv.plan(workload=workload, epsilon=1.0, users=USERS)
    assert plan.alternative is None
    assert plan.to_dict()["alternative"] is None
    assert "268,435,456 entries" in plan.note


def test_the_other_way_can_be_gone_as_it_is_told() -> None:
    workload, epsilon = Ranges(12), 1.0
    truth = workload.matvec(np.full(12, 1 / 12))
    survey = sv.Survey.distribution(workload.domain, epsilon, "hadamard")
    estimate = survey.estimate(survey.simulate_aggregate(histogram=np.full(12, 500), seed=4))
    raw = workload.matvec(estimate.raw)
    answers = project_hull(workload, raw).values
    assert np.linalg.norm(answers - truth) <= np.linalg.norm(raw - truth)
    bound = histogram_route(workload, squared_frobenius(workload), epsilon, 6000).l2_raw
    # E||error||^2 <= bound^2 and a report moves the raw answers by at most 2 c max_z ||A h_z||/n, so McDiarmid's
    # inequality leaves a chance of 1e-9 beyond this.
    signs = np.array([[(-1) ** (row & z).bit_count() for row in range(1, 13)] for z in range(16)], dtype=float)
    step = 2 * math.sqrt(survey.mechanism.proxy) * max(np.linalg.norm(workload.matvec(h)) for h in signs) / 6000
    assert np.linalg.norm(raw - truth) <= bound + step * math.sqrt(6000 * math.log(1e9) / 2)


def test_projecting_the_distribution_first_may_hurt_the_answers() -> None:
    """Why the route takes the raw estimate: the nearer distribution has the farther answer."""
    workload, truth = Dense([[1.0, 0.0, 0.0]]), np.array([0.0, 1.0, 0.0])
    raw = np.array([0.0, 0.6, 0.1])
    projected = project_simplex(raw).values
    assert np.linalg.norm(projected - truth) < np.linalg.norm(raw - truth)
    assert abs(workload.matvec(projected - truth)[0]) > abs(workload.matvec(raw - truth)[0])


# --- refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "kind", "helpful"),
    [
        ({}, PlanError, "exactly one of domain .* got none"),
        ({"workload": Prefix(4), "dimension": 4}, PlanError, "got workload and dimension"),
        ({"domain": 4, "workload": Prefix(4)}, PlanError, "got domain and workload"),
        ({"domain": 4, "delta": 1e-6}, PlanError, "delta must be left out"),
        ({"domain": 4, "radius": 2.0}, PlanError, "radius goes with dimension"),
        ({"workload": Prefix(4), "radius": 2.0}, PlanError, "radius goes with dimension"),
        ({"workload": "prefix:4"}, WorkloadError, "one of sottovoce.workloads"),
        ({"dimension": 0}, SurveyError, "dimension is 0"),
        ({"dimension": 4, "radius": -1.0}, SurveyError, "radius is -1.0"),
        ({"dimension": 4, "radius": math.nan}, SurveyError, "radius is nan"),
        ({"dimension": 4, "delta": 1.0}, SurveyError, "delta is 1.0"),
        ({"dimension": 4, "delta": -0.1}, SurveyError, "delta is -0.1"),
        ({"dimension": 4, "max_report_bytes": 0}, SurveyError, "max_report_bytes is 0"),
        ({"dimension": 4, "target_error": 0.1}, PlanError, "exactly two of .*got epsilon, users, target_error"),
        ({"dimension": 4, "users": None}, PlanError, "exactly two of .*got epsilon"),
        ({"dimension": 4, "epsilon": None, "target_error": 2.0}, PlanError, "below 2, the largest L2 distance"),
        ({"workload": Prefix(4), "epsilon": None, "target_error": 4.0}, PlanError, "below 4, the largest L2"),
        ({"domain": 4, "epsilon": None, "target_error": 1.5}, PlanError, "below 1.414, .* two distributions"),
        ({"domain": 1}, DomainError, "from 2"),
    ],
)
def test_refusals(asked, kind, helpful) -> None:
    settings = {"epsilon": 1.0, "users": 100} | asked
    with pytest.raises(kind, match=helpful):
        sv.plan(settings.pop("domain", None), **settings)


def test_what_cannot_be_met_is_told_with_the_bound_that_forbids_it() -> None:
    with pytest.raises(
        PlanError, match=r"any epsilon up to 16: there the bound \(exact total variance.* is still 0\.\d"
    ):
        sv.plan(dimension=200, users=1000, target_error=0.001)
    with pytest.raises(PlanError, match=r"more than 1e\+15 people .* bound of codebook \(.*\) is still"):
        sv.plan(workload=Prefix(100), epsilon=0.01, target_error=1e-6)
    with pytest.raises(PlanError, match=r"\(projection on the hull: .*\) is still"):
        sv.plan(workload=Identity(50_000), users=100, target_error=0.01)
