"""The variance of every design whose channel can be listed, against sums over all reports and all populations."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from listed_designs import Listed
from refusing import refuses
from sottovoce.core.errors import CapacityError, SurveyError
from sottovoce.domain import Domain
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.strategies import STRATEGIES, Population, Setting
from sottovoce.strategies import histogram as histogram_module
from sottovoce.strategies import optimized as optimized_module
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.variance import listed_variance
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Workload

RNG = np.random.default_rng(11)
RECORDS = Domain.product(a=range(2), b=range(3), c=range(2))
WORKLOADS: dict[str, Workload] = {
    "prefix": Prefix(5),
    "ranges": Ranges(4),
    "marginals": Marginals(RECORDS, 2),
    "dense": Dense(RNG.normal(size=(3, 6))),
    "identity": Identity(7),
    "bins": Bins(range(6), [0, 1, 3, 6]),
    "some bins": Bins(range(6), [1, 3, 5]),
    "one bin": Bins(range(6), [0, 6]),
    "parities": Parities(3, 2),
    "alike": Dense(np.full((2, 4), 2.5)),
}
FINITE = ("optimized", "hierarchical", "haar", "fourier", "histogram")
EPSILONS = (0.5, 2.0)
each_strategy = pytest.mark.parametrize("strategy", FINITE)


@pytest.fixture(autouse=True, scope="module")
def cache_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@cache
def listed(name: str, strategy: str, epsilon: float) -> tuple[Listed, ...]:
    """Every design of a strategy; none where it cannot serve."""
    try:
        designs = STRATEGIES[strategy].designs(Setting(WORKLOADS[name], epsilon, 0.0, 1000))
    except (SurveyError, CapacityError):
        return ()
    return tuple(Listed.of(design) for design in designs)


def all_listed(strategy: str) -> Iterator[Listed]:
    """Every design of a strategy, for every workload and epsilon."""
    for name, epsilon in product(WORKLOADS, EPSILONS):
        yield from listed(name, strategy, epsilon)


def populations(size: int) -> list[np.ndarray]:
    """Single values, pairs in all proportions, the uniform one and some others."""
    rng = np.random.default_rng(5)
    pairs = [
        t * np.eye(size)[u] + (1 - t) * np.eye(size)[v]
        for u in range(size)
        for v in range(u)
        for t in np.linspace(0, 1, 21)
    ]
    return [*pairs, np.full(size, 1 / size), *rng.dirichlet(np.ones(size), 30), *rng.dirichlet(np.full(size, 0.3), 30)]


def rows_of(found: Listed) -> np.ndarray:
    rng = np.random.default_rng(8)
    queries = len(found.matrix)
    return np.vstack([rng.normal(size=(3, queries)), np.ones(queries)])


def test_every_strategy_and_mechanism_is_tried() -> None:
    served = {(name, strategy): listed(name, strategy, 0.5) for name in WORKLOADS for strategy in FINITE}
    assert {key for key, found in served.items() if not found} == {
        (name, "fourier") for name in ("prefix", "ranges", "dense", "alike")
    }
    for name in WORKLOADS:
        # Over so few values every mechanism serves.
        assert [one.design.mechanism.name for one in served[name, "histogram"]] == list(serving(FiniteMechanism))


@each_strategy
def test_shares_give_the_exact_variance(strategy: str) -> None:
    for found in all_listed(strategy):
        rows, p = rows_of(found), np.random.default_rng(3).dirichlet(np.ones(found.matrix.shape[1]))
        for shares in (p, np.eye(len(p))[-1]):
            told = found.design.variance(rows, shares, 7)
            exact = [found.variance(row, shares) / 7 for row in rows]
            assert told.status == "exact"
            assert np.allclose(told.value, exact, rtol=1e-8, atol=1e-8)
            single = found.design.variance(rows[0], shares, 7)
            assert isinstance(single.value, float)
            assert single.value == pytest.approx(exact[0], rel=1e-8)
            each = found.design.variance(None, shares, 7)
            assert (each.status, each.note) == ("exact", "")
            exact = [found.variance(row, shares) / 7 for row in np.eye(len(found.matrix))]
            assert np.allclose(each.value, exact, rtol=1e-8, atol=1e-8)
            total = found.design.total_variance(shares, 7)
            assert (total.value, total.status) == (pytest.approx(found.total(shares) / 7, rel=1e-8, abs=1e-8), "exact")


@each_strategy
def test_every_answer_is_a_row_of_the_identity(strategy: str) -> None:
    for found in all_listed(strategy):
        units = np.eye(len(found.matrix))
        p = np.random.default_rng(4).dirichlet(np.ones(found.matrix.shape[1]))
        for people in (None, p, Population.answering(found.matrix @ p)):
            each, rows = found.design.variance(None, people), found.design.variance(units, people)
            assert np.allclose(each.value, rows.value, rtol=1e-8, atol=1e-8)
            assert each.status == "exact"


@each_strategy
def test_answers_alone_give_the_largest_variance_there_can_be(strategy: str) -> None:
    """A linear program over populations with the same combination of answers attains it."""
    for found in all_listed(strategy):
        rows, p = rows_of(found), np.random.default_rng(6).dirichlet(np.ones(found.matrix.shape[1]))
        if isinstance(found.design.workload, Identity):  # there the answers say everything
            told = found.design.variance(rows, Population.answering(p))
            assert np.allclose(told.value, [found.variance(row, p) for row in rows], rtol=1e-8)
            continue
        told = found.design.variance(rows, Population.answering(found.matrix @ p))
        assert told.status == "exact"
        for row, value in zip(rows, told.value, strict=True):
            h, y = row @ found.matrix, float(row @ found.matrix @ p)
            best = linprog(-found.moments(row), A_eq=np.array([h, np.ones(len(h))]), b_eq=[y, 1.0])
            assert value == pytest.approx(-best.fun - y**2, rel=1e-6, abs=1e-6)


@each_strategy
def test_the_worst_is_never_exceeded_and_attained(strategy: str) -> None:
    for found in all_listed(strategy):
        rows, people = rows_of(found), populations(found.matrix.shape[1])
        told = found.design.variance(rows)
        assert told.status == "exact"
        for row, value in zip(rows, told.value, strict=True):
            M, h = found.moments(row), row @ found.matrix
            largest = max(float(p @ M - (p @ h) ** 2) for p in people)
            assert largest <= value * (1 + 1e-9) + 1e-9
            # The best mixture of two values is at most a fortieth of their distance away from one that was tried.
            assert value <= largest + float(np.ptp(h)) ** 2 / 1600 + 1e-9


@each_strategy
def test_the_worst_total_is_never_exceeded_and_attained(strategy: str) -> None:
    for found in all_listed(strategy):
        told = found.design.total_variance()
        worst = found.design.worst_population()
        assert worst is not None
        assert worst.sum() == pytest.approx(1)
        assert (worst >= 0).all()
        attained = found.total(worst)
        assert attained <= told.value * (1 + 1e-9) + 1e-9
        assert told.value <= attained * (1 + 1.1e-3) + 1e-9
        for p in populations(found.matrix.shape[1])[::7]:
            assert found.total(p) <= told.value * (1 + 1e-9) + 1e-9


@each_strategy
def test_worst_and_total_are_of_populations_of_one_value(strategy: str) -> None:
    for found in all_listed(strategy):
        singles = [found.total(p) for p in np.eye(found.matrix.shape[1])]
        assert found.design.worst == pytest.approx(max(singles), rel=1e-7, abs=1e-7)
        assert found.design.total == pytest.approx(np.mean(singles), rel=1e-7, abs=1e-7)


def test_of_a_total_only_answers_give_a_bound() -> None:
    for strategy in ("histogram", "optimized"):
        for found in listed("prefix", strategy, 0.5):
            people = np.random.default_rng(2).dirichlet(np.ones(5), 20)
            for p in people:
                told = found.design.total_variance(Population.answering(found.matrix @ p))
                assert told.status == "bound"
                assert told.note
                assert told.value >= found.total(p) * (1 - 1e-9)


def test_what_takes_too_long_is_bounded_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a searched channel the ratio of chances bounds all answers; transforms of all answers are refused."""
    (found,) = listed("prefix", "optimized", 2.0)
    monkeypatch.setattr(optimized_module, "_MOST_WORK", 0)
    design = OptimizedStrategy(found.design.workload, found.design.mechanism, found.design.weights)  # type: ignore[arg-type, attr-defined]
    told = design.variance()
    assert told.status == "bound"
    for p in populations(5)[::9]:
        exact = np.array([found.variance(row, p) for row in np.eye(5)])
        assert (told.value >= exact * (1 - 1e-9) - 1e-12).all()
        known = design.variance(None, Population.answering(found.matrix @ p)).value
        assert (known >= exact * (1 - 1e-9) - 1e-9).all()
    assert (told.value <= 60 * found.design.variance().value + 1e-9).all()
    monkeypatch.setattr(histogram_module, "MOST_WORK", 10)
    for one in listed("prefix", "histogram", 2.0):
        made = Histogram(one.design.workload, one.design.mechanism)  # type: ignore[arg-type]
        if hasattr(one.design.mechanism, "pair_moments"):
            made.variance()
            continue
        for ask in (made.variance, made.total_variance):
            with pytest.raises(CapacityError, match="cannot be compared in reasonable time"):
                ask()


