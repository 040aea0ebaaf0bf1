"""Strategies: what they plan, what they refuse, and what they find where noise is negligible."""

from __future__ import annotations

import json
import math
from statistics import NormalDist

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.adaptive.answer import mechanism_of_choices
from sottovoce.adaptive.growing_prefixes import (
    Stage,
    detectable_frequency,
    digits_of,
    predicted_recall,
    shortest_schedules,
)
from sottovoce.adaptive.heavy_hitters import HeavyHitters
from sottovoce.adaptive.maximize import Coordinate, Maximize
from sottovoce.adaptive.quantile import Quantile, smooth_rank_error
from sottovoce.adaptive.strategy import AdaptiveStrategy
from sottovoce.core.errors import DomainError, PlanError, SessionError, SottovoceError, SurveyError
from sottovoce.expressions import Query
from sottovoce.theory.adaptive_bounds import predicted_worst_error

SURE = 16.0
"""An epsilon at which hardly anybody's answer is changed."""

PEOPLE = {"age": 2**40, "city": ["Oslo", "Rome", "Lima"], "name": sv.Domain.text(4)}


# --- planning -------------------------------------------------------------------------------


def test_a_quantile_takes_a_round_a_bit() -> None:
    for size, rounds in ((2, 1), (3, 2), (1024, 10), (1025, 11), (2**60, 60), (2**63 - 1, 63)):
        assert Quantile("value").plan(size, epsilon=1.0, people=10**8).rounds == rounds
    plan = Quantile("age", 0.25).plan(PEOPLE, epsilon=1.0, people=10**6)
    assert (plan.rounds, plan.people_per_round) == (40, 25_000)
    assert plan.error.value == pytest.approx(predicted_worst_error(40, 0.5, 1.0, 10**6))
    assert json.loads(json.dumps(plan.to_dict()))["error"]["value"] == plan.error.value


@pytest.mark.parametrize(
    ("strategy", "target"),
    [(Quantile("age"), 0.02), (HeavyHitters("name"), 0.01), (Maximize(["age", "city"]), 0.005)],
)
def test_so_many_people_are_needed_and_no_fewer(strategy: AdaptiveStrategy, target: float) -> None:
    plan = strategy.plan(PEOPLE, epsilon=1.0, people=10**7)
    needed = plan.people_needed(target)
    assert strategy.plan(PEOPLE, epsilon=1.0, people=needed).error.value <= target
    assert strategy.plan(PEOPLE, epsilon=1.0, people=int(0.98 * needed)).error.value > target
    assert len(str(needed).rstrip("0")) <= 3
    assert strategy.panel(PEOPLE, epsilon=1.0, people=10**7).rounds == plan.rounds


def test_digits_and_room_of_schedules() -> None:
    ends = [(s.start, s.stop, s.room, s.choices) for s in shortest_schedules(2, 60, 10, 2**18, 1024)[0]]
    assert ends == [
        (0, 18, 1, 2**18),
        (18, 29, 127, 127 * 2**11 + 1),
        (29, 40, 127, 127 * 2**11 + 1),
        (40, 50, 255, 255 * 2**10 + 1),
        (50, 60, 255, 255 * 2**10 + 1),
    ]
    assert shortest_schedules(2, 10, 10, 2**18, 1024) == [(Stage(0, 10, 1, 1024),)]
    words = shortest_schedules(27, 9, 10, 2**18, 1024)[0]
    assert [(s.stop, s.room) for s in words] == [(3, 1), (5, 359), (7, 359), (9, 359)]
    with refuses(PlanError, "most_choices"):
        shortest_schedules(27, 10, 10, 500, 1024)


@pytest.mark.parametrize(("base", "length", "k", "most"), [(2, 60, 10, 2**18), (2, 63, 1, 2**10), (27, 13, 50, 2**20)])
def test_every_schedule_covers_all_digits_within_its_choices(base: int, length: int, k: int, most: int) -> None:
    for stages in shortest_schedules(base, length, k, most, 1024):
        assert [s.start for s in stages] == [0, *(s.stop for s in stages[:-1])]
        assert stages[-1].stop == length
        assert all(s.choices <= most and 2 * k <= s.room <= 1024 for s in stages[1:])


def test_detectable_frequency_of_one_round_by_hand() -> None:
    # One value of frequency f among K - 1 of frequency 0, one kept: Phi((f - t)/s(f)) = 0.9 must leave 0.1 to the rest.
    choices, people = 2**10, 10_000
    mechanism = mechanism_of_choices(choices, 1.0)
    noise = math.sqrt(mechanism.variance(np.zeros(choices), people)[0])
    t = -noise * NormalDist().inv_cdf(0.1 / (choices - 1))
    found = detectable_frequency((Stage(0, 10, 1, choices),), 1.0, people, 1)
    own = np.zeros(choices)
    own[0] = found
    deviation = math.sqrt(mechanism.variance(own, people)[0])
    assert found == pytest.approx(t + deviation * NormalDist().inv_cdf(0.9), rel=1e-3)


