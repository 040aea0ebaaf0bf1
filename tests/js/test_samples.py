"""The channels of JavaScript where they are too large to enumerate: counts of its own draws against exact chances.

For one value, events are counted among independent reports; their exact chances are Python's. Of every event the
Clopper-Pearson interval, whose coverage is never below its level, must hold the chance. The level is such that all
events of a survey together miss with a chance below 1e-8; of fewer than twenty surveys one does with a chance below
2e-7.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
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
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.mechanisms.channel_matrix import ChannelMatrix
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.codecs import IndexCodec
from sottovoce.mechanisms.fourier import Fourier
from sottovoce.mechanisms.haar import Haar
from sottovoce.mechanisms.hierarchical import Hierarchical
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.unary import Unary
from sottovoce.strategies.fourier import FourierStrategy
from sottovoce.strategies.optimized import OptimizedStrategy
from sottovoce.strategies.trees.haar import HaarStrategy
from sottovoce.strategies.trees.hierarchical import HierarchicalStrategy
from sottovoce.workloads import Identity, Marginals, Prefix
from sottovoce.workloads.naming import value_at

ALPHA: Final = 1e-8
BUCKETS: Final = 16
SIZES: Final = (500, 100, 60, 20, 8, 4, 2)
MOST_MEMBERS: Final = 60
"""Values of a mechanism whose reports are sets: each is a draw and an event of its own."""
SEPARATED: Final = 13
"""Standard deviations: about 6.5 for the half width of an interval, as much again for the draw itself."""
LIMIT: Final = 3139872686
"""floor(2**32 e/(1 + e)): the most of 2**32 that keeps epsilon 1 against the rest."""

Events = tuple[dict[Any, Fraction], Callable[[bytes], Iterable[Any]]]
"""The exact chances of some events for a value, and which of them a report is."""


def optimized() -> Any:
    matrix = ChannelMatrix(np.array([[LIMIT, 2**32 - LIMIT], [2**32 - LIMIT, LIMIT]]), 32)
    return queries(OptimizedStrategy.of(Identity(2), 1.0, matrix, np.array([0.5, 0.5])))


def fourier() -> Any:
    return queries(FourierStrategy(Marginals({"a": 7, "b": 5, "c": 3}, k=2), Fourier(105, 1.0, (7, 5, 3), 2, tilt=4)))


def distribution(name: str) -> tuple[Any, int, int]:
    """A survey of shares over as many values as reports can tell apart, a value, and the number of reports."""
    for size in SIZES:
        survey = sv.Survey(sv.shares(size), epsilon=1.0, mechanism=name)
        is_number = isinstance(survey.mechanism.codec, IndexCodec)
        value, n = size // 4, 40_000 if is_number else 5_000
        if (is_number or size <= MOST_MEMBERS) and separation(survey, value, n) > SEPARATED:
            return survey, value, n
    pytest.fail(f"{name}: too few reports to tell two of {SIZES[-1]} values apart; draw more")


def separation(survey: Any, value: int, n: int) -> float:
    """How far counts of a value's reports are from those of another value's, in standard deviations."""
    mechanism, size = survey.mechanism, survey.mechanism.domain_size
    chances, told = events(survey, other := (value + size // 2) % size)
    found: dict[Any, Fraction] = defaultdict(Fraction)
    if isinstance(mechanism.codec, IndexCodec):
        for output in mechanism.outputs():
            for event in told(survey.tag + mechanism.encode(output)):
                found[event] += mechanism.probability(output, value)
    else:
        found.update({value: chances[other], other: chances[value]})
    pairs = [(float(found[event]), float(chances[event])) for event in found]
    return max(abs(p - q) * math.sqrt(n / max(p * (1 - p), q * (1 - q))) for p, q in pairs if 0 < max(p, q) < 1)


SURVEYS: Final[dict[str, Callable[[], tuple[Any, Any, int]]]] = {
    **{name: partial(distribution, name) for name in serving(FiniteMechanism)},
    "hierarchical": lambda: (queries(HierarchicalStrategy(Prefix(365), Hierarchical(365, 1.0, 4, 3))), 200, 20_000),
    "haar": lambda: (queries(HaarStrategy(Prefix(365), Haar(365, 1.0, 3))), 200, 20_000),
    "fourier": lambda: (fourier(), 77, 20_000),
    "matrix_channel": lambda: (optimized(), 1, 20_000),
    "codebook": lambda: (
        sv.Survey(sv.vector(100, 1.0), epsilon=2.0, mechanism="codebook"),
        np.linspace(-0.1, 0.1, 100),
        1_000,
    ),
    "binary": lambda: (sv.Survey(sv.vector(1, 1.0), epsilon=1.0, mechanism="binary"), np.array([0.3]), 20_000),
}
"""Makes each, with a value, and how many reports to draw."""


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


@pytest.mark.slow
@pytest.mark.parametrize("name", SURVEYS)
def test_events_are_as_frequent_as_python_states(client: Bridge, name: str) -> None:
    survey, value, n = SURVEYS[name]()
    is_record = bool(survey.question.field_names)
    chances, told = events(survey, value_at(survey.domain, value) if is_record else value)
    reports = client.reports(survey, [value_at(survey.domain, value) if is_record else value] * n)
    counts = Counter(event for report in reports for event in told(report))
    assert counts.keys() <= chances.keys()
    assert misses(counts, chances, n) == []
    # Power: the same reports are not taken for those of a value far from it, or of the opposite vector.
    size = getattr(survey.mechanism, "domain_size", 0)
    other = (value + size // 2) % size if size else -value
    chances, told = events(survey, value_at(survey.domain, other) if is_record else other)
    assert misses(Counter(event for report in reports for event in told(report)), chances, n) != []
