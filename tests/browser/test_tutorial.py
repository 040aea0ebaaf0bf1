"""A person does in a real browser what the tutorial tells them, with the words that stand on its page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from browser.visitor import Visitors
from sottovoce.analyst import connect
from sottovoce.analyst.live import LiveSurvey
from terminal import terminal

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "pages.md"


def test_the_tutorial(visitors: Visitors, tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    first, second = re.findall(r"^\d\. Press \*\*(.+?)\*\*", text, re.MULTILINE)
    (choice,) = re.findall(r"^\d\. Choose \*(.+?)\*", text, re.MULTILINE)
    (arrived,) = re.findall(r"The page says \*(.+?)\*", text)
    with terminal(tmp_path) as opened:
        opened.follow(PAGE, "Publish")
        origin = f"http://127.0.0.1:{opened.port}"
        collector = connect(origin, opened.token)
        live = collector.survey(collector.surveys()[0].id)
        tab = visitors(origin).open(f"/s/{live.id}")
        tab.get_by_role("radio", name=choice, exact=True).check()
        tab.get_by_role("button", name=first).click()
        expect(tab.get_by_role("button", name=second)).to_be_visible()
        assert arrived_at(live) == 0
        tab.get_by_role("button", name=second).click()
        expect(tab.get_by_role("heading", name=arrived)).to_be_visible()
        assert arrived_at(live) == 1


def arrived_at(live: LiveSurvey) -> int:
    """Reports that the collector has; told at one moment, for one that waits may be counted the next."""
    status = live.status()
    return status.n_reports + status.waiting
