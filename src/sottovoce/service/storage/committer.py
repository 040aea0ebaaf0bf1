"""Group commit: whatever has arrived while one transaction was on its way goes into the next one.

A request is answered when the transaction with its reports has returned, never earlier. What comes to the event loop
in one turn it keeps by itself where the store can do so without waiting for anybody, because handing it to the thread
and back takes as long as the commit.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from sottovoce.core.errors import StoreError, StoreUnavailableError
from sottovoce.service.refusal import Refusal

__all__ = ["Appends", "Arrival", "Closed", "Committer", "Statistics"]

Closed: TypeAlias = Literal["unknown", "sealed", "deleted"]
"""Why a survey takes no reports."""


@dataclass(frozen=True)
class Arrival:
    """Decoded and checked reports on their way into the store."""

    survey: str
    epoch: int
    n: int
    rows: bytes = field(repr=False)
    """n rows of report id and payload, without the tag."""


_LEAST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 60.0

_PATIENCE: Final = 15.0
"""Seconds after which a transaction hangs: longer than a locked database is waited for."""

_FADING: Final = 0.9
"""Factor by which a group's weight in the measured rate shrinks with each later one."""

_LONG: Final = 0.005
"""Seconds after which a commit in the event loop was too long: others would notice."""

_REST: Final = 20.0
"""After a long commit, the event loop leaves all commits to the thread for this many times as long."""

_SHORT: Final = 2**17
_MOST_AT_ONCE: Final = 64
"""Bytes of an arrival, and arrivals, that the event loop keeps by itself at most: more take too long."""

Outcome: TypeAlias = Closed | StoreError | None


class Appends(Protocol):
    """The part of a store that the committer needs."""

    def append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """Keep all of them in one transaction, durable on return."""


class Statistics(NamedTuple):
    """Counts of the committer's work since it was made."""

    groups: int
    """Transactions, failed ones included."""
    failures: int
    reports: int
    """Reports handed to transactions that succeeded; those of surveys that take none included."""
    seconds: float
    """Total seconds in transactions."""


class _Waiter(NamedTuple):
    arrival: Arrival
    future: Future[Closed | None] | asyncio.Future[Closed | None]
    loop: asyncio.AbstractEventLoop | None


