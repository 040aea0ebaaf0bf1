"""Every thing has one word: spellings of version 1 stay in the changelog and on the page of names alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("src", "docs", "clients", "evidence", "tools", "README.md", "CONTRIBUTING.md")
KEPT = ("docs/renamed.md", "docs/changelog.md", "docs/contributors/decisions/", "tools/vectors_")

SECOND_WORDS = {
    "constructors that hide the question": (
        r"\bSurvey\.(ask|distribution|queries|mean|words|choices|number|records|adaptive|tracking|round)\b"
    ),
    "another word for people": r"--users\b|\busers=|[\"']users[\"']|\bn_users\b|\b(MAX|DEFAULT)_USERS\b",
}


def pages() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "--", *PLACES], cwd=ROOT, capture_output=True, text=True, check=True)
    found = (name for name in listed.stdout.split("\n") if re.search(r"\.(py|md|ts|template|toml)$", name))
    return [name for name in found if not name.startswith(KEPT)]


@pytest.mark.parametrize("thing", SECOND_WORDS)
def test_no_second_word_stays(thing: str) -> None:
    spelt = re.compile(SECOND_WORDS[thing])
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in pages()}
    assert len(texts) > 500
    assert [f"{name}: {found[0]}" for name, text in texts.items() if (found := spelt.search(text))] == []
