"""What malicious devices can do, found by sending every report there is, against what `Influence` says they can do."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.influence import Influence, hostile_count, influence
from sottovoce.mechanisms import MECHANISMS, FiniteMechanism, serving
from sottovoce.mechanisms.binary import Binary
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.gaussian import Gaussian
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hadamard import most_odd
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.matrix_channel import MatrixChannel
from sottovoce.mechanisms.registry import create
from sottovoce.mechanisms.rejection import Rejection
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.questions import Choices, Queries, Shares, Vector
from sottovoce.strategies import fourier
from sottovoce.strategies.base import Strategy
from sottovoce.strategies.direct import Direct
from sottovoce.strategies.factorized import FactorizedStrategy
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws import frequencies, spread
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.sets import SetStrategy
from sottovoce.strategies.setting import Setting
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Bins, Dense, Identity, Marginals, Parities, Prefix, Ranges, Workload
from sottovoce.workloads.ball import Ball
from sottovoce.workloads.naming import value_at

N, K = 23, 4
"""Reports, and hostile ones among them."""

CLOSE = 1e-9
"""Everything here is a few thousand roundings away from exact arithmetic."""


# --- the attack: every report, through aggregate and estimate ----------------------------------


def payloads(survey: Survey) -> Iterable[bytes]:
    """Every report that decodes, or, where they are too many, every one that is extreme in some direction."""
    mechanism: Any = survey.mechanism
    if isinstance(mechanism, Gaussian):
        corners = product((-mechanism.bound, mechanism.bound), repeat=mechanism.dimension)
        return (mechanism.encode(corner) for corner in corners)
    if isinstance(mechanism, Codebook):
        return (mechanism.encode(report) for report in range(2 * mechanism.cells))
    if isinstance(mechanism, Binary):
        return (mechanism.encode(bit) for bit in (0, 1))
    return (mechanism.encode(report) for report in mechanism.outputs())


def attacked(survey: Survey, sent: Iterable[bytes] | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Raw and projected estimates after N - K honest reports and K times the same hostile one, for each one sent."""
    base = survey.aggregate().add(survey.simulate(people(survey), seed=11))
    estimates = [
        survey.estimate(base.add([survey.tag + payload] * K))
        for payload in (payloads(survey) if sent is None else sent)
    ]
    slack = max(math.sqrt(max(0.0, estimate.gap)) for estimate in estimates)
    assert slack < 1e-3
    return np.array([e.raw for e in estimates]), np.array([e.values for e in estimates])


def people(survey: Survey) -> Any:
    """N - K honest people, all with the first value."""
    if survey.kind == "number":
        return np.zeros(N - K)
    if survey.kind == "choices":
        return [[]] * (N - K)
    if survey.domain is None:
        return np.zeros((N - K, survey.n_answers))
    return [value_at(survey.domain, 0)] * (N - K)


def farthest(points: np.ndarray) -> float:
    squares = np.einsum("ij,ij->i", points, points)
    return math.sqrt(max(0.0, float((squares[:, None] + squares - 2 * points @ points.T).max())))


def check(found: Influence, raw: np.ndarray, values: np.ndarray, scale: float = 1.0) -> None:
    """The estimates' spread is what `found` says, times `scale`: below it, and on it where that is called exact."""
    moved, stated = raw.max(axis=0) - raw.min(axis=0), scale * found.per_answer
    size = float(np.abs(raw).max())
    assert (moved <= stated + CLOSE * size).all()
    assert farthest(raw) <= scale * found.l2 + CLOSE * size
    assert farthest(values) <= scale * found.projected_l2 + 2e-3
    assert found.largest == found.per_answer.max()
    if found.exact:
        assert np.allclose(moved, stated, rtol=1e-7, atol=CLOSE * size)
    if found.l2_exact:
        assert math.isclose(farthest(raw), scale * found.l2, rel_tol=1e-6)


# --- the surveys: every mechanism and every strategy, small ------------------------------------

MIXED = Dense([[1.0, -2.0, 0.5, 0.0, 3.0], [0.2, 0.2, -0.4, 1.0, 0.0]])


def distributions() -> Iterator[Survey]:
    for kind in serving(FiniteMechanism).values():
        for epsilon in (0.5, 2.0):
            for mechanism in kind.miniatures(epsilon):
                yield Survey.of_design(
                    Shares(mechanism.domain_size), Histogram(Identity(mechanism.domain_size), mechanism)
                )


