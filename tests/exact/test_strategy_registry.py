"""All strategies by one contract: unbiased, noise as stated, bounds that hold, and surveys that resist tampering.

Where the mechanism is a finite channel everything is summed over all reports; nothing is sampled.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.errors import CapacityError, MechanismError, SurveyError
from sottovoce.mechanisms.channel import ChannelMechanism
from sottovoce.protocols.queries import QuerySurvey
from sottovoce.strategies import STRATEGIES, Setting, compare, create
from sottovoce.strategies.explain import explain
from sottovoce.strategies.registry import choose
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Workload

WORKLOADS: dict[str, Workload] = {
    "identity": Identity(4),
    "prefix": Prefix(5),
    "ranges": Ranges(4),
    "bins": Bins(range(6), [1, 3, 6]),
    "marginals": Marginals(k=2, a=2, b=3),
    "parities": Parities(3, 2),
    "dense": Dense(np.random.default_rng(3).normal(size=(3, 5))),
    "repeated": Dense([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 2.0]]),
}
USERS = 1000
CASES = [(name, strategy) for name in WORKLOADS for strategy in STRATEGIES]


@pytest.fixture(autouse=True, scope="module")
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@cache
def survey_of(workload: str, strategy: str, epsilon: float = 1.0) -> QuerySurvey | None:
    """The survey, or None where the strategy cannot serve."""
    try:
        return sv.Survey.queries(WORKLOADS[workload], epsilon, strategy=strategy, users=USERS)
    except (SurveyError, CapacityError):
        return None


def test_every_strategy_serves_some_of_these() -> None:
    served = {strategy: [name for name in WORKLOADS if survey_of(name, strategy)] for strategy in STRATEGIES}
    for strategy in ("direct", "factorized", "optimized", "hierarchical", "haar", "histogram"):
        assert served[strategy] == list(WORKLOADS)
    assert served["fourier"] == ["identity", "bins", "marginals", "parities"]


# --- exact ----------------------------------------------------------------------------------


class Enumerated:
    """A finite channel: P(report | value), one row a value; the raw coordinates and answers of every report."""

    def __init__(self, survey: QuerySurvey) -> None:
        mechanism = survey.mechanism
        assert isinstance(mechanism, ChannelMechanism)
        reports = list(mechanism.outputs())
        values = range(mechanism.domain_size)
        self.chances = np.array([[float(mechanism.probability(z, u)) for z in reports] for u in values])
        counts = [survey.aggregate().add([survey.tag + mechanism.encode(z)]).counts for z in reports]
        self.counts = np.array(counts)
        self.coordinates = np.array([survey.strategy.raw_coordinates(count, 1) for count in counts])
        self.answers = np.array([survey.strategy.answers(v) for v in self.coordinates])


@cache
def enumerated(workload: str, strategy: str, epsilon: float = 1.0) -> tuple[QuerySurvey, Enumerated] | None:
    survey = survey_of(workload, strategy, epsilon)
    if survey is None or not isinstance(survey.mechanism, ChannelMechanism):
        return None
    return survey, Enumerated(survey)


FINITE = [
    (name, strategy, epsilon)
    for name, strategy in CASES
    for epsilon in ((0.5, 2.0) if name in ("prefix", "marginals") else (1.0,))
    if strategy not in ("direct", "factorized")
    and not (strategy == "fourier" and name in ("prefix", "ranges", "dense", "repeated"))
]
finite = pytest.mark.parametrize(("name", "strategy", "epsilon"), FINITE)


@finite
def test_answers_are_unbiased_and_noise_is_as_stated(name: str, strategy: str, epsilon: float) -> None:
    """E[answers | u] = A e_u and sum_i Var(answer_i | u), over all reports, against `worst` and `total`."""
    found = enumerated(name, strategy, epsilon)
    assert found is not None
    survey, channel = found
    A = survey.workload.dense()
    scale = 1e-9 * np.abs(channel.answers).max()
    assert np.allclose(channel.chances.sum(axis=1), 1.0)
    assert np.allclose(channel.chances @ channel.answers, A.T, atol=scale)
    V = np.array([survey.strategy.coordinates.column(u) for u in range(A.shape[1])])
    assert np.allclose(channel.chances @ channel.coordinates, V, atol=scale)
    noise = (channel.chances @ channel.answers**2 - A.T**2).sum(axis=1)
    assert survey.strategy.worst == pytest.approx(noise.max(), rel=1e-7, abs=1e-7)
    assert survey.strategy.total == pytest.approx(noise.mean(), rel=1e-7, abs=1e-7)


@pytest.mark.parametrize(("name", "strategy"), CASES)
def test_the_answers_of_exact_coordinates_are_exact(name: str, strategy: str) -> None:
    """A p = shift + R V p, also where the mechanism is a vector mechanism and no channel can be listed."""
    survey = survey_of(name, strategy)
    if survey is None:
        assert strategy == "fourier"
        return
    chosen, A = survey.strategy, survey.workload.dense()
    for u in range(A.shape[1]):
        answers = chosen.answers(chosen.coordinates.column(u))
        # Coordinates travel in single precision.
        assert np.abs(answers - A[:, u]).max() < 1e-5 * survey.workload.radius


@finite
def test_standard_errors_are_never_below_the_exact_ones(name: str, strategy: str, epsilon: float) -> None:
    """For populations of one value, of two, and of all; people's sampling included."""
    found = enumerated(name, strategy, epsilon)
    assert found is not None
    survey, channel = found
    A = survey.workload.dense()
    J = A.shape[1]
    rng = np.random.default_rng(5)
    populations = [*np.eye(J), *(np.eye(J)[[u, u - 1]].mean(axis=0) for u in range(J)), *rng.dirichlet(np.ones(J), 5)]
    for p in populations:
        variance = p @ channel.chances @ channel.answers**2 - (A @ p) ** 2
        stated = survey.standard_errors(A @ p, 7)
        assert (stated**2 * 7 >= variance * (1 - 1e-9) - 1e-9).all()
    largest = max(float((p @ channel.chances @ channel.answers**2 - (A @ p) ** 2).max()) for p in populations)
    widest = max(float(survey.standard_errors(A @ p, 1).max()) for p in populations)
    assert widest**2 <= 12 * largest, "so wide that they would say nothing"


