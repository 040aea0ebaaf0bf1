"""A survey's page on the dashboard: the estimate moves as devices send, in pictures, tables and files alike."""

from __future__ import annotations

import csv
import io
import json
import re
import secrets
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pyarrow.parquet
import pytest
from playwright.sync_api import Download, Page, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import drawn, expect_count, publish, send, signed_in, too_wide
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.surveys.survey import Survey
from sottovoce.workloads import parse_workload

pytestmark = pytest.mark.slow

LABELS = ["tea", "coffee", "water", "juice"]
HOSTILE = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>'


def published(service: Service, labels: list[str], n: int = 0) -> Survey:
    survey = Survey(sv.shares(labels), epsilon=1.0, title=f"What do you drink? {secrets.token_hex(4)}")
    service.publish(survey)
    if n:
        send(service, survey, drawn(labels, [0.4, 0.3, 0.2, 0.1], n))
    return survey


@pytest.fixture(scope="module")
def drinks(service: Service) -> Survey:
    """One that is only looked at."""
    return published(service, LABELS, 800)


def shown(page: Page) -> dict[str, list[str]]:
    """The numbers behind the first picture, as its table has them."""
    details = page.get_by_text("Numbers", exact=True).first
    if not page.get_by_role("table").first.is_visible():
        details.click()
    expect(page.get_by_role("table").first.get_by_role("row").nth(1)).to_be_visible()
    rows = page.get_by_role("table").first.get_by_role("row").all()[1:]
    texts = [row.locator("th, td").all_inner_texts() for row in rows]
    return {text[0]: text[1:] for text in texts}


def number(text: str) -> float:
    """A share as it is shown, as a number."""
    found = re.search(r"[−-]?[\d.]+", text)
    assert found, text
    return float(found.group().replace("−", "-"))


def counted(service: Service, survey: Survey, n: int) -> None:
    service.counted(survey, 1)
    assert service.status(survey)["n_reports"] == n


def told(service: Service, survey: Survey, column: str) -> list[float]:
    """The estimate as the collector tells it, in the domain's order."""
    answer = service.ask("GET", f"/v1/surveys/{survey.id}/estimate").json
    return [row[column] for row in answer["answers"]]


def test_intervals_hold_at_every_look_until_the_survey_is_closed(service: Service, visitor: Visitor) -> None:
    survey = published(service, LABELS, 400)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    line, csv_link = page.locator(".looks"), page.get_by_role("link", name="CSV")

    def ends(always: str) -> list[tuple[float, float]]:
        answer = service.ask("GET", f"/v1/surveys/{survey.id}/estimate?always={always}").json
        return sorted((row["low"], row["high"]) for row in answer["answers"])

    def shown_ends() -> list[tuple[float, float]]:
        texts = (re.findall(r"[\d.]+", cells[-1]) for cells in shown(page).values())
        return sorted((float(low) / 100, float(high) / 100) for low, high in texts)

    expect(line).to_contain_text("however often you look")
    assert shown_ends() == [pytest.approx(pair, abs=0.002) for pair in ends("1")]
    page.get_by_text("One look", exact=True).click()
    expect(line).to_contain_text("Intervals of one look")
    assert shown_ends() == [pytest.approx(pair, abs=0.002) for pair in ends("0")]
    assert (csv_link.get_attribute("href") or "").endswith("always=0")
    page.get_by_text("Every look", exact=True).click()
    expect(line).to_contain_text("however often you look")
    assert service.ask("POST", f"/v1/surveys/{survey.id}/seal").status == 200
    expect(line).to_be_hidden()
    expect(page.get_by_text("Every look", exact=True)).to_be_hidden()
    assert shown_ends() == [pytest.approx(pair, abs=0.002) for pair in ends("0")]
    assert faults(page) == []


