"""What a survey of words finds, before anybody has answered: thresholds, levels, and plans of them."""

import numpy as np
import pytest
from scipy import stats

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import PlanError, SottovoceError
from sottovoce.domain.words.codes import ENDED, word_code
from sottovoce.mechanisms.hashed_prefixes import HashedPrefixes
from sottovoce.questions.words import Words
from sottovoce.strategies.words.levels import level_ends, level_rows
from sottovoce.strategies.words.prefixes import PrefixStrategy
from sottovoce.strategies.words.recall import WordRecall
from sottovoce.strategies.words.thresholds import ways_on
from sottovoce.theory.binomial import least_count
from sottovoce.theory.detection import SupportTest

LATIN = Words.of(longest=8, alphabet="latin")


def test_the_threshold_is_the_least_support_with_at_most_the_tail() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        n, chance, tail = int(10 ** rng.uniform(0, 8)), rng.uniform(1e-5, 0.5), 10 ** -rng.uniform(0.31, 12)
        least = least_count(n, chance, tail)
        assert stats.binom.sf(least - 1, n, chance) <= tail * (1 + 1e-9)
        assert least == 1 or stats.binom.sf(least - 2, n, chance) > tail * (1 - 1e-9)


def test_power_is_that_of_a_binomial_number() -> None:
    test = SupportTest(20_000, least_count(20_000, 0.125, 1e-6))
    for share in (0.01, 0.03, 0.05):
        exact = stats.binom.sf(test.least - 1, 20_000, 0.125 + share * 0.375)
        assert test.power(share, 0.5, 0.125) == pytest.approx(exact, abs=5e-3)


@pytest.mark.parametrize("code", [word_code("abc", 6), word_code("unicode", 2), word_code("bytes", 2)], ids=str)
@pytest.mark.parametrize("last", [False, True])
def test_ways_to_go_on_are_counted_as_they_are_listed(code: object, last: bool) -> None:
    for units in (1, 2):
        states = code.extensions(0, units, last=last).states
        assert ways_on(code, units, last=last) == (int((states != ENDED).sum()), int((states == ENDED).sum()))


@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_no_row_does_more_at_another_level(epsilon: float) -> None:
    code = word_code(below=2**60)
    ends = level_ends(code)
    rows = level_rows(code, ends)

    def needed(split: tuple[int, ...]) -> float:
        return WordRecall(HashedPrefixes(code.bits, epsilon, ends, split, 8, 6), code, 10**6).least_share(
            0.9, code.units
        )

    best = needed(rows)
    for giver in range(3):
        for taker in {0, 1, 2} - {giver}:
            moved = list(rows)
            moved[giver], moved[taker] = moved[giver] - 2, moved[taker] + 2
            assert needed(tuple(moved)) > best * 0.995


def test_long_words_stay_findable_and_cost_short_ones_little() -> None:
    code = word_code("unicode", 16)
    rows = level_rows(code, level_ends(code))
    assert min(rows) >= 3
    assert sum(rows[:4]) >= 0.6 * sum(rows)
    assert list(rows[1:]) == sorted(rows[1:], reverse=True)


def test_errors_are_those_of_the_reports_that_hash_the_whole_word() -> None:
    design = sv.plan(Words.of(below=2**60), epsilon=2.0, people=10**6).design
    assert isinstance(design, PrefixStrategy)
    assert design.used == pytest.approx(design.mechanism.rows[-1] / sum(design.mechanism.rows))
    shares = np.linspace(0, 1, 101)
    other, signal = float(design.mechanism.support.other), float(design.mechanism.support.signal)
    chance = other + shares * signal
    exact = chance * (1 - chance) / signal**2 / float(design.used)
    np.testing.assert_allclose(design.curve.at(shares), exact, rtol=1e-12)
    assert design.worst >= exact.max() * (1 - 1e-12)
    assert "of one word" in sv.plan(LATIN, epsilon=2.0, people=10**6).reason
    assert "up to 8 letters" in sv.plan(LATIN, epsilon=2.0, people=10**6).design.bound(10**6).statement


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0, 6.0, 8.0, 16.0])
@pytest.mark.parametrize("people", [10**3, 10**6, 10**8])
def test_more_people_and_more_epsilon_find_rarer_words(epsilon: float, people: int) -> None:
    here = sv.plan(LATIN, epsilon=epsilon, people=people)
    more = sv.plan(LATIN, epsilon=epsilon, people=4 * people)
    assert here.recall.share() >= more.recall.share()
    assert here.best.report_bytes <= 4
    assert here.design.mechanism.cells <= 2**24


