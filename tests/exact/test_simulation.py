"""Simulated people answer as devices do: the same for a seed however the work is cut, and by the device's exact law.

The law is tested twice: person by person, by handing the simulation's own draws to the device code; and as
a whole, by Pearson's test against `probability`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import sottovoce as sv
from sottovoce.mechanisms import FiniteMechanism, Mechanism, create, serving
from sottovoce.mechanisms.unary import Unary
from sottovoce.surveys import simulation
from sottovoce.surveys.simulation import People, chunk_size, count_reports, draw_reports, histogram_of

every_mechanism = pytest.mark.parametrize("name", serving(FiniteMechanism))


# --- the same for a seed --------------------------------------------------------------------


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of a few people, so that a few hundred make many."""
    monkeypatch.setattr(simulation, "_PEOPLE_AT_ONCE", 64)


@every_mechanism
@pytest.mark.usefixtures("small_chunks")
def test_kept_and_counted_reports_are_the_same(name: str) -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=name)
    values = np.arange(500) % 5
    kept = survey.aggregate().add(survey.simulate(values, seed=11))
    counted = survey.simulate_aggregate(values, seed=11)
    assert kept == counted
    assert counted != survey.simulate_aggregate(values, seed=12)


@every_mechanism
@pytest.mark.usefixtures("small_chunks")
def test_the_number_of_workers_does_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = create(name, 5, 1.0)
    people = People.with_values(np.arange(500) % 5)
    assert people.n > 3 * chunk_size(mechanism)
    batches, counts = [], []
    for workers in (1, 2, 5):
        monkeypatch.setattr(simulation, "_workers", lambda workers=workers: workers)
        batches.append(draw_reports(mechanism, people, 3))
        counts.append(count_reports(mechanism, people, 3))
    assert all(np.array_equal(a, b) for a, b in pairwise(batches))
    assert all(np.array_equal(a, b) for a, b in pairwise(counts))
    assert counts[0].dtype == np.int64


@every_mechanism
@pytest.mark.usefixtures("small_chunks")
def test_sorted_values_and_their_histogram_give_the_same_counts(name: str) -> None:
    survey = sv.Survey(sv.shares(6), epsilon=1.0, mechanism=name)
    histogram = np.array([130, 0, 1, 64, 0, 200])
    values = np.repeat(np.arange(6), histogram)
    assert survey.simulate_aggregate(values, seed=5) == survey.simulate_aggregate(histogram=histogram, seed=5)


@every_mechanism
@pytest.mark.usefixtures("small_chunks")
def test_every_number_of_people_around_a_chunk(name: str) -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism=name)
    chunk = chunk_size(survey.mechanism)
    longest = survey.simulate(np.arange(chunk + 1) % 5, seed=2)
    for n in (0, 1, chunk - 1, chunk, chunk + 1):
        values = np.arange(n) % 5
        reports = survey.simulate(values, seed=2)
        assert len(reports) == n == len(list(reports))
        assert survey.simulate_aggregate(values, seed=2) == survey.aggregate().add(reports)
        assert reports.batch.shape[1:] == longest.batch.shape[1:]
        assert reports.batch.dtype == longest.batch.dtype
        if n >= chunk:  # a chunk's draws depend on how many people it holds, full chunks on nothing else
            assert np.array_equal(reports.batch[:chunk], longest.batch[:chunk])


@pytest.mark.usefixtures("small_chunks")
def test_chunks_differ() -> None:
    """Each chunk has a stream of its own: the same people answer differently in another chunk."""
    mechanism = create("hadamard", 5, 1.0)
    chunk = chunk_size(mechanism)
    batch = draw_reports(mechanism, People.with_values(np.zeros(2 * chunk, dtype=np.int64)), 1)
    assert not np.array_equal(batch[:chunk], batch[chunk:])


def test_seeds() -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism="hadamard")
    values = np.zeros(200, dtype=np.int64)
    first = survey.simulate(values, seed=1).batch
    assert np.array_equal(first, survey.simulate(values, seed=np.int64(1)).batch)
    assert not np.array_equal(first, survey.simulate(values, seed=2).batch)
    assert np.array_equal(survey.simulate(values, seed=2**200).batch, survey.simulate(values, seed=2**200).batch)
    assert not np.array_equal(survey.simulate(values).batch, survey.simulate(values).batch)


@pytest.mark.usefixtures("small_chunks")
def test_progress_adds_up() -> None:
    survey = sv.Survey(sv.shares(5), epsilon=1.0, mechanism="hadamard")
    told: list[int] = []
    survey.simulate_aggregate(histogram=[100, 0, 50, 3, 1], seed=1, progress=told.append)
    assert sum(told) == 154
    assert max(told) <= 64

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        survey.simulate_aggregate(histogram=[1000] * 5, seed=1, progress=interrupt)


