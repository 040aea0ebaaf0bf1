"""Comparisons: exact size and coverage by enumeration of small samples, what is compared, and what is refused."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MismatchError, SurveyError, UnknownAnswerError
from sottovoce.estimates.comparison import Comparison
from sottovoce.estimates.differences import Arm, ratio_of_arms
from sottovoce.estimates.intervals import Observed, uncut_interval
from sottovoce.theory.two_arms import ArmProcess, difference_limits, lasting_p_values
from sottovoce.theory.two_samples import common_answer, holm, two_sided

YES = ["no", "yes"]
DESIGNS = [((1.0, 50), (1.0, 50)), ((1.0, 50), (1.0, 200)), ((0.5, 100), (4.0, 50)), ((4.0, 60), (4.0, 60))]
"""Epsilon and reports of both arms."""

UNEQUAL = ((4.0, 15), (4.0, 60))

SHARES = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)


def outcomes(epsilon: float) -> tuple[float, float]:
    """The two numbers that one report of a share can be."""
    return sv.Survey(sv.shares(YES), epsilon=epsilon, mechanism="randomized_response").mechanism.two_outcomes


def counted(epsilon: float, n: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """The raw answer of every count of n reports, and the probability of each."""
    zero, one = outcomes(epsilon)
    return zero + (one - zero) * np.arange(n + 1) / n, binom.pmf(np.arange(n + 1), n, (share - zero) / (one - zero))


def variance(epsilon: float):  # type: ignore[no-untyped-def]
    zero, one = outcomes(epsilon)
    return lambda y: (y - zero) * (one - y)


def size_of_test(design: tuple[tuple[float, int], tuple[float, int]], share: float, own: bool) -> float:
    """The exact chance that the 5 % test rejects where both shares are the same; `own`: variances at each answer."""
    raws, chances = zip(*(counted(*arm, share) for arm in design), strict=True)
    first, second = (grid.ravel() for grid in np.meshgrid(*raws, indexing="ij"))
    sizes = tuple(np.full(first.shape, float(n)) for _, n in design)
    spreads = variance(design[0][0]), variance(design[1][0])
    zeros, ones = np.zeros(first.shape), np.ones(first.shape)
    common = common_answer((first, second), sizes, spreads, (zeros, ones))
    at = (first.clip(0, 1), second.clip(0, 1)) if own else (common, common)
    errors = np.sqrt(spreads[0](at[0]) / sizes[0] + spreads[1](at[1]) / sizes[1])
    return float(np.outer(*chances).ravel()[two_sided(first - second, errors) <= 0.05].sum())


@pytest.mark.parametrize("design", DESIGNS)
def test_the_test_of_no_difference_has_its_size(design: tuple[tuple[float, int], tuple[float, int]]) -> None:
    assert max(size_of_test(design, share, own=False) for share in SHARES) <= 0.057


def test_few_reports_are_whole_numbers() -> None:
    """The largest size known: 25 reports against 25, the same for every epsilon, as without any noise."""
    sizes = [size_of_test(((epsilon, 25), (epsilon, 25)), 0.5, own=False) for epsilon in (0.5, 1.0, 4.0)]
    assert sizes == pytest.approx([0.0649] * 3, abs=1e-4)


def test_variances_at_each_arms_own_answer_would_be_noticed() -> None:
    assert max(size_of_test(UNEQUAL, share, own=True) for share in SHARES) > 0.09
    assert max(size_of_test(UNEQUAL, share, own=False) for share in SHARES) < 0.06


def test_the_common_answer_is_the_likeliest() -> None:
    """Over a grid of common shares, none has a larger likelihood of both counts."""
    (first, n), (second, m) = (1.0, 50), (2.0, 30)
    grid = np.linspace(0, 1, 100_001)
    for i, j in ((20, 20), (10, 4), (49, 29), (2, 0)):
        likelihood, raws = np.zeros(len(grid)), []
        for epsilon, size, count in ((first, n, i), (second, m, j)):
            zero, one = outcomes(epsilon)
            likelihood += binom.logpmf(count, size, (grid - zero) / (one - zero))
            raws.append(np.array([zero + (one - zero) * count / size]))
        found = common_answer(
            (raws[0], raws[1]),
            (np.array([n]), np.array([m])),
            (variance(first), variance(second)),
            (np.zeros(1), np.ones(1)),
        )
        assert found[0] == pytest.approx(grid[likelihood.argmax()], abs=2e-5)


@pytest.mark.parametrize("shares", [(0.5, 0.5), (0.6, 0.4), (0.9, 0.9), (0.05, 0.7), (0.0, 1.0)])
def test_ratios_hold(shares: tuple[float, float]) -> None:
    epsilon, n = 2.0, 40
    design = sv.Survey(sv.shares(YES), epsilon=epsilon, mechanism="randomized_response").design
    raw = counted(epsilon, n, 0.5)[0]
    every = []
    for value in raw:
        uncut = uncut_interval(Observed(design, np.array([1 - value, value]), n, None, 0.0, 1.0), 0.95)
        every.append(Arm(float(value), float(uncut.low[1]), float(uncut.high[1]), 0.0, ""))
    chances = [counted(epsilon, n, share)[1] for share in shares]
    held = 0.0
    for (i, first), (j, second) in itertools.product(enumerate(every), repeat=2):
        low, high, _ = ratio_of_arms(first, second, (0.0, 1.0))
        if low - 1e-4 <= shares[0] / shares[1] <= high + 1e-4:
            held += chances[0][i] * chances[1][j]
        assert high > low
    assert held >= 0.95


def arm_of(epsilon: float, raw: np.ndarray, n: int, miss: float) -> ArmProcess:
    zero, one = (np.full(raw.shape, end) for end in outcomes(epsilon))
    ends = np.zeros(raw.shape), np.ones(raw.shape)
    return ArmProcess.of_bits(zero, one, raw, np.full(raw.shape, float(n)), ends, miss, 200)


def test_a_watched_test_is_wrong_at_some_look_no_more_often_than_promised() -> None:
    """Every sequence of 40 reports of each arm, by the exact law of the counts that were never rejected."""
    epsilon, n, miss = 2.0, 40, 0.2
    for share in (0.5, 1.0):
        zero, one = outcomes(epsilon)
        chance = (share - zero) / (one - zero)
        alive, wrong = np.ones((1, 1)), 0.0
        for reports in range(1, n + 1):
            step = np.zeros((reports + 1, reports + 1))
            for (i, p), (j, q) in itertools.product(((0, 1 - chance), (1, chance)), repeat=2):
                step[i : i + reports, j : j + reports] += p * q * alive
            raw = zero + (one - zero) * np.arange(reports + 1) / reports
            first, second = (grid.ravel() for grid in np.meshgrid(raw, raw, indexing="ij"))
            p_values = lasting_p_values(
                arm_of(epsilon, first, reports, miss), arm_of(epsilon, second, reports, miss), np.zeros(first.shape)
            )
            rejected = (p_values <= miss).reshape(step.shape)
            wrong += float(step[rejected].sum())
            alive = np.where(rejected, 0.0, step)
        assert wrong <= miss


def test_watched_limits_are_where_the_p_value_is_the_miss() -> None:
    first, second = arm_of(1.0, np.array([0.62, 1.3]), 400, 0.05), arm_of(1.0, np.array([0.41, -0.2]), 900, 0.05)
    low, high = difference_limits(first, second, 0.05)
    for ends in (low, high):
        inside = np.abs(ends) < 1
        assert lasting_p_values(first, second, ends)[inside] == pytest.approx(0.05, rel=1e-4)
    assert (low < high).all()
    assert (low <= 1).all()
    assert (high <= 1).all()


def test_holm_by_hand() -> None:
    assert holm([0.04, 0.01, 0.02, 0.5]).tolist() == pytest.approx([0.08, 0.04, 0.06, 0.5])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]


# --- what is compared ----------------------------------------------------------------------------------


def estimate(question: object, values: object, seed: int, epsilon: float = 2.0, **design: object) -> sv.Estimate:
    survey = sv.Survey(question, epsilon=epsilon, title=f"arm {seed}", **design)  # type: ignore[arg-type]
    return survey.estimate(survey.simulate(values, seed=seed))


@pytest.fixture(scope="module")
def drinks() -> Comparison:
    question = sv.shares(["tea", "coffee", "water"])
    first = estimate(question, ["tea"] * 5000 + ["coffee"] * 3000 + ["water"] * 2000, 1, 1.0)
    second = estimate(question, ["tea"] * 4000 + ["coffee"] * 4000 + ["water"] * 2000, 2, 4.0)
    return sv.compare(first, second)


def test_differences_are_of_raw_answers_with_their_arms(drinks: Comparison) -> None:
    comparison = drinks
    assert [one.label for one in comparison] == ["tea", "coffee", "water"]
    for one in comparison:
        first, second = comparison.first[one.label], comparison.second[one.label]
        assert one.raw == pytest.approx(first.raw - second.raw)
        assert (one.first, one.second) == (first.value, second.value)
        assert one.low < one.value < one.high
        assert one.p_value <= one.adjusted_p_value <= 1
    assert comparison["tea"].low > 0
    assert comparison["tea"].p_value < 1e-4
    assert comparison["water"].low < 0 < comparison["water"].high


def test_all_answers_together_have_one_degree_less(drinks: Comparison) -> None:
    assert drinks.joint.degrees == 2
    assert drinks.joint.p_value < 1e-4


def test_yes_and_no_are_one_test() -> None:
    first, second = (estimate(sv.shares(YES), YES * 300 + ["yes"] * extra, extra) for extra in (1, 60))
    comparison = sv.compare(first, second)
    assert comparison["yes"].p_value == pytest.approx(comparison["no"].p_value)
    assert comparison["yes"].adjusted_p_value == pytest.approx(comparison["yes"].p_value)
    assert comparison.joint.statistic == pytest.approx(float(two_sided_size(comparison["yes"].p_value)) ** 2, rel=1e-3)


def two_sided_size(p_value: float) -> float:
    from scipy.stats import norm

    return float(norm.isf(p_value / 2))


def test_the_order_of_the_two_turns_everything_round(drinks: Comparison) -> None:
    turned = sv.compare(drinks.second, drinks.first)
    for one in drinks:
        other = turned[one.label]
        assert (other.low, other.high) == pytest.approx((-one.high, -one.low))
        assert other.p_value == pytest.approx(one.p_value)
    assert turned.joint.statistic == pytest.approx(drinks.joint.statistic)


def test_a_ratio_is_unknown_where_the_second_may_be_nobody() -> None:
    question = sv.shares(["tea", "coffee", "water"])
    first, second = (estimate(question, ["tea"] * 500 + ["coffee"] * 500, seed, 1.0) for seed in (1, 2))
    for always in (False, True):
        comparison = sv.compare(first, second, always=always)
        ratio = comparison.ratio("water")
        assert math.isnan(ratio.value)
        assert (ratio.low, ratio.high) == (0.0, math.inf)
        assert "unknown" in str(ratio)
        known = comparison.ratio("tea")
        assert known.low < 1 < known.high
        assert math.isfinite(known.high)


def test_intervals_of_every_look_are_wider(drinks: Comparison) -> None:
    lasting = sv.compare(drinks.first, drinks.second, always=True)
    watched = sv.compare(drinks.first.watched(), drinks.second)
    for one in drinks:
        wide = lasting[one.label]
        assert wide.low < one.low < one.high < wide.high
        assert wide.p_value >= one.p_value
        assert watched[one.label].low == wide.low
    assert "every look" in str(lasting)


KINDS = [
    (sv.number(0, 600, "minutes"), [10.0, 500.0] * 300, [10.0, 400.0] * 300, ["mean"], 0),
    (sv.number(0, 60, wants="spread"), [10.0, 50.0] * 300, [10.0, 40.0] * 300, ["mean"], 0),
    (sv.number(0, 60, wants="distribution", points=8), [10.0, 50.0] * 300, [10.0, 40.0] * 300, ["mean", "<= 7.5"], 0),
    (sv.choices(["a", "b", "c"], most=2), [["a"], ["a", "b"]] * 300, [["a"], ["c"]] * 300, ["a", "b"], 0),
    (
        sv.records({"country": ["DE", "FR"], "plan": ["free", "pro", "team"]}, tables=2),
        [{"country": "DE", "plan": "pro"}] * 600,
        [{"country": "FR", "plan": "pro"}, {"country": "DE", "plan": "pro"}] * 300,
        ["country=DE"],
        5,
    ),
    (sv.queries(sv.workloads.Prefix(4)), [0, 3] * 300, [0, 1] * 300, ["<= 0"], 3),
    (sv.vector(2), np.full((600, 2), 0.3), np.full((600, 2), 0.1), ["x[0]", "x[1]"], 0),
]


@pytest.mark.parametrize(
    ("question", "one", "other", "names", "degrees"), KINDS, ids=lambda kind: getattr(kind, "kind", "")
)
def test_every_kind_is_compared(question: object, one: object, other: object, names: list[str], degrees: int) -> None:
    first, second = estimate(question, one, 1), estimate(question, other, 2)
    for always in (False, True):
        comparison = sv.compare(first, second, always=always)
        assert comparison.labels()[: len(names)] == names
        for found in comparison:
            assert found.low <= found.value <= found.high
            assert 0 <= found.p_value <= found.adjusted_p_value <= 1
            assert found.unit == question.unit or found.is_share  # type: ignore[attr-defined]
        assert comparison.joint.degrees == (0 if always else degrees)
        assert comparison.to_dict()["differences"][0]["label"] == names[0]
        assert str(comparison)


def test_named_words_are_compared() -> None:
    question = sv.words(8, "latin")
    first = estimate(question, ["tea"] * 3000 + ["coffee"] * 1000, 1, 4.0, people=4000)
    second = estimate(question, ["tea"] * 2000 + ["coffee"] * 2000, 2, 4.0, people=4000)
    for always in (False, True):
        comparison = sv.compare(first, second, answers=["tea", "cocoa"], always=always)
        assert comparison["tea"].value == pytest.approx(0.25, abs=0.1)
        assert comparison["cocoa"].low < 0 < comparison["cocoa"].high
    with refuses(SurveyError, "answers"):
        sv.compare(first, second)


def test_a_comparison_has_the_forms_of_an_estimate(drinks: Comparison) -> None:
    frame = drinks.to_pandas()
    assert list(frame.index) == drinks.labels()
    assert frame.loc["tea", "p_value"] == drinks["tea"].p_value
    assert drinks.to_csv().splitlines()[0].startswith('"label","first","second","value"')
    assert drinks.to_arrow().num_rows == 3
    assert "<td>tea</td>" in drinks._repr_html_()
    assert "different people" in str(drinks)
    assert drinks.plot(k=2).axes


def test_only_named_answers_count_as_tests(drinks: Comparison) -> None:
    alone = sv.compare(drinks.first, drinks.second, answers=["water"])
    assert alone["water"].adjusted_p_value == alone["water"].p_value
    assert "tea" not in alone
    with pytest.raises(UnknownAnswerError):
        alone["tea"]


# --- what is refused -------------------------------------------------------------------------------------


def test_answers_that_differ_are_refused(drinks: Comparison) -> None:
    others = [
        sv.shares(["tea", "coffee"]),
        sv.shares(["coffee", "tea", "water"]),
        sv.choices(["tea", "coffee", "water"], most=2),
    ]
    people = [["tea", "coffee"] * 10, ["tea", "coffee"] * 10, [["tea"], ["coffee"]] * 10]
    for question, given in zip(others, people, strict=True):
        with refuses(MismatchError, "second"):
            sv.compare(drinks.first, estimate(question, given, 3))
    ends = [estimate(sv.number(0, most), [1.0, 2.0], 3) for most in (10, 20)]
    with refuses(MismatchError, "second"):
        sv.compare(*ends)


def test_estimates_that_share_people_are_refused(drinks: Comparison) -> None:
    with refuses(MismatchError, "second"):
        sv.compare(drinks.first, drinks.first)
    survey = drinks.first.survey
    again = survey.estimate(survey.simulate(["tea"] * 100, seed=9))
    with refuses(MismatchError, "second"):
        sv.compare(drinks.first, again)
    tracking = sv.Tracking(YES, epsilon=1.0, every="week", starts="2027-01-04", periods=4, renews=2)
    curve = tracking.estimate(tracking.simulate([YES * 50] * 4, seed=1))
    with refuses(MismatchError, "second") as refusal:
        sv.compare(curve[1], curve[3])
    assert "curve.difference" in str(refusal.value)


def test_bad_arguments_are_refused(drinks: Comparison) -> None:
    first, second = drinks.first, drinks.second
    for field, given, named in (
        ("first", ("tea", second), {}),
        ("second", (first, None), {}),
        ("other", (first, second, "B"), {}),
        ("answers", (first, second), {"answers": "tea"}),
        ("answers", (first, second), {"answers": []}),
        ("answers", (first, second), {"answers": ["tea", "tea"]}),
        ("answers", (first, second), {"answers": ["juice"]}),
        ("level", (first, second), {"level": 1.0}),
        ("level", (first, second), {"level": math.nan}),
        ("always", (first, second), {"always": "so far"}),
        ("always", (first, second), {"always": "never"}),
    ):
        with refuses(SurveyError, field):
            sv.compare(*given, **named)


def test_quantiles_are_refused_with_a_remedy() -> None:
    question = sv.number(0, 60, "minutes", wants="distribution", points=8)
    first, second = (estimate(question, [10.0, 50.0] * 300, seed) for seed in (1, 2))
    for name in ("median", "standard deviation"):
        with refuses(SurveyError, "answers") as refusal:
            sv.compare(first, second, answers=[name])
        assert "at or below" in str(refusal.value)


def test_a_picture_names_the_groups() -> None:
    survey = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0, title="Work", groups={"arm": ["A", "B"]})
    counts = survey.simulate_groups({"A": ["yes"] * 300, "B": ["no"] * 300}, seed=1)
    left, right = sv.compare(survey.estimate(counts), "B", "A").plot().axes
    assert [text.get_text() for text in left.get_legend().get_texts()] == ["arm B", "arm A"]
    assert right.get_title(loc="left") == "arm B less arm A"
