"""The order of rows in an input file has no influence on the reports that leave `sottovoce randomize`."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sottovoce as sv
from commands import Run
from sottovoce.edge.ordering import SortedRecords

LABELS = ("tea", "coffee", "water")
DRINKS = sv.Survey(sv.shares(LABELS), epsilon=1.0, mechanism="randomized_response")

Order = tuple[int, ...]


def state(survey: sv.Survey) -> str:
    Path("survey.json").write_text(survey.to_json(), encoding="utf-8")
    return "survey.json"


def write(path: str, rows: list[dict[str, object]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def law_of_the_order(run: Run, monkeypatch: pytest.MonkeyPatch) -> dict[Order, float]:
    """The chance of every order in which three rows leave, over all orders in which their ids can be drawn."""
    write("in.jsonl", [{"drink": label} for label in LABELS])
    orders: Counter[Order] = Counter()
    ways = list(itertools.permutations(range(3)))
    for way in ways:
        ids = [bytes([number]) * 16 for number in way]
        drawn = iter(ids)
        entropy = SimpleNamespace(token_bytes=lambda _, drawn=drawn: next(drawn))
        monkeypatch.setattr("sottovoce.edge.randomizer.secrets", entropy)
        out = f"out{''.join(map(str, way))}.jsonl"
        words = ("--column", "drink", "--input", "in.jsonl", "--output", out)
        assert run("randomize", state(DRINKS), *words).status == 0
        left = [bytes.fromhex(json.loads(line)["id"]) for line in Path(out).read_text().splitlines()]
        orders[tuple(ids.index(report_id) for report_id in left)] += 1
    return {order: count / len(ways) for order, count in orders.items()}


def test_one_person_moves_the_likelihood_of_a_sorted_file_by_epsilon(law_of_the_order: dict[Order, float]) -> None:
    """Every file that three people can leave, for all pairs of sorted inputs in which one of them differs."""
    channel = DRINKS.mechanism
    chance = [[math.exp(channel.log_prob(report, value)) for report in range(3)] for value in range(3)]

    def likelihood(people: Order, file: Order) -> float:
        rows = sorted(people)
        return sum(
            weight * math.prod(chance[rows[row]][report] for row, report in zip(order, file, strict=True))
            for order, weight in law_of_the_order.items()
        )

    everybody = list(itertools.product(range(3), repeat=3))
    worst = max(
        likelihood(people, file) / likelihood((other, *people[1:]), file)
        for people in everybody
        for other in range(3)
        for file in everybody
    )
    assert math.log(worst) <= DRINKS.epsilon * (1 + 1e-9)
    assert set(law_of_the_order.values()) == {1 / 6}


@pytest.mark.parametrize("out", ["jsonl", "batches", "parquet", "kept"])
def test_the_same_rows_in_another_order_leave_the_same_file(run: Run, out: str) -> None:
    """A ledger gives everybody one report: then the two files are equal to the byte."""
    rows: list[dict[str, object]] = [{"drink": LABELS[i // 20], "user": i, "city": f"city {i}"} for i in range(60)]
    extra = {"batches": ["--batch", "7"], "kept": ["--keep", "city"]}.get(out, [])
    ending = "parquet" if out in ("parquet", "kept") else "jsonl"
    words = ("--column", "drink", "--person", "user", "--ledger", "people.db", "--input", "in.parquet", *extra)
    files = []
    for name, given in (("sorted", rows), ("reversed", rows[::-1])):
        pq.write_table(pa.Table.from_pylist(given), "in.parquet")
        done = run("randomize", state(DRINKS), *words, "--output", f"{name}.{ending}", "--memory", "1KiB")
        assert done.status == 0, done.err
        files.append(Path(f"{name}.{ending}").read_bytes())
    assert files[0] == files[1]
    if ending == "parquet":
        assert sv.engines.local().aggregate(DRINKS, Path("sorted.parquet")).n_reports == 60


def test_standard_output_is_ordered_too_and_is_empty_after_a_bad_row(run: Run) -> None:
    write("in.jsonl", [{"drink": label} for label in LABELS * 30])
    done = run("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl")
    ids = [json.loads(line)["id"] for line in done.out.splitlines()]
    assert (len(ids), ids) == (90, sorted(ids))
    write("in.jsonl", [{"drink": "tea"}] * 90 + [{"drink": "wine"}])
    stopped = run("randomize", state(DRINKS), "--column", "drink", "--input", "in.jsonl")
    assert (stopped.status, stopped.out) == (2, "")
    assert "nothing was written" in stopped.err


def test_more_reports_than_memory(run: Run) -> None:
    write("in.jsonl", [{"drink": label} for label in LABELS for _ in range(1000)])
    before = sorted([*os.listdir(), "survey.json", "out.jsonl"])
    words = ("--column", "drink", "--input", "in.jsonl", "--output", "out.jsonl", "--memory", "1KiB")
    assert run("randomize", state(DRINKS), *words).status == 0
    ids = [json.loads(line)["id"] for line in Path("out.jsonl").read_text().splitlines()]
    assert (len(set(ids)), ids) == (3000, sorted(ids))
    assert sorted(os.listdir()) == before


def test_kept_columns_keep_their_types(run: Run) -> None:
    columns = {
        "drink": ["tea", "water", "tea"],
        "city": pa.array(["Bern", None, "Rome"]).dictionary_encode(),
        "day": pa.array([1, 2, None], pa.date32()),
        "marks": pa.array([[1], [], None], pa.list_(pa.int8())),
    }
    pq.write_table(pa.table(columns), "in.parquet")
    words = ("--column", "drink", "--input", "in.parquet", "--memory", "1KiB", "--skip-invalid")
    kept = ("--keep", "city", "--keep", "day", "--keep", "marks")
    assert run("randomize", state(DRINKS), *words, *kept, "--output", "out.parquet").status == 0
    given, left = pq.read_table("in.parquet"), pq.read_table("out.parquet")
    for name in ("city", "day", "marks"):
        assert left.schema.field(name) == given.schema.field(name)
    rows = [{name: row[name] for name in ("city", "day", "marks")} for row in left.to_pylist()]
    assert sorted(map(str, rows)) == sorted(
        str({k: v for k, v in row.items() if k != "drink"}) for row in given.to_pylist()
    )
    pq.write_table(pa.table({**columns, "drink": ["wine"] * 3}), "in.parquet")
    assert run("randomize", state(DRINKS), *words, *kept, "--output", "none.parquet").status == 0
    assert pq.read_table("none.parquet").num_rows == 0


def test_records_come_back_sorted_from_any_amount_of_memory(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    records = [rng.bytes(int(size)) for size in rng.integers(0, 40, 4200)]
    for memory_bytes in (0, 150, 5000, 10**9):
        waiting = SortedRecords(tmp_path, memory_bytes)
        for record in records:
            waiting.add(record)
        assert not os.listdir(tmp_path), "temporary files have no name"
        assert list(waiting.drain()) == sorted(records)
        assert list(waiting.drain()) == []


def test_a_disk_that_is_full_is_an_error(tmp_path: Path) -> None:
    waiting = SortedRecords(tmp_path / "none", 0)
    with pytest.raises(sv.errors.ReportError, match=r"a temporary file in .* cannot be written: .* make room"):
        waiting.add(b"record")
