"""The exact sampler: its coins by every sequence of draws, its rejections given those coins, then whole laws.

Alpha: each Pearson test rejects a correct sampler with probability 1e-9; there are twelve.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, norm

import sottovoce.randomness.discrete_gaussian as sampler
from sottovoce.randomness import ByteSource, tape_source
from sottovoce.randomness.discrete_gaussian import bernoulli_exp, discrete_gaussian, discrete_laplace, sample_many
from sottovoce.randomness.scripts import Enumerator
from sottovoce.randomness.thresholds import exp_bounds

ALPHA = 1e-9
DRAWS = 12_000


class GaveUpError(Exception):
    pass


class Shallow(Enumerator):
    """An enumerator of the first draws only: it gives up before the draw after `depth`."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.depth = depth

    def below(self, n: int) -> int:
        if self._position == self.depth:
            raise GaveUpError
        return super().below(n)


def every_outcome(sampler: Callable[[Any], int], source: Enumerator) -> tuple[dict[int, Fraction], Fraction]:
    """Exact probability of every outcome, and that of giving up."""
    tally: dict[int, Fraction] = defaultdict(Fraction)
    given_up = Fraction(0)
    while True:
        try:
            outcome = sampler(source)
            tally[outcome] += source.probability
        except GaveUpError:
            given_up += source.probability
        if not source.advance():
            return tally, given_up


@pytest.mark.parametrize("gamma", ["0", "1/7", "1/2", "2/3", "1", "3/2", "2", "7/3"])
def test_bernoulli_exp_is_exact(gamma: str) -> None:
    """The truth lies between what is finished within eight draws and that plus the small unfinished rest."""
    g = Fraction(gamma)
    tally, unfinished = every_outcome(lambda source: bernoulli_exp(g.numerator, g.denominator, source), Shallow(8))
    low, high = exp_bounds(-g)
    assert sum(tally.values()) + unfinished == 1
    assert tally[True] <= high
    assert low <= tally[True] + unfinished
    assert unfinished < (Fraction(1, 1000) if g <= 1 else Fraction(1, 20))


class FirstAttempt(Enumerator):
    """Enumerates one attempt of a sampler by rejection, with its exact coins taken as given; gives up at the second."""

    TAIL = 60
    """Coins of chance 1/e in a row: more happen with probability e^-60."""

    def start(self, outcomes: list[Fraction]) -> int:
        if self._position:
            raise GaveUpError
        return self._choose(outcomes)

    def coin(self, chance: float) -> bool:
        if self._position > self.TAIL:
            return False
        return self._choose([Fraction(chance), 1 - Fraction(chance)]) == 0

    def sign(self) -> int:
        return super().below(2)

    def _choose(self, probabilities: list[Fraction]) -> int:
        total = math.lcm(*(p.denominator for p in probabilities))
        return self._take(len(probabilities), [int(p * total) for p in probabilities], total)


