"""The likeliest distribution: the channels' products, the certificate, what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.estimates import likeliest as module
from sottovoce.estimates.likeliest import likeliest
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.workloads import Marginals, Prefix

LISTED = {"randomized_response", "hadamard", "hadamard_blocks", "projective_geometry", "matrix_channel"}
LISTED |= {"haar", "hierarchical", "fourier"}
"""Mechanisms whose aggregates count every report."""


@pytest.mark.parametrize("name", sorted(LISTED))
def test_products_are_those_of_the_exact_channel(name: str) -> None:
    rng = np.random.default_rng(1)
    for mechanism in MECHANISMS[name].miniatures(1.5):
        reports = list(mechanism.outputs())
        values = range(mechanism.domain_size)
        matrix = np.array([[float(mechanism.probability(z, v)) for v in values] for z in reports])
        counts = mechanism.empty()
        for number, report in enumerate(reports):
            payload = np.frombuffer(mechanism.encode(report), dtype=np.uint8)
            one = mechanism.empty()
            mechanism.count_into(one, mechanism.codec.decode_many(payload[None, :]))
            assert np.flatnonzero(one).tolist() == [number], "reports are counted in the order of `outputs`"
            counts += one
        shares, numbers = rng.dirichlet(np.ones(len(values))), rng.normal(size=len(reports))
        assert np.allclose(mechanism.report_chances(shares), matrix @ shares, rtol=1e-9, atol=1e-15)
        assert np.allclose(mechanism.report_means(numbers), matrix.T @ numbers, rtol=1e-9, atol=1e-13)


def test_every_other_mechanism_says_that_it_has_none() -> None:
    kinds = {name for name, kind in MECHANISMS.items() if issubclass(kind, ChannelMechanism)}
    known = {name for name in kinds if MECHANISMS[name].report_chances is not ChannelMechanism.report_chances}
    assert known == LISTED
    for name in kinds - known:
        small = MECHANISMS[name].miniatures(1.0)[0]
        assert small.report_chances(np.ones(small.domain_size)) is None
        assert small.report_means(np.ones(small.cells)) is None


SURVEYS = {
    "randomized_response": sv.Survey(sv.shares(6), epsilon=1.0, mechanism="randomized_response"),
    "hadamard": sv.Survey(sv.shares(20), epsilon=1.0, mechanism="hadamard"),
    "hadamard_blocks": sv.Survey(sv.shares(30), epsilon=3.0, mechanism="hadamard_blocks"),
    "projective_geometry": sv.Survey(sv.shares(30), epsilon=2.0, mechanism="projective_geometry"),
    "haar": sv.Survey(sv.queries(Prefix(21)), epsilon=1.0, strategy="haar"),
    "hierarchical": sv.Survey(sv.queries(Prefix(21)), epsilon=1.0, strategy="hierarchical"),
    "fourier": sv.Survey(sv.queries(Marginals(k=2, a=3, b=4, c=2)), epsilon=1.0, strategy="fourier"),
    "optimized": sv.Survey(sv.queries(Prefix(6)), epsilon=1.0, strategy="optimized"),
}


def estimated(survey, n=2000, seed=1):
    workload = survey.design.workload
    rng = np.random.default_rng(seed)
    people = rng.multinomial(n, rng.dirichlet(np.full(workload.n_values, 0.3)))
    return survey.estimate(survey.simulate_aggregate(histogram=people, seed=seed))


def log_likelihood(estimate, shares) -> float:
    came = estimate.counts > 0
    chances = estimate.survey.mechanism.report_chances(shares)
    return float(estimate.counts[came] @ np.log(chances[came]))


@pytest.mark.parametrize("name", SURVEYS)
def test_no_distribution_is_likelier_by_more_than_the_gap(name: str) -> None:
    estimate = estimated(SURVEYS[name])
    found = estimate.likeliest(tolerance=0.01)
    assert found.converged
    assert 0 <= found.gap <= 0.01
    p = found.distribution
    assert (p >= 0).all()
    assert p.sum() == pytest.approx(1.0)
    assert found.log_likelihood == pytest.approx(log_likelihood(estimate, p))
    workload = estimate.survey.design.workload
    assert np.allclose(found.values, workload.matvec(p))
    rng = np.random.default_rng(3)
    others = [*rng.dirichlet(np.ones(len(p)), 20), *np.eye(len(p)), *(0.99 * p + 0.01 * np.eye(len(p)))]
    behind = np.zeros(len(p))
    behind[estimate.distribution.support] = estimate.distribution.weights
    assert max(log_likelihood(estimate, other) for other in [*others, behind]) <= found.log_likelihood + found.gap
    rough = estimate.likeliest(tolerance=50.0)
    assert rough.log_likelihood >= found.log_likelihood - rough.gap
    assert rough.steps <= found.steps


def test_it_is_the_projection_where_the_raw_shares_are_a_distribution() -> None:
    """Randomized response: if no raw share is negative, the raw shares explain the counts exactly."""
    survey = sv.Survey(sv.shares(4), epsilon=2.0, mechanism="randomized_response")
    estimate = survey.estimate(survey.simulate_aggregate(histogram=[4000, 3000, 2000, 1000], seed=1))
    assert (estimate.raw > 0).all()
    assert np.allclose(estimate.likeliest(tolerance=1e-9).values, estimate.raw, atol=1e-5)


def test_steps_never_lower_the_likelihood_and_are_reported() -> None:
    estimate = estimated(SURVEYS["hadamard_blocks"], 5000)
    told: list[tuple[int, float]] = []
    found = estimate.likeliest(tolerance=1e-6, max_steps=60, progress=lambda *now: told.append(now))
    assert [steps for steps, _ in told] == sorted(steps for steps, _ in told)
    assert told[-1][0] == found.steps <= 61
    gaps = [gap for _, gap in told]
    assert gaps == sorted(gaps, reverse=True)
    assert not estimate.likeliest(tolerance=1e-6, max_steps=1).converged
    assert "not converged" in str(estimate.likeliest(tolerance=1e-6, max_steps=1))
    counts = estimate.counts.astype(np.float64)
    search = module._Search(estimate.survey.mechanism, counts, estimate.n_reports)
    point = search.at(np.full(30, 1 / 30))
    for _ in range(20):
        following = search.at(point.following)
        assert following.log_likelihood >= point.log_likelihood
        point = following


def test_the_default_number_of_steps_follows_from_the_size() -> None:
    few, many = (sv.Survey(sv.shares(size), epsilon=1.0, mechanism="hadamard").mechanism for size in (100, 10**6))
    assert module._steps_in_a_minute(few) == 2000
    assert 300 < module._steps_in_a_minute(many) < 600


def test_results_are_read_only_and_survive_a_copy() -> None:
    estimate = estimated(SURVEYS["hadamard"])
    found = estimate.likeliest()
    with pytest.raises(ValueError, match="read-only"):
        found.distribution[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 1.0
    for one in (copy.deepcopy(estimate), copy.copy(estimate)):
        assert np.array_equal(one.likeliest().values, found.values)
    assert found.summary() == {
        "log_likelihood": found.log_likelihood,
        "gap": found.gap,
        "steps": found.steps,
        "converged": True,
    }


@pytest.mark.parametrize("name", ["subset_selection", "unary_symmetric", "unary_optimized"])
def test_supports_are_refused(name: str) -> None:
    estimate = estimated(sv.Survey(sv.shares(6), epsilon=1.0, mechanism=name))
    with pytest.raises(MechanismError, match=f"aggregate of {name} holds how many reports support each value"):
        estimate.likeliest()


def test_vectors_and_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    direct = sv.Survey(sv.queries(Prefix(6)), epsilon=1.0, strategy="direct")
    with pytest.raises(MechanismError, match="codebook reports on a vector"):
        estimated(direct).likeliest()
    mean = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    with pytest.raises(MechanismError, match="use the projected values"):
        mean.estimate(mean.simulate(np.zeros((10, 3)), seed=1)).likeliest()
    estimate = estimated(SURVEYS["hadamard"])
    with pytest.raises(MechanismError, match="holds no counts"):
        likeliest(estimate.survey.design, None, 10)
    monkeypatch.setattr(module, "_MOST_VALUES", 10)
    with pytest.raises(CapacityError, match="at most 10 values are allowed"):
        estimate.likeliest()


@pytest.mark.parametrize("tolerance", [0, -1.0, float("nan"), float("inf"), "1", True, None])
def test_bad_tolerances_are_refused(tolerance) -> None:
    with refuses(SurveyError, "tolerance"):
        estimated(SURVEYS["hadamard"]).likeliest(tolerance=tolerance)


@pytest.mark.parametrize("steps", [0, -5, 1.5, "many", 10**9])
def test_bad_numbers_of_steps_are_refused(steps) -> None:
    with refuses(SurveyError, "max_steps"):
        estimated(SURVEYS["hadamard"]).likeliest(max_steps=steps)
