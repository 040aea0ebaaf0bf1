"""The search for channels: right gradients, exact rounding, never worse than its starts, a cache that checks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import MechanismError, SurveyError
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.projective_geometry import ProjectiveGeometry
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.search import cache as optimize_cache
from sottovoce.strategies.search.descent import ChannelSearch
from sottovoce.strategies.search.objective import ChannelObjective, logistic_columns, project_columns
from sottovoce.strategies.search.optimize import Optimized, optimize
from sottovoce.strategies.search.problem import problem_of
from sottovoce.strategies.search.quantise import quantise
from sottovoce.strategies.search.reconstruction import user_noise, worst_case_weights
from sottovoce.strategies.search.starts import analytic_starts, structured_starts
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Workload

STRUCTURED = (HierarchicalStrategy, HaarStrategy, FourierStrategy)


def brute_noise(channel: np.ndarray, A: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The definition: B = A (Q^T D^-1 Q)^+ Q^T D^-1, checked to be unbiased; then sum_o q ||b_o||^2 - ||a_u||^2."""
    D = np.diag(1 / (channel @ weights))
    B = A @ np.linalg.pinv(channel.T @ D @ channel) @ channel.T @ D
    np.testing.assert_allclose(B @ channel, A, atol=1e-8)
    return np.asarray((B**2).sum(axis=0) @ channel - (A**2).sum(axis=0))


def probabilities(matrix: ChannelMatrix) -> np.ndarray:
    return np.asarray(matrix.integers / float(1 << matrix.bits))


def check(found: Optimized, workload: Workload, epsilon: float) -> None:
    """What every result promises, by brute force."""
    MatrixChannel(workload.domain.size, epsilon, found.matrix)
    noise = brute_noise(probabilities(found.matrix), workload.dense(), found.weights)
    scale = noise.max() + 1e-6
    assert found.worst == pytest.approx(noise.max(), abs=1e-6 * scale)
    assert found.total == pytest.approx(noise.mean(), abs=1e-6 * scale)
    assert found.lower_bound <= found.value * (1 + 1e-6) + 1e-9
    assert found.value <= found.best_analytic[1] * (1 + 1e-4) + 1e-9


# --- parts --------------------------------------------------------------------------------


def test_noise_is_that_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    channel = rng.dirichlet(np.ones(9), size=4).T
    A, weights = rng.normal(size=(6, 4)), rng.dirichlet(np.ones(4))
    np.testing.assert_allclose(user_noise(channel, A.T @ A, weights), brute_noise(channel, A, weights), rtol=1e-9)


def test_a_channel_that_cannot_answer_has_infinite_noise() -> None:
    channel = np.array([[0.6, 0.6, 0.4], [0.4, 0.4, 0.6]])
    assert np.isinf(user_noise(channel, np.eye(3), np.full(3, 1 / 3))).all()
    merged = np.array([[1.0, 1.0, 0.0]])
    assert np.isfinite(user_noise(channel, merged.T @ merged, np.full(3, 1 / 3))).all()


def test_weights_for_the_worst_case_close_the_gap() -> None:
    """At the optimum the weighted mean equals the worst: no other reconstruction serves the worst user better."""
    rng = np.random.default_rng(2)
    channel = rng.dirichlet(np.full(12, 3.0), size=4).T
    gram = np.diag([1.0, 4.0, 2.0, 1.0])
    weights = worst_case_weights(channel, gram, np.full(4, 0.25), rounds=400, tolerance=1e-5)
    noise = user_noise(channel, gram, weights)
    assert noise.max() <= (weights @ noise) * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
def test_the_gradient_is_that_of_differences(epsilon: float) -> None:
    rng = np.random.default_rng(3)
    A = rng.normal(size=(7, 5))
    objective = ChannelObjective(A.T @ A, epsilon, 14, rng.dirichlet(np.ones(5)))
    point = objective.point(objective.state_of(rng.normal(size=(14, 5)), rng.dirichlet(np.ones(14))))
    assert point is not None
    channel = point.minima[:, None] * (1 + objective.slope * point.shares)
    np.testing.assert_allclose(channel.sum(axis=0), 1, atol=1e-9)
    noise = brute_noise(channel, A, objective.weights)
    assert point.value == pytest.approx(objective.weights @ noise, rel=1e-6)
    for _ in range(3):
        way = 1e-5 * rng.normal(size=point.state.shape)
        up, down = objective.point(point.state + way), objective.point(point.state - way)
        assert up is not None
        assert down is not None
        assert (up.value - down.value) / 2 == pytest.approx(float((point.gradient * way).sum()), rel=1e-3)


