"""The tables on the pages of commands are what the script makes of the grammar."""

from __future__ import annotations

import argparse
from pathlib import Path

import make_cli_reference

ROOT = Path(__file__).parents[2]


def test_the_pages_are_what_the_script_makes() -> None:
    made = make_cli_reference.pages()
    assert {path: path.read_text(encoding="utf-8") for path in made} == made, "run tools/make_cli_reference.py"
    written = {path.name for path in (ROOT / "docs" / "cli").glob("*.md")}
    assert written == {path.name for path in made} - {"evidence.md"}


def test_a_new_command_gets_a_section_and_one_of_no_subject_a_page() -> None:
    parser = argparse.ArgumentParser(description="Hums a tune.", add_help=False)
    parser.add_argument("--loud", action="store_true", help="aloud")
    page = "# Commands: devices\n\n## sottovoce ledger\n\nShows.\n"
    added = make_cli_reference.with_section(page, "sottovoce hum", parser)
    assert added == f"{page}\n## sottovoce hum\n\nHums a tune.\n\n{make_cli_reference.HEAD}| `--loud` | | aloud |\n"
    assert make_cli_reference.with_section(added, "sottovoce hum", parser) == added
    assert make_cli_reference.subject_of("ledger") == "devices"
    assert make_cli_reference.subject_of("hum") == "hum"
