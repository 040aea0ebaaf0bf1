"""The experiment behind docs/combining.md, at a small size, and its table on the page."""

from __future__ import annotations

import re

import pytest

from document import ROOT
from evidence.experiments import likeliest_error as experiment


def test_a_small_grid_is_measured_and_drawn(tmp_path) -> None:
    points = experiment.measure_likeliest(("countries", "initials"), (1.0, 4.0), (2_000,), repeats=3)
    assert [(point.population, point.epsilon) for point in points] == [
        (population, epsilon) for population in ("countries", "initials") for epsilon in (1.0, 4.0)
    ]
    assert [point.values for point in points] == [198, 198, 26, 26]
    for point in points:
        assert 0 < point.l2_likeliest < point.l1_likeliest < 2
        assert 0.5 < point.l2_ratio < 1.5
        assert 0 <= point.deviation < 0.3
    experiment.save_picture(points, tmp_path / "likeliest.png")
    assert (tmp_path / "likeliest.png").stat().st_size > 10_000
    rows = experiment.table(points).splitlines()
    assert rows[0] == "| population | values | people | ε = 1 | ε = 4 |"
    assert len(rows) == 4
    assert f"{points[-1].l2_ratio:.2f} ({points[-1].l1_ratio:.2f})" in rows[3]


@pytest.mark.parametrize("population", experiment.POPULATIONS)
def test_populations_are_real_shares(population: str) -> None:
    shares = experiment.shares_of(population)
    assert shares.sum() == pytest.approx(1.0)
    assert (shares >= 0).all()


def test_the_page_has_the_whole_table_and_a_cell_can_be_measured_again() -> None:
    page = (ROOT / "docs" / "combining.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+) \| ([\d,]+) \| ([\d,]+) \| (.*) \|$", page, re.MULTILINE)
    told = [(population, int(people.replace(",", ""))) for population, _, people, _ in rows]
    assert told == [(population, people) for population in experiment.POPULATIONS for people in experiment.PEOPLE]
    assert all(len(cells.split(" | ")) == len(experiment.EPSILONS) for *_, cells in rows)
    found = experiment.measure_one("initials", 4.0, 10_000)
    cells = next(cells for population, _, people, cells in rows if (population, people) == ("initials", "10,000"))
    assert cells.split(" | ")[-1] == f"{found.l2_ratio:.2f} ({found.l1_ratio:.2f})"
