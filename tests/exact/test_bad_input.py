"""What people get wrong, one test each: the error names the field, what is allowed, and what to do."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.errors import (
    DomainError,
    MechanismError,
    MismatchError,
    NoReportsError,
    ReportError,
    SimulationError,
    SottovoceError,
    SurveyError,
    ValueOutsideDomainError,
)
from sottovoce.core.limits import check_delta, check_radius
from sottovoce.mechanisms import FiniteMechanism, serving
from sottovoce.surveys.simulation import histogram_of

COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def survey() -> sv.Survey:
    return sv.Survey.distribution(COLOURS, epsilon=1.0, mechanism="hadamard")


def told(error: type[SottovoceError], *phrases: str) -> Any:
    """`pytest.raises` for an error that says all of these, in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(phrase) for phrase in phrases))


RANGE, REMEDY = "epsilon must be a number from 9.5e-07 to 16", "typical deployments use 0.5 to 4"


@pytest.mark.parametrize(
    ("epsilon", "found"),
    [
        (0, "epsilon is 0:"),
        (0.0, "epsilon is 0.0:"),
        (-1.0, "epsilon is -1.0:"),
        (-3, "epsilon is -3:"),
        (math.nan, "epsilon is nan:"),
        (math.inf, "epsilon is inf:"),
        (-math.inf, "epsilon is -inf:"),
        (1e6, "epsilon is 1000000.0:"),
        (math.nextafter(16, 17), "epsilon is 16.000000000000004:"),
        (math.nextafter(2.0**-20, 0), "epsilon is 9.53674316406249"),
        (10**400, "epsilon is far out of range:"),
        pytest.param(10**5000, "epsilon is far out of range:", id="5001 digits"),
        ("1", "epsilon has type str:"),
        (None, "epsilon has type NoneType:"),
        (True, "epsilon has type bool:"),
        (1 + 0j, "epsilon has type complex:"),
        ([1.0], "epsilon has type list:"),
        (np.array(1.0), "epsilon has type ndarray:"),
    ],
    ids=lambda value: repr(value)[:25],
)
def test_epsilon(epsilon: Any, found: str) -> None:
    with told(SurveyError, found, RANGE, REMEDY):
        sv.Survey.distribution(COLOURS, epsilon=epsilon)
    with told(SurveyError, found, RANGE, REMEDY):
        serving(FiniteMechanism)["hadamard"](5, epsilon)


