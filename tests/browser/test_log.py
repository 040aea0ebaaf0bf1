"""The log of surveys in a browser: a collector that shows a second list, or none, is refused, and nothing is sent."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

import sottovoce as sv
from browser import setting
from browser.accessibility import faults
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service, kept_port, running
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow


def fresh(title: str) -> Survey:
    return Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title=f"{title} {secrets.token_hex(4)}")


def test_a_collector_that_shows_a_second_list_is_refused(visitors: Visitors, tmp_path: Path) -> None:
    """At the same address, with the same key: all that is different is what was published before."""
    first, hidden = fresh("first"), fresh("asked of some")
    with kept_port() as port:
        flags = ("--port", str(port))
        with running(tmp_path / "data", *flags, **setting.pages()) as honest:
            honest.publish(first)
            visitor = visitors(honest.url)
            SurveyPage.visit(visitor, first).answer("tea")
            seen = honest.ask("GET", "/v1/log/checkpoint").body.decode()
        (tmp_path / "other").mkdir()
        shutil.copy(tmp_path / "data" / "signing.key", tmp_path / "other")
        with running(tmp_path / "other", *flags, **setting.pages()) as other:
            for survey in (hidden, first):
                other.publish(survey)
            tab = SurveyPage.visit(visitor, hidden)
            tab.choose("tea")
            tab.draw_button.click()
            tab.stops("two lists of its surveys")
            expect(tab.page.get_by_text("Nothing was drawn and nothing was sent.")).to_be_visible()
            tab.page.get_by_text("The evidence:").click()
            shown = other.ask("GET", "/v1/log/checkpoint").body.decode()
            assert [each.inner_text() for each in tab.page.locator(".evidence pre").all()] == [seen, shown]
            assert faults(tab.page) == []
            assert [record["question"] for record in tab.records()] == [first.id]
            assert len(visitor.reports_sent()) == 1
            assert other.counted(hidden, hidden.mechanism.report_bytes).total() == 0
            # The ledger tells it from then on, whichever survey it is beside.
            again = SurveyPage.visit(visitor, hidden)
            expect(
                again.page.get_by_text(f"{other.url} showed this browser two lists of its surveys on ")
            ).to_be_visible()


def log_that_is(code: str) -> Callable[[Route], None]:
    error = {"code": code, "message": "no", "field": None}
    return lambda route: route.fulfill(status=404, json={"error": error})


def test_a_page_without_its_log_or_with_a_survey_that_is_not_in_it_draws_nothing(
    service: Service, visitor: Visitor
) -> None:
    visitor.expects("404")
    for code in ("not_found", "not_in_log", "statement_gone"):
        survey = fresh(code)
        service.publish(survey)
        part = "statements" if code == "statement_gone" else "proofs"
        visitor.context.route(f"**/v1/log/{part}/{survey.id}*", log_that_is(code))
        tab = SurveyPage.visit(visitor, survey)
        tab.choose("tea")
        tab.draw_button.click()
        tab.stops("not in the list that everybody can see")
        assert (tab.records(), visitor.reports_sent()) == ([], [])


def test_two_requests_to_the_log_for_an_answer_and_none_afterwards(service: Service, visitor: Visitor) -> None:
    survey = fresh("asked once")
    service.publish(survey)
    tab = SurveyPage.visit(visitor, survey)
    tab.answer("tea")
    tab.page.reload()
    tab.arrives()
    asked = [request.url for request in visitor.asked("GET", r"/v1/log/.*")]
    log = f"{service.url}/v1/log"
    assert asked == [f"{log}/proofs/{survey.id}?block=0", f"{log}/statements/{survey.id}"]
