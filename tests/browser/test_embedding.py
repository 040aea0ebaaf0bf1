"""A question in somebody else's page: answered once, under a strict policy, and every failure with its remedy."""

from __future__ import annotations

import json
import re
import secrets
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.dashboard import publish, signed_in
from browser.embedded import EmbeddedPage, lines, strict
from browser.other_site import OtherSite, other_site
from browser.visitor import Visitor, Visitors
from collector.service import Service, running, until
from commands import run_here
from document import ROOT
from relay.service import delivered, relayed, relaying
from sottovoce.collector.pages.files import ELEMENT, load_files
from sottovoce.domain.number import NumberGrid
from sottovoce.questions import Shares
from sottovoce.surveys.survey import Survey

pytestmark = pytest.mark.slow

DOCUMENT = (ROOT / "docs" / "embedding.md").read_text(encoding="utf-8")
LABELS = ["tea", "coffee", "water"]


@pytest.fixture(scope="module")
def site() -> Iterator[OtherSite]:
    with other_site() as site:
        yield site


@pytest.fixture(scope="module")
def collector(site: OtherSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A collector that lets pages of the site ask."""
    with running(tmp_path_factory.mktemp("embedding") / "data", "--allow-origins", site.url) as started:
        yield started


@pytest.fixture
def guest(visitors: Visitors, site: OtherSite, collector: Service) -> Visitor:
    """Somebody who visits the site; their browser may also ask the collector."""
    return visitors(site.url, relay=collector.url)


def drinks(service: Service, epsilon: float = 1.0, title: str = "") -> Survey:
    survey = Survey(sv.shares(LABELS), epsilon=epsilon, title=title or f"What do you drink? {secrets.token_hex(4)}")
    service.publish(survey)
    return survey


# --- answering ----------------------------------------------------------------------------------


def test_an_answer_is_counted_once_under_a_strict_policy(collector: Service, site: OtherSite, guest: Visitor) -> None:
    survey = drinks(collector)
    tab = EmbeddedPage.visit(guest, site, lines(collector, survey), strict(collector))
    expect(tab.page.get_by_role("heading", level=2)).to_have_text(survey.title)
    expect(tab.page.get_by_text("Your answer stays in this browser.")).to_contain_text("nobody more than 2.72 times")
    assert tab.heard("ready")[0]["state"] == "asking"
    assert guest.reports_sent() == []
    tab.answer("tea")
    [body] = guest.reports_sent()
    expected = {"type": "sottovoce-answered", "composed": True, "survey": survey.id, "epsilon": 1, "bytes": len(body)}
    assert tab.heard("answered") == [expected]
    assert tab.heard("refused", "error") == []
    assert list(collector.counted(survey, 1).values()) == [1]
    assert all("cookie" not in request.all_headers() for request in guest.requests)


def test_a_reload_a_second_tab_and_a_second_element_draw_nothing_new(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    survey = drinks(collector)
    once = lines(collector, survey)
    tab = EmbeddedPage.visit(guest, site, once)
    other = EmbeddedPage(guest.open("/"))
    expect(other.button).to_be_visible()
    tab.answer("tea")
    other.arrives()
    drawn = tab.records()
    tab.page.reload()
    tab.arrives()
    assert [event["state"] for event in tab.heard("ready")] == ["answered"]
    assert tab.heard("answered") == []
    second = EmbeddedPage.visit(guest, site, once + once[once.index("<sottovoce-survey") :], path="/two")
    expect(second.page.get_by_role("heading", name="It has arrived")).to_have_count(2)
    assert second.records() == drawn
    assert len(guest.reports_sent()) == 1


def test_a_report_that_cannot_leave_is_kept_and_sent_later(collector: Service, site: OtherSite, guest: Visitor) -> None:
    survey = drinks(collector)
    guest.expects(r"ERR_FAILED", r"unsent: the collector at .* cannot be reached")
    tab = EmbeddedPage.visit(guest, site, lines(collector, survey))
    tab.choose("tea")
    guest.context.route("**/reports", lambda route: route.abort())
    tab.button.click()
    expect(tab.page.get_by_role("heading", name="Not sent yet. It is kept here.")).to_be_visible()
    assert [event["code"] for event in tab.heard("error")] == ["unsent"]
    drawn = tab.records()
    guest.context.unroute("**/reports")
    tab.page.get_by_role("button", name="Try now").click()
    tab.arrives()
    assert [one["report"] for one in tab.records()] == [one["report"] for one in drawn]
    assert list(collector.counted(survey, 1).values()) == [1]


def test_an_answer_that_cannot_be_drawn_yet_is_not_asked_for_again(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    survey = drinks(collector)
    guest.expects(r"ERR_FAILED", r"unreachable: the collector at .* cannot be reached")
    tab = EmbeddedPage.visit(guest, site, lines(collector, survey))
    tab.choose("tea")
    guest.context.route(f"{collector.url}/**", lambda route: route.abort())
    tab.button.click()
    tab.stops("unreachable")
    assert tab.records() == []
    tab.page.evaluate(
        "() => document.dispatchEvent(new Event('visibilitychange'))"
    )  # as who leaves the tab and is back
    guest.context.unroute(f"{collector.url}/**")
    tab.page.get_by_role("button", name="Try now").click()
    tab.arrives()
    assert list(collector.counted(survey, 1).values()) == [1]


def test_a_title_names_a_survey_as_an_id_does(collector: Service, site: OtherSite, guest: Visitor) -> None:
    survey = drinks(collector)
    html = lines(collector, survey).replace(f'survey="{survey.id}"', f'survey="{survey.title}"')
    tab = EmbeddedPage.visit(guest, site, html)
    tab.answer("water")
    assert tab.heard("answered")[0]["survey"] == survey.id


def give_number(page: Page) -> None:
    page.get_by_label("Your answer").fill("85")


def give_choices(page: Page) -> None:
    page.get_by_role("checkbox", name="tea").check()
    page.get_by_role("checkbox", name="water").check()


def give_record(page: Page) -> None:
    page.get_by_label("drink", exact=True).select_option("tea")
    page.get_by_label("minutes", exact=True).fill("12")


def give_word(page: Page) -> None:
    page.get_by_label("Your answer").fill(" Green  Tea")
    expect(page.get_by_text("Will be counted as: green tea")).to_be_visible()


def kinds() -> dict[str, tuple[Survey, Callable[[Page], None]]]:
    fields = {"drink": LABELS, "minutes": NumberGrid(0, 60, "minutes")}
    return {
        "number": (Survey(sv.number(0, 100, "minutes"), epsilon=1.0, title="How long?"), give_number),
        "choices": (Survey(sv.choices([*LABELS, "juice"], most=3), epsilon=1.0, title="Which of these?"), give_choices),
        "records": (Survey(sv.records(fields, tables=1), epsilon=1.0, title="You and drinks"), give_record),
        "words": (Survey(sv.words(16), epsilon=2.0, people=10_000, title="In a word?"), give_word),
    }


@pytest.mark.parametrize("kind", kinds())
def test_every_kind_of_question_is_answered(collector: Service, site: OtherSite, guest: Visitor, kind: str) -> None:
    survey, give = kinds()[kind]
    publish(collector, survey)
    tab = EmbeddedPage.visit(guest, site, lines(collector, survey), strict(collector))
    tab.button.click()
    expect(tab.page.get_by_role("alert")).to_be_visible()
    give(tab.page)
    tab.button.click()
    tab.arrives()
    [answered] = tab.heard("answered")
    assert (answered["survey"], answered["epsilon"]) == (survey.id, survey.epsilon)
    until(lambda: collector.status(survey)["n_reports"] == 1, "the report is counted")


def test_a_tracking_survey_is_answered_in_its_turn_and_only_then(
    collector: Service, site: OtherSite, visitors: Visitors
) -> None:
    starts = datetime.now(UTC).date()
    survey = sv.Tracking(Shares(LABELS), epsilon=1.0, every="week", starts=starts, periods=36, renews=2, title="Weekly")
    collector.publish(survey)
    states: set[str] = set()
    # Every browser draws its week of two by lot: fifty draws that are all alike are not to be seen.
    for _ in range(50):
        guest = visitors(site.url, relay=collector.url)
        tab = EmbeddedPage.visit(guest, site, lines(collector, survey), strict(collector))
        until(lambda tab=tab: tab.heard("ready"), "the survey is shown")  # type: ignore[misc]
        [ready] = tab.heard("ready")
        if ready["state"] in states:
            continue
        states.add(ready["state"])
        if ready["state"] == "asking":
            expect(tab.page.get_by_text("It is your turn")).to_be_visible()
            tab.answer("tea")
            assert tab.heard("answered")[0]["survey"] == survey.id
        else:
            expect(tab.page.get_by_role("heading", level=3)).to_contain_text("Your turn is")
            expect(tab.button).to_have_count(0)
            assert (tab.records(), guest.reports_sent()) == ([], [])
        if states == {"asking", "waiting"}:
            return
    pytest.fail(f"only {states} was seen")


def test_through_a_relay_the_collector_is_never_asked(
    collector: Service, site: OtherSite, visitors: Visitors, tmp_path: Path
) -> None:
    """With the script from the page's own site, nothing at all goes to the collector's address."""
    with relaying(tmp_path / "relay", collector.url) as relay:
        survey = relayed(2, "Through a relay", relay.url)
        collector.publish(survey)
        element = lines(collector, survey).partition("</script>\n")[2]
        site.serve_file("/element.js", load_files({})[ELEMENT].plain.body.decode(), "text/javascript")
        html = '<script type="module" src="/element.js"></script>' + element
        html = html.replace("<sottovoce-survey", f'<sottovoce-survey relay="{relay.url}"')
        for label in ("tea", "water"):
            guest = visitors(site.url, relay=relay.url)
            tab = EmbeddedPage.visit(guest, site, html)
            expect(tab.page.get_by_text("Your answer stays in this browser.")).to_contain_text("a relay, for")
            tab.page.get_by_text("What it means for you, and who asks").click()
            expect(tab.page.get_by_text("the collector has not seen your address")).to_be_visible()
            tab.choose(label)
            tab.button.click()
            expect(tab.page.get_by_role("heading", name="It is held at the relay.")).to_be_visible()
            assert [event["survey"] for event in tab.heard("answered")] == [survey.id]
        delivered(collector, survey, 2)


# --- for everybody ------------------------------------------------------------------------------


def test_the_keyboard_is_enough_and_nothing_takes_the_focus(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    html = '<button id="before">Buy</button>' + lines(collector, drinks(collector))
    tab = EmbeddedPage.visit(guest, site, html, strict(collector))
    tab.page.locator("#before").focus()
    expect(tab.button).to_be_visible()
    assert tab.page.evaluate("document.activeElement.id") == "before"
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Space")
    expect(tab.page.get_by_role("radio", name="tea")).to_be_checked()
    tab.page.keyboard.press("Enter")
    tab.arrives()
    focused = tab.page.evaluate("document.activeElement.shadowRoot.activeElement.textContent")
    assert focused == "It has arrived, and will be counted once."
    expect(tab.element.get_by_role("status")).to_have_text("It has arrived, and will be counted once.")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_light_or_a_dark_page(
    collector: Service, site: OtherSite, visitors: Visitors, scheme: str
) -> None:
    guest = visitors(site.url, relay=collector.url, color_scheme=scheme)
    site.serve_file("/dark.css", ":root { color-scheme: light dark; }", "text/css")
    sheet = '<link rel="stylesheet" href="/dark.css">'
    tab = EmbeddedPage.visit(guest, site, sheet + lines(collector, drinks(collector)))
    expect(tab.button).to_be_visible()
    for summary in tab.page.locator("sottovoce-survey summary").all():
        summary.click()
    assert faults(tab.page) == []
    tab.answer("tea")
    assert faults(tab.page) == []
    guest.expects("unknown_survey", "404")
    stopped = EmbeddedPage.visit(
        guest, site, sheet + lines(collector, drinks(collector)).replace('survey="', 'survey="x')
    )
    expect(stopped.page.get_by_text("For the author of this page")).to_be_visible()
    assert faults(stopped.page) == []


def test_the_language_is_that_of_the_surveys_own_words(collector: Service, site: OtherSite, guest: Visitor) -> None:
    html = lines(collector, drinks(collector)).replace("<sottovoce-survey", '<sottovoce-survey lang="it"')
    tab = EmbeddedPage.visit(guest, site, html)
    expect(tab.button).to_be_visible()
    spoken = "(found) => { for (; found; found = found.parentElement) if (found.lang) return found.lang; }"
    assert tab.page.get_by_role("heading", level=2).evaluate(spoken) == "it"
    assert tab.page.locator(".choice span").first.evaluate(spoken) == "it"
    assert tab.button.evaluate(spoken) == "en"


def test_no_style_leaks_in_or_out_and_documented_ones_reach_it(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    css = "h2, button, p { color: red !important; } main { color: rgb(1, 2, 3); font-family: monospace; }"
    blocks = re.findall(r"```css\n(.*?)```", DOCUMENT, re.DOTALL)
    assert len(blocks) == 1
    site.serve_file("/shop.css", css + blocks[0], "text/css")
    html = '<link rel="stylesheet" href="/shop.css"><h2 id="own">Ours</h2>' + lines(collector, drinks(collector))
    tab = EmbeddedPage.visit(guest, site, html)
    expect(tab.button).to_be_visible()
    style = "(found, name) => getComputedStyle(found)[name]"
    inside = tab.page.locator("sottovoce-survey h2")
    assert inside.evaluate(style, "color") == "rgb(1, 2, 3)"
    assert inside.evaluate(style, "fontFamily") == "monospace"
    assert inside.evaluate(style, "fontSize") == "28px"
    assert tab.button.evaluate(style, "backgroundColor") == "rgb(122, 31, 162)"
    assert tab.button.evaluate(style, "borderRadius") == "2px"
    assert tab.page.locator("#own").evaluate(style, "color") == "rgb(255, 0, 0)"
    assert tab.page.evaluate("document.adoptedStyleSheets.length + document.querySelectorAll('style').length") == 0


def test_what_is_typed_stays_inside(collector: Service, site: OtherSite, guest: Visitor) -> None:
    survey = Survey(sv.shares(range(100)), epsilon=1.0, title="How many?")
    collector.publish(survey)
    tab = EmbeddedPage.visit(guest, site, lines(collector, survey))
    tab.page.evaluate("""() => {
        globalThis.overheard = [];
        for (const name of ["beforeinput", "input", "change", "keydown", "keyup", "paste"]) {
            document.addEventListener(name, (event) => overheard.push(`${name} ${event.data} ${event.key}`));
        }
    }""")
    field = tab.page.get_by_label("Your answer")
    field.press_sequentially("73")
    tab.button.click()
    tab.arrives()
    assert tab.page.evaluate("overheard") == []
    assert "73" not in json.dumps(tab.page.evaluate("heard")).replace(survey.id, "")
    assert "73" not in tab.page.locator("sottovoce-survey .status").inner_text()


def test_which_option_was_clicked_stays_inside(collector: Service, site: OtherSite, guest: Visitor) -> None:
    tab = EmbeddedPage.visit(guest, site, lines(collector, drinks(collector)) + "<button>Buy</button>")
    tab.page.evaluate("""() => {
        globalThis.overheard = [];
        for (const name of ["click", "mousedown", "mouseup", "pointerdown", "pointerup", "focusin", "focusout"]) {
            document.addEventListener(name, (event) => overheard.push(`${name} ${event.composedPath()[0].outerHTML}`));
        }
    }""")
    tab.answer("tea")
    assert tab.page.evaluate("overheard") == []
    tab.page.get_by_role("button", name="Buy").click()
    assert "click <button>Buy</button>" in tab.page.evaluate("overheard"), "the page hears its own"


def test_no_event_of_the_element_reaches_a_listener_of_the_page(
    collector: Service, site: OtherSite, visitors: Visitors
) -> None:
    """Moves of a pointer or a finger lead to the option under it as clicks do."""
    guest = visitors(site.url, relay=collector.url, has_touch=True)
    tab = EmbeddedPage.visit(guest, site, lines(collector, drinks(collector)))
    tab.page.evaluate("""() => {
        globalThis.overheard = [];
        const names = ["beforeinput", "compositionstart", "focusin", "focusout", "touchmove", "touchcancel"];
        for (const name in HTMLElement.prototype) if (name.startsWith("on")) names.push(name.slice(2));
        for (const name of new Set(names)) {
            document.addEventListener(name, ({ type, target }) => {
                if (target.localName === "sottovoce-survey") overheard.push(type);
            });
        }
    }""")
    place = tab.page.get_by_role("radio", name="tea").bounding_box()
    assert place is not None
    at = {"x": place["x"] + 5, "y": place["y"] + 5}
    for step in range(10):
        tab.page.mouse.move(at["x"], at["y"] + 3 * step)
    tab.page.mouse.wheel(0, 5)
    fingers = tab.page.context.new_cdp_session(tab.page)
    for kind, points in (
        ("touchStart", [at]),
        ("touchMove", [{**at, "y": at["y"] + 20}]),
        ("touchEnd", []),
    ):
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    tab.answer("tea")
    assert tab.page.evaluate("[...new Set(overheard)]") == []


def test_the_shadow_tree_is_closed(collector: Service, site: OtherSite, visitors: Visitors) -> None:
    guest = visitors(site.url, relay=collector.url, closed=True)
    tab = EmbeddedPage.visit(guest, site, '<button id="before">Buy</button>' + lines(collector, drinks(collector)))
    until(lambda: tab.heard("ready"), "the survey is shown")
    tab.page.evaluate("""() => {
        globalThis.seen = [];
        const see = (event) => seen.push(event.composedPath()[0].localName);
        for (const name of ["click", "input", "change"]) addEventListener(name, see, { capture: true });
    }""")
    assert tab.page.evaluate("document.querySelector('sottovoce-survey').shadowRoot") is None
    tab.page.locator("#before").focus()
    for key in ("Tab", "Space", "Enter"):
        tab.page.keyboard.press(key)
    until(lambda: tab.heard("answered"), "it was answered by keyboard alone")
    assert set(tab.page.evaluate("seen")) == {"sottovoce-survey"}


def test_the_collector_is_not_told_which_page_it_is(collector: Service, site: OtherSite, guest: Visitor) -> None:
    html = f'<meta name="referrer" content="unsafe-url">{lines(collector, drinks(collector))}'
    tab = EmbeddedPage.visit(guest, site, html, path="/a/private/page")
    tab.answer("tea")
    told = {one.url: one.all_headers().get("referer") for one in guest.requests if one.url.startswith(collector.url)}
    assert any("/embed/" in url for url in told)
    assert any("/v1/surveys/" in url for url in told)
    assert set(told.values()) == {None}, told


def test_an_element_that_is_left_shows_nothing_to_a_person_who_goes_back(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    tab = EmbeddedPage.visit(guest, site, lines(collector, drinks(collector)))
    tab.choose("tea")
    tab.page.evaluate("() => dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
    expect(tab.page.get_by_role("radio")).to_have_count(0)
    tab.page.evaluate("() => dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    expect(tab.page.get_by_role("radio", name="tea")).not_to_be_checked()


def test_properties_change_what_is_asked(collector: Service, site: OtherSite, guest: Visitor) -> None:
    first, second = drinks(collector), drinks(collector)
    tab = EmbeddedPage.visit(guest, site, lines(collector, first))
    expect(tab.page.get_by_role("heading", level=2)).to_have_text(first.title)
    tab.page.evaluate("(id) => { document.querySelector('sottovoce-survey').survey = id; }", second.id)
    expect(tab.page.get_by_role("heading", level=2)).to_have_text(second.title)
    tab.page.evaluate("() => document.querySelector('sottovoce-survey').remove()")
    assert [event["survey"] for event in tab.heard("ready")] == [first.id, second.id]


# --- what goes wrong ----------------------------------------------------------------------------


def test_an_origin_that_is_not_allowed_is_told_how_to_be(service: Service, site: OtherSite, visitors: Visitors) -> None:
    survey = drinks(service)
    guest = visitors(site.url, relay=service.url)
    guest.expects("CORS policy", "ERR_FAILED", "origin_not_allowed")
    said: list[str] = []
    guest.context.on("console", lambda message: said.append(message.text))
    tab = EmbeddedPage.visit(guest, site, lines(service, survey))
    words = tab.stops("origin_not_allowed")
    wanted = (
        f"This page's origin is {site.url}; the operator of {service.url} must allow it: "
        f"`sottovoce serve --allow-origins {site.url}`"
    )
    assert words.startswith(wanted)
    assert [text for text in said if wanted in text] == [f"<sottovoce-survey> origin_not_allowed: {words}"]
    assert (tab.records(), guest.reports_sent()) == ([], [])


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_collector_that_is_not_there_is_told_from_one_that_refuses(
    collector: Service, site: OtherSite, visitors: Visitors
) -> None:
    nowhere = f"http://127.0.0.1:{unused_port()}"
    guest = visitors(site.url, relay=collector.url)
    guest.expects("ERR_CONNECTION_REFUSED", "unreachable")
    guest.context.route(f"{nowhere}/**", lambda route: route.abort("connectionrefused"))
    html = lines(collector, drinks(collector)).replace(f'collector="{collector.url}"', f'collector="{nowhere}"')
    tab = EmbeddedPage.visit(guest, site, html)
    assert f"the collector at {nowhere} cannot be reached" in tab.stops("unreachable")
    expect(tab.page.get_by_role("button", name="Try now")).to_be_visible()
    guest._foreign.clear()  # asked in vain, as it must


def test_a_policy_of_the_page_that_forbids_the_collector_is_named(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    guest.expects("policy", "Policy")
    policy = strict(collector).replace(f"connect-src {collector.url}", "connect-src 'self'")
    tab = EmbeddedPage.visit(guest, site, lines(collector, drinks(collector)), policy)
    assert f"add {collector.url} to its connect-src" in tab.stops("forbidden_by_policy")


def test_another_site_in_the_collectors_place(collector: Service, site: OtherSite, guest: Visitor) -> None:
    guest.expects("404", "not_a_collector")
    html = lines(collector, drinks(collector)).replace(f'collector="{collector.url}"', f'collector="{site.url}"')
    tab = EmbeddedPage.visit(guest, site, html)
    assert "check the collector attribute" in tab.stops("not_a_collector")


def test_a_survey_that_nobody_knows_is_closed_or_asks_for_too_much(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    guest.expects("404", "unknown_survey", "survey_sealed", "above_cap")
    closed, greedy = drinks(collector), drinks(collector, 5.0)
    known = lines(collector, closed)
    unknown = EmbeddedPage.visit(guest, site, known.replace(closed.id, "0" * 64))
    assert "`sottovoce survey list` lists all" in unknown.stops("unknown_survey")
    expect(unknown.page.get_by_role("heading", name="This survey does not exist here")).to_be_visible()
    assert collector.ask("POST", f"/v1/surveys/{closed.id}/seal").status == 200
    sealed = EmbeddedPage.visit(guest, site, known)
    assert "publish another" in sealed.stops("survey_sealed", refused=True)
    expect(sealed.page.get_by_role("heading", name="This survey is closed")).to_be_visible()
    above = EmbeddedPage.visit(guest, site, lines(collector, greedy))
    assert "asks for epsilon 5, and browsers give one survey at most 2" in above.stops("above_cap", refused=True)
    expect(above.page.get_by_text("asks for epsilon 5; this page answers up to 2")).to_be_visible()
    assert guest.reports_sent() == []


def test_a_title_that_two_surveys_have_names_both(collector: Service, site: OtherSite, guest: Visitor) -> None:
    guest.expects("ambiguous_title")
    title = f"Twice {secrets.token_hex(4)}"
    one, two = drinks(collector, 1.0, title), drinks(collector, 0.5, title)
    tab = EmbeddedPage.visit(guest, site, lines(collector, one).replace(one.id, title))
    words = tab.stops("ambiguous_title")
    assert one.id in words
    assert two.id in words


def test_another_key_is_refused(collector: Service, site: OtherSite, guest: Visitor, service: Service) -> None:
    guest.expects("not_as_signed", "bad_key")
    html = lines(collector, drinks(collector))
    keys = [one.ask("GET", "/v1/key").json["key"] for one in (collector, service)]
    tab = EmbeddedPage.visit(guest, site, html.replace(*keys))
    assert "trusts only" in tab.stops("not_as_signed", refused=True)
    broken = EmbeddedPage.visit(guest, site, html.replace(keys[0], "tea"))
    assert "must be the collector's public key" in broken.stops("bad_key")


def test_a_survey_that_is_not_in_the_collectors_log_is_refused(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    guest.expects("404", "not_in_log")
    error = {"code": "not_in_log", "message": "no", "field": None}
    headers = {"Access-Control-Allow-Origin": site.url}
    guest.context.route("**/v1/log/**", lambda route: route.fulfill(status=404, json={"error": error}, headers=headers))
    tab = EmbeddedPage.visit(guest, site, lines(collector, drinks(collector)))
    tab.choose("tea")
    tab.button.click()
    assert "sottovoce log check" in tab.stops("not_in_log", refused=True)
    assert (tab.records(), guest.reports_sent()) == ([], [])


def test_a_panel_is_answered_on_its_own_page(collector: Service, site: OtherSite, guest: Visitor) -> None:
    guest.expects("panel")
    panel = sv.Panel({"smokes": ["no", "yes"]}, rounds=2, epsilon=1.0, title="A conversation")
    assert collector.ask("POST", "/v1/surveys", json={"statement": panel.to_json()}).status == 201
    tab = EmbeddedPage.visit(guest, site, lines(collector, panel))
    tab.stops("panel")
    link = tab.page.get_by_role("link", name="Open the survey’s own page")
    assert link.get_attribute("href") == f"{collector.url}/s/{panel.id}"


def test_a_script_of_which_one_byte_was_changed_does_not_run(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    def changed(route: Route) -> None:
        response = route.fetch()
        body = response.body()
        route.fulfill(response=response, body=body[:-1] + bytes([body[-1] ^ 1]))

    html = lines(collector, drinks(collector))
    EmbeddedPage.visit(guest, site, html)
    honest = EmbeddedPage(guest.open("/"))
    expect(honest.button).to_be_visible()
    stranger = guest.context.browser
    assert isinstance(stranger, Browser)
    other = Visitor(stranger, site.url, relay=collector.url)
    other.expects("Failed to find a valid digest in the 'integrity' attribute")
    other.context.route("**/embed/*.js", changed)
    with other.context.expect_event("console", lambda message: "integrity" in message.text):
        tab = EmbeddedPage(other.open("/"))
    assert tab.page.evaluate("customElements.get('sottovoce-survey') === undefined")
    expect(tab.button).to_have_count(0)
    other.context.close()
    assert other.troubles() == []


# --- where the lines come from ------------------------------------------------------------------


def test_the_dashboard_shows_the_same_lines(visitor: Visitor, service: Service) -> None:
    survey = drinks(service)
    page = signed_in(visitor, service, f"/survey/{survey.id}")
    page.get_by_text("Embed it in another page").click()
    field = page.get_by_label("Put these lines where the question shall stand:")
    expect(field).to_have_value(lines(service, survey).strip())
    expect(page.get_by_text("No other page may ask this collector yet")).to_be_visible()
    assert faults(page) == []


def test_the_page_of_the_documentation_leads_to_an_embedded_question(
    visitors: Visitors, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its commands, typed as they stand there, on other ports."""
    port = unused_port()
    [typed] = re.findall(r"```console\n(.*?)```", DOCUMENT, re.DOTALL)
    serve, export, create, folder, embed, host = (
        line.removeprefix("$ ").replace("127.0.0.1:8000", f"127.0.0.1:{port}").replace(" 8000 ", f" {port} ")
        for line in typed.splitlines()
    )
    assert shlex.split(serve)[:2] == ["sottovoce", "serve"]
    with running(tmp_path / "data", *shlex.split(serve)[2:]) as service:
        assert export == "export SOTTOVOCE_URL=http://127.0.0.1:8470 SOTTOVOCE_TOKEN=sv_..."
        monkeypatch.setenv("SOTTOVOCE_URL", service.url)
        monkeypatch.setenv("SOTTOVOCE_TOKEN", service.token)
        run = run_here(capsys)
        assert run(*shlex.split(create)[1:]).status == 0
        assert folder == "mkdir site"
        site = tmp_path / "site"
        site.mkdir()
        monkeypatch.chdir(tmp_path)
        printed = run(*shlex.split(embed)[1:])
        assert (printed.status, printed.err) == (0, "")
        [file] = (path.name for path in site.iterdir())
        assert f"/{file}>" in DOCUMENT
        words = shlex.split(host)
        assert words[0] == "python"
        with subprocess.Popen(
            [sys.executable, *words[1:]], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                until(lambda: reachable(port), "the page is served")
                guest = visitors(f"http://127.0.0.1:{port}", relay=service.url)
                guest.expects("favicon")
                tab = EmbeddedPage(guest.open(f"/{file}"))
                tab.answer("tea")
            finally:
                server.terminate()
        [survey] = service.ask("GET", "/v1/surveys").json["surveys"]
        answer = service.ask("GET", f"/v1/surveys/{survey['id']}/status").json
        assert answer["n_reports"] + answer["waiting"] == 1


def reachable(port: int) -> bool:
    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def test_the_lines_the_policy_and_the_listeners_of_the_documentation_work_together(
    collector: Service, site: OtherSite, guest: Visitor
) -> None:
    survey = drinks(collector)
    [shown] = re.findall(r"```html\n(.*?)```", DOCUMENT, re.DOTALL)
    [script] = re.findall(r"```js\n(.*?)```", DOCUMENT, re.DOTALL)
    [policy] = re.findall(r"```text\nContent-Security-Policy: (.*?)\n```", DOCUMENT, re.DOTALL)
    printed = lines(collector, survey)
    values = re.compile(r'(src|integrity|survey|key|collector)="[^"]*"')
    assert values.sub(r'\1=""', shown) == values.sub(r'\1=""', printed), "the page shows what the command prints"
    site.serve_file("/page.js", script, "text/javascript")
    site.serve(
        printed,
        policy.replace("https://stats.example.org", collector.url) + "; img-src data:",
        head='<script src="/page.js"></script>',
    )
    said: list[str] = []
    guest.context.on("console", lambda message: said.append(message.text))
    tab = EmbeddedPage(guest.open("/"))
    tab.answer("tea")
    until(lambda: len(said) == 2, "both events were heard")
    assert said == [
        f"asking {survey.title} at epsilon 1: asking",
        f"57 bytes left for {survey.id[:12]}, charged 1",
    ]


def test_every_code_is_in_the_documentation() -> None:
    folder = ROOT / "clients" / "pages" / "src" / "element"
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.ts")))
    made = re.findall(r'mistake\(\s*"(\w+)"|return \["(\w+)", (?:true|false)|code: "(\w+)"|PANEL = "(\w+)"', sources)
    codes = {code for found in made for code in found if code} | {"report_refused", "unsent"}
    assert codes >= {"origin_not_allowed", "above_cap", "panel", "insecure"}
    table = DOCUMENT.partition("| code | what to do |")[2].partition("\n\n")[0]
    assert codes == set(re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:])))
