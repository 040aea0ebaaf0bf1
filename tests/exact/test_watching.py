"""Limits that hold at every look: the probability of ever excluding the truth, exactly, and intervals of every kind."""

import math
from itertools import product

import numpy as np
import pytest

import sottovoce as sv
from listed_designs import Listed
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.strategies.laws.law import Evidence
from sottovoce.theory.tails import clopper_pearson
from sottovoce.theory.watching import PLANNED, bit_limits, bounded_limits, listed_limits, miss_of_look, strength
from sottovoce.workloads import Marginals, Prefix

MISS = 0.05


def ever_wrong(limits, chances):
    """The probability that limits of a count exclude the mean chance of the bits so far at some time.

    By dynamic programming over the count of bits, exact: what has been wrong once is taken out. The counts whose limits
    contain the target are neighbours, and move by few from one look to the next.
    """
    kept, first, last, wrong, total = np.ones(1), 0, 0, 0.0, 0.0
    for n, chance in enumerate(chances, 1):
        total += chance
        kept = np.append(kept * (1 - chance), 0.0) + np.append(0.0, kept * chance)
        near = np.unique(np.clip(np.r_[first - 3 : first + 4, last - 3 : last + 4], 0, n))
        low, high = limits(near, n)
        right = near[(low <= total / n + 1e-12) & (total / n - 1e-12 <= high)]
        first, last = int(right.min()), int(right.max())
        wrong += kept[:first].sum() + kept[last + 1 :].sum()
        kept[:first], kept[last + 1 :] = 0.0, 0.0
    return wrong


def bit(chance, _, side):
    return chance * (1 - chance), 1 - chance if side < 0 else chance


def moving(counts, n, planned):
    every = np.ones(len(counts))
    return bounded_limits(counts / n, n, bit, 0.2 * every, (0 * every, every), MISS, planned)


@pytest.mark.parametrize("chance", [0.0, 0.03, 0.5, 1.0])
def test_bits_exclude_their_chance_at_some_look_with_the_miss_at_most(chance):
    assert ever_wrong(lambda counts, n: bit_limits(counts, n, MISS, 40), [chance] * 200) <= MISS


@pytest.mark.slow
@pytest.mark.parametrize("chance", [0.002, 0.5])
def test_a_thousand_bits_exclude_their_chance_with_the_miss_at_most(chance):
    assert ever_wrong(lambda counts, n: bit_limits(counts, n, MISS, 200), [chance] * 1000) <= MISS


def test_people_who_change_are_covered_by_the_mean_of_those_so_far():
    jumping = [0.9] * 60 + [0.1] * 140
    for chances in (np.linspace(0.1, 0.9, 200), jumping):
        assert 0 < ever_wrong(lambda counts, n: moving(counts, n, 40), chances) <= MISS


def test_a_fixed_interval_shown_as_one_for_all_looks_is_noticed():
    assert ever_wrong(lambda counts, n: clopper_pearson(counts, n, MISS / 2), [0.5] * 200) > 4 * MISS


def test_bets_tuned_by_the_number_of_reports_are_noticed():
    assert ever_wrong(lambda counts, n: bit_limits(counts, n, MISS, n), [0.5] * 600) > MISS


def test_reports_of_three_values_exclude_their_mean_with_the_miss_at_most():
    """All counts up to 14 reports are gone through, with the probability that no look before was wrong."""
    numbers, chances = np.array([[-1.0, 0.25, 2.0]]), (0.5, 0.3, 0.2)
    truth = float(numbers[0] @ np.array(chances))
    kept, wrong = {(0, 0, 0): 1.0}, 0.0
    for _ in range(14):
        grown: dict[tuple[int, ...], float] = {}
        for (counts, mass), which in product(kept.items(), range(3)):
            after = tuple(count + (place == which) for place, count in enumerate(counts))
            grown[after] = grown.get(after, 0.0) + mass * chances[which]
        kept = {}
        for counts, mass in grown.items():
            low, high = listed_limits(numbers, np.array(counts), np.ones(1), 0.2, 5)
            assert low[0] <= numbers[0] @ counts / sum(counts) <= high[0]
            if low[0] <= truth <= high[0]:
                kept[counts] = mass
            else:
                wrong += mass
    assert 0.02 < wrong <= 0.2
    assert math.isclose(wrong + sum(kept.values()), 1.0)


def test_bounded_numbers_are_covered_whatever_their_law():
    """Numbers of three values with the stated variance and reach, by Bennett's bound: exact, over their sums."""
    numbers, chances = np.array([-1, 0, 1]), np.array([0.1, 0.8, 0.1])

    def spread(candidate, _, side):
        return np.full(candidate.shape, 0.2), np.full(candidate.shape, 1.0)

    kept, wrong = np.ones(1), 0.0
    for n in range(1, 81):
        kept = np.convolve(kept, chances)
        sums = np.arange(-n, n + 1)
        ends = np.full(len(sums), -1.0), np.full(len(sums), 1.0)
        low, high = bounded_limits(sums / n, n, spread, np.full(len(sums), 0.2), ends, 0.2, 20)
        out = (low > 0) | (high < 0)
        wrong += kept[out].sum()
        kept[out] = 0.0
    assert numbers @ chances == 0
    assert 0.02 < wrong <= 0.2


