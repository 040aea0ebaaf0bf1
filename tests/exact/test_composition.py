"""Composition of certificates: against enumeration, against closed forms, and against plain sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations_with_replacement, permutations

import numpy as np
import pytest
from scipy.stats import binom, norm

import sottovoce as sv
from shuffled import Channel, crowd_law
from sottovoce.mechanisms import create
from sottovoce.surveys.amplified import Amplified
from sottovoce.theory.composition import composed_epsilon


def largest_above(exceeds: Callable[[float], bool], top: float) -> float:
    low, high = 0.0, top
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if exceeds(middle) else (low, middle)
    return high


class Coin:
    """Randomized response on a bit: its curve in closed form."""

    def __init__(self, epsilon: float) -> None:
        self.local_epsilon = epsilon

    def delta_at(self, epsilon: float) -> float:
        return max(0.0, (math.exp(self.local_epsilon) - math.exp(epsilon)) / (1 + math.exp(self.local_epsilon)))

    def epsilon_at(self, delta: float) -> float:
        return largest_above(lambda epsilon: self.delta_at(epsilon) > delta, self.local_epsilon)


class Gaussian:
    """Two normal laws at this distance; k of them are one at sqrt(k) times the distance (Balle and Wang 2018)."""

    local_epsilon = 40.0

    def __init__(self, distance: float) -> None:
        self.distance = distance

    def delta_at(self, epsilon: float) -> float:
        d = self.distance
        return float(norm.cdf(d / 2 - epsilon / d) - math.exp(epsilon) * norm.cdf(-d / 2 - epsilon / d))

    def epsilon_at(self, delta: float) -> float:
        return largest_above(lambda epsilon: self.delta_at(epsilon) > delta, self.local_epsilon)


def coins_epsilon(epsilon: float, k: int, delta: float) -> float:
    heads = np.arange(k + 1)
    chances, losses = binom.pmf(heads, k, 1 / (1 + math.exp(-epsilon))), (2 * heads - k) * epsilon
    return largest_above(lambda at: chances @ -np.expm1(np.minimum(at - losses, 0)) > delta, k * epsilon)


@pytest.mark.parametrize("k", [2, 3, 10, 200])
def test_coins(k: int) -> None:
    for epsilon, delta in ((0.3, 1e-6), (0.05, 1e-3), (2.0, 1e-12)):
        exact, found = coins_epsilon(epsilon, k, delta), composed_epsilon([(Coin(epsilon), k)], delta)
        assert exact * (1 - 1e-9) <= found <= exact * 1.002, (epsilon, delta)


def test_normal_laws() -> None:
    for k in (2, 52, 2000):
        exact, found = Gaussian(0.02 * math.sqrt(k)).epsilon_at(1e-6), composed_epsilon([(Gaussian(0.02), k)], 1e-6)
        assert exact * (1 - 1e-9) <= found <= exact * 1.005
    mixed = composed_epsilon([(Gaussian(0.03), 16), (Gaussian(0.16), 1)], 1e-8)
    exact = Gaussian(0.2).epsilon_at(1e-8)
    assert exact * (1 - 1e-9) <= mixed <= exact * 1.005


TERNARY: Channel = ((4, 1, 1), (1, 4, 1), (1, 1, 4))


@pytest.mark.parametrize("k", [2, 3])
def test_never_below_enumeration_of_shuffled_crowds(k: int) -> None:
    """A crowd of four, k times: the hockey-stick divergence of products of the real laws of multisets."""
    n, delta = 4, 0.01
    found = composed_epsilon([(Amplified.of(_ternary(), n, delta).shuffled, k)], delta)
    worst = 0.0
    for others in combinations_with_replacement(range(3), n - 1):
        laws = [crowd_law(TERNARY, (*others, x), n).ravel() / 6.0**n for x in range(3)]
        for x, y in permutations(range(3), 2):
            one, other = np.ones(1), np.ones(1)
            for _ in range(k):
                one, other = np.outer(one, laws[x]).ravel(), np.outer(other, laws[y]).ravel()

            def exceeds(epsilon: float, one: np.ndarray = one, other: np.ndarray = other) -> bool:
                return float(np.maximum(one - math.exp(epsilon) * other, 0).sum()) > delta

            worst = max(worst, largest_above(exceeds, k * math.log(4)))
    assert worst <= found <= 1.1 * worst


def _ternary() -> sv.Mechanism:
    return create("randomized_response", 3, math.log(4))


def test_never_above_basic_composition_nor_the_local_sum() -> None:
    for n, delta, times in ((2, 1e-6, 30), (300, 1e-3, 2), (10**6, 1e-9, 30)):
        found = Amplified.of(create("hadamard", 10, 1.0), n, delta)
        composed = sv.compose(found, delta=delta, times=times)
        basic = times * found.shuffled.epsilon_at(delta / times)
        assert found.epsilon * (1 - 1e-4) <= composed.epsilon <= min(basic, times * 1.0)
        assert sv.compose([found], delta=delta).epsilon == found.epsilon
    assert composed.parts == 30
    assert composed.epsilon < 7 * found.epsilon, "far below 30 times one"


def test_certificates_of_different_surveys() -> None:
    one, other = (Amplified.of(create("hadamard", 10, epsilon), 10**5, 1e-6) for epsilon in (1.0, 2.0))
    mixed = sv.compose([one, other, one], delta=1e-6, times=2)
    assert sv.compose(one, delta=1e-6, times=6).epsilon < mixed.epsilon < sv.compose(other, delta=1e-6, times=6).epsilon
    assert (mixed.parts, mixed.local_epsilon) == (6, 8.0)
    assert str(mixed).endswith("6 reports of a person")
