"""The measurement of weighting, in small: bias is removed, intervals hold, and the page names every case."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evidence.experiments.weighting import CASES, Case, measure

PAGE = Path(__file__).parents[2] / "docs/contributors/weighting.md"


def test_the_page_has_every_case() -> None:
    """A heading, and a row for each case."""
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == len(CASES) + 1


@pytest.mark.parametrize(
    "case",
    [
        Case("fields age and sex", (), ("age", "sex"), "greg", 2.0, 20_000),
        Case("groups of age, field sex", ("age",), ("age", "sex"), "rake", 4.0, 5_000),
    ],
    ids=lambda case: f"{case.name}, {case.method}",
)
def test_the_bias_is_removed_and_the_intervals_hold(case: Case) -> None:
    """The evidence, in short: 40 runs. The tolerances are four of their standard errors."""
    found = measure(case, runs=40)
    assert found.refused == 0
    assert found.before > 0.08
    assert abs(found.bias) < 4 * found.uncertain
    assert found.empirical / found.stated == pytest.approx(1, abs=4 / np.sqrt(2 * 40))
    assert found.held > 0.95 - 4 * np.sqrt(0.95 * 0.05 / 40)
    assert found.worth < case.people
