"""Delta stands beside epsilon wherever a survey or an estimate states one, and nowhere if the promise is pure."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sottovoce as sv
from sottovoce.core.words import delta_of, guarantee

PURE = sv.Survey(sv.vector(2, 1.0), epsilon=1.0)
GAUSSIAN = sv.Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian")
PREFIX = sv.Survey(sv.queries(sv.workloads.Prefix(2)), epsilon=1.0, delta=1e-6, mechanism="gaussian", strategy="direct")
PEOPLE = np.tile([0.6, 0.0], (400, 1))


def estimated(survey: sv.Survey) -> sv.Estimate:
    return survey.estimate(survey.simulate(PEOPLE, seed=1))


@pytest.mark.parametrize(
    ("survey", "delta", "words"),
    [
        (PURE, 0.0, "epsilon 1"),
        (sv.Survey(sv.shares(3), epsilon=1.0), 0.0, "epsilon 1"),
        (sv.Panel(3, rounds=2, epsilon=1.0), 0.0, "epsilon 1"),
        (GAUSSIAN, 1e-6, "epsilon 1, delta 1e-06"),
        (PREFIX, 1e-6, "epsilon 1, delta 1e-06"),
    ],
    ids=["mean", "distribution", "adaptive", "gaussian mean", "gaussian queries"],
)
def test_the_promise_in_words(survey: sv.Survey | sv.Panel, delta: float, words: str) -> None:
    assert delta_of(survey) == delta
    assert guarantee(survey.epsilon, delta_of(survey)) == words
    assert f" {words}" in repr(survey)
    assert ("delta" in repr(survey)) == (delta > 0)


def test_an_estimate_carries_its_delta() -> None:
    pure, gaussian = estimated(PURE), estimated(GAUSSIAN)
    assert (pure.delta, gaussian.delta) == (0.0, 1e-6)
    start = "<estimate of 2 answers from 400 reports, epsilon 1"
    assert repr(pure).startswith(f"{start}, codebook; expected L2 error at most ")
    assert repr(gaussian).startswith(f"{start}, delta 1e-06, gaussian; expected L2 error at most ")
    assert "epsilon 1, delta 1e-06, gaussian" in gaussian._repr_html_()
    assert [json.loads(one.to_json())["delta"] for one in (pure, gaussian)] == [0.0, 1e-6]


def test_a_picture_carries_its_delta() -> None:
    assert estimated(PURE).plot().get_xlabel() == "400 reports, epsilon 1, 95 % intervals"
    assert estimated(GAUSSIAN).plot().get_xlabel() == "400 reports, epsilon 1, delta 1e-06, 95 % intervals"
