"""Sets of options: the device on every outcome, the law in closed form, variances by summation, and planted faults."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.auditing import sampled
from sottovoce.auditing.channel import wrong_miniature
from sottovoce.core.errors import DomainError, MechanismError, SimulationError, SurveyError, ValueOutsideDomainError
from sottovoce.domain import Domain
from sottovoce.mechanisms import SetMechanism, serving
from sottovoce.mechanisms.one_option import OneOption
from sottovoce.mechanisms.set_selection import SetSelection
from sottovoce.mechanisms.sets import padded
from sottovoce.mechanisms.two_level import TwoLevel
from sottovoce.mechanisms.wheel import Wheel
from sottovoce.projections.simplex import project_capped
from sottovoce.questions import Choices
from sottovoce.randomness import within_epsilon
from sottovoce.randomness.scripts import ScriptedSource
from sottovoce.strategies.laws.variance import Population
from sottovoce.strategies.sets import SetStrategy
from sottovoce.workloads.sets import Sets

KINDS = (SetSelection, Wheel, OneOption)
SEEDS = np.random.default_rng(20)


# --- every outcome ------------------------------------------------------------------------------


def test_the_registry_knows_them() -> None:
    assert tuple(serving(SetMechanism).values()) == KINDS


@pytest.mark.parametrize("epsilon", [2.0**-10, 4.0])
@pytest.mark.parametrize("kind", KINDS)
def test_devices_do_what_they_state_on_every_outcome(kind: type[SetMechanism], epsilon: float) -> None:
    assert wrong_miniature(kind.miniatures(epsilon)[0]) is None
    for small in kind.miniatures(epsilon):
        assert within_epsilon(small.privacy_ratio(), epsilon)
        assert small.exact_epsilon > 0.999 * epsilon
        channel = [[small.probability(report, row) for report in small.outputs()] for row in small.miniature_inputs()]
        ratio = max(max(column) / min(column) for column in zip(*channel, strict=True))
        attained = not isinstance(small, Wheel) or small.most < small.options
        assert ratio == small.privacy_ratio() or not attained, "some pair of sets is told apart as well as stated"


@cache
def listed(
    options: int, most: int, size: int, epsilon: float
) -> tuple[SetStrategy, np.ndarray, np.ndarray, np.ndarray]:
    """A design with its channel (one row a set), the estimate from every report, and everybody's answers."""
    mechanism = SetSelection(options, most, epsilon, size)
    design = SetStrategy(Sets(Domain.of(options), most), mechanism)
    rows, reports = list(mechanism.miniature_inputs()), list(mechanism.outputs())
    channel = np.array([[float(mechanism.probability(report, row)) for report in reports] for row in rows])
    support = np.array([[option in report for option in range(options)] for report in reports], dtype=float)
    answers = (support - float(mechanism.support.other)) / float(mechanism.support.signal)
    return design, channel, answers, design.workload.columns(rows)


@pytest.mark.parametrize(("options", "most", "size"), [(5, 2, 2), (6, 3, 1), (4, 4, 2)])
def test_estimates_are_unbiased_and_variances_hold(options: int, most: int, size: int) -> None:
    design, channel, answers, truth = listed(options, most, size, 1.3)
    assert np.allclose(channel @ answers, truth), "unbiased for every set, the empty one included"
    for _ in range(6):
        people = SEEDS.dirichlet(np.full(len(channel), 0.3))
        shares, law = people @ truth, people @ channel
        weights = np.array([SEEDS.normal(size=options), np.arange(options) < 2, SEEDS.integers(-1, 2, options)], float)
        known = Population.answering(shares)
        each = law @ answers**2 - shares**2
        assert np.allclose(design.variance(None, known).value, each)
        assert design.variance(None, known).status == "exact"
        assert design.total_variance(known).value == pytest.approx(each.sum())
        assert each.sum() <= design.total_variance().value + 1e-12
        assert (each <= design.variance().value + 1e-12).all()
        combined = law @ (answers @ weights.T) ** 2 - (weights @ shares) ** 2
        for bound in (design.variance(weights, known).value, design.variance(weights).value):
            assert (combined <= bound + 1e-9).all()
        assert (combined <= design.combined_curve(weights).at(weights @ shares) + 1e-9).all()
    moved = answers.max(axis=0) - answers.min(axis=0)
    assert np.allclose(moved, design.spread.per_answer)


