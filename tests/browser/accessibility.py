"""What axe-core finds wrong with a page as it stands, for people who use it otherwise than most."""

from __future__ import annotations

from playwright.sync_api import Page

from browser.setting import MODULES

_RUN = """
async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.map(({ id, impact, help, nodes }) =>
    ({ impact, text: `${id} (${impact}): ${help}: ${nodes.map((node) => node.html).join(" | ")}` }));
}
"""


def faults(page: Page) -> list[str]:
    """Serious and critical ones."""
    page.evaluate((MODULES / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    return [fault["text"] for fault in page.evaluate(_RUN) if fault["impact"] in ("serious", "critical")]
