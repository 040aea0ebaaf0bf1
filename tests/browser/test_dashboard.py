"""The dashboard's frame: who gets in, how they get out, what the list of surveys shows, and how it looks."""

from __future__ import annotations

import re
import secrets
from pathlib import Path

import pytest
from playwright.sync_api import expect

import sottovoce as sv
from browser import setting
from browser.accessibility import faults
from browser.dashboard import expect_count, new_token, revoke, send, sign_in, signed_in, too_wide
from browser.visitor import Visitor, Visitors
from collector.service import Service, kept_port, running
from sottovoce.surveys.survey import Survey

LOST_CONNECTION = r"ERR_(CONNECTION_(REFUSED|RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)"
HOSTILE = '<img src=x onerror="globalThis.harmed=1"><script>globalThis.harmed=1</script>'


def published(service: Service, title: str = "What do you drink?") -> Survey:
    survey = Survey(sv.shares(["tea", "coffee", "water"]), epsilon=1.0, title=f"{title} {secrets.token_hex(4)}")
    service.publish(survey)
    return survey


def test_signing_in_and_out(service: Service, visitor: Visitor) -> None:
    # By the wrong token, and by what was under way when signing out.
    visitor.expects("status of 401")
    survey = published(service)
    page = visitor.open("/")
    assert faults(page) == []
    sign_in(page, "sv_00000000_wrong")
    expect(page.get_by_role("alert").filter(has_text="not known here")).to_be_visible()
    assert visitor.context.cookies() == []
    sign_in(page, service.token)
    expect(page.get_by_role("link", name=survey.title)).to_be_visible()
    [cookie] = visitor.context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    assert page.evaluate("() => document.cookie") == ""
    kept = page.evaluate("() => JSON.stringify([{...localStorage}, {...sessionStorage}])")
    assert service.token not in kept
    assert all(service.token not in request.url for request in visitor.requests)
    page.reload()
    expect(page.get_by_role("link", name=survey.title)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    assert visitor.context.cookies() == []


def test_a_page_that_was_left_shows_nothing_to_a_person_who_goes_back(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service, "/")
    expect(page.get_by_role("link", name=survey.title)).to_be_visible()
    # As a browser leaves a page that it keeps for the Back button.
    page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(page.get_by_role("main")).to_be_empty()


@pytest.mark.parametrize("place", ["list", "survey"])
def test_a_token_revoked_while_the_page_is_open(service: Service, visitor: Visitor, place: str) -> None:
    visitor.expects("status of 401")
    survey = published(service)
    token, token_id = new_token(service, "read")
    page = signed_in(visitor, service, "/" if place == "list" else f"/survey/{survey.id}", token)
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    expect(page.get_by_text(survey.title).first).to_be_visible()
    revoke(service, token_id)
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(page.get_by_text("revoked").first).to_be_visible()
    expect(page.get_by_text(survey.title)).to_have_count(0)
    fresh, _ = new_token(service, "read")
    sign_in(page, fresh)
    expect(page.get_by_text(survey.title).first).to_be_visible()


def test_the_list_counts_while_devices_send(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    page = signed_in(visitor, service)
    card = page.get_by_role("listitem").filter(has=page.get_by_role("link", name=survey.title))
    expect(card).to_contain_text("0 reports")
    send(service, survey, ["tea"] * 17)
    expect(card).to_contain_text("17 reports")
    send(service, survey, ["tea"] * 5)
    expect(card).to_contain_text("22 reports")
    card.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(survey.title)
    expect_count(page, 22)


def test_a_new_survey_appears_by_itself(service: Service, visitor: Visitor) -> None:
    published(service)
    visitor.context.clock.install()
    page = signed_in(visitor, service)
    expect(page.get_by_role("heading", name="Surveys", level=1)).to_be_visible()
    later = published(service, "Later")
    visitor.context.clock.fast_forward("00:15")
    expect(page.get_by_role("link", name=later.title)).to_be_visible()


def test_a_token_that_only_reads_is_offered_nothing_more(service: Service, visitor: Visitor) -> None:
    survey = published(service)
    token, _ = new_token(service, "read")
    page = signed_in(visitor, service, "/", token)
    expect(page.get_by_role("link", name=survey.title)).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("New survey|first survey"))).to_have_count(0)
    page.goto(f"{visitor.origin}/survey/{survey.id}")
    expect(page.get_by_role("heading", level=1)).to_contain_text(survey.title)
    expect(page.get_by_role("button", name=re.compile("seal|delete|close", re.IGNORECASE))).to_have_count(0)


def test_markup_in_titles_is_text_in_the_list(service: Service, visitor: Visitor) -> None:
    survey = published(service, HOSTILE)
    page = signed_in(visitor, service)
    expect(page.get_by_role("link", name=survey.title)).to_be_visible()
    assert page.evaluate("() => globalThis.harmed") is None
    expect(page.locator("main img, main script")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_narrow(service: Service, visitors: Visitors, scheme: str) -> None:
    published(service, "A title that is long enough to be broken into two lines or three on a telephone, and no link")
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme=scheme)
    page = signed_in(visitor, service)
    expect(page.get_by_role("heading", name="Surveys", level=1)).to_be_visible()
    assert faults(page) == []
    assert too_wide(page) <= 0


def test_light_and_dark_by_machine_and_by_choice(service: Service, visitors: Visitors) -> None:
    published(service)
    paper = "() => getComputedStyle(document.body).backgroundColor"
    visitor = visitors(color_scheme="light")
    page = signed_in(visitor, service)
    light = page.evaluate(paper)
    page.emulate_media(color_scheme="dark")
    dark = page.evaluate(paper)
    assert light != dark
    page.emulate_media(color_scheme="light")
    assert page.evaluate(paper) == light
    page.get_by_role("radio", name="dark").check(force=True)
    assert page.evaluate(paper) == dark
    page.reload()
    expect(page.get_by_role("radio", name="dark")).to_be_checked()
    assert page.evaluate(paper) == dark


def test_the_collector_goes_away_and_comes_back(visitors: Visitors, tmp_path: Path) -> None:
    with kept_port() as port:
        flags = ("--port", str(port))
        with running(tmp_path / "data", *flags, **setting.pages()) as first:
            survey = published(first)
            visitor = visitors(first.url)
            visitor.expects(LOST_CONNECTION)
            pages = [signed_in(visitor, first), visitor.open(f"/survey/{survey.id}")]
            for page in pages:
                expect(page.get_by_text(survey.title).first).to_be_visible()
        for page in pages:
            page.bring_to_front()
            expect(page.get_by_text("does not answer").first).to_be_visible()
        with running(tmp_path / "data", *flags, token=first.token, **setting.pages()) as again:
            send(again, survey, ["tea"] * 31)
            for page in pages:
                page.bring_to_front()
                expect_count(page, 31)
                expect(page.get_by_text("does not answer")).to_have_count(0)


def test_pages_cannot_be_framed_or_read_by_other_sites(service: Service, visitor: Visitor) -> None:
    for path in ("/", f"/s/{'0' * 64}"):
        headers = service.ask("GET", path, headers={"Authorization": ""}).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert "require-trusted-types-for 'script'" in policy
        assert headers["cross-origin-resource-policy"] == "same-origin"