class Committer:
    """One thread that writes, and a bounded queue before it. Safe to use from several threads and event loops.

    Requests are served in the order they came. Arrivals of one survey and epoch in the same group are handed to the
    store as one. When the store raises, all of that group get the error, and the next group is tried. When it neither
    returns nor raises, all who wait and all who come are asked to send again, until it does.

    Parameters
    ----------
    store
        The store that keeps reports.
    most_waiting, most_bytes
        Most reports, and bytes of them, that are queued or being written; beyond, `Refusal` is raised. When nothing
        waits, one arrival is taken whatever its size.
    group_reports, group_bytes
        Most reports and bytes in one transaction, if it holds more than one arrival.
    patience
        Seconds that a transaction may take before nobody is made to wait for it any longer.
    at_once
        Keeps one arrival and says so, or says that it cannot without waiting for somebody; then the thread does it.
        Called in the event loop, with what came to it in one turn.
    """

    def __init__(
        self,
        store: Appends,
        most_waiting: int = 100_000,
        *,
        most_bytes: int = 2**26,
        group_reports: int = 200_000,
        group_bytes: int = 2**22,
        patience: float = _PATIENCE,
        clock: Callable[[], float] = time.perf_counter,
        at_once: Callable[[Arrival], bool] | None = None,
    ) -> None:
        self._store = store
        self._most_waiting, self._most_bytes = most_waiting, most_bytes
        self._group_reports, self._group_bytes = group_reports, group_bytes
        self._patience, self._clock = patience, clock
        self._at_once, self._not_before = at_once, -math.inf
        self._turns: dict[asyncio.AbstractEventLoop, list[_Waiter]] = {}
        self._queue: deque[_Waiter] = deque()
        self._writing: list[_Waiter] = []
        self._since = 0.0
        self._hanging = False
        self._reports = self._bytes = 0
        self._stopping = False
        self._statistics = Statistics(0, 0, 0, 0.0)
        self._recent_reports = self._recent_seconds = 0.0
        self._changed = threading.Condition(threading.Lock())
        self._thread = threading.Thread(target=self._work, name="committer", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="committer-watch", daemon=True).start()

    # --- from outside -----------------------------------------------------------------------

    def submit(self, arrival: Arrival) -> asyncio.Future[Closed | None]:
        """Submit reports; the awaited result is None once they are durable, or why the survey takes none.

        Awaiting raises what the store raised: `StoreFullError`, `StoreUnavailableError` or `StoreError`; nothing was
        kept then. Who cancels the wait does not cancel the reports: they are kept, and sending them again does no harm.

        Raises
        ------
        Refusal
            At once, when too much is waiting; `StoreUnavailableError` when the database has stopped answering.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Closed | None] = loop.create_future()
        waiter = _Waiter(arrival, future, loop)
        turn = self._turns.get(loop)
        if turn is not None and len(turn) < _MOST_AT_ONCE and len(arrival.rows) <= _SHORT:
            turn.append(waiter)
        elif turn is None and len(arrival.rows) <= _SHORT and self._is_calm():
            self._turns[loop] = [waiter]
            loop.call_soon(self._end_turn, loop)
        else:
            self._enqueue(waiter)
        return future

    def commit(self, arrival: Arrival) -> Closed | None:
        """Submit from a thread without an event loop: waits, and returns or raises what `submit` promises."""
        future: Future[Closed | None] = Future()
        self._enqueue(_Waiter(arrival, future, None))
        return future.result()

    @property
    def depth(self) -> int:
        """How many reports are queued or being written."""
        return self._reports

    @property
    def hangs(self) -> bool:
        """Whether a transaction neither ends nor fails."""
        return self._hanging

    @property
    def statistics(self) -> Statistics:
        """What has been done so far."""
        return self._statistics

    @property
    def drain_seconds(self) -> float:
        """How long what is waiting will take, at the rate of the latest groups; between 1 and 60."""
        if not self._recent_seconds:
            return _LEAST_WAIT
        if not self._recent_reports:
            return _LONGEST_WAIT
        needed = self._reports * self._recent_seconds / self._recent_reports
        return min(max(needed, _LEAST_WAIT), _LONGEST_WAIT)

    def close(self) -> None:
        """Take nothing more, write what is queued, answer everybody, then return. Closing twice changes nothing."""
        with self._changed:
            self._stopping = True
            self._changed.notify()
        self._thread.join()

    # --- in the event loop ------------------------------------------------------------------

    def _is_calm(self) -> bool:
        """Whether the event loop may keep arrivals by itself: nothing else is queued or written, and the disk is fast.

        The loop stands still meanwhile, for about as long as it would take to wake the thread. A disk that is slower
        than that is left to the thread for a while.
        """
        return not (self._at_once is None or self._reports or self._stopping or self._clock() < self._not_before)

    def _end_turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Keep what came to the loop in one turn, in one transaction; or leave it to the thread."""
        group = self._turns.pop(loop)
        first = group[0].arrival
        alike = all((waiter.arrival.survey, waiter.arrival.epoch) == (first.survey, first.epoch) for waiter in group)
        if alike and self._is_calm() and self._kept_at_once(_joined([waiter.arrival for waiter in group])):
            _resolve([(waiter.future, None) for waiter in group])
            return
        for waiter in group:
            try:
                self._enqueue(waiter)
            except (Refusal, StoreError) as error:
                if not waiter.future.done():
                    waiter.future.set_exception(error)

    def _kept_at_once(self, arrival: Arrival) -> bool:
        began = self._clock()
        try:
            kept = self._at_once is not None and self._at_once(arrival)
        except Exception:
            kept = False  # the thread tries the same, and tells why it fails
        seconds = self._clock() - began
        if seconds > _LONG:
            self._not_before = began + seconds + _REST * seconds
        if kept:
            with self._changed:
                self._count(arrival.n, seconds, failed=False)
        return kept

    # --- the queue --------------------------------------------------------------------------

    def _enqueue(self, waiter: _Waiter) -> None:
        n, size = waiter.arrival.n, len(waiter.arrival.rows)
        with self._changed:
            if self._stopping:
                raise _overloaded("the collector is stopping and accepts no more reports; send them later", _LEAST_WAIT)
            if self._hanging:
                raise _no_answer()
            if self._reports and (self._reports + n > self._most_waiting or self._bytes + size > self._most_bytes):
                wait = self.drain_seconds
                raise _overloaded(
                    f"{self._reports:,} reports are queued, about as many as may be; send these again in about "
                    f"{wait:.0f} seconds",
                    wait,
                )
            self._reports += n
            self._bytes += size
            self._queue.append(waiter)
            self._changed.notify()

    # --- the thread -------------------------------------------------------------------------

    def _work(self) -> None:
        while group := self._next_group():
            try:
                outcomes: Sequence[Outcome] = self._append([waiter.arrival for waiter in group])
            except StoreError as error:
                outcomes = [error] * len(group)
            except BaseException as fault:  # whatever it is, somebody waits for an answer and more will come
                unforeseen = StoreError("the database failed in an unforeseen way; nothing was acknowledged")
                unforeseen.__cause__ = fault
                outcomes = [unforeseen] * len(group)
            self._note(group, outcomes, self._clock() - self._since)
            _answer(group, outcomes)

    def _watch(self) -> None:
        """Look now and then whether a transaction hangs. What it holds may be kept yet: sent again, it counts once."""
        while self._thread.is_alive():
            self._thread.join(self._patience / 10)
            with self._changed:
                if not self._writing or self._clock() - self._since < self._patience:
                    continue
                self._hanging = True
                waiters = [*self._writing, *self._queue]
                self._reports -= sum(waiter.arrival.n for waiter in self._queue)
                self._bytes -= sum(len(waiter.arrival.rows) for waiter in self._queue)
                self._queue.clear()
            _answer(waiters, [_no_answer()] * len(waiters))

    def _next_group(self) -> list[_Waiter]:
        """The oldest arrivals that fit into one transaction; none when all is done and the service stops."""
        with self._changed:
            while not self._queue and not self._stopping:
                self._changed.wait()
            group: list[_Waiter] = []
            reports = size = 0
            while self._queue:
                arrival = self._queue[0].arrival
                reports, size = reports + arrival.n, size + len(arrival.rows)
                if group and (reports > self._group_reports or size > self._group_bytes):
                    break
                group.append(self._queue.popleft())
            self._writing, self._since = group, self._clock()
            return group

    def _append(self, arrivals: Sequence[Arrival]) -> list[Closed | None]:
        """One transaction, in which arrivals of one survey and epoch are one."""
        if len(arrivals) == 1:
            (verdict,) = self._store.append(arrivals)
            return [verdict]
        parts: dict[tuple[str, int], list[Arrival]] = {}
        for arrival in arrivals:
            parts.setdefault((arrival.survey, arrival.epoch), []).append(arrival)
        verdicts = self._store.append([_joined(part) for part in parts.values()])
        by_part = dict(zip(parts, verdicts, strict=True))
        return [by_part[arrival.survey, arrival.epoch] for arrival in arrivals]

    def _note(self, group: Sequence[_Waiter], outcomes: Sequence[Outcome], seconds: float) -> None:
        reports = sum([waiter.arrival.n for waiter in group])
        size = sum([len(waiter.arrival.rows) for waiter in group])
        with self._changed:
            self._writing, self._hanging = [], False
            self._reports -= reports
            self._bytes -= size
            self._count(reports, seconds, failed=isinstance(outcomes[0], StoreError))

    def _count(self, reports: int, seconds: float, *, failed: bool) -> None:
        done = 0 if failed else reports
        past = self._statistics
        self._statistics = Statistics(
            past.groups + 1, past.failures + failed, past.reports + done, past.seconds + seconds
        )
        self._recent_reports = _FADING * self._recent_reports + done
        self._recent_seconds = _FADING * self._recent_seconds + seconds


