"""Counts that come in shards give the very estimate that counts in memory give; files keep them exactly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce import Survey
from sottovoce.core.errors import CapacityError, MechanismError, MismatchError, NoReportsError, ReportError, SurveyError
from sottovoce.core.limits import MAX_CELLS, SHARD_CELLS
from sottovoce.formats.aggregate_file import AggregateFile, write_aggregate
from sottovoce.formats.sharded import ShardedAggregate, in_shards
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.mechanisms.shards import Shard, blocks_of_rows, shard_length
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.workloads import Prefix


class InMemory(ShardedAggregate):
    def __init__(self, aggregate: Aggregate) -> None:
        self.survey, self._aggregate = aggregate.survey, aggregate

    @property
    def n_reports(self) -> int:
        return self._aggregate.n_reports

    def shards(self) -> Iterator[Shard]:
        return in_shards(self._aggregate.counts)


def saved(path: Path, aggregate: Aggregate) -> AggregateFile:
    return write_aggregate(path, aggregate.survey, aggregate.n_reports, in_shards(aggregate.counts))


@pytest.fixture(scope="module")
def mean() -> Aggregate:
    """A codebook of about three shards, with a whole shard that nobody's report is in."""
    survey = Survey(sv.vector(60, 1.0), epsilon=4.0, people=400_000, max_counters=3 * SHARD_CELLS)
    assert survey.mechanism.cells > 2 * SHARD_CELLS
    aggregate = survey.simulate_aggregate(np.eye(60)[np.arange(3000) % 60] * 0.7, seed=5)
    counts = aggregate.counts.copy()
    counts[SHARD_CELLS : 2 * SHARD_CELLS] = 0
    # A report adds one or takes one off: their number and what they moved are both even, or both odd.
    return Aggregate(survey, 3000 + int(np.abs(counts).sum()) % 2, counts)


@pytest.fixture
def distribution() -> Aggregate:
    survey = Survey(sv.shares(5), epsilon=1.0)
    return survey.aggregate().add([survey.randomize(0) for _ in range(20)])


def test_folding_shards_is_folding_all_to_the_last_bit(mean: Aggregate) -> None:
    mechanism = mean.survey.mechanism
    assert isinstance(mechanism, Codebook)
    whole = mechanism.estimate(mean.counts, mean.n_reports)
    assert np.array_equal(whole, mechanism.estimate(InMemory(mean), mean.n_reports))
    assert np.abs(whole).max() > 0


def test_rows_longer_than_a_shard_come_whole() -> None:
    size = 2 * SHARD_CELLS
    counts = np.arange(2 * size, dtype=np.int64)
    shards = [Shard(3, counts[3 * SHARD_CELLS :])]

    class Last:
        def shards(self) -> Iterator[Shard]:
            return iter(shards)

    [(first, block)] = blocks_of_rows(Last(), 2, size)
    assert (first, block.shape) == (1, (1, size))
    assert not block[0, :SHARD_CELLS].any()
    assert np.array_equal(block[0, SHARD_CELLS:], shards[0].counts)
    assert [first for first, _ in blocks_of_rows(counts, 2, size)] == [0, 1]