def test_projection_meets_its_optimality_conditions() -> None:
    """Within bounds and sums, and free entries of a column are shifted from the target by the same amount."""
    rng = np.random.default_rng(4)
    lower = rng.uniform(0.01, 0.05, size=(12, 1))
    target, upper = rng.normal(0.1, 0.2, size=(12, 6)), 4 * lower
    found = project_columns(target, lower, upper)
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-12)
    assert ((found >= lower) & (found <= upper)).all()
    for column in range(6):
        q, r = found[:, column], target[:, column]
        free = (q > lower[:, 0]) & (q < upper[:, 0])
        shift = (q - r)[free]
        assert np.ptp(shift) < 1e-9
        assert (q - r <= shift[0] + 1e-9)[q >= upper[:, 0]].all()
        assert (q - r >= shift[0] - 1e-9)[q <= lower[:, 0]].all()


def test_shares_that_no_column_can_have_are_refused() -> None:
    assert logistic_columns(np.zeros((2, 2)), np.array([0.2, 0.2]), 0.5) is None


@pytest.mark.parametrize(("values", "epsilon"), [(2, 1.0), (7, 0.1), (13, 1.0), (16, 3.0)])
def test_rounding_is_exact_and_costs_next_to_nothing(values: int, epsilon: float) -> None:
    even = np.full(values, 1 / values)
    for start in analytic_starts(values, epsilon, 4 * values):
        channel = start.channel(epsilon)
        matrix = quantise(channel, epsilon)
        matrix.verify(epsilon)
        before = user_noise(channel, np.eye(values), even).mean()
        after = user_noise(probabilities(matrix), np.eye(values), even).mean()
        assert abs(after / before - 1) < 1e-4


STRUCTURED_CASES = [
    Prefix(2),
    Prefix(11),
    Ranges(8),
    Ranges(13),
    Identity(6),
    Marginals(k=1, colour=3, size=4),
    Marginals(k=2, a=2, b=2, c=2, d=2),
    Parities(3, 2),
    Parities(4, 2),
    Bins(12, [0, 3, 7, 12]),  # values of equal answers
    Dense(np.eye(3)[:, [0, 0, 1, 2, 2, 2]]),
]


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("workload", STRUCTURED_CASES, ids=repr)
def test_structured_starts_are_the_channels_of_their_mechanisms(workload: Workload, epsilon: float) -> None:
    every = np.arange(workload.domain.size)
    served = [kind.best(workload, epsilon) for kind in STRUCTURED if kind.serves(workload)]
    found = list(structured_starts(workload, epsilon, 1000, every))
    assert [start.name for start in found] == [strategy.name for strategy in served]
    for start, strategy in zip(found, served, strict=True):
        mechanism = strategy.mechanism
        stated = [[float(mechanism.probability(o, int(u))) for u in every] for o in mechanism.outputs()]
        np.testing.assert_allclose(start.channel(epsilon), stated, rtol=1e-12)


@pytest.mark.parametrize(("values", "epsilon"), [(7, 1.0), (13, 1.5), (16, 1.2), (21, 1.5), (9, 2.5)])
def test_projective_starts_are_the_channels_of_their_mechanisms(values: int, epsilon: float) -> None:
    (start,) = [start for start in analytic_starts(values, epsilon, 1000) if start.name == "projective_geometry"]
    mechanism = ProjectiveGeometry.best(values, epsilon)
    stated = [[float(mechanism.probability(o, u)) for u in range(values)] for o in mechanism.outputs()]
    np.testing.assert_allclose(start.channel(epsilon), stated, rtol=1e-12)


def test_starts_that_do_not_fit_are_left_out() -> None:
    (haar,) = structured_starts(Prefix(8), 1.0, 27, np.arange(8))
    assert haar.name == "haar"
    assert not list(structured_starts(Prefix(8), 1.0, 13, np.arange(8)))


