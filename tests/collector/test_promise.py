"""Whatever states a survey's epsilon states its delta beside it: the list, the status, estimates, pictures, files."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from collector.records import survey_record
from sottovoce.surveys.survey import Survey

GAUSSIAN = Survey(sv.vector(2, 1.0), epsilon=1.0, delta=1e-6, mechanism="gaussian", title="Where?")
DELTAS = {DRINKS.id: 0.0, AGES.id: 0.0, GAUSSIAN.id: 1e-6}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("promise")) as api:
        for survey in (DRINKS, AGES, GAUSSIAN):
            api.publish(survey)
        api.send(DRINKS, honest(DRINKS, "tea", 5))
        api.send(GAUSSIAN, honest(GAUSSIAN, [0.5, 0.0], 5))
        api.count()
        yield api


def test_surveys_are_listed_and_told_with_their_delta(api: Api) -> None:
    listed = api.ask("GET", "/v1/surveys").json()["surveys"]
    assert {one["id"]: one["delta"] for one in listed} == DELTAS
    assert {id: api.ask("GET", f"/v1/surveys/{id}/status").json()["delta"] for id in DELTAS} == DELTAS


@pytest.mark.parametrize("survey", [DRINKS, GAUSSIAN], ids=["pure", "gaussian"])
@pytest.mark.parametrize("form", ["estimate", "picture", "table.json"])
def test_answers_come_with_their_delta(api: Api, survey: Survey, form: str) -> None:
    told = api.ask("GET", f"/v1/surveys/{survey.id}/{form}").json()
    assert (told["epsilon"], told["delta"]) == (survey.epsilon, DELTAS[survey.id])


def test_a_file_comes_with_its_delta(api: Api) -> None:
    content = api.ask("GET", f"/v1/surveys/{GAUSSIAN.id}/table.parquet").content
    about = pq.read_schema(io.BytesIO(content)).metadata
    assert json.loads(about[b"sottovoce.delta"]) == 1e-6


def test_a_record_says_what_was_signed() -> None:
    assert survey_record(canonical=GAUSSIAN.canonical).delta == 1e-6
    assert survey_record(canonical=Survey(sv.shares(3), epsilon=1.0).canonical).delta == 0.0