def test_recall_rises_with_the_share_and_falls_with_the_length() -> None:
    recall = sv.plan(Words.of(longest=16), epsilon=2.0, people=10**6).recall
    for length in recall.lengths:
        assert (np.diff(recall.curve(length)) >= -1e-12).all()
        assert recall.probability(recall.share(0.7, length), length) == pytest.approx(0.7, abs=0.01)
    found = [recall.share(length=length) for length in recall.lengths]
    assert found == sorted(found)
    assert recall.share(length="日本語") == recall.share(length=12)
    assert recall.share() == recall.share(length=16)


def test_solved_for_people_and_for_epsilon() -> None:
    people = sv.plan(LATIN, epsilon=2.0, share=0.005)
    assert people.solved_for == "people"
    assert people.recall.share() <= 0.005
    assert sv.plan(LATIN, epsilon=2.0, people=int(people.people * 0.97)).recall.share() > 0.005
    less = sv.plan(LATIN, people=people.people, share=0.005, probability=0.5)
    assert less.solved_for == "epsilon"
    assert less.epsilon < 2.0
    assert less.recall.probability(0.005) >= 0.5


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"share": 0}, "share"),
        ({"share": 1}, "share"),
        ({"share": 1.5}, "share"),
        ({"share": "many"}, "share"),
        ({"share": True}, "share"),
        ({"share": 0.01, "probability": 1}, "probability"),
        ({"share": 0.01, "probability": 0}, "probability"),
        ({"share": 0.01, "margin": 0.01}, "share"),
        ({"share": 0.01, "periods": 4}, "share"),
        ({"share": 1e-30}, "share"),
    ],
    ids=str,
)
def test_bad_goals_are_refused(given: dict, field: str) -> None:
    with refuses(PlanError, field):
        sv.plan(LATIN, epsilon=2.0, **given)


def test_what_is_no_share_or_length_is_refused() -> None:
    recall = sv.plan(LATIN, epsilon=2.0, people=10**6).recall
    for call, field in (
        (lambda: recall.probability(0), "share"),
        (lambda: recall.probability(0.1, length=9), "length"),
        (lambda: recall.probability(0.1, length=0), "length"),
        (lambda: recall.share(length="日本"), "length"),
        (lambda: recall.share(1), "probability"),
        (lambda: sv.plan(Words.of(below=100), epsilon=1.0, people=10**5).recall.share(length=2), "length"),
        (lambda: sv.plan(sv.shares(5), epsilon=1.0, share=0.1), "share"),
    ):
        with refuses(SottovoceError, field):
            call()


def test_other_questions_have_no_recall() -> None:
    assert sv.plan(sv.shares(5), epsilon=1.0, people=1000).to_dict()["recall"] is None


def test_the_picture_has_a_line_for_every_length() -> None:
    recall = sv.plan(LATIN, epsilon=2.0, people=10**6).recall
    axes = recall.plot()
    drawn = [line for line in axes.get_lines() if line.get_label().startswith("up to")]
    assert len(drawn) == len(recall.lengths)
    assert drawn[0].get_ydata().tolist() == recall.to_dict()["lengths"][0]["probabilities"]


def test_a_word_that_fills_the_first_level_needs_no_open_prefix() -> None:
    design = sv.Survey(sv.words(16, "latin"), epsilon=2.0).design
    recall = WordRecall(design.mechanism, design.workload.code, 1_000_000)
    assert [recall.route(units) for units in (1, 3, 4, 5, 8, 16)] == [(0, 0), (0, 0), (0, 1), (1, 1), (2, 2), (3, 3)]
    assert [len(recall.tests(units, 0.01)) for units in (3, 4, 5, 16)] == [1, 1, 2, 4]
    assert recall.least_share(0.9, 3) < recall.least_share(0.9, 4) < recall.least_share(0.9, 5)
    numbers = sv.Survey(sv.words(below=2**60), epsilon=2.0).design
    assert WordRecall(numbers.mechanism, numbers.workload.code, 1_000_000).route(61) == (2, 2)


def test_integers_have_no_alphabet_length_or_case() -> None:
    assert Words.of(below=100).code.bits == 7
    for given in ({"alphabet": "latin"}, {"longest": 8}, {"case": "keep"}):
        with refuses(SottovoceError, "below"):
            Words.of(below=100, **given)
