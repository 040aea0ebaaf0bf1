"""Planning query sets and means: what is compared, what is solved for, and what is refused."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import DomainError, MechanismError, PlanError, SurveyError, WorkloadError
from sottovoce.mechanisms.vector_registry import create_vector
from sottovoce.projections import project_simplex
from sottovoce.strategies import Setting, compare, create
from sottovoce.theory import offline_planner
from sottovoce.theory.offline_bounds import offline_bound
from sottovoce.theory.offline_planner import compare_vectors, explain_vectors
from sottovoce.theory.solving import MAX_USERS, fewest_users, least_epsilon
from sottovoce.workloads import Dense, Identity, Prefix, Ranges

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
        bias = math.sqrt(300) * m.bias_bound
        V = m.worst_total_variance
        assert c.bound == offline_bound(300, domain_size, 2.0, m.proxy, V, USERS, sharing=sharing, bias=bias)
        assert c.l2_bound == c.bound.value
        survey = sv.Survey.mean(300, 2.0, 1.0, 1e-6, c.name, users=USERS)
        widest = survey.standard_errors(np.zeros(300), USERS)
        assert c.margin == pytest.approx(NormalDist().inv_cdf(0.975) * widest[0] + m.bias_bound)
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
    sharing = max(1.05, m.sharing_factor(users)) if plan.best.name == "codebook" else 1.0
    bound = offline_bound(
        *(m.dimension, plan.domain_size, m.radius, m.proxy, m.worst_total_variance, users),
        sharing=sharing,
        bias=math.sqrt(m.dimension) * m.bias_bound,
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
    assert "strategies" not in mean


def test_the_first_that_fits_is_best() -> None:
    plan = sv.plan(dimension=300, epsilon=1.0, users=1000, max_report_bytes=9)
    assert plan.best.name == "codebook"
    with pytest.raises(MechanismError, match="in 1 bytes a report"):
        sv.plan(dimension=300, epsilon=1.0, users=10**6, max_report_bytes=1)


def test_mechanisms_whose_parameters_follow_the_users_in_a_circle(monkeypatch) -> None:
    # With up to 999 users expected 1,000 are needed, with more 900 are: a circle. 1,000 are enough for their own.
    def fitting(dimension, radius, epsilon, delta, users, limit):
        variance = 1000.0 if users < 1000 else 900.0
        only = SimpleNamespace(
            dimension=4,
            radius=1.0,
            epsilon=epsilon,
            worst_total_variance=variance,
            bias_bound=0.0,
            sharing_factor=lambda n: 1.0,
            report_bits=16,
        )
        return [only]

    monkeypatch.setattr(offline_planner, "fitting_vectors", fitting)
    asked = offline_planner._Asked("mean", 4, None, 1.0, 0.0, 64)
    assert asked._users_for(1.0, 1.0) == 1000


@pytest.mark.parametrize(("target", "delta"), [(1.2e-3, 0.0), (1e-3, 1e-6), (1e-4, 0.0), (1e-4, 1e-6)])
def test_people_who_share_rotations_more_and_more(target: float, delta: float) -> None:
    """Few coordinates, a large epsilon: rotations are capped, and beyond some crowd another mechanism is better."""
    plan = sv.plan(dimension=4, radius=1.0, epsilon=8.0, delta=delta, target_error=target)
    assert plan.best.l2_bound <= target < bound_of(plan, plan.users - 1, 8.0)
    assert plan.users < 10**10
    assert plan.best == plan.candidates[0]


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


# --- strategies -----------------------------------------------------------------------------


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("own_cache")
def test_strategies_are_compared_where_the_error_is_asked_for() -> None:
    plan = sv.plan(workload=Ranges(12), epsilon=1.0, users=USERS)
    compared = compare(Setting(Ranges(12), 1.0, 0.0, USERS))
    assert [one.name for one in plan.strategies] == [one.name for one in compared]
    for planned, one in zip(plan.strategies, compared, strict=True):
        assert planned.fits == one.fits
        if one.fits and one.strategy is not None:
            assert planned.error == pytest.approx(one.error) == pytest.approx(one.strategy.expected_error(USERS))
            assert (planned.users, planned.epsilon) == (USERS, 1.0)
            assert planned.mechanism == one.strategy.mechanism.name
            assert planned.worst == pytest.approx(one.strategy.worst)
            assert planned.report_bytes == one.strategy.mechanism.report_bytes
            assert planned.fetched_bytes == len(one.strategy.attachment or b"")
    told = plan.to_dict()
    assert told["strategy"] == plan.strategies[0].name
    assert [row["strategy"] for row in told["strategies"]] == [one.name for one in plan.strategies]
    unable = told["strategies"][-1]
    assert (unable["strategy"], unable["fits"], unable["mechanism"], unable["users"]) == ("fourier", False, None, None)
    assert "Fourier" in unable["reason"]


@pytest.mark.usefixtures("own_cache")
def test_every_strategy_has_its_own_fewest_people() -> None:
    plan = sv.plan(workload=Prefix(12), epsilon=1.0, target_error=0.5)
    fitting = [one for one in plan.strategies if one.fits]
    assert {one.name for one in fitting} == {
        "direct",
        "factorized",
        "optimized",
        "hierarchical",
        "haar",
        "histogram",
    }
    assert [one.users for one in fitting] == sorted(one.users for one in fitting)
    for one in fitting:
        assert one.error <= 0.5
        if one.name == "direct":
            assert one.users == plan.users
        elif one.strategy is not None:
            assert one.strategy.expected_error(int(one.users) - 1) > 0.5


@pytest.mark.usefixtures("own_cache")
def test_every_strategy_has_its_own_least_epsilon() -> None:
    plan = sv.plan(workload=Prefix(6), users=5000, target_error=0.4)
    fitting = [one for one in plan.strategies if one.fits]
    assert {one.name for one in fitting} == {"direct", "factorized", "hierarchical", "haar", "histogram"}
    assert [one.epsilon for one in fitting] == sorted(one.epsilon for one in fitting)
    for one in fitting:
        assert one.error <= 0.4
        assert one.users == 5000
        assert one.strategy is not None
        assert one.strategy.mechanism.epsilon == one.epsilon
        less = create(one.name, Setting(Prefix(6), one.epsilon * 0.985, 0.0, 5000))
        assert less.expected_error(5000) > 0.4
    searched = next(one for one in plan.strategies if one.name == "optimized")
    assert "searched for one epsilon" in searched.reason


@pytest.mark.usefixtures("own_cache")
def test_what_only_another_strategy_reaches_is_told() -> None:
    with pytest.raises(PlanError, match=r"any epsilon up to 16.* direct strategy; strategy='\w+' reaches it with eps"):
        sv.plan(workload=Ranges(12), users=3000, target_error=0.35)
    with pytest.raises(PlanError, match=r"needs more than .*; raise epsilon or the target$"):
        sv.plan(workload=Prefix(12), epsilon=0.01, target_error=1e-7)


def test_limits_of_size_are_told() -> None:
    plan = sv.plan(workload=Prefix(2**14), epsilon=1.0, users=USERS, max_report_bytes=4)
    reasons = {one.name: one.reason for one in plan.strategies}
    assert reasons["haar"] == ""
    assert reasons["factorized"] != ""
    assert reasons["histogram"] != ""
    assert "sottovoce optimize" in reasons["optimized"]
    assert sv.plan(dimension=5, epsilon=1.0, users=USERS).strategies == ()


def test_projecting_the_distribution_first_may_hurt_the_answers() -> None:
    """Why no bound says so: the nearer distribution has the farther answer."""
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
    with pytest.raises(PlanError, match=r"more than 1e\+15 people .* bound of (codebook|rejection) \(.*\) is still"):
        sv.plan(workload=Prefix(100), epsilon=0.01, target_error=1e-6)
    with pytest.raises(PlanError, match=r"\(projection on the hull: .*\) is still"):
        sv.plan(workload=Identity(50_000), users=100, target_error=0.01)