def test_an_envelope_is_found_whatever_the_points() -> None:
    """Against a linear program, for points that are collinear, tied, repeated or alone."""
    rng = np.random.default_rng(9)
    shapes = [rng.normal(size=(2, 12)) for _ in range(20)]
    shapes += [np.round(rng.normal(size=(2, 9))) for _ in range(20)]
    shapes += [np.array([np.arange(6.0), np.arange(6.0)]), np.ones((2, 4)), np.zeros((2, 1))]
    for h, noise in shapes:
        M = h**2 + np.abs(noise)
        worst = listed_variance(h[None], M[None], None)[0]
        grid = np.linspace(h.min(), h.max(), 25)
        found = []
        for y in grid:
            best = linprog(-M, A_eq=np.array([h, np.ones(len(h))]), b_eq=[y, 1.0])
            found.append(-best.fun - y**2)
        told = listed_variance(np.tile(h, (len(grid), 1)), np.tile(M, (len(grid), 1)), grid)
        assert np.allclose(told, found, atol=1e-7)
        assert max(found) <= worst + 1e-9 <= max(found) + float(np.ptp(h)) ** 2 / 24**2 + 1e-6


def test_answers_nobody_can_have_are_moved_to_the_nearest() -> None:
    for strategy in FINITE:
        for found in listed("identity", strategy, 0.5):
            told = found.design.variance(None, Population.answering(np.full(7, -0.25))).value
            assert np.isfinite(told).all()
            assert (told >= 0).all()