@pytest.mark.parametrize("objective", ["worst", "total"])
@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("workload", STRUCTURED_CASES, ids=repr)
def test_structured_starts_are_no_worse_than_their_strategies(
    workload: Workload, epsilon: float, objective: str
) -> None:
    """Even where one value stands for all with the same answers: the best reconstruction beats the strategy's own."""
    problem = problem_of(workload, epsilon, objective)
    values = np.unique(problem.member, return_index=True)[1]
    for start in structured_starts(workload, epsilon, 1000, values):
        channel = start.channel(epsilon)
        np.testing.assert_allclose(channel.sum(axis=0), 1, rtol=1e-12)
        strategy = {kind.name: kind for kind in STRUCTURED}[start.name].best(workload, epsilon)
        own = strategy.worst if objective == "worst" else strategy.total
        score = problem.score(channel, problem.weigh(channel, problem.shares))
        assert score <= own * (1 + 1e-4)


@pytest.mark.parametrize("rows", [30, 31, 77, 120])
def test_a_start_split_into_more_rows_is_the_same_channel(rows: int) -> None:
    """Copies of a row hold its probability together, whatever the rows' sizes."""
    _, haar = structured_starts(Prefix(16), 1.0, 120, np.arange(16))
    marks, minima = haar.padded(1.0, rows)
    assert len(marks) == len(minima) == rows
    channel = minima[:, None] * np.where(marks, np.e, 1.0)
    np.testing.assert_allclose(channel.sum(axis=0), 1, rtol=1e-12)
    gram, even = Prefix(16).dense().T @ Prefix(16).dense(), np.full(16, 1 / 16)
    np.testing.assert_allclose(user_noise(channel, gram, even), user_noise(haar.channel(1.0), gram, even), rtol=1e-9)


def test_an_epsilon_too_small_for_the_bits_is_refused() -> None:
    with refuses(MechanismError, "epsilon"):
        quantise(np.full((300, 2), 1 / 300), 1e-6, bits=8)


# --- the search ---------------------------------------------------------------------------


@pytest.mark.parametrize("objective", ["worst", "total"])
@pytest.mark.parametrize(
    ("workload", "epsilon"),
    [
        (Prefix(2), 1.0),
        (Prefix(12), 1.0),
        (Identity(7), 3.0),
        (Prefix(5), 0.01),
        (Dense(np.arange(6.0)[None]), 1.0),  # rank one
        (Dense(np.eye(3)[:, [0, 0, 1, 2, 2, 2]]), 1.0),  # equal columns
        (Dense(np.diag([0.0, 1.0, 0.0, 5.0])), 1.0),  # zero rows and columns
        (Dense(np.ones((2, 3))), 1.0),  # everybody answers the same
    ],
    ids=repr,
)
def test_results_are_what_they_say_and_no_start_is_better(workload: Workload, epsilon: float, objective: str) -> None:
    found = optimize(workload, epsilon, objective=objective, cache=False)
    check(found, workload, epsilon)
    assert found.finished


