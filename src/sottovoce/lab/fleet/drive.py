"""Run a fleet: some full devices, the others in batches, until everybody has answered once."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, final

from numpy.typing import ArrayLike

from sottovoce.analyst.collector import find_survey
from sottovoce.core.errors import ServiceError, SimulationError, SurveyError
from sottovoce.core.limits import DEFAULT_CAP, DEFAULT_DELTA_CAP, check_integer
from sottovoce.device import CollectorClient, Device, Http, MemoryStore, Patience
from sottovoce.device.fetch import Published, check_survey_id
from sottovoce.lab.fleet.people import (
    MOST_PEOPLE,
    REPORTS,
    Respondents,
    Unlisted,
    Urn,
    respondents_for,
    seed_of,
    true_answers,
)
from sottovoce.lab.fleet.sending import BatchSender, Ended, SendCounter, Sent, bodies
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.simulation import Seed, check_seed
from sottovoce.surveys.survey import Survey, Tracking

__all__ = ["DEFAULT_BATCH", "DEFAULT_SINGLES", "run", "survey_id_of"]

DEFAULT_SINGLES: Final = 200
DEFAULT_BATCH: Final = 1000

_CONNECTIONS: Final = 4
_ATTEMPTS: Final = 12
_MOST_BATCH: Final = 10**6
_LOOK: Final = 0.1
"""Seconds between checks whether a round has opened."""

Progress = Callable[[int], object]


def run(
    url: str,
    survey_id: str,
    people: int,
    *,
    singles: int = DEFAULT_SINGLES,
    batch: int = DEFAULT_BATCH,
    distribution: str | ArrayLike = "zipf",
    seed: Seed = None,
    resend: int = 0,
    seconds: float | None = None,
    connections: int = _CONNECTIONS,
    insecure: bool = False,
    guests: Sequence[tuple[Device, object]] = (),
    attempts: int = _ATTEMPTS,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
) -> Sent:
    """Let simulated people answer a survey of a collector, each once.

    `singles` of them have a full `Device` each, with its own ledger: it fetches, verifies, draws from the system's
    entropy, records and sends. The reports of the others are drawn from the same distribution, vectorised, and sent in
    batches. A panel's rounds are answered as they open, by those who have drawn them; of a tracking survey the periods
    that can be answered now are.

    Parameters
    ----------
    people, singles
        How many people there are, and how many of them answer by themselves.
    batch
        Largest number of reports per request; fewer if they exceed a megabyte.
    distribution
        The distribution of values: "zipf", "uniform", "geometric", a file's name, shares that sum to one, or integers,
        the exact number of people with each value. People with vectors are those of `simulate vector`.
    seed
        For the same people and the same reports in batches again. Report ids and whatever single devices draw come from
        the system's entropy all the same.
    resend
        Number of requests to send twice, as after a lost acknowledgement.
    seconds
        Time limit.
    guests
        Existing devices with their owners' values, which answer too.
    attempts
        How often the same bytes are sent to a busy or unavailable collector.
    progress
        Called with the number of people done since its last call.
    stop
        Set it from another thread to end early.

    Raises
    ------
    ServiceError
        If the collector cannot be reached, or refuses all reports.
    """
    people = check_integer("people", people, 1, MOST_PEOPLE)
    alone = min(people, check_integer("singles", singles, 0, MOST_PEOPLE))
    check_integer("batch", batch, 1, _MOST_BATCH)
    check_integer("resend", resend, 0, 2**20)
    threads = check_integer("connections", connections, 1, 16)
    fixed = secrets.randbits(32) if seed is None else check_seed(seed)
    stopped, tally = stop or threading.Event(), SendCounter()

    def pause(wait: float) -> None:
        tally.wait()
        stopped.wait(wait)

    patience = Patience(attempts=check_integer("attempts", attempts, 1, 1000), first=0.05, sleep=pause)
    http = Http(url, insecure=insecure)
    published = CollectorClient(http, patience).survey(check_survey_id(survey_id), None)
    asked = published.survey.once if isinstance(published.survey, Tracking) else published.survey
    crowd, shares = respondents_for(asked, people, distribution, fixed)
    began = time.monotonic()
    ends = None if seconds is None else began + float(seconds)
    ended: Ended = "done"
    rounds: list[int] = []
    pool = ThreadPoolExecutor(threads)
    try:
        fleet = _Fleet(http, patience, pool, threads, batch, fixed, resend, ends, stopped, tally, progress)
        devices = [_Owner(*guest) for guest in guests] + fleet.devices(published.survey, crowd.values(alone))
        if isinstance(published.survey, Panel):
            assert isinstance(crowd, Urn)
            ended = fleet.answer_rounds(published, crowd, devices, rounds)
        elif isinstance(published.survey, Tracking):
            ended = fleet.answer_periods(published, published.survey, crowd, devices, rounds)
        else:
            ended = fleet.answer(published, crowd, devices)
    except KeyboardInterrupt:
        ended = "interrupted"
    finally:
        if stop is None:
            stopped.set()  # wakes threads that wait for a retry
        pool.shutdown(cancel_futures=True)
        http.close()
    truth = crowd.shares if isinstance(crowd, Unlisted) else None
    if truth is None:
        labels = asked.answer_labels() if isinstance(asked, Survey) else []
        truth = list(zip(labels, true_answers(asked, shares).tolist(), strict=True))
    return Sent(
        survey=survey_id,
        kind=published.survey.kind,
        people=people,
        seed=fixed,
        singles=tally.singles,
        batches=tally.batches,
        accepted=tally.singles + tally.batched,
        refused=dict(tally.refused),
        resent=tally.resent,
        waits=tally.waits,
        rounds=tuple(rounds),
        seconds=time.monotonic() - began,
        ended=ended,
        truth=truth,
    )


@dataclass
class _Owner:
    """A device and its owner's value; done once the collector has its report, or will not have it."""

    device: Device
    value: object
    done: bool = False


