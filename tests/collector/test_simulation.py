"""Random histories of a collector, with faults before, inside and after every transaction, and clocks that jump.

Every report has a cell of its own: a count of two proves that it was counted twice, a count of zero that it was lost.
After the style of Janus's simulation. Histories are drawn from fixed seeds, so that each can be repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sottovoce as sv
from collector.planted import PLANTS
from collector.shaky import Shaky, ShakyPostgres, ShakySqlite
from sottovoce.collector.counting.aggregator import Aggregator, check, live_aggregate, rebuild
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.collector.store.reports import ReportTables
from sottovoce.core.errors import SottovoceError, StoreFullError, StoreUnavailableError
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.aggregate import Aggregate
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

SIZE = 48
"""Cells of a survey, and the most reports of one; a checkpoint is due after a quarter as many."""

LEASE = 10.0
HOUR = 3600

PATIENCE = 100
"""Steps without progress after which reports wait for ever. Each lets an hour go by, since a lease may have been taken
on a clock that stood hours ahead; no history sets its clock back by as many hours as this."""


class CrashError(BaseException):
    """The process is gone: whatever it had in memory is forgotten."""


@dataclass
class Question:
    """A survey, and what its devices know of their reports."""

    survey: Survey
    rows: list[bytes] = field(default_factory=list)
    acknowledged: set[int] = field(default_factory=set)
    perhaps: set[int] = field(default_factory=set)
    """Sent without an answer: they may have been kept."""
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(SIZE, dtype=np.int64))
    """The most that was seen of them."""
    sealed: bool = False


class History:
    """One random sequence of operations on a store."""

    def __init__(self, store: Callable[[], Shaky], seed: int):
        self.rng = np.random.default_rng(seed)
        self.seed = seed
        self.open = store
        self.time = 1e9 + float(self.rng.integers(HOUR))
        self.fault_rate = float(self.rng.choice([0.0, 0.02, 0.05]))
        self.meanwhile_rate = float(self.rng.choice([0.0, 0.05, 0.15]))
        self.surveys = int(self.rng.integers(1, 3))
        self.depth = 0
        self.busy: Aggregator | None = None
        self.stores: list[Shaky] = []
        self.store = self.opened()
        self.questions: list[Question] = []
        self.aggregators = [self.started() for _ in range(int(self.rng.integers(2, 4)))]

    def opened(self) -> Shaky:
        store = self.open()
        store.now = lambda: self.time
        store.moment = self.moment
        self.stores.append(store)
        return store

    def started(self) -> Aggregator:
        return Aggregator(
            self.store,
            "worker",
            lease_seconds=LEASE,
            most=int(self.rng.integers(1, 30)),
            memory_bytes=int(self.rng.choice([0, 1 << 20])),
            ids_in_memory=int(self.rng.choice([8, 1 << 20])),
            checkpoint_after=int(self.rng.integers(SIZE // 2)),
            largest_segment=int(self.rng.choice([8, 64])),
            fan_in=int(self.rng.integers(2, 4)),
            crowd=int(self.rng.choice([1, 1, 6])),
            epoch=lambda: int(self.time // HOUR),
        )

    # --- what can happen at any moment ------------------------------------------------------

    def moment(self, where: str) -> None:
        # Segments are put together seldom; that moment must be tried often enough.
        rate = self.meanwhile_rate * (6 if where == "compact" else 1)
        if self.rng.random() < rate and self.depth == 0 and where != "inside":
            # Others go on while this one stands still, perhaps until its lease has run out.
            self.depth = 1
            try:
                if self.rng.random() < 0.7:
                    self.time += LEASE + 1
                    self.happen(self.rng.choice([History.upload, History.resend]))
                    self.happen(History.count)
                for _ in range(int(self.rng.integers(1, 4))):
                    self.operate()
            finally:
                self.depth = 0
        if self.rng.random() < self.fault_rate:
            raise self.rng.choice([StoreUnavailableError, StoreFullError, CrashError])(where)

    # --- operations -------------------------------------------------------------------------

    def operate(self) -> None:
        self.happen(OPERATIONS[self.rng.choice(len(OPERATIONS), p=CHANCES)])

    def happen(self, operation: Callable[[History], None]) -> None:
        with suppress(StoreUnavailableError, StoreFullError, CrashError):
            operation(self)

    def publish(self) -> None:
        """Again and again, as an analyst's program would that lost the answer; it changes nothing."""
        title = f"{self.seed}-{self.rng.integers(self.surveys)}"
        survey = Survey(sv.shares(SIZE), epsilon=4.0, mechanism="randomized_response", title=title)
        record = SurveyRecord(survey.id, survey.canonical, bytes(64), title, survey.kind, survey.epsilon, 1, 0)
        stands = self.store.publish(record, {})
        assert stands.canonical == record.canonical
        if all(question.survey.id != survey.id for question in self.questions):
            self.questions.append(Question(survey))

    def send(self, parts: list[tuple[Question, list[int]]]) -> None:
        epoch = int(self.time // HOUR)
        arrivals = [
            Arrival(question.survey.id, epoch, len(chosen), b"".join(question.rows[i] for i in chosen))
            for question, chosen in parts
        ]
        try:
            answers = self.store.append(arrivals)
        except BaseException:
            for question, chosen in parts:
                question.perhaps |= set(chosen)
            raise
        for (question, chosen), answer in zip(parts, answers, strict=True):
            if answer is None:
                question.acknowledged |= set(chosen)
            else:
                assert question.sealed
                assert answer == "sealed"

    def upload(self) -> None:
        """New reports, of one survey or of both, some perhaps twice in one body."""
        if not self.questions:
            return
        parts = []
        for question in self.rng.permuted(self.questions)[: 1 + (self.rng.random() < 0.2)]:
            first = len(question.rows)
            new = list(range(first, min(first + int(self.rng.integers(1, 7)), SIZE)))
            for i in new:
                # Some ids share their beginning, as a hostile sender's would.
                half = bytes(8) if self.rng.random() < 0.3 else self.rng.bytes(8)
                question.rows.append(half + self.rng.bytes(8) + bytes([i]))
            twice = self.some(len(question.rows)) if self.rng.random() < 0.3 else []
            if new + twice:
                parts.append((question, new + twice))
        self.send(parts)

    def resend(self) -> None:
        """Reports sent before, acknowledged or not, in another batch."""
        question = self.question()
        if question is not None and question.rows:
            self.send([(question, self.some(len(question.rows)))])

    def some(self, n: int) -> list[int]:
        return [int(i) for i in self.rng.integers(n, size=int(self.rng.integers(1, 6)))] if n else []

    def question(self) -> Question | None:
        return self.questions[int(self.rng.integers(len(self.questions)))] if self.questions else None

    def count(self) -> None:
        # One that stands still in the middle of a step cannot begin another.
        place = int(self.rng.choice([i for i, one in enumerate(self.aggregators) if one is not self.busy]))
        aggregator = self.aggregators[place]
        if self.depth == 0:
            self.busy = aggregator
        try:
            aggregator.step() or aggregator.tidy()
        except CrashError:
            self.aggregators[place] = self.started()
        finally:
            if self.depth == 0:
                self.busy = None

    def jump(self) -> None:
        self.time += float(self.rng.choice([1.0, LEASE + 1, HOUR, -1.0, -LEASE - 1, -5 * HOUR]))

    def look(self) -> None:
        question = self.question()
        if question is not None:
            before = question.counts.copy()
            self.seen(question, live_aggregate(self.store, question.survey), before)

    def seen(self, question: Question, aggregate: Aggregate, before: NDArray[np.int64]) -> None:
        counts = aggregate.counts
        assert counts.max(initial=0) <= 1, "counted twice"
        assert counts.sum() == aggregate.n_reports, "the number of reports is not that of the counts"
        assert np.all(counts >= before), "a counted report is gone"
        question.counts = np.maximum(question.counts, counts)

    def restart(self) -> None:
        """A worker is killed, and another starts under its name."""
        self.aggregators[int(self.rng.integers(len(self.aggregators)))] = self.started()

    def reopen(self) -> None:
        """Everything is killed: connections are dropped, not closed."""
        self.store = self.opened()
        self.aggregators = [self.started() for _ in self.aggregators]

    def seal(self) -> None:
        question = self.question()
        if question is not None:
            question.sealed = True
            self.store.seal(question.survey.id)

    # --- the whole --------------------------------------------------------------------------

    def run(self) -> None:
        self.happen(History.publish)
        for _ in range(int(self.rng.integers(6, 24))):
            self.operate()
        self.fault_rate = self.meanwhile_rate = 0.0
        self.count_all()
        for question in self.questions:
            self.verify(question)
            self.store.delete(question.survey.id)
        for store in self.stores:
            store.close()

    def count_all(self) -> None:
        last = self.started()
        waiting, idle = self.waiting(), 0
        while waiting and idle < PATIENCE:
            self.time += HOUR if idle else LEASE + 1
            last.step()
            before, waiting = waiting, self.waiting()
            idle = 0 if waiting < before else idle + 1

    def waiting(self) -> int:
        return sum(self.store.waiting(question.survey.id) for question in self.questions)

    def verify(self, question: Question) -> None:
        assert self.store.waiting(question.survey.id) == 0, "reports wait for ever"
        live = check(self.store, question.survey)
        assert live == rebuild(self.store, question.survey)
        self.seen(question, live, question.counts)
        counted = set(np.flatnonzero(live.counts).tolist())
        assert question.acknowledged <= counted, "an acknowledged report is lost"
        assert counted <= question.acknowledged | question.perhaps, "a report was counted that was refused"


OPERATIONS = (
    History.publish, History.upload, History.resend, History.count, History.jump, History.look, History.restart,
    History.reopen, History.seal,
)  # fmt: skip
CHANCES = np.array([8, 40, 14, 30, 5, 4, 3, 2, 1]) / 107


def many(make: Callable[[], Shaky], seeds: range) -> None:
    for seed in seeds:
        try:
            History(make, seed).run()
        except (AssertionError, SottovoceError) as error:
            raise AssertionError(f"history {seed}: {error}") from error


@pytest.fixture
def sqlite(tmp_path: Path) -> Callable[[], Shaky]:
    return lambda: ShakySqlite(tmp_path / "collector.db")


@pytest.fixture
def postgresql(new_postgresql: Callable[[], str]) -> Callable[[], Shaky]:
    url = new_postgresql()
    return lambda: ShakyPostgres(url)


@pytest.fixture
def met(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each thing happened that the simulation is there to try."""
    met: Counter[str] = Counter()

    def watch(name: str, word: Callable[[tuple[Any, ...], Any], str]) -> None:
        real = getattr(ReportTables, name)

        def watched(self: Shaky, *arguments: Any) -> Any:
            result = real(self, *arguments)
            met[word(arguments, result)] += 1
            return result

        monkeypatch.setattr(ReportTables, name, watched)

    watch("settle", lambda arguments, done: f"settle {done}, checkpoint {arguments[3] is not None}")
    watch("compact", lambda _, done: f"compact {done}")
    watch("lease_untidy", lambda _, lease: f"untidy {lease is not None}")
    watch("lease", lambda _, lease: f"lease {lease is not None}")
    watch("append", lambda _, answers: f"refused {any(answers)}")
    return met


def test_no_report_is_lost_or_counted_twice_on_sqlite(sqlite: Callable[[], Shaky], met: Counter[str]) -> None:
    """Power: of faults that show in one history of 72 or more often, 500 histories miss one in a thousand."""
    many(sqlite, range(500))
    expected = {f"settle {done}, checkpoint {with_one}" for done in (True, False) for with_one in (True, False)}
    expected |= {"compact True", "compact False", "lease True", "lease False", "untidy True", "untidy False"}
    expected |= {"refused True", "refused False"}
    assert {word for word, n in met.items() if n >= 5} == expected, met


def test_no_report_is_lost_or_counted_twice_on_postgresql(postgresql: Callable[[], Shaky]) -> None:
    many(postgresql, range(10_000, 10_080))


@pytest.mark.parametrize("plant", PLANTS)
def test_a_planted_fault_is_found(
    sqlite: Callable[[], Shaky], monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    """A simulation that cannot find these finds nothing."""
    plant(monkeypatch)
    with pytest.raises(AssertionError, match=r"history \d+"):
        many(sqlite, range(100))