histograms = st.lists(st.sampled_from([0, 0, 1, 2, 5, 40]), min_size=1, max_size=12)


@settings(deadline=None)
@given(histograms, st.data())
def test_a_histogram_is_read_piece_by_piece(histogram: list[int], data: st.DataObject) -> None:
    """Any cut into pieces gives the listed values, zeros before, between and after included."""
    listed = np.repeat(np.arange(len(histogram)), histogram)
    people = People.with_histogram(np.array(histogram))
    assert people.n == len(listed)
    cuts = data.draw(st.lists(st.integers(0, people.n), max_size=6))
    edges = sorted({0, people.n, *cuts})
    pieces = [people.between(start, stop) for start, stop in pairwise(edges)]
    assert np.array_equal(np.concatenate([np.empty(0, np.int64), *pieces]), listed)


def test_a_histogram_of_a_billion_is_never_listed() -> None:
    people = People.with_histogram(np.array([0, 10**9, 0, 3 * 10**9]))
    assert people.n == 4 * 10**9
    assert people.between(10**9 - 2, 10**9 + 2).tolist() == [1, 1, 3, 3]
    assert people.between(people.n - 1, people.n).tolist() == [3]


def test_drawn_people_follow_their_frequencies() -> None:
    frequencies = np.array([0.5, 0.0, 0.25, 0.25])
    people = histogram_of(frequencies, 10**6, seed=4)
    assert people.sum() == 10**6
    assert people.dtype == np.int64
    assert people[1] == 0
    assert np.array_equal(people, histogram_of(frequencies, 10**6, seed=4))
    # Binomial counts of a million: six and a half standard deviations have a chance of 1e-10.
    deviations = np.abs(people - 10**6 * frequencies)
    assert (deviations <= 6.5 * np.sqrt(10**6 * frequencies * (1 - frequencies))).all()
    assert histogram_of(frequencies, 0, seed=4).tolist() == [0, 0, 0, 0]


# --- the device's law, person by person -----------------------------------------------------


class Recording(np.random.Generator):
    """A generator that keeps what it gave away."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.SFC64(seed))
        self.given: list[Any] = []

    def integers(self, *args: Any, **kwargs: Any) -> Any:
        drawn = super().integers(*args, **kwargs)
        self.given.append(drawn)
        return drawn


class Replay:
    """A device's source that gives out recorded draws, and sees that exactly those are asked for."""

    def __init__(self, draws: list[int]) -> None:
        self._draws = iter(draws)

    def below(self, n: int) -> int:
        drawn = next(self._draws)
        if n & (n - 1):
            assert drawn < n
        return drawn % n  # a power of two takes the low bits of a longer word

    def bernoulli(self, threshold: int) -> bool:
        return next(self._draws) < threshold

    def used_up(self) -> bool:
        return next(self._draws, None) is None


def subset_draws(mechanism: Any, contains: int, words: list[int]) -> list[int]:
    """What a device must draw to make the set the kernel makes of these words.

    A word w becomes the integer w n / 2^32 below n. The kernel replaces a member by its place in the order of
    drawing, the device by its place in increasing order.
    """
    *drawing, replacing = words
    k = mechanism.subset_size
    bounds = range(mechanism.domain_size - 1 - k, mechanism.domain_size - 1)
    drawn = [word * (bound + 1) >> 32 for word, bound in zip(drawing, bounds, strict=True)]
    members: list[int] = []
    for number, bound in zip(drawn, bounds, strict=True):
        members.append(bound if number in members else number)
    return [contains, *drawn, sorted(members).index(members[replacing * k >> 32])]


def device_draws(mechanism: Mechanism, given: list[Any]) -> Iterator[list[int]]:
    """For every person, the draws of the vectorised code in the order in which a device asks for them."""
    if mechanism.name == "subset_selection":
        contains, words = given
        for own, row in zip(contains.tolist(), words.tolist(), strict=True):
            yield subset_draws(mechanism, own, row)
    elif isinstance(mechanism, Unary):
        yield from given[0].tolist()
    else:
        yield from (list(draws) for draws in zip(*(array.tolist() for array in given), strict=True))


PERSONAL = [(2, 1.0), (3, 0.5), (5, 2.0), (16, 0.5), (17, 3.0), (100, 1.0), (1000, 2.0)]


@every_mechanism
def test_everybody_answers_as_their_device_would(name: str) -> None:
    for domain_size, epsilon in PERSONAL:
        check_person_by_person(create(name, domain_size, epsilon), people=300)


@pytest.mark.parametrize(
    ("name", "domain_size", "epsilon"),
    [
        ("hadamard", 2**40, 1.0),
        ("hadamard_blocks", 2**40, 8.0),
        ("projective_geometry", 2**40, 3.0),
        ("projective_geometry", 2**31, 16.0),
        ("randomized_response", 2**40, 16.0),
        ("subset_selection", 2**16, 8.0),
    ],
)
def test_everybody_answers_as_their_device_would_over_large_domains(
    name: str, domain_size: int, epsilon: float
) -> None:
    check_person_by_person(create(name, domain_size, epsilon), people=200)