def means() -> Iterator[Survey]:
    yield Survey(sv.vector(1, 2.5), epsilon=1.0, mechanism="binary")
    yield Survey(sv.vector(3, 1.5), epsilon=1.0, delta=1e-6, mechanism="gaussian", people=1000)
    small = replace(Codebook.best(3, 1.0, 1.0, 0.0, 100), rotations=2)
    yield Survey.of_design(Vector(3, 1.0), Direct(Ball(3, 1.0), small))


def asked(design: Strategy) -> Survey:
    return Survey.of_design(Queries(design.workload), design)


def strategies() -> Iterator[Survey]:
    workload: Workload
    for name in serving(FiniteMechanism):
        for workload in (Prefix(5), MIXED, Identity(6)):
            yield asked(Histogram(workload, create(name, workload.domain.size, 1.0)))
    for workload in (Prefix(5), Prefix(8), Ranges(6), Identity(7), MIXED):
        size = workload.domain.size
        yield asked(HaarStrategy(workload, Haar(size, 1.0, 3)))
        yield asked(HierarchicalStrategy(workload, Hierarchical(size, 1.0, 2, 5)))
        yield asked(HierarchicalStrategy(workload, Hierarchical(size, 1.0, 3)))
    tables = Marginals(k=2, colour=3, size=2, age=4)
    halves = Bins({"age": range(6), "smoker": ["no", "yes"]}, [0, 1, 4], attribute="age")
    for workload in (tables, Parities(4, 2), Bins(7, [0, 2, 3, 7]), halves, Identity(6)):
        yield asked(FourierStrategy.best(workload, 1.0))
    for channel in MatrixChannel.miniatures(1.0):
        weights = np.full(channel.domain_size, 1 / channel.domain_size)
        yield asked(OptimizedStrategy.of(Prefix(channel.domain_size), 1.0, channel.matrix, weights))
    factorized = factorized_of(Prefix(6))
    yield asked(replace(factorized, mechanism=replace(factorized.mechanism, rotations=2)))
    yield asked(Direct(MIXED, replace(Codebook.best(2, MIXED.radius, 1.0, 0.0, 100), rotations=2)))


def factorized_of(workload: Workload) -> FactorizedStrategy:
    (found,) = FactorizedStrategy.designs(Setting(workload, 1.0, 0.0, 200))
    return found


def numbers() -> Iterator[Survey]:
    yield Survey(sv.number(-5, 20, points=9), epsilon=1.0)
    yield Survey(sv.number(0, 8, wants="spread", points=5), epsilon=1.0)


def choices() -> Iterator[Survey]:
    for mechanism in (*SetSelection.miniatures(1.0), *Wheel.miniatures(1.0)):
        question = Choices(mechanism.options, mechanism.most)
        yield Survey.of_design(question, SetStrategy(question.workload, mechanism))


def rounds() -> Iterator[Survey]:
    panel = sv.Panel({"age": range(100), "smoker": ["no", "yes"]}, rounds=3, epsilon=1.0, radius=100.0)
    yield sv.adaptive.round_of(panel, 1, "age")
    yield sv.adaptive.round_of(panel, 2, "age // 20", 5)


SURVEYS = [*distributions(), *means(), *strategies(), *numbers(), *choices(), *rounds()]


def named(survey: Survey) -> str:
    of = f"-{survey.design.name}-{survey.design.workload.kind}" if survey.kind == "queries" else ""
    return f"{survey.kind}{of}-{survey.mechanism.name}-{survey.n_answers}-{survey.epsilon:g}"


@pytest.mark.parametrize("survey", SURVEYS, ids=named)
def test_no_report_does_more_and_some_report_does_it(survey: Survey) -> None:
    found = influence(survey, N, K)
    raw, values = attacked(survey)
    assert found.exact
    check(found, raw, values)
    # Planted: what is one per cent smaller is exceeded, and what is one per cent larger is never reached.
    for wrong in (0.99, 1.01):
        with pytest.raises(AssertionError):
            check(found, raw, values, scale=wrong)


def test_every_mechanism_and_strategy_was_attacked() -> None:
    mechanisms = {survey.mechanism.name for survey in SURVEYS} | {"rejection"}
    offered = {name for name, kind in MECHANISMS.items() if kind.deployable}
    # Tables, products and single options weigh reports by how many there are on each: see test_tables.py. Words are not
    # listed beforehand: see statistical/test_words.py.
    assert mechanisms == offered - {"tables", "products", "one_option", "hashed_prefixes"}
    assert {survey.design.name for survey in SURVEYS if survey.kind == "queries"} == set(Queries.strategies) - {
        "tables"
    }


