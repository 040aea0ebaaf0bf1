"""Counting, step by step, on the real stores: what a step does, what it leaves alone, and what it costs in writes."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sottovoce as sv
from collector.counting import SURVEY, publish, report, send
from sottovoce.collector.counting.aggregator import Aggregator, check, live_aggregate
from sottovoce.collector.counting.compaction import due, merged
from sottovoce.collector.store.base import Store
from sottovoce.collector.store.records import Checkpoint, Segment, SegmentInfo
from sottovoce.collector.store.sql import SqlStore
from sottovoce.collector.surveys.published import answerable_of
from sottovoce.core.errors import (
    CapacityError,
    MismatchError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from sottovoce.formats.report_ids import id_order, id_rows
from sottovoce.mechanisms.base import Mechanism
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import Prefix


def drain(aggregator: Aggregator) -> int:
    taken = 0
    while n := aggregator.step():
        taken += n
    return taken


def test_reports_become_segments_in_the_order_of_ids(store: Store) -> None:
    publish(store)
    send(store, [9, 3, 7])
    send(store, [5, 3], epoch=2)
    assert Aggregator(store, "a").step() == 5
    segments = list(store.read_segments(SURVEY.id))
    assert [(segment.info.epoch, segment.info.n) for segment in segments] == [(1, 3), (2, 1)]
    assert segments[0].ids == b"".join(report(i)[:16] for i in (3, 7, 9))
    assert segments[0].payloads == bytes([3, 7, 9])
    assert segments[1].payloads == bytes([5])
    assert store.waiting(SURVEY.id) == 0


def test_nothing_waits_nothing_happens(store: Store) -> None:
    publish(store)
    assert Aggregator(store, "a").step() == 0
    assert store.segments(SURVEY.id) == []
    assert live_aggregate(store, SURVEY) == SURVEY.aggregate()


def test_a_resent_report_is_counted_once_whoever_counts(store: Store) -> None:
    publish(store)
    first, second = Aggregator(store, "same name"), Aggregator(store, "same name")
    for numbers, aggregator in [([1, 2], first), ([2, 3], second), ([1, 3, 4], first), ([1, 2, 3, 4], second)]:
        send(store, numbers)
        assert drain(aggregator) == len(numbers)
    live = check(store, SURVEY)
    assert live.n_reports == 4
    assert live.counts[:6].tolist() == [0, 1, 1, 1, 1, 0]


def test_only_duplicates_leave_no_segment(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a")
    send(store, [1])
    aggregator.step()
    send(store, [1, 1])
    assert aggregator.step() == 2
    assert len(store.segments(SURVEY.id)) == 1


def test_checkpoints_come_after_a_quarter_of_the_cells(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", checkpoint_after=4)
    send(store, list(range(25)))
    aggregator.step()
    assert store.snapshot(SURVEY.id).checkpoint is None
    send(store, [25])
    aggregator.step()
    snapshot = store.snapshot(SURVEY.id)
    assert snapshot.checkpoint is not None
    assert (snapshot.checkpoint.n, snapshot.segments) == (26, ())
    send(store, [26])
    aggregator.step()
    assert check(store, SURVEY).n_reports == 27
    assert store.snapshot(SURVEY.id).checkpoint == snapshot.checkpoint


def test_a_wide_survey_is_not_summed_again_for_every_report(store: Store) -> None:
    """Over many steps, the cells written in checkpoints stay within a small multiple of the reports."""
    publish(store)
    aggregator = Aggregator(store, "a", checkpoint_after=0)
    written = 0
    real = store.settle

    def settle(lease: Any, taken: Any, segments: Any, checkpoint: Checkpoint | None = None) -> bool:
        nonlocal written
        written += 0 if checkpoint is None else len(checkpoint.counts) // 8
        return real(lease, taken, segments, checkpoint)

    store.settle = settle  # type: ignore[method-assign]
    for number in range(100):
        send(store, [number])
        aggregator.step()
    assert 0 < written <= 4 * 100


def test_segments_stay_few_and_are_rewritten_seldom(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", fan_in=2, largest_segment=64, crowd=1)
    rewritten = 0
    real = store.compact

    def compact(lease: Any, old: Any, new: Any) -> bool:
        nonlocal rewritten
        rewritten += new.n
        return real(lease, old, new)

    store.compact = compact  # type: ignore[method-assign]
    for number in range(150):
        send(store, [number])
        aggregator.step()
    infos = store.segments(SURVEY.id)
    # Two sides of the checkpoint, one segment at most on each of six tiers, and full ones of more than 32.
    assert len(infos) <= 2 * 6 + 150 / 32
    assert max(info.n for info in infos) <= 64
    assert 0 < rewritten <= 150 * (1 + 6)
    assert check(store, SURVEY).n_reports == 150


@given(
    st.lists(st.tuples(st.integers(1, 70), st.integers(0, 1), st.booleans()), max_size=60),
    st.integers(2, 64),
    st.integers(2, 8),
    st.integers(1, 20),
)
def test_what_is_put_together(sizes: list[tuple[int, int, bool]], largest: int, fan_in: int, crowd: int) -> None:
    """Putting together ends, mixes nothing, keeps to the largest size, and leaves few."""
    infos = [SegmentInfo(number, epoch, n, side) for number, (n, epoch, side) in enumerate(sizes)]
    total, number = sum(info.n for info in infos), len(infos)
    while chosen := due(infos, largest, fan_in, crowd):
        assert len({(info.epoch, info.checkpointed) for info in chosen}) == 1
        new = SegmentInfo(number, chosen[0].epoch, sum(info.n for info in chosen), chosen[0].checkpointed)
        assert len(chosen) >= 2
        assert new.n <= largest
        infos = [info for info in infos if info not in chosen] + [new]
        number += 1
    assert sum(info.n for info in infos) == total
    small = Counter((info.epoch, info.checkpointed) for info in infos if 2 * info.n <= largest)
    tiers = len(np.base_repr(max(largest // 2, 1), fan_in))
    assert all(n <= (fan_in - 1) * tiers for n in small.values())
    few = Counter((info.epoch, info.checkpointed) for info in infos if 2 * info.n <= largest and info.n < crowd)
    assert all(n == 1 for n in few.values())


def test_reports_that_come_one_by_one_are_put_together_at_once(store: Store) -> None:
    """The order in which they came is then nowhere."""
    publish(store)
    aggregator = Aggregator(store, "a")
    for number in range(20):
        send(store, [number])
        aggregator.step()
        (segment,) = store.read_segments(SURVEY.id)
        rows = id_rows(segment.ids)
        assert segment.info.n == number + 1
        assert np.array_equal(id_order(rows), np.arange(number + 1))


@pytest.mark.parametrize("sealed", [False, True])
def test_what_is_left_of_an_epoch_joins_the_others(store: Store, sealed: bool) -> None:
    """No small segment tells who came last, on whichever side of the checkpoint it stands."""
    publish(store)
    now = [1]
    aggregator = Aggregator(store, "a", crowd=8, checkpoint_after=11, epoch=lambda: now[0])
    for numbers in (range(10), range(10, 20), range(20, 23)):
        send(store, list(numbers))
        aggregator.step()
    assert sorted(info.n for info in store.segments(SURVEY.id)) == [3, 10, 10]
    assert not aggregator.tidy()
    if sealed:
        store.seal(SURVEY.id)
    else:
        now[0] += 1
    assert aggregator.tidy()
    assert not aggregator.tidy()
    assert sorted(info.n for info in store.segments(SURVEY.id)) == [10, 13]
    assert check(store, SURVEY).n_reports == 23
    if not sealed:
        # Nothing that was known has been forgotten: an old report is still known.
        send(store, [0, 22, 30])
        assert aggregator.step() == 3
        assert check(store, SURVEY).n_reports == 24


def test_merging_damaged_segments_is_refused() -> None:
    with pytest.raises(StoreError, match="segments 4 do not hold"):
        merged([Segment(SegmentInfo(4, 1, 2, False), bytes(16), bytes(2))])


def test_memory_is_bounded_by_forgetting_and_reading_again(store: Store) -> None:
    surveys = [Survey(sv.shares(100), epsilon=5.0, mechanism="randomized_response", title=f"{i}") for i in range(4)]
    aggregator = Aggregator(store, "a", memory_bytes=500)
    for survey in surveys:
        publish(store, survey)
    for _ in range(3):
        for survey in surveys:
            send(store, list(range(10)), survey=survey)
            aggregator.step()
            assert sum(state.seen.nbytes for state in aggregator._counted.values()) <= 500
    assert [check(store, survey).n_reports for survey in surveys] == [10] * 4


def test_ids_on_disk_count_every_report_once_also_after_a_restart(store: Store, tmp_path: Path) -> None:
    publish(store)
    small = partial(Aggregator, store, "a", ids_in_memory=10, folder=tmp_path, most=16)
    aggregator = small()
    for start in range(0, 90, 15):
        send(store, list(range(start, start + 30)))
        drain(aggregator)
        (state,) = aggregator._counted.values()
        assert (len(state.seen), len(state.seen._recent) < 10) == (start + 30, True)
    assert state.seen.files
    send(store, list(range(110)))
    assert drain(small()) == 110
    assert check(store, SURVEY).n_reports == 110


def test_open_files_are_bounded_by_forgetting_too(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sottovoce.collector.counting.aggregator._MOST_FILES", 2)
    surveys = [Survey(sv.shares(100), epsilon=5.0, mechanism="randomized_response", title=f"{i}") for i in range(4)]
    aggregator = Aggregator(store, "a", ids_in_memory=5, folder=tmp_path)
    for survey in surveys:
        publish(store, survey)
        send(store, list(range(10)), survey=survey)
        aggregator.step()
    assert [state.seen.files for state in aggregator._counted.values()] == [1, 1]


def test_ids_are_read_once_by_a_lone_worker(store: Store) -> None:
    """Its own segments are known to it, also after it has released the survey and put segments together."""
    publish(store)
    aggregator = Aggregator(store, "a", fan_in=2)
    send(store, [0])
    aggregator.step()
    read: list[int] = []
    real = Aggregator._check_segment

    def noted(self: Aggregator, state: Any, segment: Segment) -> None:
        read.append(segment.info.number)
        real(self, state, segment)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Aggregator, "_check_segment", noted)
        for number in range(1, 20):
            send(store, [number, number - 1])
            assert aggregator.step() == 2
        assert read == []
        send(store, [5, 20])
        assert Aggregator(store, "b").step() == 2
        assert read  # another worker has to read them
    send(store, [20])
    aggregator.step()
    assert check(store, SURVEY).n_reports == 21


def test_reading_many_ids_renews_the_lease(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store)
    for number in range(5):
        send(store, [number])
        Aggregator(store, "a").step()
    now = iter(range(0, 10_000, 11))
    monkeypatch.setattr("sottovoce.collector.counting.aggregator.time.monotonic", lambda: float(next(now)))
    leases: list[Any] = []
    real = store.lease

    def lease(holder: str, seconds: float) -> Any:
        leases.append(real(holder, seconds))
        return leases[-1]

    store.lease = lease  # type: ignore[method-assign]
    send(store, [3, 5])
    assert Aggregator(store, "b", lease_seconds=30).step() == 2
    assert len(leases) > 1
    assert len(set(leases)) == 1
    assert check(store, SURVEY).n_reports == 6


# --- what can be wrong with one survey ------------------------------------------------------


@pytest.fixture
def poisoned(store: Store) -> Store:
    """A store whose oldest waiting reports are of a survey that cannot be read."""
    publish(store, canonical=b'{"format": 99}')
    send(store, [1])
    return store


def test_a_poison_survey_does_not_stop_the_others(poisoned: Store, caplog: pytest.LogCaptureFixture) -> None:
    other = Survey(sv.shares(100), epsilon=5.0, mechanism="randomized_response", title="other")
    publish(poisoned, other)
    aggregator = Aggregator(poisoned, "a")
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            send(poisoned, [1, 2, 3], survey=other)
            assert aggregator.step() == 3
            assert aggregator.step() == 0
    assert live_aggregate(poisoned, other).n_reports == 3
    assert poisoned.waiting(SURVEY.id) == 1
    # Noted once: nobody tries again before the lease has run out, not even another worker.
    assert Aggregator(poisoned, "b").step() == 0
    assert [record.getMessage()[:19] for record in caplog.records] == [f"survey {SURVEY.id[:12]}"]


def test_closing_gives_a_poison_survey_back(poisoned: Store, caplog: pytest.LogCaptureFixture) -> None:
    aggregator = Aggregator(poisoned, "a")
    aggregator.step()
    assert poisoned.lease("b", 30) is None
    aggregator.close()
    assert poisoned.lease("b", 30) is not None


def test_a_poison_survey_whose_lease_lasts_no_time_is_tried_once_a_step(
    poisoned: Store, caplog: pytest.LogCaptureFixture
) -> None:
    aggregator = Aggregator(poisoned, "a", lease_seconds=0.0)
    assert [aggregator.step() for _ in range(5)] == [0] * 5
    # Said once, however often it is tried.
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("rows", "n", "words"),
    [(report(1)[:-1] + b"\xff", 1, "the waiting list of survey"), (report(1), 2, "waiting entry"), (b"x", 1, "entry")],
)
def test_what_is_no_report_gets_into_no_segment(
    store: Store, caplog: pytest.LogCaptureFixture, rows: bytes, n: int, words: str
) -> None:
    publish(store)
    send(store, [7])
    store.append([Arrival(SURVEY.id, 5, n, rows)])
    assert Aggregator(store, "a").step() == 0
    assert words in caplog.text
    assert store.segments(SURVEY.id) == []


def test_counts_beyond_the_capacity_are_a_poison_too(
    store: Store, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", checkpoint_after=0)
    send(store, list(range(5)))
    assert aggregator.step() == 5
    monkeypatch.setattr(Mechanism, "max_reports", 4)
    with pytest.raises(CapacityError, match="counts at most 4"):
        live_aggregate(store, SURVEY)
    send(store, list(range(40)))
    assert aggregator.step() == 0
    assert "counts at most 4" in caplog.text
    assert store.waiting(SURVEY.id) == 40


def test_an_adaptive_survey_takes_no_reports_itself(store: Store) -> None:
    survey = sv.Panel({"age": range(10)}, rounds=2, epsilon=1.0)
    with pytest.raises(MismatchError, match="its rounds do"):
        answerable_of(store, publish(store, survey))


def test_a_missing_attachment_is_said(store: Store) -> None:
    survey = Survey(sv.queries(Prefix(8)), epsilon=1.0, strategy="optimized")
    assert survey.attachments
    record = publish(store, survey)
    with pytest.raises(StoreError, match="attachment"):
        answerable_of(store, record)
    other = replace(record, id="1" * 64)
    store.publish(other, survey.attachments)
    assert answerable_of(store, record).id == survey.id
    with pytest.raises(StoreError, match="its statement has another id"):
        answerable_of(store, other)


def test_the_store_away_is_the_callers_business(store: Store) -> None:
    publish(store)
    send(store, [1])
    aggregator = Aggregator(store, "a")
    real = store.settle

    def settle(*arguments: Any) -> bool:
        real(*arguments)
        raise StoreUnavailableError("lost while it was committed")

    store.settle = settle  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailableError):
        aggregator.step()
    store.settle = real  # type: ignore[method-assign]
    send(store, [1, 2])
    assert aggregator.step() == 2
    assert check(store, SURVEY).n_reports == 2


def test_a_deleted_survey_is_dropped(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a")
    send(store, [1])
    real = store.settle

    def settle(*arguments: Any) -> bool:
        store.delete(SURVEY.id)
        return real(*arguments)

    store.settle = settle  # type: ignore[method-assign]
    assert aggregator.step() == 0
    assert SURVEY.id not in aggregator._counted


@pytest.mark.parametrize("others", [False, True])
def test_a_database_put_back_to_an_earlier_state_is_counted_anew(store: SqlStore, others: bool) -> None:
    """What a living worker remembers of reports that are gone must not keep them from being counted again."""
    publish(store)
    aggregator = Aggregator(store, "a")
    send(store, [1, 2, 3])
    assert aggregator.step() == 3
    with store.write() as transaction:
        for table in ("segments", "checkpoints"):
            transaction.run(f"DELETE FROM {table}")
    send(store, [2, 3, 4])
    assert (Aggregator(store, "b") if others else aggregator).step() == 3
    send(store, [1, 2, 5])
    assert aggregator.step() == 3
    assert set(np.flatnonzero(check(store, SURVEY).counts)) == {1, 2, 3, 4, 5}
    assert check(store, SURVEY).n_reports == 5


def test_after_an_outage_everything_is_read_again(store: Store) -> None:
    publish(store)
    send(store, [1, 2])
    aggregator = Aggregator(store, "a")
    aggregator.step()
    assert aggregator._counted
    send(store, [3])
    real, store.take = store.take, lambda *_: (_ for _ in ()).throw(StoreUnavailableError("away"))  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailableError):
        aggregator.step()
    assert not aggregator._counted
    store.take = real  # type: ignore[method-assign]
    assert aggregator.step() == 1
    assert check(store, SURVEY).n_reports == 3


def test_a_checkpoint_that_does_not_fit_can_wait(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", checkpoint_after=0)
    real = store.settle

    def full(lease: Any, taken: Any, segments: Any, checkpoint: Any = None) -> bool:
        if checkpoint is not None:
            raise StoreFullError("full")
        return real(lease, taken, segments, checkpoint)

    store.settle = full  # type: ignore[method-assign]
    send(store, list(range(60)))
    assert aggregator.step() == 60
    assert store.snapshot(SURVEY.id).checkpoint is None
    assert check(store, SURVEY).n_reports == 60


def test_steps_that_come_too_late_become_smaller(store: Store) -> None:
    publish(store)
    aggregator = Aggregator(store, "a", most=16)
    real, store.settle = store.settle, lambda *_: False  # type: ignore[method-assign]
    for number in range(40):
        send(store, [number])
    for _ in range(3):
        assert aggregator.step() == 0
    store.settle = real  # type: ignore[method-assign]
    assert [aggregator.step() for _ in range(4)] == [2, 4, 8, 16]
