"""The paper's table measured: the same for a seed, and honest about what it did not find."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import replace
from html import escape

import numpy as np
import pytest

import sottovoce as sv
from evidence.reproduce.checks import EXPECTED, checks_of, chosen_for
from evidence.reproduce.coverage import EPSILONS, PEOPLE, cells_of, measure_cell
from evidence.reproduce.coverage import POPULATIONS as COVERED
from evidence.reproduce.coverage_summary import cell_told, coverage_checks
from evidence.reproduce.exceeding import exceeding_of
from evidence.reproduce.findings import findings
from evidence.reproduce.grid import FULL, QUICK, people_in
from evidence.reproduce.page import render, write
from evidence.reproduce.pictures import caption, slope_said
from evidence.reproduce.records import Case, Measured, seed_of
from evidence.reproduce.rows import POPULATIONS, shares
from evidence.reproduce.run import Reproduction, grid_of, people_of, reproduce
from refusing import refuses
from sottovoce.auditing.page import build_facts
from sottovoce.core.errors import SimulationError
from sottovoce.lab.simulation.repeats import check_repeats, mean_and_error
from sottovoce.mechanisms import MECHANISMS
from sottovoce.mechanisms.codebook import Codebook
from sottovoce.questions import Queries
from sottovoce.surveys.survey import Survey
from sottovoce.theory.bounds import Bound
from sottovoce.theory.offline_bounds import projected_bound

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def heard():
    """How many people `progress` was told of, call by call."""
    return []


@pytest.fixture(scope="module")
def found(heard):
    return reproduce(seed=3, quick=True, progress=heard.append)


def test_progress_ends_where_it_should(found, heard):
    assert sum(heard) == people_in(found.figures)


def test_the_same_seed_gives_the_same_figures_whatever_else_is_measured(found):
    alone = reproduce(["distribution"], seed=3, quick=True)
    assert list(alone.measured) == [one for one in found.measured if one.case.row == "distribution"]
    other = reproduce(["distribution"], seed=4, quick=True)
    assert all(mine.error != theirs.error for mine, theirs in zip(alone.measured, other.measured, strict=True))


def test_every_case_has_a_seed_of_its_own():
    cases = [case for figure in FULL for case in figure.cases()]
    told = {(c.row, c.population, c.people, c.queries, c.values, c.epsilon) for c in cases}
    assert len({seed_of(7, case) for case in cases}) == len(told)


def test_what_is_expected_of_the_quick_grid_is_found(found):
    assert found.as_expected
    assert [check for check in found.checks if check.holds is False] == []
    # Too few points for a slope: that is said, and is no success.
    left = [check for check in found.checks if check.holds is None]
    assert "error goes like people^-0.25" in {check.expected for check in left}
    assert all(check.found.startswith("not measured: ") for check in left)
    assert {row.name for row in found.table} == {"offline", "distribution", "adaptive"}
    for one in found.measured:
        assert 0 < one.standard_error < one.error
        assert one.previous is None or one.previous > 0
        hard_offline = (one.case.row, one.case.population) == ("offline", "spread")
        assert (one.repaired is not None) == hard_offline


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize(("people", "values"), [(1, 2), (10**3, 64), (10**9, 7)])
def test_shares_are_a_distribution(population, people, values):
    p = shares(Case("distribution", "people", population, people, values, values, 1.0))
    assert p.shape == (values,)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-12)


def test_mistakes_are_told():
    with pytest.raises(SimulationError, match=r"'table2' cannot be reproduced; choose among table1, .*, coverage"):
        grid_of(["table2"], quick=True)
    with refuses(SimulationError, "repeats"):
        check_repeats(1, fewest=2)
    with refuses(SimulationError, "population"):
        shares(Case("distribution", "people", "poisson", 10, 4, 4, 1.0))


def test_the_grids_hold_what_they_say():
    assert [figure.name for figure in grid_of(["adaptive"], quick=False)] == [
        "adaptive-people",
        "adaptive-queries",
        "adaptive-epsilon",
    ]
    assert grid_of(["table1"], quick=False) == FULL == grid_of([], quick=False)
    assert grid_of(["findings"], quick=True) == ()
    assert people_in(()) == 0
    assert people_in(QUICK) == sum(
        figure.repeats * case.people * answers(case) for figure in QUICK for case in figure.cases()
    )


def answers(case):
    return 1 if case.row != "offline" else 3 if case.population == "spread" else 2


@pytest.mark.parametrize("expected", [one for one in EXPECTED if one.of == "error"], ids=lambda one: one.words())
def test_the_full_grid_has_the_points_of_every_power(expected):
    """Which points these are is known before anything is measured: by the parameters, at no cost."""
    figure = next(one for one in FULL if (one.still.row, one.still.along) == (expected.row, expected.along))
    foreseen = []
    for case in figure.cases():
        if expected.row == "distribution":
            stated = Survey(sv.shares(case.values), epsilon=case.epsilon, mechanism="hadamard").bound(case.people)
        elif expected.row == "offline" and case.population == "spread":
            own = Codebook.best(case.queries, 1.0, case.epsilon, 0.0, case.people)
            V = own.sharing_factor(case.people) * own.worst_total_variance / case.people
            stated = projected_bound(math.sqrt(V), own.expected_maximum(case.values, case.people), 2.0)
        else:
            stated = Bound(1.0, "")
        foreseen.append(Measured(case, 8, 1, 0.1, 0.01, None, None, stated.value, None, 0.1, stated.statement))
    assert len(chosen_for(expected, foreseen)) >= 3


def test_findings_are_those_of_the_page(found):
    computed = findings(seed=5)
    told = {(one.where, one.claim): one for one in computed}
    assert f"{told['Theorem 3.1', 'delta of the Gaussian randomizer'].found:.3g}" == "0.00144"
    assert f"{told['Theorem 3.3', 'mass that tells two values apart for certain'].found:.4f}" == "0.0298"
    assert f"{told['Theorem 3.3', 'probability of the bad region'].found:.3f}" == "0.064"
    assert f"{told['Theorem 3.1', 'epsilon of the Gaussian randomizer'].found:.3f}" == "1.576"
    assert "at least 1." in told["Theorem 3.1", "epsilon of the Gaussian randomizer"].how
    assert f"{told['Theorem 3.4', 'constant of d log n/(n epsilon^2)'].found:.2f}" == "16.65"
    assert f"{told['Theorem 3.4, few people', 'constant of log J log n/(n epsilon^2)'].found:.1f}" == "277.1"
    assert f"{told['Theorem 3.4, its log n', 'a bound for pure epsilon, as one for the codebook'].found:.3f}" == "0.162"
    assert told["Lemma 2.2", "squared error after projecting"].found == pytest.approx(4, abs=1e-9)
    assert all(one.as_expected for one in computed)
    assert not any(replace(one, stands=not one.stands).as_expected for one in computed)
    assert [one.stands for one in computed if one.where == "Theorem 3.2"] == [True, False]
    assert {one.where for one in found.findings} == {where for where, _ in told}


def test_files_hold_all_of_it_and_are_the_same_again(found, tmp_path):
    written = write(found, tmp_path / "one")
    again = write(found, tmp_path / "two")
    assert [path.name for path in written] == [path.name for path in again]
    assert all(a.read_bytes() == b.read_bytes() for a, b in zip(written, again, strict=True))
    names = {path.name for path in written}
    figures = {f"{figure.name}{ending}" for figure in QUICK for ending in (".svg", ".png")}
    tables = {"table1.csv", "measured.csv", "checks.csv", "findings.csv"}
    tables |= {"exceeding.csv"} if found.exceeding else set()
    assert names == figures | tables | {"reproduction.json", "reproduction.html"}
    with (tmp_path / "one" / "measured.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["error"]) for row in rows] == [one.error for one in found.measured]
    told = json.loads((tmp_path / "one" / "reproduction.json").read_text())
    assert (told["seed"], len(told["measured"])) == (3, len(found.measured))
    assert list(told["made"]) == ["Sottovoce", "Python", "NumPy", "system", "made"]
    assert [one["ratio"] for one in told["exceeding"]] == [one.ratio for one in found.exceeding]
    page = (tmp_path / "one" / "reproduction.html").read_text()
    assert page.count('<svg role="img" aria-label="') == page.count("<svg") == page.count("<figcaption>") == len(QUICK)
    assert f"NumPy {np.__version__}" in page
    assert "to see that it works" in page
    # It holds all that it shows.
    assert not re.findall(r"""(?:src|href)=["'](?!#)""", page.replace("xlink:href", "href"))
    assert "<script" not in page


