"""One report, two reports: a number with its noun is written by `plural`, wherever a person reads it."""

from __future__ import annotations

import ast
import re
from itertools import pairwise
from pathlib import Path

import pytest

import sottovoce
from import_graph import trees

NOUNS = (
    *("report", "device", "row", "file", "round", "period", "answer", "value", "word", "survey", "bit", "byte"),
    *("run", "step", "choice", "record", "batche", "querie", "segment"),
)
COUNTED = re.compile(rf"\A (?:[a-z]+ )?(?:people|(?:{'|'.join(NOUNS)})s)\b")
ROOMS = ("sottovoce.analyst.", "sottovoce.cli.")


def unchecked(tree: ast.AST) -> list[int]:
    """Lines with an f-string that writes a whole number and, right after it, a noun in the plural.

    A figure with digits behind the point is no count, and neither is a limit, which is written in capitals.
    """
    found = []
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for number, after in pairwise(parts):
            if not isinstance(number, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            spec = "" if number.format_spec is None else ast.unparse(number.format_spec)
            written = ast.unparse(number.value)
            is_count = spec == "f','" or (not spec and "len(" in written)
            if is_count and not written.lstrip("_").isupper() and COUNTED.match(str(after.value)):
                found.append(node.lineno)
    return found


LEFT = {
    "sottovoce.analyst.find": "it is said of two or more",
    "sottovoce.analyst.live": "of a round's choices, of which there are two or more",
    "sottovoce.cli.estimate_curve": "it is said of two or more",
    "sottovoce.cli.device_options": "it is said of two or more",
}
"""Modules that may write such a number, and why."""


def test_counts_are_written_by_plural() -> None:
    read = trees(Path(sottovoce.__file__).parent)
    found = {name: unchecked(tree) for name, tree in read.items() if name.startswith(ROOMS)}
    assert {name: lines for name, lines in found.items() if lines and name not in LEFT} == {}
    assert {name for name in LEFT if not found[name]} == set(), "no longer needed"


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ('f"{n:,} reports"', True),
        ('f"of {len(rows)} different values"', True),
        ('f"{n:.1f} days, {n:.0f} reports"', False),
        ('f"at most {MOST:,} reports"', False),
        ("f\"{plural(n, 'report')} and {n:,} more\"", False),
    ],
)
def test_what_is_found(text: str, is_found: bool) -> None:
    assert bool(unchecked(ast.parse(text))) is is_found
