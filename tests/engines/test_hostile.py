"""What a hostile or careless hand can do to counting: files that lie, names that change, others in the same folder."""

from __future__ import annotations

import builtins
import errno
import fcntl
import hashlib
import os
import struct
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from commands import run_here
from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet, write_segment
from refusing import refuses
from sottovoce import engines
from sottovoce.core.errors import ReportError, SottovoceError
from sottovoce.engines.machine.counts import InMemory
from sottovoce.engines.machine.resume import WorkFolder
from sottovoce.engines.reports.files import scan_files
from sottovoce.engines.reports.reading import columns, in_pieces
from sottovoce.engines.reports.rows import Tally, sift
from sottovoce.formats.aggregate_file import AggregateFile, write_aggregate
from sottovoce.formats.sharded import check_possible, in_shards
from sottovoce.kernels import repeats

MEMORY = 2**16


class StopError(Exception):
    """Ends a run at some row."""


def stop_at(row: int) -> Any:
    def progress(done: int, total: int, step: str) -> None:
        if done >= row:
            raise StopError

    return progress


def some_rows(n: int, seed: int = 1) -> Rows:
    reports = reports_of("hadamard", 2000)
    return [(report_id, reports[i % 2000]) for i, report_id in enumerate(new_ids(n, seed))]


def test_a_run_goes_on_under_other_names_of_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Under the second names the files come in another order: groups that are done must be the same rows all the same.
    survey, rows, work = survey_of("hadamard"), some_rows(12_000), tmp_path / "work"
    for place in ("d/x", "e"):
        (tmp_path / place).mkdir(parents=True)
    names = ("d/x/1.parquet", "e/2.parquet", "e/3.parquet")
    for name, some in zip(names, (rows[:3000], rows[3000:7500], rows[7500:]), strict=True):
        write_parquet(tmp_path / name, some)
    monkeypatch.chdir(tmp_path / "d")
    engine = engines.local(work=work, memory_bytes=MEMORY, cores=1)
    with pytest.raises(StopError):
        engine.count(survey, ["x/1.parquet", "../e/2.parquet", "../e/3.parquet"], progress=stop_at(8_000))
    assert (work / "progress.json").exists()
    with engine.count(survey, [tmp_path / name for name in names]) as counted:
        wanted = expected(survey, rows, 3)
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate


def test_a_file_found_damaged_is_known_under_its_other_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    survey, rows, work = survey_of("hadamard"), some_rows(9_000), tmp_path / "work"
    write_parquet(tmp_path / "b.parquet", rows)
    place = write_parquet(tmp_path / "a.parquet", some_rows(500, 2))
    chunk = pq.read_metadata(place).row_group(0).column(2)
    content = bytearray(place.read_bytes())
    content[chunk.data_page_offset : chunk.data_page_offset + 40] = b"\xff" * 40
    place.write_bytes(content)
    monkeypatch.chdir(tmp_path)
    engine = engines.local(work=work, memory_bytes=MEMORY, cores=1)
    told = [0]

    def stop_when_it_begins_again(done: int, total: int, step: str) -> None:
        if done < told[-1]:
            raise StopError
        told.append(done)

    with pytest.raises(StopError):
        engine.count(survey, "*.parquet", faults="skip", progress=stop_when_it_begins_again)
    assert "a.parquet" in (work / "plan.json").read_text().partition("damaged")[2]
    with engine.count(survey, tmp_path, faults="skip") as counted:
        assert (counted.tally.counted, len(counted.tally.bad_files)) == (9_000, 1)


@pytest.mark.parametrize("choice", ["Skip", "ignore", "", None, True])
def test_a_misspelt_choice_skips_nothing(tmp_path: Path, choice: Any) -> None:
    write_parquet(tmp_path / "a.parquet", [(b"\1" * 16, b"nothing")])
    with refuses(ReportError, "faults"):
        engines.local().count(survey_of("hadamard"), tmp_path, faults=choice)


