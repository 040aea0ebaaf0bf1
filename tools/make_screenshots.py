"""Makes the pictures of the pages in docs/images/pages, from a collector filled with made-up people.

Run it after the pages have changed, and look at what it made: ``python tools/make_screenshots.py [folder]``.
"""

from __future__ import annotations

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import sottovoce as sv

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from PIL import Image  # noqa: E402
from playwright.sync_api import Browser, Page, expect, sync_playwright  # noqa: E402

from browser import setting  # noqa: E402
from browser.dashboard import publish, send, signed_in  # noqa: E402
from browser.embedded import lines  # noqa: E402
from browser.other_site import OtherSite, other_site  # noqa: E402
from browser.survey_page import SurveyPage  # noqa: E402
from browser.visitor import Visitor  # noqa: E402
from collector.service import Service, running  # noqa: E402
from relay.service import relaying  # noqa: E402
from sottovoce.domain.number import NumberGrid  # noqa: E402
from sottovoce.surveys.relay import Relay  # noqa: E402
from sottovoce.surveys.survey import Survey  # noqa: E402
from sottovoce.workloads import parse_workload  # noqa: E402

PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 1.5, "has_touch": True}
DESK: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "device_scale_factor": 1}

FEATURES = [
    "search", "bookmarks", "dark mode", "offline reading", "comments", "newsletters", "podcasts", "puzzles", "maps",
    "alerts", "sharing", "text to speech",
]  # fmt: skip
COUNTRIES = ["Austria", "France", "Italy", "Poland", "Spain", "Sweden"]
COMMUTE = ["bicycle", "on foot", "bus", "tram", "train", "car", "works at home", "none of these"]
SYMPTOMS = {
    "flu": 0.24,
    "cough": 0.2,
    "headache": 0.17,
    "כאב": 0.11,
    "😷": 0.1,
    "fever": 0.08,
    "rash": 0.04,
    "tired": 0.03,
}
SHARES = [0.21, 0.09, 0.17, 0.12, 0.14, 0.19, 0.06, 0.02]
SCROLL = "(found) => { found.scrollIntoView(); scrollBy(0, -24); }"

expect.set_options(timeout=60_000)

SHOP = """
:root { color-scheme: light dark; font: 17px/1.5 Georgia, serif; --sottovoce-accent: light-dark(#2f5d3a, #9ad0a8); }
body { margin: 0; background: light-dark(#f6f3ea, #1b1e1a); color: light-dark(#2b2a26, #e6e2d6); }
main { max-width: 44rem; margin: 0 auto; padding: 1.5rem; }
sottovoce-survey { border: 1px solid currentColor; border-radius: 12px; padding: 1.25rem 1.5rem; margin-block: 1.5rem; }
"""
"""The style of a shop that embeds a question."""

SEED = 20
PORT, RELAY_PORT = "8470", "8471"
"""Seen on the pictures."""
RELAY = f"http://127.0.0.1:{RELAY_PORT}"


@dataclass(frozen=True)
class Filled:
    """The surveys that are looked at."""

    commute: Survey
    sleep: Survey
    tables: Survey
    talk: Any
    unanswered: Survey
    minutes: Survey
    spread: Survey
    travel: Survey
    form: Survey


