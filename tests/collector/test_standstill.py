"""Whether counting stands still, from the oldest entry that waits of each survey."""

from __future__ import annotations

from collector.records import arrival, segment, survey_record
from sottovoce.collector.metrics import Standstill
from sottovoce.collector.store import Store


def test_only_surveys_whose_oldest_report_stays_the_oldest_stand_still() -> None:
    now = [0.0]
    standstill = Standstill(60.0, lambda: now[0])

    def after(seconds: float, oldest: dict[int, int]) -> int:
        now[0] += seconds
        return standstill.look(oldest)

    assert after(0, {1: 5, 2: 7}) == 0
    assert after(59, {1: 5, 2: 9, 3: 10}) == 0
    assert after(2, {1: 5, 2: 9, 3: 10}) == 1
    assert after(57, {1: 5, 2: 9, 3: 10}) == 1
    assert after(1, {1: 6, 2: 9, 3: 10}) == 2
    assert after(1, {}) == 0
    assert after(100, {1: 6}) == 0


def test_the_store_names_the_oldest_waiting_entry_of_each_survey(store: Store) -> None:
    one, two = (store.publish(survey_record(name), {}) for name in ("one", "two"))
    assert store.oldest_waiting() == {}
    for record in (one, two, one):
        assert store.append([arrival(record, 1)]) == [None]
    assert sorted(store.oldest_waiting().values()) == [1, 2]
    lease = store.lease("a", 30)
    assert lease is not None
    taken = store.take(lease, 1)
    assert store.settle(lease, taken, [segment(6, 1)])
    assert sorted(store.oldest_waiting().values()) == [2, 3]
