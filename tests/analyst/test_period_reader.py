"""The estimates of closed periods are made once, and dropped when the collector no longer has them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import sottovoce as sv
from sottovoce.analyst.periods import PeriodReader, TrackedPeriods
from sottovoce.core.errors import NoReportsError
from sottovoce.protocol.surveys import PeriodStatus

TRACKING = sv.Tracking(sv.questions.Shares(["no", "yes"]), periods=3, every="week", starts="2031-01-06", epsilon=1.0)


def closed(number: int, n_reports: int, state: Any = "sealed") -> PeriodStatus:
    day = "2031-01-06T00:00:00Z"
    given = {"number": number, "id": TRACKING.period(number).id, "label": "", "starts": day, "ends": day}
    return msgspec.convert(
        {**given, "closes": day, "state": state, "n_reports": n_reports, "waiting": 0}, type=PeriodStatus
    )


def test_a_deleted_period_leaves_the_curve_and_others_are_not_fetched_again() -> None:
    counted: list[str] = []
    sizes = {TRACKING.period(1).id: 5, TRACKING.period(2).id: 7}

    def count(survey: sv.Survey) -> sv.Aggregate:
        counted.append(survey.id)
        return survey.simulate_aggregate(["yes"] * sizes[survey.id], seed=1)

    reader = PeriodReader(None, TRACKING, count)  # type: ignore[arg-type]
    assert sorted(reader.curve(TrackedPeriods([closed(1, 5), closed(2, 7)], None)).estimates) == [1, 2]
    found = reader.curve(TrackedPeriods([closed(1, 0, "deleted"), closed(2, 7)], None))
    assert sorted(found.estimates) == [2]
    assert len(counted) == 2
    sizes[TRACKING.period(2).id] = 6
    found = reader.curve(TrackedPeriods([closed(1, 0, "deleted"), closed(2, 6)], None))
    assert found[2].n_reports == 6, "a collector that came back from an old backup"
    with pytest.raises(NoReportsError):
        reader.curve(TrackedPeriods([closed(1, 0, "deleted"), closed(2, 0, "deleted")], None))
