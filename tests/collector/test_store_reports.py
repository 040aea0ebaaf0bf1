"""Reports: kept, leased, settled, compacted and read back, on both databases."""

import secrets
from dataclasses import replace

import pytest

from collector.places import Place
from collector.records import arrival, numbers_in, numbers_waiting, segment, survey_record
from sottovoce.collector.store import Store
from sottovoce.collector.store.records import Checkpoint, Lease, NewSegment, SegmentInfo, Snapshot
from sottovoce.collector.store.sql import PART_BYTES, SqlStore
from sottovoce.core.errors import StoreError
from sottovoce.service.storage.committer import Arrival


def leased(store: Store, holder: str = "w", seconds: float = 30) -> Lease:
    lease = store.lease(holder, seconds)
    assert lease is not None
    return lease


def set_expiry(store: Store, change: str) -> None:
    """Move the expiry of all leases, as a clock that jumps would."""
    assert isinstance(store, SqlStore)
    with store.write() as transaction:
        transaction.run(f"UPDATE leases SET expires = {change}")


def test_reports_survive_and_are_combined_by_survey_and_epoch(place: Place) -> None:
    store = place.open()
    a, b = (store.publish(survey_record(name), {}) for name in "ab")
    foreign, sealed = survey_record("c"), store.publish(survey_record("d"), {})
    store.seal(sealed.id)
    batch = [
        *(arrival(a, 1, 2), arrival(b, 3), arrival(foreign, 4), arrival(a, 5, epoch=8), arrival(sealed, 6)),
        *(arrival(a, 7), arrival(a)),
    ]
    assert store.append(batch) == [None, None, "unknown", None, "sealed", None, None]
    assert store.append([]) == []
    store.close()
    store = place.open()
    assert [store.waiting(record.id) for record in (a, b, foreign, sealed)] == [4, 1, 0, 0]
    taken = store.take(leased(store), 100)
    assert [(each.epoch, each.n, numbers_waiting(each.rows)) for each in taken] == [(7, 3, [1, 2, 7]), (8, 1, [5])]
    store.close()


def test_take_stops_at_about_what_is_asked_and_takes_one_at_least(store: Store) -> None:
    record = store.publish(survey_record(), {})
    for start in (0, 10, 20):
        store.append([arrival(record, *range(start, start + 10))])
    lease = leased(store)
    assert [len(store.take(lease, most)) for most in (1, 10, 19, 20, 30, 1000)] == [1, 1, 1, 2, 3, 3]


def test_a_long_arrival_is_kept_in_parts_cut_between_reports(store: Store) -> None:
    record = store.publish(survey_record(), {})
    width = 16 + 1000
    n = PART_BYTES // width + 100
    rows = secrets.token_bytes(n * width)
    assert store.append([arrival(record, 1), Arrival(record.id, 7, n, rows)]) == [None, None]
    taken = store.take(leased(store), n + 1)
    assert b"".join(each.rows for each in taken[1:]) == rows
    assert all(len(each.rows) <= PART_BYTES and len(each.rows) == each.n * width for each in taken[1:])


def test_settling_moves_reports_into_segments(place: Place) -> None:
    store = place.open()
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 2, 1), arrival(record, 3, epoch=8)])
    lease = leased(store)
    taken = store.take(lease, 10)
    assert store.settle(lease, taken, [segment(1, 2), segment(3, epoch=8)])
    assert not store.settle(lease, taken, [segment(1, 2)])
    store.close()
    store = place.open()
    assert store.waiting(record.id) == 0
    infos = store.segments(record.id)
    assert [(info.epoch, info.n, info.checkpointed) for info in infos] == [(7, 2, False), (8, 1, False)]
    assert store.segments(record.id, after=infos[0].number) == infos[1:]
    read = list(store.read_segments(record.id))
    assert [each.info for each in read] == infos
    assert [(each.ids, each.payloads) for each in read] == [
        (segment(1, 2).ids, segment(1, 2).payloads),
        (segment(3).ids, segment(3).payloads),
    ]
    assert store.snapshot(record.id) == Snapshot(None, tuple(read))
    store.close()


