"""A backup on a disk that fills up, of another format, or replaced under the reader: nothing half made is left."""

from __future__ import annotations

import errno
import itertools
import os
import zipfile
from pathlib import Path

import msgspec
import pytest

from collector.places import Place
from collector.records import arrival, survey_record
from sottovoce.collector.running import backup as module
from sottovoce.collector.running.backup import backup, restore, verify
from sottovoce.core.errors import StoreError


@pytest.fixture
def source(tmp_path: Path) -> Place:
    place = Place("", tmp_path / "data")
    store = place.open()
    store.append([arrival(store.publish(survey_record(), {"aa": b"one"}), 1, 2)])
    store.close()
    return place


def test_a_disk_that_fills_up_leaves_no_file(source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="No space left on device; nothing was left"):
            backup("", source.data, tmp_path / "backup")
    assert not (tmp_path / "backup").exists()
    assert backup("", source.data, tmp_path / "backup").waiting == 2


@pytest.mark.parametrize("change", [{"format": "another"}, {"tables": {}}], ids=repr)
def test_a_manifest_of_another_format_is_refused(source: Place, tmp_path: Path, change: dict[str, object]) -> None:
    backup("", source.data, tmp_path / "backup")
    with zipfile.ZipFile(tmp_path / "backup") as read, zipfile.ZipFile(tmp_path / "other", "w") as write:
        for name in read.namelist():
            content = read.read(name)
            if name == "manifest.json":
                content = msgspec.json.encode(msgspec.json.decode(content) | change)
            write.writestr(name, content)
    with pytest.raises(StoreError, match="not a backup of Sottovoce, or is damaged"):
        verify(tmp_path / "other")


def test_a_backup_replaced_while_it_is_read_is_not_restored(
    source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check and the reading see two files: what the first one promised must hold for the second."""
    backup("", source.data, tmp_path / "backup")
    honest = module._checked

    def of_another(archive: zipfile.ZipFile) -> module._Manifest:
        manifest = honest(archive)
        tables = manifest.tables | {"waiting": msgspec.structs.replace(manifest.tables["waiting"], sha256="00" * 32)}
        return msgspec.structs.replace(manifest, tables=tables)

    target = Place("", tmp_path / "target")
    with monkeypatch.context() as patch:
        patch.setattr(module, "_checked", of_another)
        with pytest.raises(StoreError, match="changed while it was read"):
            restore(tmp_path / "backup", "", target.data)
    store = target.open()
    assert list(store.surveys()) == []
    store.close()
    assert restore(tmp_path / "backup", "", target.data).waiting == 2


def test_a_large_backup_reaches_the_disk_in_pieces(
    source: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One long wait for the disk at the end would be everybody's who writes to it, a service's too."""
    store = source.open()
    for number in range(20):
        store.publish(survey_record(f"large {number}"), {f"{number:02}": os.urandom(2**20)})
    store.close()
    lengths, honest = [0], os.fsync

    def noted(descriptor: int) -> None:
        lengths.append(os.fstat(descriptor).st_size)
        honest(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", noted)
        backup("", source.data, tmp_path / "backup")
    pieces = [end - start for start, end in itertools.pairwise(lengths)]
    assert lengths[-2] > 20 * 2**20 or lengths[-1] > 20 * 2**20
    assert max(pieces) < 6 * 2**20
