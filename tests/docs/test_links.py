"""No page, and no file of the sources, names a page or a heading that is gone; seconds, where a build takes minutes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from document import ROOT, every_page, headings

LINK = re.compile(r"\]\((?:path:)?([^)\s]+)\)")
MENTION = re.compile(r"\bdocs/[\w/.-]+\.md(?:#[\w-]+)?")
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
SOURCES = ("src", "tools", "evidence", "deploy", "clients/js/src", "clients/pages/src")
KINDS = {".py", ".ts", ".toml", ".yaml", ".yml"}
anchors = cache(headings)


def leads_somewhere(target: Path, anchor: str) -> bool:
    return target.exists() and (not anchor or target.suffix != ".md" or anchor in anchors(target))


def dead_links(page: Path) -> list[str]:
    """Links of a page to files that are not there, or to headings that they do not have."""
    dead = []
    for link in LINK.findall(FENCED.sub("", page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        if not re.match(r"[a-z]+:", link) and not leads_somewhere(page.parent / path if path else page, anchor):
            dead.append(link)
    return dead


def mentions() -> Iterator[tuple[str, str]]:
    """Pages that the sources name, each with the file that does."""
    for folder in SOURCES:
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in KINDS and "node_modules" not in file.parts:
                for mention in MENTION.findall(file.read_text(encoding="utf-8")):
                    yield str(file.relative_to(ROOT)), mention


@pytest.mark.parametrize("page", every_page(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert dead_links(page) == []


def test_pages_that_the_sources_name_are_there() -> None:
    named = list(mentions())
    assert len(named) > 20
    found = {mention: mention.partition("#") for _, mention in named}
    dead = {mention for mention, (path, _, anchor) in found.items() if not leads_somewhere(ROOT / path, anchor)}
    assert [(file, mention) for file, mention in named if mention in dead] == []


def test_a_page_that_is_gone_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n[here](#a-page) [gone](gone.md) [no heading](page.md#none)\n", encoding="utf-8")
    assert dead_links(page) == ["gone.md", "page.md#none"]
