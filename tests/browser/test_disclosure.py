"""The page for reviewers in a browser: accessible by every look, nothing beyond its edge, nothing run or fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import sottovoce as sv
from browser.accessibility import faults
from disclosure.kinds import of_every_kind

pytestmark = pytest.mark.slow

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 360, "height": 740}},
}


def pages() -> dict[str, str]:
    kinds = of_every_kind()
    title = "<script>document.title = 'run'</script>"
    hostile = sv.Survey(sv.shares(["yes", "no"]), epsilon=1.0, title=title)
    return {
        "complete": sv.disclose(kinds["shuffled"], audit="none").to_html(),
        "partial": sv.disclose(kinds["round"].seat.panel, partial=True).to_html(),
        "hostile": sv.disclose(hostile, audit="none").to_html(),
    }


@pytest.mark.parametrize("look", list(LOOKS))
def test_the_page_is_accessible_and_stays_within_its_edge(browser: Browser, tmp_path: Path, look: str) -> None:
    for name, text in pages().items():
        file = tmp_path / f"{name}.html"
        file.write_text(text, encoding="utf-8")
        page = browser.new_page(bypass_csp=True, **LOOKS[look])  # axe is put into the page
        asked: list[str] = []
        page.on("request", lambda request, asked=asked: asked.append(request.url))
        page.goto(file.as_uri())
        assert asked == [file.as_uri()]
        assert page.title() != "run"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert faults(page) == []
        page.close()


def test_it_prints_on_white_without_its_contents(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(pages()["complete"], encoding="utf-8")
    page = browser.new_page(color_scheme="dark")
    page.goto(file.as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.get_by_role("heading", name="The guarantee").is_visible()
    page.close()
