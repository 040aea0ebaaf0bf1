"""The tables on the page of commands are what the script makes of the grammar."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script():
    """The script, which is no package."""
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_cli_reference
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return make_cli_reference


def test_the_page_is_what_the_script_makes(script) -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == script.page(), "run tools/make_cli_reference.py"


def test_a_new_option_a_changed_default_and_one_that_went_are_noticed(script) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", metavar="N", type=int, default=2000, help="in words")
    parser.add_argument("--fresh", metavar="F", required=True, help="of 100 %%")
    before = script.HEAD + "| `--users N` | 1,000 | how many |\n| `--gone` | | no more |\n"
    after = "| `--users N` | 2,000 | how many |\n| `--fresh F` | required | of 100 % |\n"
    assert script.table(parser, before) == script.HEAD + after
    assert script.table(parser, after.replace("2,000", "2000")) == script.HEAD + after.replace("2,000", "2000")