def test_an_attack_reaches_the_bound() -> None:
    """The worst case in full: K honest devices would have said one thing, and as many hostile ones say the other."""
    survey = Survey(sv.shares(["a", "b", "c"]), epsilon=1.0, mechanism="hadamard")
    agrees, differs = (survey.tag + survey.mechanism.encode(position) for position in (0, 1))
    rest = survey.aggregate().add([survey.randomize("b") for _ in range(N - K)])
    honest, hostile = (survey.estimate(rest.add([report] * K)) for report in (differs, agrees))
    assert math.isclose(hostile.raw[0] - honest.raw[0], hostile.influence(K).per_answer[0])


def test_against_the_honest_alone() -> None:
    """The same bound holds beside the estimate from the honest reports only, and for each single answer."""
    survey = Survey(sv.shares(5), epsilon=1.0, mechanism="unary_optimized")
    honest = survey.aggregate().add([survey.randomize(2) for _ in range(N - K)])
    alone, found = survey.estimate(honest).raw, influence(survey, N, K)
    moved = [np.abs(survey.estimate(honest.add([survey.tag + p] * K)).raw - alone) for p in payloads(survey)]
    # One of the two bits is at least half a unit away from any mean of bits.
    assert (np.max(moved, axis=0) <= found.per_answer + CLOSE).all()
    assert (np.max(moved, axis=0) >= found.per_answer / 2 - CLOSE).all()


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 5.0])
@pytest.mark.parametrize("name", list(serving(FiniteMechanism)))
def test_no_mechanism_beats_the_least_spread(name: str, epsilon: float) -> None:
    found = influence(Survey(sv.shares(5), epsilon=epsilon, mechanism=name), 1, 1)
    least = 1 / math.tanh(epsilon / 2)
    assert found.largest >= least * (1 - CLOSE)
    two = influence(Survey(sv.shares(2), epsilon=epsilon, mechanism="randomized_response"), 1, 1)
    assert math.isclose(two.largest, least)


# --- bounds that are not exact -----------------------------------------------------------------


def test_rejection_stays_below_and_a_search_of_seeds_comes_near() -> None:
    from sottovoce.kernels.normals import many_normals

    survey = Survey(sv.vector(3, 1.0), epsilon=1.0, mechanism="rejection")
    mechanism = survey.mechanism
    assert isinstance(mechanism, Rejection)
    seeds = np.arange(300_000, dtype=np.uint64)
    normals = many_normals(seeds, 3)
    picked = np.unique(np.concatenate([normals.argmax(axis=0), normals.argmin(axis=0)]))
    sent = [mechanism.encode((int(seeds[i]), bit)) for i in picked for bit in (0, 1)]
    found = influence(survey, N, K)
    raw, values = attacked(survey, sent)
    assert not found.exact
    check(found, raw, values)
    # Of 900,000 normals the largest is near 4.9, of all that 32 bits can give 6.76.
    assert ((raw.max(axis=0) - raw.min(axis=0)) > 0.6 * found.per_answer).all()


@pytest.mark.parametrize("dimension", [3, 60])
def test_rows_of_many_rotations(dimension: int, monkeypatch: pytest.MonkeyPatch) -> None:
    codebook = replace(Codebook.best(dimension, 1.0, 1.0, 0.0, 100), rotations=400, key=(3, 5))
    exact = spread.spread_of_vectors(codebook)
    monkeypatch.setattr(spread, "_MOST_PRODUCTS", 0)
    bound = spread.spread_of_vectors(codebook)
    assert exact.exact
    assert not bound.exact
    assert (exact.per_answer <= bound.per_answer).all()
    assert (bound.per_answer <= 2.5 * exact.per_answer).all()
    # Rows have length one and the first coordinates d/D of its square on average.
    assert exact.l2 <= bound.l2 <= exact.l2 * math.sqrt(codebook.size / dimension)


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13, 32, 37])
@pytest.mark.parametrize("kind", [Prefix, Ranges, Identity])
def test_intervals_through_the_tree(size: int, kind: type[Any]) -> None:
    workload = kind(size)
    haar = HaarStrategy(workload, Haar(size, 1.0, 3))
    each, _ = haar._spread_of_reports()
    assert np.allclose(haar._spread_of_intervals()[0], each, atol=CLOSE)
    for branching in {2, min(3, size), min(4, size), size}:
        tree = HierarchicalStrategy(workload, Hierarchical(size, 1.0, branching, 2))
        each, _ = tree._spread_of_reports()
        assert (each <= tree._spread_by_signs() + CLOSE).all()
        assert (each <= tree._spread_by_moments() + 1e-6).all()


