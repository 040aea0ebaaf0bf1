"""Adaptive sessions with real devices: the same class as in process, its history kept by the collector."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import sottovoce as sv
from analyst.conftest import BATCH, MINIMUM, counted, devices, send
from collector.service import kept_port, running, until
from refusing import refuses
from sottovoce.analyst.parquet import read_export
from sottovoce.core.errors import QueryError, ServiceError, SessionError

PEOPLE = {"age": np.arange(3000) % 100, "country": ["DE", "FR", "FR"] * 1000}
"""A share of 0.3 is below 30; a third is in DE."""


def people(title: str, rounds: int = 3) -> sv.surveys.panel.Panel:
    return sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=rounds, epsilon=4.0, title=title)


def open_round(live, asked):
    """Open a round as a session does that is cut short right afterwards."""
    return live.open_round(asked)


def test_questions_are_answered_by_devices(service, collector):
    survey = people("asked")
    live = collector.publish(survey)
    with devices(service.url, survey, PEOPLE):
        session = live.session(reports=800)
        told = []
        answer = session.ask("age < 30", progress=told.append)
        assert 800 <= sum(told) <= answer.n_reports
        # One in three of 3,000 people; debiasing at epsilon 4 has c < 1.04. Nine standard errors: below 1e-18.
        assert abs(answer.value - 0.3) < 9 * 1.04 / np.sqrt(answer.n_reports)
        shares = session.choose("find(country, ('DE',))", ["Germany", "elsewhere"])
    assert abs({answer.label: answer.value for answer in shares.top()}["Germany"] - 1 / 3) < 9 * 1.04 / np.sqrt(
        shares.n_reports
    )
    assert (type(session), session.remaining) == (sv.adaptive.Session, 1)
    assert session.crowd.people == round(3 * (answer.n_reports + shares.n_reports) / 2)
    assert session.state.past[0].aggregate == collector.survey(live.rounds()[0].id).aggregate()
    # Whoever comes later sees the same.
    again = collector.survey("asked").session(reports=800)
    assert again.history.to_json() == session.history.to_json()
    assert again.history[1].labels == ("Germany", "elsewhere")
    assert (again.remaining, again.crowd.people) == (1, session.crowd.people)
    assert (live.status().rounds, live.status().asked) == (3, 2)


def test_a_session_without_any_round(collector):
    survey = people("fresh")
    session = collector.publish(survey).session(seconds=1)
    assert (session.remaining, session.crowd.people, session.history.answers) == (3, 0, ())
    assert session.finish() is None
    assert session.crowd.state() == {}
    assert "about 0" in repr(session.crowd)


def test_an_open_round_is_finished_first(service, collector):
    survey = people("cut short")
    live = collector.publish(survey)
    asked = sv.adaptive.round_of(survey, 1, "age < 30")
    open_round(live, asked)
    session = live.session(reports=100, finish=False)
    assert len(session.history) == 0
    with devices(service.url, survey, PEOPLE):
        answer = session.ask("age < 60")
    assert [(one.round, one.query) for one in session.history] == [(1, asked.query_text), (2, answer.query)]


def test_interrupted_while_waiting_and_taken_up_by_another_process(service, collector):
    survey = people("Ctrl-C")
    live = collector.publish(survey)

    def interrupt(n: int) -> None:
        raise KeyboardInterrupt

    with devices(service.url, survey, PEOPLE):
        with pytest.raises(KeyboardInterrupt):
            live.session(reports=800).ask("age < 30", progress=interrupt)
        (known,) = live.rounds()
        assert known.state == "open"
        later = collector.survey(survey.id).session(reports=800)
        assert [one.round for one in later.history] == [1]
        assert later.history[0].n_reports >= 800
    assert live.rounds()[0].state == "sealed"


def test_interrupted_after_sealing(service, collector):
    survey = people("sealed and not read")
    live = collector.publish(survey)
    asked = sv.adaptive.round_of(survey, 1, "age < 30")
    opened = open_round(live, asked)
    reports = asked.simulate(PEOPLE, seed=3)
    send(service.url, asked, reports)
    opened.seal()
    session = live.session(reports=10**6)
    assert session.history[0].n_reports == 3000
    assert session.state.past[0].aggregate == asked.aggregate().add(reports)


def test_two_analysts_at_once(service, collector):
    survey = people("two at once")
    live = collector.publish(survey)
    mine, yours = live.session(reports=100), live.session(reports=100)
    with devices(service.url, survey, PEOPLE):
        answer = mine.ask("age < 30")
        with pytest.raises(SessionError, match="another analyst") as caught:
            yours.ask("age < 60")
        assert isinstance(caught.value.__cause__, ServiceError)
        assert caught.value.__cause__.status == 409
        same = live.session(reports=100)
        assert same.history.to_json() == mine.history.to_json()
    # The very same question is no conflict: it has an answer already.
    third = sv.adaptive.Session(survey, mine.crowd)
    assert third.ask("age < 30").to_dict() == answer.to_dict()


def test_an_earlier_round_that_is_open_keeps_later_ones_closed(collector):
    survey = people("in order")
    live = collector.publish(survey)
    session = live.session(seconds=0)
    open_round(live, sv.adaptive.round_of(survey, 1, "age < 30"))
    with pytest.raises(SessionError, match=r"round 2 could not be opened"):
        session.crowd.answer(sv.adaptive.round_of(survey, 2, "age < 60"))


def test_seconds_do_not_close_a_round_below_the_minimum(service, collector):
    survey = people("minimum")
    live = collector.publish(survey, minimum_reports=40)
    session, found = live.session(seconds=0), []
    thread = threading.Thread(target=lambda: found.append(session.ask("age < 30")))
    thread.start()
    until(live.rounds, "the round is open")
    asked = sv.adaptive.round_of(survey, 1, "age < 30")
    send(service.url, asked, asked.simulate({name: column[:39] for name, column in PEOPLE.items()}, seed=1))
    opened = collector.survey(asked.id)
    counted(opened)
    assert (opened.status().state, opened.status().n_reports, found) == ("open", 39, [])
    assert opened.status().minimum_reports == 40
    send(service.url, asked, asked.simulate({name: column[:1] for name, column in PEOPLE.items()}, seed=2))
    thread.join()
    assert found[0].n_reports == 40
    assert opened.status().state == "sealed"


def test_a_round_sealed_too_early_counts_as_unanswered(service, collector):
    survey = people("too early")
    live = collector.publish(survey)
    asked = sv.adaptive.round_of(survey, 1, "age < 30")
    opened = open_round(live, asked)
    send(service.url, asked, asked.simulate({name: column[: MINIMUM - 1] for name, column in PEOPLE.items()}, seed=1))
    opened.seal()
    session = live.session(reports=100)
    assert (session.history[0].empty, session.remaining, session.crowd.people) == (True, 2, 0)


def test_a_collector_that_dies_and_comes_back_while_a_round_is_waited_for(tmp_path):
    survey, found = people("killed"), []
    with kept_port() as port:
        flags = ("--port", str(port), "--minimum-reports", str(MINIMUM))
        with running(tmp_path / "data", *flags) as first:
            session = sv.connect(first.url, first.token).publish(survey).session(reports=500)
            thread = threading.Thread(target=lambda: found.append(session.ask("age < 30")))
            thread.start()
            until(lambda: first.ask("GET", f"/v1/surveys/{survey.id}/rounds").json["rounds"], "the round is open")
        with running(tmp_path / "data", *flags, token=first.token) as second, devices(second.url, survey, PEOPLE):
            thread.join()
    assert found[0].n_reports >= 500


def test_the_median_by_a_strategy_that_knows_nothing_of_collectors(service, collector):
    strategy = sv.adaptive.Quantile("age")
    survey = strategy.panel({"age": range(16)}, epsilon=4.0, people=4000, title="median")
    live = collector.publish(survey)
    # Everybody is 11: every share asked for is 0 or 1, so a wrong turn needs an error of 1/2, and the standard error of
    # a share is below 1.04 / 2 / sqrt(800) = 0.02 with the 800 people that are waited for.
    with devices(service.url, survey, {"age": np.full(4000, 11)}):
        found = strategy.run(live.session(reports=800))
    assert (found.value, found.rounds, found.empty_rounds) == (11, 4, 0)


def test_the_most_common_values_by_a_strategy_that_knows_nothing_of_collectors(service, collector):
    strategy = sv.adaptive.HeavyHitters("value", k=1)
    # As many as come in one batch: the round may be closed as soon as the first of them are counted.
    survey = strategy.panel(2**10, epsilon=4.0, people=BATCH, title="most common")
    live = collector.publish(survey)
    # Everybody has one value: its frequency is 1 and all others 0, more than a hundred standard errors apart.
    with devices(service.url, survey, np.full(BATCH, 777)):
        found = strategy.run(live.session(seconds=0.5))
    assert found.values == [777]


def test_rounds_are_exported_a_folder_each(service, collector, tmp_path):
    survey = people("exported rounds", rounds=2)
    live = collector.publish(survey)
    with devices(service.url, survey, PEOPLE):
        session = live.session(reports=500)
        session.ask("age < 30")
        session.ask("age < 60")
    done = live.export(tmp_path)
    assert done.reports == sum(one.n_reports for one in session.history)
    for number, past in enumerate(session.state.past, 1):
        assert read_export(past.asked, tmp_path / f"round-{number:05d}") == past.aggregate


def test_sessions_that_cannot_be(collector):
    live = collector.publish(people("mistakes"))
    for given, field in (({}, "reports"), ({"seconds": -1}, "seconds"), ({"seconds": "long"}, "seconds")):
        with refuses(SessionError, field):
            live.session(**given)
    with refuses(sv.errors.SurveyError, "reports"):
        live.session(reports=0)
    session = live.session(reports=10)
    with pytest.raises(QueryError):
        session.ask("height < 30")
    assert live.rounds() == []
