"""The survey page when the network, the collector, the storage or the clock fail: nothing is lost or drawn twice."""

from __future__ import annotations

import datetime
import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from browser import setting
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service, kept_port, running
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

LOST_CONNECTION = r"ERR_(INTERNET_DISCONNECTED|CONNECTION_(REFUSED|RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|FAILED)"


def fresh() -> Survey:
    return Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, title=f"Bad day {secrets.token_hex(4)}")


@pytest.fixture
def drinks(service: Service) -> Survey:
    survey = fresh()
    service.publish(survey)
    return survey


def count(service: Service, survey: Survey) -> int:
    return service.counted(survey, 1).total()


def test_offline_then_online(service: Service, visitor: Visitor, drinks: Survey) -> None:
    visitor.expects(LOST_CONNECTION)
    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    drawn = tab.records()
    visitor.context.set_offline(True)
    tab.send_button.click()
    tab.waits()
    assert tab.records() == drawn
    assert service.status(drinks)["n_reports"] == 0
    visitor.context.set_offline(False)
    tab.arrives()
    assert [record["report"] for record in tab.records()] == [record["report"] for record in drawn]
    assert len({*visitor.reports_sent()}) == 1
    assert count(service, drinks) == 1


def test_offline_from_the_question_on(service: Service, visitor: Visitor, drinks: Survey) -> None:
    visitor.expects(LOST_CONNECTION)
    tab = SurveyPage.visit(visitor, drinks)
    tab.choose("tea")
    visitor.context.set_offline(True)
    tab.draw_button.click()
    expect(tab.page.get_by_text(re.compile("cannot be reached|offline", re.IGNORECASE)).first).to_be_visible()
    assert tab.records() == []
    visitor.context.set_offline(False)
    tab.send_button.click()
    tab.arrives()
    assert len(tab.records()) == 1
    assert count(service, drinks) == 1


def test_the_collector_goes_away_and_comes_back(visitors: Visitors, tmp_path: Path) -> None:
    survey = fresh()
    with kept_port() as port:
        flags = ("--port", str(port))
        with running(tmp_path / "data", *flags, **setting.pages()) as first:
            first.publish(survey)
            visitor = visitors(first.url)
            visitor.expects(LOST_CONNECTION)
            tab = SurveyPage.visit(visitor, survey)
            tab.draw("tea")
            drawn = tab.records()
        tab.send_button.click()
        tab.waits()
        with running(tmp_path / "data", *flags, token=first.token, **setting.pages()) as again:
            tab.arrives()
            assert [record["report"] for record in tab.records()] == [record["report"] for record in drawn]
            assert count(again, survey) == 1


def test_full_storage_is_told_and_nothing_is_sent(service: Service, visitor: Visitor, drinks: Survey) -> None:
    # Browsers let a few bytes through beyond their own quota: the disk is full for the report alone.
    visitor.context.add_init_script(
        "IDBObjectStore.prototype.add = () => { throw new DOMException('full', 'QuotaExceededError'); }"
    )
    tab = SurveyPage.visit(visitor, drinks)
    tab.choose("tea")
    tab.draw_button.click()
    tab.stops("storage is full")
    assert tab.records() == []
    assert visitor.reports_sent() == []
    assert service.status(drinks)["n_reports"] == 0


def test_blocked_storage_is_told_before_anything_is_asked(visitor: Visitor, drinks: Survey) -> None:
    visitor.context.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError'); }"
    )
    tab = SurveyPage.visit(visitor, drinks)
    tab.stops("does not let the page keep a ledger")
    assert visitor.reports_sent() == []


