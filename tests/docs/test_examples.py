"""Every Python block of the README and the documentation runs, and prints what the page says it prints."""

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

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts),
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Block(NamedTuple):
    """The text between two fences, and the line it begins on, counted from zero."""

    code: str
    line: int


def python_blocks(text: str) -> Iterator[Block]:
    """The fenced blocks marked `python`, in order."""
    lines = text.splitlines()
    fence, language, start = "", "", 0
    for number, line in enumerate(lines):
        marker = re.match(r"\s*(`{3,})\s*(\S*)", line)
        if marker and not fence:
            fence, language, start = marker[1], marker[2], number + 1
        elif marker and fence and marker[1].startswith(fence) and not marker[2]:
            if language == "python":
                yield Block(textwrap.dedent("\n".join(lines[start:number])) + "\n", start)
            fence = ""


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


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_runs(path: Path) -> None:
    run_page(path, "documentation_page")


def test_most_pages_have_something_to_run() -> None:
    # Guards the parser of fences: were it to find nothing, the tests above would pass in silence.
    counts = {path.stem: len(list(python_blocks(path.read_text(encoding="utf-8")))) for path in PAGES}
    for page in ("README", "start", "concepts", "choosing", "audit", "adding_a_mechanism", "wire_format", "findings"):
        assert counts[page] > 0, page
    theory = [path for path in PAGES if path.parent.name == "theory"]
    assert all(list(python_blocks(path.read_text(encoding="utf-8"))) for path in theory)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("# Page\n\n```python\nx = 1\n```\n\n```python\n>>> x + 1\n3\n\n```\n", "line 8"),
        ("```python\nraise ValueError('as it must')\n```\n", "as it must"),
        ("```python\n>>> undefined\n\n```\n", "NameError"),
    ],
)
def test_a_wrong_block_is_noticed(tmp_path: Path, text: str, complaint: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    with pytest.raises((pytest.fail.Exception, ValueError), match=complaint):
        run_page(page, "wrong_page")


def test_blocks_share_a_namespace_and_others_are_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nx = 1\n```\n```console\n$ rm everything\n```\n````markdown\n```python\nx = 7\n```\n````\n"
        "```python\n>>> x\n1\n\n```\n",
        encoding="utf-8",
    )
    assert run_page(page, "shared_page") == 2
