"""The demonstration on the wire: people with devices, fleets, an adaptive session, the service's own figures."""

from __future__ import annotations

import _thread
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, final

import numpy as np

from sottovoce import fleet
from sottovoce.analyst import connect
from sottovoce.analyst.collector import Collector
from sottovoce.analyst.live import LiveSurvey
from sottovoce.client import Device, Ledger, MemoryStore
from sottovoce.errors import ServiceError, SimulationError, SottovoceError
from sottovoce.experiments.demo import PEOPLE, Demo, Progress, Whisper, state_survey, whispers
from sottovoce.experiments.demo_adaptive import Asked, ask_in_turn, enough, state_adaptive, true_records
from sottovoce.experiments.demo_ages import Ages, read_ages, state_ages, true_ages
from sottovoce.experiments.demo_service import Service
from sottovoce.experiments.instruments import true_frequencies
from sottovoce.fleet import Sent
from sottovoce.surveys.influence import Influence

__all__ = ["FEWEST_USERS", "HOSTILE", "RESENT_BATCHES", "Figures", "Opera", "Stage", "Story", "check_fleet"]

HOSTILE: Final = 0.01
RESENT_BATCHES: Final = 20
FEWEST_USERS: Final = 1000
_LOOK: Final = 0.1

AGE_OF: Final = {"Papageno": 28, "Carmen": 24, "Orpheus": 33}
RECORD_OF: Final = {
    "Papageno": {"age": 28, "country": "Austria", "plays": "daily"},
    "Carmen": {"age": 24, "country": "Spain", "plays": "weekly"},
    "Orpheus": {"age": 33, "country": "Italy", "plays": "daily"},
}


def check_fleet(users: int) -> int:
    """So many people, if the service would show anything about them."""
    if users < FEWEST_USERS:
        raise SimulationError(
            f"the number of people must be from {FEWEST_USERS:,} on: a quarter of them answer each question that is "
            "asked in turn, and the service shows nothing of fewer than 100 reports"
        )
    return users


@final
@dataclass(frozen=True)
class Figures:
    """What the service says about itself, from its metrics."""

    accepted: int
    counted: int
    waiting: int
    refused: dict[str, int]
    requests: int
    commits: int
    commit_seconds: float

    @property
    def duplicates(self) -> int:
        """Reports that were acknowledged once more and not counted."""
        return self.accepted - self.counted - self.waiting

    @classmethod
    def read(cls, text: str) -> Figures:
        """From Prometheus' text form.

        Examples
        --------
        >>> found = Figures.read("sottovoce_reports_accepted_total 12.0\\nsottovoce_counted_reports 10.0\\n")
        >>> found.accepted, found.duplicates
        (12, 2)
        """

        def total(name: str) -> float:
            return sum(float(number) for number in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE))

        refused = re.findall(r'^sottovoce_reports_refused_total{code="(\w+)"} (\S+)$', text, re.MULTILINE)
        return cls(
            accepted=int(total("sottovoce_reports_accepted_total")),
            counted=int(total("sottovoce_counted_reports")),
            waiting=int(total("sottovoce_waiting_reports")),
            refused={code: int(float(number)) for code, number in refused},
            requests=int(total("sottovoce_requests_total")),
            commits=int(total("sottovoce_commit_seconds_count")),
            commit_seconds=total("sottovoce_commit_seconds_sum"),
        )


@final
@dataclass(frozen=True, eq=False)
class Story:
    """Everything the demonstration has to show."""

    demo: Demo
    influence: Influence
    ages: Ages
    asked: tuple[Asked, ...]
    sent: tuple[Sent, Sent, Sent]
    owner: str
    ledger: Ledger
    figures: Figures

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        names = ("distribution", "queries", "adaptive")
        return {
            **self.demo.to_dict(),
            "influence": self.influence.to_dict(),
            "ages": self.ages.to_dict(),
            "adaptive": [one.to_dict() for one in self.asked],
            "fleet": {name: sent.to_dict() for name, sent in zip(names, self.sent, strict=True)},
            "ledger": {"owner": self.owner, **self.ledger.to_dict()},
            "metrics": {**asdict(self.figures), "duplicates": self.figures.duplicates},
        }


