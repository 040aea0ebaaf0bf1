"""The measurement of forms, in small: made-up records come nearer than independent columns, intervals hold."""

from __future__ import annotations

from pathlib import Path

from evidence.experiments.forms import MADE_UP, RELATED, made_up, related

PAGE = Path(__file__).parents[2] / "docs/contributors/forms.md"


def test_the_page_has_every_case() -> None:
    """Tables are a heading, a line below it, and a row for each case."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == len(MADE_UP) + len(RELATED) + 2


def test_made_up_records_are_nearer_than_independent_columns() -> None:
    found = made_up(MADE_UP[1]._replace(reports=20_000), records=2_000)
    assert found.pairs < 0.2 * found.independent
    assert found.alone < found.pairs


def test_a_relation_of_a_form_holds() -> None:
    """Of 12 intervals of 95 % three or more fail in 2 % of seeds."""
    found = related("normal", 4.0, 10_000, 12)
    assert min(found.slope, found.correlation) >= 9 / 12
    assert abs(found.mean - found.true) < found.width / 2
