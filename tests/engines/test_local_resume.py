"""An interrupted run goes on where it was, and only with what it was begun with; a full disk is told."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet
from sottovoce import engines
from sottovoce.core.errors import ReportError

MEMORY = 2**16
"""Two of the files, 8,000 rows, are a group then."""

KILLED = """
import json, os, signal, sys
import sottovoce as sv
survey, folder, work, fatal = sv.Survey.from_json(open(sys.argv[1]).read()), sys.argv[2], sys.argv[3], int(sys.argv[4])
told = []
def progress(done, total, step):
    told.append(done)
    if done >= fatal:
        sys.stdout.write(json.dumps([told[0], done])); sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
sv.engines.local(work=work, memory_bytes=2**16, cores=2).count(survey, folder, progress=progress)
"""


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """Twenty thousand rows in five files, some of them twice."""
    folder = tmp_path / "lake"
    folder.mkdir()
    rows = rows_of()
    for i in range(5):
        write_parquet(folder / f"{i}.parquet", rows[i::5], group=700)
    return folder


def rows_of() -> Rows:
    reports = reports_of("hadamard", 2000)
    rows: Rows = [(report_id, reports[i % 2000]) for i, report_id in enumerate(new_ids(19_000, 1))]
    return rows + [(report_id, reports[i]) for i, (report_id, _) in enumerate(rows[300:1300])]


def interrupted(lake: Path, work: Path, fatal: int) -> None:
    """Stop a run in this process, after so many rows."""

    class StopError(Exception):
        pass

    def progress(done: int, total: int, step: str) -> None:
        if done >= fatal:
            raise StopError

    with pytest.raises(StopError):
        local(work).count(survey_of("hadamard"), lake, progress=progress)


def local(work: Path, **settings: Any) -> Any:
    return engines.local(work=work, memory_bytes=MEMORY, cores=2, **settings)


def test_a_killed_run_goes_on_and_gives_the_same_bytes(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    (tmp_path / "survey.json").write_text(survey.to_json())
    # In the second group, and where repeats are read again.
    began = []
    for fatal in (9_000, 25_000):
        words = [sys.executable, "-c", KILLED, str(tmp_path / "survey.json"), str(lake), str(work), str(fatal)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGKILL, done.stderr
        began.append(json.loads(done.stdout)[0])
    assert began[0] < 8000 <= began[1]  # the second run did not begin at the first row
    wanted = expected(survey, rows_of(), 5)
    with local(work).count(survey, lake) as counted:
        assert counted.tally == wanted.tally
        assert counted.save(tmp_path / "counted.bin").path.read_bytes() == wanted.file(tmp_path)
    assert not work.exists()


def test_what_differs_is_told_and_restarting_begins_anew(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    interrupted(lake, work, 9_000)
    with pytest.raises(ReportError, match=rf"survey {survey.id[:12]}, not of \w+; to start again delete .*work"):
        local(work).count(survey_of("randomized_response"), lake)
    write_parquet(lake / "new.parquet", [])
    (lake / "1.parquet").unlink()
    write_parquet(lake / "2.parquet", rows_of()[:5])
    with pytest.raises(
        ReportError, match=r"changed: \S*2\.parquet; new: \S*new\.parquet; missing or unusable: \S*1\.par"
    ):
        local(work).count(survey, lake)
    with local(work, restart=True).count(survey, lake) as counted:
        kept = [row for i in (0, 3, 4) for row in rows_of()[i::5]] + rows_of()[:5]
        assert counted.tally == expected(survey, kept, 5).tally


def test_a_folder_with_other_things_is_left_alone(lake: Path, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    for name in ("thesis.tex", "counts.npy"):
        (tmp_path / "work" / name).write_text("years of work")
    for restart in (False, True):
        with pytest.raises(ReportError, match="is not empty"):
            local(tmp_path / "work", restart=restart).count(survey_of("hadamard"), lake)
    (tmp_path / "work" / "plan.json").write_text("{")
    with pytest.raises(ReportError, match=r"plan\.json cannot be read; delete"):
        local(tmp_path / "work").count(survey_of("hadamard"), lake)
    (tmp_path / "work" / "plan.json").unlink()
    engines.local(work=tmp_path / "work").count(survey_of("hadamard"), lake).close()  # all of it fits into memory
    assert {path.name for path in (tmp_path / "work").iterdir()} == {"counts.npy", "thesis.tex"}


def test_two_runs_do_not_share_a_folder(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    for restart in (False, True):
        with (
            pytest.raises(ReportError, match=r"another run is using .*work; wait for it"),
            local(work).count(survey, lake),
        ):
            local(work, restart=restart).count(survey, lake)
    local(work).count(survey, lake).close()
    assert not work.exists()


def test_working_files_that_were_harmed_are_noticed(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    interrupted(lake, work, 9_000)
    counts = next(work.glob("*.npy"))
    whole = counts.read_bytes()
    counts.write_bytes(whole[:-8])
    with pytest.raises(ReportError, match=r"counts-\d+\.npy is damaged; delete"):
        local(work).count(survey, lake)
    counts.write_bytes(whole)
    longest = max(work.glob("*.spill"), key=lambda path: path.stat().st_size)
    os.truncate(longest, 8)
    with pytest.raises(ReportError, match="is shorter than recorded; delete"):
        local(work).count(survey, lake)


def test_a_full_disk_is_told_and_the_same_goes_on_later(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_700, before[1]))
    try:
        with pytest.raises(ReportError, match=r"work cannot be written: .*Free some space.*lets it resume"):
            local(work).count(survey, lake)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    wanted = expected(survey, rows_of(), 5)
    with local(work).count(survey, lake) as counted:
        assert counted.tally == wanted.tally
        assert counted.aggregate() == wanted.aggregate


def test_a_result_that_cannot_be_saved_is_not_lost(lake: Path, tmp_path: Path) -> None:
    survey, work = survey_of("hadamard"), tmp_path / "work"
    with pytest.raises(ReportError, match="cannot be written"), local(work).count(survey, lake) as counted:
        counted.save(tmp_path / "missing" / "counted.bin")
    began: list[int] = []
    with local(work).count(survey, lake, progress=lambda done, total, step: began.append(done)) as counted:
        counted.save(tmp_path / "counted.bin")
    assert began[0] >= 8000
