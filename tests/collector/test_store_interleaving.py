"""Requests that interleave, by real threads and processes: no report is lost, kept late, or counted twice."""

import multiprocessing
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from collector.places import Place
from collector.records import arrival, numbers_in, segment, survey_record
from collector.store_processes import append_reports, count_reports, open_and_close
from sottovoce.collector.store import Store
from sottovoce.collector.store.records import Lease, SurveyRecord
from sottovoce.collector.store.sql import SqlStore
from sottovoce.core.errors import MismatchError

pytestmark = pytest.mark.slow

spawn = multiprocessing.get_context("spawn")

PATIENCE = 120
"""Seconds after which a process counts as hanging."""


def together(*calls: Callable[[], object]) -> list[object]:
    """Make all calls at the same moment, each in a thread; what each returned or raised."""
    barrier = threading.Barrier(len(calls))

    def one(call: Callable[[], object]) -> object:
        barrier.wait()
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(one, calls))


def append_until_refused(store: Store, record: SurveyRecord) -> tuple[int, str]:
    kept = 0
    for number in range(10_000):
        (refusal,) = store.append([arrival(record, number)])
        if refusal is not None:
            return kept, refusal
        kept += 1
    return kept, "never refused"


@pytest.mark.parametrize("end", ["seal", "delete"])
def test_no_report_is_kept_after_the_end(store: Store, end: str) -> None:
    record = store.publish(survey_record(), {})
    bystander = store.publish(survey_record("bystander"), {})
    store.append([arrival(bystander, 1)])
    at_the_end: list[int] = []

    def finish() -> None:
        while store.waiting(record.id) < 20:
            pass
        getattr(store, end)(record.id)
        at_the_end.append(store.waiting(record.id))

    *outcomes, _ = together(*[lambda: append_until_refused(store, record)] * 4, finish)
    assert {refusal for _, refusal in outcomes} == {"sealed" if end == "seal" else "deleted"}
    kept = sum(n for n, _ in outcomes)
    assert kept >= 20
    # What was acknowledged is there when `seal` returns, and nothing comes after it.
    assert at_the_end == [kept if end == "seal" else 0]
    assert store.waiting(record.id) == at_the_end[0]
    assert store.waiting(bystander.id) == 1
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        assert transaction.rows("SELECT COUNT(*) FROM waiting") == [(1 + (kept if end == "seal" else 0),)]


def test_every_survey_is_leased_to_one_of_many(store: Store) -> None:
    records = [store.publish(survey_record(f"survey {number}"), {}) for number in range(4)]
    store.append([arrival(record, 1) for record in records])
    leases = together(*[lambda holder=holder: store.lease(f"holder {holder}", 30) for holder in range(8)])
    # Somebody may see all free ones being taken and come back empty-handed; nobody shares.
    held = [lease for lease in leases if isinstance(lease, Lease)]
    assert set(map(type, leases)) <= {Lease, type(None)}
    assert len({lease.survey for lease in held}) == len(held) >= 1
    assert {lease.token for lease in held} == {1}


def test_what_is_taken_settles_once(store: Store) -> None:
    record = store.publish(survey_record(), {})
    store.append([arrival(record, 1, 2)])
    lease = store.lease("w", 30)
    assert lease is not None
    taken = store.take(lease, 10)
    assert sorted(map(str, together(*[lambda: store.settle(lease, taken, [segment(1, 2)])] * 4))) == [
        *["False"] * 3,
        "True",
    ]
    assert [info.n for info in store.segments(record.id)] == [2]


def test_settling_and_deleting_leave_nothing(store: Store) -> None:
    for attempt in range(5):
        record = store.publish(survey_record(f"survey {attempt}"), {})
        store.append([arrival(record, 1)])
        lease = store.lease("w", 30)
        assert lease is not None
        taken = store.take(lease, 10)
        outcomes = together(
            lambda lease=lease, taken=taken: store.settle(lease, taken, [segment(1)]),
            lambda record=record: store.delete(record.id),
        )
        assert outcomes[0] in (True, False)
        assert outcomes[1] is None
        assert store.segments(record.id) == []
        assert not store.settle(lease, taken, [segment(1)])
        assert not store.settle(lease, [], [segment(1)])
        assert store.segments(record.id) == []


def test_one_survey_published_by_many_is_published_once(store: Store) -> None:
    record = survey_record()
    outcomes = together(*[lambda: store.publish(record, {"aa": b"one"})] * 6)
    assert outcomes == [record] * 6
    assert store.surveys() == [record]


def test_of_many_questions_for_one_round_one_wins(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    rounds = [survey_record(f"question {number}", parent=parent.id, round=1) for number in range(6)]
    outcomes = together(*[lambda record=record: store.publish(record, {}) for record in rounds])
    winners = [outcome for outcome in outcomes if isinstance(outcome, SurveyRecord)]
    assert store.rounds(parent.id) == winners
    assert len(winners) == 1
    assert sum(isinstance(outcome, MismatchError) for outcome in outcomes) == 5


def test_surveys_sealed_and_filled_in_any_order_never_wait_for_each_other(store: Store) -> None:
    parent = store.publish(survey_record("panel"), {})
    records = [parent, *(store.publish(survey_record(name), {}) for name in "bcd")]
    records.append(store.publish(survey_record("round", parent=parent.id, round=1), {}))
    forward = [arrival(record, 1) for record in records]

    def appends() -> None:
        for _ in range(20):
            store.append(forward)
            store.append(forward[::-1])

    def seals() -> None:
        for record in records:
            store.seal(record.id)

    assert together(appends, appends, seals, seals) == [None] * 4


def test_processes_count_every_report_once(place: Place) -> None:
    store = place.open()
    record = store.publish(survey_record(), {})
    finished = spawn.Event()
    counting = [spawn.Process(target=count_reports, args=(place, record, finished)) for _ in range(2)]
    bringing = [spawn.Process(target=append_reports, args=(place, record, start, 60)) for start in (0, 300)]
    for process in (*counting, *bringing):
        process.start()
    for process in bringing:
        process.join(PATIENCE)
    finished.set()
    for process in counting:
        process.join(PATIENCE)
    assert [process.exitcode for process in (*counting, *bringing)] == [0] * 4
    counted = Counter(number for each in store.read_segments(record.id) for number in numbers_in(each.ids))
    assert counted == Counter(range(600))
    store.close()


def test_processes_that_start_together_make_the_tables_once(place: Place) -> None:
    ready = spawn.Barrier(3)
    # Many new files, for two processes seldom meet in the few moments that matter.
    places = [Place(place.database, place.data / str(step)) for step in range(20)]
    processes = [spawn.Process(target=open_and_close, args=(places, ready)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(PATIENCE)
    assert [process.exitcode for process in processes] == [0] * 3
    store = places[0].open()
    assert isinstance(store, SqlStore)
    with store.read() as transaction:
        assert transaction.rows("SELECT number FROM migrations WHERE number = 1") == [(1,)]
    store.close()
