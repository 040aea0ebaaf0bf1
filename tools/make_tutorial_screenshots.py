"""Takes the pictures of docs/pages.md, doing as it says: `python tools/make_tutorial_screenshots.py`."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, expect, sync_playwright

from make_screenshots import DESK, PHONE, PORT, ROOT  # first: it makes the helpers of the tests importable

# isort: split

from browser import setting
from browser.dashboard import signed_in
from browser.survey_page import SurveyPage
from browser.visitor import Visitor
from collector.service import until
from sottovoce.analyst import connect
from terminal import terminal

TUTORIAL = ROOT / "docs" / "pages.md"
FOLDER = ROOT / "docs" / "images" / "tutorials"


def save(page: Page, name: str) -> None:
    """What is on the screen, in few colours."""
    page.wait_for_timeout(1500)
    shot = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="hide"))).convert("RGB")
    few = shot.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(FOLDER / f"{name}.png", optimize=True)


def visitor(browser: Any, origin: str, screen: dict[str, Any]) -> Visitor:
    return Visitor(browser, origin, color_scheme="light", **screen)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as folder, terminal(Path(folder)) as opened:
        opened.port = PORT
        opened.follow(TUTORIAL, "Publish")
        origin = f"http://127.0.0.1:{opened.port}"
        collector = connect(origin, opened.token)
        live = collector.survey(collector.surveys()[0].id)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=setting.browser(), args=list(setting.FLAGS))
            tab = SurveyPage(visitor(browser, origin, PHONE).open(f"/s/{live.id}"))
            expect(tab.page.get_by_role("radio").first).to_be_visible()
            save(tab.page, "browser_question")
            tab = SurveyPage(visitor(browser, origin, DESK).open(f"/s/{live.id}"))
            tab.draw("town")
            save(tab.page, "browser_report")
            tab.send_button.click()
            tab.arrives()
            opened.follow(TUTORIAL, "The others")
            until(lambda: live.status().n_reports == 2001, "everything is counted")
            analyst = signed_in(visitor(browser, origin, DESK), opened, f"/survey/{live.id}")  # type: ignore[arg-type]
            expect(analyst.get_by_text("From 2,001 reports.").first).to_be_visible()
            save(analyst, "browser_estimate")
            browser.close()


if __name__ == "__main__":
    main()