def test_whatever_lies_in_a_folder_is_told_and_left(tmp_path: Path) -> None:
    survey, rows = survey_of("hadamard"), some_rows(20)
    write_parquet(tmp_path / "good.parquet", rows)
    (tmp_path / "loop.parquet").symlink_to("loop.parquet")
    for name in ("pipe.parquet", "pipe.svr"):
        os.mkfifo(tmp_path / name)  # to open one is to wait for a writer
    (tmp_path / os.fsdecode(b"\xff.parquet")).write_bytes((tmp_path / "good.parquet").read_bytes())
    with engines.local().count(survey, tmp_path, faults="skip") as counted:
        assert counted.aggregate() == expected(survey, rows, 1).aggregate
        reasons = {os.path.basename(bad.path): bad.reason for bad in counted.tally.bad_files}
    assert reasons == {
        "loop.parquet": "it cannot be read: Too many levels of symbolic links",
        "pipe.parquet": "not a regular file",
        "pipe.svr": "not a regular file",
        os.fsdecode(b"\xff.parquet"): "its name is not UTF-8, which Parquet requires: rename it",
    }


def test_bytes_of_every_kind_are_read(tmp_path: Path) -> None:
    survey, rows = survey_of("hadamard"), some_rows(60)
    ids, reports = (pa.array(column) for column in zip(*rows, strict=True))
    ids_then, reports_then = ids.cast(pa.binary(16)), reports.cast(pa.large_binary())
    kinds = [
        (ids.cast(pa.binary_view()), reports.cast(pa.binary_view())),
        (ids.dictionary_encode(), reports.dictionary_encode()),
        (ids_then.dictionary_encode(), reports_then.dictionary_encode()),
    ]
    for number, (some_ids, some_reports) in enumerate(kinds):
        part = slice(20 * number, 20 * number + 20)
        table = pa.table({"report_id": some_ids[part], "report": some_reports[part]})
        pq.write_table(table, tmp_path / f"{number}.parquet")
    assert engines.local().aggregate(survey, tmp_path) == expected(survey, rows, 3).aggregate


def test_nothing_that_a_dictionary_holds_is_taken_for_a_report() -> None:
    survey, (one, *_) = survey_of("hadamard"), reports_of("hadamard", 2000)
    reports = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0]), pa.array([one, None, one[:-1]]))
    assert sift(survey, pa.array(new_ids(5, 1)), reports).tally == Tally(rows=5, counted=2, malformed=3)


def test_long_junk_comes_in_small_batches(tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    junk = [bytes([i % 256]) * 20_000 + i.to_bytes(4, "little") for i in range(600)]
    table = pa.table({"report_id": new_ids(600, 1), "report": junk})
    pq.write_table(table, tmp_path / "junk.parquet", use_dictionary=False)
    with engines.local().count(survey, tmp_path, faults="skip") as counted:
        assert counted.tally.rows == 600
    [file] = scan_files(survey, [str(tmp_path / "junk.parquet")]).files
    [piece] = in_pieces([file], 1 << 20)
    sizes = [reports.nbytes for _, reports in columns(survey, piece, 600)]
    assert max(sizes) < 200_000


def test_a_long_value_that_a_short_file_repeats_is_never_spelt_out(tmp_path: Path) -> None:
    survey, rows = survey_of("hadamard"), some_rows(3000)
    reports = [report for _, report in rows]
    reports[::2] = [b"x" * 50_000] * 1500
    for name, column in (("report", reports), ("report_id", [row[0] for row in rows])):
        table = {"report_id": [row[0] for row in rows], "report": [row[1] for row in rows]} | {name: column}
        if name == "report_id":
            table[name] = [b"x" * 50_000 if i % 2 == 0 else one for i, one in enumerate(column)]
        place = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table(table), place)
        assert place.stat().st_size < 200_000
        [file] = scan_files(survey, [str(place)]).files
        [piece] = in_pieces([file], 1 << 20)
        assert max(ids.nbytes + held.nbytes for ids, held in columns(survey, piece, 3000)) < 500_000
        with engines.local().count(survey, place, faults="skip") as counted:
            assert counted.aggregate() == expected(survey, rows[1::2], 1).aggregate
            assert (counted.tally.rows, counted.tally.counted) == (3000, 1500)


