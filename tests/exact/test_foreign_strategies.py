"""Strategies of other packages: what follows from a list of reports, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.errors import CapacityError, MechanismError, SurveyError
from sottovoce.device.foreign import check_foreign_allowed
from sottovoce.mechanisms import create
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.strategies import LinearStrategy, Population, Setting, Statement, Strategy, options, register
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.histogram import Histogram
from sottovoce.strategies.laws.law import Evidence
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.registry import REGISTRY, find, restore
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.workloads import Dense, Marginals, Prefix, Ranges, Workload

ADULTS = Dense([[0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.0, 2.0, 2.0]])
SHARES = np.array([0.3, 0.1, 0.05, 0.25, 0.2, 0.1])


@dataclass(frozen=True)
class Listed(LinearStrategy):
    """Another strategy's reports and reading, and nothing else that it knows."""

    workload: Workload
    mechanism: Any
    other: Any

    name: ClassVar[str] = "listed"
    summary: ClassVar[str] = "nothing but a reading"

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        raise SurveyError("made by hand")

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        raise SurveyError("made by hand")

    def inputs(self, indices: Any) -> Any:
        return self.other.inputs(indices)

    def raw_answers(self, counts: Any, n_reports: int) -> Any:
        return self.other.raw_answers(counts, n_reports)


@dataclass(frozen=True)
class Merged(LinearStrategy):
    """Randomized response over groups of values that no query tells apart, as the page on adding a strategy has it."""

    workload: Workload
    mechanism: RandomizedResponse

    name: ClassVar[str] = "merged"
    summary: ClassVar[str] = "randomized response over values that the queries tell apart"

    @classmethod
    def of(cls, workload: Workload, epsilon: float) -> Self:
        return cls(workload, RandomizedResponse(np.unique(workload.dense(), axis=1).shape[1], epsilon))

    @classmethod
    def designs(cls, setting: Setting) -> list[Self]:
        setting.check_mechanism(cls.name, RandomizedResponse.name)
        return [cls.of(setting.finite_workload(), setting.epsilon)]

    @classmethod
    def restore(cls, stated: Statement) -> Self:
        stated.check_mechanism(RandomizedResponse)
        return cls.of(stated.finite_workload(), stated.epsilon)

    def inputs(self, indices: Any) -> Any:
        return np.unique(self.workload.dense(), axis=1, return_inverse=True)[1].reshape(-1)[indices]

    def raw_answers(self, counts: Any, n_reports: int) -> Any:
        return np.unique(self.workload.dense(), axis=1) @ self.mechanism.estimate(counts, n_reports)


KNOWN = [
    HaarStrategy.best(Prefix(5), 1.0),
    FourierStrategy.best(Marginals(k=2, a=2, b=3, c=2), 0.7),
    OptimizedStrategy.search(Prefix(4), 1.0, cache=False),
    *(Histogram(Ranges(4), create(name, 4, 1.0)) for name in ("randomized_response", "hadamard", "unary_optimized")),
]


@pytest.mark.parametrize("known", KNOWN, ids=lambda design: f"{design.name}-{design.mechanism.name}")
def test_a_list_of_reports_says_what_closed_forms_say(known: Any) -> None:
    listed, values = Listed(known.workload, known.mechanism, known), known.workload.n_values
    rng = np.random.default_rng(1)
    weights, shares = rng.normal(size=(3, known.workload.n_queries)), rng.dirichlet(np.ones(values))
    for people in (None, shares):
        assert np.allclose(listed.variance(None, people).value, known.variance(None, people).value, atol=1e-7)
        assert np.allclose(listed.variance(weights, people).value, known.variance(weights, people).value, atol=1e-7)
        assert listed.total_variance(people).value == pytest.approx(known.total_variance(people).value, rel=1e-6)
    assert (listed.worst, listed.total) == pytest.approx((known.worst, known.total))
    assert np.allclose(listed.spread.per_answer, known.spread.per_answer, atol=1e-9)
    assert listed.spread.l2 <= known.spread.l2 * (1 + 1e-9)
    assert listed.spread.exact
    assert listed.raw_bound(100).value == pytest.approx(known.raw_bound(100).value, rel=1e-6)


