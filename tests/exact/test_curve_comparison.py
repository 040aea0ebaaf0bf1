"""Two groups of a tracking survey over its periods: differences, bands, gaps, open periods and other forms."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MismatchError, NoReportsError, SurveyError, UnknownAnswerError
from sottovoce.surveys.survey import Tracking


def asked(**more: Any) -> Tracking:
    terms: dict[str, Any] = {"every": "week", "starts": "2027-01-04", "periods": 4, "epsilon": 2.0}
    return sv.Tracking(["yes", "no"], **terms | {"groups": {"arm": ["A", "B", "C"]}, **more})


def counted(tracking: Tracking, shares: list[dict[str, float]], n: int = 800) -> dict[int, Any]:
    """Reports by period and group: in each period so many people of a group say yes."""
    return {
        number: {
            group: tracking.period(number)
            .in_group(group)
            .simulate_aggregate(histogram=[round(share * n), n - round(share * n)], seed=10 * number + ord(group))
            for group, share in arms.items()
        }
        for number, arms in enumerate(shares, 1)
    }


@pytest.fixture
def curve() -> Any:
    tracking = asked()
    shares = [{"A": 0.5, "B": 0.3}, {"A": 0.6}, {"A": 0.7, "B": 0.2, "C": 0.1}, {"A": 0.9, "B": 0.1}]
    return tracking.estimate(counted(tracking, shares), closed=[1, 2, 3])


def test_every_period_is_the_comparison_of_its_estimate(curve: Any) -> None:
    compared = sv.compare(curve, "A", "B")
    for number in (1, 3):
        own = sv.compare(curve[number], "A", "B")
        assert json.loads(compared[number].to_json()) == json.loads(own.to_json())
        point = compared.series("yes")[number - 1]
        assert (point.value, point.low, point.high, point.p_value) == (
            *(own["yes"].value, own["yes"].low, own["yes"].high, own["yes"].p_value),
        )
        band = sv.compare(curve[number], "A", "B", level=0.95**0.5)["yes"]
        assert (point.band_low, point.band_high) == (band.low, band.high)
        assert point.p_value <= point.adjusted_p_value <= 2 * point.p_value


def test_a_gap_is_a_gap_and_an_open_period_may_be_watched(curve: Any) -> None:
    first, gap, _, last = sv.compare(curve, "A", "B").series("yes")
    assert (gap.state, gap.reports, gap.row()["value"]) == ("empty", None, None)
    assert (first.state, last.state, math.isnan(last.band_low)) == ("closed", "open", True)
    watched = sv.compare(curve[4], "A", "B", always=True)["yes"]
    assert (last.low, last.high) == (watched.low, watched.high)
    once = sv.compare(curve, "A", "B", always=False).series("yes")[3]
    assert watched.low < once.low < once.high < watched.high


def test_other_forms(curve: Any) -> None:
    compared = sv.compare(curve, "A", "B", level=0.9)
    told = json.loads(json.dumps(compared.to_dict("no")))
    assert (told["names"], told["answer"], told["level"]) == (["arm A", "arm B"], "no", 0.9)
    assert [point["reports"] for point in told["points"]] == [[800, 800], None, [800, 800], [800, 800]]
    rows = list(csv.DictReader(io.StringIO(compared.to_csv())))
    assert [(row["answer"], row["period"]) for row in rows] == [
        (name, str(at)) for name in ("yes", "no") for at in (1, 2, 3, 4)
    ]
    assert rows[1]["value"] == ""
    text = str(compared)
    assert text.startswith("yes, arm A less arm B\nweek of 4 January 2027")
    assert "week of 11 January 2027" not in text
    assert "nobody may be in both" in text
    figure = compared.plot("no")
    assert figure.axes[1].get_ylabel() == "arm A less arm B (points)"


def test_curves_by_a_variable_have_gaps_where_a_group_has_none(curve: Any) -> None:
    assert {value: list(own.estimates) for value, own in curve.by("arm").items()} == {
        "A": [1, 2, 3, 4],
        "B": [1, 3, 4],
        "C": [3],
    }


@pytest.mark.parametrize(
    ("kind", "field", "call"),
    [
        (UnknownAnswerError, "group", lambda curve: sv.compare(curve, "A", "D")),
        (SurveyError, "second", lambda curve: sv.compare(curve, "A")),
        (SurveyError, "second", lambda curve: sv.compare(curve, curve, "A")),
        (MismatchError, "second", lambda curve: sv.compare(curve, "A", "A")),
        (SurveyError, "answers", lambda curve: sv.compare(curve, "A", "B", answers=["maybe"])),
        (SurveyError, "period", lambda curve: sv.compare(curve, "A", "B")[9]),
        (NoReportsError, "period", lambda curve: sv.compare(curve, "A", "B")[2]),
        (SurveyError, "level", lambda curve: sv.compare(curve, "A", "B", level=2)),
    ],
)
def test_what_cannot_be_compared_is_refused(curve: Any, kind: Any, field: str, call: Any) -> None:
    with refuses(kind, field):
        call(curve)


def test_groups_that_never_meet_are_refused() -> None:
    tracking = asked()
    curve = tracking.estimate(counted(tracking, [{"A": 0.5}, {"B": 0.5}]))
    with refuses(NoReportsError, "second"):
        sv.compare(curve, "A", "B")
    plain = sv.Tracking(["yes", "no"], epsilon=1.0, every="week", starts="2027-01-04", periods=2)
    once = plain.estimate({1: plain.period(1).simulate_aggregate(histogram=[5, 5], seed=1)})
    with refuses(SurveyError, "group"):
        sv.compare(once, "A", "B")


def test_a_mean_over_time_has_its_unit() -> None:
    tracking = sv.Tracking(
        sv.number(0, 10, unit="km"),
        epsilon=4.0,
        every="week",
        starts="2027-01-04",
        periods=2,
        groups={"arm": ["A", "B"]},
    )
    people = {"A": lambda period: [8.0] * 4000, "B": lambda period: [2.0] * 4000}
    compared = sv.compare(tracking.estimate(tracking.simulate_groups(people, seed=1)), "A", "B")
    assert (compared.labels(), compared.to_dict()["unit"]) == (["mean"], "km")
    assert all(point.low < 6 < point.high for point in compared.series())
