"""What people get wrong, one test each: the error names the field, what is allowed, and what to do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import (
    DomainError,
    MechanismError,
    MismatchError,
    NoReportsError,
    ReportError,
    SimulationError,
    SurveyError,
    ValueOutsideDomainError,
)
from sottovoce.core.limits import check_delta, check_radius
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.surveys.simulation import histogram_of

COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def survey() -> sv.Survey:
    return sv.Survey(sv.shares(COLOURS), epsilon=1.0, mechanism="hadamard")


@pytest.mark.parametrize(
    "epsilon",
    [
        *(0, 0.0, -1.0, -3, math.nan, math.inf, -math.inf, 1e6, math.nextafter(16, 17), math.nextafter(2.0**-20, 0)),
        *(10**400, pytest.param(10**5000, id="5001 digits"), "1", None, True, 1 + 0j, [1.0], np.array(1.0)),
    ],
    ids=lambda value: repr(value)[:25],
)
def test_epsilon(epsilon: Any) -> None:
    with refuses(SurveyError, "epsilon"):
        sv.Survey(sv.shares(COLOURS), epsilon=epsilon)
    with refuses(SurveyError, "epsilon"):
        serving(FiniteMechanism)["hadamard"](5, epsilon)


def test_an_error_says_what_was_given_what_is_allowed_and_what_is_usual() -> None:
    with pytest.raises(SurveyError, match=r"is 0: .* from 9\.5e-07 to 16; typical deployments use 0\.5 to 4"):
        sv.Survey(sv.shares(COLOURS), epsilon=0)


@pytest.mark.parametrize(
    "values",
    [
        *(0, 1, -5, 2**40 + 1, pytest.param(10**5000, id="5001 digits"), 5.0, math.nan, True, "abc", None, {"a"}),
        *([], ["a"], ["a", "a"], ["a", 1], [1.5, 2.5], ["a", "\ud800"], [0, 2**53]),
        *(range(0), range(2**63 - 1, 2**63 + 1)),
        *({}, {"a b": 5}, {"a": {"b": 5}}, {"a": 2**40, "b": 2**40}, {"a": 2**40, "b": 2}),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_domain(values: Any) -> None:
    with refuses(DomainError, "values"):
        sv.Survey(sv.shares(values), epsilon=1.0)


def test_mechanism() -> None:
    for unknown in ("rappor", None, [], 5, "codebook"):
        with refuses(MechanismError, "mechanism"):
            sv.Survey(sv.shares(5), epsilon=1.0, mechanism=unknown)  # type: ignore[arg-type]
    with refuses(MechanismError, "mechanism"):
        sv.Survey(sv.vector(5, 1.0), epsilon=1.0, delta=0.0, mechanism="hadamard")
    with refuses(MechanismError, "mechanism"):
        sv.Survey(sv.shares(2**30), epsilon=1.0, mechanism="unary_optimized")


@pytest.mark.parametrize("limit", [0, -1, 2**20 + 1, 8.0, True, "8"], ids=repr)
def test_max_report_bytes(limit: Any) -> None:
    with refuses(SurveyError, "max_report_bytes"):
        sv.Survey(sv.shares(5), epsilon=1.0, max_report_bytes=limit)


def test_no_mechanism_fits() -> None:
    with refuses(MechanismError, "max_report_bytes"):
        sv.Survey(sv.shares(1_000_000), epsilon=1.0, max_report_bytes=1)


@pytest.mark.parametrize("value", ["purple", "Red", "", -1, 3, 1.0, True, None, b"red", math.nan, ["red"]], ids=repr)
def test_a_value_outside_the_domain(survey: sv.Survey, value: Any) -> None:
    with refuses(ValueOutsideDomainError, "value"):
        survey.randomize(value)
    with pytest.raises(ValueOutsideDomainError, match=r"value at position 1 .* one of the survey's 3 labels, as text"):
        survey.simulate(["red", value])
    with refuses(ValueOutsideDomainError, "values"):
        survey.simulate_aggregate(["red", value])


def test_values_outside_a_range_and_a_product() -> None:
    ages = sv.Survey(sv.shares(range(20, 80, 5)), epsilon=1.0)
    with refuses(ValueOutsideDomainError, "value"):
        ages.randomize(21)
    people = sv.Survey(sv.shares({"age": 100, "country": ["DE", "FR"]}), epsilon=1.0)
    with refuses(ValueOutsideDomainError, "value"):
        people.randomize({"age": 5})
    with refuses(ValueOutsideDomainError, "values"):
        people.simulate({"age": [5]})
    with refuses(ValueOutsideDomainError, "values"):
        people.simulate({"age": [5, 6], "country": ["DE"]})


@pytest.mark.parametrize("value", [-1, 3, True, 1.0, "red", None, np.int64(1)], ids=repr)
def test_a_mechanism_takes_plain_indices_only(survey: sv.Survey, value: Any) -> None:
    with refuses(ValueOutsideDomainError, "value"):
        survey.mechanism.randomize(value, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", ["red", b"red", {"red": 5}, {"red"}, 5, None], ids=repr)
def test_values_that_are_no_list(survey: sv.Survey, values: Any) -> None:
    with refuses(ValueOutsideDomainError, "values"):
        survey.simulate(values)


def test_reports_of_the_wrong_length(survey: sv.Survey) -> None:
    report = survey.randomize("red")
    for wrong in (b"", report[:-1], report + b"\0", report[:4], report * 2):
        with pytest.raises(ReportError, match=f"report 1 has {len(wrong)} bytes"):
            survey.aggregate().add([report, wrong])


def test_reports_out_of_range(survey: sv.Survey) -> None:
    assert survey.mechanism.cells == 4
    with pytest.raises(ReportError, match=r"report 1 of 2 .*no report of the batch was counted"):
        survey.aggregate().add([survey.tag + b"\x03", survey.tag + b"\x04"])


def test_reports_of_another_survey(survey: sv.Survey) -> None:
    same_width = sv.Survey(sv.shares(COLOURS), epsilon=1.5, mechanism="hadamard")
    with pytest.raises(MismatchError, match=f"report 0 .*{survey.id[:12]}"):
        survey.aggregate().add(same_width.randomize("red"))
    with pytest.raises(MismatchError, match=f"{same_width.id[:12]}, not to {survey.id[:12]}"):
        survey.aggregate().add(same_width.simulate(["red"], seed=1))
    other_width = sv.Survey(sv.shares(300), epsilon=1.0, mechanism="hadamard")
    with pytest.raises(ReportError, match="report 0 has 6 bytes"):
        survey.aggregate().add(other_width.randomize(1))


@pytest.mark.parametrize("report", ["text", 5, None, 1.5, [1, 2], np.uint8(3)], ids=repr)
def test_reports_that_are_no_bytes(survey: sv.Survey, report: Any) -> None:
    with refuses(ReportError, "reports"):
        survey.aggregate().add([report])


@pytest.mark.parametrize("reports", [None, 5, 1.5], ids=repr)
def test_something_that_holds_no_reports(survey: sv.Survey, reports: Any) -> None:
    for take in (survey.aggregate().add, survey.estimate):
        with refuses(ReportError, "reports"):
            take(reports)


def test_text_is_no_report(survey: sv.Survey) -> None:
    with refuses(ReportError, "reports"):
        survey.aggregate().add("abcde")  # type: ignore[arg-type]


def test_merging_two_surveys(survey: sv.Survey) -> None:
    other = sv.Survey(sv.shares(COLOURS), epsilon=1.5, mechanism="hadamard")
    with pytest.raises(MismatchError, match=f"{other.id[:12]}, not to {survey.id[:12]}"):
        survey.aggregate().merge(other.aggregate())
    with pytest.raises(MismatchError, match=f"{other.id[:12]}, not to {survey.id[:12]}"):
        survey.estimate(other.aggregate())
    with refuses(MismatchError, "other"):
        survey.aggregate().merge([])  # type: ignore[arg-type]


def test_estimating_from_nothing(survey: sv.Survey) -> None:
    for nothing in ([], survey.aggregate(), survey.simulate([]), iter(())):
        with pytest.raises(NoReportsError):
            survey.estimate(nothing)


@pytest.fixture(scope="module")
def estimate(survey: sv.Survey) -> sv.Estimate:
    return survey.estimate(survey.simulate(["red"] * 100, seed=1))


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.5, 1.5, 95, math.nan, "0.95", None, True], ids=repr)
def test_levels(estimate: sv.Estimate, level: Any) -> None:
    with refuses(SurveyError, "level"):
        estimate.interval(level)


@pytest.mark.parametrize("seed", [-1, 1.0, "7", True, [1], np.float64(3)], ids=repr)
def test_seeds(survey: sv.Survey, seed: Any) -> None:
    for draw in (
        lambda: survey.simulate(["red"], seed=seed),
        lambda: survey.simulate([], seed=seed),
        lambda: survey.simulate_aggregate(["red"], seed=seed),
        lambda: survey.simulate_aggregate(histogram=[1, 0, 0], seed=seed),
        lambda: histogram_of(np.array([0.5, 0.5]), 10, seed),
    ):
        with refuses(SimulationError, "seed"):
            draw()


@pytest.mark.parametrize(
    "histogram",
    [
        [1, 2],
        [1, 2, 3, 4],
        [1, 2, -1],
        [1.0, 2.0, 3.0],
        ["1", "2", "3"],
        [[1, 2, 3]],
        5,
        [],
        [True, False, True],
        [[1], [2, 3]],
    ],
    ids=repr,
)
def test_histograms(survey: sv.Survey, histogram: Any) -> None:
    with refuses(SimulationError, "histogram"):
        survey.simulate_aggregate(histogram=histogram)


def test_histograms_of_more_people_than_there_can_be(survey: sv.Survey) -> None:
    for each in (np.int64(2**62), np.uint64(2**63), np.uint64(2**64 - 1)):
        with refuses(SimulationError, "histogram"):
            survey.simulate_aggregate(histogram=np.full(3, each))


def test_values_or_a_histogram_but_not_both(survey: sv.Survey) -> None:
    for both in ({"values": ["red"], "histogram": [1, 0, 0]}, {}):
        with refuses(SimulationError, "values"):
            survey.simulate_aggregate(**both)


@pytest.mark.parametrize("frequencies", [[0.5, 0.6], [1.5, -0.5], [math.nan, 1.0], [0.2, 0.2]], ids=repr)
def test_frequencies(frequencies: list[float]) -> None:
    with refuses(SimulationError, "frequencies"):
        histogram_of(np.array(frequencies), 10, 1)


@pytest.mark.parametrize("people", [-1, 1.5, True, 10**13], ids=repr)
def test_numbers_of_people(people: Any) -> None:
    with refuses(SimulationError, "n"):
        histogram_of(np.array([0.5, 0.5]), people, 1)


@pytest.mark.parametrize(
    "radius", [0, -1.0, math.nan, math.inf, 1e101, 10**400, "1", None, True], ids=lambda r: repr(r)[:9]
)
def test_radius(radius: Any) -> None:
    with refuses(SurveyError, "radius"):
        check_radius(radius)


@pytest.mark.parametrize(
    "delta", [1, -1e-9, math.nan, 10**400, -(10**400), "0", None, False], ids=lambda d: repr(d)[:9]
)
def test_delta(delta: Any) -> None:
    with refuses(SurveyError, "delta"):
        check_delta(delta)


def test_counters_beyond_memory() -> None:
    survey = sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism="hadamard")
    assert len(survey.randomize(2**40 - 1)) == 4 + 6
    with pytest.raises(sv.errors.CapacityError, match=r"2,199,023,255,552 counters, .* use a smaller domain"):
        survey.aggregate()