def fill(service: Service) -> Filled:
    """Publish them, and let people answer."""
    people = np.random.default_rng(SEED)
    commute = Survey(sv.shares(COMMUTE), epsilon=1.0, title="How do you get to work?")
    publish(service, commute)
    many(service, commute, [COMMUTE[i] for i in people.choice(8, 12_000, p=SHARES)])
    sleep = Survey(
        sv.queries(parse_workload("prefix:24")),
        epsilon=1.0,
        strategy="histogram",
        title="How many hours did you sleep?",
    )
    publish(service, sleep)
    many(service, sleep, np.clip(np.rint(people.normal(7, 1.4, 12_000)), 0, 23).astype(int).tolist())
    workload = parse_workload("marginals:age=6,children=4,rooms=5:2")
    tables = Survey(sv.queries(workload), epsilon=2.0, strategy="histogram", title="Age, children and rooms")
    publish(service, tables)
    ages = people.integers(0, 6, 12_000)
    children = np.clip(people.poisson(0.4 * ages), 0, 3)
    rooms = np.clip(children + people.integers(0, 3, 12_000), 0, 4)
    many(service, tables, [tuple(map(int, row)) for row in zip(ages, children, rooms, strict=True)])
    unanswered = Survey(sv.shares(["tea", "coffee", "water", "none of these"]), epsilon=1.0, title="What do you drink?")
    publish(service, unanswered, minimum_reports=100)
    many(service, unanswered, ["tea"] * 64)
    return Filled(commute, sleep, tables, talk(service, people), unanswered, *questions(service, people))


def questions(service: Service, people: np.random.Generator) -> list[Survey]:
    """A number's mean and its distribution, several choices, and a form, each answered by invented people."""
    weekly = "How many minutes did you read last week?"
    fields = {
        "country": COUNTRIES,
        "plan": ["free", "plus", "pro"],
        "age": range(18, 90),
        "minutes": NumberGrid(0, 600, "minutes"),
    }
    surveys = [
        Survey(sv.number(0, 600, "minutes"), epsilon=1.0, title=weekly),
        Survey(
            sv.number(0, 600, "minutes", wants="distribution", points=24),
            epsilon=2.0,
            title=f"{weekly} The distribution",
        ),
        Survey(sv.choices(FEATURES, most=5), epsilon=1.0, title="Which of these do you use? Tick up to five"),
        Survey(sv.records(fields, tables=2), epsilon=2.0, title="You and the app"),
    ]
    for survey in surveys:
        publish(service, survey)
        population = survey.question.invented_people()
        assert population is not None
        many(service, survey, population.values(12_000, people))
    return surveys


def talk(service: Service, people: np.random.Generator) -> Any:
    """Two questions answered, a third one open."""
    domain = {"age": range(18, 100), "smokes": ["no", "yes"], "exercise": range(8)}
    survey = sv.Panel(domain, rounds=12, epsilon=1.0, title="Health, one question after another")
    said = {"statement": survey.to_json(), "minimum_reports": 500}
    assert service.ask("POST", "/v1/surveys", json=said).status == 201
    for number, (query, n) in enumerate((("age < 30", 3000), ('smokes == "yes"', 3000), ("exercise >= 3", 1200)), 1):
        draft = service.ask("POST", f"/v1/surveys/{survey.id}/questions", json={"query": query}).json
        said = {"statement": draft["statement"], "labels": draft["labels"]}
        assert service.ask("POST", f"/v1/surveys/{survey.id}/rounds", json=said).status == 201
        asked = Survey.from_json(draft["statement"])
        rows = zip(people.integers(18, 85, n), people.random(n) < 0.22, people.integers(0, 8, n), strict=True)
        many(service, asked, [(int(age), "yes" if smokes else "no", int(days)) for age, smokes, days in rows])
        if number < 3:
            assert service.ask("POST", f"/v1/surveys/{asked.id}/seal").status == 200
    return survey


def many(service: Service, survey: Any, values: list[Any]) -> None:
    for start in range(0, len(values), 4000):
        send(service, survey, values[start : start + 4000])


