"""Files that are there whole or not at all, whatever fails on the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from sottovoce.core import files

HEX = "0123456789abcdef"


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_what_fails_leaves_the_old_file_and_nothing_else(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "kept"
    place.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="No space"):
        files.replace_file(place, b"new")
    assert place.read_bytes() == b"old"
    assert names(tmp_path) == ["kept"]


def test_a_new_file_never_replaces_one(tmp_path: Path) -> None:
    place = tmp_path / "seat"
    files.create_file(place, b"first", 0o600)
    with pytest.raises(FileExistsError):
        files.create_file(place, b"second", 0o600)
    assert place.read_bytes() == b"first"
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert place.stat().st_nlink == 1
    assert names(tmp_path) == ["seat"]


def test_content_is_on_the_disk_before_its_name_and_the_name_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    synced, replaced, linked = os.fsync, os.replace, os.link

    def sync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        synced(descriptor)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", lambda *paths: (steps.append("move"), replaced(*paths)))
    monkeypatch.setattr(os, "link", lambda *paths: (steps.append("link"), linked(*paths)))
    files.replace_file(tmp_path / "a", b"1")
    files.create_file(tmp_path / "b", b"2")
    assert steps == ["content", "move", "folder", "content", "link", "folder"]


def test_only_its_own_parts_are_a_files_left_overs(tmp_path: Path) -> None:
    """Not those of a file whose name begins alike, nor what somebody else has named like one."""
    place = tmp_path / "a[1]"
    mine = tmp_path / f".a[1].{HEX}.part"
    for other in (mine, tmp_path / f".a[1].b.{HEX}.part", tmp_path / ".a[1].notes.part", tmp_path / f".a1.{HEX}.part"):
        other.write_bytes(b"")
    assert files.leftover_parts(place) == [mine]
    with files.replacing(place) as part:
        assert set(files.leftover_parts(place)) == {mine, part}
