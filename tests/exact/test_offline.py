"""Surveys of queries and means: identity, both sides, estimates, bad input."""

import json
import math

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MechanismError, SimulationError, SurveyError, ValueOutsideDomainError
from sottovoce.mechanisms.codebook import ROTATION_BIAS
from sottovoce.projections import project_simplex
from sottovoce.randomness import os_source
from sottovoce.randomness.philox import key_of
from sottovoce.theory.offline_bounds import projected_bound
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Sparse, Stack

STRATEGIES_OF_LINES = ("direct", "factorized", "optimized", "hierarchical", "haar", "histogram")


def population(workload, people: int = 60_000):
    """How many people have each value, and the true answers for exactly those people."""
    weights = 1 / np.arange(1, workload.domain.size + 1)
    crowd = np.random.default_rng(5).multinomial(people, weights / weights.sum())
    return crowd, workload.matvec(crowd / people)


WORKLOADS = [
    Identity(20),
    Prefix(30),
    Ranges(8),
    Marginals(age=5, sex=["f", "m"], urban=2, k=2),
    Parities(5, order=2),
    Bins(range(100), 10),
    Dense(np.random.default_rng(1).normal(size=(6, 40))),
    Sparse(([0, 1, 2], [3, 3, 9], [1.0, -2.0, 0.5], (4, 50))),
    Stack([Identity(30), Prefix(30)], weights=[2.0, 1.0]),
]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.kind)
@pytest.mark.parametrize("mechanism", ["codebook", "rejection", "gaussian"])
def test_every_workload_with_every_mechanism(workload, mechanism: str) -> None:
    """Errors within 6 standard errors of the worst case in every answer; the projection never hurts."""
    delta = 1e-6 if mechanism == "gaussian" else 0.0
    survey = sv.Survey(
        sv.queries(workload), epsilon=2.0, delta=delta, mechanism=mechanism, strategy="direct", people=60_000
    )
    people, truth = population(workload)
    estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=1))
    assert np.abs((estimate.raw - truth) / estimate.standard_errors).max() < 6
    raw, projected = np.linalg.norm(estimate.raw - truth), np.linalg.norm(estimate.values - truth)
    assert projected <= raw + math.sqrt(max(estimate.gap, 0)) + 1e-12
    behind = estimate.distribution
    assert math.isclose(behind.weights.sum(), 1, abs_tol=1e-9)
    assert (behind.weights > 0).all()
    frequencies = np.zeros(workload.domain.size)
    frequencies[behind.support] = behind.weights
    assert np.allclose(workload.matvec(frequencies), estimate.values, atol=1e-8 * workload.radius)
    low, high = estimate.interval(0.999, simultaneous=True)
    assert ((low - 1e-12 <= truth) & (truth <= high + 1e-12)).mean() > 0.9
    name = workload.name(workload.n_queries // 2)
    assert estimate[name].value == estimate.values[workload.n_queries // 2]


@pytest.mark.parametrize("mechanism", ["codebook", "rejection", "gaussian"])
def test_json_restores_the_very_same_survey(mechanism: str) -> None:
    delta = 1e-6 if mechanism == "gaussian" else 0.0
    for survey in (
        sv.Survey(sv.queries(Prefix(16)), epsilon=1.5, delta=delta, mechanism=mechanism, title="how old"),
        sv.Survey(sv.vector(7, 2.5), epsilon=1.5, delta=delta, mechanism=mechanism),
    ):
        twin = sv.Survey.from_json(survey.to_json(), survey.attachments)
        assert twin == survey
        assert twin.id == survey.id
        assert twin.mechanism == survey.mechanism


def test_public_randomness_comes_from_the_id() -> None:
    survey, other = (sv.Survey(sv.vector(10, 1.0), epsilon=1.0, title=title) for title in ("a", "b"))
    assert survey.mechanism.key == key_of(bytes.fromhex(survey.id))
    assert survey.mechanism.key != other.mechanism.key


@pytest.mark.parametrize("strategy", STRATEGIES_OF_LINES)
def test_device_bytes_are_counted_like_simulated_reports(strategy: str) -> None:
    survey = sv.Survey(sv.queries(Prefix(4)), epsilon=4.0, strategy=strategy, people=3000)
    reports = [survey.randomize(value) for value in [0] * 1500 + [3] * 1500]
    assert {len(report) for report in reports} == {4 + survey.mechanism.report_bytes}
    estimate = survey.estimate(reports)
    # The last query is answered alike by everybody, and some strategies know it.
    off = np.abs(estimate.raw - [0.5, 0.5, 0.5, 1.0])
    assert (off <= 6 * estimate.standard_errors + 1e-9).all()
    assert (estimate.standard_errors[:3] < 0.1).all()


def test_identity_projects_like_the_simplex() -> None:
    survey = sv.Survey(sv.queries(Identity(50)), epsilon=1.0, people=5000)
    people, _ = population(survey.question.workload, 5000)
    estimate = survey.estimate(survey.simulate_aggregate(histogram=people, seed=2))
    assert np.allclose(estimate.values, project_simplex(estimate.raw.copy()).values, atol=1e-9)


def test_the_bound_holds_and_is_the_one_stated() -> None:
    signs = Dense(np.random.default_rng(3).choice([-1.0, 1.0], size=(300, 64)))
    survey = sv.Survey(sv.queries(signs), epsilon=1.0, strategy="direct", people=3000)
    people, truth = population(survey.question.workload, 3000)
    runs = [survey.estimate(survey.simulate_aggregate(histogram=people, seed=s)) for s in range(8)]
    m = survey.mechanism
    bias = m.radius * ROTATION_BIAS
    stated = projected_bound(
        runs[0].raw_bound.value - bias,
        m.radius * m.expected_maximum(64, 3000),
        survey.question.workload.diameter,
        bias=bias,
        measured=True,
        hull="sqrt(2 E max <z, a_j>) over shared rotations",
    )
    assert runs[0].bound == stated
    assert stated.value < math.sqrt(m.worst_total_variance / 3000)
    assert np.mean([np.linalg.norm(e.values - truth) for e in runs]) < stated.value


def test_means_are_projected_on_the_ball() -> None:
    survey = sv.Survey(sv.vector(100, 1.0), epsilon=1.0, people=200)
    vectors = np.tile(np.eye(100)[0], (200, 1))
    estimate = survey.estimate(survey.simulate(vectors, seed=4))
    assert np.linalg.norm(estimate.raw) > 1
    assert math.isclose(np.linalg.norm(estimate.values), 1, rel_tol=1e-12)
    assert estimate["x[0]"].value == estimate[0].value == estimate.shown()[0]


def test_vectors_outside_the_ball() -> None:
    """A device answers whatever its vector is; a simulation says that the radius is wrong."""
    survey = sv.Survey.from_json(sv.Survey(sv.vector(3, 1.0), epsilon=1.0).to_json())
    for outside in ([1.1, 0, 0], [1e308, 1e308, 0]):
        assert len(survey.randomize(outside)) == len(survey.randomize([0, 0, 0]))
        with pytest.raises(ValueOutsideDomainError, match="larger radius, or clip=True") as caught:
            survey.simulate([outside, [0, 0, 0]])
        assert "1.1" not in str(caught.value)
    for odd in ([math.nan, 0, 0], [math.inf, 0, -math.inf], [10**400, 0, 0]):
        assert len(survey.randomize(odd)) == len(survey.randomize([0, 0, 0]))
        with refuses(ValueOutsideDomainError, "values"):
            survey.simulate([odd])
    clipping = sv.Survey(sv.vector(3, 1.0, clip=True), epsilon=1.0)
    assert clipping.id == survey.id
    assert len(clipping.randomize([3.0, 4.0, 0.0])) == len(survey.randomize([0.6, 0.8, 0.0]))
    same = clipping.simulate([[3.0, 4.0, 0.0]] * 50, seed=1), survey.simulate([[0.6, 0.8, 0.0]] * 50, seed=1)
    assert list(same[0]) == list(same[1])


@pytest.mark.parametrize("bad", [[1, 2], [[1, 2, 3]], "abc", None, 5, ["a", 1, 2], ["secret", 0, 0]])
def test_what_is_no_vector(bad) -> None:
    survey = sv.Survey(sv.vector(3, 1.0), epsilon=1.0)
    for give, field in (
        (survey.randomize, "value"),
        (lambda value: survey.mechanism.randomize(value, os_source()), "vector"),
    ):
        with refuses(ValueOutsideDomainError, field) as caught:
            give(bad)
        assert "secret" not in str(caught.value)
        assert caught.value.__context__ is None


def test_nobody_answering_is_nobody() -> None:
    for survey in (
        sv.Survey(sv.queries(Prefix(16)), epsilon=1.0),
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian"),
    ):
        nobody = [] if survey.kind == "queries" else np.empty((0, 3))
        assert len(survey.simulate(nobody, seed=1)) == 0


def test_bad_statements() -> None:
    with refuses(SurveyError, "workload"):
        sv.Survey(sv.queries("prefix"), epsilon=1.0)
    with refuses(MechanismError, "mechanism"):
        sv.Survey(sv.queries(Prefix(5)), epsilon=1.0, delta=0.0, mechanism="gaussian")
    for delta in (1.0, -0.1, math.nan, "x"):
        with refuses(SurveyError, "delta"):
            sv.Survey(sv.vector(3, 1.0), epsilon=1.0, delta=delta)
    for radius in (0.0, -1.0, math.inf, math.nan, "1"):
        with refuses(SurveyError, "radius"):
            sv.Survey(sv.vector(3, radius), epsilon=1.0)
    for dimension in (0, -1, 2.5, 2**21, "3"):
        with refuses(SurveyError, "dimension"):
            sv.Survey(sv.vector(dimension, 1.0), epsilon=1.0)
    for people in (0, -5, 2.5):
        with refuses(SurveyError, "people"):
            sv.Survey(sv.vector(3, 1.0), epsilon=1.0, people=people)
    for name in ("sphere", "hadamard", "published_gaussian", "nonsense"):
        with pytest.raises(MechanismError, match="codebook, gaussian, rejection"):
            sv.Survey(sv.vector(3, 1.0), epsilon=1.0, mechanism=name)
    with refuses(SimulationError, "histogram"):
        sv.Survey(sv.vector(3, 1.0), epsilon=1.0).simulate_aggregate(histogram=[1, 2, 3])
    with refuses(MechanismError, "max_report_bytes"):
        sv.Survey(sv.vector(1000, 1.0), epsilon=1.0, max_report_bytes=1)


@pytest.mark.parametrize("field", ["question", "design", "delta", "epsilon", "title"])
def test_hostile_json_of_queries_is_refused(field: str) -> None:
    statement = json.loads(sv.Survey(sv.queries(Prefix(8)), epsilon=1.0).to_json())
    for wrong in (None, True, [], {}, -1, "x" * 300, {"name": "codebook"}, {"type": "prefix"}, 1e300):
        with pytest.raises(SurveyError):
            sv.Survey.from_json(json.dumps({**statement, field: wrong}))
    with pytest.raises(SurveyError):
        sv.Survey.from_json(json.dumps({key: v for key, v in statement.items() if key != field}))


def test_answers_must_be_asked_for_by_a_name_that_exists() -> None:
    survey = sv.Survey(sv.queries(Prefix(8)), epsilon=2.0, people=100)
    estimate = survey.estimate(survey.simulate([1] * 100, seed=1))
    for wrong in ("<= 99", 8, -1, 2.5):
        with pytest.raises(SurveyError):
            estimate[wrong]
