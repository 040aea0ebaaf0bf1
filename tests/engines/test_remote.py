"""Files by address are counted like files by path."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

import sottovoce as sv
from refusing import refuses
from sottovoce.core.errors import MissingExtraError, ReportError
from sottovoce.engines.reports import remote
from sottovoce.engines.reports.files import find_files, stated_survey
from sottovoce.formats.report_files import write_reports
from sottovoce.formats.wire import encode_batch

SURVEY = sv.Survey(sv.shares(["red", "green", "blue"]), epsilon=1.0)
REPORTS = list(SURVEY.simulate(["red"] * 60 + ["green"] * 40, seed=7))
IDS = [number.to_bytes(16, "little") for number in range(100)]
ALL = SURVEY.aggregate().add(REPORTS)


def rows(pieces: list[bytes], first: int = 0) -> Any:
    return np.frombuffer(b"".join(piece[first:] for piece in pieces), dtype=np.uint8).reshape(len(pieces), -1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A Parquet file, a batch that repeats some of it, and what is to be left alone."""
    write_reports(tmp_path / "a.parquet", SURVEY, rows(IDS[:70]), rows(REPORTS[:70], 4), epoch=3)
    batch = b"".join(a + b for a, b in zip(IDS[60:], REPORTS[60:], strict=True))
    (tmp_path / "b.svr").write_bytes(encode_batch(SURVEY.id, ()) + batch)
    (tmp_path / "notes.txt").write_text("ours")
    (tmp_path / ".hidden.parquet").write_text("ours")
    (tmp_path / "deeper").mkdir()
    return tmp_path


def test_a_folder_a_glob_and_files_by_address(folder: Path) -> None:
    address = f"file://{folder}"
    assert find_files(address) == [f"{address}/a.parquet", f"{address}/b.svr"]
    assert find_files(f"{address}/*.svr") == [f"{address}/b.svr"]
    for reports in (address, [f"{address}/a.parquet", f"{address}/b.svr"], [f"{address}/*.parquet", folder / "b.svr"]):
        with sv.engines.local().count(SURVEY, reports) as counted:
            assert counted.aggregate() == ALL
            assert counted.tally.duplicates == 10
    assert stated_survey([f"{address}/a.parquet"]).id == SURVEY.id


def test_the_storage_of_another_kind(folder: Path) -> None:
    files = fsspec.filesystem("memory")
    files.pipe_file("/bucket/a.parquet", (folder / "a.parquet").read_bytes())
    assert sv.engines.local(cores=1).aggregate(SURVEY, "memory://bucket").n_reports == 70
    first = remote.status("memory://bucket/a.parquet")
    files.pipe_file("/bucket/a.parquet", (folder / "a.parquet").read_bytes())
    assert remote.status("memory://bucket/a.parquet") != first
    files.rm("/bucket", recursive=True)


def test_a_run_by_address_is_resumed_from_any_folder(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"file://{folder}"
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert remote.absolute(address) == address
    assert remote.absolute("x") == str(Path.cwd() / "x")


def test_what_is_not_there_or_fails_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with refuses(ReportError, "reports"):
        find_files(f"file://{folder}/no.parquet")
    with refuses(ReportError, "reports"):
        find_files(f"file://{folder}/deeper")
    with refuses(ReportError, "reports"):
        find_files("nonsense://x")
    (folder / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(ReportError, match=re.escape("a.parquet (truncated, damaged or not a Parquet file)")):
        sv.engines.local().count(SURVEY, f"file://{folder}")

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("secret")

    local = type(fsspec.filesystem("file"))
    monkeypatch.setattr(local, "ukey", fail)
    with pytest.raises(ReportError, match=r"cannot be used: .*it cannot be read: the storage fails \(RuntimeError\)"):
        sv.engines.local().count(SURVEY, [f"file://{folder}/*.parquet"])
    monkeypatch.setattr(local, "isdir", fail)
    with pytest.raises(ReportError, match=r"cannot be listed: the storage fails \(RuntimeError\)"):
        find_files(f"file://{folder}")


def test_without_fsspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(MissingExtraError, match=r"reports: files by address need fsspec: pip install"):
        find_files("s3://bucket/folder")
