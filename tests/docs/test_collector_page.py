"""The commands of the tutorial, one after the other as a shell would read them, against a real service."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from terminal import terminal

PAGE = Path(__file__).parents[2] / "docs" / "collector.md"


def without_chance(text: str) -> str:
    """What a command prints, with one figure for all that are drawn, one day, and lines of one length."""
    for varies, same in ((r"\d{4}-\d\d-\d\d", "DAY"), (r"-?\b\d\.\d+", "0.5"), (r"-{4,}", "----"), ("─+", "─")):
        text = re.sub(varies, same, text)
    return text


@pytest.mark.slow
def test_the_commands_print_what_the_page_says(tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        asked = opened.follow(PAGE, "In a terminal", like=without_chance)
    assert "1 of 2 rounds asked" in asked