def test_the_certificate_promises_what_holds(service: Service, visitor: Visitor, drinks: Survey) -> None:
    survey = Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian", title=secrets.token_hex(4))
    service.publish(survey)
    send(service, survey, [[0.5, 0.0]] * 300)
    service.counted(survey, survey.mechanism.report_bytes)
    pure = "No report is more than 2.72 times likelier from one answer than from any other."
    beside = (
        "For every set of reports, its probability with one answer is at most 2.72 times that with any other, plus "
    )
    page = signed_in(visitor, service, f"/survey/{drinks.id}")
    for asked, stated, words in ((drinks, "ε = 1", pure), (survey, "ε = 1, δ = 10⁻⁶", f"{beside}10⁻⁶.")):
        page.goto(f"{visitor.origin}/survey/{asked.id}")
        promise = page.get_by_role("region", name="Certificate").locator("dl > div").first
        expect(promise.locator("strong")).to_have_text(stated)
        expect(promise).to_contain_text(words)
        expect(page.locator(".facts")).to_contain_text(f"{stated} · {asked.id[:12]}")
        expect(page.locator("main")).not_to_contain_text("proved")


def test_the_estimate_moves_while_devices_send(service: Service, visitor: Visitor) -> None:
    survey = published(service, LABELS, 400)
    counted(service, survey, 400)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect_count(page, 400)
    expect(page.get_by_text("From 400 reports.")).to_be_visible()
    before = number(shown(page)["water"][0])
    send(service, survey, ["water"] * 1200)
    expect(page.get_by_text("From 1,600 reports.")).to_be_visible()
    after = number(shown(page)["water"][0])
    # 1,280 of 1,600 instead of 80 of 400: a jump of 0.6, where the standard error is below 0.07 (p - q = 0.3).
    assert after > before + 20
    assert after == pytest.approx(100 * told(service, survey, "value")[LABELS.index("water")], rel=0.01)


def test_the_count_goes_on_without_events(service: Service, visitor: Visitor) -> None:
    visitor.expects("ERR_FAILED")
    survey = published(service, LABELS, 100)
    visitor.context.route("**/events", lambda route: route.abort())
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect_count(page, 100)
    send(service, survey, ["tea"] * 11)
    expect_count(page, 111)


def test_nothing_is_shown_before_there_are_enough(service: Service, visitor: Visitor) -> None:
    survey = Survey(sv.shares(LABELS), epsilon=1.0, title=f"Too few {secrets.token_hex(4)}")
    service.publish(survey, minimum_reports=50)
    send(service, survey, ["tea"] * 49)
    counted(service, survey, 49)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_role("heading", name="Not enough reports yet")).to_be_visible()
    expect(page.get_by_role("heading", name="Estimate")).to_be_hidden()
    send(service, survey, ["tea"])
    expect(page.get_by_role("heading", name="Estimate")).to_be_visible()
    expect(page.get_by_role("heading", name="Not enough reports yet")).to_have_count(0)


def test_order_and_raw_or_projected(service: Service, visitor: Visitor, drinks: Survey) -> None:
    counted(service, drinks, 800)
    projected = told(service, drinks, "value")
    page = signed_in(visitor, service, f"/survey/{drinks.id}")
    expect(page.get_by_text("From 800 reports.")).to_be_visible()
    by_size = sorted(LABELS, key=lambda label: -projected[LABELS.index(label)])
    assert list(shown(page)) == by_size
    page.get_by_role("radio", name="As listed").check(force=True)
    assert list(shown(page)) == LABELS
    page.get_by_role("radio", name="Raw", exact=True).check(force=True)
    raw = [number(cells[0]) for cells in shown(page).values()]
    assert raw == pytest.approx([100 * share for share in told(service, drinks, "raw")], rel=0.01, abs=0.006)


def saved(page: Page, click: Callable[[], None]) -> bytes:
    with page.expect_download() as waiting:
        click()
    download: Download = waiting.value
    assert re.fullmatch(r"[a-z0-9-]+\.(csv|json|parquet|arrow|svg)", download.suggested_filename)
    return Path(download.path()).read_bytes()


