"""vectors/calendars.json: what the library says of its calendars today, and which ones it refuses."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from sottovoce.core.errors import SurveyError
from sottovoce.surveys.calendar import Calendar
from sottovoce.surveys.survey import Survey, Tracking

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "calendars.json").read_text("utf-8"))


def test_a_moment_is_in_the_period_that_contains_it() -> None:
    """By going through all periods around it, one after the other, as the words of the definition have it."""
    for case in VECTORS["calendars"]:
        calendar = Calendar.from_statement(case["calendar"])
        for told in case["moments"]:
            moment = datetime.fromisoformat(told["moment"])
            numbers = {n + step for n in (told["at"], *told["answerable"], 1) if n for step in (-1, 0, 1)}
            known = [n for n in sorted(numbers) if 1 <= n <= (calendar.periods or n)]
            inside = [n for n in known if calendar.start(n) <= moment < calendar.end(n)]
            assert inside == [] if told["at"] is None else inside == [told["at"]]
            open_now = [n for n in known if calendar.start(n) <= moment < calendar.closes(n)]
            assert [open_now[0], open_now[-1]] == told["answerable"] if open_now else told["answerable"] == []


def test_bad_calendars_are_refused() -> None:
    for statement in VECTORS["bad"]:
        with pytest.raises(SurveyError):
            Calendar.from_statement(statement)


def test_periods_follow_from_the_tracking_survey() -> None:
    for case in VECTORS["tracking"]:
        tracking = Survey.from_json(case["canonical"])
        assert isinstance(tracking, Tracking)
        assert tracking.id == case["id"]
        for told in case["periods"]:
            stated = json.loads(case["canonical"]) | {"period": told["number"]}
            period = Survey.from_json(json.dumps(stated))
            assert (period.id, told["id"]) == (tracking.period(told["number"]).id, period.id)
