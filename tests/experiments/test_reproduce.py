"""The paper's table measured: the same for a seed, and honest about what it did not find."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from sottovoce.errors import SimulationError
from sottovoce.experiments.reproduce.checks import checks_of
from sottovoce.experiments.reproduce.findings import findings
from sottovoce.experiments.reproduce.grid import FULL, QUICK, people_in
from sottovoce.experiments.reproduce.page import render, write
from sottovoce.experiments.reproduce.populations import POPULATIONS, shares
from sottovoce.experiments.reproduce.records import Case, Measured, seed_of
from sottovoce.experiments.reproduce.repeats import check_repeats, mean_and_error
from sottovoce.experiments.reproduce.run import grid_of, reproduce
from sottovoce.experiments.reproduce.slopes import slope


@pytest.fixture(scope="module")
def found():
    return reproduce(seed=3, quick=True)


def points(row="distribution", along="users", population="spread", power=-0.25, previous=-0.5, **changed):
    """Points on exact powers, far below their bounds."""
    made = []
    for n in (1e3, 1e4, 1e5, 1e6):
        case = Case(row, along, population, int(n), 1024, 1024, 1.0)
        error = 0.3 * (n / 1e3) ** power
        one = Measured(
            case,
            8,
            1,
            error,
            error / 100,
            20 * (n / 1e3) ** previous if row != "adaptive" else None,
            0.01 if row != "adaptive" else None,
            bound=9.0,
            bound_printed=10.0,
            lower_shape=0.01,
        )
        made.append(replace(one, **changed))
    return made


def failed(measured):
    return [check.expected for check in checks_of(measured) if not check.holds]


def test_the_same_seed_gives_the_same_figures_whatever_else_is_measured(found):
    alone = reproduce(["distribution"], seed=3, quick=True)
    assert list(alone.measured) == [one for one in found.measured if one.case.row == "distribution"]
    other = reproduce(["distribution"], seed=4, quick=True)
    assert all(mine.error != theirs.error for mine, theirs in zip(alone.measured, other.measured, strict=True))


def test_every_case_has_a_seed_of_its_own():
    cases = [case for figure in FULL for case in figure.cases()]
    told = {(c.row, c.population, c.users, c.queries, c.values, c.epsilon) for c in cases}
    assert len({seed_of(7, case) for case in cases}) == len(told)


def test_what_is_expected_of_the_quick_grid_is_found(found):
    assert [check for check in found.checks if not check.holds] == []
    assert {row.name for row in found.table} == {"offline", "distribution", "adaptive"}
    for one in found.measured:
        assert 0 < one.standard_error < one.error
        assert one.previous is None or one.previous > 0


def test_an_error_above_a_bound_is_told():
    measured = points()
    assert failed(measured) == []
    measured[1] = replace(measured[1], bound=measured[1].error / 2)
    assert failed(measured) == ["no error above the bound proved here"]
    measured[1] = replace(measured[1], bound=9.0, bound_printed=measured[1].error / 2)
    assert failed(measured) == ["no error above the bound that the paper prints"]
    # Within chance it is not.
    measured[1] = replace(measured[1], bound_printed=measured[1].error * 0.97)
    assert failed(measured) == []


def test_a_wrong_power_is_told():
    assert failed(points(power=-0.4)) == ["error goes like people^-0.25"]
    assert failed(points(previous=-0.3)) == ["previous work's error goes like people^-0.50"]


def test_previous_work_that_does_better_is_told():
    better = [replace(one, previous=one.error / 2, previous_standard_error=0.001) for one in points()]
    assert "never a larger error than the previous work's" in failed(better)


def test_an_analyst_who_gains_by_overfitting_is_told():
    fixed = points("adaptive", population="random", power=-0.5)
    overfit = points("adaptive", population="overfit", power=-0.5)
    assert failed([*fixed, *overfit]) == []
    worse = [replace(one, error=one.error * 1.2) for one in overfit]
    assert failed([*fixed, *worse]) == [
        "an analyst who overfits gets no larger error than one whose questions are fixed"
    ]


def test_a_slope_is_that_of_the_power_law_and_its_error_that_of_the_noise():
    rng = np.random.default_rng(1)
    slopes = []
    for _ in range(400):
        noisy = [replace(one, error=one.error * (1 + 0.01 * rng.standard_normal())) for one in points()]
        slopes.append(slope(noisy).value)
    stated = slope(points())
    assert stated.value == pytest.approx(-0.25, abs=1e-12)
    # 400 draws: a standard deviation is known within 5 % (one sigma), a mean within a twentieth of it.
    assert np.std(slopes) == pytest.approx(stated.standard_error, rel=0.25)
    assert np.mean(slopes) == pytest.approx(-0.25, abs=stated.standard_error / 3)


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize(("users", "values"), [(1, 2), (10**3, 64), (10**9, 7)])
def test_shares_are_a_distribution(population, users, values):
    p = shares(Case("distribution", "users", population, users, values, values, 1.0))
    assert p.shape == (values,)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-12)


def test_mistakes_are_told():
    with pytest.raises(
        SimulationError, match=r"'table2' is no part .* table1, offline, distribution, adaptive, findings"
    ):
        grid_of(["table2"], quick=True)
    with pytest.raises(SimulationError, match="one alone has no standard error"):
        check_repeats(1)
    with pytest.raises(SimulationError, match="population must be one of point"):
        shares(Case("distribution", "users", "poisson", 10, 4, 4, 1.0))


def test_the_grids_hold_what_they_say():
    assert [figure.name for figure in grid_of(["adaptive"], quick=False)] == [
        "adaptive-users",
        "adaptive-queries",
        "adaptive-epsilon",
    ]
    assert grid_of(["table1"], quick=False) == FULL == grid_of([], quick=False)
    assert grid_of(["findings"], quick=True) == ()
    assert people_in(()) == 0
    assert people_in(QUICK) == sum(
        figure.repeats * case.users * (2 if case.row == "offline" else 1) for figure in QUICK for case in figure.cases()
    )


def test_findings_are_those_of_the_page(found):
    told = {(one.where, one.claim): one for one in findings(seed=5)}
    assert f"{told['Theorem 3.1', 'delta of the Gaussian randomizer'].found:.3g}" == "0.00144"
    assert f"{told['Theorem 3.3', 'mass that tells two values apart for certain'].found:.4f}" == "0.0298"
    assert f"{told['Theorem 3.3', 'probability of the bad region'].found:.3f}" == "0.064"
    assert sum(one.stands for one in told.values()) == 2
    assert {one.where for one in found.findings} == {where for where, _ in told}


def test_files_hold_all_of_it_and_are_the_same_again(found, tmp_path):
    written = write(found, tmp_path / "one")
    again = write(found, tmp_path / "two")
    assert [path.name for path in written] == [path.name for path in again]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(written, again, strict=True))
    names = {path.name for path in written}
    figures = {f"{figure.name}{ending}" for figure in QUICK for ending in (".svg", ".png")}
    tables = {"table1.csv", "measured.csv", "checks.csv", "findings.csv"}
    assert names == figures | tables | {"reproduction.json", "reproduction.html"}
    with (tmp_path / "one" / "measured.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["error"]) for row in rows] == [one.error for one in found.measured]
    told = json.loads((tmp_path / "one" / "reproduction.json").read_text())
    assert (told["seed"], len(told["measured"])) == (3, len(found.measured))
    page = (tmp_path / "one" / "reproduction.html").read_text()
    assert page.count("<svg") == len(QUICK)
    assert "to see that it works" in page
    # It holds all that it shows.
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page.replace("xlink:href", "href"))
    assert "<script" not in page


def test_a_failed_expectation_is_shown_as_such(found):
    planted = replace(found.measured[0], bound=found.measured[0].error / 9)
    measured = (planted, *found.measured[1:])
    page = render(
        replace(found, measured=measured, checks=checks_of(measured)), {figure.name: "" for figure in found.figures}
    )
    assert "NOT as expected" in page
    assert f"1 of {len(found.checks)} expectations failed" in page
    assert "NOT as expected" not in render(found, {figure.name: "" for figure in found.figures})


def test_a_part_that_was_not_asked_for_has_no_empty_table(found):
    alone = replace(found, figures=(), measured=(), table=(), checks=())
    page = render(alone, {})
    assert "What the paper claims" in page
    assert not any(words in page for words in ("The table</h2>", "What was expected", "Figures</h2>", "expectations"))


def test_nothing_is_written_before_all_is_drawn(found, tmp_path):
    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(found, tmp_path / "new", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_mean_comes_with_its_standard_error():
    assert mean_and_error([2.0, 2.0, 2.0]) == (2.0, 0.0)
