"""The measurement of relations, in small: what it finds is near what its page says, and the page names every case."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import sottovoce as sv
from evidence.experiments.relations import (
    CASES,
    LINE,
    LISTS,
    NEEDED,
    WAGES,
    coverage,
    estimates,
    list_slopes,
    people_of,
    real_slopes,
    report_chances,
)

PAGE = Path(__file__).parents[2] / "docs/contributors/relations.md"


def test_the_page_has_every_case() -> None:
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    assert len(rows) == len(CASES) + len(NEEDED) + len(LISTS) + 2 * len(WAGES) + 4


def test_intervals_hold_as_often_as_they_say() -> None:
    found = coverage("uneven noise", (1.0, 100_000), 200)
    assert min(found[:3]) > 0.9  # 95 % of 200, but for 3.2 standard errors
    assert found.unbounded == 0
    weak = coverage("weak x", (1.0, 10_000), 60)
    assert weak.slope > 0.85
    assert weak.unbounded > 0.5


def test_reports_are_drawn_by_the_law_of_simulations() -> None:
    """Multinomial numbers of rows have the means and the spread that simulated people have."""
    x, y = people_of("normal", np.random.default_rng(1), 2_000)
    survey = sv.Survey(LINE, epsilon=2.0)
    people = {"x": x, "outcome": y}
    drawn = np.array([one.raw for one in estimates(survey, report_chances(survey, people), 2_000, 200, (1,))])
    simulated = np.array([survey.estimate(survey.simulate(people, seed=seed)).raw for seed in range(100)])
    error = np.sqrt(drawn.var(axis=0) * (1 / 200 + 1 / 100))
    assert (np.abs(drawn.mean(axis=0) - simulated.mean(axis=0)) < 4 * error).all()
    assert (np.abs(np.log(drawn.std(axis=0) / simulated.std(axis=0))) < 0.35).all()


def test_a_plan_for_a_list_is_kept() -> None:
    _, error, held = list_slopes(4.0, 0.3, 200)
    assert error < 0.06
    assert held > 0.9


def test_real_people_have_their_slopes() -> None:
    for _, truth, mean, error, _ in real_slopes(4.0, 1_000_000, 6):
        assert abs(mean - truth) < 4 * error
