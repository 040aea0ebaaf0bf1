"""What is expected of the paper's table: every check can fail, and none goes missing where it does."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from evidence.reproduce.checks import checks_of, slope
from evidence.reproduce.exceeding import SIGMAS, allowed, exceeding_of
from evidence.reproduce.records import HARD, Case, Measured, Repaired

FEW, MANY = "projection on the simplex", "exact total variance: sqrt(V / n)"
CASES = {
    ("distribution", "people"): [Case("distribution", "people", "", n, 1024, 1024, 1.0) for n in (10**3, 10**4, 10**5)],
    ("distribution", "values"): [
        Case("distribution", "values", "", 10**4, J, J, 1.0) for J in (2**8, 2**11, 2**14, 2**17)
    ],
    ("offline", "people"): [Case("offline", "people", "", n, 256, 512, 1.0) for n in (300, 1000, 3000)],
    ("offline", "queries"): [Case("offline", "queries", "", 4000, d, 512, 1.0) for d in (256, 1024, 2048)],
    ("offline", "values"): [Case("offline", "values", "", 4000, 256, J, 1.0) for J in (64, 512, 4096)],
    ("adaptive", "people"): [Case("adaptive", "people", "", n, 16, 1020, 1.0) for n in (10**3, 10**4, 10**5)],
    ("adaptive", "queries"): [Case("adaptive", "queries", "", 10**5, d, 1020, 1.0) for d in (2, 16, 256)],
}
POWERS = {"people": -0.25, "queries": 0.0, "values": 0.0}
PREVIOUS = {"people": -0.5, "queries": 0.5, "values": 0.5}


def points(row="distribution", powers=POWERS, previous=PREVIOUS, shape=0.5, **changed):
    """Points on exact powers, far below their bounds, of all figures of a row."""
    made = []
    for (its_row, along), cases in CASES.items():
        for case in cases if its_row == row else ():
            at = case.at / cases[0].at
            error = 0.3 * at ** powers[along]
            if row == "adaptive":
                d_log_d = case.queries * math.log(case.queries) / 1000
                error = 0.3 * (at**-0.5 if along == "people" else d_log_d**shape)
            for population in ("random", "overfit") if row == "adaptive" else (HARD[row],):
                one = Measured(
                    replace(case, population=population),
                    repeats=8,
                    seed=1,
                    error=error,
                    standard_error=error / 1000,
                    previous=20 * at ** previous[along] if row != "adaptive" else None,
                    previous_standard_error=0.01 if row != "adaptive" else None,
                    bound=9.0,
                    bound_printed=10.0,
                    lower_shape=0.01,
                    bound_statement=FEW,
                    repaired=Repaired(error, error / 1000, 9.0, FEW) if row == "offline" else None,
                )
                made.append(replace(one, **changed))
    return made


def failed(measured, **quick):
    return [check.expected for check in checks_of(measured, **quick) if not check.holds]


@pytest.mark.parametrize("row", ["offline", "distribution", "adaptive"])
def test_what_is_as_expected_passes(row):
    assert failed(points(row)) == []


@pytest.mark.parametrize("row", ["offline", "distribution", "adaptive"])
def test_whatever_is_measured_the_same_checks_are_told(row):
    expected = [check.expected for check in checks_of(points(row))]
    alike = [replace(one, error=5.0, previous=one.previous and 5.0) for one in points(row)]
    for measured in (points(row)[:1], alike, points(row, bound_statement=MANY), points(row, bound_printed=None)):
        for quick in (False, True):
            assert [check.expected for check in checks_of(measured, quick=quick)] == expected


def test_a_gain_that_is_not_there_is_told():
    """Errors that are the previous work's everywhere: the main claim has failed, and its check says so."""
    far = {"bound": 1e6, "bound_printed": 1e6}
    measured = [replace(one, error=one.previous, standard_error=0.01) for one in points(**far)]
    assert failed(measured) == ["error goes like people^-0.25", "error does not grow with a power of values"]


def test_points_are_chosen_by_the_bound_and_not_by_what_was_measured():
    measured = points()
    measured[0] = replace(measured[0], bound_statement=MANY)
    slopes = {check.expected: check for check in checks_of(measured)}
    assert slopes["error goes like people^-0.25"].found == "not measured: 2 points"
    assert slopes["error goes like people^-0.25"].holds is False
    assert slopes["previous work's error goes like people^-0.50"].holds
    quick = {check.expected: check for check in checks_of(measured, quick=True)}
    assert quick["error goes like people^-0.25"].holds is None
    # Nor those where the hardest population would need more values than there are.
    short = [replace(one, case=replace(one.case, values=8)) for one in points() if one.case.along == "people"]
    assert "error goes like people^-0.25" in failed(short)


def test_nothing_measured_is_no_success():
    alone = [one for one in points("adaptive") if one.case.population == "random"]
    told = {check.expected: check for check in checks_of(alone)}
    overfits = told["an analyst who overfits gets no larger error than one whose questions are fixed"]
    assert (overfits.found, overfits.holds) == ("not measured: 0 pairs", False)
    told = {check.expected: check for check in checks_of(points(bound_printed=None))}
    assert told["no error above the bound that the paper prints"].found == "not measured: 0 points"
    assert told["no error above the bound that the paper prints"].holds is False


