"""A device's records in a real browser: kept over reload, restart and tabs; where they cannot be, nothing is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from browser import setting
from browser.bundle import bundled
from browser.visitor import Visitor
from collector.service import Service

DEVICE = """
import { CONTRACT } from "./clients/js/test/store_contract.ts";
import { IndexedDbStore } from "./clients/js/src/indexed_db.ts";

const answer = (question: string, report: Uint8Array) => ({
  question, survey: question, collector: "https://a.example", key: new Uint8Array(32), title: "", epsilon: 1, delta: 0,
  day: "", reportId: new Uint8Array(16), report, state: "unsent" as const,
});
let draws = 0;
const test = {
  async contract() {
    const told: Record<string, string> = {};
    for (const [name, keep] of Object.entries(CONTRACT)) {
      const database = `contract: ${name}`;
      told[name] = await keep(() => IndexedDbStore.open(database)).then(() => "", String);
    }
    return told;
  },
  async open(name: string) {
    Object.assign(test, { store: await IndexedDbStore.open(name) });
  },
  /** The bytes that stand for a question; drawn at random if there are none. */
  async record(question: string, bytes = 8) {
    const { store } = test as unknown as { store: IndexedDbStore };
    const kept = await store.record(question, () => {
      draws += 1;
      return answer(question, crypto.getRandomValues(new Uint8Array(bytes)));
    });
    return [...kept.report.subarray(0, 8)];
  },
  draws: () => draws,
  questions: async () => (await (await IndexedDbStore.open("records")).answers()).map(({ question }) => question),
};
Object.assign(globalThis, { test });
"""

REFUSED = "(work) => work().then(() => 'no error', (error) => `${error.name}: ${error.message}`)"


@pytest.fixture(scope="module")
def device() -> str:
    """The script that a page is handed: the client's own store, and what the tests do with it."""
    return bundled(DEVICE)


def at(page: Page, script: str) -> Page:
    """A page of the collector's that does nothing itself, with the store in hand."""
    page.evaluate(script)
    return page


def refusal(page: Page, work: str) -> Any:
    """What a call is refused with."""
    return page.evaluate(f"() => ({REFUSED})(async () => {work})")


BLANK = "/v1/key"


def test_the_store_keeps_its_contract(visitor: Visitor, device: str) -> None:
    told = at(visitor.open(BLANK), device).evaluate("() => test.contract()")
    assert len(told) >= 6
    assert [f"{name}: {fault}" for name, fault in told.items() if fault] == []


def test_answers_outlive_a_reload(visitor: Visitor, device: str) -> None:
    page = at(visitor.open(BLANK), device)
    page.evaluate("() => test.open('records')")
    drawn = page.evaluate("() => test.record('q')")
    page.reload()
    at(page, device).evaluate("() => test.open('records')")
    assert page.evaluate("() => test.record('q')") == drawn
    assert page.evaluate("() => test.draws()") == 0


def test_answers_outlive_the_browser(browser: Browser, service: Service, device: str, tmp_path: Path) -> None:
    told = []
    for _ in range(2):
        context = browser.browser_type.launch_persistent_context(
            tmp_path / "profile", executable_path=setting.browser(), args=list(setting.FLAGS)
        )
        page = context.new_page()
        page.goto(service.url + BLANK)
        at(page, device).evaluate("() => test.open('records')")
        told.append((page.evaluate("() => test.record('q')"), page.evaluate("() => test.draws()")))
        context.close()
    assert told[0][0] == told[1][0]
    assert [draws for _, draws in told] == [1, 0]


def test_tabs_at_the_same_time_draw_once(visitor: Visitor, device: str) -> None:
    tabs = [at(visitor.open(BLANK), device) for _ in range(3)]
    for tab in tabs:
        tab.evaluate("() => test.open('records')")
    for tab in tabs:
        tab.evaluate("() => { test.all = Promise.all(Array.from({length: 50}, (_, i) => test.record(`${i % 10}`))); }")
    told = [tab.evaluate("() => test.all") for tab in tabs]
    assert told[0] == told[1] == told[2]
    assert sum(tab.evaluate("() => test.draws()") for tab in tabs) == 10


def test_full_storage_refuses_and_keeps_nothing(visitor: Visitor, device: str) -> None:
    page = at(visitor.open(BLANK), device)
    page.evaluate("() => test.open('records')")
    page.evaluate("() => test.record('before')")
    developer = visitor.context.new_cdp_session(page)
    developer.send("Storage.overrideQuotaForOrigin", {"origin": visitor.origin, "quotaSize": 20_000})
    told = refusal(page, "test.record('q', 2 ** 20)")
    assert told.startswith("LedgerError")
    assert "full" in told
    developer.send("Storage.overrideQuotaForOrigin", {"origin": visitor.origin})
    assert page.evaluate("() => test.questions()") == ["before"]


def test_blocked_storage_is_refused(visitor: Visitor, device: str) -> None:
    visitor.context.add_init_script(
        "IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError'); }"
    )
    told = refusal(at(visitor.open(BLANK), device), "test.open('records')")
    assert told.startswith("LedgerError")
    assert "blocked" in told


def test_storage_cleared_while_open_is_noticed(visitor: Visitor, device: str) -> None:
    page = at(visitor.open(BLANK), device)
    page.evaluate("() => test.open('records')")
    page.evaluate("() => test.record('q')")
    developer = visitor.context.new_cdp_session(page)
    developer.send("Storage.clearDataForOrigin", {"origin": visitor.origin, "storageTypes": "indexeddb"})
    assert refusal(page, "test.record('q')").startswith("LedgerError")
    assert page.evaluate("() => test.draws()") == 1
