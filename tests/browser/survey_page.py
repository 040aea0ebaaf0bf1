"""The survey page as a person uses it, and what their browser holds behind it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Page, expect

from browser.visitor import Visitor
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.survey import Survey

_RECORDS = """
async () => {
  const ended = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  if (!(await indexedDB.databases()).some(({ name }) => name === "sottovoce")) return [];
  const database = await ended(indexedDB.open("sottovoce"));
  const kept = await ended(database.transaction("answers").objectStore("answers").getAll());
  database.close();
  return kept.map(({ question, state, day, report, reportId }) =>
    ({ question, state, day, report: [...report], id: [...reportId] }));
}
"""


@dataclass(frozen=True)
class SurveyPage:
    """One tab with one survey."""

    page: Page

    @classmethod
    def visit(cls, visitor: Visitor, survey: Survey | Panel) -> SurveyPage:
        return cls(visitor.open(f"/s/{survey.id}"))

    @property
    def draw_button(self) -> Locator:
        return self.page.get_by_role("button", name="See what would leave")

    @property
    def send_button(self) -> Locator:
        return self.page.get_by_role("button", name="Send it")

    def choose(self, label: str) -> None:
        self.page.get_by_role("radio", name=label, exact=True).check()

    def draw(self, label: str) -> None:
        """Have the report drawn; nothing leaves yet."""
        self.choose(label)
        self.draw_button.click()
        expect(self.send_button).to_be_visible()

    def answer(self, label: str) -> None:
        """From the question to the words that it has arrived."""
        self.draw(label)
        self.send_button.click()
        self.arrives()

    def arrives(self) -> None:
        expect(self.page.get_by_role("heading", name="It has arrived, and will be counted once.")).to_be_visible()

    def waits(self) -> None:
        """Drawn and not arrived, which the page says, and goes on trying."""
        expect(self.page.get_by_role("heading", name="Not sent yet. It is kept here.")).to_be_visible()

    def stops(self, why: str) -> None:
        """Says why it cannot go on, in place of whatever was there."""
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(why)
        expect(self.draw_button).to_have_count(0)
        expect(self.send_button).to_have_count(0)

    def records(self) -> list[dict[str, Any]]:
        """What the browser has written down: every report that was ever drawn in it."""
        return list(self.page.evaluate(_RECORDS))
