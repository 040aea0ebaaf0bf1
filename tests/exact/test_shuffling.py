"""The certificate of a shuffled crowd: against enumeration, against itself, and against the figures in print."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from refusing import refuses
from shuffled import Channel, exact_delta, lemma_delta
from sottovoce.core.errors import SurveyError
from sottovoce.mechanisms import create
from sottovoce.surveys.amplified import Amplified
from sottovoce.theory.blanket import Blanket, PairLaw
from sottovoce.theory.shuffling import Shuffled, central_delta, central_epsilon, clones, delta_below, positive_part

WEIGHTS = (Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(5, 2))

N, LOCAL, DELTA = 100_000, 4.0, 1e-6


def blanket_of(channel: Channel) -> Blanket:
    """Every unordered pair of values, with every bystander."""
    total = sum(channel[0])
    least = [min(column) for column in zip(*channel, strict=True)]
    laws = [
        PairLaw.of(np.array([least, channel[x], channel[y], channel[z]]).T / total)
        for (x, y), z in product(combinations(range(len(channel)), 2), range(len(channel)))
    ]
    return Blanket(tuple(laws), "all pairs")


def local_epsilon(channel: Channel) -> float:
    return max(math.log(max(column) / min(column)) for column in zip(*channel, strict=True))


def randomized_response(values: int, odds: int) -> Channel:
    return tuple(tuple(odds if x == y else 1 for y in range(values)) for x in range(values))


def subset_selection(values: int, size: int, odds: int) -> Channel:
    sets = list(combinations(range(values), size))
    return tuple(tuple(odds if x in chosen else 1 for chosen in sets) for x in range(values))


def check_enclosed(channel: Channel, n: int, weights: tuple[Fraction, ...]) -> None:
    """lower <= exact <= lemma <= upper, and exact <= clones."""
    blanket, generic = blanket_of(channel), clones(local_epsilon(channel))
    for weight in weights:
        exact, lemma = exact_delta(channel, n, weight), lemma_delta(channel, n, weight)
        epsilon = math.log(weight)
        upper = central_delta(blanket, n, epsilon)
        lower = max(delta_below(law, n, epsilon) for each in blanket.laws for law in (each, each.reversed))
        assert lower <= exact * (1 + 1e-12)
        assert exact <= lemma
        assert lemma <= upper * (1 + 1e-12)
        assert exact <= central_delta(generic, n, epsilon) * (1 + 1e-12)


KNOWN = [randomized_response(2, 3), randomized_response(3, 4), randomized_response(4, 9), subset_selection(4, 2, 5)]


@pytest.mark.parametrize("channel", KNOWN)
@pytest.mark.parametrize("n", [2, 5])
def test_bounds_enclose_the_exact_delta_of_known_channels(channel: Channel, n: int) -> None:
    check_enclosed(channel, n, WEIGHTS)


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    values, reports = draw(st.integers(2, 4)), draw(st.integers(2, 5))
    rows = [[draw(st.integers(1, 12)) for _ in range(reports)] for _ in range(values)]
    total = max(map(sum, rows))
    return tuple((*row[:-1], row[-1] + total - sum(row)) for row in rows)


@settings(max_examples=30, deadline=None)
@given(channels(), st.integers(2, 4), st.sampled_from(WEIGHTS))
def test_bounds_enclose_the_exact_delta_of_any_channel(channel: Channel, n: int, weight: Fraction) -> None:
    check_enclosed(channel, n, (weight,))


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_the_lemma_is_attained_by_ternary_randomized_response(n: int) -> None:
    channel = randomized_response(3, 4)
    for weight in WEIGHTS[:3]:
        exact = exact_delta(channel, n, weight)
        assert exact == lemma_delta(channel, n, weight)
        upper = central_delta(blanket_of(channel), n, math.log(weight))
        assert float(exact) <= upper <= float(exact) * 1.03, "what the Gaussian adds where the sum has atoms at 0"


def test_figures_for_a_hundred_values() -> None:
    """100,000 people at local epsilon 4 and delta 1e-6; the lower bound of randomized response is within 20 %."""
    most = {"randomized_response": 0.070, "subset_selection": 0.085, "hadamard": 0.083}
    for name, limit in most.items():
        found = Amplified.of(create(name, 100, LOCAL), N, DELTA)
        assert (found.method, found.epsilon <= limit) == ("blanket", True), name
        assert 0.7 * found.epsilon < found.lower <= found.epsilon
        if name == "randomized_response":
            assert found.lower >= found.epsilon / 1.2
    assert Shuffled(LOCAL, None, N).certificate(DELTA).epsilon <= 0.173, "any pure mechanism"


@settings(max_examples=5, deadline=None)
@given(
    st.sampled_from(["randomized_response", "hadamard", "subset_selection", "unary_optimized"]),
    st.floats(0.25, 6.0),
    st.integers(2, 60),
    st.integers(2, 10**8),
    st.floats(-12, -2),
)
def test_certificates_are_ordered(name: str, epsilon: float, values: int, n: int, power: float) -> None:
    """More people and more delta mean less epsilon; never above clones or the local one, never below the test."""
    mechanism, delta = create(name, values, epsilon), 10.0**power
    found = Amplified.of(mechanism, n, delta)
    generic = central_epsilon(clones(epsilon), epsilon, n, delta)
    assert 0 <= found.lower <= found.epsilon <= min(generic, epsilon)
    slack = 1 + 1e-3  # the search ends within 1e-5, and the added Gaussian depends on n
    assert Amplified.of(mechanism, 2 * n, delta).epsilon <= found.epsilon * slack
    assert Amplified.of(mechanism, n, delta / 10).epsilon >= found.epsilon / slack
    assert found.delta_at(found.epsilon) <= delta * slack


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-30, 30)), min_size=2, max_size=4), st.integers(1, 4))
def test_positive_parts_are_enclosed(law: list[tuple[int, int]], n: int) -> None:
    total = sum(weight for weight, _ in law)
    chances, values = np.array([w / total for w, _ in law]), np.array([float(v) for _, v in law])
    for mass in (1.0, 0.5):
        exact = 0.0
        for drawn in product(
            [(mass * c, v) for c, v in zip(chances, values, strict=True)] + [(1 - mass, 0.0)], repeat=n
        ):
            exact += math.prod(c for c, _ in drawn) * max(0.0, sum(v for _, v in drawn))
        low, high = positive_part(chances, values, mass, n)
        assert low <= exact * (1 + 1e-9) + 1e-280
        assert exact <= high * (1 + 1e-9)
        assert high - low <= 0.02 * math.sqrt(n) * np.abs(values).max(), "both ends are near"


def test_a_hundred_million_people() -> None:
    """As few operations as for a hundred thousand: nothing grows with n."""
    found = Amplified.of(create("randomized_response", 100, LOCAL), 10**8, DELTA)
    assert found.epsilon / 1.01 < found.lower <= found.epsilon < 0.0016


PANEL = sv.Panel(["yes", "no"], rounds=4, epsilon=1.0)
SURVEY = sv.Survey(sv.shares(["yes", "no", "perhaps"]), epsilon=1.0, mechanism="randomized_response")


@pytest.mark.parametrize(
    ("ask", "field"),
    [
        (lambda: SURVEY.amplified(people=1, delta=1e-6), "people"),
        (lambda: SURVEY.amplified(people=True, delta=1e-6), "people"),
        (lambda: SURVEY.amplified(people=100, delta=0), "delta"),
        (lambda: SURVEY.amplified(people=100, delta=1.0), "delta"),
        (lambda: SURVEY.amplified(delta=1e-6), "people"),
        (lambda: SURVEY.amplified(people=100), "delta"),
        (
            lambda: sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian").amplified(
                people=100, delta=1e-6
            ),
            "mechanism",
        ),
        (
            lambda: sv.adaptive.round_of(PANEL, 1, "value == 'yes'").amplified(people=9, delta=1e-6),
            None,
        ),
        (lambda: PANEL.amplified(people=9, delta=1e-6), None),
        (lambda: sv.compose([], delta=1e-6), "certificates"),
        (lambda: sv.compose(SURVEY.amplified(people=100, delta=1e-6), delta=0), "delta"),
    ],
)
def test_refusals(ask: Callable[[], object], field: str | None) -> None:
    with refuses(SurveyError, field):
        ask()


def test_a_survey_with_a_relay_needs_no_numbers() -> None:
    relay = sv.Relay("https://relay.example.org", least=10_000, delta=1e-7)
    once = sv.Survey.of_design(SURVEY.question, SURVEY.design, SURVEY.title, relay=relay)
    tracking = sv.Tracking(
        sv.questions.Shares(["yes", "no", "perhaps"]),
        epsilon=1.0,
        every="week",
        starts="2027-01-04",
        periods=4,
        mechanism="randomized_response",
    )
    found = once.amplified()
    assert (found.n, found.delta) == (10_000, 1e-7)
    assert found == SURVEY.amplified(people=10_000, delta=1e-7) == tracking.amplified(people=10_000, delta=1e-7)
    assert found == tracking.period(2).amplified(people=10_000, delta=1e-7)
    assert once.amplified(people=20_000).epsilon < found.epsilon
    assert "10,000 answers" in found.assumption
    assert found.to_dict()["epsilon"] == found.epsilon
    assert str(found).startswith("local epsilon 1 on the device; central epsilon 0.0")
