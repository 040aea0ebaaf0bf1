"""The variance of designs that ask with a vector mechanism: numbers, balls, and queries through coordinates."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from refusing import refuses
from sottovoce.core.errors import MechanismError, SurveyError, ValueOutsideDomainError, WorkloadError
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook, mark
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.vector import VectorMechanism, lift
from sottovoce.strategies import STRATEGIES, Population, Setting
from sottovoce.strategies import vectors as vectors_module
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.vectors import VectorStrategy
from sottovoce.workloads import Dense, Marginals, Prefix, Workload
from sottovoce.workloads.ball import Ball

EPSILONS = (0.5, 2.0)
WORKLOADS: dict[str, Workload] = {
    "prefix": Prefix(5),
    "dense": Dense(np.random.default_rng(11).normal(size=(3, 6))),
    "marginals": Marginals(k=2, a=2, b=3, c=2),
}


def second_moments(m: VectorMechanism, vector: np.ndarray) -> np.ndarray:
    """E[x x^T] of one report's estimate x, from the mechanism's own law and not from its constants `along`, `noise`."""
    match m:
        case Binary():
            return np.array([[(m.debias * m.radius) ** 2]])
        case Gaussian():
            whole = np.array(m.on_grid(vector), dtype=np.float64)
            noise = np.arange(-12, 12.001, 0.001) * math.sqrt(m.noise_variance)
            chances = np.exp(-(noise**2) / (2 * m.noise_variance))
            variance = float(chances @ noise**2 / chances.sum())
            return (np.outer(whole, whole) + variance * np.eye(len(whole))) * m.step**2
        case Rejection():
            return _rejection_moments(m, vector)
        case Codebook():
            return _codebook_moments(m, vector)
    raise AssertionError(m.name)


def _rejection_moments(m: Rejection, vector: np.ndarray) -> np.ndarray:
    """G = u t + w, w normal across u; the bit depends on t alone."""
    t = np.arange(-9, 9.00001, 1e-4)
    density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * 1e-4
    chance = np.array([m.threshold(float(x)) for x in t[::50]]) / 2.0**64
    chance = np.interp(t, t[::50], chance)
    accepted = float(density @ chance)
    signal = float(density @ (t * chance))
    centred = chance * (1 - accepted) ** 2 + (1 - chance) * accepted**2
    along, across = float(density @ (t * t * centred)), float(density @ centred)
    unit = lift(vector, m.radius, m.dimension + 1)[0]
    whole = across * (np.eye(len(unit)) - np.outer(unit, unit)) + along * np.outer(unit, unit)
    return whole[: m.dimension, : m.dimension] * (m.radius / signal) ** 2


def _codebook_moments(m: Codebook, vector: np.ndarray) -> np.ndarray:
    """The mean over many keys of the exact sum over the reports of one rotation."""
    from sottovoce.kernels.rotations import signs
    from sottovoce.kernels.walsh import walsh_hadamard_rows

    h, total = m.candidates // 2, np.zeros((m.dimension, m.dimension))
    unit, keys = lift(vector, m.radius, m.size)[0], 400
    inside, outside = float(m.levels.each_inside), float(m.levels.each_outside)
    for key in range(keys):
        turned = np.eye(m.size)
        for layer in signs((key, 1), m.size, 0, m.layers):
            turned *= layer / math.sqrt(m.size)
            walsh_hadamard_rows(turned)
        rows = turned.T
        scores = rows @ unit
        for start in range(0, m.size, h):
            top = mark(scores[start : start + h], m.marked)
            chances = np.where(top, inside, outside).reshape(h, 2).sum(axis=1)
            block = rows[start : start + h, : m.dimension]
            total += (block.T * chances) @ block * h / m.size
    return total / keys * (m.radius / m.constants.scale) ** 2


VECTORS = (np.array([0.0, 0.0, 0.0]), np.array([0.9, -0.3, 0.2]), np.array([0.0, 1.5, 0.0]))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(
    ("kind", "delta", "tolerance"), [(Gaussian, 1e-6, 5e-3), (Rejection, 0.0, 1e-4), (Codebook, 0.0, 0.02)]
)
def test_everybody_alike_has_the_variance_of_one_report(
    kind: type[VectorMechanism], delta: float, tolerance: float, epsilon: float
) -> None:
    """Second moments along, across and at an angle, less the squared mean; the codebook's rotations are sampled."""
    m = kind.best(3, 1.5, epsilon, delta, 1000)
    design = Direct(Ball(3, 1.5), m)
    rows = np.array([[1.0, 0.0, 0.0], [0.0, -2.0, 0.0], [1.0, 1.0, 1.0], [0.3, -0.2, 0.9]])
    for vector in VECTORS:
        exact = second_moments(m, vector)
        assert np.allclose(exact, exact.T)
        slope = (m.along - m.noise) / m.radius**2
        told = m.noise * np.eye(3) + slope * np.outer(vector, vector)
        assert np.abs(told - exact).max() <= tolerance * m.noise
        # A ball's people have any vectors with this mean: the worst is never below what everybody alike has.
        mean = Population.answering(vector)
        for weights, value in zip(rows, design.variance(rows, mean).value, strict=True):
            alone = float(weights @ exact @ weights - (weights @ vector) ** 2)
            shared = (m.sharing_factor(1) - 1) * m.noise * float(weights @ weights)
            assert alone <= (value - shared) * (1 + tolerance)
        if abs(np.linalg.norm(vector) - m.radius) < 1e-12 and slope > 0:
            # On the sphere nobody can be anywhere else in the direction of the mean.
            value = design.variance(vector, mean).value - (m.sharing_factor(1) - 1) * m.noise * float(vector @ vector)
            assert value == pytest.approx(vector @ exact @ vector - (vector @ vector) ** 2, rel=3 * tolerance)


