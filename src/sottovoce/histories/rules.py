"""What must hold in every history: one draw, charged before it is sent, in its window, through the stated relay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from typing import Final, final

from sottovoce.histories.scenario import Scenario
from sottovoce.histories.world import ReportArrival, World
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Tracking

__all__ = ["Charge", "Judge"]

_TOLERANCE: Final = timedelta(days=1)
"""How far the clocks of device and collector may be apart."""


@final
@dataclass(frozen=True)
class Charge:
    """One line of a device's ledger, as its store has it."""

    question: str
    window: int
    survey: str
    report_id: bytes
    report: bytes
    epsilon: float
    day: str


def _exact(amount: float) -> Fraction:
    return Fraction(repr(float(amount)))


def _total(ledger: Sequence[Charge]) -> Fraction:
    return sum((_exact(charge.epsilon) for charge in ledger), Fraction(0))


@final
class Judge:
    """Looks at every arrival and at the ledger after every event of one history; `problem` is the first breach."""

    def __init__(self, scenario: Scenario, world: World) -> None:
        self.scenario, self.world = scenario, world
        self.problem = ""
        self._sent: dict[tuple[str, int], tuple[str, bytes, bytes]] = {}
        self._ledger: tuple[Charge, ...] = ()

    def arrived(self, arrival: ReportArrival, ledger: Sequence[Charge]) -> None:
        """Judge a report by the ledger as it stood when the report came."""
        for problem in (
            self._wrong_way(arrival),
            self._second_draw(arrival),
            self._uncharged(arrival, ledger),
            self._outside(arrival),
        ):
            self._say(problem)

    def after(self, ledger: Sequence[Charge]) -> None:
        """Judge the ledger after an event."""
        kept = tuple(ledger)
        if any(charge not in kept for charge in self._ledger):
            self._say("the ledger has lost or changed an answer")
        self._say(self._beyond_budget(kept))
        for charge in kept:
            if charge not in self._ledger:
                self._say(self._drawn_outside(charge))
        self._ledger = kept

    def _say(self, problem: str) -> None:
        self.problem = self.problem or problem

    def _wrong_way(self, arrival: ReportArrival) -> str:
        if not arrival.survey:
            return f"something that is not a readable report was sent to the {arrival.side}"
        found = self.scenario.answerable.get(arrival.survey)
        if found is None or not arrival.report:
            return "a report was sent that belongs to no survey of this collector"
        relay = found[2].relay
        if relay is not None and arrival.side != "relay":
            return "a report of a survey that states a relay was sent to the collector directly"
        if relay is None and arrival.side == "relay":
            return "a report of a survey without a relay was sent through one"
        return ""

    def _second_draw(self, arrival: ReportArrival) -> str:
        found = self.scenario.answerable.get(arrival.survey)
        if found is None:
            return ""
        question, window, _ = found
        draw = arrival.survey, arrival.report_id, arrival.report
        if self._sent.setdefault((question, window), draw) != draw:
            return "a second draw was sent: another report, or the same under another id, for one survey and window"
        return ""

    def _uncharged(self, arrival: ReportArrival, ledger: Sequence[Charge]) -> str:
        found = self.scenario.answerable.get(arrival.survey)
        if found is None:
            return ""
        draw = arrival.survey, arrival.report_id, arrival.report
        charge = next((one for one in ledger if (one.survey, one.report_id, one.report) == draw), None)
        if charge is None:
            return "a report was sent before it was in the ledger"
        if (charge.question, charge.window) != found[:2]:
            return "a report is in the ledger under another survey or window than its own"
        if charge.epsilon < found[2].epsilon:
            return f"a report of epsilon {found[2].epsilon:g} was charged {charge.epsilon:g}"
        return self._beyond_budget(ledger)

    def _beyond_budget(self, ledger: Sequence[Charge]) -> str:
        limits = self.scenario.settings
        spent = _total(ledger)
        if spent > _exact(limits["budget"]):
            return f"epsilon {float(spent):g} was spent of a budget of {limits['budget']:g}"
        days = [date.fromisoformat(charge.day).toordinal() for charge in ledger]
        for first in days:
            inside = first, first + limits["window_days"]
            spent = _total([charge for charge, day in zip(ledger, days, strict=True) if inside[0] <= day < inside[1]])
            if spent > _exact(limits["window_budget"]):
                return f"epsilon {float(spent):g} was spent in {limits['window_days']:g} days, beyond their budget"
        return ""

    def _outside(self, arrival: ReportArrival) -> str:
        period = self._period(arrival.survey)
        if period is not None and self.world.now >= period.closes:
            return "a report was sent after its period had closed"
        return ""

    def _drawn_outside(self, charge: Charge) -> str:
        """Why a report was not to be drawn now."""
        period, asked, world = self._period(charge.survey), self.scenario.asked, self.world
        if world.fault in ("another survey", "another key"):
            return f"a report was drawn although {world.fault} was shown"
        if period is None or not isinstance(asked, Tracking) or charge.question != asked.id:
            return ""
        if period.number != self.scenario.own_period(period.window):
            return "a report was drawn for a period that is not the device's own"
        if not period.start <= world.now < period.closes:
            return "a report was drawn outside its period and grace, by the device's clock"
        if abs(world.collector_now - world.now) > _TOLERANCE:
            return "a report was drawn although the clocks of device and collector disagree"
        if world.joined is not None and asked.calendar.end(period.window * asked.calendar.window) <= world.joined:
            return "a report was drawn for a window that had ended before the device joined"
        return ""

    def _period(self, survey: str) -> Period | None:
        found = self.scenario.answerable.get(survey)
        return None if found is None else found[2].period
