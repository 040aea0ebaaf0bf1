"""Object storage: what is written is durable and whole, what is not as written is refused, and others' files stay."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from pathlib import Path

import pytest

from collector.shaky_objects import behave, held, shaky_storage
from refusing import refuses
from sottovoce.collector.settings import Settings
from sottovoce.collector.store import open_store
from sottovoce.collector.store.object_storage import ObjectStorage, object_name
from sottovoce.core.errors import MissingExtraError, ObjectStorageError, SettingsError

CONTENT = b"some reports" * 100
DIGEST = hashlib.sha256(CONTENT).hexdigest()
NAME = object_name("ab" * 32, 7, CONTENT)


def test_a_name_says_survey_epoch_and_digest_and_is_used_once() -> None:
    assert NAME.startswith(f"{'ab' * 32}/7-{DIGEST}-")
    assert NAME.endswith(".parquet")
    assert object_name("ab" * 32, 7, CONTENT) != NAME


def test_a_folder_holds_whole_files_for_their_owner_only(tmp_path: Path) -> None:
    storage = ObjectStorage(str(tmp_path / "new" / "objects"))
    storage.put(NAME, CONTENT)
    assert storage.get(NAME, DIGEST) == CONTENT
    assert storage.length(NAME) == len(CONTENT)
    place = tmp_path / "new" / "objects" / NAME
    assert os.listdir(place.parent) == [place.name]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700


def test_a_file_and_its_folders_are_synced_before_it_counts_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = ObjectStorage(str(tmp_path))
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    storage.put(NAME, CONTENT)
    folder = tmp_path / NAME.split("/")[0]
    assert synced[0] == str(tmp_path)
    assert synced[1].startswith(f"{folder}/.")
    assert synced[2:] == [str(folder)]


def test_removing_leaves_the_files_of_others(tmp_path: Path) -> None:
    storage = ObjectStorage(str(tmp_path))
    storage.put(NAME, CONTENT)
    foreign = tmp_path / NAME.split("/")[0] / "notes.txt"
    foreign.write_text("ours")
    storage.remove(NAME)
    storage.remove(NAME)
    assert storage.length(NAME) is None
    assert foreign.read_text() == "ours"
    foreign.unlink()
    storage.put(NAME, CONTENT)
    storage.remove(NAME)
    assert os.listdir(tmp_path) == []


def test_removing_takes_what_a_kill_has_left_of_the_object(tmp_path: Path) -> None:
    storage = ObjectStorage(str(tmp_path))
    storage.put(NAME, CONTENT)
    place = tmp_path / NAME
    torn, other = (place.with_name(f".{name}.{'0' * 16}.part") for name in (place.name, "other.parquet"))
    torn.write_bytes(CONTENT[:5])
    other.write_bytes(CONTENT[:5])
    storage.remove(NAME)
    assert list(place.parent.iterdir()) == [other]
    other.unlink()
    torn.write_bytes(CONTENT[:5])
    storage.remove(NAME)
    assert os.listdir(tmp_path) == []


def test_missing_and_altered_objects_are_refused(tmp_path: Path) -> None:
    storage = ObjectStorage(f"file://{tmp_path}")
    with pytest.raises(ObjectStorageError, match=r"\(setting objects\) has no object abab.*put it back from a copy"):
        storage.get(NAME, DIGEST)
    storage.put(NAME, CONTENT)
    (tmp_path / NAME).write_bytes(CONTENT[:-1] + b"X")
    with pytest.raises(ObjectStorageError, match="not what was written; put it back from a copy"):
        storage.get(NAME, DIGEST)


def test_a_folder_that_was_unmounted_is_not_made_again(tmp_path: Path) -> None:
    storage = ObjectStorage(str(tmp_path / "mount"))
    (tmp_path / "mount").rmdir()
    with pytest.raises(ObjectStorageError, match="setting objects names does not exist; make it, or mount it again"):
        storage.put(NAME, CONTENT)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("act", "operation", "right"),
    [("put", 0, "create objects"), ("put", 1, "read objects"), ("remove", 0, "delete objects")],
)
def test_errors_name_the_setting_and_the_remedy_and_nothing_of_the_cause(act: str, operation: int, right: str) -> None:
    storage = shaky_storage()
    arguments = (NAME, CONTENT) if act == "put" else (NAME,)
    behave(operation, PermissionError(13, "secret://key@host"))
    with pytest.raises(ObjectStorageError, match=f"setting objects.* does not permit it; allow .* {right}") as refused:
        getattr(storage, act)(*arguments)
    assert "secret" not in repr(refused.value)
    assert refused.value.__cause__ is None
    behave(operation, RuntimeError("secret"))
    with pytest.raises(ObjectStorageError, match=r"setting objects\) fails \(RuntimeError\); look at the storage"):
        getattr(storage, act)(*arguments)


def test_a_torn_write_is_noticed() -> None:
    storage = shaky_storage()
    behave(0, tears=True)
    with pytest.raises(ObjectStorageError, match="not what was written"):
        storage.put(NAME, CONTENT)
    assert held() == [NAME]


def test_folders_are_made_where_storage_has_them() -> None:
    storage = shaky_storage()
    behave(0, FileNotFoundError())
    storage.put(NAME, CONTENT)
    assert storage.get(NAME, DIGEST) == CONTENT


@pytest.mark.parametrize("address", ["nonsense://x:secret@y", "s3://[secret"])
def test_an_address_that_cannot_be_used_is_not_repeated(address: str, tmp_path: Path) -> None:
    with refuses((SettingsError, MissingExtraError), "objects") as refused:
        open_store("", tmp_path / "data", objects=address)
    assert "secret" not in str(refused.value)
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with refuses(SettingsError, "objects"):
        ObjectStorage(str(tmp_path / "file" / "folder"))


def test_without_fsspec_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(
        MissingExtraError, match=r"objects: files by address need fsspec: pip install 'sottovoce\[objects\]'"
    ):
        ObjectStorage(str(tmp_path))


def test_the_setting_is_secret_and_knows_the_home_folder() -> None:
    assert "password" not in repr(Settings(objects="sftp://me:password@host/x"))
    assert Settings(objects="~/x").objects == str(Path("~/x").expanduser())
    assert Settings(objects=Path("x")).objects == "x"  # type: ignore[arg-type]