def _no_answer() -> StoreUnavailableError:
    return StoreUnavailableError("the database does not answer; send these again later")


def _joined(part: list[Arrival]) -> Arrival:
    if len(part) == 1:
        return part[0]
    n = sum(arrival.n for arrival in part)
    return Arrival(part[0].survey, part[0].epoch, n, b"".join([arrival.rows for arrival in part]))


def _answer(group: Sequence[_Waiter], outcomes: Sequence[Outcome]) -> None:
    """Tell everybody; each event loop is woken once for the whole group."""
    by_loop: dict[asyncio.AbstractEventLoop | None, list[tuple[Any, Outcome]]] = {}
    for waiter, outcome in zip(group, outcomes, strict=True):
        by_loop.setdefault(waiter.loop, []).append((waiter.future, outcome))
    for loop, answers in by_loop.items():
        if loop is None:
            _resolve(answers)
            continue
        try:
            loop.call_soon_threadsafe(_resolve, answers)
        except RuntimeError:
            continue  # the loop is closed: nobody waits there any more


def _resolve(answers: Sequence[tuple[Any, Outcome]]) -> None:
    for future, outcome in answers:
        if future.done():
            continue  # cancelled, or its request is gone
        if isinstance(outcome, StoreError):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)


def _overloaded(message: str, seconds: float) -> Refusal:
    return Refusal(503, "overloaded", message, retry_after=seconds)