@final
class Opera:
    """Three people from operas with a device each, all on one collector."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stores = {name: MemoryStore() for name, *_ in PEOPLE}
        self.devices = {name: Device(store) for name, store in self._stores.items()}

    def whisper(self, live: LiveSurvey) -> tuple[Whisper, ...]:
        """Their reports of the first survey, drawn by their devices and sent."""

        def draw(name: str, answer: tuple[str, str]) -> bytes:
            self.devices[name].answer(self._url, live.id, answer)
            kept = self._stores[name].answer(live.id)
            if kept is None or kept.state != "sent":
                raise ServiceError("a device of the demonstration could not send its report")
            return kept.report

        return whispers(state_survey(), draw)

    def guests(self, values: Mapping[str, object]) -> list[tuple[Device, object]]:
        """Their devices, each with its owner's value, to answer among others."""
        return [(device, values[name]) for name, device in self.devices.items()]

    def close(self) -> None:
        """Give back connections."""
        for device in self.devices.values():
            device.close()


@final
class Stage:
    """The three surveys on a running service, and what is done with them."""

    def __init__(self, service: Service, users: int, seed: int) -> None:
        self.service, self.users, self._seed = service, check_fleet(users), seed
        self.collector: Collector = connect(service.url, service.token, key=service.fingerprint)
        self.opera = Opera(service.url)
        self.music, self.ages, self.turns = (
            self.collector.publish(survey) for survey in (state_survey(), state_ages(), state_adaptive())
        )

    def close(self) -> None:
        """Give back connections."""
        self.opera.close()
        self.collector.http.close()

    def ask_music(self, progress: Progress | None = None) -> Sent:
        """Everybody answers the first survey; a few batches arrive twice."""
        return self._drive(self.music, true_frequencies(), progress, resend=RESENT_BATCHES)

    def ask_ages(self, progress: Progress | None = None) -> tuple[Ages, Sent]:
        """Everybody answers the second."""
        sent = self._drive(self.ages, true_ages(), progress, guests=self.opera.guests(AGE_OF))
        return read_ages(state_ages(), self.counted(self.ages).estimate()), sent

    def ask_in_turn(self, progress: Progress | None = None) -> tuple[tuple[Asked, ...], Sent]:
        """Four questions, each after the answer to the one before; devices answer in the background."""
        with self._background() as answering:
            session = self.turns.session(reports=enough(self.users))
            asked = ask_in_turn(session, progress)
        return asked, answering()

    def figures(self) -> Figures:
        """What the service says about itself."""
        return Figures.read(self.collector.http.get_bytes("/metrics").decode())

    def counted(self, live: LiveSurvey) -> LiveSurvey:
        """The survey, once everything that was acknowledged is counted."""
        while live.status().waiting:
            time.sleep(_LOOK)
        return live

    def _drive(self, live: LiveSurvey, shares: Any, progress: Progress | None, *, resend: int = 0, **more: Any) -> Sent:
        """Everybody but the people from operas, who answer by themselves."""
        fleeting = self.users - len(PEOPLE)
        sent = fleet.run(
            self.service.url,
            live.id,
            fleeting,
            distribution=np.asarray(shares),
            seed=self._seed,
            resend=min(resend, max(1, fleeting // (10 * fleet.DEFAULT_BATCH))),
            progress=progress,
            **more,
        )
        if sent.ended == "interrupted":
            raise KeyboardInterrupt
        return sent

    @contextlib.contextmanager
    def _background(self) -> Iterator[Callable[[], Sent]]:
        """The devices of the third survey, at work while the block runs."""
        over, found = threading.Event(), list[Sent | SottovoceError]()
        guests = self.opera.guests(RECORD_OF)

        def drive() -> None:
            try:
                found.append(self._drive(self.turns, true_records(), None, guests=guests, stop=over))
            except KeyboardInterrupt:
                return  # the block is over already
            except SottovoceError as error:
                found.append(error)
                _thread.interrupt_main()  # nobody would answer any more: the session must not wait

        def outcome() -> Sent:
            if isinstance(found[0], Sent):
                return found[0]
            raise found[0]

        def failed() -> bool:
            return bool(found) and not isinstance(found[0], Sent)

        thread = threading.Thread(target=drive)
        thread.start()
        try:
            yield outcome
            thread.join()
        except KeyboardInterrupt:
            if failed():
                outcome()
            raise
        finally:
            over.set()
            thread.join()
