"""A survey made by form: what the collector makes of it is shown before it is published, and mistakes are told."""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.accessibility import faults
from browser.dashboard import new_token, signed_in, too_wide
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service

pytestmark = pytest.mark.slow


def title() -> str:
    return f"Made by form {secrets.token_hex(4)}"


def kind(page: Page, value: str) -> None:
    page.locator(f"input[name=kind][value={value}]").check(force=True)


def publish(page: Page, called: str) -> str:
    """Check it and publish it; the id of the new survey, on whose page one is then."""
    page.get_by_role("textbox", name="Title").fill(called)
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("button", name=re.compile("Publish")).click()
    page.wait_for_url("**/survey/*")
    expect(page.get_by_role("heading", level=1)).to_contain_text(called)
    return page.url.rpartition("/")[2]


def test_from_the_form_to_the_first_answer(service: Service, visitors: Visitors) -> None:
    analyst, person = visitors(), visitors()
    page = signed_in(analyst, service, "/new")
    called = title()
    page.get_by_role("textbox", name="Labels").fill("red\ngreen\nblue")
    survey_id = publish(page, called)
    said = service.ask("GET", f"/v1/surveys/{survey_id}/status").json
    assert (said["title"], said["kind"], said["epsilon"], said["state"]) == (called, "shares", 1, "open")
    tab = SurveyPage(person.open(f"/s/{survey_id}"))
    tab.answer("green")
    expect(page.get_by_text("1 report", exact=False).first).to_be_visible()


@pytest.mark.parametrize("chosen", ["queries", "vector", "number", "choices", "records", "relation", "words", "panel"])
def test_every_kind_can_be_made(service: Service, visitor: Visitor, chosen: str) -> None:
    page = signed_in(visitor, service, "/new")
    kind(page, chosen)
    if chosen == "queries":
        page.get_by_role("textbox", name="Workload").fill("prefix:8")
    if chosen == "panel":
        page.get_by_role("textbox", name="Labels").fill("red\ngreen\nblue")
    if chosen == "choices":
        page.get_by_role("textbox", name="Options").fill("red\ngreen\nblue\nwhite")
    if chosen == "number":
        page.get_by_role("combobox", name="Wants").select_option("distribution")
        page.get_by_role("textbox", name="Points").fill("8")
    if chosen == "words":
        page.get_by_role("combobox", name="Alphabet").fill("abcd")
        page.get_by_role("textbox", name="Longest").fill("3")
    if chosen == "records":
        for place, (name, values) in enumerate((("plan", "free, pro"), ("minutes", "0 to 600 minutes")), 1):
            page.get_by_label(f"Name of attribute {place}").fill(name)
            page.get_by_label(f"Values of attribute {place}").fill(values)
        expect(page.get_by_text("any number from 0 to 600 minutes")).to_be_visible()
    if chosen == "relation":
        for group, fields in {
            "Regressors": ["age: 18 to 90", "plan: free, pro"],
            "Outcome": ["spent: 0 to 600"],
        }.items():
            for place, (name, values) in enumerate((field.split(": ") for field in fields), 1):
                page.get_by_role("group", name=group).get_by_label(f"Name of attribute {place}").fill(name)
                page.get_by_role("group", name=group).get_by_label(f"Values of attribute {place}").fill(values)
        assert [fault for fault in [faults(page), too_wide(page)] if fault] == []
    survey_id = publish(page, title())
    assert service.ask("GET", f"/v1/surveys/{survey_id}/status").json["kind"] == chosen


def stated(service: Service, survey_id: str) -> Any:
    return json.loads(service.ask("GET", f"/v1/surveys/{survey_id}").json["statement"])


