"""The planner reacts to its sliders, as `sottovoce plan` would answer."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.accessibility import faults
from browser.dashboard import signed_in, too_wide
from browser.visitor import Visitor, Visitors
from collector.service import Service

pytestmark = pytest.mark.slow


@pytest.fixture
def page(service: Service, visitor: Visitor) -> Page:
    """The planner, with its first answer."""
    opened = signed_in(visitor, service, "/plan")
    expect(answer(opened)).to_have_text(re.compile(r"\d"))
    return opened


def answer(page: Page) -> Locator:
    return page.get_by_role("status").first


def slide(page: Page, label: str, key: str, times: int) -> None:
    slider = page.get_by_role("slider", name=re.compile(rf"^{label}"))
    slider.focus()
    for _ in range(times):
        slider.press(key)


def changed(page: Page, before: str) -> str:
    """The answer, once it is another one."""
    expect(answer(page)).not_to_have_text(before)
    expect(page.locator(".stale")).to_have_count(0)
    return str(answer(page).text_content())


MARGIN = re.compile(r"^Margin of one answer .*, as a number$")
MARGIN_SLIDER = re.compile(r"^Margin of one answer")
RATIO = "People in the second group for each in the first"
L2 = "L2 over all answers, as a number"


def error(page: Page, name: str | re.Pattern[str] = MARGIN) -> float:
    """The error that stands beside the slider."""
    return float(page.get_by_role("textbox", name=name).input_value())


def test_more_people_mean_less_error(page: Page) -> None:
    before, was = str(answer(page).text_content()), error(page)
    slide(page, "People", "ArrowRight", 3)
    changed(page, before)
    assert error(page) < was
    assert "/plan?" in page.url


def test_less_epsilon_means_more_error(page: Page) -> None:
    before, was = str(answer(page).text_content()), error(page)
    slide(page, "Epsilon", "ArrowLeft", 3)
    changed(page, before)
    assert error(page) > was


def test_two_groups_are_planned_by_the_smallest_difference(page: Page, service: Service, visitor: Visitor) -> None:
    power = page.get_by_role("slider", name="Power")
    expect(power).to_be_hidden()
    page.locator("label[for=criterion-difference]").click()
    expect(page.get_by_role("slider", name=MARGIN_SLIDER)).to_be_hidden()
    expect(power).to_be_visible()
    expect(answer(page)).to_have_text(re.compile("is the smallest difference .* 500,000 people in each of two groups"))
    page.locator("label[for=solve-people]").click()
    for name, value in (("Smallest difference seen between two groups", "0.04"), (RATIO, "3")):
        field = page.get_by_role("textbox", name=f"{name}, as a number")
        field.fill(value)
        field.press("Enter")
    expect(page).to_have_url(re.compile(r"difference=0\.04&ratio=3"))
    expect(page.locator(".stale")).to_have_count(0)
    asked = visitor.asked("POST", "/v1/plans")[-1].post_data_json
    told = service.ask("POST", "/v1/plans", json=asked).json
    first, second = told["comparison"]["groups"]
    expect(answer(page)).to_have_text(re.compile(f"{first:,} people in one group and {second:,} in the other"))
    assert faults(page) == []
    assert too_wide(page) <= 0
    page.get_by_role("link", name="Make a survey of this").click()
    expect(page.get_by_role("textbox", name="Groups")).to_have_value("arm: A, B")


def test_working_out_how_many_people_there_must_be(page: Page, service: Service, visitor: Visitor) -> None:
    page.locator("label[for=solve-people]").click()
    field = page.get_by_role("textbox", name=MARGIN)
    field.fill("0.02")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"margin=0\.02(&|$)"))
    expect(page.locator(".stale")).to_have_count(0)
    needed = int(page.get_by_role("textbox", name="People, as a number").input_value().replace(",", ""))
    asked = visitor.asked("POST", "/v1/plans")[-1].post_data_json
    assert asked["margin"] == 0.02
    assert needed == service.ask("POST", "/v1/plans", json=asked).json["people"]


def test_both_errors_are_shown_whichever_is_compared(page: Page) -> None:
    before = str(answer(page).text_content())
    expect(answer(page)).to_contain_text(re.compile(r"each share is known to about .* points .*; all 40 together: L2"))
    page.locator("label[for=criterion-l2]").click()
    expect(page).to_have_url(re.compile("criterion=l2"))
    after = changed(page, before)
    assert f"L2 at most {error(page, L2):g}" in after
    designs = page.get_by_role("region", name="Designs")
    expect(designs).to_contain_text(re.compile("design.*margin.*L2.*report.*chosen", re.DOTALL))


def test_lines_can_be_told_apart_without_colours(page: Page, service: Service, visitor: Visitor) -> None:
    planned = service.ask("POST", "/v1/plans", json=visitor.asked("POST", "/v1/plans")[-1].post_data_json).json
    legend = page.locator(".curves .chart-legend").first.locator(".chart-entry")
    shown = {name.replace("_", " "): line[-1] for name, line in list(planned["curves"]["people"]["lines"].items())[:6]}
    alike = len({option["strategy"] for option in planned["options"]}) == 1
    names = [name.partition(" with ")[2] if alike else name for name in sorted(shown, key=lambda name: -shown[name])]
    expect(legend).to_have_text([*names, "this plan"])
    patterns = legend.locator("i").evaluate_all(
        "all => all.slice(0, -1).map((one) => getComputedStyle(one).backgroundImage)"
    )
    assert len(set(patterns)) == len(names) > 2
    assert patterns.count("none") == 1, "one line is not broken"


@pytest.mark.parametrize("kind", ["queries", "vector", "panel"])
def test_every_kind_of_survey(service: Service, visitor: Visitor, kind: str) -> None:
    page = signed_in(visitor, service, "/plan?workload=prefix:16")
    expect(answer(page)).to_have_text(re.compile(r"\d"))
    before = str(answer(page).text_content())
    page.locator(f"input[name=kind][value={kind}]").check(force=True)
    changed(page, before)
    expect(page.get_by_role("heading", name="Which design, and why")).to_be_visible()
    expect(page.get_by_role("slider", name=re.compile("by arrow keys"))).to_have_count(2)


def test_words_are_planned_by_the_share_that_is_found(service: Service, visitor: Visitor) -> None:
    address = "/plan?kind=words&longest=3&alphabet=abcd&people=10000&epsilon=2"
    page = signed_in(visitor, service, f"{address}&criterion=share")
    asked = {"kind": "words", "parameters": {"longest": 3, "alphabet": "abcd"}, "people": 10_000, "epsilon": 2}
    share = service.ask("POST", "/v1/plans", json=asked).json["recall"]["share"]
    expect(answer(page)).to_contain_text(f"{100 * share:.3g}\u00a0%")
    found = page.get_by_role("region", name="Which words are found")
    expect(found.get_by_role("row").nth(1)).to_contain_text(re.compile(r"up to \d+.*%"))
    expect(page.get_by_role("slider", name=re.compile("by arrow keys"))).to_have_count(3)
    expect(page.locator("label[for=criterion-l2]")).to_be_hidden()
    page.locator("label[for=solve-people]").click()
    expect(answer(page)).to_contain_text("are needed")
    page.locator("input[name=kind][value=shares]").check(force=True)
    expect(found).to_be_hidden()


def test_the_same_survey_is_made_of_a_plan(page: Page, service: Service, visitor: Visitor) -> None:
    planned = service.ask("POST", "/v1/plans", json=visitor.asked("POST", "/v1/plans")[-1].post_data_json).json
    page.get_by_role("link", name="Make a survey of this").click()
    page.get_by_role("textbox", name="Title").fill("Planned")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("button", name="Publish")).to_be_visible()
    drafted = visitor.asked("POST", "/v1/drafts")[-1].post_data_json
    assert service.ask("POST", "/v1/drafts", json=drafted | {"title": ""}).json["id"] == planned["survey"]


def test_a_refusal_is_told_at_its_field(service: Service, visitor: Visitor) -> None:
    visitor.expects("status of 422")
    page = signed_in(visitor, service, "/plan?kind=queries&workload=quantiles:10")
    workload = page.get_by_role("textbox", name="Workload")
    expect(workload).to_have_attribute("aria-invalid", "true")
    expect(answer(page)).to_contain_text("what is marked")
    workload.fill("prefix:16")
    expect(answer(page)).to_have_text(re.compile(r"\d"))
    expect(page.locator(".stale, [aria-invalid=true]")).to_have_count(0)


def test_nonsense_in_a_field_is_told(page: Page) -> None:
    field = page.get_by_role("textbox", name="Epsilon, as a number")
    field.fill("a lot")
    field.press("Enter")
    expect(page.get_by_text("a number from")).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".plan-answer.stale")).to_have_count(1)
    field.fill("1")
    field.press("Enter")
    expect(page.locator(".stale")).to_have_count(0)


def test_what_is_worked_out_stays_so_for_another_kind(page: Page) -> None:
    before = str(answer(page).text_content())
    page.locator("label[for=solve-epsilon]").click()
    before = changed(page, before)
    page.locator("input[name=kind][value=vector]").check(force=True)
    assert changed(page, before).startswith("epsilon")
    expect(page).to_have_url(re.compile("kind=vector.*solve=epsilon"))


def test_an_address_brings_the_plan_back(page: Page, visitor: Visitor) -> None:
    before = str(answer(page).text_content())
    slide(page, "People", "ArrowRight", 3)
    # The slider is where it was left, and not at one of the answers in between.
    people = page.get_by_role("textbox", name="People, as a number").input_value().replace(",", "")
    expect(page).to_have_url(re.compile(rf"[?&]people={people}(&|$)"))
    after = changed(page, before)
    page.reload()
    expect(answer(page)).to_have_text(after)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_narrow(service: Service, visitors: Visitors, scheme: str) -> None:
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = signed_in(visitor, service, "/plan")
    expect(answer(page)).to_have_text(re.compile(r"\d"))
    expect(page.get_by_role("slider", name=re.compile("by arrow keys"))).to_have_count(2)
    assert faults(page) == []
    assert too_wide(page) <= 0
