"""The demonstration over HTTP: people with devices, fleets, an adaptive session, the service's metrics."""

from __future__ import annotations

import _thread
import contextlib
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, final

from sottovoce.analyst import connect
from sottovoce.analyst.collector import Collector
from sottovoce.analyst.live import LiveSurvey
from sottovoce.core.errors import ServiceError, SimulationError, SottovoceError
from sottovoce.device import Device, Ledger, MemoryStore
from sottovoce.estimates.influence import Influence
from sottovoce.lab import fleet
from sottovoce.lab.demo.adaptive import AskedQuestion, ask_in_turn, reports_to_close, state_adaptive, true_records
from sottovoce.lab.demo.ages import Ages, read_ages, state_ages, true_ages
from sottovoce.lab.demo.demo import PEOPLE, MusicResult, Progress, SampleReport, sample_reports, state_survey
from sottovoce.lab.demo.forms import FormAnswer, people_for_forms, read_forms, state_forms
from sottovoce.lab.demo.habit import Habit, follow_habit, state_habit
from sottovoce.lab.demo.instruments import true_frequencies
from sottovoce.lab.demo.service import DemoService
from sottovoce.lab.demo.shuffled import ShuffledCrowd
from sottovoce.lab.fleet import Sent

__all__ = [
    "FEWEST_PEOPLE",
    "HOSTILE",
    "RESENT_BATCHES",
    "DemoDevices",
    "DemoResult",
    "DemoSurveys",
    "ServiceMetrics",
    "check_fleet",
]

HOSTILE: Final = 0.01
RESENT_BATCHES: Final = 20
FEWEST_PEOPLE: Final = 1000
_LOOK: Final = 0.1
_FEW_SINGLES: Final = 50
"""People who answer the number, the choices and the form by devices of their own."""

AGE_OF: Final = {"Papageno": 28, "Carmen": 24, "Orpheus": 33}
RECORD_OF: Final = {
    "Papageno": {"age": 28, "country": "Austria", "plays": "daily"},
    "Carmen": {"age": 24, "country": "Spain", "plays": "weekly"},
    "Orpheus": {"age": 33, "country": "Italy", "plays": "daily"},
}


def check_fleet(people: int) -> int:
    """Return `people` if there are enough of them for the service to show estimates."""
    if people < FEWEST_PEOPLE:
        raise SimulationError(
            f"the number of people must be at least {FEWEST_PEOPLE:,}: a quarter answer each adaptive question, "
            "and the service shows no estimate from fewer than 100 reports"
        )
    return people


@final
@dataclass(frozen=True)
class ServiceMetrics:
    """The service's own metrics."""

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
    def read(cls, text: str) -> ServiceMetrics:
        """Read figures from Prometheus' text form.

        Examples
        --------
        >>> found = ServiceMetrics.read("sottovoce_reports_accepted_total 12.0\\nsottovoce_counted_reports 10.0\\n")
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
class DemoResult:
    """Everything the demonstration shows."""

    music: MusicResult
    influence: Influence
    ages: Ages
    asked: tuple[AskedQuestion, ...]
    forms: tuple[FormAnswer, ...]
    habit: Habit
    shuffled: ShuffledCrowd
    sent: tuple[Sent, ...]
    owner: str
    ledger: Ledger
    figures: ServiceMetrics

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        names = ("shares", "queries", "panel", "number", "choices", "records")
        return {
            **self.music.to_dict(),
            "influence": self.influence.to_dict(),
            "ages": self.ages.to_dict(),
            "panel": [asked.to_dict() for asked in self.asked],
            "forms": [form.to_dict() for form in self.forms],
            "habit": self.habit.to_dict(),
            "shuffled": self.shuffled.to_dict(),
            "fleet": {name: sent.to_dict() for name, sent in zip(names, self.sent, strict=True)},
            "ledger": {"owner": self.owner, **self.ledger.to_dict()},
            "metrics": {**asdict(self.figures), "duplicates": self.figures.duplicates},
        }


@final
class DemoDevices:
    """Three people from operas with a device each, all on one collector."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stores = {name: MemoryStore() for name, *_ in PEOPLE}
        self.devices = {name: Device(store) for name, store in self._stores.items()}

    def send_samples(self, live: LiveSurvey) -> tuple[SampleReport, ...]:
        """Send their reports for the first survey, drawn by their devices."""

        def draw(name: str, answer: tuple[str, str]) -> bytes:
            self.devices[name].answer(self._url, live.id, answer)
            kept = self._stores[name].answer(live.id)
            if kept is None or kept.state != "sent":
                raise ServiceError("a device of the demonstration could not send its report")
            return kept.report

        return sample_reports(state_survey(), draw)

    def guests(self, values: Mapping[str, object]) -> list[tuple[Device, object]]:
        """Their devices, each with its owner's value, to answer among others."""
        return [(device, values[name]) for name, device in self.devices.items()]

    def join(self, live: LiveSurvey) -> tuple[tuple[str, str], ...]:
        """Take part in a tracking survey; which period each device has drawn. Nothing is charged."""
        receipts = {name: device.join(self._url, live.id) for name, device in self.devices.items()}
        return tuple((name, receipt.period.label) for name, receipt in receipts.items() if receipt.period is not None)

    def close(self) -> None:
        """Close connections."""
        for device in self.devices.values():
            device.close()


