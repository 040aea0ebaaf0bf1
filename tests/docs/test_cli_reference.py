"""The tables on the page of commands are what the script makes of the grammar."""

from __future__ import annotations

import argparse
from pathlib import Path

import make_cli_reference

ROOT = Path(__file__).parents[2]


def test_the_page_is_what_the_script_makes() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == make_cli_reference.page(), (
        "run tools/make_cli_reference.py"
    )


def test_a_new_option_a_changed_default_and_one_that_went_are_noticed() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", metavar="N", type=int, default=2000, help="in words")
    parser.add_argument("--fresh", metavar="F", required=True, help="of 100 %%")
    before = make_cli_reference.HEAD + "| `--users N` | 1,000 | how many |\n| `--gone` | | no more |\n"
    after = "| `--users N` | 2,000 | how many |\n| `--fresh F` | required | of 100 % |\n"
    assert make_cli_reference.table(parser, before) == make_cli_reference.HEAD + after
    assert make_cli_reference.table(parser, after.replace("2,000", "2000")) == make_cli_reference.HEAD + after.replace(
        "2,000", "2000"
    )
