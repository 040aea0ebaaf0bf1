"""Estimates of words: what is listed, what is asked for afterwards, other forms, refusals; and the numbers beneath."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SottovoceError
from sottovoce.domain.words.letters import character_units
from sottovoce.estimates.words.estimate import WordEstimate
from sottovoce.estimates.words.intervals import chosen_words, first_levels
from sottovoce.estimates.words.known_words import SharedBuckets
from sottovoce.estimates.words.search import SearchRule
from sottovoce.kernels.words import free_scores
from sottovoce.theory.binomial import least_count, limit_given_passing, limits_of_many, log_tail

PEOPLE = ["tea"] * 3000 + ["Café"] * 2000 + ["日本"] * 1500 + ["😀é"] * 1500 + ["too long"] * 2000


@pytest.fixture(scope="module")
def estimate() -> Any:
    survey = sv.Survey(sv.words(4, "unicode"), epsilon=6.0, people=500)
    return survey.estimate(survey.simulate_aggregate(PEOPLE, seed=7), rule=SearchRule(spurious=0.1))


def test_common_words_are_found_with_their_shares_whatever_their_script(estimate: Any) -> None:
    assert isinstance(estimate, WordEstimate)
    certain = {one.label: one for one in estimate.top(50) if one.certain}
    for label, share in (("tea", 0.3), ("café", 0.2), ("日本", 0.15), ("😀é", 0.15)):
        assert abs(certain[label].value - share) < 0.05
        assert 0 < certain[label].low < certain[label].high
    assert len(estimate) == len(estimate.labels()) == len(estimate.found) == len(estimate.certain)
    assert (np.diff(estimate.raw) <= 0).all()
    assert estimate.values.sum() <= 1 + 1e-12
    assert estimate.other.label == "other"
    assert abs(estimate.other.raw - 0.2) < 0.05


def test_any_word_can_be_asked_for_and_is_normalised(estimate: Any) -> None:
    assert estimate.of(" TEA ").label == "tea"
    assert estimate["Tea"] == estimate.top(1)[0]
    assert estimate["milk"] == estimate.of("milk")
    many = estimate.of_many(["tea", "milk", "CAFE\u0301"])
    assert [one.label for one in many] == ["tea", "milk", "café"]
    assert many.certain.tolist() == [True, False, True]
    assert [one == many[place] for place, one in enumerate(many)] == [True] * 3
    assert many[1:].labels == ["milk", "café"]
    assert list(many.to_pandas().columns) == ["value", "raw", "low", "high", "certain"]
    assert len(estimate.of_many([])) == 0


@pytest.fixture(scope="module")
def few_words() -> Any:
    """A listed word with moderate evidence: certain on the list, and not among very many."""
    for seed in range(200):
        survey = sv.Survey(sv.words(3, "abc"), epsilon=1.0, people=2000)
        found: Any = survey.estimate(survey.simulate_aggregate(["abc"] * 400 + ["a", "bc"] * 800, seed=seed))
        if any(one.certain and 1e-6 < one.tail < 1e-4 for one in found.found):
            return found
    raise AssertionError("no such word in 200 runs")


def test_certain_is_of_all_words_that_are_asked_for_also_of_listed_ones(few_words: Any) -> None:
    """That a listed word is nobody's has its own probability, which is not to be added to that of the asked ones."""
    one = next(one for one in few_words.found if one.certain and 1e-6 < one.tail < 1e-4)
    most = int(0.05 / one.tail)
    assert few_words.of(one.value).certain
    assert few_words.of_many([one.value] * (most // 2)).certain.all()
    assert not few_words.of_many([one.value] * (most + 1)).certain.any()


def test_certain_takes_account_of_people_in_shared_buckets(few_words: Any) -> None:
    one = next(one for one in few_words.found if one.certain and 1e-6 < one.tail < 1e-4)
    search = few_words.search
    for unknown in np.linspace(0.01, 1, 400):
        shared = search.levels[one.level].shared
        shared = replace(shared, unknown=np.full_like(shared.unknown, unknown), buckets=13)
        levels = tuple(level._replace(shared=shared) for level in search.levels)
        # The list's own opinion of the word set aside.
        listed = tuple(replace(word, certain=False) for word in search.found)
        asked = replace(few_words, search=replace(search, levels=levels, found=listed)).of(one.value, level=0.5)
        if asked.low > 0 and shared.tail(one.supporting, one.trials) > 0.05:
            assert not asked.certain
            return
    raise AssertionError("no share of unknown words makes this word doubtful")


def test_a_column_of_words_is_read_as_a_list_of_them_is(estimate: Any) -> None:
    words = ["tea", "CAFE\u0301", " tea", "日本", "a b"]
    assert estimate.of_many(np.array(words)).labels == estimate.of_many(words).labels
    assert estimate.of_many(words).labels == ["tea", "café", "tea", "日本", "a b"]


def test_what_is_no_word_is_an_error_that_names_its_place_or_left_out_on_request(estimate: Any) -> None:
    with pytest.raises(SottovoceError, match=r"position 1 .*allowed: words of 1 to 4 characters") as refused:
        estimate.of_many(["tea", "cocoa", "milk"])
    assert "cocoa" not in str(refused.value)
    assert estimate.of_many(["tea", "cocoa", "milk"], skip_invalid=True).labels == ["tea", "milk"]
    with refuses(SottovoceError, "words"):
        estimate.of_many("tea")


def test_the_interval_of_others_has_the_level_that_was_asked_for(estimate: Any) -> None:
    widths = []
    for level in (0.5, 0.95, 0.99):
        other = estimate.to_dict(level)["words"]["other"]
        widths.append(other["high"] - other["low"])
    assert widths[0] < widths[1] < widths[2]
    assert widths[1] == estimate.other.high - estimate.other.low


def test_a_single_thing_that_is_no_word_is_refused_without_a_place(estimate: Any) -> None:
    with pytest.raises(SottovoceError, match=r"^this is not a word.*; allowed: words of 1 to 4 [^;]*; one"):
        estimate.of("cocoa")
    with pytest.raises(SottovoceError) as refused:
        estimate["cocoa"]
    assert "skip_invalid" not in str(refused.value)
    assert "cocoa" not in str(refused.value)


def test_what_malicious_devices_can_do_is_said_with_the_right_nouns() -> None:
    survey = sv.Survey(sv.words(4, "bytes"), epsilon=4.0, people=500)
    many = survey.estimate(survey.simulate_aggregate([b"tea"] * 500, seed=7))
    assert "suffice to put any word of up to 1 byte on this list" in many.influence(1).statement
    assert "any word of up to 4 bytes on this list" in many.influence(1).statement
    one = survey.estimate(survey.simulate_aggregate([b"tea"], seed=7))
    assert one.influence(1).statement.startswith("1 malicious device among 1 report may move")
    assert "no word of 4 bytes can be certain" in one.influence(1).statement
    value = sv.Survey(sv.words(below=1000), epsilon=4.0, people=500)
    assert "no value can be certain" in value.estimate(value.simulate_aggregate([7], seed=7)).influence(1).statement


def test_other_forms_say_what_is_certain_and_what_malicious_devices_can_do(estimate: Any) -> None:
    found = json.loads(estimate.to_json())
    assert [one["label"] for one in found["answers"]] == estimate.labels()
    assert {type(one["certain"]) for one in found["answers"]} == {bool}
    words = found["words"]
    assert words["false_discovery"] == 0.05
    assert words["cut"] is False
    assert sorted(words["other"]) == ["high", "low", "raw", "value"]
    assert words["hostile_devices"]["shortest"]["devices"] < words["hostile_devices"]["longest"]["devices"]
    assert "malicious devices" in words["hostile_devices"]["statement"]
    assert list(estimate.to_pandas().columns) == ["value", "raw", "low", "high", "certain"]
    assert "tea" in estimate._repr_html_()
    assert "certain" in repr(estimate)
    assert "suffice to put" in str(estimate.influence(10))
    assert copy.deepcopy(estimate).labels() == estimate.labels()


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.combine({"tea": 1}),
        lambda one: one.sum(["tea"]),
        lambda one: one.difference("tea", "café"),
        lambda one: one.mean(),
        lambda one: one.histogram(),
        lambda one: one.table("tea"),
        lambda one: one.likeliest(),
        lambda one: one.interval(2.0),
        lambda one: one.interval(0.9, simultaneous=1),
        lambda one: one.survey.estimate_counts(one.counts, one.n_reports, rule=0.1),
        lambda one: one.survey.estimate_counts(one.counts, one.n_reports, progress=3),
    ],
)
def test_what_does_not_apply_is_refused(estimate: Any, ask: Any) -> None:
    with pytest.raises(SottovoceError):
        ask(estimate)


