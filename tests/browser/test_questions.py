"""Numbers, choices and forms on the survey page: asked, drawn, explained and counted in a real browser."""

from __future__ import annotations

import math
import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import publish, too_wide
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}


def published(service: Service, survey: Survey) -> Survey:
    publish(service, survey)
    return survey


def title(text: str) -> str:
    """A survey of its own for each test."""
    return f"{text} {secrets.token_hex(4)}"


def draw(tab: SurveyPage) -> None:
    tab.draw_button.click()
    expect(tab.send_button).to_be_visible()


def assert_sent_once(service: Service, visitor: Visitor, tab: SurveyPage, survey: Survey) -> None:
    """The collector counts the very report that was drawn, and its decoder takes it."""
    tab.send_button.click()
    tab.arrives()
    [record] = tab.records()
    payload = survey.mechanism.report_bytes
    assert len(record["report"]) == len(survey.tag) + payload
    survey.mechanism.decode(bytes(record["report"][len(survey.tag) :]))
    assert list(service.counted(survey, payload).values()) == [1]
    [body] = visitor.reports_sent()
    assert len(body) == len("SVR1") + 32 + 16 + len(record["report"])


def test_a_number_outside_is_clipped_which_is_said_before_and_after(service: Service, visitors: Visitors) -> None:
    survey = published(service, Survey(sv.number(0, 600, "minutes"), epsilon=1.0, title=title("How long?")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    field = tab.page.get_by_label("Your answer")
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("one number is due")
    field.fill("12345")
    expect(tab.page.get_by_text("That is above 600 minutes, and will count as 600 minutes.")).to_be_visible()
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    draw(tab)
    expect(tab.page.get_by_role("region", name="Stays here")).to_contain_text("which counts as 600 minutes")
    expect(tab.page.get_by_role("region", name="Leaves")).to_contain_text("rounded at random")
    expect(tab.page.get_by_text("▲ your answer: 600 minutes")).to_be_visible()
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    assert_sent_once(service, visitor, tab, survey)
    tab.page.reload()
    tab.arrives()
    # Among the decimals of a picture any digits may stand.
    assert re.search(r"(?<![\d.])12345", tab.page.content()) is None


FORM = {
    "country": ["DE", "FR", "IT"],
    "plan": ["free", "pro"],
    "age": range(18, 100),
    "minutes": sv.number(0, 600, "minutes"),
}


def test_a_form_says_which_fields_its_report_is_about(service: Service, visitors: Visitors) -> None:
    survey = published(service, Survey(sv.records(FORM, tables=2), epsilon=1.0, title=title("You and the app")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    tab.page.get_by_label("country").select_option("FR")
    tab.page.get_by_label("plan").select_option("pro")
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("age: nothing is written there yet")
    tab.page.get_by_label("age").fill("47")
    tab.page.get_by_label("minutes").fill("-1")
    expect(tab.page.get_by_text("That is below 0 minutes, and will count as 0 minutes.")).to_be_visible()
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    draw(tab)
    [record] = tab.records()
    drawn = survey.mechanism.tables[record["report"][len(survey.tag)]].attributes
    named = [name for place, name in enumerate(FORM) if place in drawn]
    leaves = tab.page.get_by_role("region", name="Leaves")
    expect(leaves).to_contain_text(f"in public: {' and '.join(named)}.")
    expect(leaves).to_contain_text("The report says nothing about")
    expect(tab.page.get_by_role("region", name="How little that tells")).to_contain_text("your answer")
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    assert_sent_once(service, visitor, tab, survey)


def test_a_relation_asks_for_the_outcome_too_and_says_what_was_drawn(service: Service, visitors: Visitors) -> None:
    question = sv.relation({"age": sv.number(18, 90), "plan": ["free", "pro"]}, sv.number(0, 600, "minutes"))
    survey = published(service, Survey(question, epsilon=1.0, title=title("Age and use")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_text("how minutes depends on age and plan, as a line through all answers")).to_be_visible()
    tab.page.get_by_label("age").fill("47")
    tab.page.get_by_label("plan").select_option("pro")
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("minutes: nothing is written there yet")
    tab.page.get_by_label("minutes").fill("700")
    expect(tab.page.get_by_text("That is above 600 minutes, and will count as 600 minutes.")).to_be_visible()
    draw(tab)
    [record] = tab.records()
    number = survey.mechanism.decode(bytes(record["report"][len(survey.tag) :])) // survey.mechanism.matrix.reports
    features = survey.mechanism.features
    drawn = {features.listed[place].attribute for place in features.products[number] if place >= 0}
    leaves = tab.page.get_by_role("region", name="Leaves")
    expect(leaves).to_contain_text("Of 8 figures one was drawn at random, in public: ")
    for place, name in enumerate(question.field_names):
        if place not in drawn:
            expect(leaves).to_contain_text(re.compile(f"The report says nothing about .*{name}"))
    likely = tab.page.get_by_role("region", name="How little that tells")
    expect(likely).to_contain_text("your answer")
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    assert_sent_once(service, visitor, tab, survey)


def test_no_more_boxes_than_may_be_and_none_of_them_is_an_answer(service: Service, visitors: Visitors) -> None:
    options = ["bus", "tram", "bike", "car"]
    survey = published(service, Survey(sv.choices(options, most=2), epsilon=1.0, title=title("How do you travel?")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    boxes = {name: tab.page.get_by_role("checkbox", name=name) for name in [*options, "None of these"]}
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("or “None of these”")
    boxes["bus"].check()
    boxes["car"].check()
    expect(tab.page.get_by_text("2 of at most 2 ticked. Untick one to tick another.")).to_be_visible()
    expect(boxes["tram"]).to_be_disabled()
    boxes["None of these"].check()
    expect(boxes["bus"]).not_to_be_checked()
    expect(boxes["tram"]).to_be_enabled()
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    draw(tab)
    expect(tab.page.get_by_role("region", name="Stays here")).to_contain_text("None of these")
    likely = tab.page.get_by_role("region", name="How little that tells")
    expect(likely.locator(".mine .label").first).to_contain_text("nothing ticked")
    expect(likely.get_by_text("From somebody who ticks one option only:")).to_be_visible()
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    assert_sent_once(service, visitor, tab, survey)


GAPS = {
    "labels": (sv.shares(["tea", "coffee"], missing="as prefer not to say"), "prefer not to say"),
    "few integers": (sv.shares(range(1, 6), missing="as 3"), "3"),
    "integers": (sv.shares(range(18, 100), missing="as 18"), "18"),
    "number": (sv.number(0, 600, "minutes", missing="as 0"), "0 minutes"),
    "choices": (sv.choices(["bus", "tram"], missing="as prefer not to say"), "prefer not to say"),
}


@pytest.mark.parametrize("kind", GAPS)
def test_no_answer_is_sent_as_the_survey_says(service: Service, visitors: Visitors, kind: str) -> None:
    question, label = GAPS[kind]
    survey = published(service, Survey(question, epsilon=1.0, title=title("Would you say?")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_text(f"No answer counts as “{label}”.")).to_be_visible()
    if kind in ("integers", "number"):
        tab.page.get_by_label("Your answer").fill("many")
        tab.draw_button.click()
        expect(tab.page.get_by_role("alert")).to_be_visible()
        tab.page.get_by_label("Your answer").fill("")
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    draw(tab)
    expect(tab.page.get_by_role("region", name="Stays here")).to_contain_text(label)
    assert_sent_once(service, visitor, tab, survey)


def test_fields_of_a_form_may_be_left_out_where_the_survey_says_so(service: Service, visitors: Visitors) -> None:
    form = {
        "plan": sv.shares(["free", "pro"], missing="as unknown"),
        "age": sv.shares(range(100), missing="as 0"),
        "minutes": sv.number(0, 600, "minutes", missing="as 30"),
        "town": ["Oslo", "Bergen"],
    }
    survey = published(service, Survey(sv.records(form, tables=1), epsilon=1.0, title=title("You and the app")))
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("town")
    tab.page.get_by_label("town").select_option("Bergen")
    assert [fault for fault in [faults(tab.page), too_wide(tab.page)] if fault] == []
    draw(tab)
    stays = tab.page.get_by_role("region", name="Stays here")
    for text in ("plan: unknown", "age: 0", "minutes: 30", "town: Bergen"):
        expect(stays).to_contain_text(text)
    assert_sent_once(service, visitor, tab, survey)


def test_the_picture_of_choices_is_exact(service: Service, visitor: Visitor) -> None:
    options = ["bus", "tram", "bike", "car"]
    survey = published(service, Survey(sv.choices(options, most=2), epsilon=1.0, title=title("How do you travel?")))
    tab = SurveyPage.visit(visitor, survey)
    for name in ("bus", "car"):
        tab.page.get_by_role("checkbox", name=name).check()
    draw(tab)
    [record] = tab.records()
    mechanism = survey.mechanism
    report = mechanism.decode(bytes(record["report"][len(survey.tag) :]))
    sets = [["bus", "car"], ["car"], ["bus"], [], *([option] for option in options)]
    logs = [mechanism.log_prob(report, survey.question.private_input(one)) for one in sets]
    tab.page.get_by_text("The figures").click()
    rows = tab.page.get_by_role("region", name="The figures").get_by_role("row").all()[1:]
    told = [float(row.get_by_role("cell").first.inner_text()) for row in rows]
    least = min(logs)
    assert told == pytest.approx([math.exp(log - least) for log in logs], rel=0.02)
    expect(tab.page.locator(".flag")).to_have_count(1)
