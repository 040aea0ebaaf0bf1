"""A tracking survey on the dashboard: made by form, planned, and its curve drawn, compared, smoothed and saved."""

from __future__ import annotations

import csv
import io
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import publish, send, signed_in, too_wide
from browser.tracked_curve import ToldCurve
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.questions.shares import Shares
from sottovoce.surveys.survey import Tracking

pytestmark = pytest.mark.slow

WAYS = ["bicycle", "car", "bus"]


def weekly(labels: list[str], **given: Any) -> Tracking:
    """One that begins today, so that its first week is open."""
    title = f"To work {secrets.token_hex(4)}"
    asked: dict[str, Any] = {"every": "week", "starts": datetime.now(UTC).date(), "epsilon": 1.0, "title": title}
    return sv.Tracking(Shares(labels), **asked | given)


@pytest.fixture(scope="module")
def told(service: Service) -> ToldCurve:
    """After twelve weeks, of which the fourth had no reports and the last is open: bicycles win, cars lose."""
    tracking = weekly(WAYS, periods=52, renews=26)
    publish(service, tracking)
    shares = [[0.2 + 0.04 * week, 0.6 - 0.04 * week, 0.2] for week in range(12)]
    return ToldCurve(tracking, shares, 3000, empty=4)


def opened(visitor: Visitor, service: Service, told: ToldCurve) -> Page:
    told.serve(visitor.context)
    page = signed_in(visitor, service, f"/survey/{told.tracking.id}")
    expect(page.get_by_role("slider", name=re.compile("over time"))).to_be_visible()
    return page


def table(page: Page) -> list[list[str]]:
    page.get_by_text("Numbers", exact=True).click()
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(13)
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_the_curve_says_what_the_library_says(service: Service, visitor: Visitor, told: ToldCurve) -> None:
    page = opened(visitor, service, told)
    main = page.locator("main")
    expect(main).to_contain_text(
        "Everybody is promised epsilon 1 in each window of 26 weeks, epsilon 2 for any 26 weeks, and epsilon 2 over "
        "all 52 weeks."
    )
    expect(main).to_contain_text("period 12 of 52, is running until")
    expect(main).to_contain_text("The next period begins on")
    for name in ("car", "bus"):
        page.get_by_role("checkbox", name=name).uncheck()
    expect(page.get_by_role("slider", name="bicycle over time")).to_have_attribute("aria-valuemax", "12")
    rows = table(page)
    points = told.curve.series("bicycle").points
    for row, point in zip(rows[1:], points, strict=True):
        assert row[0] == point.label
        if not point.n_reports:
            assert row[1:] == ["no estimate", "", "", "0 reports"]
        else:
            assert float(row[1].split("\u00a0")[0].replace("−", "-")) == pytest.approx(100 * point.value, rel=0.005)
    assert rows[12][3:] == ["", "not over: 1,000 of about 3,000 reports so far"]


def test_the_keyboard_reads_every_period(service: Service, visitor: Visitor, told: ToldCurve) -> None:
    page = opened(visitor, service, told)
    surface = page.get_by_role("slider", name=re.compile("over time"))
    surface.focus()
    surface.press("End")
    expect(surface).to_have_attribute("aria-valuetext", re.compile(r"bicycle: .*not over: 1,000 of about 3,000"))
    surface.press("Home")
    for _ in range(3):
        surface.press("ArrowRight")
    expect(surface).to_have_attribute("aria-valuetext", re.compile("no estimate"))


def test_two_periods_are_compared(service: Service, visitor: Visitor, told: ToldCurve) -> None:
    page = opened(visitor, service, told)
    card = page.get_by_role("region", name="Compare two periods")
    expect(card).to_contain_text(re.compile("“bicycle” rose by .* The interval leaves out zero"))
    expect(card).to_contain_text("“car” fell by")
    choose = card.get_by_role("combobox", name="From")
    # Neither the empty week nor the open one can be compared.
    assert choose.locator("option").count() == 10
    choose.select_option("11")
    expect(card).to_contain_text("Choose two different periods.")
    choose.select_option("2")
    expect(card).to_contain_text(
        f"From the {told.tracking.calendar.label(2)} to the {told.tracking.calendar.label(11)}"
    )
    trend = page.get_by_role("region", name="Trend")
    expect(trend).to_contain_text(re.compile("“bicycle” rises by .* per period over 10 closed periods"))


def test_smoothing_names_its_assumption(service: Service, visitor: Visitor, told: ToldCurve) -> None:
    page = opened(visitor, service, told)
    words = told.curve.smooth("bicycle").assumption
    expect(page.get_by_text(words[:40])).to_have_count(0)
    page.get_by_role("group", name="Smoothing").get_by_text("On").click()
    expect(page.locator(".assumption")).to_contain_text(words[1:60])
    page.get_by_role("group", name="Sure to").get_by_text("99").click()
    expect(page.locator(".chart-legend")).to_contain_text("99\u00a0%")


