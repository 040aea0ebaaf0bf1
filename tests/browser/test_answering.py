"""A person answers on the survey page, and the collector counts exactly one, whatever they do besides."""

from __future__ import annotations

import math
import secrets

import pytest
from playwright.sync_api import Route, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, batch_rows
from sottovoce.surveys.survey import Survey

LABELS = ["tea", "coffee", "water"]


@pytest.fixture
def drinks(service: Service) -> Survey:
    """A survey of its own for each test."""
    survey = Survey(sv.shares(LABELS), epsilon=1.0, title=f"What do you drink? {secrets.token_hex(4)}")
    service.publish(survey)
    return survey


PAYLOAD = 1
"""Bytes of a report after the survey's tag."""


def assert_one(service: Service, survey: Survey) -> None:
    """The collector has counted one report, once."""
    assert list(service.counted(survey, PAYLOAD).values()) == [1]


def test_an_answer_is_counted_once(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    expect(tab.page.get_by_role("heading", level=1)).to_contain_text(drinks.title)
    tab.draw("tea")
    assert visitor.reports_sent() == []
    assert service.status(drinks)["n_reports"] == 0
    tab.send_button.click()
    tab.arrives()
    assert_one(service, drinks)
    [record] = tab.records()
    assert record["state"] == "sent"
    [body] = visitor.reports_sent()
    [row] = batch_rows(body, drinks.id, PAYLOAD)
    assert row.tobytes() == bytes(record["id"]) + bytes(record["report"])


def test_the_picture_tells_the_true_likelihoods(visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    [record] = tab.records()
    mechanism = drinks.mechanism
    report = mechanism.decode(bytes(record["report"][-PAYLOAD:]))
    true = [math.exp(mechanism.log_prob(report, value)) for value in range(len(LABELS))]
    tab.page.get_by_text("The figures").click()
    rows = tab.page.get_by_role("region", name="The figures").get_by_role("row").all()[1:]
    told = [row.get_by_role("cell").all_inner_texts() for row in rows]
    assert [float(times) for times, _ in told] == pytest.approx([p / min(true) for p in true], rel=0.01)
    assert [float(probability) for _, probability in told] == pytest.approx(true, rel=0.01)
    assert max(float(times) for times, _ in told) <= 1.01 * math.exp(drinks.epsilon)


def test_nothing_but_the_report_leaves(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.answer("tea")
    [body] = visitor.reports_sent()
    assert len(body) == len("SVR1") + 32 + 16 + 4 + PAYLOAD
    sent = [request for request in visitor.requests if request.method != "GET"]
    assert [request.post_data_buffer for request in sent] == [body]
    assert all("cookie" not in request.all_headers() for request in visitor.requests)
    asked = [request.url.partition("?")[2] for request in visitor.requests if "?" in request.url]
    assert asked == ["block=0"], "of the log, and the same for everybody"


def test_reload_and_second_tab_draw_nothing_new(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.answer("tea")
    drawn = tab.records()
    tab.page.reload()
    tab.arrives()
    second = SurveyPage.visit(visitor, drinks)
    second.arrives()
    assert second.records() == tab.records() == drawn
    assert len(visitor.reports_sent()) == 1
    assert_one(service, drinks)


def test_a_reload_before_sending_keeps_the_report(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    drawn = tab.records()
    tab.page.reload()
    expect(tab.send_button).to_be_visible()
    assert visitor.reports_sent() == []
    tab.send_button.click()
    tab.arrives()
    assert [record["report"] for record in tab.records()] == [record["report"] for record in drawn]
    assert_one(service, drinks)


def test_a_page_that_was_left_shows_nothing_to_a_person_who_goes_back(visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    main = tab.page.get_by_role("main")
    expect(main).to_contain_text("tea")
    # As a browser leaves a page that it keeps for the Back button.
    tab.page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(main).to_be_empty()


def test_two_tabs_with_two_answers_draw_one_report(service: Service, visitor: Visitor, drinks: Survey) -> None:
    one, other = SurveyPage.visit(visitor, drinks), SurveyPage.visit(visitor, drinks)
    one.choose("tea")
    other.choose("water")
    one.draw_button.click()
    expect(one.send_button).to_be_visible()
    expect(other.send_button).to_be_visible()
    assert len(one.records()) == 1
    assert_unused(one, other)
    other.send_button.click()
    one.arrives()
    other.arrives()
    assert_one(service, drinks)


def test_an_answer_after_another_tab_s_is_not_used_and_told_so(visitor: Visitor, drinks: Survey) -> None:
    # Tabs that cannot tell each other anything: the second learns of the first when it draws.
    visitor.context.add_init_script("delete globalThis.BroadcastChannel")
    one, other = SurveyPage.visit(visitor, drinks), SurveyPage.visit(visitor, drinks)
    expect(one.draw_button).to_be_visible()
    one.draw("tea")
    drawn = one.records()
    other.draw("water")
    assert other.records() == drawn
    assert_unused(one, other)
    other.page.reload()
    expect(other.send_button).to_be_visible()
    expect(other.page.get_by_text(UNUSED)).to_have_count(0)


def test_a_tab_in_which_nothing_was_chosen_says_nothing_of_it(visitor: Visitor, drinks: Survey) -> None:
    one, other = SurveyPage.visit(visitor, drinks), SurveyPage.visit(visitor, drinks)
    expect(other.draw_button).to_be_visible()
    one.draw("tea")
    expect(other.send_button).to_be_visible()
    expect(other.page.get_by_text(UNUSED)).to_have_count(0)


UNUSED = "what you chose just now was not used"


def assert_unused(used: SurveyPage, unused: SurveyPage) -> None:
    """One tab shows the answer that was drawn from; the other says that its own was not."""
    stays = [tab.page.get_by_role("region", name="Stays here") for tab in (used, unused)]
    expect(stays[0]).to_contain_text("tea")
    expect(stays[1]).not_to_contain_text("water")
    expect(unused.page.locator(".unused").filter(has_text=UNUSED)).to_be_visible()
    expect(used.page.get_by_text(UNUSED)).to_have_count(0)
    expect(unused.page.locator(".flag")).to_have_count(0)


def test_a_replayed_request_counts_nothing(service: Service, visitor: Visitor, drinks: Survey) -> None:
    SurveyPage.visit(visitor, drinks).answer("tea")
    [body] = visitor.reports_sent()
    for _ in range(3):
        headers = {"Authorization": "", "Content-Type": BATCH_MEDIA_TYPE}
        answer = service.ask("POST", f"/v1/surveys/{drinks.id}/reports", body=body, headers=headers)
        assert answer.json == {"accepted": 1, "refused": []}
    assert_one(service, drinks)


def test_an_answer_that_got_lost_on_the_way_back_is_sent_again_the_same(
    service: Service, visitor: Visitor, drinks: Survey
) -> None:
    visitor.expects("ERR_FAILED")

    def swallow(route: Route) -> None:
        route.fetch()
        route.abort()

    tab = SurveyPage.visit(visitor, drinks)
    tab.draw("tea")
    tab.page.route("**/reports", swallow, times=1)
    tab.send_button.click()
    tab.arrives()
    bodies = visitor.reports_sent()
    assert len(bodies) == 2
    assert bodies[0] == bodies[1]
    assert_one(service, drinks)


def test_by_keyboard_alone(service: Service, visitor: Visitor, drinks: Survey) -> None:
    tab = SurveyPage.visit(visitor, drinks)
    expect(tab.draw_button).to_be_visible()
    presses = 0
    while tab.page.evaluate("() => document.activeElement?.type") != "radio":
        tab.page.keyboard.press("Tab")
        presses += 1
        assert presses < 20
    tab.page.keyboard.press("Space")
    tab.page.keyboard.press("Enter")
    expect(tab.send_button).to_be_visible()
    presses = 0
    while "send" not in tab.page.evaluate("() => document.activeElement?.textContent ?? ''").lower():
        tab.page.keyboard.press("Tab")
        presses += 1
        assert presses < 20
    tab.page.keyboard.press("Enter")
    tab.arrives()
    assert_one(service, drinks)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_and_narrow_at_every_step(visitors: Visitors, drinks: Survey, scheme: str) -> None:
    visitor = visitors(viewport={"width": 360, "height": 740}, color_scheme=scheme, has_touch=True)
    tab = SurveyPage.visit(visitor, drinks)
    expect(tab.draw_button).to_be_visible()
    found = [faults(tab.page), too_wide(tab)]
    tab.draw("tea")
    found += [faults(tab.page), too_wide(tab)]
    tab.send_button.click()
    tab.arrives()
    found += [faults(tab.page), too_wide(tab)]
    assert [fault for fault in found if fault] == []


def too_wide(tab: SurveyPage) -> str:
    """How far the page can be scrolled sideways, which it should not be."""
    wide = tab.page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    return f"{wide} pixels too wide" if wide > 0 else ""


def test_the_page_is_small(visitor: Visitor, drinks: Survey) -> None:
    page = visitor.context.new_page()
    developer = visitor.context.new_cdp_session(page)
    addresses: dict[str, str] = {}
    received: dict[str, float] = {}
    developer.on(
        "Network.responseReceived",
        lambda told: addresses.update({told["requestId"]: told["response"]["url"].partition("?")[0]}),
    )
    developer.on(
        "Network.loadingFinished", lambda told: received.update({told["requestId"]: told["encodedDataLength"]})
    )
    developer.send("Network.enable")
    page.goto(f"{visitor.origin}/s/{drinks.id}")
    tab = SurveyPage(page)
    tab.answer("tea")
    # The survey is read two to four times, by the page and by its device: each address counts once.
    largest: dict[str, float] = {}
    for request, size in received.items():
        largest[addresses[request]] = max(size, largest.get(addresses[request], 0))
    # The statement, and a proof that holds 46 bytes for each survey that was published before, up to 256 of them.
    of_log = {address for address in addresses.values() if "/v1/log/" in address}
    assert len(of_log) == 2
    assert len(largest) >= 5
    # 79,386 in all; 2.6 kB of it are the look into the log: tree, proofs, what is kept, and words where it is refused;
    # 1.4 kB are relations.
    assert sum(size for address, size in largest.items() if address not in of_log) < 79_700