def test_storage_cleared_before_drawing(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.choose("tea")
    clear(visitor, tab)
    tab.draw_button.click()
    tab.stops("data was cleared")
    assert visitor.reports_sent() == []
    tab.page.reload()
    tab.answer("tea")
    assert count(service, drinks) == 1


def test_storage_cleared_before_sending(visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    clear(visitor, tab)
    tab.send_button.click()
    tab.stops("data was cleared")
    assert visitor.reports_sent() == []


def clear(visitor: Visitor, tab: SurveyPage) -> None:
    """As the browser's own settings do, for one site."""
    visitor.context.new_cdp_session(tab.page).send(
        "Storage.clearDataForOrigin", {"origin": visitor.origin, "storageTypes": "all"}
    )


@pytest.mark.parametrize("year", [1970, 2200])
def test_a_clock_years_off_changes_nothing(service: Service, visitor: Visitor, drinks: Survey, year: int) -> None:
    visitor.context.clock.set_fixed_time(datetime.datetime(year, 1, 2, 12, tzinfo=datetime.UTC))
    tab = SurveyPage.visit(visitor, drinks)
    tab.answer("tea")
    [record] = tab.records()
    assert record["day"] == f"{year}-01-02"
    tab.page.reload()
    tab.arrives()
    assert count(service, drinks) == 1


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("500", "too large"),
        ("-1", "too small"),
        ("12.5", "not a whole number"),
        ("old", "not a whole number"),
        ("", "nothing is written"),
        ("1e1", "not a whole number"),
    ],
)
def test_an_answer_outside_the_domain_is_refused_where_it_is_typed(
    service: Service, visitor: Visitor, typed: str, told: str
) -> None:
    survey = Survey(sv.shares(range(120)), epsilon=1.0, title=f"Age {secrets.token_hex(4)}")
    service.publish(survey)
    tab = SurveyPage.visit(visitor, survey)
    field = tab.page.get_by_role("textbox").first
    field.fill(typed)
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert").filter(has_text=told).filter(has_text="from 0 to 119")).to_be_visible()
    expect(tab.send_button).to_have_count(0)
    assert tab.records() == []
    field.fill("42")
    tab.draw_button.click()
    expect(tab.send_button).to_be_visible()


HOSTILE = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>'


def test_markup_in_title_and_labels_is_text(service: Service, visitor: Visitor) -> None:
    title = f"{HOSTILE} {secrets.token_hex(4)}"
    labels = [f"<b>tea</b>{HOSTILE}", "</script><svg/onload=globalThis.harmed=1>", "&lt;coffee&gt;"]
    survey = Survey(sv.shares(labels), epsilon=1.0, title=title)
    service.publish(survey)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text(title)
    for label in labels:
        expect(tab.page.get_by_role("radio", name=label, exact=True)).to_be_visible()
    tab.answer(labels[0])
    assert tab.page.evaluate("() => globalThis.harmed") is None
    expect(tab.page.locator("main img, main b:has-text('tea'), main script")).to_have_count(0)


def test_an_unknown_survey_is_told(visitor: Visitor) -> None:
    visitor.expects("404")
    page = visitor.open(f"/s/{'0' * 64}")
    expect(page.get_by_role("heading", name="This survey does not exist here")).to_be_visible()


def test_a_closed_survey_is_told_before_anything_is_asked(service: Service, visitor: Visitor, drinks: Survey) -> None:
    assert service.ask("POST", f"/v1/surveys/{drinks.id}/seal").status == 200
    tab = SurveyPage.visit(visitor, drinks)
    tab.stops("This survey is closed")


def test_a_survey_beyond_the_limits_is_refused(service: Service, visitor: Visitor) -> None:
    survey = Survey(sv.shares(["tea", "coffee"]), epsilon=5.0, title=f"Too much {secrets.token_hex(4)}")
    service.publish(survey)
    tab = SurveyPage.visit(visitor, survey)
    tab.stops("more than this page gives")
    expect(tab.page.get_by_text(survey.title)).to_be_visible()
    expect(tab.page.get_by_text("asks for epsilon 5; this page answers up to 2 for one survey")).to_be_visible()
    assert tab.records() == []


def test_a_survey_beyond_what_is_left_is_refused(service: Service, visitor: Visitor) -> None:
    surveys = [
        Survey(sv.shares(["tea", "coffee"]), epsilon=2.0, title=f"One of many {secrets.token_hex(4)}") for _ in range(5)
    ]
    for survey in surveys:
        service.publish(survey)
    for survey in surveys[:4]:
        SurveyPage.visit(visitor, survey).draw("tea")
    tab = SurveyPage.visit(visitor, surveys[4])
    tab.stops("more than your ledger allows")
    assert len(tab.records()) == 4