def test_what_is_saved(service: Service, visitor: Visitor, told: ToldCurve) -> None:
    page = opened(visitor, service, told)
    saved = {}
    for name in ("SVG", "PNG", "CSV"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save as {name}").click()
        assert download.value.suggested_filename.endswith(f"-curve.{name.lower()}")
        saved[name] = Path(download.value.path()).read_bytes()
    rows = list(csv.DictReader(io.StringIO(saved["CSV"].decode())))
    assert len(rows) == 3 * 12
    assert {row["answer"] for row in rows} == set(WAYS)
    first = told.curve.series("bicycle").points[0]
    assert (float(rows[0]["value"]), float(rows[0]["band_low"])) == (first.value, first.band_low)
    assert rows[3]["value"] == ""
    assert saved["PNG"].startswith(b"\x89PNG")
    picture = saved["SVG"].decode()
    assert [words for words in ("ε = 1", "bicycle", told.tracking.title) if words not in picture] == []


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(service: Service, visitors: Visitors, told: ToldCurve, width: int, scheme: str) -> None:
    page = opened(visitors(viewport={"width": width, "height": 800}, color_scheme=scheme), service, told)
    page.get_by_text("Numbers", exact=True).click()
    assert faults(page) == []
    assert too_wide(page) == 0
    # However many columns there are, a period's name is not broken letter by letter.
    name = page.get_by_role("table").locator("tbody th").first.bounding_box()
    assert name is not None
    assert name["width"] > name["height"]


def test_the_first_week_fills_while_it_is_open(service: Service, visitor: Visitor) -> None:
    tracking = weekly(["yes", "no"], periods=4)
    publish(service, tracking, minimum_reports=50)
    page = signed_in(visitor, service, f"/survey/{tracking.id}")
    expect(page.get_by_text("No period has 50 reports yet")).to_be_visible()
    send(service, tracking.period(1), ["yes"] * 60)
    surface = page.get_by_role("slider", name="yes over time")
    expect(surface).to_have_attribute("aria-valuetext", re.compile(r"not over: 60 reports so far"))
    send(service, tracking.period(1), ["no"] * 40)
    expect(surface).to_have_attribute("aria-valuetext", re.compile(r"not over: 100 reports so far"))
    page.goto(f"{visitor.origin}/")
    card = page.locator(f"[data-id='{tracking.id}']")
    expect(card).to_contain_text("week 1 of 4")


def test_made_by_form_and_planned(service: Service, visitor: Visitor) -> None:
    page = signed_in(visitor, service, "/plan")
    page.get_by_text("In every period", exact=True).first.click()
    told = page.get_by_role("region", name="In every period")
    expect(told).to_contain_text("Everybody answers in one of 52 periods")
    expect(told).to_contain_text("times as many")
    page.get_by_text("Smallest change seen between two periods", exact=True).first.click()
    expect(page.get_by_role("status").first).to_contain_text("is the smallest change between two periods that is seen")
    page.get_by_role("link", name="Make a survey of this").click()
    expect(page.get_by_role("textbox", name="Periods")).to_have_value("52")
    page.get_by_role("textbox", name="Title").fill(f"Planned {secrets.token_hex(4)}")
    page.get_by_role("textbox", name="Renews").fill("decade")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator("#error-renews")).to_contain_text("Renews must be a number of periods")
    page.get_by_role("textbox", name="Renews").fill("quarter")
    page.get_by_role("button", name="Check", exact=True).click()
    expect(
        page.get_by_text(
            "epsilon 1 in each window of 13 weeks, epsilon 2 for any 13 weeks, and epsilon 4 over all 52 weeks"
        )
    ).to_be_visible()
    visitor.expects("422")
    page.get_by_role("button", name="Publish").click()
    page.wait_for_url("**/survey/*")
    expect(page.get_by_text("No period has begun yet")).to_be_visible()


@pytest.fixture(scope="module")
def arms(service: Service) -> ToldCurve:
    """Two arms over eight weeks, of which the last is open."""
    tracking = weekly(WAYS, periods=52, groups={"arm": ["A", "B"]})
    publish(service, tracking)
    return ToldCurve(tracking, [[0.2 + 0.04 * week, 0.6 - 0.04 * week, 0.2] for week in range(8)], 3000)


def test_groups_have_a_curve_each_and_a_difference(service: Service, visitor: Visitor, arms: ToldCurve) -> None:
    page = opened(visitor, service, arms)
    card = page.get_by_role("region", name="A curve for every group")
    expect(card.get_by_role("slider")).to_have_attribute("aria-valuetext", re.compile("arm A: .*, arm B: "))
    table = page.get_by_role("table", name="Differences of two groups")
    for first, second in (("A", "B"), ("B", "A")):
        page.get_by_label("First").select_option(first)
        page.get_by_label("less", exact=True).select_option(second)
        found = [point for point in arms.compared(first, second, WAYS[0])["points"] if point["value"] is not None]
        expect(table.locator("tbody tr")).to_have_count(len(found))
        expect(table.locator("tbody tr").first).to_contain_text(f"{100 * found[0]['value']:+.1f}".replace("-", "−"))
    with page.expect_download() as file:
        card.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(file.value.path()).read_text(encoding="utf-8"))))
    assert [row["group"] for row in rows] == ["arm A"] * 8 + ["arm B"] * 8
    page.get_by_label("First").select_option("A")
    expect(page.get_by_text("Choose two different groups.")).to_be_visible()
    assert faults(page) == []
    assert too_wide(page) <= 0


def test_the_collector_tells_the_groups_of_a_period(service: Service, visitor: Visitor) -> None:
    """Not simulated: the first period is open, and people of both arms answer."""
    tracking = weekly(WAYS, periods=4, groups={"arm": ["A", "B"]})
    publish(service, tracking)
    for arm, way in (("A", "car"), ("B", "bus")):
        send(service, tracking.period(1).in_group(arm), [way] * 60)
    page = signed_in(visitor, service, f"/survey/{tracking.id}")
    region = page.get_by_role("region", name="Difference of two groups")
    expect(region).to_contain_text("Open periods are watched")
    expect(region.get_by_role("table", name="Differences of two groups").locator("tbody tr")).to_have_count(1)
    expect(region).to_contain_text("No period is closed yet.")
