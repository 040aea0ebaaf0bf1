"""Tracking surveys for the collector's tests, and a database's clock that can be set."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import sottovoce as sv
from collector.client import Api, running
from sottovoce.collector.api import service as service_module
from sottovoce.collector.store.base import Store
from sottovoce.collector.surveys.clock import ClockGuard
from sottovoce.questions.base import Question
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Tracking

STARTS = date(2031, 1, 6)
"""A Monday."""


def weekly(periods: int | None = 3, question: Question | None = None, **given: Any) -> Tracking:
    """A survey that repeats a yes-or-no question every week."""
    asked: dict[str, Any] = {"every": "week", "starts": STARTS, "grace": 2, "epsilon": 1.0, "title": "Cycling"}
    return sv.Tracking(question or Shares(["no", "yes"]), **{"periods": periods, **asked, **given})


def moment(weeks: float, days: float = 0.0) -> datetime:
    """So long after the start of the first period."""
    return datetime(STARTS.year, STARTS.month, STARTS.day, tzinfo=UTC) + timedelta(weeks=weeks, days=days)


class SetClock:
    """The time of a database, moved by the test: weeks and days after the first period's start."""

    def __init__(self, store: Store, weeks: float = 0.0, days: float = 0.0) -> None:
        self.moment = 0.0
        store.now = lambda: self.moment  # type: ignore[method-assign]
        self.own = self.running = lambda: self.moment
        self.set(weeks, days)

    def set(self, weeks: float, days: float = 0.0) -> None:
        self.moment = moment(weeks, days).timestamp()


class TrackedApi(Api):
    """An application whose database has a clock that the test moves; the keeper then does what is due."""

    clock: SetClock

    def at(self, weeks: float, days: float = 0.0) -> None:
        self.clock.set(weeks, days)
        self.app.service.clock.measure()
        self.app.service.keeper.step()

    def periods(self, tracking: Tracking) -> Any:
        return self.ask("GET", f"/v1/surveys/{tracking.id}/periods").json()

    def states(self, tracking: Tracking) -> list[str]:
        return [one["state"] for one in self.periods(tracking)["periods"]]


@contextlib.contextmanager
def tracking_api(
    data: Path, store: Store, weeks: float = 0.0, days: float = 0.0, **settings: Any
) -> Iterator[TrackedApi]:
    """As `running`, at a moment after the first period's start."""
    clock = SetClock(store, weeks, days)
    own = partial(ClockGuard, lambda: clock.own(), lambda: clock.running())
    with mock.patch.object(service_module, "ClockGuard", own), running(data, store=store, **settings) as api:
        tracked = TrackedApi(api.app, api.http, api.store, api.key, api.admin)
        tracked.clock = clock
        yield tracked
