"""The file of sealing keys: made once, shared by whoever starts, changed whole, never replaced silently."""

from __future__ import annotations

import logging
import stat
import threading
from pathlib import Path

import pytest

from refusing import refuses
from sottovoce.collector.sealing.keys import (
    SealingKeys,
    forget_key,
    load_or_create_keys,
    prepare_key,
    read_keys,
    rotate_keys,
)
from sottovoce.core.errors import SettingsError
from sottovoce.core.signing import SigningKey


def states(path: Path) -> dict[int, str]:
    return {one.key_id: one.state for one in read_keys(path)}


def test_whoever_starts_together_gets_the_same_key(tmp_path: Path) -> None:
    found: list[bytes] = []

    def start() -> None:
        found.append(load_or_create_keys(tmp_path / "deep" / "sealing.keys")[0].key.public)

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert stat.S_IMODE((tmp_path / "deep" / "sealing.keys").stat().st_mode) == 0o600


def test_a_key_is_prepared_current_retired_and_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "sealing.keys"
    load_or_create_keys(path)
    prepared = prepare_key(path)[0]
    assert states(path) == {2: "prepared", 1: "current"}
    with pytest.raises(SettingsError, match="a key is prepared already"):
        prepare_key(path)
    assert rotate_keys(path)[0].key.public == prepared.key.public
    rotate_keys(path)
    assert states(path) == {3: "current", 2: "retired", 1: "retired"}
    with refuses(SettingsError, "key_id"):
        forget_key(path, 3)
    with refuses(SettingsError, "key_id"):
        forget_key(path, 9)
    forget_key(path, 2)
    assert states(path) == {3: "current", 1: "retired"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_changes_at_the_same_time_lose_no_key(tmp_path: Path) -> None:
    path = tmp_path / "sealing.keys"
    load_or_create_keys(path)
    threads = [threading.Thread(target=rotate_keys, args=(path,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states(path) == {21: "current"} | dict.fromkeys(range(1, 21), "retired")


TWICE = "1 current {key}\n1 retired {key}\n"


@pytest.mark.parametrize("damage", ["", "1 current\n", "1 retired {key}\n", TWICE, "256 current {key}\n", "\xff"])
def test_a_damaged_file_is_left_alone(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "sealing.keys"
    load_or_create_keys(path)
    text = damage.format(key=path.read_text().split()[2]).encode("latin-1")
    path.write_bytes(text)
    for change in (load_or_create_keys, prepare_key, rotate_keys):
        with pytest.raises(SettingsError, match=r"damaged|cannot be read"):
            change(path)
    assert path.read_bytes() == text


def test_a_running_service_survives_a_damaged_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    keys = SealingKeys(tmp_path, SigningKey(bytes(31) + b"\1"))
    before, told = keys.held(), keys.signed()
    (tmp_path / "sealing.keys").write_text("what?\n")
    with caplog.at_level(logging.ERROR):
        assert (keys.held(), keys.signed()) == (before, told)
    assert "is damaged" in caplog.text
    (tmp_path / "sealing.keys").unlink()
    assert keys.held() == before
    assert not (tmp_path / "sealing.keys").exists(), "a new key in its place would hide the loss"