@dataclass(frozen=True)
class Studio:
    """A browser before a collector, and where the pictures go."""

    browser: Browser
    service: Service
    folder: Path
    shop: OtherSite

    def take(self, name: str, screen: dict[str, Any], scheme: str, pose: Callable[[Visitor], Page]) -> None:
        """One picture: `pose` opens the page and brings it to where it is worth looking at."""
        self._keep(
            name, screen, scheme, pose, Visitor(self.browser, self.service.url, RELAY, color_scheme=scheme, **screen)
        )

    def take_shop(self, name: str, scheme: str, pose: Callable[[Visitor], Page], *expected: str) -> None:
        """One picture of the page that embeds a question."""
        visitor = Visitor(self.browser, self.shop.url, self.service.url, color_scheme=scheme, **DESK)
        visitor.expects(*expected)
        self._keep(name, DESK, scheme, pose, visitor)

    def _keep(
        self, name: str, screen: dict[str, Any], scheme: str, pose: Callable[[Visitor], Page], visitor: Visitor
    ) -> None:
        page = pose(visitor)
        page.wait_for_timeout(1500)
        shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
        size = "phone" if screen is PHONE else "desk"
        path = self.folder / f"{name}_{size}_{scheme}.png"
        shot.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)
        visitor.context.close()
        assert visitor.troubles() == [], visitor.troubles()
        sys.stdout.write(f"{path.name}  {path.stat().st_size // 1000} kB\n")

    def at(self, path: str, ready: str, scroll_to: str = "") -> Callable[[Visitor], Page]:
        """A page of the dashboard, once a text is there."""

        def pose(visitor: Visitor) -> Page:
            page = signed_in(visitor, self.service, path)
            expect(page.get_by_text(ready).first).to_be_visible()
            if scroll_to:
                page.get_by_role("heading", name=scroll_to).first.evaluate(SCROLL)
            return page

        return pose


@contextmanager
def studio(folder: Path) -> Iterator[Studio]:
    with (
        tempfile.TemporaryDirectory() as data,
        other_site() as shop,
        running(Path(data) / "data", "--port", PORT, "--allow-origins", shop.url, **setting.pages()) as service,
        relaying(Path(data) / "relay", service.url, "--port", RELAY_PORT),
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=setting.browser(), args=list(setting.FLAGS))
        yield Studio(browser, service, folder, shop)
        browser.close()


def question(survey: Survey) -> Callable[[Visitor], Page]:
    def pose(visitor: Visitor) -> Page:
        tab = SurveyPage.visit(visitor, survey)
        tab.choose("coffee")
        return tab.page

    return pose


def filled_in(
    survey: Survey, give: Callable[[Page], object], scroll_to: str | None = None
) -> Callable[[Visitor], Page]:
    """A question with somebody's answer; where a heading to scroll to is given, or "", the report drawn from it."""

    def pose(visitor: Visitor) -> Page:
        tab = SurveyPage.visit(visitor, survey)
        give(tab.page)
        tab.page.evaluate("() => scrollTo(0, 0)")
        if scroll_to is not None:
            tab.draw_button.click()
            expect(tab.send_button).to_be_visible()
        if scroll_to:
            tab.page.get_by_role("heading", name=scroll_to).evaluate(SCROLL)
        return tab.page

    return pose


def give_number(page: Page) -> None:
    page.get_by_label("Your answer").fill("85")


def give_choices(page: Page) -> None:
    for name in ("search", "offline reading", "podcasts", "maps", "sharing"):
        page.get_by_role("checkbox", name=name).check()


def give_form(page: Page) -> None:
    page.get_by_label("country").select_option("Italy")
    page.get_by_label("plan").select_option("plus")
    page.get_by_label("age").fill("47")
    page.get_by_label("minutes").fill("85")


def report(survey: Survey, scroll_to: str = "") -> Callable[[Visitor], Page]:
    def pose(visitor: Visitor) -> Page:
        tab = SurveyPage.visit(visitor, survey)
        tab.draw("coffee")
        if scroll_to:
            tab.page.get_by_role("heading", name=scroll_to).evaluate(SCROLL)
        return tab.page

    return pose