@pytest.mark.parametrize("scale", [1, 3, 8])
def test_discrete_laplace_is_exact_given_its_coins(scale: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One attempt's outcomes are in proportion to exp(-|k|/scale); attempts are independent, so their law is this."""

    class Source(FirstAttempt):
        def below(self, n: int) -> int:
            return self.start([Fraction(1, scale)] * scale) if n == scale else self.sign()

    monkeypatch.setattr(sampler, "bernoulli_exp", lambda n, d, source: source.coin(math.exp(-n / d)))
    tally, given_up = every_outcome(lambda source: discrete_laplace(scale, source), Source())
    total = sum(tally.values())
    assert total + given_up == 1
    for k in range(-5 * scale, 5 * scale + 1):
        expected = math.tanh(1 / (2 * scale)) * math.exp(-abs(k) / scale)
        assert float(tally[k] / total) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("variance", ["1/10", "1/2", "1", "9/2", "50"])
def test_discrete_gaussian_is_exact_given_its_coins(variance: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reach = 60
    scales = set()

    def laplace(scale: int, source: FirstAttempt) -> int:
        scales.add(scale)
        weights = [Fraction(math.exp(-abs(k) / scale)) for k in range(-reach, reach + 1)]
        total = sum(weights)
        return source.start([w / total for w in weights]) - reach

    monkeypatch.setattr(sampler, "discrete_laplace", laplace)
    monkeypatch.setattr(sampler, "bernoulli_exp", lambda n, d, source: source.coin(math.exp(-n / d)))
    tally, _ = every_outcome(lambda source: discrete_gaussian(Fraction(variance), source), FirstAttempt())
    law = exact_law(Fraction(variance))
    total = sum(tally.values())
    for k in range(-reach, reach + 1):
        assert float(tally[k] / total) == pytest.approx(law.get(k, 0.0), rel=1e-11, abs=1e-15)
    assert scales == {math.isqrt(int(Fraction(variance))) + 1}


def pearson(drawn: np.ndarray, probabilities: dict[int, float]) -> bool:
    """Whether Pearson's test accepts; outcomes expected fewer than 20 times share one cell."""
    seen = dict(zip(*(part.tolist() for part in np.unique(drawn, return_counts=True)), strict=True))
    common = {k: p * len(drawn) for k, p in probabilities.items() if p * len(drawn) >= 20}
    cells = [(seen.get(k, 0), mean) for k, mean in common.items()]
    rest = len(drawn) - sum(mean for _, mean in cells)
    if rest >= 20:
        cells.append((len(drawn) - sum(n for n, _ in cells), rest))
    statistic = sum((n - mean) ** 2 / mean for n, mean in cells)
    return bool(statistic <= chi2.isf(ALPHA, len(cells) - 1))


def exact_law(variance: Fraction) -> dict[int, float]:
    v = float(variance)
    ks = np.arange(-math.ceil(10 * math.sqrt(v)) - 5, math.ceil(10 * math.sqrt(v)) + 6)
    weights = np.exp(-(ks**2) / (2 * v))
    return dict(zip(ks.tolist(), (weights / weights.sum()).tolist(), strict=True))


@pytest.mark.parametrize("variance", ["1/10", "1/2", "1", "9/2", "100", "12345/7"])
def test_whole_law(variance: str) -> None:
    source = tape_source(np.random.default_rng(7).bytes(1 << 22))
    drawn = np.array([discrete_gaussian(Fraction(variance), source) for _ in range(DRAWS)])
    assert pearson(drawn, exact_law(Fraction(variance)))
    # Power: a standard deviation wrong by 15 % is rejected.
    if Fraction(variance) >= Fraction(1, 2):
        assert not pearson(drawn, exact_law(Fraction(variance) * Fraction(132, 100)))


@pytest.mark.parametrize("variance", [2**20, 2**53 - 1])
def test_wide_laws_by_their_quantiles(variance: int) -> None:
    """The discrete law's quantiles are the normal's within half a step, a millionth of sigma or less in all bins."""
    source = tape_source(np.random.default_rng(8).bytes(1 << 23))
    drawn = np.array([discrete_gaussian(variance, source) for _ in range(DRAWS)]) / math.sqrt(variance)
    edges = norm.ppf(np.linspace(0, 1, 41))
    bins = np.searchsorted(edges, drawn) - 1
    assert pearson(bins, dict.fromkeys(range(40), 1 / 40))
    assert not pearson(np.searchsorted(edges, drawn * 1.15) - 1, dict.fromkeys(range(40), 1 / 40))


def test_simulated_law() -> None:
    variance = 400
    drawn = sample_many(variance, (200_000,), np.random.default_rng(9))
    assert drawn.dtype == np.int64
    assert pearson(drawn, exact_law(Fraction(variance)))


def test_simulated_law_differs_by_what_its_docstring_says() -> None:
    """Exact summation: total variation 0.0202/variance, variance larger by 1/12."""
    for variance in (100, 1000):
        law, sigma = exact_law(Fraction(variance)), math.sqrt(variance)
        rounded = {k: norm.cdf((k + 0.5) / sigma) - norm.cdf((k - 0.5) / sigma) for k in law}
        distance = sum(abs(law[k] - rounded[k]) for k in law) / 2
        assert distance * variance == pytest.approx(0.0202, abs=2e-4)
        assert sum(k * k * p for k, p in rounded.items()) == pytest.approx(variance + 1 / 12, abs=1e-8)


def test_the_draws_are_pinned() -> None:
    """What bytes become which integers is part of the contract with clients in other languages."""
    position = 0

    def read(n: int) -> bytes:
        nonlocal position
        position += 1
        return hashlib.sha256(position.to_bytes(8, "little")).digest()[:n]

    source = ByteSource(read)
    assert [discrete_gaussian(2**20, source) for _ in range(6)] == [-52, -1566, -534, -572, -857, 1373]
    assert position == 152


@pytest.mark.parametrize("variance", [0, -1, Fraction(-1, 2)])
def test_a_variance_must_be_positive(variance: int | Fraction) -> None:
    with pytest.raises(ValueError, match="above 0"):
        discrete_gaussian(variance, ByteSource(bytes))
