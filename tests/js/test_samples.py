"""The channels of JavaScript where they are too large to enumerate: counts of its own draws against exact chances.

For one value, events are counted among independent reports; their exact chances are Python's. Of every event the
Clopper-Pearson interval, whose coverage is never below its level, must hold the chance. The level is such that all
events of a survey together miss with a chance below 1e-8; of fewer than twenty surveys one does with a chance below
2e-7.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np
import pytest
from scipy.stats import beta

import sottovoce as sv
from js.bridge import Bridge
from js.stated import probability
from js.surveys import queries
from sottovoce.mechanisms import MECHANISMS
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.unary import Unary
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.haar import HaarStrategy
from sottovoce.strategies.hierarchical import HierarchicalStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.workloads import Identity, Marginals, Prefix

ALPHA: Final = 1e-8
BUCKETS: Final = 16
LIMIT: Final = 3139872686
"""floor(2**32 e/(1 + e)): the most of 2**32 that keeps epsilon 1 against the rest."""

Events = tuple[dict[Any, Fraction], Callable[[bytes], Iterable[Any]]]
"""The exact chances of some events for a value, and which of them a report is."""


def optimized() -> Any:
    matrix = ChannelMatrix(np.array([[LIMIT, 2**32 - LIMIT], [2**32 - LIMIT, LIMIT]]), 32)
    return queries(OptimizedStrategy.of(Identity(2), 1.0, matrix, np.array([0.5, 0.5])))


def fourier() -> Any:
    return queries(FourierStrategy(Marginals({"a": 7, "b": 5, "c": 3}, k=2), Fourier(105, 1.0, (7, 5, 3), 2, tilt=4)))


SURVEYS: Final[dict[str, tuple[Callable[[], Any], Any, int]]] = {
    **{name: (partial(sv.Survey.distribution, 500, 1.0, name), 123, 20_000) for name in MECHANISMS},
    **{
        name: (partial(sv.Survey.distribution, 60, 1.0, name), 12, 5_000)
        for name in ("subset_selection", "unary_optimized", "unary_symmetric")
    },
    "hierarchical": (lambda: queries(HierarchicalStrategy(Prefix(365), Hierarchical(365, 1.0, 4, 3))), 200, 20_000),
    "haar": (lambda: queries(HaarStrategy(Prefix(365), Haar(365, 1.0, 3))), 200, 20_000),
    "fourier": (fourier, 77, 20_000),
    "matrix_channel": (optimized, 1, 20_000),
    "codebook": (partial(sv.Survey.mean, 100, 1.0, 2.0, mechanism="codebook"), np.linspace(-0.1, 0.1, 100), 1_000),
    "binary": (partial(sv.Survey.mean, 1, 1.0, 1.0, mechanism="binary"), np.array([0.3]), 20_000),
}
"""How to make each, a value, and how many reports to draw."""


def events(survey: Any, value: Any) -> Events:
    """What to count: members of sets, nearness of directions, otherwise ranges of reports."""
    mechanism = survey.mechanism
    if isinstance(mechanism, SubsetSelection | Unary):
        return _members(mechanism, value, len(survey.tag))
    if isinstance(mechanism, Codebook):
        return _directions(survey, value)
    outputs = range(2) if mechanism.name == "binary" else list(mechanism.outputs())
    chance = {output: probability(survey, survey.tag + mechanism.encode(output), value) for output in outputs}
    assert sum(chance.values()) == 1

    def event(report: bytes) -> tuple[int, bool]:
        """A range of reports, and whether the value is one of those that make the report likely."""
        found = mechanism.decode(report[len(survey.tag) :])
        return found * BUCKETS // len(chance), chance[found] * len(chance) > 1

    chances: dict[Any, Fraction] = {}
    for output, share in chance.items():
        place = event(survey.tag + mechanism.encode(output))
        chances[place] = chances.get(place, Fraction(0)) + share
    return chances, lambda report: [event(report)]


def _members(mechanism: Any, value: int, tag: int) -> Events:
    support = mechanism._support
    chances = {v: support.own if v == value else support.other for v in range(mechanism.domain_size)}
    return chances, lambda report: mechanism.decode(report[tag:])


def _directions(survey: Any, value: Any) -> Events:
    mechanism, levels = survey.mechanism, survey.mechanism.levels
    drawn = Fraction(mechanism.candidates, 2 * mechanism.size * mechanism.rotations)
    rows = Counter(rotation * BUCKETS // mechanism.rotations for rotation in range(mechanism.rotations))
    chances: dict[Any, Fraction] = {bucket: Fraction(n, mechanism.rotations) for bucket, n in rows.items()}

    def told(report: bytes) -> list[Any]:
        rotation = mechanism.decode(report[len(survey.tag) :]) // (2 * mechanism.size)
        is_near = probability(survey, report, value) == drawn * levels.each_inside
        return [rotation * BUCKETS // mechanism.rotations, *["near"] * is_near]

    return {**chances, "near": levels.each_inside * mechanism.marked}, told


def misses(counts: Counter[Any], chances: dict[Any, Fraction], n: int) -> list[Any]:
    """Events whose Clopper-Pearson interval does not hold their chance."""
    share = ALPHA / (2 * len(chances))
    missed = []
    for event, chance in chances.items():
        k = counts[event]
        low = beta.ppf(share, k, n - k + 1) if k > 0 else 0.0
        high = beta.isf(share, k + 1, n - k) if k < n else 1.0
        missed += [] if low <= float(chance) <= high else [event]
    return missed


@pytest.mark.parametrize("name", SURVEYS)
def test_events_are_as_frequent_as_python_states(client: Bridge, name: str) -> None:
    make, value, n = SURVEYS[name]
    survey = make()
    chances, told = events(survey, value)
    reports = client.reports(survey, [value] * n)
    counts = Counter(event for report in reports for event in told(report))
    assert counts.keys() <= chances.keys()
    assert misses(counts, chances, n) == []
    # Power: the same reports are not taken for those of a value far from it, or of the opposite vector.
    size = getattr(survey.mechanism, "domain_size", 0)
    chances, told = events(survey, (value + size // 2) % size if size else -value)
    assert misses(Counter(event for report in reports for event in told(report)), chances, n) != []
