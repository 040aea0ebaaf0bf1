"""`audit_device` finds faults that are planted in the Python device; those of the client are in tests/js.

The faults are of state over time: each of them passes every audit of reports, which are right one by one.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fewer_events import fewer
from sottovoce.core.errors import ServiceError
from sottovoce.device import clients, device, drawing, fetch, preparing, sending, sqlite_store, turns
from sottovoce.histories.python_device import PythonDevice
from sottovoce.histories.scenario import Scenario, usual_scenarios
from sottovoce.histories.search import replay, search
from sottovoce.histories.server import LoopbackServer

Patch = pytest.MonkeyPatch


# --- faults of the Python device -------------------------------------------------------------


def another_id_at_every_attempt(patch: Patch) -> None:
    real = device.send_recorded

    def send(store: Any, collector: Any, kept: Any, *given: Any, **named: Any) -> Any:
        return real(store, collector, replace(kept, report_id=secrets.token_bytes(16)), *given, **named)

    patch.setattr(device, "send_recorded", send)


def drawn_again_while_unsent(patch: Patch) -> None:
    real = sqlite_store.SqliteDeviceStore.record

    def record(self: Any, question: str, window: int, draw: Any) -> Any:
        with self._writing() as database:
            database.execute("DELETE FROM answer WHERE question = ? AND state = 'unsent'", (question,))
        self._known = 0
        return real(self, question, window, draw)

    patch.setattr(sqlite_store.SqliteDeviceStore, "record", record)
    patch.setattr(drawing, "must_fetch_again", lambda kept: kept.state != "sent")
    patch.setattr(preparing, "must_fetch_again", lambda kept: kept.state != "sent")
    patch.setattr(preparing, "Resending", _never_resending)
    patch.setattr(sqlite_store.SqliteDeviceStore, "answers", _only("sent"))
    patch.setattr(sqlite_store.SqliteDeviceStore, "answer", lambda self, question, window=1: None)


def _never_resending(*given: Any, **named: Any) -> Any:
    raise ServiceError("not resent")


def _only(state: str) -> Callable[[Any], Any]:
    real = sqlite_store.SqliteDeviceStore.answers
    return lambda self: [answer for answer in real(self) if answer.state == state]


def sent_before_it_is_recorded(patch: Patch) -> None:
    real = drawing._draw

    def draw(store: Any, allowance: Any, asked: Any, chosen: object, report_id: bytes, day: str) -> Any:
        report = asked.survey.randomize(chosen)
        with contextlib.suppress(ServiceError):
            asked.collector.send(asked.survey.id, report_id, report)
        return real(store, allowance, asked, chosen, report_id, day)

    patch.setattr(drawing, "_draw", draw)


def taken_back_when_sending_fails(patch: Patch) -> None:
    real = device.send_recorded

    def send(store: Any, collector: Any, kept: Any, *given: Any, **named: Any) -> Any:
        receipt = real(store, collector, kept, *given, **named)
        if receipt.state == "unsent":
            inner = store.store
            with inner._writing() as database:
                database.execute("DELETE FROM answer WHERE report_id = ?", (kept.report_id,))
            inner._known = 0
        return receipt

    patch.setattr(device, "send_recorded", send)


def windows_that_ended_before_it_joined(patch: Patch) -> None:
    patch.setattr(turns.Turns, "_phase", lambda self, mine, moment: turns.phase(mine, moment))


def clocks_that_disagree(patch: Patch) -> None:
    patch.setattr(preparing, "check_clocks", lambda own, theirs: None)
    patch.setattr(preparing, "phase", lambda period, moment: "due")


def a_period_that_closed_while_the_person_thought(patch: Patch) -> None:
    patch.setattr(device, "phase", lambda period, moment: "due")


def reports_of_closed_periods(patch: Patch) -> None:
    patch.setattr(sending, "_has_closed", lambda kept, clock: False)


def any_period_of_its_window(patch: Patch) -> None:
    patch.setattr(preparing, "seat_in", lambda store, panel, window, seats: 1)


def the_budget_is_not_asked(patch: Patch) -> None:
    patch.setattr(device.Allowance, "check", lambda self, survey, answers, day: (survey.epsilon, 0.0))


def half_of_the_cost_is_charged(patch: Patch) -> None:
    real = device.Allowance.check
    patch.setattr(device.Allowance, "check", lambda self, *given: tuple(cost / 2 for cost in real(self, *given)))


def directly_when_the_relay_fails(patch: Patch) -> None:
    real = device.Device._send

    def send(self: Any, collector: Any, kept: Any, *, verified: bool) -> Any:
        receipt = real(self, collector, kept, verified=verified)
        if receipt.state == "unsent" and kept.relay:
            return real(self, collector, replace(kept, relay=""), verified=verified)
        return receipt

    patch.setattr(device.Device, "_send", send)


def keys_that_nobody_signed(patch: Patch) -> None:
    real = clients.RelayClient.sealing_key
    patch.setattr(clients.RelayClient, "sealing_key", lambda self, trusted: real(self, None))


def another_survey_is_taken_for_this_one(patch: Patch) -> None:
    patch.setattr(
        fetch.CollectorClient, "_envelope", lambda self, survey: self._get(f"/v1/surveys/{survey}", fetch.Envelope)
    )


def any_key_is_trusted(patch: Patch) -> None:
    real = fetch.CollectorClient.survey
    patch.setattr(
        fetch.CollectorClient, "survey", lambda self, survey, trusted, allowed=None: real(self, survey, None, allowed)
    )


def another_question_of_a_round_is_answered_too(patch: Patch) -> None:
    patch.setattr(preparing, "check_question", lambda kept, survey: None)
    patch.setattr(drawing, "check_question", lambda kept, survey: None)
    real = drawing._draw

    def draw_once(store: Any, allowance: Any, asked: Any, value: Any, otherwise: Any, report_id: Any, day: Any) -> Any:
        kept = store.answer(asked.question, asked.window)
        if kept is not None and kept.survey == asked.survey.id:
            return kept
        question = asked.question if kept is None else asked.survey.id
        return real(store, allowance, replace(asked, question=question), value, report_id, day)

    patch.setattr(device, "draw_once", draw_once)
    patch.setattr(preparing.Preparation, "answers_to", lambda self, question: [])


QUICK: dict[Callable[[Patch], None], str] = {
    another_id_at_every_attempt: "plain survey",
    sent_before_it_is_recorded: "plain survey",
    any_period_of_its_window: "tracking survey",
    half_of_the_cost_is_charged: "plain survey",
    directly_when_the_relay_fails: "relayed survey",
    keys_that_nobody_signed: "relayed survey",
    another_survey_is_taken_for_this_one: "plain survey",
    any_key_is_trusted: "plain survey",
}
"""Faults that one event shows, and the survey in which each is looked for."""

SLOW: dict[Callable[[Patch], None], str] = {
    drawn_again_while_unsent: "plain survey",
    taken_back_when_sending_fails: "plain survey",
    windows_that_ended_before_it_joined: "tracking survey",
    clocks_that_disagree: "tracking survey",
    a_period_that_closed_while_the_person_thought: "tracking survey",
    reports_of_closed_periods: "tracking survey",
    the_budget_is_not_asked: "plain survey",
    another_question_of_a_round_is_answered_too: "panel",
}
"""Those that take two events or more."""


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer() as serving:
        yield serving


@pytest.fixture(scope="module")
def scenarios(server: LoopbackServer) -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in usual_scenarios(server.url("relay"))}


@pytest.mark.parametrize(
    "plant",
    [*QUICK, *(pytest.param(plant, marks=pytest.mark.slow) for plant in SLOW)],
    ids=lambda plant: plant.__name__,
)
def test_a_planted_fault_is_found(
    plant: Callable[[Patch], None],
    server: LoopbackServer,
    scenarios: dict[str, Scenario],
    monkeypatch: Patch,
    tmp_path: Path,
) -> None:
    """The history that shows it shows it again, and shows nothing without the fault."""
    scenario = fewer(scenarios[(QUICK | SLOW)[plant]])
    plant(monkeypatch)
    done = search(server, PythonDevice(tmp_path), [scenario], 60.0, lambda more: None, seed=1)
    assert done.found is not None
    written = "; ".join(event.name for event in done.found.history)
    assert replay(server, PythonDevice(tmp_path), [scenario], written).found is not None
    monkeypatch.undo()
    assert replay(server, PythonDevice(tmp_path), [scenario], written).found is None