def test_closed_forms_of_the_papers() -> None:
    """n Var of a rare option, over m: within 3 % of the least, and the short form where the other is long."""
    for epsilon, best, short in ((1.0, 4.09, 4.59), (2.0, 0.742, 0.797), (4.0, 0.0653, 0.0775)):
        for kind, stated, slack in ((SetSelection, best, 1.03), (Wheel, short, 1.003)):
            found = kind.best(1000, 5, epsilon, 10_000).support
            rare = float(found.variance(np.zeros(1), 1)[0]) / 5
            assert stated * 0.995 < rare < stated * slack
    assert [Wheel.best(10**5, 10, epsilon, 10**6).report_bytes for epsilon in (1.0, 4.0)] == [3, 3]
    assert sv.Survey(sv.choices(20, most=20), epsilon=1.0).mechanism.name == "one_option"


def test_the_wheel_over_the_random_choice_of_seeds() -> None:
    """P1 and P0 of every set, averaged over keys, and no pair of options above its chance."""
    wheel = Wheel(40, 3, 1.0, 12, 8)
    rows = [padded(members, 40, 3) for members in ((0, 1, 2), (7,), ())]
    people = np.array(rows)[np.arange(300) % 3]
    shares = np.array([[option in row for option in range(40)] for row in rows]).mean(axis=0)
    found = []
    for key in range(200):
        keyed = Wheel(40, 3, 1.0, 12, 8, key=(key, 7))
        counts = keyed.empty()
        keyed.count_into(counts, keyed.randomize_many(people, np.random.default_rng(key)))
        found.append(keyed.estimate(counts, 300))
    design = SetStrategy(Sets(Domain.of(40), 3), wheel)
    error = np.array(found) - shares
    stated = design.curve.at(shares) / 300
    # 40 means and variances of 200 estimates: five standard errors, one false alarm in a million at most.
    assert (np.abs(error.mean(axis=0)) < 5.3 * np.sqrt(error.var(axis=0) / 200)).all()
    most = design.variance(population=Population.answering(shares), n_reports=300).value
    assert (error.var(axis=0) < most * (1 + 5.3 * np.sqrt(2 / 200))).all()
    assert (error.var(axis=0)[3:] > 0.6 * stated[3:]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_people_follow_the_device(kind: type[SetMechanism]) -> None:
    for small in kind.miniatures(1.0):
        rows = list(small.miniature_inputs())
        n, rng = 20_000, np.random.default_rng(5)
        row = rows[len(rows) // 2]
        batch = small.codec.encode_many(small.randomize_many(np.array([row] * n), rng))
        seen = {
            bytes(one): int(times) for one, times in zip(*np.unique(batch, axis=0, return_counts=True), strict=True)
        }
        for report in small.outputs():
            chance = float(small.probability(report, row))
            # Six standard errors: fewer than 200 reports in all, one false alarm in 10^6.
            assert abs(seen.get(small.encode(report), 0) - n * chance) <= 6 * np.sqrt(n * chance) + 1


def test_kernels_and_devices_agree_on_bins() -> None:
    wheel = Wheel(10, 2, 16.0, 50, 3, key=(5, 6))  # at epsilon 16 reports are bins of the set
    reports = wheel.randomize_many(np.array([[4, 9]] * 200), np.random.default_rng(1))
    own = {seed * 50 + b for seed in range(3) for b in wheel.bins_of([4, 9], seed).tolist()}
    assert set(reports.tolist()) == own
    counts = wheel.empty()
    wheel.count_into(counts, reports)
    supports = [sum(counts[seed * 50 + wheel.bins_of([i], seed)[0]] for seed in range(3)) for i in range(10)]
    assert np.allclose(wheel.estimate(counts, 200), wheel.support.estimate(np.array(supports), 200))


# --- planted faults -----------------------------------------------------------------------------


class Unpadded(SetSelection):
    """Dummies never come up: the number of options shows."""

    def _randomize(self, row, source):
        return super()._randomize(tuple(member if member < self.options else -1 for member in row), source)


class RoundedUp(SetSelection):
    @cached_property
    def thresholds(self):
        return tuple(threshold + 1 for threshold in super().thresholds)


class Greedy(SetSelection):
    """Once a member belongs, the next one does too."""

    def _randomize(self, row, source):
        found = super()._randomize(row, source)
        first = next((place for place, member in enumerate(row) if member in found), len(row))
        others = [member for member in found if member not in row]
        return tuple(sorted([*row[first:], *others][: self.subset_size]))


class Unclipped(Wheel):
    """Sets that take few bins favour these more, so that the total is the same."""

    def _randomize(self, row, source):
        seed, inside, place = source.below(self.seeds), source.bernoulli(self.levels.threshold), source.below(self.most)
        ranks = [source.below(self.bins - taken) for taken in range(self.most + 1)]
        taken = self._taken(row, seed)
        other = ranks[len(taken)]
        for b in taken:
            other += other >= b
        return seed * self.bins + (taken[place % len(taken)] if inside and taken else other)


class Loud(Wheel):
    @cached_property
    def levels(self):
        return TwoLevel(self.most, self.bins - self.most, self.epsilon * 1.0000001)


class Silent(OneOption):
    """People who ticked nothing say no."""

    def _randomize(self, row, source):
        return super()._randomize(row, source) & (-1 if row[0] < self.options else -2)


FAULTY = [
    Unpadded(12, 3, 1.0, 3),
    RoundedUp(12, 3, 1.0, 3),
    Greedy(12, 3, 1.0, 3),
    Unclipped(12, 3, 1.0, 15, 4),
    Loud(12, 3, 1.0, 15, 4),
    Silent(12, 3, 1.0),
]


@pytest.mark.parametrize("faulty", FAULTY, ids=lambda one: type(one).__name__)
def test_planted_faults_are_found(faulty: SetMechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wrong_miniature(faulty) is not None
    # Also by single runs at another size, where nothing is enumerated.
    monkeypatch.setattr(sampled, "wrong_miniature", lambda *_: None)
    assert sv.audit(faulty, samples=100, seconds=2).verdict == "broken"


@pytest.mark.parametrize("kind", KINDS)
def test_draws_depend_on_nothing(kind: type[SetMechanism]) -> None:
    mechanism = kind.best(30, 4, 1.0, 100)
    asked = set()
    for members in ((), (3,), (0, 1, 2, 3), (26, 27, 28, 29)):
        source = ScriptedSource([1] * 200)
        mechanism.randomize(padded(members, 30, 4), source)
        asked.add(tuple(source.asked))
    assert len(asked) == 1


@pytest.mark.parametrize("mechanism", ["set_selection", "wheel", "one_option"])
def test_an_audit_through_the_survey(mechanism: str) -> None:
    survey = sv.Survey(
        sv.choices([f"option {i}" for i in range(40)], most=3), epsilon=1.0, mechanism=mechanism, people=100
    )
    found = sv.audit(survey, samples=200, seconds=0.5)
    assert (found.verdict, found.survey, found.domain_size) == ("sampled", survey.id, 40)
    assert 0.999 < found.exact_epsilon <= 1


# --- the question -------------------------------------------------------------------------------

TRAVEL = Choices(["bus", "tram", "bike", "car"], 2)


def test_sets_become_rows() -> None:
    for value in (["car", "bus"], ("bus", "car"), {"bus", "car"}, frozenset({"car", "bus"}), iter(["bus", "car"])):
        assert TRAVEL.private_input(value).tolist() == [0, 3]
    assert TRAVEL.private_input(set()).tolist() == [4, 5]
    assert sorted(sorted(TRAVEL.audit_trials().value(i)) for i in range(TRAVEL.n_possible)) == sorted(
        [sorted(one) for size in range(3) for one in combinations(["bus", "tram", "bike", "car"], size)]
    )


NO_SETS = [
    "bus",
    b"bus",
    {"bus": 1},
    3,
    None,
    ["secret"],
    ["bus", "bus"],
    ["bus", 0],
    ["bus", "tram", "bike"],
    [["bus"]],
]


@pytest.mark.parametrize("value", NO_SETS, ids=str)
def test_what_is_no_set_is_refused_without_being_named(value: Any) -> None:
    for given in (lambda: TRAVEL.private_input(value), lambda: TRAVEL.people([["tram"], value])):
        with pytest.raises(ValueOutsideDomainError) as caught:
            given()
        assert not any(word in str(caught.value) for word in ("secret", "bus", "tram"))


def test_people_of_tables_of_ticks() -> None:
    ticks = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0]])
    expected = [[0, 3], [4, 5], [1, 4]]
    assert TRAVEL.people(ticks).between(0, 3).tolist() == expected
    frame = pd.DataFrame(ticks.astype(bool), columns=["bus", "tram", "bike", "car"])[["car", "bike", "tram", "bus"]]
    assert TRAVEL.people(frame).between(0, 3).tolist() == expected
    assert TRAVEL.people([["bus", "car"], [], ["tram"]]).between(0, 3).tolist() == expected
    assert TRAVEL.people(pd.Series([{"bus", "car"}, set(), {"tram"}])).between(0, 3).tolist() == expected
    for wrong in (ticks[:, :3], 2 * ticks, np.ones((2, 4))):
        with pytest.raises(ValueOutsideDomainError):
            TRAVEL.people(wrong)
    with refuses(SimulationError, "histogram"):
        TRAVEL.people_of_histogram([1, 2])