@cache
def designs(name: str, epsilon: float) -> tuple[VectorStrategy, ...]:
    setting = Setting(WORKLOADS[name], epsilon, 1e-6, 1000)
    return (*Direct.designs(setting), *FactorizedStrategy.designs(setting))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("name", WORKLOADS)
def test_shares_give_the_variance_of_the_two_numbers(name: str, epsilon: float) -> None:
    """By the law of total variance, from R as the strategy's own answers show it."""
    A = WORKLOADS[name].dense()
    rng = np.random.default_rng(2)
    weights, p = rng.normal(size=(3, len(A))), rng.dirichlet(np.ones(A.shape[1]))
    for design in designs(name, epsilon):
        m = design.mechanism
        base = design.answers(np.zeros(m.dimension))
        R = np.array([design.answers(unit) - base for unit in np.eye(m.dimension)]).T
        V = np.array([design.inputs(np.array([u]))[0] for u in range(A.shape[1])])
        slope = (m.along - m.noise) / m.radius**2

        def variance(row: np.ndarray, n: int, R=R, V=V, m=m, slope=slope, design=design) -> float:  # type: ignore[no-untyped-def]
            b = row @ R
            inner = V @ b
            shared = (design.sharing_factor(n) - 1) * m.noise * (b @ b)
            return float(m.noise * (b @ b) + slope * (p @ inner**2) - (p @ inner) ** 2 + shared) / n

        for n in (1, 1000):
            told = design.variance(weights, p, n)
            assert np.allclose(told.value, [variance(row, n) for row in weights], rtol=1e-4)
            each = design.variance(None, p, n)
            exact = [variance(row, n) for row in np.eye(len(A))]
            assert np.allclose(each.value, exact, rtol=1e-4, atol=1e-6 / n)
            assert design.total_variance(p, n).value == pytest.approx(sum(exact), rel=1e-4)
        status = {"codebook": "bound", "binary": "exact"}.get(m.name, "within")
        assert (told.status, each.status, design.total_variance(p).status) == (status,) * 3
        assert bool(told.note) == (status != "exact")


@pytest.mark.parametrize("name", WORKLOADS)
def test_less_knowledge_never_means_less_variance(name: str) -> None:
    workload = WORKLOADS[name]
    A, rng = workload.dense(), np.random.default_rng(4)
    weights = rng.normal(size=(3, len(A)))
    for design in designs(name, 2.0):
        worst, worst_each = design.variance(weights).value, design.variance().value
        total = design.total_variance().value
        at_worst = design.worst_population()
        assert at_worst is not None
        assert total == pytest.approx(design.total_variance(at_worst).value, rel=1.1e-3)
        for p in [*np.eye(A.shape[1]), *rng.dirichlet(np.ones(A.shape[1]), 20), at_worst]:
            known = Population.answering(A @ p)
            for rows, widest in ((weights, worst), (None, worst_each)):
                exact, told = design.variance(rows, p).value, design.variance(rows, known).value
                slack = 1e-6 * widest + 1e-9
                assert (exact <= told + slack).all()
                assert (told <= widest + slack).all()
            exact, told = design.total_variance(p).value, design.total_variance(known).value
            assert exact <= told * (1 + 1e-6)
            assert exact <= total * (1 + 1e-6)


