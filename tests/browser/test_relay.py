"""The survey page and a relay: sealed, through the relay alone, held there, counted once; and the dashboard's part."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from urllib.parse import urlsplit

import msgspec
import pytest
from playwright.sync_api import expect

from browser.accessibility import faults
from browser.dashboard import signed_in, too_wide
from browser.survey_page import SurveyPage
from browser.visitor import Visitor, Visitors
from collector.service import Service
from relay.service import RelayProcess, delivered, relayed, relaying
from sottovoce.core.signing import SigningKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

HELD = "It is held at the relay."
PAYLOAD = 1
"""Bytes of a report after the survey's tag."""


@pytest.fixture(scope="module")
def relay(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RelayProcess]:
    with relaying(tmp_path_factory.mktemp("relay") / "folder", service.url) as process:
        yield process


def published(service: Service, relay: RelayProcess, least: int) -> Survey:
    survey = relayed(least, f"Through a relay {secrets.token_hex(4)}", relay.url)
    service.publish(survey)
    return survey


def left_at(visitor: Visitor, survey: Survey) -> list[bytes]:
    """What the browser has left in the survey's box."""
    return [sent.post_data_buffer or b"" for sent in visitor.asked("POST", f"/v1/boxes/{survey.id}")]


def is_held(tab: SurveyPage) -> None:
    expect(tab.page.get_by_role("heading", name=HELD)).to_be_visible()


def test_an_answer_is_sealed_held_at_the_relay_and_counted_once(
    service: Service, relay: RelayProcess, visitors: Visitors
) -> None:
    survey = published(service, relay, least=2)
    one, other = visitors(relay=relay.url), visitors(relay=relay.url)
    tab = SurveyPage.visit(one, survey)
    host = re.escape(urlsplit(relay.url).netloc)
    who = re.compile(rf"^The relay at {host} sees your address .* not your report; the collector .* not whose it is")
    expect(tab.page.get_by_text(who)).to_be_visible()
    assert faults(tab.page) == []
    tab.draw("tea")
    assert left_at(one, survey) == []
    tab.send_button.click()
    is_held(tab)
    [message], [record] = left_at(one, survey), tab.records()
    assert (len(message), record["state"]) == (512, "sent")
    assert bytes(record["report"]) not in message
    assert bytes(record["id"]) not in message
    assert one.reports_sent() == []
    assert service.status(survey)["n_reports"] == 0, "one report alone is not forwarded"
    tab.page.reload()
    is_held(tab)
    SurveyPage.visit(other, survey).draw("water")
    other.context.pages[0].get_by_role("button", name="Send it").click()
    is_held(SurveyPage(other.context.pages[0]))
    delivered(service, survey, 2)
    counted = service.counted(survey, PAYLOAD)
    assert (counted[bytes(record["id"])], counted.total()) == (1, 2)
    assert one.reports_sent() == other.reports_sent() == []


def test_a_relay_that_is_away_or_shows_other_keys_gets_nothing_and_nobody_else_does(
    service: Service, relay: RelayProcess, visitors: Visitors
) -> None:
    survey = published(service, relay, least=2)
    visitor = visitors(relay=relay.url)
    visitor.expects("ERR_FAILED")
    tab = SurveyPage.visit(visitor, survey)
    tab.draw("tea")
    away = f"{relay.url}/**"
    visitor.context.route(away, lambda route: route.abort())
    tab.send_button.click()
    tab.waits()
    stranger, own = SigningKey(secrets.token_bytes(32)), KeyConfiguration(1, secrets.token_bytes(32))
    foreign = msgspec.json.encode(sign_keys(stranger, (own,)))
    headers = {"Access-Control-Allow-Origin": visitor.origin}
    keys = f"{relay.url}/v1/keys"
    visitor.context.route(keys, lambda route: route.fulfill(body=foreign, headers=headers))
    visitor.context.unroute(away)
    tab.page.get_by_role("button", name="Try now").click()
    expect(tab.page.get_by_text("The reason given: the encryption keys are signed with the key")).to_be_visible()
    tab.waits()
    assert left_at(visitor, survey) == visitor.reports_sent() == []
    visitor.context.unroute(keys)
    tab.page.get_by_role("button", name="Try now").click()
    is_held(tab)
    assert len(left_at(visitor, survey)) == 1
    assert visitor.reports_sent() == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_dashboard_makes_a_survey_with_a_relay_and_tells_both_guarantees(
    service: Service, visitors: Visitors, width: int
) -> None:
    visitor = visitors(viewport={"width": width, "height": 900})
    visitor.expects("status of 422")
    page = signed_in(visitor, service, "/new")
    page.get_by_role("textbox", name="Title").fill(f"By form {secrets.token_hex(4)}")
    page.get_by_role("textbox", name="Labels").fill("red\ngreen\nblue")
    page.get_by_text("Through a relay", exact=True).click()
    address = page.get_by_role("textbox", name="The relay’s address")
    address.fill("http://relay.example.org")
    page.get_by_role("textbox", name="Smallest batch").fill("10,000")
    check = page.get_by_role("button", name="Check", exact=True)
    check.click()
    expect(address).to_have_attribute("aria-invalid", "true")
    address.fill("https://relay.example.org")
    live = page.locator(".live-guarantees")
    expect(live).to_contain_text("A batch of 10,000 or more, through relay.example.org")
    check.click()
    central = page.locator(".checked .guarantees")
    expect(central).to_contain_text("One report, on the device")
    expect(central).to_contain_text("A batch of 10,000 or more, through relay.example.org")
    told = central.inner_text()
    assert live.inner_text() == told
    assert (faults(page), too_wide(page)) == ([], 0)
    page.get_by_role("button", name=re.compile("Publish")).click()
    page.wait_for_url("**/survey/*")
    card = page.get_by_role("region", name="Two guarantees")
    expect(card).to_contain_text("It holds if the shuffler does not collude")
    assert card.locator(".guarantees").inner_text() == told
    status = service.ask("GET", f"/v1/surveys/{page.url.rpartition('/')[2]}/status").json
    assert status["central"]["relay"] == "https://relay.example.org"
    assert 0 < status["central"]["epsilon"] < status["epsilon"] / 4
    assert (faults(page), too_wide(page)) == ([], 0)
