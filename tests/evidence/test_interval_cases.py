"""The measurement of intervals case by case: a few runs of a few cases."""

from __future__ import annotations

import math

from evidence.experiments.interval_cases import CASES, measure, measure_looks, measure_periods


def test_a_share_at_the_end_of_its_range_is_no_point_and_inside() -> None:
    case = next(case for case in CASES if case.group == "one share" and case.truth == 1.0)
    found = measure(case, 10)
    assert (found.points, found.outside, found.unknown) == (0.0, 0.0, 0.0)
    assert found.covered >= 0.8
    assert found.width > 0


def test_a_ratio_over_nobody_is_unknown() -> None:
    case = next(case for case in CASES if math.isnan(case.truth))
    assert measure(case, 3).unknown == 1.0


def test_changes_of_periods_and_looks_are_measured() -> None:
    assert measure_periods(5)["covered"] >= 0.6
    looks = measure_looks(2, 5)
    assert looks["every look, half-width"] > looks["one look, half-width"] > 0