def test_a_failed_expectation_is_shown_as_such(found):
    planted = replace(found.measured[0], standard_error=1e-9, bound=found.measured[0].error / 9)
    measured = (planted, *found.measured[1:])
    page = render(
        replace(found, measured=measured, checks=checks_of(measured, quick=True), exceeding=exceeding_of(measured)),
        nothing(found),
    )
    assert "NOT as expected" in page
    assert f"1 of {len(found.checks)} expectations failed" in page
    assert "not explained" in page
    fine = render(found, nothing(found))
    assert not any(words in fine for words in ("NOT as expected", "not explained", "NOT as in the findings"))
    other = replace(found, findings=(replace(found.findings[0], stands=False), *found.findings[1:]))
    assert not other.as_expected
    assert "NOT as in the findings" in render(other, nothing(found))


def nothing(found):
    """No pictures."""
    return {figure.name: "" for figure in found.figures}


def test_points_above_a_bound_are_on_the_page_and_so_is_that_there_are_none(found):
    first = found.measured[0]
    little = replace(first, bound=first.error / (1 + 1e-9))
    above = exceeding_of([little, *found.measured[1:]])
    page = render(replace(found, exceeding=above), nothing(found))
    assert "within chance" in above[-1].why
    for one in above:
        assert escape(f"{one.population}, {one.setting}") in page
        assert escape(one.why) in page
    none = render(replace(found, exceeding=()), nothing(found))
    assert f"None of the {len(found.measured)} points is above a bound" in none


