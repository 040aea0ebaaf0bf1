"""vectors/relays.json: surveys that state a relay, and statements that are refused for theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sottovoce.core.errors import SurveyError
from sottovoce.device.http import collector_url
from sottovoce.surveys.survey import Survey, Tracking

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "relays.json").read_text("utf-8"))


def test_a_relay_is_part_of_the_statement_and_its_id() -> None:
    for case in (*VECTORS["surveys"], VECTORS["tracking"]):
        survey = Survey.from_json(case["canonical"])
        assert (survey.to_json(), survey.id) == (case["canonical"], case["id"])
        assert survey.relay.to_statement() == case["relay"]
        assert collector_url(survey.relay.url) == survey.relay.url, "one spelling, wherever addresses are compared"


def test_every_period_has_the_relay_of_the_tracking_survey() -> None:
    tracking = Survey.from_json(VECTORS["tracking"]["canonical"])
    assert isinstance(tracking, Tracking)
    periods = [tracking.period(number) for number in range(1, 5)]
    assert [period.id for period in periods] == VECTORS["tracking"]["periods"]
    assert {period.relay for period in periods} == {tracking.relay}
    assert Survey.from_json(periods[2].to_json()).tracked == tracking


def test_bad_relays_are_refused() -> None:
    assert len(VECTORS["bad"]) > 40
    for text in VECTORS["bad"]:
        with pytest.raises(SurveyError):
            Survey.from_json(text)
