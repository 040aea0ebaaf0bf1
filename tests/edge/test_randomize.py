"""`sottovoce randomize`: values in, reports out, and nothing else."""

from __future__ import annotations

import datetime
import io
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from collector.service import PATIENCE, running, until
from commands import Run
from sottovoce.cli.device_options import split_address
from sottovoce.core.signing import from_base64url
from sottovoce.edge.rows import LONGEST_LINE, ColumnChoice, InputRow, read_json_lines
from sottovoce.randomness import tape_source

DRINKS = sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=4.0, title="Drinks")
SECRET = "gazpacho-7731"

KINDS: dict[str, tuple[sv.Survey, Any]] = {
    "shares": (DRINKS, "tea"),
    "integers": (sv.Survey(sv.shares(range(10, 20)), epsilon=1.0), 12),
    "number": (sv.Survey(sv.number(0, 600, "minutes"), epsilon=1.0), 90.5),
    "choices": (sv.Survey(sv.choices(["tea", "coffee", "water"], most=2), epsilon=1.0), ["tea", "water"]),
    "records": (
        sv.Survey(sv.records({"age": range(9), "city": ["Bern", "Rome"]}), epsilon=1.0),
        {"age": 3, "city": "Rome"},
    ),
    "words": (sv.Survey(sv.words(8, "latin"), epsilon=1.0), "tea"),
    "vector": (sv.Survey(sv.vector(3, 1.0), epsilon=1.0), [0.5, -0.5, 0]),
}