def test_exports_can_be_read(service: Service, visitor: Visitor, drinks: Survey) -> None:
    page = signed_in(visitor, service, f"/survey/{drinks.id}")
    expect(page.get_by_text("From 800 reports.")).to_be_visible()
    files: dict[str, bytes] = {}
    for name in ("CSV", "JSON", "Parquet", "Arrow"):
        files[name] = saved(page, page.get_by_role("link", name=name, exact=True).click)
    rows = list(csv.DictReader(io.StringIO(files["CSV"].decode())))
    assert [row["label"] for row in rows] == LABELS
    read: Any = json.loads(files["JSON"])
    assert read["n_reports"] == 800
    table = pyarrow.parquet.read_table(io.BytesIO(files["Parquet"]))
    assert table.column("label").to_pylist() == LABELS
    assert [float(row["value"]) for row in rows] == pytest.approx(told(service, drinks, "value"))
    assert table.column("raw").to_pylist() == pytest.approx(told(service, drinks, "raw"))
    assert pyarrow.ipc.open_file(io.BytesIO(files["Arrow"])).read_all().equals(table)


def test_files_have_the_intervals_that_are_shown(service: Service, visitor: Visitor, drinks: Survey) -> None:
    page = signed_in(visitor, service, f"/survey/{drinks.id}")
    expect(page.get_by_text("From 800 reports.")).to_be_visible()
    page.get_by_role("radio", name="99 %").check(force=True)
    assert json.loads(saved(page, page.get_by_role("link", name="JSON", exact=True).click))["level"] == 0.99


def test_pictures_are_saved_as_svg(service: Service, visitors: Visitors, drinks: Survey) -> None:
    page = signed_in(visitors(color_scheme="dark"), service, f"/survey/{drinks.id}")
    expect(page.get_by_text("From 800 reports.")).to_be_visible()
    buttons = page.get_by_role("button", name=re.compile("Save as SVG"))
    expect(buttons).to_have_count(2)
    for button in buttons.all():
        picture = saved(page, button.click)
        root = ElementTree.fromstring(picture)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(root.iter())) > 10
        texts = [element.text or "" for element in root.iter()]
        assert any(text.startswith(drinks.title) for text in texts)
        assert any("800 reports" in text and "ε = 1" in text and "95" in text for text in texts)
        papers = {element.get("fill") for element in list(root.iter("{http://www.w3.org/2000/svg}rect"))[:2]}
        assert papers <= {"#ffffff", "rgb(255, 255, 255)"}, "light, however the page looks"
        assert not re.search(rb"<script|https?://(?!www\.w3\.org/2000/svg)", picture)


def test_markup_in_labels_is_text_in_pictures_tables_and_files(service: Service, visitor: Visitor) -> None:
    labels = [f"<b>tea</b>{HOSTILE}", "</script><svg/onload=globalThis.harmed=1>", "&lt;water&gt;", "]]>'\"juice"]
    survey = published(service, labels, 200)
    counted(service, survey, 200)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_text("From 200 reports.")).to_be_visible()
    assert set(shown(page)) == set(labels)
    picture = saved(page, page.get_by_role("button", name=re.compile("Save as SVG")).first.click)
    texts = {element.text for element in ElementTree.fromstring(picture).iter() if element.text}
    assert any(text.startswith("<b>tea</b>") for text in texts)
    assert page.evaluate("() => globalThis.harmed") is None
    expect(page.locator("main img, main b:has-text('tea'), main script")).to_have_count(0)


WORKLOADS = {
    "prefix:32": list(range(32)),
    "ranges:16": list(range(16)),
    "marginals:age=4,sex=2,country=3:2": [
        (age, sex, country) for age in range(4) for sex in range(2) for country in range(3)
    ],
}


@pytest.mark.parametrize("workload", WORKLOADS)
def test_workloads_as_pictures(service: Service, visitors: Visitors, workload: str) -> None:
    survey = Survey(
        sv.queries(parse_workload(workload)),
        epsilon=1.0,
        strategy="histogram",
        title=f"{workload} {secrets.token_hex(4)}",
    )
    publish(service, survey)
    values = WORKLOADS[workload]
    send(service, survey, (values * 300)[:300])
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme="dark")
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_text("From 300 reports.")).to_be_visible()
    pictures = page.get_by_role("slider", name=re.compile("by arrow keys"))
    # Two-way marginals of three attributes are three pictures; the last picture of all is the bound.
    expect(pictures).to_have_count(4 if workload.startswith("marginals") else 2)
    first = pictures.first
    first.focus()
    first.press("ArrowRight")
    spoken = first.get_attribute("aria-valuetext")
    first.press("ArrowLeft")
    assert spoken
    assert first.get_attribute("aria-valuetext") != spoken
    assert len(shown(page)) > 1
    assert too_wide(page) <= 0
    assert faults(page) == []


