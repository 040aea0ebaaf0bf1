"""The page on names of version 1: what it says is there is there, and what it says is gone is gone."""

from __future__ import annotations

import re

import pytest

import sottovoce as sv
from document import ROOT, sections, table
from sottovoce.cli.parser import UsageError, build_parser

PAGE = sections((ROOT / "docs" / "renamed.md").read_text(encoding="utf-8"))
NAME = re.compile(r"\bsv\.([A-Za-z_]+(?:\.[A-Za-z_]+)*)")


def names(column: int) -> list[str]:
    """Names below `sv` in a column of the table for Python, each once."""
    return sorted({name for row in table(PAGE["In Python"]) for name in NAME.findall(row[column])})


def is_there(name: str) -> bool:
    found: object = sv
    for part in name.split("."):
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True


@pytest.mark.parametrize("name", names(0))
def test_an_old_name_is_gone(name: str) -> None:
    assert not is_there(name)


@pytest.mark.parametrize("name", names(1))
def test_a_new_name_is_there(name: str) -> None:
    assert is_there(name)


def test_sizes_are_people_on_the_command_line() -> None:
    words = ["plan", "shares", "--values", "4", "--epsilon", "1"]
    assert build_parser().parse_args([*words, "--people", "10"]).people == 10
    with pytest.raises(UsageError):
        build_parser().parse_args([*words, "--users", "10"])


@pytest.mark.parametrize("row", table(PAGE["In the documentation"]), ids=lambda row: row[0])
def test_an_old_page_is_gone(row: list[str]) -> None:
    for name in re.findall(r"`([\w/]+(?:\.md|/))`", row[0]):
        assert not (ROOT / "docs" / name).is_file()
        assert not any((ROOT / "docs" / name).glob("*.md"))