@final
class DemoSurveys:
    """The seven surveys on a running service, and the fleets that answer them."""

    def __init__(self, service: DemoService, people: int, seed: int) -> None:
        self.service, self.people, self._seed = service, check_fleet(people), seed
        self.collector: Collector = connect(service.url, service.token, key=service.fingerprint)
        self.owners = DemoDevices(service.url)
        self.music, self.ages, self.turns = (
            self.collector.publish(survey) for survey in (state_survey(), state_ages(), state_adaptive())
        )
        self.forms = tuple(self.collector.publish(survey) for survey in state_forms())
        self.stated_habit = state_habit(datetime.now(UTC).date())
        self.habit = self.collector.publish(self.stated_habit)

    def close(self) -> None:
        """Close connections."""
        self.owners.close()
        self.collector.http.close()

    def ask_music(self, progress: Progress | None = None) -> Sent:
        """Everybody answers the first survey; a few batches arrive twice."""
        return self._drive(self.music, true_frequencies(), progress, resend=RESENT_BATCHES)

    def ask_ages(self, progress: Progress | None = None) -> tuple[Ages, Sent]:
        """Everybody answers the second."""
        sent = self._drive(self.ages, true_ages(), progress, guests=self.owners.guests(AGE_OF))
        return read_ages(state_ages(), self.counted(self.ages).estimate()), sent

    def ask_in_turn(self, progress: Progress | None = None) -> tuple[tuple[AskedQuestion, ...], Sent]:
        """Four questions, each after the answer to the one before; devices answer in the background."""
        with self._background() as answering:
            session = self.turns.session(reports=reports_to_close(self.people))
            asked = ask_in_turn(session, progress)
        return asked, answering()

    def ask_forms(self, progress: Progress | None = None) -> tuple[tuple[FormAnswer, ...], tuple[Sent, ...]]:
        """A tenth of the people answer each of a number, choices and a form."""
        people = people_for_forms(self.people)
        sent = tuple(self._drive(live, "zipf", progress, people=people, singles=_FEW_SINGLES) for live in self.forms)
        return read_forms(tuple(self.counted(live).estimate() for live in self.forms)), sent

    def follow_habit(self, progress: Progress | None = None) -> Habit:
        """Three devices draw their months; the year itself is simulated, since the service's clock goes no faster."""
        return follow_habit(self.stated_habit, self.people, self._seed, self.owners.join(self.habit), progress)

    def figures(self) -> ServiceMetrics:
        """The service's own metrics."""
        return ServiceMetrics.read(self.collector.http.get_bytes("/metrics").decode())

    def counted(self, live: LiveSurvey) -> LiveSurvey:
        """The survey, once everything that was acknowledged is counted."""
        while live.status().waiting:
            time.sleep(_LOOK)
        return live

    def _drive(
        self,
        live: LiveSurvey,
        distribution: Any,
        progress: Progress | None,
        *,
        people: int | None = None,
        resend: int = 0,
        **more: Any,
    ) -> Sent:
        """Drive this many people, or everybody but the people from operas, whose devices answer by themselves."""
        fleeting = self.people - len(PEOPLE) if people is None else people
        sent = fleet.run(
            self.service.url,
            live.id,
            fleeting,
            distribution=distribution,
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
        over, outcomes = threading.Event(), list[Sent | SottovoceError]()
        guests = self.owners.guests(RECORD_OF)

        def drive() -> None:
            try:
                outcomes.append(self._drive(self.turns, true_records(), None, guests=guests, stop=over))
            except KeyboardInterrupt:
                return  # the block is over already
            except SottovoceError as error:
                outcomes.append(error)
                _thread.interrupt_main()  # nobody answers any more: the session must not wait

        def outcome() -> Sent:
            if isinstance(outcomes[0], Sent):
                return outcomes[0]
            raise outcomes[0]

        def failed() -> bool:
            return bool(outcomes) and not isinstance(outcomes[0], Sent)

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