@finite
def test_bounds_hold_exactly_for_one_and_two_reports(name: str, strategy: str, epsilon: float) -> None:
    found = enumerated(name, strategy, epsilon)
    assert found is not None
    survey, channel = found
    chosen, A = survey.strategy, survey.workload.dense()
    J, outputs = A.shape[1], len(channel.counts)
    few = np.argsort(channel.chances.max(axis=0))[::-1][:12]
    populations = [np.eye(J)[0], np.full(J, 1 / J)]
    for p in populations:
        chances = p @ channel.chances
        one = [chosen.project(v).values for v in channel.coordinates]
        error = float(chances @ np.linalg.norm(np.array(one) - A @ p, axis=1))
        assert error <= chosen.bound(1).value * (1 + 1e-9)
        # Two reports: all pairs where they are few, else the likeliest; what is left out only adds to the error.
        pairs = list(product(range(outputs) if outputs <= 12 else few, repeat=2))
        both = [chosen.project((channel.coordinates[a] + channel.coordinates[b]) / 2).values for a, b in pairs]
        distances = np.linalg.norm(np.array(both) - A @ p, axis=1)
        error = float(sum(chances[a] * chances[b] * d for (a, b), d in zip(pairs, distances, strict=True)))
        assert error <= chosen.bound(2).value * (1 + 1e-9)


