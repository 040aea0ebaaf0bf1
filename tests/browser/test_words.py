"""Words nobody listed, in a real browser: written, shown as they are counted, found on the dashboard, asked for."""

from __future__ import annotations

import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import publish, send, signed_in, too_wide
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

PHONE: dict[str, Any] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}
HOSTILE = "<svg onload=a()>"
"""A word that does harm where it is taken for markup: there is no function a, and the visitor notices every error."""
LETTERS = "<svg onlad=()>bcé"
FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


def asked(service: Service, longest: int = 16, alphabet: str = "unicode", **others: Any) -> Survey:
    called = f"Which word? {secrets.token_hex(4)}"
    survey = Survey(sv.words(longest, alphabet, **others), epsilon=2.0, people=2000, title=called)
    publish(service, survey)
    return survey


def no_fault(page: Page) -> None:
    assert faults(page) == []
    assert too_wide(page) <= 0


def test_a_word_is_shown_as_it_is_counted_and_forgotten(service: Service, visitors: Visitors) -> None:
    survey = asked(service)
    visitor = visitors(**PHONE)
    tab = SurveyPage.visit(visitor, survey)
    field, counted = tab.page.get_by_label("Your answer"), tab.page.locator(".counted-as")
    tab.draw_button.click()
    expect(tab.page.get_by_role("alert")).to_contain_text("nothing is written there yet")
    field.fill("a word that is too long")
    expect(counted).to_contain_text("Will be counted as: other, since it is longer than 16 characters")
    field.fill("  Quokka\u00a0 ZOO ")
    expect(counted).to_have_text("Will be counted as: quokka zoo")
    no_fault(tab.page)
    tab.draw_button.click()
    expect(tab.page.get_by_role("region", name="Stays here")).to_contain_text("which counts as: quokka zoo")
    expect(tab.page.get_by_role("region", name="Leaves")).to_contain_text("public rules")
    expect(tab.page.get_by_role("region", name="How little that tells")).to_contain_text("quokka zoo")
    no_fault(tab.page)
    tab.send_button.click()
    tab.arrives()
    [record] = tab.records()
    survey.mechanism.decode(bytes(record["report"][len(survey.tag) :]))
    [body] = visitor.reports_sent()
    assert len(body) == len("SVR1") + 32 + 16 + len(record["report"])
    tab.page.reload()
    tab.arrives()
    assert "quokka" not in tab.page.content().lower()


SCRIPTS = {
    "שלום": "שלום",
    FAMILY: FAMILY,
    "Cafe\u0301": "café",
    HOSTILE: HOSTILE,
    "\u202etxet": "other, since it",
    "字" * 17: "other, since it is longer",
}


def test_any_script_is_shown_as_text(service: Service, visitor: Visitor) -> None:
    tab = SurveyPage.visit(visitor, asked(service))
    field = tab.page.get_by_label("Your answer")
    expect(field).to_have_attribute("dir", "auto")
    for typed, counted in SCRIPTS.items():
        field.fill(typed)
        expect(tab.page.locator(".counted-as")).to_contain_text(f"Will be counted as: {counted}")
        expect(tab.page.locator("main svg[onload]")).to_have_count(0)


def test_integers_and_bytes_are_typed_in_digits(service: Service, visitor: Visitor) -> None:
    for survey, typed, counted, wrong in (
        (asked(service, below=1000), " 0042 ", "42", "1000"),
        (asked(service, 4, "bytes"), "0xC0FFEE", "0xc0ffee", "c0ffee"),
    ):
        tab = SurveyPage.visit(visitor, survey)
        field = tab.page.get_by_label("Your answer")
        field.fill(wrong)
        expect(tab.page.locator(".counted-as")).to_contain_text("Will be counted as: other, since it")
        field.fill(typed)
        expect(tab.page.locator(".counted-as")).to_have_text(f"Will be counted as: {counted}")
        tab.draw_button.click()
        expect(tab.send_button).to_be_visible()
        expect(tab.page.get_by_role("region", name="Stays here")).to_contain_text(counted)


def test_who_has_no_word_answers_as_other(service: Service, visitor: Visitor) -> None:
    tab = SurveyPage.visit(visitor, asked(service))
    tab.page.get_by_label("I have none").check()
    expect(tab.page.locator(".counted-as")).to_have_text("Will be counted as: other.")
    tab.draw_button.click()
    tab.send_button.click()
    tab.arrives()


IN_PLACE = """(rows) => rows
  .map((row) => [row.getBoundingClientRect().top, row.querySelector(".rows-label").textContent])
  .sort(([one], [other]) => one - other).map(([, label]) => label)"""


def listed(page: Page, name: str) -> list[str]:
    """The words of one list, from top to bottom."""
    rows = page.locator(".panel", has=page.get_by_role("heading", name=name)).locator(".rows-row")
    return list(rows.evaluate_all(IN_PLACE))


def test_words_are_found_and_one_can_be_asked_for(service: Service, visitors: Visitors) -> None:
    survey = asked(service, 16, LETTERS)
    people = [HOSTILE] * 900 + ["abé"] * 600 + ["c"] * 300
    send(service, survey, people)
    visitor = visitors(**PHONE)
    visitor.expects("status of 422")
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_text("From 1,800 reports.")).to_be_visible()
    certain = page.locator(".panel", has=page.get_by_role("heading", name="Words that people have"))
    expect(certain.get_by_text(HOSTILE, exact=True).first).to_be_visible()
    assert listed(page, "Words that people have")[:2] == [HOSTILE, "abé"]
    no_fault(page)
    box = page.get_by_label("What share of people has this word?")
    told = page.locator(".asked")
    for word, shown in ((" ABÉ ", "abé"), (HOSTILE, HOSTILE), ("b" * 16, "b" * 16)):
        box.fill(word)
        page.get_by_role("button", name="Look it up").click()
        expect(told).to_contain_text(re.compile(rf"^{re.escape(shown)}.*95\s% interval"))
    expect(told).to_contain_text("It may be a word that nobody has")
    box.fill("words")
    page.get_by_role("button", name="Look it up").click()
    expect(told).to_contain_text("allowed:")
    expect(page.locator("main svg[onload], main script")).to_have_count(0)
    # More reports: the list follows, and what was there stays where it is.
    send(service, survey, ["c"] * 1800)
    expect(page.get_by_text("From 3,600 reports.")).to_be_visible()
    expect(certain.locator(".rows-row")).not_to_have_count(0)
    expect(certain.get_by_text("c", exact=True).first).to_be_visible()
    no_fault(page)


def test_a_long_word_of_wide_characters_fits(service: Service, visitors: Visitors) -> None:
    survey = asked(service, 64)
    send(service, survey, ["ab"] * 300)
    page = signed_in(visitors(**PHONE), service, f"/survey/{survey.id}")
    box = page.get_by_label("What share of people has this word?")
    for word in ("字" * 64, FAMILY * 8, "שלום " * 12 + "שלום"):
        box.fill(word)
        page.get_by_role("button", name="Look it up").click()
        expect(page.locator(".asked bdi")).to_have_text(word)
        no_fault(page)
