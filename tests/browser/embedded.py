"""A survey's question in somebody else's page, as a visitor and as the page's own scripts see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.other_site import OtherSite
from browser.survey_page import SurveyPage
from browser.visitor import Visitor
from collector.service import Service
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey, Tracking

LISTEN = """
globalThis.heard = [];
for (const name of ["ready", "answered", "refused", "error"]) {
  addEventListener(`sottovoce-${name}`, ({ type, composed, detail }) => heard.push({ type, composed, ...detail }));
}
"""
"""What a page does that wants to know."""


def lines(service: Service, survey: Survey | Panel | Tracking) -> str:
    """The lines that the collector prints for a survey."""
    answer = service.ask("GET", f"/v1/surveys/{survey.id}/embedding?address={service.url}")
    assert answer.status == 200, answer
    return str(answer.json["snippet"])


def strict(service: Service) -> str:
    """A policy that allows the collector, the page's own files, and nothing else."""
    return (
        f"default-src 'none'; script-src 'self' {service.url}; connect-src {service.url}; img-src data:; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


@dataclass(frozen=True)
class EmbeddedPage:
    """One tab with one element."""

    page: Page

    @classmethod
    def visit(cls, visitor: Visitor, site: OtherSite, html: str, policy: str = "", path: str = "/") -> EmbeddedPage:
        site.serve_file("/listen.js", LISTEN, "text/javascript")
        site.serve(html, policy, path, head='<script src="/listen.js"></script>')
        return cls(visitor.open(path))

    @property
    def element(self) -> Locator:
        return self.page.locator("sottovoce-survey")

    @property
    def button(self) -> Locator:
        return self.page.get_by_role("button", name="Randomize and send")

    def choose(self, label: str) -> None:
        self.page.get_by_role("radio", name=label, exact=True).check()

    def answer(self, label: str) -> None:
        self.choose(label)
        self.button.click()
        self.arrives()

    def arrives(self) -> None:
        expect(self.page.get_by_role("heading", name="It has arrived, and will be counted once.")).to_be_visible()

    def heard(self, *names: str) -> list[dict[str, Any]]:
        """Events that the page was told, of these names."""
        found = self.page.evaluate("heard")
        return [event for event in found if event["type"].removeprefix("sottovoce-") in names]

    def stops(self, code: str, *, refused: bool = False) -> str:
        """What it says to the author of the page, once it has stopped with this code."""
        remedy = self.page.get_by_text("For the author of this page:")
        expect(remedy).to_be_visible()
        expect(self.button).to_have_count(0)
        [event] = self.heard("refused", "error")
        assert event["type"] == f"sottovoce-{'refused' if refused else 'error'}"
        assert event["code"] == code, event
        assert self.page.evaluate("document.querySelector('sottovoce-survey').state") == (
            "refused" if refused else "stopped"
        )
        words = remedy.inner_text().removeprefix("For the author of this page: ")
        assert words == event["message"]
        return words

    def records(self) -> list[dict[str, Any]]:
        """Every report that was ever drawn in this page's origin."""
        return SurveyPage(self.page).records()
