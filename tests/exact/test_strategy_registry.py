"""All strategies by one contract: unbiased, bounds that hold, and statements that resist tampering.

Where the mechanism is a finite channel everything is summed over all reports; nothing is sampled.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest

from listed_designs import Listed
from refusing import refuses
from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.questions import Queries
from sottovoce.strategies import STRATEGIES, Setting, Strategy
from sottovoce.strategies.reading import nearest_answers
from sottovoce.strategies.registry import find, restore
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Workload
from sottovoce.workloads.ball import Ball

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
PEOPLE = 1000
CASES = [(name, strategy) for name in WORKLOADS for strategy in Queries.strategies]


@pytest.fixture(autouse=True, scope="module")
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@cache
def designs_of(workload: str, strategy: str, epsilon: float = 1.0) -> tuple[Strategy, ...]:
    """All designs; none where the strategy cannot serve."""
    try:
        return tuple(STRATEGIES[strategy].designs(Setting(WORKLOADS[workload], epsilon, 0.0, PEOPLE)))
    except (SurveyError, CapacityError):
        return ()


def test_every_strategy_serves_some_of_these() -> None:
    served = {strategy: [name for name in WORKLOADS if designs_of(name, strategy)] for strategy in Queries.strategies}
    for strategy in ("direct", "factorized", "optimized", "hierarchical", "haar", "histogram"):
        assert served[strategy] == list(WORKLOADS)
    assert served["fourier"] == ["identity", "bins", "marginals", "parities"]
    assert served["tables"] == ["marginals"]


# --- exact ----------------------------------------------------------------------------------


@cache
def listed(workload: str, strategy: str, epsilon: float = 1.0) -> tuple[Listed, ...]:
    return tuple(map(Listed.of, designs_of(workload, strategy, epsilon)))


FINITE = [
    (name, strategy, epsilon)
    for name, strategy in CASES
    for epsilon in ((0.5, 2.0) if name in ("prefix", "marginals") else (1.0,))
    if strategy not in ("direct", "factorized", "tables")
    and not (strategy == "fourier" and name in ("prefix", "ranges", "dense", "repeated"))
]
finite = pytest.mark.parametrize(("name", "strategy", "epsilon"), FINITE)


@finite
def test_answers_are_unbiased(name: str, strategy: str, epsilon: float) -> None:
    """E[answers | u] = A e_u and E[coordinates | u] = V e_u, over all reports."""
    for channel in listed(name, strategy, epsilon):
        A = channel.matrix
        scale = 1e-9 * np.abs(channel.answers).max()
        assert np.allclose(channel.chances.sum(axis=1), 1.0)
        assert np.allclose(channel.chances @ channel.answers, A.T, atol=scale)
        V = np.array([channel.design.coordinates.column(u) for u in range(A.shape[1])])
        assert np.allclose(channel.chances @ channel.coordinates, V, atol=scale)


@pytest.mark.parametrize(("name", "strategy"), [case for case in CASES if case[1] != "tables"])
def test_the_answers_of_exact_coordinates_are_exact(name: str, strategy: str) -> None:
    """A p = shift + R V p, also where the mechanism is a vector mechanism and no channel can be listed."""
    for design in designs_of(name, strategy):
        A = design.workload.dense()
        for u in range(A.shape[1]):
            answers = design.answers(design.coordinates.column(u))
            # Coordinates travel in single precision.
            assert np.abs(answers - A[:, u]).max() < 1e-5 * design.workload.radius


@pytest.mark.slow
@finite
def test_bounds_hold_exactly_for_one_and_two_reports(name: str, strategy: str, epsilon: float) -> None:
    """In both spaces, whichever the design takes; and that of the raw answers."""
    for channel in listed(name, strategy, epsilon):
        design, A = channel.design, channel.matrix
        J, outputs = A.shape[1], len(channel.coordinates)
        few = np.argsort(channel.chances.max(axis=0))[::-1][:12]
        # Two reports: all pairs where they are few, else the likeliest; what is left out only adds to the error.
        # Their order changes nothing, so that each is taken once and counts twice.
        pairs = list(combinations_with_replacement(range(outputs) if outputs <= 12 else few, 2))
        single = list(channel.coordinates)
        both = [(single[a] + single[b]) / 2 for a, b in pairs]
        for n, raw in ((1, single), (2, both)):
            answers = [design.answers(v) for v in raw]
            found = {
                "raw": (answers, design.raw_bound(n)),
                "coordinates": ([design.project_coordinates(v).values for v in raw], design._coordinate_bound(n)),
                "answers": ([nearest_answers(design.workload, y).values for y in answers], design._answer_bound(n)),
            }
            taken = found["answers" if design.projects_answers(n) else "coordinates"][0]
            for v, values in zip(raw[:3], taken, strict=False):
                assert np.array_equal(design.project(v, n).values, values)
            found["taken"] = (taken, design.bound(n))
            for p in (np.eye(J)[0], np.full(J, 1 / J)):
                chances = p @ channel.chances
                weights = chances if n == 1 else np.array([chances[a] * chances[b] * (1 + (a != b)) for a, b in pairs])
                for values, bound in found.values():
                    error = float(weights @ np.linalg.norm(np.array(values) - A @ p, axis=1))
                    assert error <= bound.value * (1 + 1e-9)
            assert design.bound(n).value <= design.raw_bound(n).value * (1 + 1e-12)


@finite
def test_parts_of_the_bound_hold_for_the_channel(name: str, strategy: str, epsilon: float) -> None:
    """The trace of the coordinates' covariance, the sub-Gaussian proxy along every column, and the norm of R."""
    for channel in listed(name, strategy, epsilon):
        design, J = channel.design, channel.matrix.shape[1]
        V = np.array([design.coordinates.column(u) for u in range(J)])
        for p in [*np.eye(J), np.full(J, 1 / J)]:
            chances = p @ channel.chances
            z = channel.coordinates - chances @ channel.coordinates
            assert chances @ (z**2).sum(axis=1) <= design.coordinate_variance * (1 + 1e-9) + 1e-12
            along = z @ V.T
            for slope in (0.01, 0.3, 1.0, -1.0):
                moment = np.log(chances @ np.exp(slope * along))
                proxy = design.column_maximum(1) ** 2 / (2 * math.log(J))
                assert (moment <= slope**2 * proxy / 2 + 1e-12).all()
        base = design.answers(np.zeros(V.shape[1]))
        R = np.array([design.answers(unit) - base for unit in np.eye(V.shape[1])])
        # Only directions that coordinates can take count.
        reached = np.linalg.svd(channel.coordinates - channel.coordinates[0], full_matrices=False)
        basis = reached[2][reached[1] > 1e-9 * max(1e-9, reached[1][0])]
        if len(basis):
            assert np.linalg.norm(basis @ R, 2) <= design.operator_norm * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("strategy", ["direct", "factorized"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_vector_strategies_state_the_noise_of_their_mechanism(name: str, strategy: str) -> None:
    """R times isotropic noise: ||R||_F^2 times a coordinate's, plus what lifting people to one length adds, at most."""
    for design in designs_of(name, strategy):
        m: Any = design.mechanism
        base = design.answers(np.zeros(m.dimension))
        R = np.array([design.answers(unit) - base for unit in np.eye(m.dimension)])
        least = (R**2).sum() * m.noise
        assert least * (1 - 1e-6) - design.workload.radius**2 <= design.worst
        assert design.worst <= least * 1.6 + design.workload.radius**2
        assert design.total <= design.worst * (1 + 1e-9)


def test_unknown_names_and_foreign_mechanisms_are_refused() -> None:
    for name in ("wavelet", None, 3, ["haar"]):
        with refuses(SurveyError, "strategy"):
            find(name)
    for kind in STRATEGIES.values():
        with refuses(MechanismError, "mechanism"):
            kind.designs(Setting(Marginals(k=1, a=2, b=2), 1.0, 0.0, PEOPLE, mechanism="wavelet"))
    (named,) = STRATEGIES["histogram"].designs(Setting(Prefix(5), 1.0, 0.0, PEOPLE, mechanism="hadamard"))
    assert named.mechanism.name == "hadamard"
    (named,) = STRATEGIES["haar"].designs(Setting(Prefix(5), 1.0, 0.0, PEOPLE, mechanism="haar"))
    assert named.mechanism.name == "haar"


# --- statements -----------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "strategy"), CASES)
def test_designs_come_back_from_their_statements(name: str, strategy: str) -> None:
    for design in designs_of(name, strategy):
        statement = design.to_statement()
        assert statement["strategy"] == strategy
        assert statement["mechanism"] == {"name": design.mechanism.name, **design.mechanism.parameters()}
        assert ("digest" in statement) == design.attached
        again = restore(statement, design.workload, design.epsilon, design.delta, attachments(design))
        assert again == design
        assert again.to_statement() == statement
        assert again.worst == pytest.approx(design.worst, rel=1e-9)


def test_vectors_come_back_from_their_statements() -> None:
    ball = Ball(3, 2.0)
    found = STRATEGIES["direct"].designs(Setting(ball, 1.0, 1e-6, PEOPLE))
    assert {design.mechanism.name for design in found} == {"codebook", "gaussian", "rejection"}
    for design in found:
        assert restore(design.to_statement(), ball, 1.0, design.delta, {}) == design
        with pytest.raises(SurveyError):
            restore({**design.to_statement(), "strategy": "histogram"}, ball, 1.0, design.delta, {})


def attachments(design: Strategy) -> dict[str, bytes]:
    return {} if design.digest is None or design.attachment is None else {design.digest: design.attachment}


ATTACHED = ("factorized", "optimized")


@pytest.mark.parametrize("strategy", ATTACHED)
def test_attachments_must_be_there_and_be_the_right_ones(strategy: str) -> None:
    (design,), (foreign,) = designs_of("marginals", strategy), designs_of("prefix", strategy)
    statement, (digest, content) = design.to_statement(), next(iter(attachments(design).items()))

    def restored(held: dict[str, bytes]) -> Strategy:
        return restore(statement, design.workload, 1.0, 0.0, held)

    for held in ({}, {digest.replace(digest[0], "g"): content}):
        with refuses(SurveyError, "attachments"):
            restored(held)
    damaged = [b"", content[:3], content[:-1], content + b"\0", bytes(len(content)), foreign.attachment or b""]
    for at in range(0, len(content), max(1, len(content) // 40)):
        flipped = bytearray(content)
        flipped[at] ^= 4
        damaged.append(bytes(flipped))
    for wrong in damaged:
        with pytest.raises(SurveyError):
            restored({digest: wrong})


@pytest.mark.parametrize("strategy", Queries.strategies)
def test_statements_that_were_tampered_with_are_refused(strategy: str) -> None:
    design = designs_of("marginals", strategy)[0]
    statement = design.to_statement()

    def refused(change: Any, epsilon: float = 1.0, delta: float = 0.0) -> None:
        changed = copy.deepcopy(statement)
        change(changed)
        with pytest.raises(SurveyError):
            restore(changed, design.workload, epsilon, delta, attachments(design))

    for whole in (None, [], "haar", {}):
        with pytest.raises(SurveyError):
            restore(whole, design.workload, 1.0, 0.0, attachments(design))
    refused(lambda s: s.update(extra=1))
    for wrong in ("wavelet", ["haar"], None):
        refused(lambda s, wrong=wrong: s.update(strategy=wrong))
    refused(lambda s: s.pop("strategy"))
    refused(lambda s: s.pop("mechanism"))
    for wrong in (None, [], "codebook", {}, {"name": ["haar"]}, {"name": "wavelet"}):
        refused(lambda s, wrong=wrong: s.update(mechanism=wrong))
    refused(lambda s: s["mechanism"].update(extra=1))
    refused(lambda s: None, delta=0.5)
    refused(lambda s: s.update(digest="0" * 64))
    refused(lambda s: s.update(digest=7))
    if design.attached:
        refused(lambda s: s.pop("digest"))
    for other in Queries.strategies:
        elsewhere = designs_of("marginals", other)[0].to_statement()["mechanism"]
        if elsewhere["name"] != statement["mechanism"]["name"]:
            refused(lambda s, elsewhere=elsewhere: s.update(mechanism=elsewhere))
    if strategy == "optimized":  # a channel that was made for a larger epsilon does not pass for a smaller one
        refused(lambda s: None, epsilon=0.9)