def test_only_duplicates_settle_into_nothing(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    lease = leased(store)
    assert store.settle(lease, store.take(lease, 10), [segment()])
    assert store.waiting(record.id) == 0
    assert store.segments(record.id) == []


def test_what_arrives_after_taking_keeps_waiting(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    store.append([arrival(record, 2)])
    lease = leased(store)
    first, second = store.take(lease, 10)
    store.append([arrival(record, 3)])
    # The later number is settled first: the earlier one must not be forgotten with it.
    assert store.settle(lease, [second], [segment(2)])
    assert [numbers_waiting(each.rows) for each in store.take(lease, 10)] == [[1], [3]]
    assert store.settle(lease, [first], [segment(1)])
    assert store.waiting(record.id) == 1


def test_a_checkpoint_replaces_the_last_and_covers_all_segments(place: Place) -> None:
    store = place.open()
    record = store.publish(survey_record(), {})
    checkpoints = {number: Checkpoint(number, secrets.token_bytes(2 * PART_BYTES + 8 * number)) for number in (1, 2)}
    for number in (1, 2, 3):
        store.append([arrival(record, number)])
        lease = leased(store)
        assert store.settle(lease, store.take(lease, 10), [segment(number)], checkpoints.get(number))
    store.close()
    store = place.open()
    snapshot = store.snapshot(record.id)
    assert snapshot.checkpoint == checkpoints[2]
    assert [numbers_in(each.ids) for each in snapshot.segments] == [[3]]
    assert [info.checkpointed for info in store.segments(record.id)] == [True, True, False]
    store.close()


def test_a_checkpoint_that_is_not_the_sum_of_all_segments_is_refused(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    lease = leased(store)
    with pytest.raises(StoreError, match="sum all segments"):
        store.settle(lease, store.take(lease, 10), [segment(1)], Checkpoint(2, bytes(8)))
    assert store.waiting(record.id) == 1
    assert store.segments(record.id) == []


def test_a_long_segment_comes_back_whole(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    lease = leased(store)
    n = PART_BYTES // 16 + 3
    long = NewSegment(7, n, secrets.token_bytes(16 * n), secrets.token_bytes(17 * n))
    assert store.settle(lease, store.take(lease, 10), [long])
    (read,) = store.read_segments(record.id)
    assert (read.info.n, read.ids, read.payloads) == (n, long.ids, long.payloads)


def settled(store: Store, *epochs: int, checkpoint: Checkpoint | None = None) -> tuple[str, Lease, list[SegmentInfo]]:
    """One survey, report number i settled into a segment of the i-th epoch."""
    record = store.publish(survey_record(), {})
    for number, epoch in enumerate(epochs):
        store.append([arrival(record, number, epoch=epoch)])
    lease = leased(store)
    new = [segment(number, epoch=epoch) for number, epoch in enumerate(epochs)]
    assert store.settle(lease, store.take(lease, 100), new, checkpoint)
    return record.id, lease, store.segments(record.id)


def test_totals_are_of_all_surveys_but_deleted_ones(store: Store) -> None:
    assert store.totals() == (0, 0)
    counted, _, _ = settled(store, 7, 7, 8)
    other = store.publish(survey_record("other"), {})
    store.append([arrival(other, 4, 5)])
    assert store.totals() == (2, 3)
    store.delete(counted)
    assert store.totals() == (2, 0)
    store.delete(other.id)
    assert store.totals() == (0, 0)


@pytest.mark.parametrize("checkpoint", [None, Checkpoint(3, bytes(16))])
def test_compacting_puts_one_segment_in_place_of_several(store: Store, checkpoint: Checkpoint | None) -> None:
    survey, lease, infos = settled(store, 7, 7, 8, checkpoint=checkpoint)
    assert store.compact(lease, [infos[0].number, infos[1].number], segment(0, 1))
    after = store.segments(survey)
    assert [(info.epoch, info.n, info.checkpointed) for info in after] == [
        (8, 1, checkpoint is not None),
        (7, 2, checkpoint is not None),
    ]
    assert after[1].number > infos[2].number
    assert [numbers_in(each.ids) for each in store.read_segments(survey)] == [[2], [0, 1]]
    assert store.snapshot(survey).checkpoint == checkpoint
    assert not store.compact(lease, [infos[0].number, infos[2].number], segment(0, 2))
    assert store.segments(survey) == after


def test_compacting_refuses_what_would_change_the_reports(store: Store) -> None:
    survey, lease, infos = settled(store, 7, 7, 8)
    numbers = [info.number for info in infos]
    for old, merged in [
        (numbers, segment(0, 1, 2)),
        (numbers[:2], segment(0, 1, epoch=8)),
        (numbers[:2], segment(0)),
        ([], segment()),
    ]:
        with pytest.raises(StoreError):
            store.compact(lease, old, merged)
    assert not store.compact(replace(lease, token=lease.token - 1), numbers[:2], segment(0, 1))
    assert store.segments(survey) == infos


def test_compacting_does_not_take_segments_of_another_survey(store: Store) -> None:
    _, _, infos = settled(store, 7, 7)
    other = store.publish(survey_record("other"), {})
    store.append([arrival(other, 9)])
    lease = leased(store)
    assert lease.survey == other.id
    assert not store.compact(lease, [info.number for info in infos], segment(0, 1))


def test_reading_segments_shows_one_moment(store: Store) -> None:
    survey, lease, infos = settled(store, 7, 7, 7)
    reader = store.read_segments(survey)
    seen = [next(reader)]
    assert store.compact(lease, [info.number for info in infos], segment(0, 1, 2))
    seen.extend(reader)
    assert [numbers_in(each.ids) for each in seen] == [[0], [1], [2]]
    abandoned = store.read_segments(survey)
    next(abandoned)
    abandoned.close()
    assert [numbers_in(each.ids) for each in store.read_segments(survey)] == [[0, 1, 2]]


def test_nothing_waiting_means_no_lease(store: Store) -> None:
    assert store.lease("w", 30) is None
    record = store.publish(survey_record(), {})
    assert store.lease("w", 30) is None
    store.append([arrival(record, 1)])
    store.seal(record.id)
    lease = leased(store)
    assert store.settle(lease, store.take(lease, 10), [segment(1)])
    assert store.lease("w", 30) is None


def test_a_lease_is_one_holders_until_it_expires(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    first = leased(store, "one")
    assert store.lease("two", 30) is None
    assert leased(store, "one") == first
    set_expiry(store, "1")
    second = leased(store, "two")
    assert second == Lease(record.id, first.token + 1)
    assert store.lease("one", 30) is None
    taken = store.take(first, 10)
    assert not store.settle(first, taken, [segment(1)])
    assert store.waiting(record.id) == 1
    store.release(first)
    assert store.lease("one", 30) is None
    assert store.settle(second, taken, [segment(1)])


def test_a_lease_that_has_expired_still_settles_until_somebody_takes_it(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    lease = leased(store)
    set_expiry(store, "1")
    assert store.settle(lease, store.take(lease, 10), [segment(1)])


def test_a_holder_whose_lease_has_expired_gets_a_new_token(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    first = leased(store)
    set_expiry(store, "1")
    assert leased(store).token == first.token + 1


def test_a_lease_from_the_future_counts_as_expired(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    first = leased(store, "one", 30)
    set_expiry(store, "expires + 3600")
    assert leased(store, "two", 30).token == first.token + 1


def test_a_released_lease_is_free_at_once_and_settles_nothing(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1)])
    first = leased(store, "one")
    taken = store.take(first, 10)
    store.release(first)
    assert not store.settle(first, taken, [segment(1)])
    second = leased(store, "two")
    assert second.token == first.token + 1
    store.release(first)
    assert store.settle(second, taken, [segment(1)])


def test_who_waits_longest_is_first_and_a_live_lease_before_that(store: Store) -> None:
    a, b, c = (store.publish(survey_record(name), {}) for name in "abc")
    for record in (b, c, a):
        store.append([arrival(record, 1)])
    assert [leased(store, holder).survey for holder in "xyz"] == [b.id, c.id, a.id]
    assert store.lease("v", 30) is None
    # y keeps c, although b has waited longer and is free again.
    store.release(Lease(b.id, 1))
    assert leased(store, "y").survey == c.id
    assert leased(store, "v").survey == b.id


def test_a_busy_survey_does_not_starve_another(store: Store) -> None:
    busy, quiet = (store.publish(survey_record(name), {}) for name in "ab")
    store.append([arrival(busy, 1)])
    store.append([arrival(quiet, 2)])
    served = []
    for number in range(3, 6):
        lease = leased(store)
        served.append(lease.survey)
        taken = store.take(lease, 1)
        store.append([arrival(busy, number)])
        assert store.settle(lease, taken, [segment(*numbers_waiting(taken[0].rows))])
        store.release(lease)
    assert served == [busy.id, quiet.id, busy.id]


def test_a_check_passes_and_a_closed_store_refuses(place: Place) -> None:
    store = place.open()
    store.check()
    store.close()
    store.close()
    for ask in (store.check, store.surveys, lambda: store.append([arrival(survey_record(), 1)])):
        with pytest.raises(StoreError, match="closed"):
            ask()


def test_reports_of_a_deleted_survey_are_never_leased(store: Store) -> None:
    gone, other = (store.publish(survey_record(name), {}) for name in ("gone", "other"))
    store.delete(gone.id)
    assert isinstance(store, SqlStore)
    with store.write() as transaction:
        # However it came there: leased, it could not be settled, and would be leased again and again before any other.
        transaction.run(
            "INSERT INTO waiting (survey, epoch, n, content) SELECT number, 1, 1, ? FROM surveys WHERE id = ?",
            (b"x", gone.id),
        )
    assert store.lease("w", 30) is None
    store.append([arrival(other, 1)])
    lease = store.lease("w", 30)
    assert lease is not None
    assert lease.survey == other.id
