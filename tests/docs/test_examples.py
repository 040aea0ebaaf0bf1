"""Every Python block of the README and the documentation runs, and prints what the page says it prints.

What needs more than Python is followed by a test of its own, and no page is forgotten.
"""

from __future__ import annotations

import doctest
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

from document import ROOT, every_page

PAGES = every_page()
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

STORIES = [f"docs/tutorials/{page.name}" for page in PAGES if page.parent.name == "tutorials" and page.stem != "index"]
ADDING = ("docs/contributors/adding_a_mechanism.md", "docs/contributors/adding_a_workload.md")
FOLLOWED = {
    "console": {
        "README.md": "docs/test_front_page.py",
        "docs/contributors/adding_a_mechanism.md": "docs/test_adding.py",
        "docs/collector.md": "docs/test_collector_page.py",
        "docs/disclosure.md": "docs/test_disclosure_page.py",
        "docs/embedding.md": "browser/test_embedding.py",
        "docs/pipelines.md": "docs/test_pipelines.py",
        **dict.fromkeys(STORIES, "docs/test_tutorials.py"),
    },
    "py": {
        "docs/analyst.md": "analyst/test_page.py",
        "docs/disclosure.md": "docs/test_disclosure_page.py",
        "docs/pipelines.md": "docs/test_pipelines.py",
        **dict.fromkeys((*STORIES, "docs/pages.md", "docs/relay.md"), "docs/test_tutorials.py"),
    },
    **{mark: dict.fromkeys(ADDING, "docs/test_adding.py") for mark in ("diff", "ts")},
    **{mark: {"docs/embedding.md": "browser/test_embedding.py"} for mark in ("css", "html")},
    "js": {
        "docs/contributors/adding_a_mechanism.md": "js/test_brought_mechanism.py",
        "docs/embedding.md": "browser/test_embedding.py",
    },
    "md": {"docs/contributors/adding_a_mechanism.md": "docs/test_adding.py"},
    "{code-block} python": {"docs/spark.md": "engines/test_spark_local.py"},
}
"""Tests that type what a page shows, by the marks of its blocks."""

LONG = "plans, searches, audits and measurements for real numbers of people, up to hours"
ELSEWHERE = "files, clusters, databases or services that only the reader has"
READ = {
    **dict.fromkeys(
        (
            "choosing",
            "contributors/compared",
            "contributors/comparisons",
            "contributors/coverage",
            "contributors/evidence",
            "contributors/findings",
            "contributors/forms",
            "contributors/mutation",
            "contributors/relations",
            "paper",
            "contributors/reproducing",
            "contributors/weighting",
            "start",
            "queries",
            "tracking",
        ),
        LONG,
    ),
    **{
        f"cli/{page.stem}": LONG
        for page in PAGES
        if page.parent.name == "cli" and "```console" in page.read_text("utf-8")
    },
    **dict.fromkeys(
        ("install", "tutorials/index"),
        "an index of packages that has this version; dist/test_dist.py installs it from files",
    ),
    **dict.fromkeys(
        ("containers", "device", "engines", "log", "operations", "pages", "relay", "settings", "spark", "words"),
        ELSEWHERE,
    ),
}
"""Pages whose commands are compared with the grammar, and not typed (`test_commands_in_consoles_parse`), and why."""

SHOWN = {"ini", "json", "sql", "text", "toml", "yaml", "{eval-rst}", "{include} ../CHANGELOG.md", "{toctree}"}
"""Marks of what is read, or belongs to the pages' own making."""


class Block(NamedTuple):
    """The text between two fences, the line it begins on, counted from zero, and what its fence says."""

    code: str
    line: int
    mark: str


def fenced(text: str) -> Iterator[Block]:
    """The blocks between fences, in order."""
    lines = text.splitlines()
    fence, mark, start = "", "", 0
    for number, line in enumerate(lines):
        marker = re.match(r"\s*(`{3,})\s*(.*)", line)
        if marker and not fence:
            fence, mark, start = marker[1], marker[2].strip(), number + 1
        elif marker and fence and marker[1].startswith(fence) and not marker[2]:
            yield Block(textwrap.dedent("\n".join(lines[start:number])) + "\n", start, mark)
            fence = ""


def python_blocks(text: str) -> Iterator[Block]:
    """The fenced blocks marked `python`, in order."""
    return (block for block in fenced(text) if block.mark == "python")


def unfollowed(pages: dict[str, str]) -> set[tuple[str, str]]:
    """Pages, by name and text, with a kind of block that no test follows, each with that kind."""
    marks = {(name, block.mark) for name, text in pages.items() for block in fenced(text)}
    followed = {(name, mark) for mark, names in FOLLOWED.items() for name in names}
    followed |= {(f"docs/{name}.md", "console") for name in READ}
    return {(name, mark) for name, mark in marks - followed if mark not in SHOWN | {"python"}}


def run_page(path: Path, name: str) -> int:
    """Run a page's blocks in one namespace; returns how many there were, raises where one is wrong."""
    # A real module, because dataclasses look up their annotations there.
    page = ModuleType(name)
    sys.modules[name] = page
    try:
        blocks = list(python_blocks(path.read_text(encoding="utf-8")))
        for block in blocks:
            if ">>>" in block.code:
                check_prompts(block, page, path)
            else:
                # Empty lines in front make tracebacks name the page's own line.
                code = compile("\n" * block.line + block.code, str(path), "exec")
                exec(code, page.__dict__)  # noqa: S102 (the code is the documentation's own)
    finally:
        del sys.modules[name]
    return len(blocks)


def check_prompts(block: Block, page: ModuleType, path: Path) -> None:
    """Run a block of prompts and compare what it prints."""
    prompts = doctest.DocTestParser().get_doctest(block.code, page.__dict__, path.name, str(path), block.line)
    complaints: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(prompts, out=complaints.append, clear_globs=False)
    page.__dict__.update(prompts.globs)
    if complaints:
        pytest.fail("".join(complaints), pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_runs(path: Path) -> None:
    run_page(path, "documentation_page")


def test_most_pages_have_something_to_run() -> None:
    # Guards the parser of fences: were it to find nothing, the tests above would pass in silence.
    counts = {path.stem: len(list(python_blocks(path.read_text(encoding="utf-8")))) for path in PAGES}
    for page in ("README", "start", "concepts", "choosing", "audit", "adding_a_mechanism", "clients", "findings"):
        assert counts[page] > 0, page
    theory = [path for path in PAGES if path.parent.name == "theory"]
    assert all(list(python_blocks(path.read_text(encoding="utf-8"))) for path in theory)


def test_no_page_shows_what_no_test_follows() -> None:
    assert unfollowed({str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in PAGES}) == set()


def test_a_page_is_followed_where_that_is_said() -> None:
    for mark, tests in FOLLOWED.items():
        for page, test in tests.items():
            source = (ROOT / "tests" / test).read_text(encoding="utf-8")
            assert re.search(rf'"({Path(page).name}|tutorials)"', source), page
            if page not in STORIES:
                assert mark in {block.mark for block in fenced((ROOT / page).read_text(encoding="utf-8"))}, page
    read = {f"docs/{name}.md" for name in READ}
    assert not read & set(FOLLOWED["console"])
    assert all("```console" in (ROOT / page).read_text(encoding="utf-8") for page in read)


def test_blocks_share_a_namespace_and_others_are_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n```console\n$ rm everything\n```\n````markdown\n```python\nx = 7\n```\n````\n"
        "```python\n>>> x\n1\n\n```\n",
        encoding="utf-8",
    )
    assert run_page(page, "shared_page") == 2