def relayed(made: Studio) -> None:
    """A survey whose reports go through a relay: for people, and in the form that makes it."""
    survey = Survey(
        sv.shares(["tea", "coffee", "water"]), epsilon=1.0, title="What do you drink?", relay=Relay(RELAY, least=10_000)
    )
    publish(made.service, survey)

    def asked(visitor: Visitor) -> Page:
        tab = SurveyPage.visit(visitor, survey)
        tab.choose("coffee")
        tab.page.get_by_role("heading", name="What it means for you").evaluate(SCROLL)
        return tab.page

    def held(visitor: Visitor) -> Page:
        tab = SurveyPage.visit(visitor, survey)
        tab.draw("coffee")
        tab.send_button.click()
        expect(tab.page.get_by_text("held at the relay").first).to_be_visible()
        return tab.page

    def checked(visitor: Visitor) -> Page:
        address = "/new?kind=shares&title=Drinks&epsilon=1&labels=tea%0Acoffee%0Awater&relays=yes"
        path = f"{address}&relay.url=https://relay.example.org&relay.least=10000"
        page = signed_in(visitor, made.service, path)
        page.get_by_role("button", name="Check", exact=True).click()
        expect(page.locator(".checked .guarantees")).to_be_visible()
        page.get_by_text("Reports are").evaluate(SCROLL)
        return page

    made.take("relay_question", DESK, "light", asked)
    made.take("relay_report", PHONE, "dark", held)
    made.take("relay_create", DESK, "light", checked)


def embedded(made: Studio, survey: Survey) -> None:
    """A question in a shop's page, its receipt, a page that the collector does not know, and where the lines are."""
    sheet = '<link rel="stylesheet" href="/shop.css"><p>Thank you for your order. One question, if you like:</p>'
    made.shop.serve_file("/shop.css", SHOP, "text/css")
    made.shop.serve(sheet + lines(made.service, survey))

    def asked(visitor: Visitor) -> Page:
        page = visitor.open("/")
        page.get_by_role("radio", name="coffee").check()
        return page

    def answered(visitor: Visitor) -> Page:
        page = asked(visitor)
        page.get_by_role("button", name="Randomize and send").click()
        expect(page.get_by_role("heading", name="It has arrived")).to_be_visible()
        return page

    def refused(visitor: Visitor) -> Page:
        # Another name of the same machine is another origin.
        visitor.origin = visitor.origin.replace("127.0.0.1", "localhost")
        page = visitor.open("/")
        expect(page.get_by_text("For whoever made this page")).to_be_visible()
        return page

    def shown(visitor: Visitor) -> Page:
        page = signed_in(visitor, made.service, f"/survey/{survey.id}")
        page.get_by_text("Embed it in another page").click()
        expect(page.locator("#embed-lines")).to_be_visible()
        return page

    made.take_shop("embedded_question", "light", asked)
    made.take_shop("embedded_question", "dark", asked)
    made.take_shop("embedded_report", "light", answered)
    made.take_shop("embedded_refused", "light", refused, "CORS policy", "ERR_FAILED", "origin_not_allowed")
    made.take("embed", DESK, "light", shown)


