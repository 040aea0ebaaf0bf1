"""Aggregates are a commutative monoid: however reports are split, ordered, streamed and merged, the integers agree."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MismatchError, ReportError
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.surveys.aggregate import _ROWS_AT_ONCE, Aggregate, Reports

PEOPLE = 40


@cache
def collected(name: str) -> tuple[sv.Survey, Reports, tuple[bytes, ...]]:
    """A survey, a batch of its reports, and the same reports as bytes."""
    survey = sv.Survey(sv.shares(["a", "b", "c", "d", "e"]), epsilon=1.0, mechanism=name)
    reports = survey.simulate(np.array(list("abcde"))[np.arange(PEOPLE) % 5], seed=3)
    return survey, reports, tuple(reports)


surveys = st.sampled_from(sorted(serving(FiniteMechanism))).map(collected)


@st.composite
def splits(draw: st.DrawFn) -> tuple[sv.Survey, Reports, list[list[bytes]]]:
    """The reports in any order, dealt to up to five collectors, some of whom may get none."""
    survey, reports, encoded = draw(surveys)
    order = draw(st.permutations(range(PEOPLE)))
    dealt = draw(st.lists(st.integers(0, 4), min_size=PEOPLE, max_size=PEOPLE))
    parts: list[list[bytes]] = [[] for _ in range(5)]
    for position, collector in zip(order, dealt, strict=True):
        parts[collector].append(encoded[position])
    return survey, reports, parts


@settings(deadline=None, max_examples=100)
@given(splits())
def test_any_split_and_any_order_give_the_same_counts(case: tuple[sv.Survey, Reports, list[list[bytes]]]) -> None:
    survey, reports, parts = case
    whole = survey.aggregate().add(reports)
    merged = survey.aggregate()
    for part in parts:
        merged = merged + survey.aggregate().add(part)
    assert merged == whole
    assert merged.n_reports == PEOPLE
    chained = survey.aggregate()
    for part in parts:
        chained = chained.add(part)
    assert chained == whole


@settings(deadline=None, max_examples=100)
@given(splits())
def test_monoid_laws(case: tuple[sv.Survey, Reports, list[list[bytes]]]) -> None:
    survey, _, parts = case
    a, b, c = (survey.aggregate().add(part) for part in parts[:3])
    zero = survey.aggregate()
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + zero == a == zero + a


@settings(deadline=None, max_examples=60)
@given(surveys, st.integers(0, PEOPLE))
def test_every_way_of_adding_agrees(case: tuple[sv.Survey, Reports, tuple[bytes, ...]], cut: int) -> None:
    survey, reports, encoded = case
    batch = Reports(survey, reports.batch[:cut])
    expected = survey.aggregate().add(batch)
    assert expected.n_reports == len(batch) == cut
    one_by_one = survey.aggregate()
    for report in encoded[:cut]:
        one_by_one = one_by_one.add(report)
    assert one_by_one == expected
    for reports_given in (
        list(encoded[:cut]),
        tuple(encoded[:cut]),
        (report for report in encoded[:cut]),
        [bytearray(report) for report in encoded[:cut]],
        [memoryview(report) for report in encoded[:cut]],
        batch,
        iter(batch),
    ):
        assert survey.aggregate().add(reports_given) == expected


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_counts_are_what_the_mechanism_says(name: str) -> None:
    """The aggregate against a count made report by report, in plain Python."""
    survey, reports, encoded = collected(name)
    mechanism = survey.mechanism
    counts = np.zeros(mechanism.cells, dtype=np.int64)
    for report in encoded:
        decoded = mechanism.decode(report[4:])
        for cell in decoded if isinstance(decoded, tuple) else (decoded,):
            counts[cell] += 1
    assert np.array_equal(survey.aggregate().add(reports).counts, counts)


def test_long_streams_are_counted_in_pieces() -> None:
    survey, _, encoded = collected("randomized_response")
    n = _ROWS_AT_ONCE + 3
    streamed = survey.aggregate().add(encoded[i % PEOPLE] for i in range(n))
    assert streamed.n_reports == n
    assert streamed.counts.sum() == n


def test_a_bad_report_late_in_a_stream_counts_nothing() -> None:
    survey, _, encoded = collected("randomized_response")
    before = survey.aggregate().add(encoded)
    counts = before.counts.copy()

    def stream() -> Any:
        for i in range(_ROWS_AT_ONCE + 3):
            yield encoded[i % PEOPLE]
        yield survey.tag + b"\xff"

    with pytest.raises(ReportError, match="out of range"):
        before.add(stream())
    assert np.array_equal(before.counts, counts)
    assert before.n_reports == PEOPLE


def test_surveys_do_not_mix() -> None:
    ours, reports, encoded = collected("hadamard")
    theirs = sv.Survey(sv.shares(["a", "b", "c", "d", "f"]), epsilon=1.0, mechanism="hadamard")
    assert ours.mechanism.report_bytes == theirs.mechanism.report_bytes
    for wrong in (reports, encoded, encoded[0]):
        with pytest.raises(MismatchError, match=r"another survey|belongs to survey"):
            theirs.aggregate().add(wrong)
    with pytest.raises(MismatchError, match="belongs to survey"):
        theirs.aggregate().merge(ours.aggregate())
    with pytest.raises(MismatchError):
        theirs.aggregate() + ours.aggregate()
    assert ours.aggregate() != theirs.aggregate()


@pytest.mark.parametrize("name", serving(FiniteMechanism))
def test_batches_and_counts_made_by_hand_are_checked(name: str) -> None:
    survey, reports, _ = collected(name)
    wild = reports.batch.copy()
    wild.reshape(-1)[-1] = np.iinfo(wild.dtype).max
    with pytest.raises(ReportError):
        survey.aggregate().add(Reports(survey, wild))
    cells = survey.mechanism.cells
    for counts in (np.zeros(cells - 1, dtype=np.int64), np.zeros((cells, 1), dtype=np.int64), np.zeros(cells)):
        with refuses(MismatchError, "counts"):
            Aggregate(survey, 0, counts)


def test_an_aggregate_made_by_hand_is_its_own() -> None:
    survey, _, _ = collected("hadamard")
    shared = np.zeros(2 * survey.mechanism.cells, dtype=np.int64)
    aggregate = Aggregate(survey, 0, shared[: survey.mechanism.cells])
    shared[0] = 5
    assert aggregate.counts[0] == 0
    for n_reports in (-1, 1.0, True, None):
        with refuses(MismatchError, "n_reports"):
            Aggregate(survey, n_reports, aggregate.counts.copy())  # type: ignore[arg-type]


def test_equality_is_about_survey_number_and_counts() -> None:
    survey, reports, _ = collected("hadamard")
    aggregate = survey.aggregate().add(reports)
    assert aggregate == Aggregate(survey, PEOPLE, aggregate.counts.copy())
    assert aggregate != Aggregate(survey, PEOPLE + 1, aggregate.counts.copy())
    assert aggregate != survey.aggregate()
    assert aggregate != aggregate.counts.tolist()
    with pytest.raises(TypeError, match="unhashable"):
        hash(aggregate)