def test_arrays_for_threads_do_not_add_up() -> None:
    survey = survey_of("hadamard")
    cells = InMemory(survey.mechanism, 2**30, 1)
    payloads = np.frombuffer(b"".join(report[4:] for report in reports_of("hadamard", 2000)), dtype=np.uint8)
    payloads = payloads.reshape(2000, -1)
    for _ in range(5):
        thread = threading.Thread(target=cells.add, args=(payloads,))
        thread.start()
        thread.join()
    assert len(cells._own) == 1
    [shard] = cells.shards()
    assert shard.counts.sum() == 10_000


def test_many_short_parts_cost_no_more_than_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    words = rng.integers(0, 2**63, 20_000, dtype=np.uint64)
    words[-500:] = words[:500]
    seen = []
    in_turn = repeats.for_each_piece

    def noted(do: Any, pieces: int) -> None:
        seen.append(pieces)
        in_turn(do, pieces)

    monkeypatch.setattr(repeats, "for_each_piece", noted)
    found = repeats.repeated_words([words[i : i + 3].copy() for i in range(0, 20_000, 3)])
    assert np.array_equal(found, np.unique(words[:500]))
    assert max(seen) <= 65


def test_a_small_run_leaves_a_large_ones_folder_alone(tmp_path: Path) -> None:
    survey, rows, work = survey_of("hadamard"), some_rows(9_000), tmp_path / "work"
    write_parquet(tmp_path / "a.parquet", rows, group=1000)
    write_parquet(tmp_path / "b.parquet", rows[:10])
    small = engines.local(work=work).count(survey, tmp_path / "b.parquet")  # in memory; the folder is not there yet

    def meanwhile(done: int, total: int, step: str) -> None:
        small.close()

    with engines.local(work=work, memory_bytes=MEMORY, cores=1).count(
        survey, tmp_path / "a.parquet", progress=meanwhile
    ) as counted:
        assert counted.aggregate() == expected(survey, rows, 1).aggregate
    assert not work.exists()


