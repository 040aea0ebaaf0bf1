"""The documentation builds without a warning, its links lead somewhere, and its pages fetch nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from document import ROOT, headings
from sottovoce import __version__

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of built pages; the configuration makes every unknown reference a warning."""
    out = tmp_path_factory.mktemp("documentation")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(out / "doctrees"), "-b", "html"]
    # The side bar of the reference lists every method; copying that list into each page takes a third of the time.
    command += ["-D", "toc_object_entries=0"]
    # Nothing here reads curved quotes or the types in signatures, and no reference to a type is checked.
    command += ["-D", "autodoc_typehints=none", "-D", "smartquotes=0"]
    done = subprocess.run(
        [*command, str(ROOT / "docs"), str(out / "html")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out / "html"


class Page(HTMLParser):
    """Anchors, links and loaded files of one HTML page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value for name, value in attrs if value}
        self.anchors.update(found[name] for name in ("id", "name") if name in found)
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])
        if tag == "link" and "stylesheet" in found.get("rel", ""):
            self.loaded.append(found["href"])


@cache
def pages(folder: Path) -> dict[Path, Page]:
    """Every page of a folder, parsed."""
    return {path: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}


def dead_links(folder: Path) -> list[str]:
    """Links and files of the pages that are not there."""
    found = pages(folder)
    dead = []
    for path, page in found.items():
        for link in page.links + page.loaded:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            missing_anchor = target in found and parts.fragment and parts.fragment not in found[target].anchors
            if not target.exists() or missing_anchor:
                dead.append(f"{path.relative_to(folder)}: {link}")
    return dead


def test_every_link_inside_leads_somewhere(built: Path) -> None:
    assert len(pages(built)) > 25
    assert dead_links(built) == []


def test_pages_fetch_nothing_from_elsewhere(built: Path) -> None:
    for path, page in pages(built).items():
        elsewhere = [address for address in page.loaded if urlsplit(address).netloc]
        assert elsewhere == [], path
    for sheet in built.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?\s*(https?:)?//", sheet.read_text(encoding="utf-8")), sheet


def test_formulas_are_drawn_by_the_browser_itself(built: Path) -> None:
    assert "<math" in (built / "api" / "mechanisms.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_of_the_front_pages_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    relative = [link for link in re.findall(r"\]\(([^)\s]+)\)", text) if not urlsplit(link).scheme]
    for link in relative:
        path, _, anchor = link.partition("#")
        assert (ROOT / path).is_file(), link
        if anchor:
            assert anchor in headings(ROOT / path), link


def test_decisions_are_numbered_without_a_gap_and_listed() -> None:
    folder = ROOT / "docs/contributors/decisions"
    records = sorted(path for path in folder.glob("*.md") if path.name != "index.md")
    assert [path.name[:4] for path in records] == [f"{number:04}" for number in range(1, len(records) + 1)]
    for number, path in enumerate(records, 1):
        assert path.read_text(encoding="utf-8").startswith(f"# {number}. "), path.name
    listed = re.findall(r"^\d{4}-[\w-]+$", (folder / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [path.stem for path in records]


def test_citation_names_this_version() -> None:
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