def test_an_error_above_a_bound_is_told():
    measured = points()
    measured[1] = replace(measured[1], bound=measured[1].error / 2)
    assert failed(measured) == ["no error above the bound stated here"]
    measured[1] = replace(measured[1], bound=9.0, bound_printed=measured[1].error / 2)
    assert failed(measured) == ["no error above the bound that the paper prints"]
    (above,) = exceeding_of(measured)
    assert (above.figure, above.population, above.ratio) == ("distribution-people", "spread", 2.0)
    assert (above.setting, above.beyond_chance) == ("n = 10,000, J = 1,024, epsilon 1", True)
    assert above.why == "not explained"


def test_an_error_without_spread_is_above_for_certain():
    (above,) = exceeding_of([replace(points()[0], standard_error=0.0, bound=0.1)])
    assert (above.sigmas, above.beyond_chance) == (math.inf, True)


def test_a_protocol_of_the_papers_above_a_bound_is_told():
    measured = points("offline")
    low = measured[0].error / 2
    measured[0] = replace(measured[0], repaired=replace(measured[0].repaired, bound=low), bound_printed=low)
    assert failed(measured) == [
        "no error above the bound that the paper prints",
        "no error of rejection sampling above the bound stated here",
        "no error of rejection sampling above the bound that the paper prints",
    ]
    assert sorted((one.protocol, one.bound[:16]) for one in exceeding_of(measured)) == [
        ("rejection", "the bound stated"),
        ("rejection", "the bound that t"),
        ("shipped", "the bound that t"),
    ]


def test_a_point_above_a_bound_by_chance_is_listed_and_no_failure():
    measured = points(bound_statement=MANY)
    measured[2] = replace(measured[2], bound=measured[2].error / 1.005)
    assert "no error above the bound stated here" not in failed(measured)
    (above,) = exceeding_of(measured)
    assert above.sigmas == pytest.approx(5 / 1.005)
    assert not above.beyond_chance
    assert above.why.startswith("within chance: up to 8.5 standard errors for 8 repeats; the bound is the root")


@pytest.mark.parametrize("repeats", [3, 8, 40])
def test_chance_is_students(repeats):
    """As far in the tail of Student's distribution as four standard deviations are in that of the normal one."""
    from scipy.stats import norm, t

    assert t.sf(allowed(repeats - 1), repeats - 1) == pytest.approx(norm.sf(SIGMAS), rel=1e-6)


def test_a_wrong_power_is_told():
    assert failed(points(powers=POWERS | {"people": -0.4})) == ["error goes like people^-0.25"]
    assert failed(points(previous=PREVIOUS | {"people": -0.3})) == ["previous work's error goes like people^-0.50"]
    assert failed(points("offline", powers=POWERS | {"queries": 0.1})) == [
        "error does not grow with a power of queries"
    ]
    # Of d log d, by less than the tenth that would hide an error like d itself.
    assert failed(points("adaptive", shape=0.6)) == ["error goes like (d log d)^+0.50"]
    told = next(check for check in checks_of(points("adaptive", shape=0.6)) if not check.holds)
    assert told.found.startswith("power +0.600 ± 0.000 (overfit, d = 2 to 256, 3 points)")
    assert told.why == "beyond 0.08 and chance: not explained"


def test_previous_work_that_does_better_is_told():
    better = [replace(one, previous=one.error / 2, previous_standard_error=0.0001) for one in points("offline")]
    assert "never a larger error than the previous work's" in failed(better)
    # For distributions it cannot: the reports are the same, and projecting never hurts.
    assert not any("never a larger" in check.expected for check in checks_of(points()))


def test_an_analyst_who_gains_by_overfitting_is_told():
    worse = [
        replace(one, error=one.error * 1.2) if one.case.population == "overfit" else one for one in points("adaptive")
    ]
    assert failed(worse) == ["an analyst who overfits gets no larger error than one whose questions are fixed"]


def test_a_slope_is_that_of_the_power_law_and_its_error_that_of_the_noise():
    rng = np.random.default_rng(1)
    exact = [replace(one, standard_error=one.error / 100) for one in points() if one.case.along == "people"]
    slopes = []
    for _ in range(400):
        noisy = [replace(one, error=one.error * (1 + 0.01 * rng.standard_normal())) for one in exact]
        slopes.append(slope(noisy).value)
    stated = slope(exact)
    assert stated.value == pytest.approx(-0.25, abs=1e-12)
    # 400 draws: a standard deviation is known within 5 % (one sigma), a mean within a twentieth of it.
    assert np.std(slopes) == pytest.approx(stated.standard_error, rel=0.25)
    assert np.mean(slopes) == pytest.approx(-0.25, abs=stated.standard_error / 3)
    # Two ends of eight repeats each, alike, and a middle without weight.
    assert stated.freedom == pytest.approx(14)
