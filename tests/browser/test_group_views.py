"""Groups on the dashboard: side by side, the difference of two of them, and weights to a known population."""

from __future__ import annotations

import re
import secrets
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import drawn, publish, send, signed_in, too_wide
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

LABELS = ["tea", "coffee", "water"]
FEW = 37
"""Reports of the smallest group, fewer than the minimum: a number that nobody may be shown."""


@pytest.fixture(scope="module")
def drinks(service: Service) -> Survey:
    """Three arms, one of them with too few reports."""
    groups = {"arm": ["A", "B", "C"]}
    survey = Survey(sv.shares(LABELS), epsilon=2.0, title=f"Drinks {secrets.token_hex(4)}", groups=groups)
    publish(service, survey, 50)
    for arm, shares, n in (("A", [0.7, 0.2, 0.1], 900), ("B", [0.2, 0.7, 0.1], 700), ("C", [0.2, 0.7, 0.1], FEW)):
        send(service, survey.in_group(arm), drawn(LABELS, shares, n))
    return survey


def told(service: Service, survey: Survey, path: str, **query: str) -> Any:
    answer = service.ask("GET", f"/v1/surveys/{survey.id}/{path}?{urlencode(query)}")
    assert answer.status == 200, answer
    return answer.json


def opened(service: Service, visitor: Visitor, survey: Survey) -> Page:
    """The survey's page, once two of its groups are compared."""
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    expect(page.get_by_role("table", name="Differences of two groups").locator("tbody tr")).to_have_count(3)
    return page


def percent(value: float) -> str:
    return f"{100 * value:.1f}\u00a0%"


def test_groups_stand_side_by_side_and_a_small_one_without_a_number(
    service: Service, visitor: Visitor, drinks: Survey
) -> None:
    page = opened(service, visitor, drinks)
    card = page.get_by_role("region", name="Groups side by side")
    expect(card).to_contain_text("arm A: 900 reports; arm B: 700 reports")
    expect(card).to_contain_text("Too few reports yet: arm C.")
    body = told(service, drinks, "by", variable="arm", always="open")
    small = next(group for group in body["groups"] if group["value"] == "C")
    assert (small["n_reports"], small["answers"]) == (None, [])
    card.get_by_text("Numbers", exact=True).click()
    for group in body["groups"][:2]:
        for answer in group["answers"]:
            row = card.get_by_role("row", name=re.compile(f"^{answer['label']}"))
            expect(row).to_contain_text(percent(answer["value"]))
    assert str(FEW) not in re.findall(r"[\d.,]+", card.inner_text())


def test_the_difference_is_the_watched_one_while_the_survey_is_open(
    service: Service, visitor: Visitor, drinks: Survey
) -> None:
    page = opened(service, visitor, drinks)
    card = page.get_by_role("region", name="Difference of two groups")
    expect(card).to_contain_text("Watched: the survey is open")
    table = page.get_by_role("table", name="Differences of two groups")
    watched = told(service, drinks, "comparison", first="A", second="B", always="open")
    assert watched["always"]
    for one in watched["differences"]:
        row = table.get_by_role("row", name=re.compile(f"^{one['label']}"))
        expect(row).to_contain_text(f"{100 * one['low']:+.1f}".replace("-", "−"))
    page.get_by_text("One look", exact=True).click()
    expect(card).to_contain_text("Of one look: whoever looks again")
    fixed = told(service, drinks, "comparison", first="A", second="B", always="0")
    assert fixed["differences"][0]["low"] > watched["differences"][0]["low"]
    expect(table.get_by_role("row", name=re.compile("^tea"))).to_contain_text(
        f"{100 * fixed['differences'][0]['low']:+.1f}"
    )
    page.get_by_label("less", exact=True).select_option("arm=C")
    expect(card).to_contain_text("too few reports yet; nothing of it is shown before")
    page.get_by_label("less", exact=True).select_option("arm=A")
    expect(card).to_contain_text("Choose two different groups.")


