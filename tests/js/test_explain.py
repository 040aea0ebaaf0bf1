"""What JavaScript tells people about their report is what Python states: for all values, at the thresholds in use."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sottovoce as sv
from js.bridge import Bridge, as_sent, double, doubles
from js.stated import probability
from js.surveys import LARGER, larger, miniatures
from sottovoce.randomness import within_epsilon
from sottovoce.workloads.naming import value_at

REPORTS = 12
ROUNDING = 1e-11
"""Relative, of a logarithm of up to some hundreds that is a sum of as many."""


def logarithm(survey: Any, report: bytes, value: object) -> float:
    found = probability(survey, report, value)
    return math.log(found.numerator) - math.log(found.denominator)


def check(client: Bridge, survey: Any, reports: list[bytes], values: list[Any], whole: bool) -> None:
    """Compare likelihoods; where `values` are all there are, also their extremes and how many there are of each."""
    answers = client.about(
        survey, "explain", reports=[report.hex() for report in reports], values=[as_sent(value) for value in values]
    )
    for report, found in zip(reports, answers, strict=True):
        stated = np.array([logarithm(survey, report, value) for value in values])
        np.testing.assert_allclose(doubles(found["logs"]), stated, rtol=ROUNDING, atol=ROUNDING)
        np.testing.assert_allclose(doubles(found["likelihoods"]), np.exp(stated), rtol=1e-9)
        highest, lowest, ratio = (double(found[name]) for name in ("highest", "lowest", "ratio"))
        assert 1 <= ratio <= math.exp(survey.epsilon)
        assert lowest <= doubles(found["likelihoods"]).min()
        assert doubles(found["likelihoods"]).max() <= highest
        if not whole:
            continue
        chances = [probability(survey, report, value) for value in values]
        assert within_epsilon(max(chances) / min(chances), survey.epsilon)
        assert math.isclose(ratio, max(chances) / min(chances), rel_tol=1e-12)
        counts = [(double(chance), int(count)) for chance, count in found["groups"]]
        assert [count for _, count in counts] == [chances.count(chance) for chance in sorted(set(chances))[::-1]]
        assert np.allclose([chance for chance, _ in counts], [float(c) for c in sorted(set(chances))[::-1]], rtol=1e-9)


@pytest.mark.parametrize("name", LARGER)
def test_likelihoods_are_those_that_python_states(client: Bridge, name: str) -> None:
    survey, people = larger(name)
    reports = client.reports(survey, people[:REPORTS])
    domain = survey.domain
    if domain is None:
        check(client, survey, reports, people[:20], whole=False)
    else:
        vectors = survey.mechanism.name in ("codebook", "binary")
        whole = not vectors and survey.seat is None  # the extremes of a choice are over the choices
        check(client, survey, reports, [value_at(domain, v) for v in range(domain.size)], whole)


@pytest.mark.parametrize("epsilon", [2.0**-20, 16.0])
@pytest.mark.parametrize(
    "name", ["hadamard 1", "subset_selection 3", "unary_symmetric 1", "haar 2", "matrix_channel 1"]
)
def test_at_the_ends_of_epsilon(client: Bridge, name: str, epsilon: float) -> None:
    survey, values = miniatures(epsilon)[name]
    check(client, survey, client.reports(survey, values * 3), values, whole=True)


@pytest.mark.parametrize("mechanism", ["hadamard", "hadamard_blocks", "projective_geometry", "randomized_response"])
def test_huge_domains(client: Bridge, mechanism: str) -> None:
    survey = sv.Survey(sv.shares(2**40), epsilon=1.0, mechanism=mechanism)
    values = [0, 1, 2**20, 2**33 + 12345, 2**40 - 1]
    check(client, survey, client.reports(survey, values * 2), values, whole=False)


def test_sets_whose_likelihood_no_double_holds(client: Bridge) -> None:
    for mechanism in ("subset_selection", "unary_optimized", "unary_symmetric"):
        survey = sv.Survey(sv.shares(2000), epsilon=0.5, mechanism=mechanism, max_report_bytes=2**16)
        check(client, survey, client.reports(survey, [0, 1999]), [0, 1, 1000, 1999], whole=False)