def test_a_number_s_figures_and_histogram(service: Service, visitors: Visitors) -> None:
    called = f"Minutes {secrets.token_hex(4)}"
    survey = Survey(
        sv.number(0, 600, "minutes", wants="distribution", points=8), epsilon=2.0, strategy="haar", title=called
    )
    publish(service, survey)
    send(service, survey, [30.0, 90.0, 400.0] * 100)
    page = signed_in(visitors(viewport={"width": 360, "height": 740}), service, f"/survey/{survey.id}")
    figures = page.locator(".figures-list > div")
    expect(figures).to_have_count(5)
    expect(figures.nth(3)).to_contain_text(
        re.compile(r"Median.*minutes.*95\s%\sinterval: .* to \d+\sminutes", re.DOTALL)
    )
    # The curve, the histogram and the bound.
    expect(page.get_by_role("slider", name=re.compile("by arrow keys"))).to_have_count(3)
    expect(page.get_by_role("heading", name="Share of people in each bin (minutes)")).to_be_visible()
    assert too_wide(page) <= 0
    assert faults(page) == []


def test_one_table_out_of_many_by_name(service: Service, visitor: Visitor) -> None:
    fields = {name: ["no", "yes"] for name in ("cat", "dog", "fish", "bird")}
    survey = Survey(sv.records(fields, tables=2), epsilon=1.0, title=f"Pets {secrets.token_hex(4)}")
    publish(service, survey)
    send(service, survey, [("yes", "no", "no", "yes")] * 200)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    pictures = page.get_by_role("slider", name=re.compile("by arrow keys"))
    expect(pictures).to_have_count(7)
    page.get_by_label("Picture", exact=True).select_option("Dog × bird")
    expect(pictures).to_have_count(2)
    expect(page.get_by_role("heading", name="Dog × bird")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Show"))).to_be_hidden()
    assert faults(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_narrow(service: Service, visitors: Visitors, drinks: Survey, scheme: str) -> None:
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = signed_in(visitor, service, f"/survey/{drinks.id}")
    expect(page.get_by_text("From 800 reports.")).to_be_visible()
    assert shown(page)
    assert faults(page) == []
    assert too_wide(page) <= 0


def test_ten_thousand_bars_are_drawn(service: Service, visitor: Visitor) -> None:
    survey = Survey(sv.shares(range(10_000)), epsilon=2.0, title=f"Many {secrets.token_hex(4)}")
    service.publish(survey)
    send(service, survey, list(range(500)))
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_text("From 500 reports.")).to_be_visible()
    send(service, survey, list(range(500)))
    expect(page.get_by_text("From 1,000 reports.")).to_be_visible()
    expect(page.get_by_role("slider", name=re.compile("by arrow keys"))).to_have_count(2)


def test_sealing_asks_first(service: Service, visitor: Visitor) -> None:
    survey = published(service, LABELS, 100)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    page.get_by_role("button", name="Seal the survey").click()
    page.get_by_role("button", name="Cancel").click()
    assert service.status(survey)["state"] == "open"
    page.get_by_role("button", name="Seal the survey").click()
    page.get_by_role("button", name="Seal it").click()
    expect(page.get_by_text("The survey is sealed")).to_be_visible()
    expect(page.get_by_role("heading", name="Hand it to people")).to_be_hidden()
    expect(page.get_by_text(re.compile("so far|reports, below"))).to_have_count(0)
    assert service.status(survey)["state"] == "sealed"


def test_a_survey_deleted_while_it_is_looked_at(service: Service, visitor: Visitor) -> None:
    visitor.expects("status of 4(04|09|10)")
    survey = published(service, LABELS, 100)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect_count(page, 100)
    assert service.ask("DELETE", f"/v1/surveys/{survey.id}").status == 200
    expect(page.get_by_role("alert").filter(has_text="deleted")).to_be_visible()
