"""The first page: what it shows is typed against a real service, and every cell of its tables leads to its evidence."""

from __future__ import annotations

import re
from pathlib import Path

from document import ROOT, headings, sections, table
from terminal import terminal

README = ROOT / "README.md"
PEERS = ROOT / "docs" / "peers.md"
INDEX = ROOT / "docs" / "index.md"
TITLE = "At a glance"
LINK = re.compile(r"\]\(([^)\s]+)\)")


def section(page: Path, title: str) -> str:
    return sections(page.read_text(encoding="utf-8"))[title]


def leads_somewhere(link: str, page: Path) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.is_file() and (not anchor or anchor in headings(target))


def unproved(rows: list[list[str]], page: Path) -> list[str]:
    """Cells of a page's table that lead nowhere. The first of a row says what it is about."""
    found = []
    for about, *cells in rows:
        for cell in cells:
            links = LINK.findall(cell)
            if not links or not all(leads_somewhere(link, page) for link in links):
                found.append(f"{about}: {cell}")
    return found


def pinned() -> dict[str, str]:
    """The versions of the packages that stand beside this one wherever it is measured."""
    text = (ROOT / "evidence" / "benchmarks" / "peers-requirements.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^(pure-ldp|multi-freq-ldpy)==(\S+)$", text, re.MULTILINE))


def test_the_service_does_what_the_page_says(tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        assert "Drinks: 1 report;" in opened.follow(README, "As a service")


def test_every_cell_beside_other_packages_leads_to_its_evidence() -> None:
    rows = table(section(PEERS, TITLE))
    assert len(rows) > 10
    assert unproved(rows, PEERS) == []


def test_every_part_of_it_leads_to_its_page() -> None:
    rows = table(section(INDEX, "Every part"))
    assert len(rows) > 10
    assert unproved([[part, where] for part, _, where in rows], INDEX) == []


def test_other_packages_are_judged_on_the_page_of_evidence_by_the_same_features() -> None:
    linked = [[LINK.findall(cell) for cell in row[2:]] for row in table(section(PEERS, TITLE))]
    anchors = [{link for cell in row for link in cell} for row in linked]
    assert all(len(row) == 1 and next(iter(row)).startswith("#") for row in anchors), anchors
    features = re.findall(r"^## (.+)$", PEERS.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(anchors) == len(features) - 2, "a section for every row, the table, and one on how they were read"
    for feature in features[2:]:
        judged = [row[0] for row in table(section(PEERS, feature))][:3]  # what is measured may follow
        assert judged == ["Sottovoce", "pure-ldp", "multi-freq-ldpy"], feature


def test_the_versions_are_those_that_are_measured() -> None:
    assert len(pinned()) == 2
    text = PEERS.read_text(encoding="utf-8")
    named = set(re.findall(r"(pure-ldp|multi-freq-ldpy) (\d[\d.]*\d)", text))
    assert named == set(pinned().items())