def test_a_rule_is_checked_and_changes_the_search() -> None:
    for wrong in ({"false_discovery": 0}, {"spurious": -1}, {"doubtful": True}, {"most_prefixes": 0}):
        with refuses(SottovoceError, next(iter(wrong))):
            SearchRule(**wrong)  # type: ignore[arg-type]
    survey = sv.Survey(sv.words(8, "abc"), epsilon=4.0, people=1000)
    assert len(survey.mechanism.ends) == 1
    counts = survey.simulate_aggregate(["abc"] * 500 + ["cab"] * 500, seed=7)
    with refuses(SottovoceError, "rule"):
        sv.Survey(sv.shares(2), epsilon=1.0).estimate_counts(np.zeros(2), 1, rule=SearchRule())
    steps: list[tuple[int, int]] = []
    found = survey.estimate(counts, rule=SearchRule(false_discovery=1e-9), progress=lambda *step: steps.append(step))
    assert found.summary()["words"]["false_discovery"] == 1e-9
    assert steps[-1][0] == steps[-1][1]


def test_memory_is_bounded_and_says_so() -> None:
    survey = sv.Survey(sv.words(12, "abc"), epsilon=6.0, people=2000)
    aggregate = survey.simulate_aggregate(["aaaaaaaaa", "bbbbbbbbb", "ccccccccc", "abcabcabc"] * 500, seed=7)
    wide, narrow = survey.estimate(aggregate), survey.estimate(aggregate, rule=SearchRule(most_prefixes=2))
    assert wide.summary()["words"]["cut"] is False
    assert narrow.summary()["words"]["cut"] is True
    assert narrow.summary()["words"]["prefixes_kept"][0] == 2