def test_a_lock_that_was_removed_locks_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (WorkFolder(tmp_path / "work") for _ in range(3))
    first.claim()
    lock = fcntl.flock

    def after_the_first_has_ended(file: Any, how: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        first.clear()
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", after_the_first_has_ended)
    second.claim()
    with pytest.raises(ReportError, match="another run is using"):
        third.claim()
    second.clear()
    assert not (tmp_path / "work").exists()


def test_the_work_must_be_a_folder(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    write_parquet(tmp_path / "a.parquet", some_rows(5))
    with pytest.raises(ReportError, match=r"thesis\.tex is a file; name an empty or new folder") as caught:
        engines.local(work=tmp_path / "thesis.tex").count(survey_of("hadamard"), tmp_path)
    assert "delete" not in str(caught.value)


def test_too_few_open_files_are_no_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_parquet(tmp_path / "a.parquet", some_rows(9_000))
    real = builtins.open

    def refused(file: Any, *given: Any, **more: Any) -> Any:
        if str(file).endswith("-003.spill"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return real(file, *given, **more)

    monkeypatch.setattr(builtins, "open", refused)
    with pytest.raises(ReportError, match=r"Too many open files\. Allow more \(ulimit"):
        engines.local(memory_bytes=MEMORY).count(survey_of("hadamard"), tmp_path)


def lying(place: Path, at: int, value: int) -> Path:
    """The aggregate file with another number in it, and a digest to fit."""
    body = bytearray(place.read_bytes()[:-32])
    struct.pack_into("<q", body, at, value)
    place.write_bytes(bytes(body) + hashlib.sha256(body).digest())
    return place


@pytest.mark.parametrize("name", ["hadamard", "codebook", "unary_optimized", "gaussian"])
def test_counts_that_no_reports_have_are_refused(tmp_path: Path, name: str) -> None:
    aggregate = survey_of(name).aggregate().add(list(reports_of(name, 2000)))
    place = tmp_path / "a.bin"

    def saved() -> Path:
        return write_aggregate(place, aggregate.survey, aggregate.n_reports, in_shards(aggregate.counts)).path

    whole = saved().read_bytes()
    n_at = 4 + 32
    assert int.from_bytes(whole[n_at : n_at + 8], "little") == 2000
    for n in (0, 1, *((1999,) if name in ("hadamard", "codebook") else ())):
        with pytest.raises(ReportError, match=f"cannot be those of {n:,} report"):
            AggregateFile.open(lying(saved(), n_at, n))
    for wrong in (2**62, -(2**63)):
        with pytest.raises(ReportError, match="cannot be those of"):
            AggregateFile.open(lying(saved(), len(whole) - 32 - 13 - 8, wrong))
    assert AggregateFile.open(saved()).aggregate() == aggregate


def test_every_mechanisms_own_counts_are_possible() -> None:
    for name in ("hadamard", "codebook", "unary_optimized", "gaussian", "rejection", "fourier", "matrix_channel"):
        survey = survey_of(name)
        for n in (0, 1, 2000):
            aggregate = survey.aggregate().add(list(reports_of(name, 2000)[:n]))
            check_possible(survey, n, in_shards(aggregate.counts))


def test_an_attachments_length_may_lie(tmp_path: Path) -> None:
    survey = survey_of("matrix_channel")
    assert survey.attachments
    aggregate = survey.aggregate().add(list(reports_of("matrix_channel", 2000)))
    place = tmp_path / "a.bin"
    write_aggregate(place, survey, 2000, in_shards(aggregate.counts))
    at = 4 + 32 + 8 + 8 + 4 + 4 + len(survey.to_json().encode()) + 32
    for length in (2**62, 0, 1):
        write_aggregate(place, survey, 2000, in_shards(aggregate.counts))
        with pytest.raises(SottovoceError, match=r"damaged|too short"):
            AggregateFile.open(lying(place, at, length))


def test_a_file_that_is_replaced_after_it_was_opened_is_noticed(tmp_path: Path) -> None:
    survey, place = survey_of("hadamard"), tmp_path / "a.bin"
    reports = list(reports_of("hadamard", 2000))
    one, other = (survey.aggregate().add(some) for some in (reports[:1000], reports[1000:]))
    opened = write_aggregate(place, survey, 1000, in_shards(one.counts))
    write_aggregate(place, survey, 1000, in_shards(other.counts))
    with pytest.raises(ReportError, match="has changed"):
        opened.aggregate()
    place.unlink()
    with pytest.raises(ReportError, match="can no longer be read"):
        opened.aggregate()


def test_one_file_under_two_names_is_added_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    survey = survey_of("hadamard")
    monkeypatch.chdir(tmp_path)
    aggregate = survey.aggregate().add(list(reports_of("hadamard", 2000)))
    write_aggregate("a.bin", survey, 2000, in_shards(aggregate.counts))
    os.link("a.bin", "b.bin")
    done = run_here(capsys)("estimate", "--aggregate", "a.bin", "b.bin")
    assert (done.status, "given twice" in done.err) == (2, True)


def test_where_to_hand_in_is_asked_before_counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOTTOVOCE_URL", raising=False)
    Path("survey.json").write_text(survey_of("hadamard").to_json())
    write_segment(Path("a.svr"), survey_of("hadamard"), some_rows(5))
    done = run_here(capsys)("aggregate", "survey.json", "--reports", "a.svr", "--hand-in")
    assert (done.status, "no collector is given" in done.err) == (2, True)
    assert not Path("aggregate.bin").exists()


def test_no_private_byte_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every way in which a row can be wrong, with bytes that are easy to find again."""
    survey, marker = survey_of("hadamard"), b"SECRETSECRETSECR"
    rows: Rows = [(marker, marker), (marker + b"x", survey.tag + marker), (marker, survey.tag + b"\xff" * 2)]
    place = write_parquet(tmp_path / "a.parquet", rows * 50)
    told: list[tuple[int, int]] = []
    with pytest.raises(ReportError) as caught:
        engines.local(work=tmp_path / "w").count(survey, place, progress=lambda *seen: told.append(seen))
    assert told
    content = bytearray(place.read_bytes())
    content[4:60] = b"\xff" * 56
    place.write_bytes(content)
    with pytest.raises(ReportError) as again:
        engines.local().count(survey, place)
    assert "SECRET" not in f"{caught.value} {again.value} {told} {caplog.text}"
