"""The page about pipelines is typed, in a folder of its own and against a real service, and prints what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from terminal import terminal

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"


def test_the_page_does_what_it_says(tmp_path: Path) -> None:
    """OpenTelemetry's own logger and exporter are among it."""
    assert PAGE.name == "pipelines.md"
    with terminal(tmp_path) as opened:
        opened.follow(PAGE)
    left = {path.name for path in tmp_path.iterdir()}
    assert {"reports.parquet", "people.db", "people.db.key", "telemetry.db"} <= left
    assert "out.jsonl" not in left, "it was refused"


def test_the_page_names_the_options_that_there_are() -> None:
    from sottovoce.cli.parser import build_parser, commands_of

    known = commands_of(build_parser(["randomize"]), "sottovoce")["sottovoce randomize"]._option_string_actions
    prose = re.sub(r"```.*?```", "", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert set(re.findall(r"`(--[a-z-]+)", prose)) <= set(known)
