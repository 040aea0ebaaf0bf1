"""A tracking survey on the survey page: before its turn, in it, after it, and for those who want no further ones.

The browser's clock and the collector's are moved together; the collector opens periods by its database's clock, so what
is posted to a period is answered in its place.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect

import sottovoce as sv
from browser.accessibility import faults
from browser.survey_page import SurveyPage
from browser.visitor import Visitor
from collector.service import Service
from sottovoce.device.turns import derive_seat
from sottovoce.questions import Shares
from sottovoce.surveys.calendar import Period
from sottovoce.surveys.survey import Tracking

pytestmark = pytest.mark.slow

STARTS = date.today() + timedelta(days=7)

_SECRET = """
async () => {
  const ended = (request) => new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const database = await ended(indexedDB.open("sottovoce"));
  const secret = await ended(database.transaction("secrets").objectStore("secrets").get("seats"));
  database.close();
  return [...secret];
}
"""


@dataclass
class Time:
    """What time it is for the browser and for the collector."""

    visitor: Visitor
    ahead: timedelta = timedelta(0)
    """How far the collector's clock is ahead."""

    def __post_init__(self) -> None:
        self.now = datetime.now(UTC)
        self.visitor.context.route("**/v1/time", self._tell)
        self.visitor.context.route(re.compile("/v1/surveys/[0-9a-f]{64}/reports$"), self._take)

    def go(self, tab: SurveyPage, moment: datetime) -> None:
        """Reload the page at another time."""
        self.now = moment
        tab.page.clock.set_fixed_time(moment)
        tab.page.reload()

    def _tell(self, route: Route) -> None:
        route.fulfill(json={"now": f"{self.now + self.ahead:%Y-%m-%dT%H:%M:%SZ}"})

    def _take(self, route: Route) -> None:
        route.fulfill(json={"accepted": 1, "refused": []})


@pytest.fixture
def time(visitor: Visitor) -> Time:
    return Time(visitor)


def publish(service: Service, **calendar: object) -> Tracking:
    title = f"Did you sleep well? {secrets.token_hex(4)}"
    stated = {"every": "week", "starts": STARTS, "periods": 12, "renews": 4} | calendar
    survey = sv.Tracking(Shares(["yes", "no"]), epsilon=1.0, title=title, **stated)
    service.publish(survey)
    return survey


def own(tab: SurveyPage, survey: Tracking, window: int = 1) -> Period:
    """The browser's own period, from its secret by the Python library."""
    secret = bytes(tab.page.evaluate(_SECRET))
    seat = derive_seat(secret, survey.id, window, survey.seats)
    return Period(survey.calendar, survey.calendar.first_of(window) + seat - 1)


def test_a_turn_from_its_announcement_to_the_next(service: Service, visitor: Visitor, time: Time) -> None:
    survey = publish(service)
    tab = SurveyPage.visit(visitor, survey)
    coming = tab.page.get_by_role("heading", name=re.compile(r"^Your turn is the week of .* Come back then\.$"))
    expect(coming).to_be_visible()
    expect(
        tab.page.get_by_text("epsilon 1 in each window of 4 weeks, epsilon 2 for any 4 weeks, and epsilon 3")
    ).to_be_visible()
    expect(tab.page.get_by_text("Two surveys that track the same thing are each charged")).to_be_visible()
    expect(tab.draw_button).to_have_count(0)
    assert faults(tab.page) == []
    mine = own(tab, survey)
    expect(coming).to_contain_text(mine.label)

    time.go(tab, mine.start + timedelta(days=1))
    expect(tab.page.get_by_text(f"It is your turn, about the {mine.label}.")).to_be_visible()
    assert faults(tab.page) == []
    tab.answer("yes")
    expect(tab.page.get_by_text(f"About the {mine.label}.")).to_be_visible()
    later = own(tab, survey, 2)
    expect(tab.page.get_by_text(f"Your next turn is the {later.label}.")).to_be_visible()
    assert faults(tab.page) == []
    [record] = tab.records()
    [request] = visitor.asked("POST", r"/v1/surveys/[0-9a-f]{64}/reports")
    assert request.url.split("/")[-2] == survey.period(mine.number).id
    assert bytes(record["report"])[:4] == survey.period(mine.number).tag

    time.go(tab, later.start)
    tab.answer("no")
    assert len(tab.records()) == 2


def test_an_answer_about_a_turn_that_has_passed_is_not_given_in_the_next(
    service: Service, visitor: Visitor, time: Time
) -> None:
    """The page was left open from one turn to the next: the question is asked anew."""
    survey = publish(service, grace=0)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_role("heading", name=re.compile("^Your turn is"))).to_be_visible()
    mine, later = own(tab, survey), own(tab, survey, 2)
    time.go(tab, mine.start)
    expect(tab.page.get_by_text(f"It is your turn, about the {mine.label}.")).to_be_visible()
    time.now = later.start
    tab.page.clock.set_fixed_time(later.start)
    tab.choose("yes")
    tab.draw_button.click()
    expect(tab.page.get_by_text(f"It is your turn, about the {later.label}.")).to_be_visible()
    assert tab.records() == []
    tab.answer("no")
    [record] = tab.records()
    assert bytes(record["report"])[:4] == survey.period(later.number).tag