@final
@dataclass(frozen=True)
class _Fleet:
    http: Http
    patience: Patience
    pool: ThreadPoolExecutor
    threads: int
    batch: int
    seed: int
    resend: int
    ends: float | None
    stopped: threading.Event
    tally: SendCounter
    progress: Progress | None

    @property
    def collector(self) -> CollectorClient:
        return CollectorClient(self.http, self.patience)

    def devices(self, survey: Survey | Panel | Tracking, values: list[object]) -> list[_Owner]:
        """A new device for every value; their owners allow what is asked."""
        epsilon, delta = max(DEFAULT_CAP, survey.epsilon), max(DEFAULT_DELTA_CAP, survey.delta)
        shared = self.collector
        asked = survey.once if isinstance(survey, Tracking) else survey
        allowed = () if isinstance(asked, Panel) else (asked.kind, asked.design.name, asked.mechanism.name)

        def device() -> Device:
            return Device(
                MemoryStore(),
                cap=epsilon,
                budget=epsilon,
                delta_cap=delta,
                delta_budget=delta,
                allow_mechanisms=allowed,
                connect=lambda _: shared,
            )

        return [_Owner(device(), value) for value in values]

    def answer(self, published: Published, crowd: Respondents, devices: list[_Owner]) -> Ended:
        """Everybody answers one survey."""
        asked = published.survey
        assert isinstance(asked, Survey)
        self._one_by_one(asked.id, devices)
        sender = BatchSender(self.http, asked.id, self.patience, self.pool, 2 * self.threads, self.tally)
        kept: list[tuple[bytes, int]] = []
        number = 0 if asked.seat is None else asked.seat.round
        for body, n in bodies(asked, crowd, self.batch, seed_of(self.seed, REPORTS, number)):
            if sender.over or self._late():
                break
            sender.send(body, n, self._done)
            if len(kept) < self.resend:
                kept.append((body, n))
        sender.finish()
        for body, n in kept:
            sender.send(body, n, lambda _: None, again=True)
        sender.finish()
        return "sealed" if sender.over else self._why() or "done"

    def answer_rounds(self, published: Published, crowd: Urn, devices: list[_Owner], answered: list[int]) -> Ended:
        """Those whose round it is answer it, round after round, as they open."""
        survey = published.survey
        assert isinstance(survey, Panel)
        for number, seated in enumerate(crowd.seats(survey.rounds), start=1):
            while (latest := self.collector.latest_round(survey, published.key)) is None or latest.number < number:
                if self._late():
                    return self._why() or "done"
                if self.collector.survey(survey.id, published.key).state != "open":
                    return "sealed"
                self.stopped.wait(_LOOK)
            if latest.number == number and latest.published.state == "open":
                self._one_by_one(survey.id, devices)
                self.answer(latest.published, seated, [])
                answered.append(number)
            if self._late():
                break
        return self._why() or "done"

    def answer_periods(
        self, published: Published, tracking: Tracking, crowd: Respondents, devices: list[_Owner], answered: list[int]
    ) -> Ended:
        """Those whose period it is now answer it; the others would in another one."""
        self._one_by_one(tracking.id, devices)
        calendar, ended = tracking.calendar, self._why() or "done"
        seats = {(number - 1) % calendar.window: number for number in calendar.answerable(self.collector.time())}
        for seat, seated in enumerate(_seated(crowd, calendar.window)):
            if seat in seats and not self._late():
                period = tracking.period(seats[seat])
                ended = self.answer(replace(published, survey=period), seated, [])
                answered.append(seats[seat])
        return ended

    def _one_by_one(self, survey_id: str, devices: list[_Owner]) -> None:
        def answer(owner: _Owner) -> None:
            if owner.done or self._late():
                return
            try:
                receipt = owner.device.answer(self.http.url, survey_id, owner.value)
            except ServiceError as error:
                if error.code != "survey_sealed":
                    raise
                owner.done = True  # its round is over
                self.tally.refuse(error.code)
                return
            owner.done = receipt.state in ("sent", "refused")
            if receipt.state == "sent":
                self.tally.single()
                self._done(1)
            elif receipt.state != "waiting":
                self.tally.refuse(f"{receipt.state}: {receipt.problem}")

        for _ in self.pool.map(answer, devices):
            pass

    def _done(self, n: int) -> None:
        if self.progress is not None:
            self.progress(n)

    def _late(self) -> bool:
        return self.stopped.is_set() or (self.ends is not None and time.monotonic() > self.ends)

    def _why(self) -> Ended | None:
        if self.stopped.is_set():
            return "interrupted"
        return "time" if self._late() else None


def _seated(crowd: Respondents, seats: int) -> Iterator[Respondents]:
    """The people of every seat."""
    if isinstance(crowd, Urn):
        yield from crowd.seats(seats)
        return
    raise SimulationError("a fleet answers a tracking survey whose values can be listed; this one's cannot")


def survey_id_of(url: str, name: str, *, insecure: bool = False) -> str:
    """The id of the survey of that id, beginning of an id, or title.

    Raises
    ------
    SurveyError
        If there is none, or more than one.
    ServiceError
        If the collector cannot be reached.
    """
    http = Http(url, insecure=insecure)
    try:
        return find_survey(name, CollectorClient(http).surveys)
    except ServiceError as error:
        if error.code != "unknown_survey":
            raise
        raise SurveyError(str(error)) from error
    finally:
        http.close()
