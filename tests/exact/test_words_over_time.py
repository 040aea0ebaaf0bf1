"""Words in a survey over time: a curve follows a word by its name, and shows those that were found if none is named."""

from __future__ import annotations

from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import SurveyError
from sottovoce.estimates.curve import Curve
from sottovoce.questions.words import Words

ASKED = Words.of(longest=3, alphabet="abc")


@pytest.fixture(scope="module")
def curve() -> Curve:
    given = {"periods": 3, "every": "month", "starts": "2027-01-01", "epsilon": 3.0, "people": 400}
    tracking = sv.Tracking(ASKED, **given)
    histories = [["cab"] * 300 * month + ["bb"] * (1200 - 300 * month) for month in (1, 2, 3)]
    return tracking.estimate(tracking.simulate(histories, seed=4))


def test_a_curve_follows_a_word(curve: Curve) -> None:
    series = curve.series("CAB ")
    assert series.answer == "cab"
    for point, estimate in zip(series.points, curve.estimates.values(), strict=True):
        own: Any = estimate
        found = own.of("cab")
        assert (point.value, point.low, point.high) == (found.raw, found.low, found.high)
        assert point.band_low <= point.low <= point.high <= point.band_high
    change = curve.difference(3, 1, "cab")
    assert 0 < change.low < change.value < change.high
    assert curve.trend("cab").slope > 0
    assert curve.to_dict("cab")["share"] is True


def test_words_that_were_found_are_offered(curve: Curve) -> None:
    assert curve.first_answers(2) == ["cab", "bb"]
    assert "<th>cab</th>" in curve._repr_html_()


@pytest.mark.parametrize("answer", [None, "", "abcd", "xyz", 7])
def test_what_is_no_word_is_refused(curve: Curve, answer: Any) -> None:
    with refuses(SurveyError, "answer"):
        curve.series(answer)


def test_integers_and_bytes_are_named_as_they_are_shown() -> None:
    given = {"periods": 2, "every": "month", "starts": "2027-01-01", "epsilon": 3.0, "people": 200}
    for question, value, shown in (
        (Words.of(below=100), 42, "42"),
        (Words.of(alphabet="bytes", longest=1), b"A", "0x41"),
    ):
        tracking = sv.Tracking(question, **given)
        curve = tracking.estimate(tracking.simulate([[value] * 200] * 2, seed=1))
        assert curve.series(value).points == curve.series(shown).points
        assert curve.first_answers(1) == [shown]