@pytest.mark.parametrize(
    ("options", "most", "field"),
    [
        (["a"], 1, "options"),
        (["a", "b"], 0, "most"),
        (["a", "b"], 3, "most"),
        ({"a": 2}, 1, "options"),
        (2**21, 2, "options"),
    ],
)
def test_questions_that_are_refused(options: Any, most: int, field: str) -> None:
    with refuses((SurveyError, DomainError), field):
        Choices(options, most)


def test_mechanisms_that_are_refused() -> None:
    with refuses(MechanismError, "most"):
        SetSelection(1000, 300, 1.0, 1)
    with refuses(SurveyError, "bins"):
        Wheel(10, 3, 1.0, 3, 1)
    with pytest.raises(ValueOutsideDomainError):
        OneOption(4, 2, 1.0).randomize((0, 5), ScriptedSource([]))
    with refuses(SurveyError, "strategy"):
        sv.Survey(sv.queries(sv.workloads.Prefix(4)), epsilon=1.0, strategy="sets")


# --- estimates ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["set_selection", "wheel", "one_option"])
def test_intervals_hold(mechanism: str) -> None:
    survey = sv.Survey(sv.choices(12, most=3), epsilon=2.0, mechanism=mechanism, people=2000)
    sets = [[0, 1, 2]] * 500 + [[0, 5]] * 700 + [[]] * 500 + [[7]] * 300
    truth = np.zeros(12)
    truth[[0, 1, 2, 5, 7]] = np.array([1200, 500, 500, 700, 300]) / 2000
    held = sums = 0
    for seed in range(60):
        estimate = survey.estimate(survey.simulate_aggregate(sets, seed=seed))
        low, high = estimate.interval()
        held += int(((low <= truth) & (truth <= high)).sum())
        total = estimate.sum([0, 1, 5])
        sums += total.low <= truth[[0, 1, 5]].sum() <= total.high
    # 720 intervals at 95 %, dependent in groups of 12; and 60 of sums.
    assert held >= 660
    assert sums >= 52


