"""The page on disclosures is typed as it is written, and its tables name all that there is."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from document import ROOT, sections, table
from sottovoce.disclosure import About
from sottovoce.disclosure.registry import SOURCE
from terminal import terminal

PAGE = ROOT / "docs" / "disclosure.md"


def section(title: str) -> str:
    return sections(PAGE.read_text(encoding="utf-8"))[title]


def test_the_command_does_what_the_page_says(tmp_path: Path) -> None:
    with terminal(tmp_path) as opened:
        assert opened.follow(PAGE, "Make one").startswith("page.html: ")
    written = (tmp_path / "page.html").read_text(encoding="utf-8")
    for said in ("City of Utrecht", "planning bus lines", "privacy@utrecht.example", "deleted on 2027-12-31", "20,000"):
        assert said in written


def test_every_field_of_about_is_listed() -> None:
    listed = ", ".join(row[0] for row in table(section("What only you can say"))).replace("`", "").split(", ")
    assert listed == [field.name for field in fields(About)]


def test_the_source_of_the_registrys_fields_is_named() -> None:
    repository, _, commit = SOURCE.partition(", commit ")
    text = section("OpenDP's registry of deployments")
    assert f"`{repository}`" in text
    assert f"`{commit}`" in text
