"""Pages of the documentation as Markdown has them: headings and their anchors, sections, tables, blocks of code."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def every_page() -> list[Path]:
    """The first page, and all of the documentation."""
    return [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)]


def folder_text(name: str) -> str:
    """All pages of a folder of the documentation, one after the other."""
    pages = sorted((ROOT / "docs" / name).glob("*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


def headings(page: Path) -> set[str]:
    """Anchors that readers of Markdown give to a page's headings."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def sections(text: str) -> dict[str, str]:
    """The text under each heading of the second level."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def folder_sections(name: str) -> dict[str, str]:
    """The text under each heading of the second level, on all pages of a folder of the documentation."""
    pages = sorted((ROOT / "docs" / name).glob("*.md"))
    return {title: text for page in pages for title, text in sections(page.read_text(encoding="utf-8")).items()}


def table(text: str) -> list[list[str]]:
    """The rows below the head of a text's only table, as the texts of their cells."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def python_code(page: Path) -> list[str]:
    """The blocks of a page that are modules: marked `python`, and without prompts."""
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for block in blocks if ">>>" not in block]
