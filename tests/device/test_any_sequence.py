"""Devices through random sequences of everything that happens to them, against a model of what must hold."""

from __future__ import annotations

import copy
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import numpy as np
import pytest

import sottovoce as sv
from device.desk import URL, Desk
from sottovoce.core.errors import BudgetError, ClockError, ServiceError
from sottovoce.device import Device, MemoryStore
from sottovoce.device.turns import derive_seat
from sottovoce.questions.shares import Shares
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Survey, Tracking

pytestmark = pytest.mark.slow

START = datetime(2027, 1, 4, tzinfo=UTC)
DAY = timedelta(days=1)

ROLLING = sv.Tracking(
    Shares(2), periods=None, renews=3, every="week", starts=date(2027, 1, 4), grace=7, epsilon=1.0, title="rolling"
)
ONCE = sv.Tracking(Shares(2), periods=4, every=10, starts=date(2027, 1, 20), grace=0, epsilon=0.5, title="once")
PLAIN = Survey(sv.shares(2), epsilon=0.25, title="plain")

BUDGET, WINDOW_BUDGET, WINDOW_DAYS = 6.0, 2.5, 60


class World:
    """One device, its store and a collector; `told` is everything that left the device."""

    def __init__(self, numbers: np.random.Generator) -> None:
        self.random = numbers
        self.desk = Desk(START, ROLLING, ONCE, PLAIN)
        self.now = START - 3 * DAY
        self.store = MemoryStore(numbers.bytes(32))
        self.backups: list[MemoryStore] = []
        self.device = self.restarted()
        self.restored = False
        self.asked: list[tuple[str, int]] = []
        """Survey and period of every value that was asked for."""

    def restarted(self) -> Device:
        settings = {"budget": BUDGET, "window_budget": WINDOW_BUDGET, "window_days": WINDOW_DAYS}
        return self.desk.device(self.store, lambda: self.now, **settings)

    # --- what happens -------------------------------------------------------------------------

    def days_pass(self) -> None:
        self.now += self.random.uniform(0, 12) * DAY
        self.desk.now = self.now + self.random.uniform(-1, 1) * DAY

    def own_clock_jumps(self) -> None:
        self.now += int(self.random.choice((-1000, -40, -5, 5, 40, 1000))) * DAY
        if self.random.random() < 0.5:
            self.desk.now = self.now  # the collector plays along

    def clocks_are_set_right(self) -> None:
        self.now = self.desk.now = START + self.random.uniform(0, 150) * DAY

    def answers(self) -> None:
        survey = (ROLLING, ROLLING, ONCE, PLAIN)[self.random.integers(4)]

        def value(period: Period | None) -> int:
            self.asked.append((survey.id, 0 if period is None else period.number))
            if self.random.random() < 0.1:
                raise KeyError("the person has no answer")
            return int(self.random.integers(2))

        before, asked = len(self.store.answers()), len(self.asked)
        try:
            receipt = self.device.answer(URL, survey.id, value, send=self.random.random() < 0.8)
        except (BudgetError, ClockError):
            assert len(self.asked) == asked, "refused before the value was asked for"
        except KeyError:
            assert len(self.store.answers()) == before
        else:
            assert receipt.drawn == (len(self.store.answers()) == before + 1) == (len(self.asked) == asked + 1)

    def joins(self) -> None:
        try:
            self.device.join(URL, ROLLING.id)
        except (BudgetError, ClockError):
            return
        assert ROLLING.id in {joined.question for joined in self.store.joined()}

    def answers_what_is_due(self) -> None:
        for receipt in self.device.answer_due(lambda due: int(self.random.integers(2))):
            assert receipt.state in ("sent", "unsent", "refused", "due", "waiting", "missed")

    def flushes(self) -> None:
        self.device.flush()

    def restarts(self) -> None:
        self.device = self.restarted()

    def collector_fails(self) -> None:
        status = int(self.random.choice((0, 0, 404, 503)))
        self.desk.failure = lambda: ServiceError("no", "survey_not_found" if status == 404 else "busy", status)

    def collector_recovers(self) -> None:
        self.desk.failure = lambda: None

    def renewals_are_refused(self) -> None:
        self.device.refuse_renewals(ROLLING.id)
        windows = len(self.store.answers())
        self.answers()
        refused = [answer for answer in self.store.answers()[windows:] if answer.question == ROLLING.id]
        earlier = [answer for answer in self.store.answers()[:windows] if answer.question == ROLLING.id]
        assert not (refused and earlier), "one window at most"
        self.device.allow_renewals(ROLLING.id)

    def is_backed_up(self) -> None:
        kept = MemoryStore(self.store.secret())
        for name in ("_keys", "_answers", "_joined", "_refused"):
            setattr(kept, name, copy.copy(getattr(self.store, name)))
        self.backups.append(kept)

    def is_restored(self) -> None:
        if self.backups and self.random.random() < 0.2:
            self.store, self.restored = self.backups.pop(), True
            self.device = self.restarted()

    # --- what must hold -----------------------------------------------------------------------

    def check(self) -> None:
        answers = self.store.answers()
        assert len({(answer.question, answer.window) for answer in answers}) == len(answers)
        assert sum(Fraction(str(answer.epsilon)) for answer in answers) <= BUDGET
        days = [date.fromisoformat(answer.day).toordinal() for answer in answers]
        for first in days:
            inside = [a.epsilon for a, day in zip(answers, days, strict=True) if first <= day < first + WINDOW_DAYS]
            assert sum(inside) <= WINDOW_BUDGET
        for survey in (ROLLING, ONCE):
            for window, sent in self.sent_by_window(survey).items():
                seat = derive_seat(self.store.secret(), survey.id, window, survey.calendar.seats)
                assert {period for period, _ in sent} == {survey.calendar.first_of(window) + seat - 1}
                assert self.restored or len({body for _, body in sent}) == 1, "one report, the same bytes"
        assert self.restored or len({body for survey, body in self.desk.sent if survey == PLAIN.id}) <= 1

    def sent_by_window(self, survey: Tracking) -> dict[int, list[tuple[int, bytes]]]:
        numbers = {survey.period(k).id: k for k in range(1, 700 if survey is ROLLING else 5)}
        found: dict[int, list[tuple[int, bytes]]] = {}
        for sent, body in self.desk.sent:
            if sent in numbers:
                window = survey.calendar.window_of(numbers[sent])
                found.setdefault(window, []).append((numbers[sent], body))
        return found


HAPPENINGS = (
    *(World.days_pass, World.days_pass, World.days_pass, World.answers, World.answers, World.answers, World.joins),
    *(World.own_clock_jumps, World.clocks_are_set_right, World.answers_what_is_due, World.flushes, World.restarts),
    *(World.collector_fails, World.collector_recovers, World.renewals_are_refused, World.is_backed_up),
    World.is_restored,
)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_happens_makes_a_device_answer_twice_or_spend_too_much(seed: int) -> None:
    """Fixed seeds; 25 devices of 60 happenings each. That much happens is checked too."""
    numbers = np.random.default_rng(seed)
    drawn, windows, repeated = 0, 0, 0
    for _ in range(25):
        world = World(numbers)
        for step in range(60):
            HAPPENINGS[numbers.integers(len(HAPPENINGS))](world)
            if step % 20 == 19:
                world.check()
        drawn += len(world.store.answers())
        windows += len({answer.window for answer in world.store.answers() if answer.question == ROLLING.id})
        repeated += len(world.desk.sent) - len({body for _, body in world.desk.sent})
    assert drawn > 50
    assert windows > 25
    assert repeated > 10