def test_strength_and_misses_of_looks():
    assert PLANNED / strength(PLANNED, MISS) == pytest.approx(8.21, abs=0.01)
    widths = [
        np.subtract(*bit_limits(np.array([n / 2]), n, MISS)[::-1])[0] * math.sqrt(n) for n in (10**3, 10**4, 10**5)
    ]
    assert np.array(widths) / 1.96 == pytest.approx([1.94, 1.55, 1.66], abs=0.01)
    assert sum(miss_of_look(n, MISS, 50) for n in range(1, 10**5)) <= MISS


DESIGNS = [
    (Prefix(4), "histogram", "hadamard"),
    (Prefix(4), "histogram", "subset_selection"),
    (Prefix(4), "haar", "auto"),
    (Prefix(4), "optimized", "auto"),
    (Marginals(k=1, a=2, b=2), "fourier", "auto"),
    (Marginals(k=1, a=2, b=2), "histogram", "hadamard_blocks"),
]


@pytest.mark.parametrize(("workload", "strategy", "mechanism"), DESIGNS)
def test_the_law_of_a_report_limits_its_variance_and_reach_for_every_population(workload, strategy, mechanism):
    """What limits at every look are made of, against the enumerated channel: without any limit from the counts."""
    survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=strategy, mechanism=mechanism)
    listed, rng = Listed.of(survey.design), np.random.default_rng(3)
    for rows in (np.eye(len(listed.matrix)), np.array([[1.0, *[0.0] * (len(listed.matrix) - 2), -1.0]])):
        law = survey.design.law(None if len(rows) > 1 else rows, Evidence(None, 10, 0.01, always=True))
        answers, true = rows @ listed.answers.T, rows @ listed.matrix
        bits = np.zeros(len(rows), dtype=bool) if law.bits is None else ~np.isnan(law.bits[0])
        least, most = true.min(axis=1), true.max(axis=1)
        far = np.maximum(answers.max(axis=1) - least, most - answers.min(axis=1))
        assert (bits | (far <= law.reach + 1e-9)).all()
        for people in [*np.eye(true.shape[1]), *rng.dirichlet(np.full(true.shape[1], 0.3), 10)]:
            y = true @ people
            variance = answers**2 @ (people @ listed.chances) - y**2
            for place in (y, least, (least + most) / 2):
                assert (bits | ((law.anywhere or law.curve)(place).at(y) >= variance - 1e-9)).all()


@pytest.mark.parametrize(("workload", "strategy", "mechanism"), DESIGNS)
def test_listed_reports_have_the_mean_that_is_the_raw_answer(workload, strategy, mechanism):
    survey = sv.Survey(sv.queries(workload), epsilon=1.0, strategy=strategy, mechanism=mechanism)
    one, other = (0, 1) if isinstance(workload, Prefix) else ((0, 0), (1, 0))
    people = [one] * 300 + [other] * 200
    estimate = survey.estimate(survey.simulate(people, seed=3))
    law = survey.design.law(None, Evidence(estimate.counts, 500, 0.01, always=True))
    assert law.miss == 0.01  # nothing is spent on limits that hold at one look only
    if law.listed is not None:
        assert law.listed @ np.asarray(estimate.counts) / 500 == pytest.approx(estimate.raw)
    assert (law.listed is None) == (strategy in {"haar", "fourier"} or mechanism == "subset_selection")


# --- estimates of every kind ------------------------------------------------------------------------

PLACES = ["a", "b", "c", "d"]