def check_person_by_person(mechanism: Mechanism, people: int) -> None:
    rng = Recording(7)
    values = np.random.default_rng(8).integers(0, mechanism.domain_size, size=people)
    values[:4] = [0, mechanism.domain_size - 1, mechanism.domain_size // 2, 1]
    simulated = mechanism.codec.encode_many(mechanism.randomize_many(values, rng))
    draws = list(device_draws(mechanism, rng.given))
    assert len(draws) == people
    for value, drawn, row in zip(values.tolist(), draws, simulated, strict=True):
        source = Replay(drawn)
        report = mechanism.randomize(value, source)
        assert report == mechanism.decode(row.tobytes())
        assert mechanism.encode(report) == row.tobytes()
        assert source.used_up()


# --- the device's law as a whole ------------------------------------------------------------

PEOPLE = 100_000
FALSE_ALARM = 1e-9
"""Of one test; there are 112 of them, so the file gives a false alarm with a chance of about 1e-7."""


@cache
def chances(mechanism: Mechanism, value: int) -> tuple[np.ndarray, np.ndarray]:
    """All reports as integers, in increasing order, and their exact probabilities."""
    if isinstance(mechanism, Unary):
        bitmaps = np.arange(1 << mechanism.domain_size)
        own = bitmaps >> value & 1
        others = np.bitwise_count(bitmaps & ~(1 << value))
        rest = [v for v in range(mechanism.domain_size) if v != value]
        table = np.array(
            [
                [float(mechanism.probability(tuple([value] * bit + rest[:k]), value)) for k in range(len(rest) + 1)]
                for bit in (0, 1)
            ]
        )
        return bitmaps, table[own, others]
    outputs = list(mechanism.outputs())
    numbers = np.array([int.from_bytes(mechanism.encode(report), "little") for report in outputs])
    order = np.argsort(numbers)
    return numbers[order], np.array([float(mechanism.probability(r, value)) for r in outputs])[order]


def cells_of(expected: np.ndarray) -> np.ndarray:
    """A cell for every report: neighbours share one until fifty are expected in it."""
    cells, cell, total = [], 0, 0.0
    for mean in expected.tolist():
        cells.append(cell)
        total += mean
        if total >= 50:
            cell, total = cell + 1, 0.0
    numbered = np.array(cells)
    return np.minimum(numbered, cell - 1)  # what is left over joins the last full cell


def pearson(mechanism: Mechanism, value: int, seed: int) -> float:
    """The tail probability of Pearson's statistic of simulated reports against `probability`.

    With at least fifty expected in each of k cells the statistic's variance is at most one per cent above the
    2 (k - 1) of chi^2 (it adds the sum of 1/expected), so the tail of chi^2 may be used.
    """
    batch = mechanism.randomize_many(np.full(PEOPLE, value), np.random.default_rng(seed))
    rows = mechanism.codec.encode_many(batch).astype(np.int64)
    reports = rows @ (256 ** np.arange(mechanism.report_bytes))
    numbers, probabilities = chances(mechanism, value)
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-9)
    found = np.searchsorted(numbers, reports)
    assert np.array_equal(numbers[found], reports), "an impossible report"
    cells = cells_of(probabilities * PEOPLE)
    expected = np.bincount(cells, weights=probabilities) * PEOPLE
    observed = np.bincount(cells[found], minlength=len(expected))
    assert expected.min() >= 50
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(expected) - 1))


@every_mechanism
@pytest.mark.parametrize("domain_size", [2, 5, 16, 17])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_simulated_reports_follow_the_stated_law(name: str, domain_size: int, epsilon: float) -> None:
    mechanism = create(name, domain_size, epsilon)
    for value in (0, domain_size - 1):
        assert pearson(mechanism, value, seed=100 + value) > FALSE_ALARM


@every_mechanism
def test_a_threshold_wrong_by_three_per_cent_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The power of the test above, on the very mechanisms it passes."""
    mechanism = create(name, 5, 2.0)
    honest = chances(mechanism, 0)
    if isinstance(mechanism, Unary):
        wrong = int(mechanism.own_threshold * 1.03)
        monkeypatch.setattr(type(mechanism), "own_threshold", property(lambda self: wrong))
    else:
        # Whatever holds the threshold: the two levels, or the mechanism itself.
        holder = getattr(mechanism, "_levels", mechanism)
        monkeypatch.setitem(holder.__dict__, "threshold", int(holder.threshold * 1.03))
    assert chances(mechanism, 0) is honest
    assert pearson(mechanism, 0, seed=100) < FALSE_ALARM