def test_recall_is_sure_without_noise_and_rises_with_people() -> None:
    stages = shortest_schedules(2, 60, 10, 2**18, 1024)[0]
    zipf = np.arange(1, 1001) ** -1.2 / 5.5916
    recalls = [predicted_recall(zipf, stages, 2.0, n, 10) for n in (10**3, 10**4, 10**5, 10**6, 10**9)]
    assert recalls == sorted(recalls)
    assert recalls[0] < 0.1
    assert recalls[-1] > 0.999
    # All eight are kept whatever happens; one person at epsilon 0.1 says next to nothing.
    assert detectable_frequency((Stage(0, 3, 1, 8),), 1.0, 10, 8) == 0.0
    assert detectable_frequency((Stage(0, 10, 1, 1024),), 0.1, 1.0, 1) == 1.0


def test_an_even_spread_is_the_gentler_case() -> None:
    for level in (0.1, 0.5, 0.8):
        plan = Quantile("value", level).plan(2**40, epsilon=1.0, people=10**6)
        one = math.sqrt(40 / 10**6) / math.tanh(0.5) / 2
        assert one / 4 < smooth_rank_error(40, 1.0, 10**6, level) < one < plan.error.value
    assert smooth_rank_error(1, 1.0, 10**9, 0.5) == pytest.approx(0.25)


# --- refusals -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "field"),
    [
        (lambda: Quantile("age", 0.0), SurveyError, "level"),
        (lambda: Quantile("age", 1.0), SurveyError, "level"),
        (lambda: Quantile("age", math.nan), SurveyError, "level"),
        (lambda: Quantile("age", True), SurveyError, "level"),
        (lambda: Quantile("size").plan(PEOPLE, epsilon=1.0), SurveyError, "attribute"),
        (lambda: Quantile("name").plan(PEOPLE, epsilon=1.0), DomainError, "attribute"),
        (lambda: Quantile("city").panel(PEOPLE, epsilon=1.0), DomainError, "attribute"),
        (lambda: Quantile("age").plan(PEOPLE, epsilon=-1.0), SurveyError, "epsilon"),
        (lambda: Quantile("age").plan(PEOPLE, epsilon=1.0, people=0), SurveyError, "people"),
        (lambda: HeavyHitters("age", k=0), SurveyError, "k"),
        (lambda: HeavyHitters("age", k=2.5), SurveyError, "k"),  # type: ignore[arg-type]
        (lambda: HeavyHitters("age", probability=1.0), SurveyError, "probability"),
        (lambda: HeavyHitters("age", most_choices=2**21), SurveyError, "most_choices"),
        (lambda: HeavyHitters("city").plan(PEOPLE, epsilon=1.0), DomainError, "attribute"),
        (lambda: HeavyHitters("size").plan(PEOPLE, epsilon=1.0), SurveyError, "attribute"),
        (lambda: HeavyHitters("age", most_choices=16).plan(PEOPLE, epsilon=1.0), PlanError, "most_choices"),
        (lambda: Maximize([]), SurveyError, "attributes"),
        (lambda: Maximize("age"), SurveyError, "attributes"),
        (lambda: Maximize(["age", "age"]), SurveyError, "attributes"),
        (lambda: Maximize([1]), SurveyError, "attributes"),  # type: ignore[list-item]
        (lambda: Maximize(["age"], cycles=0), SurveyError, "cycles"),
        (lambda: Maximize(["age"], bins=1), SurveyError, "bins"),
        (lambda: Maximize(["age", "name"]).plan(PEOPLE, epsilon=1.0), DomainError, "attributes"),
        (lambda: Quantile("age").plan(PEOPLE, epsilon=1.0).people_needed(0.0), SurveyError, "target"),
        (lambda: Quantile("age").plan(PEOPLE, epsilon=1.0).people_needed(1e-12), PlanError, "target"),
    ],
)
def test_refused(make, error: type[SottovoceError], field: str) -> None:  # type: ignore[no-untyped-def]
    with refuses(error, field):
        make()


@pytest.mark.parametrize("strategy", [Quantile("age"), HeavyHitters("age"), Maximize(["age", "city"])])
def test_too_few_people_are_told_how_many_it_takes(strategy: AdaptiveStrategy) -> None:
    with refuses(PlanError, "people") as refusal:
        strategy.plan(PEOPLE, epsilon=0.5, people=100)
    needed = int(str(refusal.value).split("it takes ")[1].split(" people")[0].replace(",", ""))
    assert strategy.plan(PEOPLE, epsilon=0.5, people=needed).people == needed