def _surveys(n):
    rng = np.random.default_rng(5)
    letters = rng.choice(PLACES, n).tolist()
    yield sv.Survey(sv.shares(PLACES), epsilon=1.0), letters, True
    yield sv.Survey(sv.shares(PLACES), epsilon=1.0), ["a"] * n, True
    yield sv.Survey(sv.shares([str(i) for i in range(70)]), epsilon=4.0), ["1"] * n, True
    yield sv.Survey(sv.number(0, 100), epsilon=2.0), np.zeros(n), True
    yield sv.Survey(sv.number(0, 100, wants="spread"), epsilon=1.0), rng.uniform(0, 100, n), True
    yield sv.Survey(sv.number(0, 100, wants="distribution"), epsilon=1.0), np.full(n, 100.0), True
    yield sv.Survey(sv.queries(Prefix(12)), epsilon=1.0), rng.integers(0, 12, n), True
    yield sv.Survey(sv.queries(Marginals(k=1, a=3, b=4)), epsilon=1.0), [(0, 3)] * n, None
    yield sv.Survey(sv.vector(3), epsilon=1.0), np.full((n, 3), 0.1), True
    yield sv.Survey(sv.choices(PLACES, most=2), epsilon=1.0), [["a", "b"]] * n, None
    fields = {"plan": ["free", "pro"], "place": PLACES}
    yield sv.Survey(sv.records(fields, tables=2), epsilon=1.0), [{"plan": "pro", "place": "a"}] * n, False
    yield sv.Survey(sv.words(6, "latin"), epsilon=4.0, people=100), ["tea"] * n, False


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_every_kind_of_estimate_has_intervals_that_hold_at_every_look(n):
    for survey, people, so_far in _surveys(n):
        estimate = survey.estimate(survey.simulate(people, seed=7))
        least, most = survey.answer_range
        for level in (0.5, 0.95, 0.999999):
            fixed, watched = estimate.interval(level), estimate.interval(level, always=True)
            assert (least <= watched.low).all()
            assert (watched.high <= most).all()
            certain = fixed.high - fixed.low < 1e-9
            assert (certain | (watched.low < watched.high)).all(), survey.question.kind
            inside = estimate.raw.clip(least, most)
            assert ((watched.low <= inside + 1e-12) & (inside <= watched.high + 1e-12)).all(), survey.question.kind
            together = estimate.interval(level, simultaneous=True, always=True)
            assert (together.low <= watched.low + 1e-12).all()
            assert (together.high >= watched.high - 1e-12).all()
        assert "for people who come from one population" in watched.method
        if so_far:
            low, high = estimate.interval(always="so far")
            assert (least <= low).all()
            assert (high <= most).all()
            assert (low <= high).all()
            assert "those who have answered so far" in estimate.interval(always="so far").method
        elif so_far is False:
            with refuses(SurveyError, "always"):
                estimate.interval(always="so far")


def test_shares_are_the_limits_of_their_counts():
    survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0)
    estimate = survey.estimate(survey.simulate(["yes"] * 700 + ["no"] * 300, seed=1))
    zero, one = survey.mechanism.two_outcomes
    low, high = bit_limits((estimate.raw - zero) / (one - zero) * 1000, 1000, MISS)
    interval = estimate.interval(always=True)
    assert interval.low == pytest.approx((zero + low * (one - zero)).clip(0, 1), abs=1e-9)
    assert interval.high == pytest.approx((zero + high * (one - zero)).clip(0, 1), abs=1e-9)


def test_a_watched_estimate_shows_its_intervals_in_every_form():
    survey = sv.Survey(sv.shares(PLACES), epsilon=1.0)
    estimate = survey.estimate(survey.simulate(["a"] * 700 + ["b"] * 300, seed=1))
    watched = estimate.watched()
    assert watched.watched(False).interval().low.tolist() == estimate.interval().low.tolist()
    assert watched.interval(always=False).method == estimate.interval().method
    low = estimate.interval(always=True).low.tolist()
    assert [answer.low for answer in watched] == low == [answer.low for answer in estimate.answers(always=True)]
    assert [row["low"] for row in watched.to_dict()["answers"]] == low
    assert watched.top(1)[0] == estimate.top(1, always="population")[0]
    assert estimate.summary()["always"] is None
    assert watched.summary()["always"] == "population"
    assert "at every look" in str(watched)
    fixed, shown = estimate.difference("a", "b"), watched.difference("a", "b")
    assert shown.low < fixed.low < fixed.high < shown.high
    assert "holds at every look" in shown.method
    assert "holds at every look" in estimate.watched("so far").combine({"a": 1, "b": -1}).method
    assert watched.ratio(["a"], ["a", "b"]).low < estimate.ratio(["a"], ["a", "b"]).low
    with refuses(SurveyError, "always"):
        estimate.watched("so far").ratio(["a"], ["a", "b"])


def test_figures_of_a_number_hold_at_every_look():
    survey = sv.Survey(sv.number(0, 100, wants="distribution"), epsilon=4.0)
    estimate = survey.estimate(survey.simulate(np.linspace(0, 100, 5000), seed=1))
    watched = estimate.watched()
    for answer, truth in ((watched.mean(), 50), (watched.standard_deviation(), 28.9), (watched.quantile(0.5), 50)):
        assert answer.low < truth < answer.high
        assert "holds at every look" in answer.method
    assert watched.mean().low < estimate.mean().low
    so_far = estimate.watched("so far")
    for figure in (lambda e: e.standard_deviation(), lambda e: e.quantile(0.5)):
        with refuses(SurveyError, "always"):
            figure(so_far)


@pytest.mark.parametrize("always", ["always", "", 1, 0.5, ["population"]])
def test_other_values_of_always_are_refused(always):
    survey = sv.Survey(sv.shares(PLACES), epsilon=1.0)
    estimate = survey.estimate(survey.simulate(PLACES, seed=1))
    for call in (estimate.interval, estimate.answers, estimate.top):
        with refuses(SurveyError, "always"):
            call(always=always)
    with refuses(SurveyError, "always"):
        estimate.watched(always)