def test_the_last_shard_and_the_last_block_are_shorter() -> None:
    cells = 2 * SHARD_CELLS + 512
    assert [shard_length(cells, number) for number in range(3)] == [SHARD_CELLS, SHARD_CELLS, 512]

    class Last:
        def shards(self) -> Iterator[Shard]:
            yield Shard(2, np.arange(512))

    [(first, block)] = blocks_of_rows(Last(), cells // 64, 64)
    assert first == 2 * SHARD_CELLS // 64
    assert block.tolist() == np.arange(512).reshape(8, 64).tolist()


def test_more_cells_than_a_process_keeps_are_estimated_from_shards() -> None:
    survey = Survey(sv.vector(60, 1.0), epsilon=8.0, mechanism="codebook", people=10**10, max_counters=2**33)
    assert survey.mechanism.cells > MAX_CELLS
    with pytest.raises(CapacityError, match="counters"):
        survey.aggregate()

    class Few(ShardedAggregate):
        n_reports = 2

        def __init__(self) -> None:
            self.survey = survey

        def shards(self) -> Iterator[Shard]:
            last = survey.mechanism.cells // SHARD_CELLS - 1
            counts = np.zeros(SHARD_CELLS, dtype=np.int64)
            counts[-1] = 1
            yield from (Shard(0, counts), Shard(last, -counts))

    found = Few().estimate()
    assert found.n_reports == 2
    assert np.isfinite(found.raw).all()
    with pytest.raises(CapacityError):
        Few().aggregate()


def test_a_survey_has_the_counters_it_may_have() -> None:
    few, usual, many = (
        Survey(
            sv.queries(Prefix(64)),
            epsilon=4.0,
            mechanism="codebook",
            strategy="direct",
            people=10**9,
            max_counters=most,
        )
        for most in (2**20, 2**27, 2**34)
    )
    assert few.mechanism.cells <= 2**20 < usual.mechanism.cells <= 2**27 < many.mechanism.cells <= 2**34
    assert many.bound(10**9).value < usual.bound(10**9).value < few.bound(10**9).value
    asked = Survey(sv.queries(Prefix(64)), epsilon=4.0, mechanism="codebook", strategy="direct", people=10**9)
    assert usual.to_json() == asked.to_json()
    assert Survey.from_json(many.to_json()) == many


@pytest.mark.parametrize("counters", [0, -1, 2**41, 1.5, "many"])
def test_counters_out_of_range_are_refused(counters: object) -> None:
    with refuses(SurveyError, "max_counters"):
        Survey(sv.vector(3, 1.0), epsilon=1.0, max_counters=counters)  # type: ignore[arg-type]


def test_counters_that_make_reports_too_long_are_refused() -> None:
    with refuses(MechanismError, "max_report_bytes"):
        Survey(sv.vector(60, 1.0), epsilon=8.0, people=10**10, max_counters=2**34, max_report_bytes=4)


def test_a_file_holds_an_aggregate_exactly(tmp_path: Path, mean: Aggregate, distribution: Aggregate) -> None:
    for aggregate in (mean, distribution, distribution.survey.aggregate()):
        found = AggregateFile.open(saved(tmp_path / "a.bin", aggregate).path)
        assert found.aggregate() == aggregate
        assert found.survey == aggregate.survey
        assert [path.name for path in tmp_path.iterdir()] == ["a.bin"]
    assert saved(tmp_path / "a.bin", mean).nbytes < 12 * 3000 + 2000


def test_one_aggregate_has_one_file(tmp_path: Path, mean: Aggregate) -> None:
    one = saved(tmp_path / "one.bin", mean)
    again = write_aggregate(tmp_path / "two.bin", one.survey, one.n_reports, one.shards())
    assert one.path.read_bytes() == again.path.read_bytes()


def test_a_file_brings_the_attachments_of_its_survey(tmp_path: Path) -> None:
    survey = Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="factorized")
    assert survey.attachments
    aggregate = survey.simulate_aggregate(np.arange(100) % 8, seed=1)
    found = AggregateFile.open(saved(tmp_path / "a.bin", aggregate).path)
    assert np.array_equal(found.estimate().raw, survey.estimate(aggregate).raw)


def test_files_add_up(tmp_path: Path, mean: Aggregate, distribution: Aggregate) -> None:
    one = saved(tmp_path / "one.bin", mean)
    opposite = saved(tmp_path / "two.bin", Aggregate(mean.survey, mean.n_reports, -mean.counts))
    assert (one + one).aggregate() == mean + mean
    assert np.array_equal((one + one + one).estimate().raw, mean.survey.estimate(mean + mean + mean).raw)
    assert list((one + opposite).shards()) == []
    with pytest.raises(MismatchError, match="only those of one survey"):
        one + saved(tmp_path / "three.bin", distribution)


def test_nothing_is_estimated_from_nothing(tmp_path: Path, distribution: Aggregate) -> None:
    with pytest.raises(NoReportsError):
        saved(tmp_path / "a.bin", distribution.survey.aggregate()).estimate()


def test_every_byte_that_is_changed_or_missing_is_noticed(tmp_path: Path, distribution: Aggregate) -> None:
    path = saved(tmp_path / "a.bin", distribution).path
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(ReportError):
            AggregateFile.open(path)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ReportError):
            AggregateFile.open(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(ReportError):
        AggregateFile.open(path)


def test_what_is_no_file_of_ours_is_told(tmp_path: Path) -> None:
    for content in (b"PAR1" * 50, b"SVF\2" + bytes(200), b""):
        (tmp_path / "other.bin").write_bytes(content)
        with refuses(ReportError, "path"):
            AggregateFile.open(tmp_path / "other.bin")
    with refuses(ReportError, "path"):
        AggregateFile.open(tmp_path / "absent.bin")
    with refuses(ReportError, "path"):
        AggregateFile.open(tmp_path)


def test_shards_out_of_order_or_too_short_leave_nothing_behind(tmp_path: Path, mean: Aggregate) -> None:
    zero, *_, last = in_shards(mean.counts)
    for wrong in ([last, zero], [zero, zero], [Shard(0, zero.counts[:-1])]):
        with pytest.raises(MismatchError):
            write_aggregate(tmp_path / "a.bin", mean.survey, 1, wrong)
    with pytest.raises(ReportError, match="cannot be written"):
        write_aggregate(tmp_path / "no such folder" / "a.bin", mean.survey, 1, [])
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_leaves_the_old_file(tmp_path: Path, distribution: Aggregate, mean: Aggregate) -> None:
    path = saved(tmp_path / "a.bin", distribution).path
    before = path.read_bytes()

    def shards() -> Iterator[Shard]:
        yield next(in_shards(mean.counts))
        raise OSError(28, os.strerror(28))

    with pytest.raises(ReportError, match="No space left"):
        write_aggregate(path, mean.survey, 1, shards())
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_codebooks_differ_in_rotations_alone() -> None:
    best = Codebook.best(60, 1.0, 4.0, 0.0, 10**6)
    assert best.for_people(10**6, 2**27) == best
    assert replace(best, rotations=1) == best.for_people(1, 2**27)
