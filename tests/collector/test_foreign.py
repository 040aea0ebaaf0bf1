"""A collector publishes and counts a survey whose mechanism another package brings."""

from __future__ import annotations

from pathlib import Path

import pytest

import sottovoce as sv
from collector.client import honest, running
from foreign import install
from sottovoce.mechanisms import registry


def test_reports_are_accepted_counted_and_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch)
    survey = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=2.0, mechanism="lazy_response")
    registry.REGISTRY.forget()
    with running(tmp_path) as api:
        api.publish(survey)
        sent = honest(survey, "red", 300) + honest(survey, "blue", 100)
        assert api.send(survey, sent).json()["accepted"] == 400
        api.count()
        estimate = api.ask("GET", f"/v1/surveys/{survey.id}/estimate").json()
    assert estimate["n_reports"] == 400
    expected = survey.estimate([report for _, report in sent])
    assert [row["raw"] for row in estimate["answers"]] == pytest.approx(expected.raw.tolist())


def test_one_that_is_not_installed_here_is_refused_with_the_remedy(tmp_path: Path) -> None:
    text = sv.Survey(sv.shares(3), epsilon=1.0, mechanism="hadamard").to_json().replace("hadamard", "lazy_response")
    with running(tmp_path) as api:
        response = api.ask("POST", "/v1/surveys", json={"statement": text, "minimum_reports": 1})
    assert response.status_code == 422
    assert "install the package" in response.json()["error"]["message"]