def test_margins_and_errors_follow_from_the_variance() -> None:
    for found in listed("prefix", "haar", 0.5):
        design = found.design
        p = np.full(5, 0.2)
        exact = max(found.variance(row, p) for row in np.eye(5))
        assert design.margin(100, p) == pytest.approx(1.959964 * np.sqrt(exact / 100), rel=1e-6)
        assert design.margin(100, p, 0.99) == pytest.approx(2.575829 * np.sqrt(exact / 100), rel=1e-6)
        assert design.margin(100) > design.margin(100, p)
        assert design.expected_error(10**6, p) == pytest.approx(np.sqrt(found.total(p) / 10**6))
        assert design.expected_error(1) == pytest.approx(design.bound(1).value)


def test_populations_and_weights_are_checked() -> None:
    design = STRATEGIES["haar"].designs(Setting(Prefix(4), 1.0, 0.0, 10))[0]
    for wrong in ([0.5, 0.5], [0.5, 0.5, 0.5, -0.5], [0.25, 0.25, 0.25, 0.2], "many", [[0.25] * 4]):
        with refuses(SurveyError, "people"):
            design.variance(None, wrong)
    with refuses(SurveyError, "people"):
        design.variance(None, Population.answering([0.5]))
    for wrong in ([1.0, 2.0], [[1.0]], np.ones((1, 1, 4)), [np.nan, 0, 0, 0], "some"):
        with refuses(SurveyError, "weights"):
            design.variance(wrong)
    with refuses(SurveyError, "n_reports"):
        design.variance(n_reports=0)
    again = Population.of([0.25] * 4, Prefix(4))
    assert Population.of(again, Prefix(4)) is again
    assert np.allclose(Population.of(Population(np.full(4, 0.25)), Prefix(4)).answers, [0.25, 0.5, 0.75, 1.0])
