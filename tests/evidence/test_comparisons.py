"""The measurement of comparisons, in small: what it finds is what its page says, and the page names every case."""

from __future__ import annotations

from pathlib import Path

import pytest

from evidence.experiments.comparisons import (
    EXACT,
    KINDS,
    PLANNED,
    WATCHED,
    exact,
    planned_power,
    simulated,
    watched,
    watched_power,
)

PAGE = Path(__file__).parents[2] / "docs/contributors/comparisons.md"


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def test_the_page_has_every_case() -> None:
    """Tables are a heading, a line below it, and a row for each case."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == len(EXACT) + len(PLANNED) + len(KINDS) + len(WATCHED) + 4 + 5


def test_an_exact_row_is_what_the_page_says() -> None:
    size, difference, ratio = (f"{100 * share:.1f} %" for share in exact(EXACT[-1]))
    assert row("25 at epsilon 4", "25 at epsilon 4", size, difference, ratio) in PAGE.read_text()
    assert size == "6.5 %"


def test_the_planned_power_is_what_the_page_says() -> None:
    groups, power = planned_power(1.0, (0.45, 0.53, 1.0))
    assert groups == (2868, 2868)
    assert row("1", "45 % against 53 %", "2,868 and 2,868", f"{100 * power:.1f} %") in PAGE.read_text()


def test_watched_tests_are_seldom_wrong_and_others_often() -> None:
    every, once, wrong = watched(1.0, 0.5, 1, 60)
    assert max(every, wrong) <= 0.1  # 5 % of 60 tests, but for 1.8 standard errors
    assert once > 0.2
    planned, by_then, _ = watched_power(1.0, (0.45, 0.53), 40)
    assert planned == 2868
    assert by_then[0] < by_then[2]


def test_a_kind_is_simulated() -> None:
    answers, single, *_, held = simulated(0, 5)
    assert answers == 8
    assert single + held == pytest.approx(1.0, abs=0.2)