@pytest.mark.parametrize("n", [1, 2, 30])
def test_few_reports_find_nothing_and_break_nothing(n: int) -> None:
    survey = sv.Survey(sv.words(12, "abc"), epsilon=1.0)
    # By chance alone a word is called certain in up to one survey of twenty; here it is one of a billion.
    rule = SearchRule(false_discovery=1e-9)
    estimate: Any = survey.estimate(survey.simulate_aggregate(["abcabcabc"] * n, seed=7), rule=rule)
    assert not estimate.certain.any()
    answer = estimate.of("abcabcabc")
    assert 0 <= answer.low <= answer.high <= 1
    assert json.loads(estimate.to_json())["words"]["hostile_devices"]["statement"]
    alone: Any = survey.estimate(survey.simulate_aggregate(["abcabcabc"], seed=7))
    assert len(alone) == 0
    assert any("nothing found yet" in text.get_text() for text in alone.plot().texts)
    assert alone._repr_html_()


def test_counts_in_shards_give_the_same() -> None:
    survey = sv.Survey(sv.words(6, "abc"), epsilon=4.0, people=1000)
    aggregate = survey.simulate_aggregate(["abc"] * 1000, seed=7)

    class Shards:
        def shards(self) -> Any:
            from sottovoce.core.limits import SHARD_CELLS

            counts = aggregate.counts
            return ((k, counts[k * SHARD_CELLS :][:SHARD_CELLS]) for k in range(-(-len(counts) // SHARD_CELLS)))

    found = survey.estimate_counts(Shards(), 1000)
    assert found.to_json() == survey.estimate(aggregate).to_json()


def test_a_word_has_ended_where_no_longer_one_begins_with_it() -> None:
    """By brute force: at a level a word has ended if its prefix there is no prefix of another."""
    survey = sv.Survey(sv.words(12, "abc"), epsilon=1.0)
    code, mechanism = survey.question.code, survey.mechanism  # type: ignore[attr-defined]
    assert len(mechanism.ends) == 2
    letters = mechanism.ends[0] // code.unit_bits
    words = ["a" * length for length in range(1, 13)]
    levels = first_levels(code, mechanism, code.rows(words)).tolist()
    assert levels == [0 if length < letters else 1 for length in range(1, 13)]
    integers: Any = sv.Survey(sv.words(below=2**30), epsilon=1.0)
    rows = integers.question.code.rows([0, 2**29 - 1, 5])
    assert (
        first_levels(integers.question.code, integers.mechanism, rows).tolist()
        == [len(integers.mechanism.ends) - 1] * 3
    )
    # The last unit of this character is zero, which is not the end of the word.
    wide: Any = sv.Survey(sv.words(2, "unicode"), epsilon=1.0)
    units = character_units(0x6C00)
    assert units[-1] == 0
    ends = np.array(wide.mechanism.ends) // 5
    row = wide.question.code.rows(["\u6c00"])
    assert first_levels(wide.question.code, wide.mechanism, row)[0] == np.searchsorted(ends, len(units) + 1)


def test_other_integers_are_counted_where_codes_are_whole() -> None:
    survey = sv.Survey(sv.words(below=1000), epsilon=6.0, people=2000)
    estimate: Any = survey.estimate(survey.simulate_aggregate([7] * 1000 + [5000] * 1000, seed=7))
    assert "7" in estimate.labels()
    assert abs(estimate.other.raw - 0.5) < 0.15


def test_free_scores_are_what_a_loop_over_rows_gives() -> None:
    survey = sv.Survey(sv.words(6, "abc"), epsilon=2.0, people=500)
    mechanism: Any = survey.mechanism
    rng, words = np.random.default_rng(), ["a", "abc", "cccccc"]
    rows = survey.question.code.rows(words)  # type: ignore[attr-defined]
    shape = sum(mechanism.rows), mechanism.buckets
    supporting, trials = rng.integers(0, 9, shape).astype(np.int32), rng.integers(9, 20, shape[0])
    owners = rng.integers(-2, 2, shape).astype(np.int32)
    numbers = np.array([-1, 0, 1], dtype=np.int32)
    hits, reports = free_scores(supporting, trials, owners, mechanism.tables, rows, numbers)
    for word, row in enumerate(rows):
        counted = [0, 0]
        for at in range(shape[0]):
            bucket = mechanism.bucket(row, at)
            if owners[at, bucket] in (-1, numbers[word]):
                counted = [counted[0] + int(supporting[at, bucket]), counted[1] + int(trials[at])]
        assert [int(hits[word]), int(reports[word])] == counted


def test_binomial_tails_agree_with_sums_and_do_not_underflow() -> None:
    for n, chance in ((1, 0.3), (40, 0.05), (5000, 0.125)):
        counts = np.arange(0, n + 1, max(1, n // 40))
        expected = stats.binom.logsf(counts - 1, n, chance)
        safe = expected > -600
        np.testing.assert_allclose(log_tail(counts, n, chance)[safe], expected[safe], rtol=1e-9, atol=1e-12)
    # Below the smallest number: the sum of the logarithms of all terms.
    terms = stats.binom.logpmf(np.arange(3000, 10_001), 10_000, 0.1)
    summed = terms[0] + np.log(np.exp(terms - terms[0]).sum())
    assert abs(float(log_tail(3000, 10_000, 0.1)) - summed) < 1e-3
    least = least_count(1000, 0.1, 1e-6)
    assert stats.binom.sf(least - 1, 1000, 0.1) <= 1e-6 < stats.binom.sf(least - 2, 1000, 0.1)


def test_a_limit_given_a_threshold_solves_its_equation() -> None:
    low = limit_given_passing(np.array([600, 640]), 590, 1000, float(np.log(0.025)))
    ratio = log_tail(np.array([600, 640]), 1000, low) - log_tail(590, 1000, low)
    np.testing.assert_allclose(np.exp(ratio), 0.025, rtol=1e-6)


@pytest.mark.parametrize(("n", "chance"), [(900, 0.3), (20_000, 0.02), (1_000_000, 0.12)])
@pytest.mark.parametrize("log_probability", [np.log(0.025), np.log1p(-0.025), np.log(1e-7), np.log1p(-1e-7)])
def test_limits_of_very_many_numbers_are_those_of_each(n: int, chance: float, log_probability: float) -> None:
    rng = np.random.default_rng(7)
    trials = rng.integers(n // 8, n + 1, 6000) / 1.01  # as a design effect does
    seen = rng.binomial(trials.astype(int), chance) / 1.01
    seen[:4], trials[4:6] = (0, 1, n // 2, n // 9), (n, n // 100)
    trials, seen = np.maximum(trials, seen), np.minimum(seen, np.maximum(trials, seen))
    few = rng.choice(6000, 60)
    few[:20] = np.argsort(seen / trials)[:10].tolist() + np.argsort(seen / trials)[-10:].tolist()
    few[20:26] = range(6)
    exact = limit_given_passing(seen[few], 0, trials[few], float(log_probability))
    found = limits_of_many(seen, trials, float(log_probability))[few]
    errors = np.sqrt(chance * (1 - chance) / trials[few])
    assert (np.abs(found - exact) / errors).max() < 1e-6


def test_shared_buckets_have_the_variance_that_is_stated() -> None:
    """Simulated: words of the largest share fall into a candidate's bucket of every row."""
    rng = np.random.default_rng(7)
    shared = SharedBuckets(np.array([400, 500, 0]), np.array([0.05, 0.1, 0.1]), 40, 0.1, 0.6)
    falls = rng.poisson(1 / (np.array([0.05, 0.1]) * 40), size=(20_000, 2)) @ np.array([400 * 0.05, 500 * 0.1]) * 0.5
    assert abs(falls.var() / (900 * 0.09) - (shared.design_effect - 1)) < 0.1 * shared.design_effect
    hits = np.arange(80, 200, 20)
    seen = (rng.binomial(900, 0.1, size=20_000) + falls)[:, None] >= hits
    stated = shared.tail(hits, 900)
    assert (seen.mean(axis=0) <= stated + 6 * np.sqrt(stated / 20_000) + 3e-3).all(), "rounded up, and so at least it"
    assert (stated <= 1.6 * seen.mean(axis=0) + 0.02).all()
    least = shared.least(np.array([900, 450]), 1e-6)
    assert (shared.tail(least, np.array([900, 450])) <= 1e-6).all()
    assert (shared.tail(least - 1, np.array([900, 450])) > 1e-6).all()


def test_a_word_that_fills_the_first_level_is_found_by_the_levels_after_it_alone() -> None:
    survey = sv.Survey(sv.words(8, "latin"), epsilon=6.0, people=2000)
    mechanism, people = survey.mechanism, ["that"] * 1500 + ["the"] * 500
    counts = survey.simulate_aggregate(people, seed=1).counts.copy().reshape(-1, mechanism.buckets)
    counts[: mechanism.rows[0]] = 0  # as if nobody had answered at the first level: no prefix is kept
    found = survey.estimate_counts(counts.ravel(), int(counts.sum()))
    assert found.search.kept[0] == 0
    assert [one.label for one in found.top(2) if one.certain] == ["that", "the"]
    whole = survey.estimate(survey.simulate_aggregate(people, seed=1))
    assert whole.search.kept[0] > 0
    assert whole.labels().count("that") == 1


def test_levels_of_too_many_bits_are_refused() -> None:
    """All ways to go on are tried: of one level of 320 bits a search would fill the memory of whoever makes it."""
    stated = json.loads(sv.Survey(sv.words(16), epsilon=1.0, people=1_000).to_json())
    levels = stated["design"]["mechanism"]
    for ends in ([320], [25, *range(40, 321, 20)], [20, 45, *range(60, 321, 20)]):
        levels.update(ends=ends, rows=[3] * len(ends))
        with refuses(SottovoceError, "mechanism"):
            sv.Survey.from_json(json.dumps(stated))


def test_people_in_shared_buckets_are_reckoned_with_also_for_words_that_are_named() -> None:
    """With far more reports than were planned for, shared buckets add more than noise to a word that nobody has."""
    survey: Any = sv.Survey(sv.words(8, "abc"), epsilon=1.0, people=1000)
    people = ["".join(letters) for letters in itertools.product("ab", repeat=7)]
    estimate: Any = survey.estimate(survey.simulate_aggregate(people * 1500, seed=7))
    shared = estimate.search.levels[0].shared
    assert shared.design_effect > 2
    rows = survey.question.code.rows(["".join(letters) for letters in itertools.product("abc", repeat=8)])
    numbers = np.full(len(rows), -1, dtype=np.int32)
    hits, n = estimate.search.known.counted_many(rows, 0, numbers)
    tails, plain = shared.tail(hits, n), np.exp(log_tail(hits, n, shared.chance))
    # Named alone, a word is certain with a tail of at most a twentieth: not by the plain one.
    misled = np.flatnonzero((plain < 0.01) & (tails > 0.05) & (n > 0))[:20]
    assert len(misled) > 0
    for row in misled.tolist():
        named = chosen_words(survey.mechanism, survey.question.code, estimate.search, rows[row : row + 1], 0.95)
        assert not named.certain[0]