@finite
def test_parts_of_the_bound_hold_for_the_channel(name: str, strategy: str, epsilon: float) -> None:
    """The trace of the coordinates' covariance, the sub-Gaussian proxy along every column, and the norm of R."""
    found = enumerated(name, strategy, epsilon)
    assert found is not None
    survey, channel = found
    chosen, A = survey.strategy, survey.workload.dense()
    J = A.shape[1]
    V = np.array([chosen.coordinates.column(u) for u in range(J)])
    for p in [*np.eye(J), np.full(J, 1 / J)]:
        chances = p @ channel.chances
        z = channel.coordinates - chances @ channel.coordinates
        assert chances @ (z**2).sum(axis=1) <= chosen.coordinate_variance * (1 + 1e-9) + 1e-12
        along = z @ V.T
        for slope in (0.01, 0.3, 1.0, -1.0):
            moment = np.log(chances @ np.exp(slope * along))
            assert (moment <= slope**2 * chosen.column_proxy / 2 + 1e-12).all()
    base = chosen.answers(np.zeros(V.shape[1]))
    R = np.array([chosen.answers(unit) - base for unit in np.eye(V.shape[1])])
    # Only directions that coordinates can take count.
    reached = np.linalg.svd(channel.coordinates - channel.coordinates[0], full_matrices=False)
    basis = reached[2][reached[1] > 1e-9 * max(1e-9, reached[1][0])]
    if len(basis):
        assert np.linalg.norm(basis @ R, 2) <= chosen.operator_norm * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("strategy", ["direct", "factorized"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_vector_strategies_state_the_noise_of_their_mechanism(name: str, strategy: str) -> None:
    """R times isotropic noise: ||R||_F^2 times a coordinate's, plus what lifting people to one length adds, at most."""
    survey = survey_of(name, strategy)
    assert survey is not None
    chosen, m = survey.strategy, survey.mechanism
    base = chosen.answers(np.zeros(m.dimension))
    R = np.array([chosen.answers(unit) - base for unit in np.eye(m.dimension)])
    least = (R**2).sum() * m.noise
    assert least * (1 - 1e-6) - survey.workload.radius**2 <= chosen.worst
    assert chosen.worst <= least * 1.6 + survey.workload.radius**2
    assert chosen.total <= chosen.worst * (1 + 1e-9)


# --- choosing -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORKLOADS)
def test_auto_is_never_worse_than_any(name: str) -> None:
    setting = Setting(WORKLOADS[name], 1.0, 0.0, USERS)
    compared = compare(setting)
    assert {one.name for one in compared} == set(STRATEGIES)
    serving = [one for one in compared if one.fits]
    assert compared[: len(serving)] == serving
    assert [one.error for one in serving] == sorted(one.error for one in serving)
    chosen = choose(setting)
    assert chosen.name == serving[0].name
    assert create("auto", setting).name == chosen.name
    told = explain(chosen, USERS)
    assert all(one.name in told for one in compared)
    assert "would err less" not in told


def test_limits_on_reports_are_kept() -> None:
    setting = Setting(Identity(40), 1.0, 0.0, USERS, max_report_bytes=1)
    for one in compare(setting):
        assert not one.fits or (one.strategy is not None and one.strategy.mechanism.report_bytes == 1)
    assert any("bytes" in one.reason for one in compare(setting))


def test_unknown_names_and_foreign_mechanisms_are_refused() -> None:
    setting = Setting(Prefix(5), 1.0, 0.0, USERS)
    for name in ("wavelet", None, 3):
        with pytest.raises(SurveyError, match="one of direct, factorized"):
            create(name, setting)
    with pytest.raises(MechanismError, match="brings its own mechanism"):
        create("haar", replace(setting, mechanism="codebook"))
    with pytest.raises(SurveyError, match="another workload"):
        sv.Survey.queries(Prefix(6), 1.0, strategy=create("haar", setting))


# --- statements -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "strategy"), CASES)
def test_surveys_come_back_from_their_json(name: str, strategy: str) -> None:
    survey = survey_of(name, strategy)
    if survey is None:
        assert strategy == "fourier"
        return
    again = sv.Survey.from_json(survey.to_json(), survey.attachments)
    assert isinstance(again, QuerySurvey)
    assert (again, again.id, again.strategy) == (survey, survey.id, survey.strategy)
    assert again.strategy.worst == pytest.approx(survey.strategy.worst, rel=1e-9)
    assert set(survey.attachments) == ({survey.strategy.digest} if survey.strategy.attached else set())
    attributes = survey.workload.domain.split([0])
    report = again.randomize(dict.fromkeys(attributes, 0) if len(attributes) > 1 else 0)
    assert survey.aggregate().add([report]).n_reports == 1


def stated(strategy: str, name: str = "marginals") -> tuple[dict[str, Any], dict[str, bytes]]:
    survey = survey_of(name, strategy)
    assert survey is not None
    return json.loads(survey.to_json()), survey.attachments


ATTACHED = ("factorized", "optimized")


@pytest.mark.parametrize("strategy", ATTACHED)
def test_attachments_must_be_there_and_be_the_right_ones(strategy: str) -> None:
    statement, attachments = stated(strategy)
    text = json.dumps(statement)
    (digest, content), *_ = attachments.items()
    _, others = stated(strategy, "prefix")
    (other,) = others.values()
    with pytest.raises(SurveyError, match="attachment that is not here"):
        sv.Survey.from_json(text)
    with pytest.raises(SurveyError, match="attachment that is not here"):
        sv.Survey.from_json(text, {digest.replace(digest[0], "g"): content})
    with pytest.raises(SurveyError):
        sv.Survey.from_json(text, {digest: other})
    for damaged in (b"", content[:3], content[:-1], content + b"\0", bytes(len(content))):
        with pytest.raises(SurveyError):
            sv.Survey.from_json(text, {digest: damaged})
    for at in range(0, len(content), max(1, len(content) // 40)):
        flipped = bytearray(content)
        flipped[at] ^= 4
        with pytest.raises(SurveyError):
            sv.Survey.from_json(text, {digest: bytes(flipped)})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_statements_that_were_tampered_with_are_refused(strategy: str) -> None:
    statement, attachments = stated(strategy)

    def refused(change: Any) -> None:
        changed = copy.deepcopy(statement)
        change(changed)
        assert changed != statement
        with pytest.raises(SurveyError):
            sv.Survey.from_json(json.dumps(changed), attachments)

    refused(lambda s: s.update(strategy=strategy))
    refused(lambda s: s["mechanism"].update(extra=1))
    refused(lambda s: s.update(delta=0.5))
    if strategy == "direct":
        refused(lambda s: s.update(strategy={"name": "direct"}))
    else:
        refused(lambda s: s["strategy"].update(extra=1))
        refused(lambda s: s["strategy"].update(name="wavelet"))
        refused(lambda s: s["strategy"].update(name=["haar"]))
        refused(lambda s: s["strategy"].pop("name"))
        digest = statement["strategy"].get("digest")
        refused(lambda s: s["strategy"].update(digest="0" * 64))
        refused(lambda s: s["strategy"].update(digest=7))
        if digest is not None:
            refused(lambda s: s["strategy"].pop("digest"))
        if statement["mechanism"]["name"] != "codebook":
            refused(lambda s: s.pop("strategy"))  # with a codebook that is another survey, the direct one
    for other in STRATEGIES:
        elsewhere, _ = stated(other)
        if elsewhere["mechanism"]["name"] != statement["mechanism"]["name"]:
            refused(lambda s, other=elsewhere["mechanism"]: s.update(mechanism=other))
    if strategy == "optimized":  # a channel that was made for a larger epsilon does not pass for a smaller one
        refused(lambda s: s.update(epsilon=0.9))


def test_a_survey_that_loses_its_strategy_is_another_survey() -> None:
    statement, _ = stated("factorized")
    survey = survey_of("marginals", "factorized")
    assert survey is not None
    del statement["strategy"]
    other = sv.Survey.from_json(json.dumps(statement))
    assert (other.strategy.name, other.id == survey.id) == ("direct", False)
    with pytest.raises(sv.errors.MismatchError):
        survey.aggregate().add([other.randomize({"a": 0, "b": 0})])