def test_a_ratio_of_shares_is_not_negative() -> None:
    survey = sv.Survey(sv.choices(["a", "b", "c"], most=2), epsilon=1.0)
    estimate = survey.estimate(survey.simulate([["a", "b"]] * 2000 + [["c"]] * 1000, seed=1))
    part, other = estimate.ratio(["a"], ["a", "c"]), estimate.ratio(["c"], ["b"])
    assert 0 <= part.low < 2 / 3 < part.high <= 1
    assert 0 <= other.low < 1 / 2 < other.high


def test_few_reports_say_little() -> None:
    survey = sv.Survey(sv.choices(50, most=50), epsilon=1.0, mechanism="one_option")
    estimate = survey.estimate(survey.simulate([[3]] * 5, seed=1))
    low, high = estimate.interval()
    nobody = estimate.raw == 0.5
    assert nobody.sum() >= 45
    assert (low[nobody] == 0).all()
    assert (high[nobody] == 1).all()
    total = estimate.sum(list(range(10)))
    assert (total.low, total.high) == (0, 10)


def test_a_hundred_thousand_options() -> None:
    survey = sv.Survey(sv.choices(10**5, most=10), epsilon=4.0, people=200)
    assert survey.mechanism.name == "wheel"
    estimate = survey.estimate(survey.simulate_aggregate([[17, 99_999]] * 2000, seed=1))
    assert set(np.argsort(-estimate.values)[:2].tolist()) == {17, 99_999}
    assert len(survey.randomize([5, 77_777])) == 4 + survey.mechanism.report_bytes <= 20