def test_weighted_answers_stand_beside_those_that_were_given(
    service: Service, visitor: Visitor, drinks: Survey
) -> None:
    visitor.expects("status of 422")
    page = opened(service, visitor, drinks)
    card = page.get_by_role("region", name="A known population")
    button = card.get_by_role("button", name="Weigh")
    expect(button).to_be_hidden()
    card.get_by_text("On", exact=True).click()
    button.click()
    expect(card.get_by_role("alert")).to_contain_text("Give the share of every value")
    card.get_by_text("From a file").click()
    pasted = card.get_by_label("or its text")
    pasted.fill("arm,A,0.3")
    expect(card.get_by_role("alert")).to_contain_text("variable,value,share")
    pasted.fill("variable,value,share\narm,A,0.3\narm,B,0.6\narm,C,0")
    expect(card).to_contain_text("Together 90\u00a0%; it must be 100\u00a0%.")
    button.click()
    expect(card.get_by_role("alert")).to_contain_text(re.compile("add"))
    card.get_by_label("arm B, in per cent").fill("70")
    expect(card).to_contain_text("Together 100\u00a0%.")
    button.click()
    population = {"arm": {"A": 0.3, "B": 0.7, "C": 0}}
    answer = service.ask("POST", f"/v1/surveys/{drinks.id}/weighted", json={"population": population})
    expect(card).to_contain_text(f"worth {answer.json['effective_reports']:,.0f} without weights")
    for note in answer.json["notes"]:
        expect(card).to_contain_text(note[0].upper() + note[1:])
    card.get_by_text("Numbers", exact=True).click()
    for one in answer.json["answers"]:
        row = card.get_by_role("row", name=re.compile(f"^{one['label']}"))
        expect(row).to_contain_text(percent(one["value"]))


def test_a_form_is_weighed_by_its_private_fields(service: Service, visitor: Visitor) -> None:
    fields = {"age": ["18-39", "40+"], "drink": ["tea", "coffee"]}
    survey = Survey(sv.records(fields, tables=2), epsilon=4.0, title=f"Form {secrets.token_hex(4)}")
    publish(service, survey, 50)
    people = zip(drawn(fields["age"], [0.7, 0.3], 600), drawn(fields["drink"], [0.4, 0.6], 600, seed=2), strict=True)
    send(service, survey, [{"age": age, "drink": drink} for age, drink in people])
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    card = page.get_by_role("region", name="A known population")
    card.get_by_text("On", exact=True).click()
    card.get_by_label("or its text").fill("variable,value,share\nage,18-39,0.4\nage,40+,0.6")
    card.get_by_role("button", name="Weigh").click()
    population = {"age": {"18-39": 0.4, "40+": 0.6}}
    answer = service.ask("POST", f"/v1/surveys/{survey.id}/weighted", json={"population": population})
    expect(card).to_contain_text(
        f"weighed by 2 known shares, worth {answer.json['effective_reports']:,.0f} without weights"
    )
    card.get_by_text("Numbers", exact=True).click()
    expect(card.get_by_role("row", name=re.compile("^drink=tea"))).to_contain_text(
        percent(answer.json["answers"][0]["value"])
    )


def test_groups_can_be_taken_away(service: Service, visitor: Visitor, drinks: Survey) -> None:
    page = opened(service, visitor, drinks)
    for name, lines in (("Groups side by side", 1 + 2 * len(LABELS)), ("Difference of two groups", 1 + len(LABELS))):
        card = page.get_by_role("region", name=name)
        with page.expect_download() as file:
            card.get_by_role("link", name="CSV").click()
        assert len(file.value.path().read_text(encoding="utf-8").splitlines()) == lines
        for kind, begin in (("SVG", b"<svg "), ("PNG", b"\x89PNG")):
            with page.expect_download() as file:
                card.get_by_role("button", name=kind).click()
            assert file.value.path().read_bytes().startswith(begin)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_everybody_can_use_it(service: Service, visitors: Visitors, drinks: Survey, scheme: str, width: int) -> None:
    visitor = visitors(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = opened(service, visitor, drinks)
    page.get_by_role("region", name="A known population").get_by_text("On", exact=True).click()
    assert faults(page) == []
    assert too_wide(page) <= 0
