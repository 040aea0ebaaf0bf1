"""What processes do to a store that others use at the same time."""

import secrets
from collections.abc import Sequence
from multiprocessing.synchronize import Barrier, Event

from collector.places import Place
from collector.records import arrival, numbers_waiting, segment
from sottovoce.collector.store.records import SurveyRecord


def append_reports(place: Place, record: SurveyRecord, start: int, appends: int) -> None:
    store = place.open()
    for step in range(appends):
        first = start + 5 * step
        assert store.append([arrival(record, *range(first, first + 5))]) == [None]
    store.close()


def count_reports(place: Place, record: SurveyRecord, finished: Event) -> None:
    store = place.open()
    holder = secrets.token_hex(8)
    while True:
        last = finished.is_set()
        # So short that a lease is often taken over while its holder still works.
        lease = store.lease(holder, 0.002)
        if lease is not None:
            taken = store.take(lease, 20)
            numbers = [number for each in taken for number in numbers_waiting(each.rows)]
            store.settle(lease, taken, [segment(*numbers)])
        elif last and not store.waiting(record.id):
            break
    store.close()


def open_and_close(places: Sequence[Place], ready: Barrier) -> None:
    for place in places:
        ready.wait(60)
        store = place.open()
        store.check()
        store.close()