@pytest.mark.parametrize(
    ("domain", "phrases"),
    [
        (0, ("domain size is 0:", "an integer from 2 to 1099511627776")),
        (1, ("domain size is 1:", "an integer from 2 to 1099511627776")),
        (-5, ("domain size is -5:", "an integer from 2 to")),
        (2**40 + 1, ("domain size is 1099511627777:", "to 1099511627776")),
        pytest.param(10**5000, ("domain size is far out of range:", "to 1099511627776"), id="5001 digits"),
        (5.0, ("domain size has type float:", "an integer from 2 to")),
        (math.nan, ("domain size has type float:", "an integer from 2 to")),
        (True, ("domain size has type bool:", "an integer from 2 to")),
        ("abc", ("a domain cannot be made from str", "give a list of labels, an integer size")),
        (None, ("a domain cannot be made from NoneType", "give a list of labels")),
        ({"a"}, ("a domain cannot be made from set", "give a list of labels")),
        ([], ("domain size is 0:", "an integer from 2 to")),
        (["a"], ("domain size is 1:", "an integer from 2 to")),
        (["a", "a"], ("label 'a' is given more than once", "must be distinct")),
        (["a", 1], ("labels have types int, str", "all strings or all integers")),
        ([1.5, 2.5], ("labels have types float", "all strings or all integers")),
        (["a", "\ud800"], ("not valid Unicode text", "remove the lone surrogate")),
        ([0, 2**53], ("integer labels must lie within +-9007199254740991", "use strings")),
        (range(0), ("domain size is 0:",)),
        (range(2**63 - 1, 2**63 + 1), ("integers must lie between -9223372036854775808 and 9223372036854775807",)),
        ({}, ("at least one named attribute", "for example age=range(100)")),
        ({"a b": 5}, ("attribute name 'a b'", "plain identifier such as 'age'")),
        ({"a": {"b": 5}}, ("attribute 'a' is itself a product", "give its attributes directly")),
        ({"a": 2**40, "b": 2**40}, ("domain size is 1208925819614629174706176:", "to 9223372036854775808")),
        ({"a": 2**40, "b": 2}, ("2,199,023,255,552 values", "at most 1,099,511,627,776")),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_domain(domain: Any, phrases: tuple[str, ...]) -> None:
    with told(DomainError, *phrases):
        sv.Survey.distribution(domain, epsilon=1.0)


def test_mechanism() -> None:
    known = "randomized_response, hadamard, hadamard_blocks, projective_geometry, subset_selection"
    for unknown in ("rappor", None, [], 5):
        with told(
            MechanismError, "mechanism must be one of", known, "or 'auto'", "or call sottovoce.mechanisms.register"
        ) as caught:
            sv.Survey.distribution(5, 1.0, unknown)  # type: ignore[arg-type]
        assert caught.value.field == "mechanism"
    with told(MechanismError, "no mechanism for values is named 'codebook'", known, "or 'auto'"):
        sv.Survey.distribution(5, 1.0, "codebook")
    with told(MechanismError, "no mechanism for vectors is named 'hadamard'", "codebook, gaussian, rejection"):
        sv.Survey.mean(5, 1.0, 1.0, 0.0, "hadamard")
    with told(MechanismError, "bytes per report", "at most 1,048,576", "use mechanism='"):
        sv.Survey.distribution(2**30, 1.0, "unary_optimized")


@pytest.mark.parametrize("limit", [0, -1, 2**20 + 1, 8.0, True, "8"], ids=repr)
def test_max_report_bytes(limit: Any) -> None:
    with told(SurveyError, "max_report_bytes", "it must be an integer from 1 to 1048576"):
        sv.Survey.distribution(5, 1.0, max_report_bytes=limit)


def test_no_mechanism_fits() -> None:
    with told(MechanismError, "no design can serve", "its report takes 3 bytes", "max_report_bytes"):
        sv.Survey.distribution(1_000_000, 1.0, max_report_bytes=1)


@pytest.mark.parametrize("value", ["purple", "Red", "", -1, 3, 1.0, True, None, b"red", math.nan, ["red"]], ids=repr)
def test_a_value_outside_the_domain(survey: sv.Survey, value: Any) -> None:
    allowed = "allowed: one of the survey's 3 labels, or an index from 0 to 2"
    with told(ValueOutsideDomainError, "the value is not in the domain", allowed):
        survey.randomize(value)
    with told(ValueOutsideDomainError, "the value at position 1 is not in the domain", allowed):
        survey.simulate(["red", value])
    with told(ValueOutsideDomainError, "the value at position 1 is not in the domain", allowed):
        survey.simulate_aggregate(["red", value])
    with told(ValueOutsideDomainError, "the value is not in the domain", allowed):
        survey.estimate([survey.randomize("red")])[value]


def test_values_outside_a_range_and_a_product() -> None:
    ages = sv.Survey.distribution(range(20, 80, 5), 1.0)
    with told(ValueOutsideDomainError, "allowed: integers from 20 to 75 in steps of 5"):
        ages.randomize(21)
    people = sv.Survey.distribution({"age": 100, "country": ["DE", "FR"]}, 1.0)
    with told(ValueOutsideDomainError, "exactly these attributes (age: integers from 0 to 99; country: one of"):
        people.randomize({"age": 5})
    with told(ValueOutsideDomainError, "the columns do not match", "give exactly age, country"):
        people.simulate({"age": [5]})
    with told(ValueOutsideDomainError, "different lengths", "one entry per person"):
        people.simulate({"age": [5, 6], "country": ["DE"]})


@pytest.mark.parametrize("value", [-1, 3, True, 1.0, "red", None, np.int64(1)], ids=repr)
def test_a_mechanism_takes_plain_indices_only(survey: sv.Survey, value: Any) -> None:
    with told(ValueOutsideDomainError, "give an integer from 0 to 2"):
        survey.mechanism.randomize(value, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", ["red", b"red", {"red": 5}, {"red"}, 5, None], ids=repr)
def test_values_that_are_no_list(survey: sv.Survey, values: Any) -> None:
    with told(ValueOutsideDomainError, "a list, an array or a column, with one entry per person"):
        survey.simulate(values)


def test_reports_of_the_wrong_length(survey: sv.Survey) -> None:
    report = survey.randomize("red")
    for wrong in (b"", report[:-1], report + b"\0", report[:4], report * 2):
        with told(ReportError, f"report 1 has {len(wrong)} bytes", "have 5", "truncated, too long, or of another"):
            survey.aggregate().add([report, wrong])


def test_reports_out_of_range(survey: sv.Survey) -> None:
    assert survey.mechanism.cells == 4
    with told(ReportError, "report 1 of 2 is out of range (at most 3)", "no report of the batch was counted"):
        survey.aggregate().add([survey.tag + b"\x03", survey.tag + b"\x04"])


def test_reports_of_another_survey(survey: sv.Survey) -> None:
    same_width = sv.Survey.distribution(COLOURS, epsilon=1.5, mechanism="hadamard")
    with told(MismatchError, "report 0 belongs to another survey", f"this is {survey.id[:12]}"):
        survey.aggregate().add(same_width.randomize("red"))
    with told(MismatchError, f"belongs to survey {same_width.id[:12]}, not to {survey.id[:12]}"):
        survey.aggregate().add(same_width.simulate(["red"], seed=1))
    other_width = sv.Survey.distribution(300, epsilon=1.0, mechanism="hadamard")
    with told(ReportError, "report 0 has 6 bytes", "have 5", "of another survey"):
        survey.aggregate().add(other_width.randomize(1))


@pytest.mark.parametrize("report", ["text", 5, None, 1.5, [1, 2], np.uint8(3)], ids=repr)
def test_reports_that_are_no_bytes(survey: sv.Survey, report: Any) -> None:
    with told(ReportError, f"report 0 has type {type(report).__name__}", "reports must be bytes"):
        survey.aggregate().add([report])


@pytest.mark.parametrize("reports", [None, 5, 1.5], ids=repr)
def test_something_that_holds_no_reports(survey: sv.Survey, reports: Any) -> None:
    for take in (survey.aggregate().add, survey.estimate):
        with told(
            ReportError, "reports must be bytes, or a sequence or stream of bytes", f"not {type(reports).__name__}"
        ):
            take(reports)


def test_text_is_no_report(survey: sv.Survey) -> None:
    with told(ReportError, "report 0 has type str; reports must be bytes"):
        survey.aggregate().add("abcde")  # type: ignore[arg-type]


def test_merging_two_surveys(survey: sv.Survey) -> None:
    other = sv.Survey.distribution(COLOURS, epsilon=1.5, mechanism="hadamard")
    with told(MismatchError, other.id[:12], survey.id[:12], "the surveys must be the same"):
        survey.aggregate().merge(other.aggregate())
    with told(MismatchError, other.id[:12], survey.id[:12]):
        survey.estimate(other.aggregate())
    with told(MismatchError, "only an aggregate can be merged, not list", "use add for reports"):
        survey.aggregate().merge([])  # type: ignore[arg-type]


def test_estimating_from_nothing(survey: sv.Survey) -> None:
    for nothing in ([], survey.aggregate(), survey.simulate([]), iter(())):
        with told(NoReportsError, "the aggregate has no reports", "collect some first"):
            survey.estimate(nothing)


@pytest.fixture(scope="module")
def estimate(survey: sv.Survey) -> sv.Estimate:
    return survey.estimate(survey.simulate(["red"] * 100, seed=1))


@pytest.mark.parametrize("level", [0, 1, 0.0, 1.0, -0.5, 1.5, 95, math.nan, "0.95", None, True], ids=repr)
def test_levels(estimate: sv.Estimate, level: Any) -> None:
    with told(SurveyError, "level must be a number between 0 and 1", "for example 0.95"):
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
        with told(SimulationError, "seed must be a non-negative integer, or None"):
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
    with told(SimulationError, "histogram must hold 3 non-negative integers", "people with each value"):
        survey.simulate_aggregate(histogram=histogram)


def test_histograms_of_more_people_than_there_can_be(survey: sv.Survey) -> None:
    for each in (np.int64(2**62), np.uint64(2**63), np.uint64(2**64 - 1)):
        with told(SimulationError, "too many people", "at most 1,000,000,000,000"):
            survey.simulate_aggregate(histogram=np.full(3, each))


def test_values_or_a_histogram_but_not_both(survey: sv.Survey) -> None:
    for both in ({"values": ["red"], "histogram": [1, 0, 0]}, {}):
        with told(SimulationError, "give either values (one per person) or histogram (people per value)"):
            survey.simulate_aggregate(**both)


@pytest.mark.parametrize("frequencies", [[0.5, 0.6], [1.5, -0.5], [math.nan, 1.0], [0.2, 0.2]], ids=repr)
def test_frequencies(frequencies: list[float]) -> None:
    with told(SimulationError, "non-negative numbers that sum to one"):
        histogram_of(np.array(frequencies), 10, 1)


@pytest.mark.parametrize("people", [-1, 1.5, True, 10**13], ids=repr)
def test_numbers_of_people(people: Any) -> None:
    with told(SimulationError, "the number of people must be an integer from 0 to 1,000,000,000,000"):
        histogram_of(np.array([0.5, 0.5]), people, 1)


@pytest.mark.parametrize(
    "radius", [0, -1.0, math.nan, math.inf, 1e101, 10**400, "1", None, True], ids=lambda r: repr(r)[:9]
)
def test_radius(radius: Any) -> None:
    with told(SurveyError, "radius ", "it must be a number from 1e-100 to 1e+100", "largest norm"):
        check_radius(radius)


@pytest.mark.parametrize(
    "delta", [1, -1e-9, math.nan, 10**400, -(10**400), "0", None, False], ids=lambda d: repr(d)[:9]
)
def test_delta(delta: Any) -> None:
    with told(SurveyError, "delta ", "must be a number from 0", "to below 1"):
        check_delta(delta)


def test_counters_beyond_memory() -> None:
    survey = sv.Survey.distribution(2**40, 1.0, "hadamard")
    assert len(survey.randomize(2**40 - 1)) == 4 + 6
    with told(sv.errors.CapacityError, "2,199,023,255,552 counters", "2,147,483,648", "use a smaller domain"):
        survey.aggregate()