def test_what_no_answer_counts_as_is_chosen_in_the_form(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new")
    page.get_by_role("textbox", name="Labels").fill("tea\ncoffee")
    page.get_by_label("No answer counts as", exact=True).fill("Prefer not to say")
    survey_id = publish(page, title())
    domain = stated(service, survey_id)["question"]["domain"]
    assert domain == {"labels": ["tea", "coffee", "Prefer not to say"], "missing": "Prefer not to say"}
    page = signed_in(visitor, service, "/new")
    kind(page, "records")
    for place, (name, values, missing) in enumerate((("plan", "free, pro", "none"), ("age", "0 to 99", "")), 1):
        page.get_by_label(f"Name of attribute {place}").fill(name)
        page.get_by_label(f"Values of attribute {place}").fill(values)
        page.get_by_label(f"What no answer counts as, of attribute {place}").fill(missing)
    assert [fault for fault in [faults(page), too_wide(page)] if fault] == []
    survey_id = publish(page, title())
    plan, age = stated(service, survey_id)["question"]["attributes"]
    assert plan["domain"] == {"labels": ["free", "pro", "none"], "missing": "none"}
    assert "missing" not in age["domain"]


def test_public_groups_are_counted_and_shown_before_they_are_published(service: Service, visitors: Visitors) -> None:
    page = signed_in(visitors(), service, "/new")
    page.get_by_role("textbox", name="Labels").fill("tea\ncoffee")
    page.get_by_text("Public groups").click()
    area = page.get_by_role("textbox", name="Groups")
    area.fill("n: " + ",".join(map(str, range(101))))
    page.get_by_role("textbox", name="Title").fill("too many")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(area).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("That makes 101 groups; at most 100 are allowed")).to_be_visible()
    area.fill("arm: A, B\nplatform: phone, web")
    expect(page.get_by_text("4 groups of at most 100")).to_be_visible()
    promise = "Your group, arm A, platform phone, is sent in the open, beside the random report."
    expect(page.get_by_text(promise)).to_be_visible()
    assert faults(page) == []
    survey_id = publish(page, title())
    assert stated(service, survey_id)["groups"] == [["arm", ["A", "B"]], ["platform", ["phone", "web"]]]
    person = visitors().open(f"/s/{survey_id}?group=arm=A,platform=phone")
    expect(person.get_by_text(promise)).to_be_visible()