def test_projection_on_the_shares_of_sets() -> None:
    for _ in range(200):
        size = int(SEEDS.integers(1, 9))
        most = int(SEEDS.integers(1, size + 1))
        raw = SEEDS.normal(0.5, 1.0, size).round(1)  # ties and corners
        found = project_capped(raw, most)
        x = found.values
        assert (x >= 0).all()
        assert (x <= 1).all()
        assert x.sum() <= most + 1e-9
        # Optimal: no set lies farther in the direction of what is left.
        sets = [np.isin(np.arange(size), one) for k in range(most + 1) for one in combinations(range(size), k)]
        assert max(float((raw - x) @ (one - x)) for one in sets) <= 1e-9
        assert abs(found.gap - max(float((raw - x) @ (one - x)) for one in sets)) <= 1e-9


def test_an_exact_law_in_one_line() -> None:
    """P1 and P0 as the paper has them, at the rounded coins, for every set of a small mechanism."""
    mechanism = SetSelection(4, 2, 1.0, 2)
    for row in mechanism.miniature_inputs():
        for option in range(4):
            chance = sum((mechanism.probability(z, row) for z in mechanism.outputs() if option in z), Fraction(0))
            stated = mechanism.support.own if option in row else mechanism.support.other
            assert abs(chance - stated) < Fraction(1, 2**58)


def test_ratio_of_two_sets_that_both_meet_the_subset(monkeypatch: pytest.MonkeyPatch) -> None:
    right = SetSelection(40, 3, 1.0, 9)
    first, *rest = right.thresholds
    monkeypatch.setattr(SetSelection, "thresholds", (first // 3, *rest))
    # Subsets whose first common member is the first one become less likely than those that miss the set.
    wrong = SetSelection(40, 3, 1.0, 9)
    assert min(wrong._levels) == wrong._levels[0]
    assert not within_epsilon(wrong.privacy_ratio(), 1.0)
