"""Estimates as files: the same numbers in all of them, names that are safe, and cells that no spreadsheet runs."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.collector.api import tables
from sottovoce.collector.table_files import EstimateTable, table_of, to_csv, to_parquet
from sottovoce.surveys.estimate import Estimate
from sottovoce.surveys.survey import Survey

PLACE = f"/v1/surveys/{DRINKS.id}"
PEOPLE = honest(DRINKS, "tea", 60) + honest(DRINKS, "water", 40)
ENDINGS = {"csv": "text/csv; charset=utf-8", "json": "application/json", "parquet": "application/vnd.apache.parquet"}
HEADER = ["label", "value", "raw", "low", "high"]


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running(tmp_path_factory.mktemp("tables")) as api:
        api.publish(DRINKS, 100)
        api.send(DRINKS, PEOPLE)
        api.count()
        yield api


@pytest.fixture(scope="module")
def expected() -> Estimate:
    return DRINKS.estimate([report for _, report in PEOPLE])


def fetched(api: Api, ending: str, level: float = 0.95) -> Any:
    response = api.ask("GET", f"{PLACE}/table.{ending}?level={level}")
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == ENDINGS[ending]
    name = f'attachment; filename="survey-{DRINKS.id[:12]}.{ending}"'
    assert response.headers["content-disposition"] == name
    return response


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_json_has_the_whole_estimate(api: Api, expected: Estimate, level: float) -> None:
    told = fetched(api, "json", level).json()
    assert told == json.loads(expected.to_json(level)) | {"title": DRINKS.title, "kind": "shares"}


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_csv_has_the_same_numbers(api: Api, expected: Estimate, level: float) -> None:
    rows = list(csv.reader(io.StringIO(fetched(api, "csv", level).text, newline="")))
    assert rows[0] == HEADER
    answers = expected.to_dict(level)["answers"]
    assert [[row[0], *map(float, row[1:])] for row in rows[1:]] == [list(answer.values()) for answer in answers]


@pytest.mark.parametrize("level", [0.95, 0.5])
def test_parquet_has_the_same_numbers_and_says_what_it_is(api: Api, expected: Estimate, level: float) -> None:
    table = pyarrow.parquet.read_table(io.BytesIO(fetched(api, "parquet", level).content))
    assert table.column_names == HEADER
    assert table.to_pylist() == expected.to_dict(level)["answers"]
    about = {name.decode(): json.loads(held) for name, held in table.schema.metadata.items()}
    told = json.loads(expected.to_json(level))
    for name in ("survey", "mechanism", "epsilon", "n_reports", "level", "bound", "projection_gap"):
        assert about[f"sottovoce.{name}"] == told[name]
    assert about["sottovoce.title"] == DRINKS.title


def test_labels_that_a_spreadsheet_would_run() -> None:
    labels = [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\tx",
        "\rx",
        "\nx",
        "-5",
        "+3.25",
        "a=b",
        'quote " and , comma',
        "<b>",
    ]
    survey = Survey.distribution(labels, 1.0)
    estimate = survey.estimate(survey.simulate(labels * 20, seed=1))
    rows = list(csv.reader(io.StringIO(to_csv(table_of(estimate, 0.95)).decode(), newline="")))
    assert [row[0] for row in rows[1:]] == [*(f"'{label}" for label in labels[:7]), *labels[7:]]
    assert all(len(row) == 5 for row in rows)


def test_numbers_that_are_not_finite_are_left_empty() -> None:
    table = table_of(DRINKS.estimate([report for _, report in PEOPLE]), 0.95)
    table.value[0], table.low[1], table.high[2] = float("nan"), float("-inf"), float("inf")
    rows = list(csv.reader(io.StringIO(to_csv(table).decode(), newline="")))
    assert (rows[1][1], rows[2][3], rows[3][4]) == ("", "", "")
    answers = json.loads(tables._to_json(table))["answers"]
    assert (answers[0]["value"], answers[1]["low"], answers[2]["high"]) == (None, None, None)


def test_choices_have_their_names(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(AGES)
        choice = Survey.round(AGES, 1, "age // 50", 2)
        api.open_round(choice, ["young", "=old"])
        api.send(choice, honest(choice, {"age": 50, "smokes": "no"}, 20))
        api.count()
        place = f"/v1/surveys/{choice.id}/table"
        told = api.ask("GET", f"{place}.json").json()
        assert [answer["label"] for answer in told["answers"]] == ["young", "=old"]
        assert told["title"] == "age // 50"
        assert '\r\n"\'=old",' in api.ask("GET", f"{place}.csv").text


def refused(response: Any, status: int) -> tuple[str, str | None]:
    assert response.status_code == status, response.text
    error = response.json()["error"]
    return error["code"], error["field"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_refused(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path) as api:
        place = f"{PLACE}/table.{ending}"
        assert refused(api.ask("GET", place), 404)[0] == "unknown_survey"
        api.publish(DRINKS, 101)
        api.send(DRINKS, PEOPLE)
        api.count()
        assert refused(api.ask("GET", place), 409)[0] == "too_few_reports"
        api.send(DRINKS, honest(DRINKS, "tea", 1))
        api.count()
        assert api.ask("GET", place).status_code == 200
        assert api.ask("GET", place, token="").status_code == 401
        assert refused(api.ask("GET", f"{place}?level=1"), 400) == ("invalid_parameter", "level")
        assert refused(api.ask("GET", f"{place}?most=1"), 400) == ("invalid_parameter", None)
        monkeypatch.setattr(tables, "MOST_ROWS", 2)
        assert refused(api.ask("GET", place), 409)[0] == "too_much"
        api.publish(AGES)
        adaptive = api.ask("GET", f"/v1/surveys/{AGES.id}/table.{ending}")
        assert refused(adaptive, 409)[0] == "survey_adaptive"
        api.ask("DELETE", PLACE)
        assert refused(api.ask("GET", place), 410)[0] == "survey_deleted"


def test_there_are_no_other_files(api: Api) -> None:
    assert refused(api.ask("GET", f"{PLACE}/table.xlsx"), 404) == ("not_found", None)


@pytest.mark.parametrize("write", [to_csv, to_parquet, tables._to_json])
def test_writing_ends_where_nobody_wants_it_any_more(write: Any) -> None:
    few = table_of(DRINKS.estimate([report for _, report in PEOPLE]), 0.95)
    table = EstimateTable(few.about, *([column[0]] * 10_000 for column in few[1:]))
    looks = 0

    def look() -> None:
        nonlocal looks
        looks += 1

    assert write(table, look) == write(table)
    assert looks == {to_csv: 3, to_parquet: 1}.get(write, 4)

    def unwanted() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write(table, unwanted)


def test_also_before_it_is_written() -> None:
    def unwanted() -> None:
        raise InterruptedError

    estimate = DRINKS.estimate([report for _, report in PEOPLE])
    with pytest.raises(InterruptedError):
        table_of(estimate, 0.95, check_stop=unwanted)
