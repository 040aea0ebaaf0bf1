"""Which files a path means, which survey they state, and what damage looks like."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import sottovoce as sv
from engines.battery import reports_of, survey_of, write_parquet, write_segment
from refusing import refuses
from sottovoce.core.errors import MismatchError, ReportError
from sottovoce.engines.reports.files import find_files, scan_files, stated_survey


def names(found: list[str]) -> list[str]:
    return [Path(name).name for name in found]


def test_paths_folders_and_globs(tmp_path: Path) -> None:
    for name in ("b.parquet", "a.parquet", "c.svr", ".hidden.parquet", "notes.txt", "odd[1].parquet"):
        (tmp_path / name).touch()
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.parquet").touch()
    (tmp_path / "folder.parquet").mkdir()
    assert names(find_files(tmp_path)) == ["a.parquet", "b.parquet", "c.svr", "odd[1].parquet"]
    assert names(find_files(str(tmp_path / "[ab].parquet"))) == ["a.parquet", "b.parquet"]
    assert names(find_files(tmp_path / "odd[1].parquet")) == ["odd[1].parquet"]
    assert names(find_files(tmp_path / "notes.txt")) == ["notes.txt"]
    assert names(find_files([tmp_path / "c.svr", tmp_path / "deeper"])) == ["c.svr", "d.parquet"]


def test_a_file_is_read_once_whatever_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").touch()
    (tmp_path / "link.parquet").symlink_to("a.parquet")
    os.link(tmp_path / "a.parquet", tmp_path / "twin.parquet")
    (tmp_path / "here").symlink_to(tmp_path)
    paths = [tmp_path, tmp_path / "here", tmp_path / "here" / "a.parquet", str(tmp_path / "*.parquet")]
    assert names(find_files(paths)) == ["a.parquet"]


@pytest.mark.parametrize(
    "given",
    [
        [],
        "nowhere.parquet",
        "nowhere/*.parquet",
        3,
        [3],
        b"bytes",
        [b"bytes"],
    ],
)
def test_what_means_no_file_is_refused(given: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with refuses(ReportError, "reports"):
        find_files(given)


def test_a_folder_without_reports_is_refused(tmp_path: Path) -> None:
    with refuses(ReportError, "reports"):
        find_files(tmp_path)


def test_files_tell_their_rows(tmp_path: Path) -> None:
    survey = survey_of("hadamard")
    rows = [(bytes(16), report) for report in reports_of("hadamard", 2000)[:25]]
    write_parquet(tmp_path / "a.parquet", rows, group=10)
    write_segment(tmp_path / "b.svr", survey, rows)
    found = scan_files(survey, find_files(tmp_path))
    assert [file.groups for file in found.files] == [(10, 10, 5), (25,)]
    assert not found.bad


def test_files_state_their_survey(tmp_path: Path) -> None:
    survey, other = survey_of("hadamard"), survey_of("randomized_response")
    state = [{"sottovoce.statement": one.to_json()} for one in (survey, survey, other)]
    places = [str(write_parquet(tmp_path / f"{i}.parquet", [], stated=stated)) for i, stated in enumerate(state)]
    assert stated_survey(places[:2]).id == survey.id
    with pytest.raises(MismatchError, match=r"0\.parquet and .*2\.parquet are exports of different surveys"):
        stated_survey(places)
    silent = str(write_parquet(tmp_path / "silent.parquet", []))
    with pytest.raises(ReportError, match=r"silent\.parquet does not name the survey"):
        stated_survey([places[0], silent])
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(ReportError, match=r"text\.parquet cannot be used"):
        stated_survey([str(tmp_path / "text.parquet")])
    adaptive = {"sottovoce.statement": sv.Panel(range(9), rounds=2, epsilon=1.0).to_json()}
    with pytest.raises(ReportError, match="belong to one of its rounds"):
        stated_survey([str(write_parquet(tmp_path / "rounds.parquet", [], stated=adaptive))])
