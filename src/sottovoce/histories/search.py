"""All short histories, shortest first, and then random longer ones, for as long as there is time."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol, final

import numpy as np

from sottovoce.histories.events import Event
from sottovoce.histories.rules import Charge, Judge
from sottovoce.histories.scenario import Scenario
from sottovoce.histories.server import LoopbackServer
from sottovoce.histories.world import Reply, World

__all__ = ["AuditedDevice", "Found", "Searched", "replay", "search"]

_LONGEST: Final = 16
"""Events of the longest random history."""

_SHARE: Final = 0.7
"""Share of the time left within which all histories of the next length must be expected to run."""


class AuditedDevice(Protocol):
    """What runs the events of a history."""

    @property
    def name(self) -> str: ...

    def begin(self, scenario: Scenario, world: World, url: str, /) -> None: ...

    def run(self, event: Event, /) -> str: ...

    def ledger(self, header: str = "", /) -> tuple[Charge, ...]: ...

    def close(self) -> None: ...


@final
@dataclass(frozen=True)
class Found:
    """A history in which a device does what it must not."""

    scenario: Scenario
    history: tuple[Event, ...]
    problem: str


@final
@dataclass
class Searched:
    """How much was searched.

    Attributes
    ----------
    length
        All histories of up to so many events were run.
    histories, random
        How many of those there are, and how many longer ones were drawn at random.
    reports
        Reports that arrived in all of them.
    """

    length: int = 0
    histories: int = 0
    random: int = 0
    reports: int = 0
    found: Found | None = None


def replay(server: LoopbackServer, device: AuditedDevice, scenarios: Sequence[Scenario], text: str) -> Searched:
    """Run one history, in every survey that knows its events."""
    done = Searched()
    known = [scenario for scenario in scenarios if scenario.knows(text)] or scenarios[:1]
    for scenario in known:
        history = scenario.history(text)
        problem, reports = _judged(server, device, scenario, history)
        done.reports += reports
        if problem:
            done.found = Found(scenario, history, problem)
            return done
    return done


def _judged(
    server: LoopbackServer, device: AuditedDevice, scenario: Scenario, history: Sequence[Event]
) -> tuple[str, int]:
    """What is wrong in a history, empty if nothing is; and the number of reports that arrived."""
    world = World(scenario)
    judge = Judge(scenario, world)
    device.begin(scenario, world, server.url("collector"))
    with _serving(server, world, judge, device) as arrivals:
        for event in history:
            world.begin_event(event)
            failure = "" if event.call in ("wait", "open_round") else device.run(event)
            judge.after(device.ledger())
            world.fault = ""
            if judge.problem or failure:
                break
    return judge.problem or failure, len(arrivals)


@contextmanager
def _serving(server: LoopbackServer, world: World, judge: Judge, device: AuditedDevice) -> Iterator[list[str]]:
    """Answer requests by this world; every report is judged by the ledger at the moment at which it comes."""
    arrivals: list[str] = []

    def answer(side: str, method: str, path: str, headers: object, body: bytes) -> Reply:
        reply, arrival = world.answer(side, method, path, body)
        if arrival is not None:
            arrivals.append(arrival.survey)
            judge.arrived(arrival, device.ledger(dict(headers).get("audit-ledger", "")))  # type: ignore[call-overload]
        return reply

    server.answer = answer
    try:
        yield arrivals
    finally:
        server.answer = lambda *_: None


def search(
    server: LoopbackServer,
    device: AuditedDevice,
    scenarios: Sequence[Scenario],
    seconds: float,
    tell: Callable[[int], object],
    seed: int | None = None,
) -> Searched:
    """Search for a history that breaks a rule, until one is found or the time is over; the shortest are tried first."""
    done, ends = Searched(), time.monotonic() + seconds
    began = time.monotonic()
    for length in itertools.count(1):
        ahead = sum(len(scenario.events) ** length for scenario in scenarios)
        # Beginning a history takes about as long as one event.
        each = (time.monotonic() - began) / max(1, done.histories) * (length + 1) / length
        if length > 1 and ahead * each > _SHARE * (ends - time.monotonic()):
            break
        for scenario in scenarios:
            for history in itertools.product(scenario.events, repeat=length):
                if _breaks(server, device, scenario, history, done):
                    return done
                done.histories += 1
                tell(1)
        done.length = length
    rng = np.random.default_rng(seed)
    while time.monotonic() < ends:
        scenario = scenarios[done.random % len(scenarios)]
        length = int(rng.integers(done.length + 1, _LONGEST + 1))
        history = tuple(scenario.events[number] for number in rng.integers(len(scenario.events), size=length))
        if _breaks(server, device, scenario, history, done):
            return done
        done.random += 1
        tell(1)
    return done


def _breaks(
    server: LoopbackServer, device: AuditedDevice, scenario: Scenario, history: tuple[Event, ...], done: Searched
) -> bool:
    problem, reports = _judged(server, device, scenario, history)
    done.reports += reports
    if problem:
        history, problem = _shortened(server, device, scenario, history, problem)
        done.found = Found(scenario, history, problem)
    return bool(problem)


def _shortened(
    server: LoopbackServer, device: AuditedDevice, scenario: Scenario, history: tuple[Event, ...], problem: str
) -> tuple[tuple[Event, ...], str]:
    """The history without the events that it does not need."""
    at = 0
    while at < len(history):
        shorter = history[:at] + history[at + 1 :]
        still = _judged(server, device, scenario, shorter)[0] if shorter else ""
        if still:
            history, problem = shorter, still
        else:
            at += 1
    return history, problem
