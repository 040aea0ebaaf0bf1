"""Binary response: its exact channel, its estimate, and what a hostile number can do to it."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.auditing.channel import worst_ratio
from sottovoce.core.errors import MechanismError, ReportError, SurveyError, ValueOutsideDomainError
from sottovoce.mechanisms.binary import Binary
from sottovoce.randomness import ONE, tape_source, within_epsilon
from sottovoce.randomness.scripts import row_of
from tracing import lines_run

EPSILONS = (2.0**-20, 0.25, 1.0, 4.0, 16.0)
NUMBERS = (-1.0, -0.999, -0.25, -5e-324, 0.0, 5e-324, 1e-17, 0.1, 0.5, 1.0)


def device(mechanism: Binary, number: float) -> dict[bytes, Fraction]:
    """The exact probability of both reports of one number."""
    return row_of(lambda source: mechanism.encode(mechanism.randomize(np.array([number]), source)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("radius", [1e-100, 1.0, 3.0, 1e100])
def test_the_device_does_what_it_states(epsilon: float, radius: float) -> None:
    mechanism = Binary(1, radius, epsilon, 0.0)
    for share in NUMBERS:
        row = device(mechanism, share * radius)
        assert row[b"\1"] == mechanism.probability(1, share * radius)
        assert row[b"\0"] == mechanism.probability(0, share * radius)
        assert sum(row.values()) == 1


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_pair_of_numbers_exceeds_epsilon_and_nearly_none_is_wasted(epsilon: float) -> None:
    mechanism = Binary(1, 2.5, epsilon, 0.0)
    hostile = (-2.5, 2.5, 0.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 2.5000001)
    ratio = worst_ratio({i: device(mechanism, x) for i, x in enumerate(hostile)})
    assert ratio == mechanism.probability(1, 2.5) / mechanism.probability(1, -2.5)
    assert within_epsilon(ratio, epsilon)
    assert mechanism.exact_epsilon == pytest.approx(epsilon, rel=1e-9)


def test_one_unit_more_would_be_too_much() -> None:
    """The amplitude is the largest that epsilon allows: the audit has no slack to hide in."""
    amplitude, half = Binary(1, 1.0, 1.0, 0.0).amplitude, ONE // 2
    assert within_epsilon(Fraction(half + amplitude, half - amplitude), 1.0)
    assert not within_epsilon(Fraction(half + amplitude + 1, half - amplitude - 1), 1.0)


def test_the_chance_is_odd_monotone_and_rounded_toward_a_half() -> None:
    mechanism = Binary(1, 1.0, 1.0, 0.0)
    shares = np.linspace(0.0, 1.0, 1001)
    chances = [mechanism.threshold(float(x)) for x in shares]
    assert chances == sorted(chances)
    for share, chance in zip(shares, chances, strict=True):
        assert mechanism.threshold(-float(share)) == ONE - chance
        lost = Fraction(float(share)) * mechanism.amplitude - (chance - ONE // 2)
        assert 0 <= lost < Fraction(mechanism.amplitude, 2**53) + 1


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_unbiased_with_the_stated_variance(epsilon: float) -> None:
    mechanism = Binary(1, 2.0, epsilon, 0.0)
    one = float(mechanism.estimate(np.array([1]), 1)[0])
    zero = float(mechanism.estimate(np.array([0]), 1)[0])
    for number in (-2.0, -0.3, 0.0, 1.7):
        chance = float(mechanism.probability(1, number))
        assert chance * one + (1 - chance) * zero == pytest.approx(number, abs=1e-12)
        variance = chance * one**2 + (1 - chance) * zero**2 - number**2
        assert variance == pytest.approx(mechanism.noise - number**2, rel=1e-12)
    assert mechanism.debias == pytest.approx(1 / math.tanh(epsilon / 2))
    assert mechanism.worst_total_variance == mechanism.proxy == mechanism.noise == mechanism.along


def test_simulation_follows_the_law() -> None:
    """Counts of a million draws within 6 deviations; a chance wrong by 1 % of the amplitude would be 14 away."""
    mechanism = Binary(1, 1.0, 2.0, 0.0)
    n = 1_000_000
    for number in (-1.0, 0.2, 1.0):
        bits = mechanism.randomize_many(np.full((n, 1), number), np.random.default_rng(5))
        chance = float(mechanism.probability(1, number))
        assert abs(bits.sum() - n * chance) < 6 * math.sqrt(n * chance * (1 - chance))


def test_bytes() -> None:
    mechanism = Binary(1, 1.0, 1.0, 0.0)
    assert mechanism.report_bits == 1
    assert mechanism.report_bytes == 1
    assert [mechanism.decode(bytes([b])) for b in (0, 1)] == [0, 1]
    for wrong in (b"", b"\2", b"\xff", b"\0\0"):
        with pytest.raises(ReportError):
            mechanism.decode(wrong)
    tape = (mechanism.threshold(0.5) - 1).to_bytes(8, "little")
    assert mechanism.randomize(np.array([0.5]), tape_source(tape)) == 1
    tape = mechanism.threshold(0.5).to_bytes(8, "little")
    assert mechanism.randomize(np.array([0.5]), tape_source(tape)) == 0


def test_refusals() -> None:
    with refuses(MechanismError, "dimension"):
        Binary(2, 1.0, 1.0, 0.0)
    with refuses(SurveyError, "delta"):
        Binary(1, 1.0, 1.0, 1e-6)
    with pytest.raises(ValueOutsideDomainError) as caught:
        Binary(1, 1.0, 1.0, 0.0).randomize(np.array([0.123456, 0.5]), tape_source(b""))
    assert "123456" not in str(caught.value)


def test_a_survey_of_one_mean_takes_it_by_itself() -> None:
    survey = sv.Survey(sv.vector(dimension=1, radius=2.0), epsilon=1.0)
    assert survey.mechanism.name == "binary"
    estimate = survey.estimate(survey.simulate(np.full((100_000, 1), 1.5), seed=1))
    low, high = estimate.interval(0.999999)
    assert low[0] < 1.5 < high[0]


@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_the_same_lines_run_for_every_number(radius: float) -> None:
    """A shorter way for 0, which every "no" is, would tell the true bit by its time."""
    mechanism = Binary(1, radius, 1.0, 0.0)

    def lines(number: float) -> list[tuple[str, int]]:
        return lines_run(partial(mechanism.randomize, np.array([number]), tape_source(bytes(8))))

    lines(0.0)  # what is made once is made
    first = lines(0.0)
    assert {"randomize", "clip_to_ball", "threshold"} <= {function for function, _ in first}
    for number in (-radius, -0.3, 5e-324, radius / 2, radius, 3 * radius, math.inf, math.nan):
        assert lines(number) == first


def test_the_same_lines_run_for_every_record() -> None:
    asked = sv.adaptive.round_of(sv.Panel({"age": range(100)}, rounds=1, epsilon=1.0), 1, "age < 30")
    asked.randomize({"age": 1})  # what is made once is made
    first = lines_run(partial(asked.randomize, {"age": 0}))
    for age in (29, 30, 99):
        assert lines_run(partial(asked.randomize, {"age": age})) == first
