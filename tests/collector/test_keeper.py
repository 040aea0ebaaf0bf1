"""Periods are opened and closed by the database's clock, once, and never backwards."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

import pytest

import sottovoce as sv
from collector.places import Place
from collector.tracked import STARTS, SetClock, weekly
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.collector.running.backup import backup, restore
from sottovoce.collector.store import Store
from sottovoce.collector.surveys import keeper as keeper_module
from sottovoce.collector.surveys.keeper import PeriodKeeper
from sottovoce.collector.surveys.published import signed_record
from sottovoce.core.errors import StoreError, StoreFullError, StoreUnavailableError
from sottovoce.core.signing import SigningKey, verify
from sottovoce.formats.wire import encode_batch
from sottovoce.service.refusal import Refusal
from sottovoce.service.storage.committer import Arrival
from sottovoce.surveys.survey import Survey, Tracking

KEY = SigningKey(bytes(range(32)))


def keeper_of(store: Store, clock: SetClock) -> PeriodKeeper:
    return PeriodKeeper(store, KEY, 3600, lambda: clock.moment)


def published(store: Store, tracking: Tracking) -> Tracking:
    store.publish(signed_record(KEY, tracking, 0, 5), tracking.attachments)
    return tracking


def states(store: Store, tracking: Tracking) -> list[tuple[int, str]]:
    return [(one.round, one.state) for one in store.standing_rounds(tracking.id)]


def test_a_period_opens_when_it_begins_and_closes_after_its_grace(store: Store) -> None:
    clock, tracking = SetClock(store, 0, -1), published(store, weekly())
    keeper = keeper_of(store, clock)
    seen = []
    for weeks, days in ((0, -0.01), (0, 0), (1, 0), (1, 1.99), (1, 2), (2, 0), (3, 0), (3, 1.99), (3, 2)):
        clock.set(weeks, days)
        keeper.step()
        seen.append([state for _, state in states(store, tracking)])
    assert seen == [
        [],
        ["open"],
        ["open", "open"],
        ["open", "open"],
        ["sealed", "open"],
        ["sealed", "open", "open"],
        ["sealed", "sealed", "open"],
        ["sealed", "sealed", "open"],
        ["sealed", "sealed", "sealed"],
    ]
    record = store.survey(tracking.id)
    assert record is not None
    assert record.state == "sealed", "after its last period"
    assert store.tracked() == []


def test_a_period_is_the_survey_with_its_number_signed_like_it(store: Store) -> None:
    clock, tracking = SetClock(store, 1), published(store, weekly())
    keeper_of(store, clock).step()
    first, second = store.rounds(tracking.id)
    assert (second.id, second.parent, second.round) == (tracking.period(2).id, tracking.id, 2)
    assert (second.kind, second.minimum_reports, second.epoch) == ("shares", 5, int(clock.moment // 3600))
    verify(KEY.public, second.canonical, second.signature)
    assert Survey.from_json(first.canonical) == tracking.period(1)


def test_what_was_missed_is_made_up_for(store: Store) -> None:
    """A service that was away for weeks finds everything as if it had been there."""
    clock, tracking = SetClock(store, 0, -1), published(store, weekly(6))
    keeper_of(store, clock).step()
    clock.set(4, 3)
    keeper_of(store, clock).step()
    assert [state for _, state in states(store, tracking)] == ["sealed"] * 4 + ["open"]
    clock.set(99)
    keeper_of(store, clock).step()
    assert [state for _, state in states(store, tracking)] == ["sealed"] * 6


def test_a_clock_that_goes_back_opens_nothing_again(store: Store) -> None:
    clock, tracking = SetClock(store, 2, 3), published(store, weekly(6))
    keeper_of(store, clock).step()
    before = states(store, tracking)
    assert before == [(1, "sealed"), (2, "sealed"), (3, "open")]
    for weeks in (0.5, -3):
        clock.set(weeks)
        keeper_of(store, clock).step()
        assert states(store, tracking) == before
        assert store.append([Arrival(tracking.period(1).id, 0, 1, bytes(17))]) == ["sealed"]


def test_an_old_backup_reopens_no_period(tmp_path: Path) -> None:
    """Between the restore and the first look of the keeper the intake goes by the clock alone."""
    before, after = Place("", tmp_path / "before"), Place("", tmp_path / "after")
    tracking = weekly()
    period = tracking.period(1)
    with contextlib.closing(before.open()) as store:
        published(store, tracking)
        keeper_of(store, SetClock(store, 0)).step()
    backup("", before.data, tmp_path / "backup")
    restore(tmp_path / "backup", "", after.data)
    with contextlib.closing(after.open()) as store:
        clock = SetClock(store, 1, 2)
        assert states(store, tracking) == [(1, "open")], "as the backup has it"
        intake = Intake(SurveyCache(store), clock=lambda: clock.moment)
        with pytest.raises(Refusal, match="is closed: it accepts no more reports"):
            intake.read_batch(period.id, encode_batch(period.id, [(bytes(16), period.randomize("yes"))]))
        keeper_of(store, clock).step()
        assert states(store, tracking) == [(1, "sealed"), (2, "open")]


def test_a_survey_without_an_end_goes_on(store: Store) -> None:
    clock, tracking = SetClock(store, 40), published(store, weekly(None, renews=4))
    keeper_of(store, clock).step()
    assert states(store, tracking)[-1] == (41, "open")
    assert store.tracked() == [tracking.id]


def test_a_survey_ended_by_hand_has_no_further_periods(store: Store) -> None:
    clock, sealed = SetClock(store, 0), published(store, weekly())
    deleted, damaged_period = published(store, weekly(4)), published(store, weekly(5))
    keeper = keeper_of(store, clock)
    keeper.step()
    store.seal(sealed.id)
    store.delete(deleted.id)
    store.delete(damaged_period.period(1).id)
    clock.set(1)
    keeper.step()
    assert states(store, sealed) == [(1, "sealed")]
    assert states(store, deleted) == [(1, "deleted")]
    assert states(store, damaged_period) == [(1, "deleted"), (2, "open")], "what was deleted does not come back"
    assert store.attachment("0" * 64) is None


def test_a_survey_sealed_at_the_same_moment_is_left_alone(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tracking = SetClock(store, 0), published(store, weekly())
    real = store.standing_rounds

    def sealed_meanwhile(parent: str) -> object:
        store.seal(parent)
        return real(parent)

    monkeypatch.setattr(store, "standing_rounds", sealed_meanwhile)
    keeper_of(store, clock).step()
    assert real(tracking.id) == []


def test_two_services_at_once_make_each_period_once(place: Place) -> None:
    with contextlib.ExitStack() as stack:
        stores = [stack.enter_context(contextlib.closing(place.open())) for _ in range(3)]
        clocks = [SetClock(store, 5, 3) for store in stores]
        surveys = [published(stores[0], weekly(6, title=f"survey {number}")) for number in range(4)]
        keepers = [keeper_of(store, clock) for store, clock in zip(stores, clocks, strict=True)]
        threads = [threading.Thread(target=keeper.step) for keeper in keepers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for tracking in surveys:
            assert states(stores[0], tracking) == [*((number, "sealed") for number in range(1, 6)), (6, "open")]


def test_nothing_is_asked_of_the_database_between_boundaries(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tracking = SetClock(store, 0), published(store, weekly())
    keeper = keeper_of(store, clock)
    keeper.tick()
    asked: list[str] = []
    real = store.survey
    monkeypatch.setattr(store, "survey", lambda survey_id: asked.append(survey_id) or real(survey_id))
    monkeypatch.setattr(keeper_module.time, "monotonic", lambda: -1e9)  # far from the next look for new surveys
    clock.set(0, 6.9)
    keeper.tick()
    assert asked == []
    clock.set(1)
    keeper.tick()
    assert asked == [tracking.id], "awake at the boundary"
    assert len(states(store, tracking)) == 2


def test_surveys_of_other_processes_are_found_after_a_while(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SetClock(store, 0)
    keeper = keeper_of(store, clock)
    keeper.tick()
    tracking = published(store, weekly())
    monkeypatch.setattr(keeper_module.time, "monotonic", lambda: 1e12)
    keeper.tick()
    assert states(store, tracking) == [(1, "open")]


def test_one_survey_in_trouble_stops_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, first, second = SetClock(store, 0), published(store, weekly()), published(store, weekly(4))
    real, fault = store.publish, [StoreFullError("the disk is full")]

    def publish(record: object, attachments: object) -> object:
        if fault and record.parent == first.id:  # type: ignore[attr-defined]
            raise fault[0]
        return real(record, attachments)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "publish", publish)
    keeper = keeper_of(store, clock)
    with pytest.raises(StoreFullError):
        keeper.step()
    assert (states(store, first), states(store, second)) == ([], [(1, "open")])
    fault.clear()
    keeper.step()
    assert states(store, first) == [], "not tried again at once"
    clock.moment += 10
    keeper.step()
    assert states(store, first) == [(1, "open")]


def test_a_lost_database_is_asked_again_in_full(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tracking = SetClock(store, 0), published(store, weekly())
    keeper = keeper_of(store, clock)

    def away(*_: object) -> None:
        raise StoreUnavailableError("away")

    with monkeypatch.context() as patch:
        patch.setattr(store, "publish", away)
        with pytest.raises(StoreUnavailableError):
            keeper.tick()
    keeper.tick()
    assert states(store, tracking) == [(1, "open")]


def test_a_damaged_survey_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, tracking = SetClock(store, 0), published(store, weekly())
    plain = Survey(sv.shares(["no", "yes"]), epsilon=1.0)
    monkeypatch.setattr(keeper_module, "survey_of", lambda *_: plain)
    with pytest.raises(StoreError, match=f"survey {tracking.id[:12]} is damaged"):
        keeper_of(store, clock).step()


def test_ten_thousand_other_surveys_cost_nothing(tmp_path: Path) -> None:
    """The list of open tracking surveys comes from an index that holds nothing else."""
    place = Place("", tmp_path / "data")
    with contextlib.closing(place.open()) as store, store.read() as transaction:  # type: ignore[attr-defined]
        (plan,) = transaction.rows(
            "EXPLAIN QUERY PLAN SELECT id FROM surveys WHERE kind = 'tracking' AND state = 'open' ORDER BY number"
        )
    assert "surveys_tracked" in plan[-1]


def test_the_calendar_of_these_tests_begins_on_a_monday() -> None:
    assert STARTS.isoweekday() == 1
