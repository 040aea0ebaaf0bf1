"""The ledger of people at the edge: one report for each, whatever happens."""

from __future__ import annotations

import json
import multiprocessing
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import sottovoce as sv
from commands import Run
from sottovoce.core.errors import LedgerError
from sottovoce.core.files import leftover_parts
from sottovoce.edge import EdgeReport, InputRow, PersonLedger, Randomizer, RowFault

SURVEY = sv.Survey(sv.shares(1000), epsilon=1.0)
OTHER = sv.Survey(sv.shares(1000), epsilon=1.0, title="another")


def people(*names: str | int, value: object = 1) -> list[InputRow]:
    return [InputRow(number, value, name) for number, name in enumerate(names, start=1)]


def test_a_person_has_one_report_and_the_first_value_stands(tmp_path: Path) -> None:
    first = Randomizer(SURVEY, ledger=PersonLedger(tmp_path / "people.db")).draw(people("anna", "bob", "anna"))
    assert first[0] == first[2] != first[1]
    again = Randomizer(SURVEY, ledger=PersonLedger(tmp_path / "people.db"))
    assert again.draw(people("bob", "anna", value=999)) == [first[1], first[0]]
    assert again.draw(people("bob", "anna", value="no value at all")) == [first[1], first[0]]
    assert len(PersonLedger(tmp_path / "people.db")) == 2


def test_surveys_and_kinds_of_ids_are_told_apart(tmp_path: Path) -> None:
    ledger = PersonLedger(tmp_path / "people.db")
    drawn = [
        *Randomizer(SURVEY, ledger=ledger).draw(people("1", 1)),
        *Randomizer(OTHER, ledger=ledger).draw(people("1")),
    ]
    assert len({one.report_id for one in drawn if isinstance(one, EdgeReport)}) == 3


def test_a_faulty_row_is_not_remembered(tmp_path: Path) -> None:
    randomizer = Randomizer(SURVEY, ledger=PersonLedger(tmp_path / "people.db"))
    fault, nobody = randomizer.draw([InputRow(1, "no value", "anna"), InputRow(2, 1)])
    assert isinstance(fault, RowFault)
    assert nobody == RowFault(2, "the row does not say who it is")
    assert isinstance(randomizer.draw(people("anna"))[0], EdgeReport)


def test_the_file_says_neither_who_nor_what_nor_when(tmp_path: Path) -> None:
    place = tmp_path / "people.db"
    names = [f"anna{i}@example.org" for i in range(200)]
    Randomizer(SURVEY, ledger=PersonLedger(place)).draw(people(*names))
    content = place.read_bytes()
    assert not any(name.encode() in content for name in names)
    with sqlite3.connect(place) as database:
        rows = [row[0] for row in database.execute("SELECT person FROM drawn")]
    database.close()
    assert rows == sorted(rows), "the order of the rows is that of the hashes"
    for file in (place, tmp_path / "people.db.key"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_lost_half_is_an_error_and_not_a_new_beginning(tmp_path: Path) -> None:
    place, key = tmp_path / "people.db", tmp_path / "people.db.key"
    PersonLedger(place)
    kept = key.read_bytes()
    key.unlink()
    with pytest.raises(LedgerError, match=r"people\.db\.key is missing"):
        PersonLedger(place)
    key.write_bytes(b"00" * 32)
    with pytest.raises(LedgerError, match="is not its key"):
        PersonLedger(place)
    key.write_bytes(b"abc")
    with pytest.raises(LedgerError, match="as a key"):
        PersonLedger(place)
    key.write_bytes(b"abcd")
    with pytest.raises(LedgerError, match="32 bytes"):
        PersonLedger(place)
    key.write_bytes(kept)
    place.unlink()
    with pytest.raises(LedgerError, match=r"people\.db is missing"):
        PersonLedger(place)
    place.write_bytes(b"")
    with pytest.raises(LedgerError, match="not a ledger of people"):
        PersonLedger(place)
    place.write_bytes(b"something else that is no database" * 100)
    with pytest.raises(LedgerError, match="cannot be used"):
        PersonLedger(place)


def test_many_may_begin_one_ledger_at_once(tmp_path: Path) -> None:
    for attempt in range(5):
        place, together = tmp_path / f"people{attempt}.db", threading.Barrier(8)

        def begin(place: Path = place, together: threading.Barrier = together) -> EdgeReport | RowFault:
            together.wait(60)
            return Randomizer(SURVEY, ledger=PersonLedger(place)).draw(people("anna"))[0]

        with ThreadPoolExecutor(8) as pool:
            drawn = [one.result() for one in [pool.submit(begin) for _ in range(8)]]
        assert len(set(drawn)) == 1
        assert isinstance(drawn[0], EdgeReport)
        assert not leftover_parts(place)


def _draw(place: str, results: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    randomizer = Randomizer(SURVEY, ledger=PersonLedger(place))
    drawn = []
    for start in range(0, 200, 20):
        drawn += randomizer.draw(people(*range(start, start + 20)))
    results.put([tuple(one) for one in drawn])


def test_processes_that_meet_the_same_people_agree(tmp_path: Path) -> None:
    place = str(tmp_path / "people.db")
    PersonLedger(place)
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue = context.Queue()  # type: ignore[type-arg]
    processes = [context.Process(target=_draw, args=(place, results)) for _ in range(3)]
    for process in processes:
        process.start()
    found = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert found[0] == found[1] == found[2]
    assert len(PersonLedger(place)) == 200


def test_the_command_repeats_reports(run: Run) -> None:
    Path("survey.json").write_text(SURVEY.to_json(), encoding="utf-8")
    rows = [{"user": f"u{i}", "x": i} for i in range(50)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, rows[0]]), encoding="utf-8")
    words = ("randomize", "survey.json", "--column", "x", "--person", "user", "--ledger", "people.db")
    outs = []
    for number in (1, 2):
        done = run(*words, "--input", "in.jsonl", "--output", f"{number}.parquet")
        assert done.status == 0, done.err
        assert "not remembered" not in done.err
        outs.append(f"{number}.parquet")
    counted = run("aggregate", "--reports", *outs, "--json").json
    assert (counted["rows"], counted["counted"], counted["duplicates"]) == (102, 50, 52)
    Path("in.jsonl").write_text('{"x": 3}\n', encoding="utf-8")
    done = run(*words, "--input", "in.jsonl")
    assert done.status == 2
    assert "column 'user' must say who it is" in done.err