def test_the_worst_of_a_row_is_attained() -> None:
    """Two values at the ends of the row's range, in the best proportion."""
    for design in designs("dense", 2.0):
        if not isinstance(design, Direct):
            continue
        row = np.array([0.3, -1.0, 0.5])
        h = row @ WORKLOADS["dense"].dense()
        low, high = int(h.argmin()), int(h.argmax())
        mixed = [
            design.variance(row, t * np.eye(6)[low] + (1 - t) * np.eye(6)[high]).value for t in np.linspace(0, 1, 401)
        ]
        assert design.variance(row).value == pytest.approx(max(mixed), rel=1e-5)


def test_a_number_has_its_exact_variance() -> None:
    """(c r)^2 - x^2 over n, at the worst mean that the range allows."""
    design = Direct.designs(Setting(Ball(1, 2.0), 1.0, 0.0, 100, mechanism="binary"))[0]
    m = design.mechanism
    assert isinstance(m, Binary)
    top = (m.debias * 2.0) ** 2
    for x in (-2.0, 0.0, 0.5):
        chance = float(m.probability(1, x))
        exact = 4 * chance * (1 - chance) * top
        for told in (design.variance(None, _mean(x)), design.total_variance(_mean(x))):
            assert np.ravel(told.value)[0] == pytest.approx(exact)
            assert told.status == "exact"
        assert design.variance([-3.0], _mean(x)).value == pytest.approx(9 * exact)
    assert design.variance().value == pytest.approx(top)
    age = replace(design, workload=Ball(1, 2.0, ("age",), low=0.5))
    assert age.variance().value == pytest.approx(top - 0.25)
    assert age.variance([2.0]).value == pytest.approx(4 * (top - 0.25))
    assert age.total_variance().value == pytest.approx(top - 0.25)


def _mean(x: float) -> Population:
    return Population.answering([x])


@pytest.mark.parametrize("kind", [Gaussian, Rejection, Codebook])
def test_on_a_ball_the_worst_people_cancel(kind: type[VectorMechanism]) -> None:
    m = kind.best(4, 3.0, 1.0, 1e-6 if kind is Gaussian else 0.0, 1000)
    design = Direct(Ball(4, 3.0), m)
    most = max(m.noise, m.along)
    own = design.variance(n_reports=10**6).value * 10**6
    assert np.allclose(own, most + (m.sharing_factor(10**6) - 1) * m.noise)
    assert design.variance([0, 3, 0, 4]).value == pytest.approx(25 * (most + (m.sharing_factor(1) - 1) * m.noise))
    assert design.total_variance().value == pytest.approx(3 * m.noise + most, rel=2e-3)
    assert design.worst_population() is None
    narrow = Direct(Ball(4, 3.0, low=-1.0, high=1.0), m)
    assert (narrow.variance().value <= design.variance().value * (1 + 1e-12)).all()
    assert narrow.variance().status == "bound"
    assert design.total_variance(Population.answering(np.full(4, 0.5))).value < design.total_variance().value
    with refuses(SurveyError, "people"):
        design.variance(None, [0.5, 0.5])


def test_large_workloads_are_bounded_without_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = [design for design in designs("marginals", 2.0) if isinstance(design, Direct)]
    monkeypatch.setattr(vectors_module, "_MOST_VALUES", 3)
    for design in exact:
        made = replace(design)
        assert made.worst_population() is None
        weights = np.random.default_rng(1).normal(size=(2, made.workload.n_queries))
        assert made.variance(weights).status == "bound"
        assert (made.variance(weights).value >= design.variance(weights).value * (1 - 1e-9)).all()
        assert made.total_variance().value >= design.total_variance().value * (1 - 1e-9)
        assert made.total_variance().value == pytest.approx(design.mechanism.worst_total_variance, rel=1e-3)