@pytest.mark.parametrize(
    ("row", "told", "untold"),
    [
        ("adaptive", ("random", "overfit"), ("point", "zipf")),
        ("distribution", ("point", "zipf"), ("random", "overfit")),
    ],
)
def test_the_page_explains_what_is_drawn_and_nothing_else(found, row, told, untold):
    figures = tuple(figure for figure in found.figures if figure.still.row == row)
    alone = replace(found, figures=figures, measured=tuple(one for one in found.measured if one.case.row == row))
    page = render(alone, nothing(found))
    assert all(f"<i>{name}</i>:" in page for name in told)
    assert not any(f"<i>{name}</i>:" in page for name in untold)


def test_a_caption_tells_what_its_figure_has(found):
    told = {figure.name: caption(figure, found.of(figure)) for figure in found.figures}
    assert "rejection sampling made sound" in told["offline-people"]
    assert "sphere sampling" in told["offline-people"]
    assert "rejection sampling" not in told["distribution-people"]
    assert "n = 300 to 30,000; J = 64, epsilon 1." in told["distribution-people"]
    assert "analysts random, overfit." in told["adaptive-queries"]


def test_a_slope_is_said_with_its_points():
    full = [one for n in (1e3, 1e4, 1e5) for one in adaptive_points(int(n))]
    assert slope_said(full) == "slope -0.500 ± 0.003 (overfit, n = 1,000 to 100,000)"
    assert slope_said(full[:4]) is None
    assert slope_said([]) is None


def adaptive_points(people):
    return [
        Measured(
            Case("adaptive", "people", name, people, 16, 1020, 1.0),
            *(8, 1, people**-0.5, 0.01 * people**-0.5, None, None, 1.0, 2.0, 0.1, "corrected"),
        )
        for name in ("random", "overfit")
    ]


