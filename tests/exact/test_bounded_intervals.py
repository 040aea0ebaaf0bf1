"""Intervals of answers whose reports take more than two values: exact coverage of small channels, width, and ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln

import sottovoce as sv
from sottovoce.estimates.intervals import Interval, Observed, certified_interval
from sottovoce.strategies.laws.enumerated import ListedReports
from sottovoce.strategies.laws.law import Evidence
from sottovoce.strategies.laws.listed import SPENT
from sottovoce.theory.tails import OWN_CENTRE


@dataclass(frozen=True)
class Channel:
    """A mean of numbers from a few reports: all that intervals ask of a design."""

    reports: ListedReports
    rows: np.ndarray
    bias_bound: float = 0.0
    measured_bias: float = 0.0

    @classmethod
    def of(cls, chances: list[list[float]], values: list[float]) -> Channel:
        """Reports by rows and values by columns; each report is read without bias, by least squares."""
        table, numbers = np.array(chances), np.array(values)
        answers = numbers @ np.linalg.pinv(table)
        assert np.allclose(answers @ table, numbers), "the mean can be read from the reports"
        return cls(ListedReports(answers[None], table, np.arange(len(table))), numbers[None])

    def law(self, weights: Any, evidence: Evidence, ends: Any = None) -> Any:
        return self.reports.law(weights, self.rows, evidence)

    def measured_answer_bias(self, weights: Any) -> float:
        return 0.0

    def sharing_factor(self, n_reports: int) -> float:
        return 1.0

    def interval(self, counts: np.ndarray, level: float) -> tuple[float, Interval]:
        """The raw answer of these counts, and its interval."""
        n = int(counts.sum())
        raw = self.reports.answers @ (counts / n)
        ends = self.rows.min(), self.rows.max()
        return float(raw[0]), certified_interval(Observed(self, raw, n, counts, *ends), level)  # type: ignore[arg-type]


def randomized(values: list[float], weight: float) -> Channel:
    """Randomized response: the own value with `weight` times the probability of any other one."""
    size = len(values)
    table = (np.ones((size, size)) + (weight - 1) * np.eye(size)) / (size - 1 + weight)
    return Channel.of(table.tolist(), values)


CHANNELS = {
    "three points": (randomized([-1.0, 0.0, 1.0], math.e), 16),
    "three uneven points": (randomized([0.0, 1.0, 10.0], math.e**2), 14),
    "four points": (randomized([0.0, 1.0, 2.0, 3.0], math.e), 6),
    "five points": (randomized([-2.0, -1.0, 0.0, 1.0, 2.0], math.e**4), 4),
}


def compositions(n: int, parts: int) -> np.ndarray:
    if parts == 1:
        return np.array([[n]])
    return np.concatenate([np.insert(compositions(n - first, parts - 1), 0, first, axis=1) for first in range(n + 1)])


def chance_of(counts: np.ndarray, law: np.ndarray) -> np.ndarray:
    """Multinomial probabilities of all counts."""
    logs = np.where(counts > 0, counts * np.log(np.where(law > 0, law, 1e-300)), 0.0)
    return np.exp(gammaln(counts.sum(axis=1) + 1) + (logs - gammaln(counts + 1)).sum(axis=1))


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_small_channels_are_covered_inside_and_at_the_ends(name: str, level: float) -> None:
    """Every count of reports, its interval, and its probability under many populations: nothing is drawn."""
    channel, n = CHANNELS[name]
    counts = compositions(n, len(channel.rows[0]))
    found = [channel.interval(each, level) for each in counts]
    raw = np.array([answer for answer, _ in found])
    low, high = (np.array([float(end[0]) for end in ends]) for ends in zip(*(i for _, i in found), strict=True))
    least, most = channel.rows.min(), channel.rows.max()
    assert (low < high).all(), "no interval is of zero width"
    assert ((low <= raw.clip(least, most)) & (raw.clip(least, most) <= high)).all()
    values = channel.rows.shape[1]
    rng = np.random.default_rng(1)
    people = [*np.eye(values), *(np.eye(values)[0] + np.eye(values)[1:]) / 2, *rng.dirichlet(np.full(values, 0.5), 20)]
    for shares in people:
        truth = float(channel.rows[0] @ shares)
        covered = (low <= truth + 1e-12) & (truth - 1e-12 <= high)
        assert chance_of(counts, channel.reports.chances @ shares)[covered].sum() >= level, (shares, truth)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_they_hold_for_these_very_people(level: float) -> None:
    """Half of the people have the least value and half another: the counts are sums of two multinomials."""
    channel, half = CHANNELS["three points"][0], 6
    parts = compositions(half, 3)
    for other in (0, 1, 2):
        laws = [chance_of(parts, channel.reports.chances[:, value]) for value in (0, other)]
        truth = float(channel.rows[0, [0, other]].mean())
        missed = 0.0
        known: dict[tuple[int, ...], bool] = {}
        for first, chance in zip(parts, laws[0], strict=True):
            for second, also in zip(parts, laws[1], strict=True):
                counts = first + second
                key = tuple(counts.tolist())
                if key not in known:
                    low, high = channel.interval(counts, level)[1]
                    known[key] = bool(low[0] <= truth + 1e-12 and truth - 1e-12 <= high[0])
                missed += 0.0 if known[key] else chance * also
        assert missed <= 1 - level


def test_limits_of_moments_are_about_the_candidate_and_their_misses_are_added() -> None:
    """What is spent on the limits of the second and the fourth moment is what they miss, at most."""
    channel, miss = CHANNELS["three uneven points"][0], 0.2
    values, counts = channel.reports.answers[0], compositions(40, 3)
    shares = np.array([0.2, 0.5, 0.3])
    law_of_reports = channel.reports.chances @ shares
    chances, truth = chance_of(counts, law_of_reports), np.array([float(channel.rows[0] @ shares)])
    second, fourth = (float((values - truth) ** power @ law_of_reports) for power in (2, 4))
    third = float(np.abs(values - truth) ** 3 @ law_of_reports)
    low_second = low_third = 0.0
    for each, chance in zip(counts, chances, strict=True):
        law = channel.law(None, Evidence(each, 40, miss))
        assert law.miss + 2 * SPENT * miss == pytest.approx(miss), "both limits are paid for"
        low_second += chance * float(law.curve(truth).at(truth)[0] < second * (1 - 1e-9))
        low_third += chance * float(law.third(truth)[0] < OWN_CENTRE * third * (1 - 1e-9))
        seen = each / 40
        for about in channel.rows[:, [0, -1]].T:
            counted = float(np.abs(values - about) ** 3 @ seen)
            assert law.third(about)[0] >= OWN_CENTRE * counted * (1 - 1e-9) or law.curve(about).at(about)[0] < float(
                (values - about) ** 2 @ seen
            ), "moments about the estimate would be too small far from it"
    assert low_second <= SPENT * miss
    assert low_third <= 2 * SPENT * miss
    assert fourth > second**2, "the reports have more than two values"


def test_a_person_about_the_own_expectation() -> None:
    """E|X - E X|^3 over E|X - m|^3 is largest for the two points of the proof."""
    w = (math.sqrt(7) - 1) / 6
    p = (1 - math.sqrt(1 - 4 * w**2)) / 2
    x = np.array([math.sqrt(1 - p), -math.sqrt(p)])
    law = np.array([p, 1 - p])
    assert np.abs(x - law @ x) ** 3 @ law / (np.abs(x) ** 3 @ law) == pytest.approx(OWN_CENTRE, rel=1e-12)
    rng = np.random.default_rng(3)
    for _ in range(200):
        points, chances, m = rng.normal(size=4), rng.dirichlet(np.full(4, 0.3)), rng.normal()
        assert np.abs(points - chances @ points) ** 3 @ chances <= OWN_CENTRE * (np.abs(points - m) ** 3 @ chances)


def test_many_reports_are_covered_as_stated() -> None:
    """Where the normal approximation is used: 200 seeded surveys; more than 22 misses at 95 % has chance 2e-4."""
    channel = randomized([-1.0, 0.0, 1.0], math.e)
    rng = np.random.default_rng(5)
    for shares in ([1.0, 0.0, 0.0], [0.3, 0.4, 0.3]):
        truth, missed = float(channel.rows[0] @ shares), 0
        for counts in rng.multinomial(4000, channel.reports.chances @ shares, size=200):
            (low,), (high,) = channel.interval(counts, 0.95)[1]
            missed += not low <= truth <= high
        assert missed <= 22


@pytest.mark.parametrize(("n", "most"), [(500, 1.42), (2_000, 1.35), (10_000, 1.16)])
def test_means_are_known_nearly_as_well_as_their_standard_error_allows(n: int, most: float) -> None:
    """Half-widths over 1.96 standard errors for uniform numbers at epsilon 1; Bernstein's took 1.57, 1.52 and 1.24."""
    survey = sv.Survey(sv.number(-1, 1), epsilon=1.0)
    rng = np.random.default_rng(n)
    widths = []
    for seed in range(5):
        answer = survey.estimate(survey.simulate(rng.uniform(-1, 1, n), seed=seed)).mean()
        widths.append((answer.high - answer.low) / 2)
    error = math.sqrt(survey.design.variance(population=np.full(65, 1 / 65), n_reports=n).value[0])
    assert 1 < np.median(widths) / (1.96 * error) < most