@pytest.mark.parametrize(("size", "branching"), [(2, 2), (8, 2), (64, 2), (16, 4), (64, 8), (16, 16), (64, 4)])
@pytest.mark.parametrize("kind", [Prefix, Ranges, Identity])
def test_full_trees_are_exact(size: int, branching: int, kind: type[Any]) -> None:
    for tilt in (-9, 0, 6):
        tree = HierarchicalStrategy(kind(size), Hierarchical(size, 1.0, branching, tilt))
        each, _ = tree._spread_of_reports()
        assert tree._is_full
        assert np.allclose(tree._spread_of_full_tree(), each, atol=CLOSE)
    assert not HierarchicalStrategy(kind(size + 1), Hierarchical(size + 1, 1.0, 2))._is_full


def test_large_tables_and_bins_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Strategy] = [FourierStrategy.best(Bins(13, [0, 2, 3, 9, 13]), 1.0)]
    made += [Histogram(MIXED, create(name, 5, 1.0)) for name in serving(FiniteMechanism)]
    for design in made:
        exact = design.spread
        with monkeypatch.context() as changed:
            changed.setattr(fourier, "_MOST_ENTRIES", 0)
            for limit in ("_MOST_ENTRIES", "_MOST_WORK"):
                changed.setattr(frequencies, limit, 0)
            for is_listed in (True, False):
                changed.setattr(frequencies, "is_listable", lambda workload, found=is_listed: found)
                bound = replace(design).spread  # type: ignore[type-var]
                assert (exact.per_answer <= bound.per_answer * (1 + CLOSE)).all()
                assert exact.l2 <= bound.l2 * (1 + CLOSE)
        assert exact.exact
        assert not bound.exact


def test_factorized_with_other_mechanisms_stays_below() -> None:
    made = factorized_of(Prefix(4))
    d = made.mechanism.dimension
    strategy = FactorizedStrategy(made.workload, Gaussian.best(d, 1.0, 1.0, 1e-6, 1000), made.stated)
    survey = asked(strategy)
    found = influence(survey, N, K)
    raw, values = attacked(survey)
    assert found.exact
    check(found, raw, values)


def test_most_odd_by_looking_at_all_masks() -> None:
    for n in range(1, 70):
        counts = [sum((i & x).bit_count() % 2 for i in range(n)) for x in range(1 << (n - 1).bit_length())]
        assert most_odd(n) == max(counts)


# --- arguments, forms, sizes -------------------------------------------------------------------


def test_counts_and_shares() -> None:
    assert [hostile_count(h, 1000) for h in (1, 1000, 0.01, 0.0001, 0.9999, np.int64(3))] == [1, 1000, 10, 1, 1000, 3]
    assert hostile_count(0.07, 100) == 7


@pytest.mark.parametrize("bad", [0, -1, 24, 0.0, 1.0, 1.5, -0.1, float("nan"), float("inf"), True, "2", None])
def test_bad_numbers_are_refused(bad: Any) -> None:
    survey = Survey(sv.shares(3), epsilon=1.0)
    with refuses(SurveyError, "hostile"):
        influence(survey, N, bad)


def test_a_survey_without_reports_is_refused() -> None:
    survey = Survey(sv.shares(3), epsilon=1.0)
    with refuses(SurveyError, "n_reports"):
        influence(survey, 0, 1)


def test_an_estimate_says_it_in_a_sentence() -> None:
    survey = Survey(sv.shares(3), epsilon=1.0, mechanism="hadamard")
    estimate = survey.estimate(survey.simulate([0] * 500 + [1] * 500, seed=3))
    found = estimate.influence(1)
    assert str(found) == "1 malicious device among 1,000 reports can move an answer by up to 0.00433"
    assert found.to_dict()["statement"] == found.statement
    assert math.isclose(estimate.influence().largest, 10 * found.largest)
    assert not found.per_answer.flags.writeable
    bounded = influence(Survey(sv.vector(3, 1.0), epsilon=1.0, mechanism="rejection"), 1000, 0.01)
    assert "cannot move any answer by more than" in bounded.statement
    # Rounded up: a sentence never promises more than is true.
    assert float(found.statement.split()[-1]) >= found.largest


def test_a_million_answers_take_no_list_of_reports() -> None:
    size = 2**20
    surveys = [
        Survey(sv.shares(size), epsilon=1.0, mechanism="hadamard"),
        asked(HaarStrategy.best(Prefix(size), 1.0)),
        asked(HierarchicalStrategy(Prefix(size), Hierarchical(size, 1.0, 8))),
        Survey(sv.vector(size // 2, 1.0), epsilon=1.0, mechanism="codebook"),
    ]
    for survey in surveys:
        tracemalloc.start()
        found = influence(survey, 10_000, 0.01)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(found.per_answer) == survey.n_answers
        assert peak < 24 * 8 * size
