"""Over HTTP too, no number is shown outside its interval or its range, and no interval is a point."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from collector.client import Api, honest, running
from shown import KINDS, Row, check


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("shown")) as api:
        yield api


@pytest.mark.parametrize("name", [name for name in KINDS if name != "words"])
def test_every_number_over_http_is_possible(api: Api, name: str) -> None:
    """All people alike, so that answers lie at the ends of their ranges."""
    kind = KINDS[name]
    value = kind.values(np.random.default_rng(5))[0]
    attached = {name: base64.b64encode(raw).decode() for name, raw in kind.survey.attachments.items()}
    said = {"statement": kind.survey.to_json(), "attachments": attached, "minimum_reports": 1}
    assert api.ask("POST", "/v1/surveys", json=said).status_code == 201
    for n in (1, 29):
        api.send(kind.survey, honest(kind.survey, value, n))
        api.count()
        for row in _rows(api, kind.survey):
            if row.label not in kind.certain:  # a point; or, at every look together, anything
                check(row)


def _rows(api: Api, survey: Any) -> Iterator[Row]:
    place, labels = f"/v1/surveys/{survey.id}", survey.answer_labels()
    least, most = (np.broadcast_to(end, len(labels)).tolist() for end in survey.answer_range)
    ends = dict(zip(labels, zip(least, most, strict=True), strict=True))
    for row in api.ask("GET", f"{place}/estimate?level=0.8").json()["answers"]:
        yield Row("estimate", row["label"], row["value"], row["low"], row["high"], *ends[row["label"]])
    for row in csv.DictReader(io.StringIO(api.ask("GET", f"{place}/table.csv?level=0.8").text)):
        numbers = (float(row[column]) for column in ("value", "low", "high"))
        yield Row("table", row["label"], *numbers, *ends[row["label"]])
    picture = api.ask("GET", f"{place}/picture?level=0.8").json()
    for label, *shown in zip(*(picture[column] for column in ("labels", "value", "low", "high")), strict=True):
        yield Row("picture", label, *shown, *ends[label])
    for figure in picture["figures"]:
        yield Row("figure", figure["name"], *(figure[part] for part in ("value", "low", "high", "least", "most")))
    bins = picture["histogram"]
    columns = [] if bins is None else [bins[column] for column in ("labels", "value", "low", "high")]
    for label, *shown in zip(*columns, strict=True):
        yield Row("histogram", label, *shown, 0.0, 1.0)
