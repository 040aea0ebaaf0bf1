"""A survey with groups on its page: the group is shown or chosen, sent in the open, and one report is counted."""

from __future__ import annotations

import secrets

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from browser.accessibility import faults
from browser.survey_page import SurveyPage
from browser.visitor import Visitor
from collector.service import Service
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow


@pytest.fixture
def drinks(service: Service) -> Survey:
    groups = {"arm": ["A", "B"]}
    title = f"What do you drink? {secrets.token_hex(4)}"
    survey = Survey(sv.shares(["tea", "coffee"]), epsilon=1.0, title=title, groups=groups)
    service.publish(survey)
    return survey


def test_the_group_of_the_link_is_shown_and_sent(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage(visitor.open(f"/s/{drinks.id}?group=B"))
    expect(tab.page.get_by_text("is sent in the open, beside the random report")).to_contain_text("arm B")
    assert not faults(tab.page)
    tab.answer("tea")
    assert list(service.counted(drinks.in_group("B"), 1).values()) == [1]


def test_a_person_says_their_group(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.choose("tea")
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("arm: choose one")
    tab.page.get_by_label("arm").select_option("A")
    assert not faults(tab.page)
    tab.answer("tea")
    assert list(service.counted(drinks.in_group("A"), 1).values()) == [1]
    assert service.status(drinks)["n_reports"] == 1


def test_a_link_with_no_group_of_the_survey_stops(visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage(visitor.open(f"/s/{drinks.id}?group=C"))
    expect(tab.page.get_by_role("heading", level=1)).to_be_visible()
    expect(tab.draw_button).to_have_count(0)
