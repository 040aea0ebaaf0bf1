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

pytestmark = pytest.mark.slow

DEVICE = """
import { CONTRACT } from "./clients/js/test/store_contract.ts";
import { IndexedDbStore } from "./clients/js/src/device/indexed_db.ts";

const answer = (question: string, report: Uint8Array) => ({
  question, survey: question, collector: "https://a.example", relay: "", key: new Uint8Array(32), title: "", epsilon: 1,
  delta: 0, day: "", reportId: new Uint8Array(16), report, state: "unsent" as const, window: 1, renews: false,
  period: "", closes: "",
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
    const kept = await store.record(question, 1, () => {
      draws += 1;
      return answer(question, crypto.getRandomValues(new Uint8Array(bytes)));
    });
    return [...kept.report.subarray(0, 8)];
  },
  draws: () => draws,
  /** All that a store of an older version has kept, as it is read now. */
  async migrated(name: string) {
    const store = await IndexedDbStore.open(name);
    const answers = await store.answers();
    const told = answers.map(({ question, window, state, report, renews, relay }) =>
      ({ question, window, state, renews, relay, report: [...report] }));
    const again = await Promise.all(answers.map(({ question }) => store.answer(question, 1)));
    return { told, found: again.every((answer) => answer !== null), seat: await store.seat("panel"),
      key: [...(await store.pinned("https://a.example"))!].length };
  },
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


OLD = """
async ([name, version, abort]) => {
  const request = indexedDB.open(name, version);
  const later = version > 1 ? ["secrets", "joined", "refused"] : [];
  if (version > 3) later.push("heads", "conflicts");
  request.onupgradeneeded = () => {
    for (const kept of ["keys", "seats", "answers", ...later]) request.result.createObjectStore(kept);
  };
  const database = await new Promise((resolve) => { request.onsuccess = () => resolve(request.result); });
  const work = database.transaction(["keys", "seats", "answers"], "readwrite");
  work.objectStore("keys").put(new Uint8Array(32).fill(3), "https://a.example");
  work.objectStore("seats").put(7, "panel");
  ["zebra", "panel", "apple"].forEach((question, place) => work.objectStore("answers").add({
    question, survey: question === "panel" ? "round" : question, collector: "https://a.example",
    key: new Uint8Array(32).fill(3), title: "", epsilon: 1, delta: 0, day: "2026-01-01",
    reportId: new Uint8Array(16).fill(place), report: Uint8Array.of(place, 2, 3), place,
    state: place ? "unsent" : "sent", ...(version > 1 ? { window: 1, renews: false, period: "", closes: "" } : {}),
    ...(version > 2 ? { relay: "" } : {}),
  }, version > 1 ? [question, 1] : question));
  await new Promise((resolve) => { work.oncomplete = resolve; });
  database.close();
  if (!abort) return;
  // A tab that goes away in the middle of moving to the new version.
  const moving = indexedDB.open(name, 5);
  await new Promise((resolve) => {
    moving.onupgradeneeded = () => {
      moving.result.createObjectStore("new");
      moving.transaction.objectStore("answers").clear();
      moving.transaction.abort();
    };
    moving.onerror = (event) => { event.preventDefault(); resolve(); };
  });
}
"""
"""A store as version 1, 2, 3 or 4 wrote it: an answer that was sent, and two that were not."""


@pytest.mark.parametrize("interrupted", [False, True])
@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_a_store_of_an_older_version_keeps_everything(
    visitor: Visitor, device: str, version: int, interrupted: bool
) -> None:
    page, other = (at(visitor.open(BLANK), device) for _ in range(2))
    page.evaluate(OLD, ["old", version, interrupted])
    for tab in (page, other):
        found = tab.evaluate("() => test.migrated('old')")
        assert [(one["question"], one["state"], one["report"][0]) for one in found["told"]] == [
            ("zebra", "sent", 0),
            ("panel", "unsent", 1),
            ("apple", "unsent", 2),
        ]
        assert {(one["window"], one["renews"], one["relay"]) for one in found["told"]} == {(1, False, "")}
        assert (found["found"], found["seat"], found["key"]) == (True, 7, 32)


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