def write(path: Path | str, rows: Iterable[object]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def state(survey: Any, path: str = "survey.json") -> str:
    Path(path).write_text(survey.to_json(), encoding="utf-8")
    for digest, content in survey.attachments.items():
        Path(digest).write_bytes(content)
    return path


def reports_in(text: str) -> list[bytes]:
    return [from_base64url(json.loads(line)["report"]) for line in text.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_question(run: Run, kind: str) -> None:
    survey, value = KINDS[kind]
    write("in.jsonl", [{"answer": value, "name": SECRET}] * 20)
    done = run("randomize", state(survey), "--column", "answer", "--input", "in.jsonl", "--output", "out.jsonl")
    assert done.status == 0, done.err
    assert "20 reports" in done.out
    text = Path("out.jsonl").read_text(encoding="utf-8")
    assert survey.aggregate().add(reports_in(text)).n_reports == 20
    assert SECRET not in text
    assert {frozenset(json.loads(line)) for line in text.splitlines()} == {frozenset({"id", "report"})}
    assert len({json.loads(line)["id"] for line in text.splitlines()}) == 20


@pytest.mark.parametrize(
    ("kind", "row", "columns"),
    [("records", {"age": 3, "city": "Rome"}, "age,city"), ("vector", {"x": 0.5, "y": 0, "z": -0.1}, "x, y, z")],
)
def test_several_columns_make_one_value(run: Run, kind: str, row: dict[str, object], columns: str) -> None:
    survey, _ = KINDS[kind]
    pq.write_table(pa.Table.from_pylist([row] * 7), "in.parquet")
    done = run("randomize", state(survey), "--columns", columns, "--input", "in.parquet", "--output", "out.parquet")
    assert done.status == 0, done.err
    assert sv.engines.local().aggregate(survey, Path("out.parquet")).n_reports == 7


def test_values_become_estimates(run: Run) -> None:
    write("in.jsonl", ({"drink": ("tea", "tea", "tea", "water")[i % 4]} for i in range(4000)))
    words = ("--column", "drink", "--input", "in.jsonl", "--output", "out.parquet", "--json")
    done = run("randomize", state(DRINKS), *words)
    assert (done.json["reports"], done.json["skipped"], done.json["epsilon"]) == (4000, 0, 4.0)
    assert run("aggregate", "--reports", "out.parquet").status == 0
    found = {
        one["label"]: one["value"] for one in run("estimate", "--aggregate", "aggregate.bin", "--json").json["answers"]
    }
    assert found["tea"] == pytest.approx(0.75, abs=0.05)
    assert found["coffee"] == pytest.approx(0, abs=0.05)


def test_reports_are_drawn_as_a_device_draws_them(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes of entropy give the same reports, one row after the other."""
    tape = bytes(range(256)) * 40

    def from_the_beginning() -> None:
        source = tape_source(tape)
        monkeypatch.setattr("sottovoce.surveys.survey.os_source", lambda: source)

    write("in.jsonl", [{"drink": name} for name in ("tea", "coffee", "water") * 30])
    from_the_beginning()
    expected = [DRINKS.randomize(name) for name in ("tea", "coffee", "water") * 30]
    from_the_beginning()
    run("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl", "--output", "out.jsonl")
    assert Counter(reports_in(Path("out.jsonl").read_text(encoding="utf-8"))) == Counter(expected)


def test_lines_are_bodies_for_a_collector(run: Run, tmp_path: Path) -> None:
    with running(tmp_path / "data") as service:
        service.publish(DRINKS)
        write("in.jsonl", [{"drink": "tea"}] * 5)
        address = f"{service.url}/s/{DRINKS.id}"
        for extra in ([], ["--batch", "2"]):
            out = f"out{len(extra)}.jsonl"
            done = run("randomize", address, "--column", "drink", "--input", "in.jsonl", "--output", out, *extra)
            assert done.status == 0, done.err
            for line in Path(out).read_text(encoding="utf-8").splitlines():
                answer = service.ask(
                    "POST",
                    f"/v1/surveys/{DRINKS.id}/reports",
                    body=line.encode(),
                    headers={"Content-Type": "application/json"},
                )
                assert answer.status in (200, 202), answer
        until(lambda: service.status(DRINKS)["n_reports"] == 10, "all reports are counted")
        named = run("randomize", "Drinks", "--url", service.url, "--column", "drink", "--input", "in.jsonl")
        assert named.status == 0, named.err
        assert len(named.out.splitlines()) == 5


def test_a_line_comes_out_before_the_next_goes_in(tmp_path: Path) -> None:
    (tmp_path / "survey.json").write_text(DRINKS.to_json(), encoding="utf-8")
    command = [sys.executable, "-m", "sottovoce", "randomize", "survey.json", "--column", "drink", "--stream"]
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=tmp_path, **piped) as process:  # type: ignore[call-overload]
        for _ in range(3):
            process.stdin.write(b'{"drink": "tea"}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline()).keys() == {"id", "report"}
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert b"3 reports, each with epsilon 4" in err
    assert err.count(b"keeps the order of the rows") == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (json.dumps({"drink": SECRET}), "not in the domain"),
        (json.dumps({"drink": [SECRET]}), "not in the domain"),
        (json.dumps({"drink": {SECRET: 10**400}}), "not in the domain"),
        (json.dumps({"drink": None, "name": SECRET}), "column 'drink' is empty"),
        (json.dumps({"name": SECRET}), "column 'drink' is missing"),
        (f'{{"drink": {SECRET}', "not JSON"),
        (json.dumps([SECRET]), "not a JSON object"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_row_stops_it_and_its_value_is_not_shown(run: Run, line: str, reason: str) -> None:
    Path("in.jsonl").write_text(f'{{"drink": "tea"}}\n{line}\n{{"drink": "tea"}}\n', encoding="utf-8")
    words = ("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl", "--output")
    before = sorted(os.listdir())
    stopped = run(*words, "out.jsonl")
    assert stopped.status == 2
    assert "row 2" in stopped.err
    assert reason in stopped.err
    assert "nothing was written" in stopped.err
    assert SECRET not in stopped.err + stopped.out
    assert sorted(os.listdir()) == before
    skipping = run(*words, "out.parquet", "--skip-invalid", "--json")
    assert (skipping.json["reports"], skipping.json["skipped"]) == (2, 1)


def test_missing_and_foreign_values_can_be_replaced(run: Run) -> None:
    write("in.jsonl", [{"drink": "wine"}, {"drink": None}, {}, {"drink": "tea"}])
    words = ("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl", "--output", "out.jsonl")
    assert run(*words, "--otherwise", "beer").status == 2
    done = run(*words, "--otherwise", "water", "--json")
    assert (done.json["reports"], done.json["skipped"]) == (4, 0)


def test_missing_values_count_as_the_survey_says(run: Run) -> None:
    drinks = sv.Survey(sv.shares(["tea", "coffee"], missing="as no answer"), epsilon=4.0)
    write("in.jsonl", [{"drink": None}, {}, {"drink": "tea"}])
    done = run(
        "randomize", state(drinks), "--column", "drink", "--input", "in.jsonl", "--output", "out.jsonl", "--json"
    )
    assert (done.json["reports"], done.json["skipped"]) == (3, 0)
    form = sv.Survey(
        sv.records({"age": sv.shares(range(9), missing="as 0"), "hours": sv.number(0, 9, missing="as 1"), "x": 2}),
        epsilon=1.0,
    )
    pq.write_table(pa.table({"age": [3.0, None], "hours": [None, 2.5], "x": [0, 1]}), "in.parquet")
    words = ("randomize", state(form), "--columns", "age,hours,x", "--input", "in.parquet", "--output", "out.parquet")
    assert run(*words).status == 0
    pq.write_table(pa.table({"age": [3.0], "hours": [2.0], "x": pa.array([None], pa.int64())}), "in.parquet")
    assert "column 'x' is empty" in run(*words[:-1], "other.parquet").err
    chosen = ColumnChoice.of(form, columns=["age", "hours", "x"])
    assert chosen.missing == {"age", "hours"}
    assert chosen.row(1, {"x": 1}).value == {"age": None, "hours": None, "x": 1}
    for kind, (survey, _) in KINDS.items():
        columns = ["age", "city"] if kind == "records" else ["x", "y", "z"] if kind == "vector" else []
        given = ColumnChoice.of(survey, columns=columns) if columns else ColumnChoice.of(survey, "answer")
        assert not given.missing, kind


def test_standard_output_says_what_went_out_before_a_bad_row(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Piecewise(io.BytesIO):
        """A pipe that has one line at a time."""

        def read1(self, size: int | None = -1) -> bytes:
            return self.readline()

    given = Piecewise(b'{"drink": "tea"}\n{"drink": "wine"}\n')
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(given))  # type: ignore[arg-type]
    done = run("randomize", state(DRINKS), "--column", "drink", "--stream")
    assert (done.status, len(done.out.splitlines())) == (2, 1)
    assert "1 report had been written to standard output already" in done.err


def test_kept_columns_go_out_with_a_warning(run: Run) -> None:
    pq.write_table(pa.table({"drink": ["tea"] * 3, "city": ["Bern", None, "Rome"], "name": [SECRET] * 3}), "in.parquet")
    words = ("randomize", state(DRINKS), "--column", "drink", "--input", "in.parquet", "--keep", "city", "--output")
    done = run(*words, "out.jsonl")
    assert "warning: city goes out beside the report" in done.err
    lines = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
    kept = [line["kept"] for line in sorted(lines, key=lambda line: str(line["kept"]))]
    assert kept == [{"city": "Bern"}, {"city": "Rome"}, {"city": None}]
    run(*words, "out.parquet")
    table = pq.read_table("out.parquet")
    assert table.column_names == ["report_id", "report", "city"]
    assert set(table["city"].to_pylist()) == {"Bern", None, "Rome"}
    assert sv.engines.local().aggregate(DRINKS, Path("out.parquet")).n_reports == 3
    assert SECRET.encode() not in Path("out.parquet").read_bytes()


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet"])
def test_all_rows_may_be_left_out(run: Run, name: str) -> None:
    write("in.jsonl", [{"drink": "wine"}, {"drink": None}])
    words = ("--column", "drink", "--input", "in.jsonl", "--skip-invalid", "--output", name, "--json")
    done = run("randomize", state(DRINKS), *words)
    assert (done.status, done.json["reports"], done.json["skipped"]) == (0, 0, 2)


def test_a_file_of_reports_is_never_replaced(run: Run) -> None:
    write("in.jsonl", [{"drink": "tea"}])
    Path("out.jsonl").write_text("earlier", encoding="utf-8")
    done = run("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl", "--output", "out.jsonl")
    assert done.status == 2
    assert "exists, and is not replaced" in done.err
    assert Path("out.jsonl").read_text(encoding="utf-8") == "earlier"


TRACKING = sv.Tracking(sv.questions.Shares(["a", "b"]), epsilon=1.0, every="week", starts="2027-01-04", periods=4)
PANEL = sv.Panel({"age": range(9)}, rounds=2, epsilon=1.0)
RELAYED = sv.Survey(sv.shares(["a", "b"]), epsilon=1.0, relay=sv.Relay("https://relay.example.org", 1000, 1e-6))


@pytest.mark.parametrize(
    ("survey", "reason"),
    [
        (PANEL, "panel"),
        (sv.adaptive.round_of(PANEL, 1, "age < 3"), "panel"),
        (TRACKING, "tracking survey"),
        (TRACKING.period(2), "tracking survey"),
        (RELAYED, "relay"),
    ],
)
def test_surveys_that_only_devices_can_answer_are_refused(run: Run, survey: Any, reason: str) -> None:
    write("in.jsonl", [{"x": "a"}])
    words = ("--column", "x", "--input", "in.jsonl", "--person", "x", "--ledger", "people.db")
    done = run("randomize", state(survey), *words)
    assert (done.status, done.out) == (2, "")
    assert reason in done.err
    assert sorted(os.listdir()) == ["in.jsonl", "survey.json"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "--column"),
        (("--column", "x", "--columns", "y"), "--column"),
        (("--column", "x", "--person", "y"), "give both or neither"),
        (("--column", "x", "--json"), "--output"),
        (("--column", "x", "--batch", "0"), "1 or more"),
        (("--column", "x", "--stream", "--output", "o.jsonl"), "leave out --output"),
        (("--column", "x", "--stream", "--memory", "1GiB"), "leave out --output and --memory"),
        (("--column", "x", "--memory", "much"), "not an amount of memory"),
        (("--column", "x", "--batch", "2", "--keep", "y"), "--batch"),
        (("--column", "x", "--keep", "y", "--output", "o.parquet"), "--keep to Parquet"),
        (("--column", "x", "--keep", "y", "--keep", "x"), "keep names 'x', which holds the value"),
        (("--columns", "x,y"), "columns is for surveys of records"),
        (("--column", "x", "--input", "none.jsonl"), "cannot be read"),
        (("--column", "x", "--input", "none.parquet"), "cannot be read"),
        (("--column", "x", "--input", "in.parquet"), "no column 'x'; it has 'drink'"),
    ],
)
def test_mistakes(run: Run, words: tuple[str, ...], reason: str) -> None:
    pq.write_table(pa.table({"drink": ["tea"]}), "in.parquet")
    done = run("randomize", state(DRINKS), *words)
    assert done.status == 2
    assert reason in done.err


def test_columns_must_fit_the_question() -> None:
    records, vector = KINDS["records"][0], KINDS["vector"][0]
    for survey, columns, reason in (
        (records, ["age"], "which are age, city"),
        (vector, ["x", "y"], "vectors of 3 numbers"),
        (vector, ["x", "y", "x"], "twice"),
    ):
        with pytest.raises(sv.errors.SurveyError, match=reason):
            ColumnChoice.of(survey, None, columns)


def test_a_line_without_an_end_is_not_kept_in_memory() -> None:
    class Endless(io.RawIOBase):
        """A line of 40 MiB, and one after it."""

        left = 40 * 2**20

        def read1(self, size: int) -> bytes:
            if self.left > 0:
                self.left -= size
                return b"x" * size
            rest, self.left = (b'\n{"drink": "tea"}' if self.left == 0 else b""), -1
            return rest

    rows = [row for batch in read_json_lines(Endless(), ColumnChoice(("drink",))) for row in batch]  # type: ignore[arg-type]
    assert [(row.number, row.readable) for row in rows] == [(1, False), (2, True)]
    assert f"{LONGEST_LINE:,}" in rows[0].fault


def test_no_representation_shows_what_is_private() -> None:
    assert SECRET not in repr(InputRow(1, SECRET, SECRET, {"name": SECRET}))


def test_addresses() -> None:
    assert split_address("http://127.0.0.1:8470/v1/surveys/" + "ab" * 32) == ("http://127.0.0.1:8470", "ab" * 32)
    assert split_address("https://example.org/stats/survey/" + "ab" * 32 + "/") == (
        "https://example.org/stats",
        "ab" * 32,
    )
    assert split_address("https://example.org/s/abc") is None


def test_kept_numbers_and_dates_are_json_that_anybody_reads(run: Run) -> None:
    row = {"drink": "tea", "age": float("nan"), "day": datetime.date(2027, 1, 31)}
    pq.write_table(pa.Table.from_pylist([row]), "in.parquet")
    words = ("--column", "drink", "--input", "in.parquet", "--output", "out.jsonl")
    assert run("randomize", state(DRINKS), *words, "--keep", "age", "--keep", "day", "--keep", "day").status == 0
    line = Path("out.jsonl").read_text(encoding="utf-8")
    assert line.endswith('"kept":{"age":null,"day":"2027-01-31"}}\n')


def test_a_kept_column_does_not_pass_for_a_report(run: Run) -> None:
    pq.write_table(pa.table({"drink": ["tea"], "report": [SECRET]}), "in.parquet")
    words = ("randomize", state(DRINKS), "--column", "drink", "--input", "in.parquet", "--keep", "report", "--output")
    refused = run(*words, "out.parquet")
    assert refused.status == 2
    assert "'report' cannot go out beside the report in Parquet" in refused.err
    assert not Path("out.parquet").exists()
    assert run(*words, "out.jsonl").status == 0