def test_a_part_that_was_not_asked_for_has_no_empty_table(found):
    alone = replace(found, figures=(), measured=(), table=(), checks=(), exceeding=())
    page = render(alone, {})
    assert "What the paper claims" in page
    assert not any(
        words in page
        for words in ("The table</h2>", "What was expected", "Figures</h2>", "expectations", "above a bound")
    )


def test_nothing_is_written_before_all_is_drawn(found, tmp_path):
    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(found, tmp_path / "new", interrupt)
    assert list(tmp_path.iterdir()) == []


def test_a_mean_comes_with_its_standard_error():
    assert mean_and_error([2.0, 2.0, 2.0]) == (2.0, 0.0)


def test_the_footnote_is_that_of_offline_queries(found):
    assert page_of(found, "offline").count("#unproved") == page_of(found, "offline").count('id="unproved"') == 1
    assert "unproved" not in page_of(found, "distribution")
    assert "proved here" not in render(found, nothing(found))


def page_of(found, row):
    return render(replace(found, table=tuple(one for one in found.table if one.name == row)), nothing(found))


def test_coverage_is_measured_only_if_it_is_named(found):
    assert found.coverage == ()
    assert found.to_dict()["coverage"] == {}
    assert people_of([], quick=True) == people_in(QUICK)
    assert people_of(["coverage"], quick=True) == sum(cell.repeats * cell.people for cell in cells_of(quick=True))


@pytest.fixture(scope="module")
def covered():
    cells = cells_of(quick=True)[-10:]
    rows = tuple(measure_cell(cell, 3) for cell in cells)
    none = replace(cells[0], people=10**12)
    rows += (measure_cell(none, 3),)
    return Reproduction(3, True, (), (), (), coverage_checks(rows), (), (), rows, build_facts())


def test_the_coverage_has_its_own_page_and_files(covered, tmp_path):
    written = {path.name: path for path in write(covered, tmp_path)}
    assert set(written) == {
        *("checks.csv", "coverage.csv", "coverage.json", "coverage.svg", "coverage.png"),
        *("reproduction.json", "reproduction.html"),
    }
    with written["coverage.csv"].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 11
    assert rows[-1]["skipped"].startswith("the reports of one run take about ")
    assert rows[-1]["single"] == ""
    told = json.loads(written["coverage.json"].read_text())
    assert told == json.loads(written["reproduction.json"].read_text())["coverage"]
    assert (told["cells"], sum(told["skipped"].values())) == (11, 1)
    page = written["reproduction.html"].read_text()
    assert "<h1>Intervals, measured</h1>" in page
    assert "Table 1" not in page
    for one in told["designs"]:
        assert escape(one["name"]) in page
    assert covered.as_expected


def test_a_coverage_below_the_level_and_a_width_beyond_are_failures(covered):
    (first, *others) = covered.coverage
    low = replace(first, found=replace(first.found, evidence=9.0))
    assert coverage_checks([low, *others])[0].holds is False
    wide = replace(first, found=replace(first.found, widest_of_many=1.2))
    check = coverage_checks([wide, *others])[1]
    assert (check.holds, "1.200" in check.found, cell_told(first.cell) in check.found) == (False, True, True)
    assert coverage_checks(covered.coverage[-1:]) == ()


def test_a_cell_has_a_seed_of_its_own_and_repeats_that_follow_from_its_size():
    cells = cells_of(quick=False)
    assert len({cell.seed(7) for cell in cells}) == len(cells)
    assert all(cell.repeats >= 10 or (cell.repeats == 0 and cell.skipped) for cell in cells)
    asked = {(cell.epsilon, cell.population, cell.people) for cell in cells}
    assert len(asked) == len(EPSILONS) * len(COVERED) * len(PEOPLE)
    assert {cell.design.mechanism for cell in cells} >= set(MECHANISMS) - {
        *("sphere", "hierarchical", "haar", "fourier", "matrix_channel"),
        *("rounded_channel", "tables", "products", "set_selection", "wheel", "one_option", "hashed_prefixes"),
    }
    assert {cell.design.strategy for cell in cells} == set(Queries.strategies) - {"tables"}
