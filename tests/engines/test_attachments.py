"""A survey with an attachment is counted from a folder that holds it; without it, the error says where to put it."""

from __future__ import annotations

import re
from pathlib import Path

import fsspec
import pytest

import sottovoce as sv
from commands import Run, run_here
from engines.battery import Rows, expected, new_ids, reports_of, survey_of, write_parquet
from sottovoce.analyst.parquet import Folder
from sottovoce.core.errors import SottovoceError, SurveyError
from sottovoce.engines.reports.files import find_files, stated_survey
from sottovoce.engines.reports.remote import AttachmentFiles
from sottovoce.formats.wire import encode_batch
from sottovoce.protocol.surveys import SegmentEntry

SURVEY = survey_of("matrix_channel")
((DIGEST, CONTENT),) = SURVEY.attachments.items()


def rows() -> Rows:
    return list(zip(new_ids(50, 1), reports_of("matrix_channel", 2000), strict=False))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """In a folder with an export."""
    monkeypatch.chdir(tmp_path)
    for name in ("SOTTOVOCE_URL", "SOTTOVOCE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    made = Folder(SURVEY, "lake")
    made.prepare()
    pairs = [(one or b"", report or b"") for one, report in rows()]
    made.write(SegmentEntry(1, 5, 50), encode_batch(SURVEY.id, pairs), set())
    return run_here(capsys)


def test_an_export_has_what_counting_needs(run: Run, tmp_path: Path) -> None:
    assert Path("lake", DIGEST).read_bytes() == CONTENT
    assert run("aggregate", "--reports", "lake").status == 0
    assert Path("aggregate.bin").read_bytes() == expected(SURVEY, rows(), 1).file(tmp_path)
    Folder(SURVEY, "lake").prepare()  # another export into the same folder
    assert Path("lake", DIGEST).read_bytes() == CONTENT
    assert len(list(Path("lake").iterdir())) == 2


def test_beside_the_survey_or_among_the_reports(run: Run) -> None:
    Path("stated").mkdir()
    Path("stated/survey.json").write_text(SURVEY.to_json())
    assert run("aggregate", "stated/survey.json", "--reports", "lake/*.parquet").status == 0
    Path("lake", DIGEST).rename(Path("stated", DIGEST))
    assert run("aggregate", "stated/survey.json", "--reports", "lake").status == 0
    done = run("aggregate", "--reports", "lake")
    assert done.status == 2
    assert f"attachment {DIGEST} is missing: no file has that name in 'lake'" in done.err
    Path("stated", DIGEST).unlink()
    done = run("aggregate", "stated/survey.json", "--reports", "lake")
    assert done.status == 2
    assert f"{DIGEST} is missing: no file has that name in 'stated', 'lake'" in done.err


@pytest.mark.parametrize("place", [0, 9, len(CONTENT) // 2, len(CONTENT) - 1])
def test_a_changed_attachment_is_refused(run: Run, place: int) -> None:
    changed = bytearray(CONTENT)
    changed[place] ^= 1
    Path("lake", DIGEST).write_bytes(changed)
    with pytest.raises(SottovoceError):
        stated_survey(find_files("lake"))
    assert run("aggregate", "--reports", "lake").status == 2
    assert not Path("aggregate.bin").exists()


def test_the_attachment_of_another_survey_is_refused(run: Run) -> None:
    from sottovoce import Survey
    from sottovoce.workloads import Prefix

    (other,) = Survey(sv.queries(Prefix(6)), epsilon=2.0, strategy="optimized").attachments.values()
    Path("lake", DIGEST).write_bytes(other)
    with pytest.raises(SottovoceError):
        stated_survey(find_files("lake"))


def test_by_address(run: Run) -> None:
    files = fsspec.filesystem("memory")
    files.put("lake/", "/with-attachment/", recursive=True)
    try:
        assert stated_survey(find_files("memory://with-attachment")).id == SURVEY.id
        files.rm(f"/with-attachment/{DIGEST}")
        with pytest.raises(SurveyError, match=rf"{DIGEST} is missing: .* in 'memory://.*with-attachment'"):
            stated_survey(find_files("memory://with-attachment"))
    finally:
        files.rm("/with-attachment", recursive=True)


def test_what_is_no_digest_leads_to_no_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    held = AttachmentFiles([str(tmp_path / "deeper")])
    for name in ("../secret", "secret", DIGEST.upper(), ""):
        with pytest.raises(SurveyError, match="64 hexadecimal digits"):
            held[name]


def test_folders_and_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / DIGEST).mkdir(parents=True)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / DIGEST).write_bytes(CONTENT)
    folders = [str(tmp_path / name) for name in "ab"]
    assert AttachmentFiles(folders)[DIGEST] == CONTENT
    monkeypatch.setattr("sottovoce.engines.reports.remote.MAX_SURVEY_BYTES", len(CONTENT) - 1)
    with pytest.raises(SurveyError, match="is longer than"):
        AttachmentFiles(folders)[DIGEST]
    (tmp_path / "b" / DIGEST).unlink()
    (tmp_path / "b" / DIGEST).symlink_to(DIGEST)
    with pytest.raises(SurveyError, match="cannot be read: Too many levels"):
        AttachmentFiles(folders)[DIGEST]
    many = [str(tmp_path / f"day-{number}") for number in range(9)]
    with pytest.raises(SurveyError, match=re.escape("day-4' and 4 more")):
        AttachmentFiles(many)[DIGEST]


def test_files_of_another_pipeline_state_no_attachment(run: Run) -> None:
    """A survey that needs none looks for none."""
    survey = survey_of("hadamard")
    stated = {"sottovoce.statement": survey.to_json()}
    assert stated_survey([str(write_parquet(Path("plain.parquet"), [], stated=stated))]).id == survey.id