MISTAKES = {
    "no title": {"Title": ""},
    "no answers": {"Labels": ""},
    "an answer twice": {"Labels": "red\nred"},
    "no epsilon": {"Epsilon: how much one report may reveal": "0"},
    "words for epsilon": {"Epsilon: how much one report may reveal": "much"},
    "far too much epsilon": {"Epsilon: how much one report may reveal": "1000"},
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told_at_its_field(service: Service, visitor: Visitor, mistake: str) -> None:
    visitor.expects("status of 422")
    page = signed_in(visitor, service, "/new")
    good = {"Title": title(), "Labels": "red\ngreen"}
    for name, text in (good | MISTAKES[mistake]).items():
        page.get_by_role("textbox", name=name).fill(text)
    before = len(service.ask("GET", "/v1/surveys").json["surveys"])
    page.get_by_role("button", name="Check", exact=True).click()
    [(field, _)] = MISTAKES[mistake].items()
    expect(page.get_by_role("textbox", name=field)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("button", name=re.compile("Publish"))).to_have_count(0)
    assert len(service.ask("GET", "/v1/surveys").json["surveys"]) == before


def test_a_mistake_is_told_once_and_no_longer_than_it_lasts(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new")
    page.get_by_role("textbox", name="Title").fill(title())
    answers = page.get_by_role("textbox", name="Labels")
    answers.fill("red\nred")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_text("is there twice")).to_have_count(1)
    answers.fill("red\ngreen")
    expect(page.get_by_text("is there twice")).to_have_count(0)


def test_a_minimum_that_is_too_low_is_told_at_its_field(service: Service, visitor: Visitor) -> None:
    visitor.expects("status of 422")
    page = signed_in(visitor, service, "/new")
    floor = page.get_by_role("textbox", name="No estimate before so many reports")
    page.get_by_role("textbox", name="Title").fill(title())
    page.get_by_role("textbox", name="Labels").fill("red\ngreen")
    page.get_by_text("More settings").click()
    floor.fill("1")
    page.route("**/v1/surveys", lambda route: route.fulfill(status=422, json=TOO_LOW))
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("button", name="Publish").click()
    expect(floor).to_have_attribute("aria-invalid", "true")
    expect(floor).to_have_accessible_description(re.compile("100 or more"))
    expect(page.get_by_text("Not published")).to_be_visible()


TOO_LOW = {"error": {"code": "invalid", "message": "it must be 100 or more here", "field": "minimum_reports"}}
"""As a collector answers whose own minimum is higher."""


def test_publishing_is_in_reach_at_once(service: Service, visitors: Visitors) -> None:
    page = signed_in(visitors(viewport={"width": 1280, "height": 900}), service, "/new")
    kind(page, "queries")
    page.get_by_role("textbox", name="Title").fill(title())
    page.get_by_role("button", name="Check", exact=True).click()
    publish_button = page.get_by_role("button", name="Publish")
    expect(publish_button).to_be_visible()
    page.evaluate("() => scrollTo(0, 0)")
    expect(publish_button).to_be_in_viewport(ratio=1)


def test_what_only_the_collector_knows_is_told_at_its_field_too(service: Service, visitor: Visitor) -> None:
    visitor.expects("status of 422")
    page = signed_in(visitor, service, "/new")
    kind(page, "queries")
    page.get_by_role("textbox", name="Title").fill(title())
    workload = page.get_by_role("textbox", name="Workload")
    workload.fill("quantiles:10")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(workload).to_have_attribute("aria-invalid", "true")
    expect(workload).to_have_accessible_description(re.compile("is not a workload; write one like"))


def test_the_form_asks_what_the_collector_declares(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new")
    for question in service.ask("GET", "/v1/questions").json["questions"]:
        kind(page, question["kind"])
        for one in question["parameters"]:
            if not one["group"]:
                role: Any = {"choice": "combobox", "alphabet": "combobox", "fields": "group"}.get(
                    one["kind"], "textbox"
                )
                name = "No answer counts as" if one["kind"] == "missing" else one["name"].capitalize()
                expect(page.get_by_role(role, name=name, exact=True)).to_be_visible()
        ways = [one["name"] for one in question["parameters"] if one["group"]]
        assert page.locator("input[name^=way-]").evaluate_all("(all) => all.map((one) => one.value)") == ways


def test_the_accuracy_is_the_planners(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new")
    page.get_by_role("textbox", name="Title").fill(title())
    page.get_by_role("textbox", name="Labels").fill("red\ngreen\nblue")
    page.get_by_text("More settings").click()
    page.get_by_role("textbox", name="People expected").fill("10000")
    page.get_by_role("button", name="Check", exact=True).click()
    asked = {"kind": "shares", "parameters": {"labels": ["red", "green", "blue"]}, "epsilon": 1, "people": 10_000}
    margin = service.ask("POST", "/v1/plans", json=asked).json["margin"]
    words = f"With 10,000 people: Each share is known to about ± {100 * margin:.3g} points"
    expect(page.locator(".accuracy")).to_contain_text(words)


def test_the_accuracy_of_a_mean_is_in_its_unit(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new?kind=number&unit=minutes")
    page.get_by_role("textbox", name="Title").fill(title())
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".accuracy")).to_contain_text(re.compile(r"The mean is known to about ± [\d.]+\s?minutes \(95"))


def test_what_was_typed_outlives_a_reload(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/new")
    called = title()
    page.get_by_role("textbox", name="Title").fill(called)
    page.reload()
    expect(page.get_by_role("textbox", name="Title")).to_have_value(called)


def test_a_token_that_only_reads_is_told(service: Service, visitor: Visitor) -> None:
    token, _ = new_token(service, "read")
    page = signed_in(visitor, service, "/new", token)
    expect(page.locator("main")).to_contain_text("Your token")
    expect(page.get_by_role("textbox", name="Title")).to_have_count(0)


def test_markup_is_text_and_the_form_is_accessible(service: Service, visitors: Visitors) -> None:
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = signed_in(visitor, service, "/new")
    hostile = '<img src=x onerror="globalThis.harmed=1">'
    page.get_by_role("textbox", name="Title").fill(f"{hostile} {title()}")
    page.get_by_role("textbox", name="Labels").fill(f"red{hostile}\ngreen")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("Publish"))).to_be_visible()
    assert faults(page) == []
    assert too_wide(page) <= 0
    assert page.evaluate("() => globalThis.harmed") is None
    expect(page.locator("main img, main script")).to_have_count(0)