def test_the_grid_of_gaussian_reports_moves_errors_by_less_than_is_stated() -> None:
    """People at both ends of a step: truncated, they differ by a step less or more."""
    m = Gaussian(1, 1.0, 2.0, 1e-6, 400, 2**25)
    design = Direct(Ball(1, 1.0), m)
    told = design.variance()
    assert told.status == "within"
    assert f"{m.truncation:.1g}" in told.note
    for x in (1.0, 0.9999, 1 / 400, 1.999 / 400):
        whole = m.on_grid(np.array([x]))[0] * m.step
        exact = m.noise + whole**2  # half of the people at x, half at -x
        stated = m.noise + x**2
        assert abs(math.sqrt(stated) - math.sqrt(exact)) <= m.truncation * math.sqrt(stated)


def test_rotations_follow_the_people() -> None:
    setting = Setting(Prefix(5), 1.0, 0.0, 1000, mechanism="codebook", max_counters=2**20)
    for kind in (Direct, FactorizedStrategy):
        (design,) = kind.designs(setting)
        assert isinstance(design.mechanism, Codebook)
        more = design.for_people(10**6, 2**20)
        fewer = design.for_people(1000, 2**20)
        assert fewer is design
        crowded = design.for_people(10**8, 2**20).mechanism
        assert isinstance(more.mechanism, Codebook)
        assert isinstance(crowded, Codebook)
        assert design.mechanism.rotations < more.mechanism.rotations < crowded.rotations == 2**20 // crowded.size
        assert more.variance(n_reports=10**6).value.max() < design.variance(n_reports=10**6).value.max()
        with refuses(SurveyError, "max_counters"):
            design.for_people(1000, 0)
    (number,) = Direct.designs(Setting(Ball(1, 1.0), 1.0, 0.0, 10, mechanism="binary"))
    assert number.for_people(10**9, 5) is number


def test_balls_are_what_strategies_read() -> None:
    ball = Ball(2, 5, ("length", "width"), low=0)
    assert (ball.n_queries, ball.n_values, ball.radius, ball.diameter) == (2, None, 5.0, math.sqrt(2) * 5)
    assert (ball.name(1), ball.find("width"), ball.answer_range) == ("width", 1, (0.0, 5.0))
    assert np.array_equal(ball.columns([[1, 2]]), [[1.0, 2.0]])
    assert Ball(3, 1.0).find("x[2]") == 2
    for wrong in ("x[3]", "x[02]", "x[-1]", "x[]", "y", 7):
        with refuses(WorkloadError, "name"):
            Ball(3, 1.0).find(wrong)  # type: ignore[arg-type]
    for number in (-1, 2, "0"):
        with refuses(WorkloadError, "query"):
            ball.name(number)  # type: ignore[arg-type]
    with refuses(ValueOutsideDomainError, "vectors"):
        ball.columns([[1.0]])
    for names, low, high in ((("a",), None, None), (("a", "a"), None, None), ((), 2.0, 1.0), ((), -9.0, None)):
        with pytest.raises(SurveyError):
            Ball(2, 5, names, low, high)
    for dimension, radius in ((0, 1.0), (2, -1.0)):
        with pytest.raises(SurveyError):
            Ball(dimension, radius)


def test_on_a_ball_estimates_are_projected_on_it() -> None:
    (design, *_) = Direct.designs(Setting(Ball(2, 1.0), 1.0, 0.0, 100))
    found = design.project(np.array([3.0, 4.0]), 10)
    assert np.allclose(found.values, [0.6, 0.8])
    assert len(found.support) == 0
    (number,) = Direct.designs(Setting(Ball(1, 1.0, low=0.0), 1.0, 0.0, 100, mechanism="binary"))
    assert number.project(np.array([-0.5]), 10).values == pytest.approx(0.0)
    assert number.project(np.array([7.0]), 10).values == pytest.approx(1.0)
    assert number.bound(1).value == number.workload.diameter == 1.0
    assert number.bound(10**8).value < 1e-3
    with pytest.raises(MechanismError, match="cannot be listed"):
        _ = design.coordinates
    for kind in STRATEGIES.values():
        if kind is not Direct:
            with refuses(SurveyError, "strategy"):
                kind.designs(Setting(Ball(2, 1.0), 1.0, 0.0, 100))
