"""A panel as a conversation: a question is typed, devices fill its round, its answer is read, and so on."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import new_token, send, signed_in, too_wide
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

TOLERANCE = 20
"""In percent: a bit's variance is at most 1 / tanh(1)^2 = 1.73, so 2,000 give a standard error of 2.95; this is 6.8 of
them, beyond which a normal lies with probability 1e-11."""

HOSTILE = '<img src=x onerror="globalThis.harmed=1">'


def published(service: Service, rounds: int = 3, title: str = "Ages", minimum: int = 1) -> Panel:
    domain = {"age": range(100), "smokes": ["no", "yes"]}
    survey = sv.Panel(domain, rounds=rounds, epsilon=2.0, title=f"{title} {secrets.token_hex(4)}")
    said = {"statement": survey.to_json(), "minimum_reports": minimum}
    assert service.ask("POST", "/v1/surveys", json=said).status == 201
    return survey


def round_survey(service: Service, survey: Panel, number: int) -> Any:
    """The round that was opened last, as devices get it."""
    envelope = service.ask("GET", f"/v1/surveys/{survey.id}/rounds/latest").json
    found = Survey.from_json(envelope["statement"])
    assert isinstance(found, Survey)
    assert found.seat is not None
    assert found.seat.round == number
    return found


def look(page: Page, question: str) -> None:
    """Type it and have it checked; nothing is asked yet."""
    field = page.get_by_role("textbox", name="Question")
    field.fill(question)
    field.press("Enter")


def ask(page: Page, question: str, number: int) -> Locator:
    """Ask it; the round on the page."""
    look(page, question)
    page.get_by_role("button", name=re.compile(f"Ask round {number}|Close round {number - 1} and ask")).click()
    asked = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name=f"Round {number}", exact=True))
    expect(asked).to_be_visible()
    return asked


def close(asked: Locator) -> None:
    """Close a round that has enough reports."""
    asked.get_by_role("button", name="Close this round and ask the next").click()
    asked.page.get_by_role("dialog").get_by_role("button", name="Close it").click()


def percentage(asked: Locator) -> float:
    """The large figure of an answer."""
    expect(asked).to_contain_text(re.compile(r"[\d.]+\s%\s+of people"))
    found = re.search(r"([\d.]+)\s%\s+of people", asked.inner_text())
    assert found
    return float(found.group(1))


def test_two_questions_and_two_answers(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(survey.title)
    first = ask(page, "age < 30", 1)
    question = round_survey(service, survey, 1)
    send(service, question, [(20, "no")] * 1500 + [(50, "no")] * 500)
    expect(first).to_contain_text("2,000 reports")
    expect(first).to_contain_text("so far")
    close(first)
    expect(first).to_contain_text("closed")
    assert percentage(first) == pytest.approx(75, abs=TOLERANCE)
    second = ask(page, 'smokes == "yes"', 2)
    send(service, round_survey(service, survey, 2), [(20, "yes")] * 500 + [(20, "no")] * 1500)
    expect(second).to_contain_text("2,000 reports")
    close(second)
    expect(second).to_contain_text("closed")
    assert percentage(second) == pytest.approx(25, abs=TOLERANCE)
    expect(page.get_by_text("2 of 3 rounds asked")).to_be_visible()
    page.reload()
    rounds = page.get_by_role("list", name="Rounds").get_by_role("listitem")
    expect(rounds.filter(has_text=re.compile(r"%\s+of people"))).to_have_count(2)


def test_a_person_answers_their_round_on_the_survey_page(service: Service, visitors: Visitors) -> None:
    survey = published(service, rounds=1)
    analyst, person = visitors(), visitors()
    page = signed_in(analyst, service, f"/survey/{survey.id}")
    ask(page, "age / 99", 1)
    tab = SurveyPage.visit(person, survey)
    tab.page.get_by_role("textbox").first.fill("33")
    tab.page.get_by_role("radio", name="yes", exact=True).check()
    tab.draw_button.click()
    tab.send_button.click()
    tab.arrives()
    expect(page.get_by_role("list", name="Rounds")).to_contain_text("1 report")
    tab.page.reload()
    tab.arrives()
    assert len(person.reports_sent()) == 1


def test_a_person_whose_round_is_not_open_waits(service: Service, visitor: Visitor) -> None:
    visitor.expects("404")
    survey = published(service, rounds=1)
    tab = SurveyPage.visit(visitor, survey)
    tab.page.get_by_role("textbox").first.fill("33")
    tab.page.get_by_role("radio", name="no", exact=True).check()
    tab.draw_button.click()
    expect(tab.page.get_by_role("heading", name="Your question has not been asked yet.")).to_be_visible()
    assert tab.records() == []
    assert visitor.reports_sent() == []


@pytest.mark.parametrize("question", ["age <", "height > 3", "__import__('os')", "age < 30 < 40 <", "9e999 * age"])
def test_a_question_that_is_none_is_refused_where_it_is_typed(
    service: Service, visitor: Visitor, question: str
) -> None:
    visitor.expects("status of 422")
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    look(page, question)
    expect(page.get_by_role("alert").filter(has_text=re.compile(r"\w{3}"))).to_be_visible()
    expect(page.get_by_role("textbox", name="Question")).to_have_value(question)
    assert service.ask("GET", f"/v1/surveys/{survey.id}/rounds").json["rounds"] == []


def test_a_choice_among_several(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    page.get_by_text("A choice among several").click()
    page.get_by_label(re.compile("called, one per line")).fill(f"young{HOSTILE}\nold")
    asked = ask(page, "age >= 50", 1)
    expect(asked).to_contain_text(f"young{HOSTILE}")
    send(service, round_survey(service, survey, 1), [(70, "no")] * 200)
    expect(asked).to_contain_text("200 reports")
    expect(asked).to_contain_text(re.compile("old\\s+is the most common"))
    assert page.evaluate("() => globalThis.harmed") is None
    expect(page.locator("main img, main script")).to_have_count(0)


def test_closing_with_too_few_asks_first(service: Service, visitor: Visitor) -> None:
    survey = published(service, minimum=100)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    asked = ask(page, "age < 30", 1)
    asked.get_by_role("button", name="Close this round").click()
    asked.get_by_role("button", name="Wait").click()
    assert service.ask("GET", f"/v1/surveys/{survey.id}/rounds").json["rounds"][0]["state"] == "open"
    asked.get_by_role("button", name="Close this round").click()
    asked.get_by_role("button", name="Close it all the same").click()
    expect(asked).to_contain_text("No answer is shown")


def test_closing_asks_first(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    asked = ask(page, "age < 30", 1)
    send(service, round_survey(service, survey, 1), [(20, "no")] * 50)
    expect(asked).to_contain_text("50 reports")
    asked.get_by_role("button", name="Close this round").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert service.ask("GET", f"/v1/surveys/{survey.id}/rounds").json["rounds"][0]["state"] == "open"
    expect(asked.get_by_role("button", name="Close this round")).to_be_visible()


def test_sealing_ends_the_conversation(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_label("For people")).to_be_visible()
    page.get_by_role("button", name="Seal the survey").click()
    page.get_by_role("button", name="Seal it").click()
    expect(page.get_by_text("The survey is sealed")).to_be_visible()
    expect(page.get_by_text("no more rounds can be asked")).to_be_visible()
    expect(page.get_by_label("For people")).to_be_hidden()


def test_a_token_that_only_reads_cannot_ask(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    token, _ = new_token(service, "read")
    page = signed_in(visitor, service, f"/survey/{survey.id}", token)
    expect(page.locator("main")).to_contain_text("Your token")
    expect(page.get_by_role("textbox", name="Question")).to_have_count(0)
    expect(page.get_by_role("button", name=re.compile("Seal|Delete"))).to_have_count(0)


def test_markup_in_the_title_is_text_and_the_page_is_accessible(service: Service, visitors: Visitors) -> None:
    survey = published(service, title=HOSTILE)
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(survey.title)
    asked = ask(page, "age < 30", 1)
    send(service, round_survey(service, survey, 1), [(20, "no")] * 200)
    expect(asked).to_contain_text("200 reports")
    percentage(asked)
    look(page, "age / 99")
    expect(page.get_by_role("button", name="Close round 1 and ask this")).to_be_visible()
    assert faults(page) == []
    assert too_wide(page) <= 0
    assert page.evaluate("() => globalThis.harmed") is None


def test_the_conversation_is_saved_as_json(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    asked = ask(page, "age < 30", 1)
    send(service, round_survey(service, survey, 1), [(20, "no")] * 50)
    percentage(asked)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save as JSON").first.click()
    read = json.loads(Path(waiting.value.path()).read_bytes())
    assert "age < 30" in json.dumps(read)