@pytest.mark.parametrize("strategy", [Quantile("age"), HeavyHitters("age"), Maximize(["age", "city"])])
def test_a_session_of_too_few_rounds_is_left_untouched(strategy: AdaptiveStrategy) -> None:
    people = {"age": [7] * 100, "city": ["Oslo"] * 100, "name": [""] * 100}
    session = sv.Session.simulated(sv.Panel(PEOPLE, rounds=2, epsilon=SURE), people, seed=1)
    session.ask("age < 5")
    with refuses(SessionError, "session"):
        strategy.run(session)
    assert session.remaining == 1
    with refuses(SurveyError, "confidence"):
        strategy.run(session, confidence=95)  # type: ignore[call-arg]


# --- what is found --------------------------------------------------------------------------


@pytest.mark.parametrize("values", [range(-500, 500), range(1000), range(10, -10_000, -7), range(2**60, 2**60 + 9)])
@pytest.mark.parametrize("radius", [1.0, 0.25])
def test_quantiles_of_three_values(values: range, radius: float) -> None:
    # Shares 0.3, 0.4, 0.3: every answer is 0.15 from the level, and its deviation is below 0.5 / sqrt(1,300) = 0.014.
    low, middle, high = sorted((values[1], values[len(values) // 2], values[-1]))
    people = [low] * 6_000 + [middle] * 8_000 + [high] * 6_000
    rounds = (len(values) - 1).bit_length()
    survey = sv.Panel(values, rounds=rounds, epsilon=SURE, radius=radius)
    for level, true in ((0.15, low), (0.5, middle), (0.85, high)):
        found = Quantile("value", level).run(sv.Session.simulated(survey, people, seed=3))
        assert (found.value, found.empty_rounds) == (true, 0)
        assert rounds - 1 <= found.rounds <= rounds
        assert found.low <= true <= found.high
        assert found.to_dict()["level"] == level


def test_common_integers_of_an_odd_range_over_several_rounds() -> None:
    values = range(-(10**9), 10**9, 3)
    common = [values[0], values[-1], values[12345], values[2**29]]
    people = np.repeat(common, [4_000, 3_000, 2_000, 1_000])
    strategy = HeavyHitters("value", k=4, most_choices=2**10)
    survey = strategy.panel(values, epsilon=SURE, people=len(people))
    found = strategy.run(sv.Session.simulated(survey, people, seed=5))
    assert survey.rounds == found.rounds > 3
    assert found.values == common
    assert len(found) == 4
    for one, share in zip(found, (0.4, 0.3, 0.2, 0.1), strict=True):
        assert one.low <= share <= one.high
        assert abs(one.frequency - share) < 0.1
    assert json.loads(json.dumps(found.to_dict()))["found"][0]["value"] == common[0]


def test_common_texts_short_and_long_the_empty_one_too() -> None:
    words = ["", "a", "aa", "yes", "sottovoce"]
    people = [word for word, times in zip(words, (10, 8, 6, 4, 2), strict=True) for _ in range(times * 500)]
    strategy = HeavyHitters("word", k=5, most_choices=2**14)
    survey = strategy.panel({"word": sv.Domain.text(9)}, epsilon=SURE, people=len(people))
    found = strategy.run(sv.Session.simulated(survey, {"word": people}, seed=5))
    assert found.values == words
    assert found.rounds == survey.rounds > 1


def test_fewer_values_than_asked_for_are_all_listed() -> None:
    found = HeavyHitters("value", k=10).run(
        sv.Session.simulated(sv.Panel(5, rounds=1, epsilon=SURE), [0, 1, 1, 3] * 500, seed=1)
    )
    assert sorted(found.values) == [0, 1, 2, 3, 4]
    assert found.values[0] == 1
    assert {one.value for one in found if one.certain} == {0, 1, 3}, "nobody has the others"
    assert [one["certain"] for one in found.to_dict()["found"]] == [one.low > 0 for one in found]


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_prefixes_of_texts_grow_as_the_domain_says(length: int) -> None:
    domain = sv.Domain.text(length, "ab")
    digits = digits_of("value", domain)
    everybody = domain.split(np.arange(domain.size))
    for start in range(length):
        for stop in range(start + 1, length + 1):
            prefixes = sorted({text[:start] for text in domain.labels()})
            numbers = Query.from_tree(digits.next(start, stop)).evaluate(domain, everybody)
            possible = digits.possible(prefixes, start, stop)
            seen = {(text[:start], int(number)) for text, number in zip(domain.labels(), numbers, strict=True)}
            assert seen == {(prefixes[i], int(number)) for i, number in np.argwhere(possible)}
            for text, number in zip(domain.labels(), numbers, strict=True):
                assert digits.extend(text[:start], int(number), start, stop) == text[:stop]


@pytest.mark.parametrize("size", [2, 5, 37, 64])
def test_prefixes_of_integers_grow_as_the_expression_says(size: int) -> None:
    domain = sv.Domain.of(size)
    digits = digits_of("value", domain)
    for start in range(digits.length):
        for stop in range(start + 1, digits.length + 1):
            numbers = Query.from_tree(digits.next(start, stop)).evaluate(domain, {"value": np.arange(size)})
            shorter = [value >> (digits.length - start) for value in range(size)]
            prefixes = sorted(set(shorter))
            seen = {(prefix, int(number)) for prefix, number in zip(shorter, numbers, strict=True)}
            possible = digits.possible(prefixes, start, stop)
            assert seen == {(prefixes[i], int(number)) for i, number in np.argwhere(possible)}
            longer = [digits.extend(p, int(n), start, stop) for p, n in zip(shorter, numbers, strict=True)]
            assert longer == [value >> (digits.length - stop) for value in range(size)]


def test_a_first_choice_is_given_up_for_a_better_one() -> None:
    # Alone, a is the most common. Given a, x is; given x, b is.
    records = {("a", "x"): 22, ("a", "y"): 18, ("b", "x"): 30, ("c", "y"): 15, ("c", "z"): 15}
    pairs = [pair for pair, times in records.items() for _ in range(times * 300)]
    columns = {"one": [one for one, _ in pairs], "two": [two for _, two in pairs]}
    search = Maximize(["one", "two"])
    survey = search.panel({"one": ["a", "b", "c"], "two": ["x", "y", "z"]}, epsilon=SURE, people=len(pairs))
    found = search.run(sv.Session.simulated(survey, columns, seed=2))
    assert found.query == "one == 'b' and two == 'x'"
    assert (found.settled, found.rounds, survey.rounds) == (True, 4, 6)
    assert found.low <= 0.3 <= found.high
    assert found.frequency == pytest.approx(0.3, abs=0.05)
    early = Maximize(["one", "two"], cycles=1).run(sv.Session.simulated(survey, columns, seed=2))
    assert early.query == "one == 'a' and two == 'x'"
    assert not early.settled


def test_the_answer_can_be_asked_again() -> None:
    rng = np.random.default_rng(5)
    people = {"age": rng.integers(0, 100, 30_000), "pets": rng.integers(0, 3, 30_000)}
    people["age"][:12_000], people["pets"][:12_000] = 41, 2
    domain = sv.Domain.of({"age": 100, "pets": 3})
    search = Maximize(["age", "pets"], cycles=2, bins=10)
    found = search.run(sv.Session.simulated(search.panel(domain, epsilon=SURE, people=30_000), people, seed=1))
    assert found.conditions == ("40 <= age <= 49", "pets == 2")
    assert found.settled
    true = sv.query(found.query).evaluate(domain, domain.columns(people)).mean()
    assert found.low <= true <= found.high
    assert json.loads(json.dumps(found.to_dict()))["query"] == found.query


def test_bins_cover_a_range_without_overlap() -> None:
    for values, bins in ((range(100), 16), (range(7, -50, -3), 4), (range(2**62), 16), (range(5), 16)):
        domain = sv.Domain.of({"x": values})
        one = Coordinate.of("x", sv.Domain.of(values), bins)
        assert len(one.conditions) <= bins
        chosen = [values[0], values[-1], values[len(values) // 2], values[len(values) // 3]]
        numbers = Query.from_tree(one.number).evaluate(domain, domain.columns({"x": chosen}))
        for i, condition in enumerate(one.conditions):
            met = sv.query(condition).evaluate(domain, domain.columns({"x": chosen}))
            assert list(met) == list((numbers == i).astype(float))


@pytest.mark.parametrize("people", [0, 1, 3])
def test_rounds_that_nobody_answers_do_no_harm(people: int) -> None:
    values = {"age": [5] * people, "city": ["Rome"] * people, "name": ["ann"] * people}
    survey = sv.Panel(PEOPLE, rounds=60, epsilon=SURE)
    quantile = Quantile("age").run(sv.Session.simulated(survey, values, seed=1))
    assert quantile.empty_rounds >= 40 - people
    assert 0 <= quantile.low <= quantile.value <= quantile.high < 2**40
    for name in ("age", "name"):
        common = HeavyHitters(name, k=3).run(sv.Session.simulated(survey, values, seed=1))
        assert common.empty_rounds >= common.rounds - people
        assert common.found == () or people
    best = Maximize(["age", "city"]).run(sv.Session.simulated(survey, values, seed=1))
    assert len(best.conditions) == 2
    assert best.frequency is None or people
    assert not best.settled