def words(made: Studio) -> None:
    """Words that nobody listed: written, found, and planned for."""
    survey = Survey(sv.words(16), epsilon=2.0, people=24_000, title="What ails you? In a word")
    publish(made.service, survey)
    people = np.random.default_rng(SEED)
    rare = [f"ailment {place}" for place in range(300)]
    said = [*SYMPTOMS, *rare]
    shares = np.array([*SYMPTOMS.values(), *np.full(300, (1 - sum(SYMPTOMS.values())) / 300)])
    many(made.service, survey, [said[place] for place in people.choice(len(said), 24_000, p=shares)])

    def give(page: Page) -> None:
        page.get_by_label("Your answer").fill(" Sore  Throat")

    def looked_up(visitor: Visitor) -> Page:
        page = made.at(f"/survey/{survey.id}", "From 24,000 reports.")(visitor)
        page.get_by_label("What share of people has this word?").fill("Tired")
        page.get_by_role("button", name="Look it up").click()
        expect(page.locator(".asked strong")).to_be_visible()
        page.get_by_role("heading", name="Any one word").evaluate(SCROLL)
        return page

    made.take("words_question", PHONE, "light", filled_in(survey, give))
    made.take("words_report", DESK, "dark", filled_in(survey, give, ""))
    made.take("words", DESK, "light", made.at(f"/survey/{survey.id}", "From 24,000 reports."))
    made.take("words", PHONE, "dark", made.at(f"/survey/{survey.id}", "From 24,000 reports.", "Estimate"))
    made.take("words_asked", DESK, "light", looked_up)
    plan = "/plan?kind=words&alphabet=latin&people=1000000&epsilon=2"
    made.take("planner_words", DESK, "light", made.at(plan, "Which words are found", "Which words are found"))
    made.take("create_words", DESK, "light", made.at("/new?kind=words", "What do you want to know?"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "docs" / "images" / "pages")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    with studio(folder) as made:
        there = fill(made.service)
        made.take("survey_question", PHONE, "light", question(there.unanswered))
        made.take("survey_question", DESK, "dark", question(there.unanswered))
        made.take("survey_report", PHONE, "light", report(there.unanswered))
        made.take("survey_report", DESK, "light", report(there.unanswered))
        made.take("survey_likelihood", PHONE, "dark", report(there.unanswered, "How little that tells"))
        for name, survey, give in (
            ("number", there.minutes, give_number),
            ("choices", there.travel, give_choices),
            ("form", there.form, give_form),
        ):
            for screen, scheme in ((PHONE, "light"), (PHONE, "dark"), (DESK, "light"), (DESK, "dark")):
                made.take(f"{name}_question", screen, scheme, filled_in(survey, give))
            for screen, scheme in ((PHONE, "light"), (DESK, "dark")):
                made.take(f"{name}_report", screen, scheme, filled_in(survey, give, ""))
            for screen, scheme in ((PHONE, "dark"), (DESK, "light")):
                made.take(f"{name}_likelihood", screen, scheme, filled_in(survey, give, "How little that tells"))
        surveys = made.at("/", "How do you get to work?")
        made.take("list", DESK, "light", surveys)
        made.take("list", PHONE, "dark", surveys)
        bars = f"/survey/{there.commute.id}"
        made.take("bars", DESK, "light", made.at(bars, "From 12,000 reports."))
        made.take("bars", DESK, "dark", made.at(bars, "From 12,000 reports."))
        made.take("bars", PHONE, "light", made.at(bars, "From 12,000 reports.", "Estimate"))
        made.take("cdf", DESK, "dark", made.at(f"/survey/{there.sleep.id}", "From 12,000 reports."))
        made.take("heatmap", DESK, "light", made.at(f"/survey/{there.tables.id}", "From 12,000 reports."))
        made.take("number", DESK, "light", made.at(f"/survey/{there.spread.id}", "From 12,000 reports."))
        made.take("number", PHONE, "dark", made.at(f"/survey/{there.minutes.id}", "From 12,000 reports.", "Estimate"))
        made.take("choices", DESK, "dark", made.at(f"/survey/{there.travel.id}", "From 12,000 reports."))
        made.take("form", DESK, "light", made.at(f"/survey/{there.form.id}", "From 12,000 reports."))
        made.take("conversation", DESK, "light", made.at(f"/survey/{there.talk.id}", "of people"))
        made.take("conversation", PHONE, "dark", made.at(f"/survey/{there.talk.id}", "of people", "Round 2"))
        made.take("planner", DESK, "light", made.at("/plan", "Which design, and why"))
        made.take("planner_number", DESK, "dark", made.at("/plan?kind=number&unit=minutes", "Which design, and why"))
        made.take("planner", PHONE, "dark", made.at("/plan", "Which design, and why"))
        relayed(made)
        embedded(made, there.unanswered)
        words(made)
        made.take("create", DESK, "light", made.at("/new", "What do you want to know?"))
        made.take("create_form", DESK, "light", made.at("/new?kind=records", "What do you want to know?"))


if __name__ == "__main__":
    main()