def test_law_and_spread_are_those_of_every_report_gone_through() -> None:
    design = Merged.of(ADULTS, 1.0)
    m, rows = design.mechanism, ADULTS.dense()
    answers = np.array([design.raw_answers(np.eye(m.cells, dtype=np.int64)[z], 1) for z in range(m.cells)]).T
    values = design.inputs(np.arange(6)).tolist()
    chances = np.array([[float(Fraction(m.probability(z, value))) for value in values] for z in range(m.cells)])
    assert np.allclose(answers @ chances, rows), "unbiased"
    variances = answers**2 @ chances @ SHARES - (rows @ SHARES) ** 2
    assert np.allclose(design.variance(None, SHARES).value, variances)
    assert design.total_variance(SHARES).value == pytest.approx(variances.sum())
    assert np.allclose(design.spread.per_answer, np.ptp(answers, axis=1))
    pairs = max(np.linalg.norm(answers[:, a] - answers[:, b]) for a in range(m.cells) for b in range(m.cells))
    assert design.spread.l2 == pytest.approx(pairs)
    for weights in (None, np.array([[1.0, -1.0], [2.0, 0.5]])):
        law = design.law(weights, Evidence(None, 1000, 0.025))
        combined, own = (answers, rows) if weights is None else (weights @ answers, weights @ rows)
        above, below = combined.max(axis=1) - own.min(axis=1), own.max(axis=1) - combined.min(axis=1)
        assert np.allclose(law.reach, np.maximum(above, below)), "the farthest that X is from an expectation"
        assert np.allclose(law.floor, (combined**2 @ chances - own**2).min(axis=1))
        truth = own @ SHARES
        true_variance = combined**2 @ chances @ SHARES - truth**2
        largest = design.variance(weights, Population.answering(rows @ SHARES)).value
        assert np.allclose(law.curve(truth).at(truth), largest)
        assert (largest >= true_variance - 1e-12).all()


def test_what_cannot_be_listed_names_the_strategy_and_the_remedy() -> None:
    known = Histogram(Ranges(4), create("subset_selection", 4, 1.0))
    wide = Listed(Prefix(2**11), RandomizedResponse(2**11, 1.0), known)
    for refused in (lambda: wide.spread, lambda: wide.variance(), lambda: wide.law(None, Evidence(None, 9, 0.1))):
        with pytest.raises(CapacityError, match=r"'listed'.* law and spread"):
            refused()


def test_it_is_registered_named_and_read_back() -> None:
    with pytest.raises(SurveyError, match=r"sottovoce\.strategies\.register"):
        find("merged")
    register(Merged)
    assert REGISTRY.group == "sottovoce.strategies"
    assert find("merged") is Merged
    survey = sv.Survey(sv.queries(ADULTS), epsilon=1.0, strategy="merged", people=2000)
    again = sv.Survey.from_json(survey.to_json())
    assert again == survey
    assert restore(survey.design.to_statement(), ADULTS, 1.0, 0.0, {}) == survey.design
    numbers = np.repeat(np.arange(6), (SHARES * 2000).astype(int))
    estimate = survey.estimate(survey.simulate(numbers, seed=3))
    low, high = estimate.interval(0.999)
    assert ((low <= ADULTS.matvec(SHARES)) & (ADULTS.matvec(SHARES) <= high)).all()
    assert "merged" in sv.plan(survey.question, epsilon=1.0, people=2000, strategy="merged").options[0].strategy


def test_auto_never_chooses_it() -> None:
    register(Merged)
    survey = sv.Survey(sv.queries(ADULTS), epsilon=1.0, people=2000)
    assert not REGISTRY.is_foreign(type(survey.design))
    found = options(Setting(ADULTS, 1.0, 0.0, 2000), survey.question.strategies)
    assert "merged" not in {option.strategy for option in found}


def test_a_device_loads_it_only_if_it_is_allowed() -> None:
    register(Merged)
    statement = sv.Survey(sv.queries(ADULTS), epsilon=1.0, strategy="merged").to_json().encode()
    with pytest.raises(SurveyError, match="'merged'"):
        check_foreign_allowed(statement, ())
    check_foreign_allowed(statement, ("merged",))


def test_one_that_spends_more_than_it_is_given_is_refused() -> None:
    class Greedy(Listed):
        name: ClassVar[str] = "greedy"

        @classmethod
        def designs(cls, setting: Setting) -> list[Any]:
            known = Histogram(ADULTS, RandomizedResponse(6, 2 * setting.epsilon))
            return [cls(ADULTS, known.mechanism, known)]

    register(Greedy)
    with pytest.raises((SurveyError, MechanismError), match="spends more"):
        sv.Survey(sv.queries(ADULTS), epsilon=1.0, strategy="greedy")


def test_unfinished_ones_and_taken_names_are_refused() -> None:
    class Unfinished(LinearStrategy):
        name: ClassVar[str] = "unfinished"

    class Haar(Listed):
        name: ClassVar[str] = "haar"

    for kind, told in ((Unfinished, "raw_answers"), (Haar, "haar"), (Strategy, "not finished"), (int, "a subclass")):
        with pytest.raises(SurveyError, match=told):
            register(kind)  # type: ignore[arg-type]
