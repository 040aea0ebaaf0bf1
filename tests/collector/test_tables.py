"""Estimates as files: the same numbers in all of them, names that are safe, and cells that no spreadsheet runs."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.ipc
import pyarrow.parquet
import pytest

import sottovoce as sv
from collector.client import AGES, DRINKS, Api, honest, running
from sottovoce.collector.api import rendered
from sottovoce.collector.reading.table_files import table_of, to_json
from sottovoce.estimates.estimate import Estimate
from sottovoce.estimates.table_files import EstimateTable, to_arrow, to_csv, to_parquet
from sottovoce.surveys.survey import Survey

PLACE = f"/v1/surveys/{DRINKS.id}"
PEOPLE = honest(DRINKS, "tea", 60) + honest(DRINKS, "water", 40)
ENDINGS = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
}
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


def read_arrow(content: bytes) -> Any:
    return pyarrow.ipc.open_file(content).read_all()


def read_parquet(content: bytes) -> Any:
    return pyarrow.parquet.read_table(io.BytesIO(content))


@pytest.mark.parametrize("level", [0.95, 0.5])
@pytest.mark.parametrize(("ending", "read"), [("parquet", read_parquet), ("arrow", read_arrow)])
def test_files_for_programs_have_the_same_numbers_and_say_what_they_are(
    api: Api, expected: Estimate, ending: str, read: Any, level: float
) -> None:
    table = read(fetched(api, ending, level).content)
    assert table.column_names == HEADER
    assert table.to_pylist() == expected.to_dict(level)["answers"]
    about = {name.decode(): json.loads(held) for name, held in table.schema.metadata.items()}
    told = json.loads(expected.to_json(level))
    for name in ("survey", "mechanism", "epsilon", "n_reports", "level", "bound", "projection_gap"):
        assert about[f"sottovoce.{name}"] == told[name]
    assert about["sottovoce.title"] == DRINKS.title


def text_of(parts: list[bytes]) -> str:
    return b"".join(parts).decode()


def test_labels_that_a_spreadsheet_would_run() -> None:
    labels = [
        "=1+1",
        "+1+1",
        "-1+1",
        "@SUM(A1)",
        "\tx",
        "\ry",
        "\nz",
        "-5",
        "+3.25",
        "a=b",
        'quote " and , comma',
        "<b>",
    ]
    survey = Survey(sv.shares(labels), epsilon=1.0)
    estimate = survey.estimate(survey.simulate(labels * 20, seed=1))
    rows = list(csv.reader(io.StringIO(text_of(to_csv(table_of(estimate, 0.95))), newline="")))
    assert [row[0] for row in rows[1:]] == [*(f"'{label}" for label in labels[:7]), *labels[7:]]
    assert all(len(row) == 5 for row in rows)


def test_numbers_that_are_not_finite_are_left_empty() -> None:
    table = table_of(DRINKS.estimate([report for _, report in PEOPLE]), 0.95)
    columns = {name: column.copy() for name, column in table.columns.items()}
    columns["value"][0], columns["low"][1], columns["high"][2] = float("nan"), float("-inf"), float("inf")
    table = EstimateTable(table.about, table.label, columns, 0, table.stop)
    rows = list(csv.reader(io.StringIO(text_of(to_csv(table)), newline="")))
    assert (rows[1][1], rows[2][3], rows[3][4]) == ("", "", "")
    answers = json.loads(text_of(to_json(table)) + "}")["answers"]
    assert (answers[0]["value"], answers[1]["low"], answers[2]["high"]) == (None, None, None)


def test_choices_have_their_names(tmp_path: Path) -> None:
    with running(tmp_path) as api:
        api.publish(AGES)
        choice = sv.adaptive.round_of(AGES, 1, "age // 50", 2)
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
        monkeypatch.setattr(rendered, "MOST_ROWS", 2)
        assert refused(api.ask("GET", place), 409)[0] == "too_much"
        api.publish(AGES)
        adaptive = api.ask("GET", f"/v1/surveys/{AGES.id}/table.{ending}")
        assert refused(adaptive, 409)[0] == "survey_panel"
        api.ask("DELETE", PLACE)
        assert refused(api.ask("GET", place), 410)[0] == "survey_deleted"


def test_there_are_no_other_files(api: Api) -> None:
    assert refused(api.ask("GET", f"{PLACE}/table.xlsx"), 404) == ("not_found", None)


def long_table(rows: int) -> EstimateTable:
    columns = {name: np.arange(rows) + shift for shift, name in enumerate(HEADER[1:])}
    return EstimateTable({"title": "long"}, str, columns, 0, rows)


@pytest.mark.parametrize("write", [to_csv, to_parquet, to_arrow, to_json])
def test_writing_ends_where_nobody_wants_it_any_more(write: Any) -> None:
    table, looks = long_table(150_000), 0

    def look() -> None:
        nonlocal looks
        looks += 1

    assert write(table, look) == write(table)
    assert looks == (37 if write in (to_csv, to_json) else 3)

    def unwanted() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        write(table, unwanted)


@pytest.mark.parametrize("rows", [0, 1, 4096, 4097, 10_000])
def test_blocks_leave_nothing_out(rows: int) -> None:
    table = long_table(rows)
    expected = [dict(zip(HEADER, [str(row), row, row + 1, row + 2, row + 3], strict=True)) for row in range(rows)]
    assert json.loads(text_of(to_json(table, page=1)) + "}") == {"title": "long", "page": 1, "answers": expected}
    assert len(text_of(to_csv(table)).splitlines()) == rows + 1
    assert read_parquet(to_parquet(table)[0]).to_pylist() == expected
    assert read_arrow(to_arrow(table)[0]).to_pylist() == expected


def test_a_file_that_has_not_changed_is_not_sent_again(api: Api) -> None:
    first = fetched(api, "csv")
    again = api.ask("GET", f"{PLACE}/table.csv", headers={"If-None-Match": f'"other", {first.headers["etag"]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert api.ask("GET", f"{PLACE}/table.csv", headers={"If-None-Match": "*"}).status_code == 304
    wider = api.ask("GET", f"{PLACE}/table.csv?level=0.99", headers={"If-None-Match": first.headers["etag"]})
    assert wider.status_code == 200