def test_a_report_is_sent_while_the_next_turn_is_due(service: Service, visitor: Visitor, time: Time) -> None:
    """Days of grace in which two turns can be answered: one after the other, and both arrive."""
    for _ in range(40):  # six of ten surveys have such a moment
        survey = publish(service, grace=28)
        tab = SurveyPage.visit(visitor, survey)
        expect(tab.page.get_by_role("heading", name=re.compile("^Your turn is"))).to_be_visible()
        if own(tab, survey, 2).start < own(tab, survey).closes:
            break
    for turn in (own(tab, survey), own(tab, survey, 2)):
        time.go(tab, own(tab, survey, 2).start)
        expect(tab.page.get_by_text(f"It is your turn, about the {turn.label}.")).to_be_visible()
        tab.answer("yes")
        posted = visitor.asked("POST", r"/v1/surveys/[0-9a-f]{64}/reports")
        assert posted[-1].url.split("/")[-2] == survey.period(turn.number).id
    assert [record["state"] for record in tab.records()] == ["sent", "sent"]


def test_a_calendar_file_holds_the_turn_and_nothing_private(service: Service, visitor: Visitor, time: Time) -> None:
    survey = publish(service, periods=4, renews=None)
    tab = SurveyPage.visit(visitor, survey)
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="Save it in your calendar").click()
    assert download.value.suggested_filename.endswith(".ics")
    lines = Path(download.value.path()).read_bytes().decode().split("\r\n")
    assert all(len(line.encode()) <= 75 for line in lines)
    text = "\n".join(lines).replace("\n ", "")
    mine = own(tab, survey)
    told = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    assert (told["BEGIN"], told["DTSTART;VALUE=DATE"], told["DTEND;VALUE=DATE"]) == (
        "VEVENT",
        f"{mine.start:%Y%m%d}",
        f"{mine.end:%Y%m%d}",
    )
    assert told["URL"] == f"{service.url}/s/{survey.id}"
    secret = bytes(tab.page.evaluate(_SECRET)).hex()
    assert secret not in text


def test_a_turn_that_has_passed_stays_empty(service: Service, visitor: Visitor, time: Time) -> None:
    survey = publish(service, periods=4, renews=None)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_text("epsilon 1 for all 4 weeks together")).to_be_visible()
    expect(tab.page.get_by_role("checkbox")).to_have_count(0)
    mine = own(tab, survey)
    time.go(tab, mine.closes)
    expect(tab.page.get_by_role("heading", name="Your week has passed; your seat stays empty.")).to_be_visible()
    expect(tab.draw_button).to_have_count(0)
    assert faults(tab.page) == []
    assert tab.records() == []


def test_further_turns_can_be_refused_and_allowed_again(service: Service, visitor: Visitor, time: Time) -> None:
    survey = publish(service)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_text("The turn after it is")).to_be_visible()
    time.go(tab, own(tab, survey).start)
    expect(tab.page.get_by_role("checkbox", name=re.compile("Refuse further turns"))).to_be_visible()
    tab.answer("yes")
    refuse = tab.page.get_by_role("checkbox", name=re.compile("Refuse further turns"))
    refuse.check()
    expect(tab.page.get_by_text("No further turn of yours follows.")).to_be_visible()
    expect(refuse).to_be_focused()
    time.go(tab, own(tab, survey, 2).start)
    expect(tab.page.get_by_role("heading", name="You have refused further turns.")).to_be_visible()
    expect(refuse).to_be_checked()
    assert faults(tab.page) == []
    refuse.uncheck()
    expect(tab.draw_button).to_be_visible()


def test_a_wrong_clock_is_refused_and_told(service: Service, visitor: Visitor, time: Time) -> None:
    survey = publish(service)
    time.ahead = timedelta(days=800)
    tab = SurveyPage.visit(visitor, survey)
    tab.stops("This device’s clock is wrong")
    expect(tab.page.get_by_role("main")).to_contain_text("Set date, time and time zone")
    assert faults(tab.page) == []


def test_the_page_knows_the_collectors_answer_about_time(service: Service, visitor: Visitor) -> None:
    survey = publish(service)
    tab = SurveyPage.visit(visitor, survey)
    expect(tab.page.get_by_role("heading", name=re.compile("^Your turn is"))).to_be_visible()
    [answer] = [response for response in visitor.responses if response.url.endswith("/v1/time")]
    assert answer.status == 200
    # Asked again: a browser does not keep the body of every answer.
    told = tab.page.evaluate("fetch('/v1/time').then((answer) => answer.json())")
    assert abs(datetime.fromisoformat(told["now"]) - datetime.now(UTC)) < timedelta(hours=1)