@pytest.mark.parametrize("objective", ["worst", "total"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize(
    "workload",
    [
        Prefix(3),
        Prefix(8),
        Prefix(16),
        Ranges(4),
        Ranges(11),
        Marginals(k=1, colour=3, size=4),
        Marginals(k=2, a=2, b=2, c=2),
        Parities(3, 2),
        Parities(4, 2),
    ],
    ids=repr,
)
def test_no_known_mechanism_that_fits_is_better(workload: Workload, epsilon: float, objective: str) -> None:
    """Each with its own best reconstruction, worked out here; and each structured strategy as it stands."""
    found = optimize(workload, epsilon, objective=objective, cache=False, steps=1)
    check(found, workload, epsilon)
    A, problem = workload.dense(), problem_of(workload, epsilon, objective)
    size, rows = workload.domain.size, 4 * len(problem.gram)
    every = np.unique(problem.member, return_index=True)[1]
    assert len(every) == size  # no two values have the same answers here
    starts = [*analytic_starts(size, epsilon, rows), *structured_starts(workload, epsilon, rows, every)]
    known = {}
    for start in starts:
        channel = start.channel(epsilon)
        weights = problem.weigh(channel, np.full(size, 1 / size))
        noise = user_noise(channel, A.T @ A, weights)
        known[start.name] = float(noise.max() if objective == "worst" else noise.mean())
    for kind in STRUCTURED:
        if kind.name in known:
            strategy = kind.best(workload, epsilon)
            known[f"{kind.name} as it stands"] = strategy.worst if objective == "worst" else strategy.total
    assert found.best_analytic[1] == pytest.approx(min(known.values()), rel=1e-4)
    assert found.best_analytic[0] in known
    assert found.value <= min(known.values()) * (1 + 1e-4)


def test_structured_channels_are_known() -> None:
    assert optimize(Prefix(16), 1.0, cache=False, steps=1).best_analytic[0] == "haar"
    assert optimize(Parities(5, 2), 1.0, cache=False, steps=1).best_analytic[0] == "fourier"


def test_prefixes_are_answered_far_better_than_by_any_known_channel() -> None:
    workload = Prefix(16)
    found = optimize(workload, 1.0, cache=False)
    check(found, workload, 1.0)
    assert found.worst < 0.75 * found.best_analytic[1]
    assert found.worst < 1.09 * found.lower_bound


def test_the_same_seed_gives_the_same_channel() -> None:
    one, two = (optimize(Prefix(6), 1.0, cache=False, seed=3) for _ in range(2))
    assert one.matrix.digest == two.matrix.digest
    assert np.array_equal(one.weights, two.weights)


def test_an_interrupt_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(steps: int, value: float) -> None:
        raise KeyboardInterrupt

    found = optimize(Prefix(8), 1.0, cache=False, progress=interrupted)
    assert not found.finished
    check(found, Prefix(8), 1.0)

    def at_once(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(ChannelSearch, "stage", at_once)
    check(optimize(Prefix(8), 1.0, cache=False), Prefix(8), 1.0)
    with pytest.raises(KeyboardInterrupt):
        OptimizedStrategy.search(Prefix(8), 1.0, cache=False)


@pytest.mark.parametrize("steps", [1, 29, 45])
def test_a_search_takes_no_more_steps_than_allowed(steps: int) -> None:
    taken: list[int] = []
    found = optimize(Prefix(16), 1.0, cache=False, steps=steps, progress=lambda done, _: taken.append(done))
    assert max(taken) == steps
    assert found.finished


def test_time_runs_out() -> None:
    found = optimize(Prefix(8), 1.0, cache=False, time_limit=1e-9)
    assert not found.finished
    check(found, Prefix(8), 1.0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"objective": "best"},
        {"rows": 3},
        {"rows": 2**30},
        {"seed": -1},
        {"time_limit": 0},
        {"time_limit": "soon"},
        {"steps": 0},
        {"steps": 1.5},
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SurveyError):
        optimize(Prefix(4), 1.0, cache=False, **wrong)  # type: ignore[arg-type]


# --- the cache ----------------------------------------------------------------------------


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def only_file() -> Path:
    (path,) = optimize_cache.directory().iterdir()
    return path


def test_a_finished_search_is_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = optimize(Prefix(5), 1.0)
    assert only_file().stat().st_size > 0
    monkeypatch.setattr(ChannelSearch, "stage", lambda *_: pytest.fail("searched again"))
    again = optimize(Prefix(5), 1.0, steps=300)
    assert again.matrix == first.matrix
    # Where arrays lie in memory may change the last digit of a sum.
    for one, other in ((again.worst, first.worst), (again.total, first.total), (again.lower_bound, first.lower_bound)):
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("position", [0, 5, 60, -1])
def test_a_damaged_file_is_searched_for_again(kept: Path, position: int) -> None:
    first = optimize(Prefix(4), 1.0)
    content = bytearray(only_file().read_bytes())
    content[position] ^= 1
    only_file().write_bytes(content)
    assert optimize(Prefix(4), 1.0).matrix == first.matrix
    assert only_file().read_bytes() != content, "what is damaged is written anew"


def test_a_channel_put_there_by_somebody_else_is_not_believed(kept: Path) -> None:
    """One that breaks epsilon, one over another domain, one that answers badly: none of them comes out."""
    workload, even = Prefix(4), np.full(4, 0.25)
    first = optimize(workload, 1.0)
    key = (workload.digest, 1.0, "worst", 0, 0, 300)
    revealing = ChannelMatrix(np.eye(4, dtype=np.int64) * 252 + 1, 8)
    useless = ChannelMatrix(np.array([[5, 5, 5, 4], [3, 3, 3, 4]]), 3)
    for matrix in (revealing, useless):
        optimize_cache.store(key, matrix, even)
        assert optimize(workload, 1.0).matrix == first.matrix
    optimize_cache.store(key, ChannelMatrix(np.full((2, 3), 4), 3), np.full(3, 1 / 3))
    assert optimize(workload, 1.0).matrix == first.matrix


def test_a_directory_that_cannot_be_written_is_no_obstacle(kept: Path) -> None:
    (kept / "sottovoce").write_text("a file where a directory should be")
    check(optimize(Prefix(4), 1.0), Prefix(4), 1.0)
