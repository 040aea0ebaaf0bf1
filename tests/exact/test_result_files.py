"""Files at the end of long work: refused early, written whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sottovoce.core import files
from sottovoce.core.errors import SimulationError
from sottovoce.core.files import check_file, check_folder, write_file


def test_a_place_that_can_be_written_is_left_as_it_was(tmp_path):
    check_file(tmp_path / "page.html", "page")
    check_folder(tmp_path / "new" / "folder", "results")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (".", "is a directory; name a file in it for the page"),
        ("none/page.html", "there is no directory .* for the page; make it, or name another"),
        ("file/page.html", "there is no directory"),
        ("x" * 300, "cannot be written: File name too long; name another place"),
    ],
)
def test_a_file_that_cannot_be_is_refused(tmp_path, name, message):
    (tmp_path / "file").write_text("something")
    with pytest.raises(SimulationError, match=message):
        check_file(tmp_path / name, "page")


def test_a_file_that_may_not_be_changed_is_refused(tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("the old one")
    monkeypatch.setattr(os, "access", lambda place, mode: False)
    with pytest.raises(SimulationError, match="it exists and is not writable"):
        check_file(tmp_path / "page.html", "page")


def test_a_folder_that_may_not_be_written_in_is_refused(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sottovoce.core.files.os.open", refuse)
    for check in (check_file, check_folder):
        with pytest.raises(SimulationError, match="cannot be written: Permission denied; name another place"):
            check(tmp_path / "new", "results")


def test_a_file_where_a_folder_should_be_is_refused(tmp_path):
    (tmp_path / "file").write_text("something")
    with pytest.raises(SimulationError, match="is a file, and the results need a directory"):
        check_folder(tmp_path / "file" / "folder", "results")


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    page = tmp_path / "page.html"
    write_file(page, "the old one")

    def interrupt(*places):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_file(page, "the new one")
    assert page.read_text() == "the old one"
    assert list(tmp_path.iterdir()) == [page]


def test_a_full_disk_is_told(tmp_path, monkeypatch):
    def full(self, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(SimulationError, match="No space left on device"):
        write_file(tmp_path / "page.html", "x")
    assert list(tmp_path.iterdir()) == []


def test_a_link_stays_one_and_rights_stay(tmp_path):
    page, link = tmp_path / "page.html", tmp_path / "link.html"
    page.write_text("the old one")
    page.chmod(0o640)
    link.symlink_to(page)
    write_file(link, b"the new one")
    assert link.is_symlink()
    assert page.read_text() == "the new one"
    assert page.stat().st_mode & 0o777 == 0o640


def test_a_device_is_written_to_and_not_replaced():
    write_file(Path(os.devnull), "gone")
    check_file(Path(os.devnull), "page")
    assert not Path(os.devnull).is_file()
