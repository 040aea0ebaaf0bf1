"""One service on a SQLite folder, whatever became of the one before it; others who need no lock work beside it."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from collector.service import environment, running
from sottovoce.cli import main
from sottovoce.collector.running.backup import backup
from sottovoce.core.errors import SettingsError
from sottovoce.service.running.volume import folder_lock


def test_a_second_service_and_a_restore_are_refused_until_the_first_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "environ", environment())
    data = tmp_path / "data"
    with running(data, "--workers", "1") as first:
        assert main(["serve", "--port", "0", "--data", str(data)]) == 2
        told = f"another service, or a restore, works in the data folder {data}; stop it first"
        assert told in capsys.readouterr().err
        assert main(["token", "list", "--url", first.url, "--token", first.token]) == 0
        backup("", data, tmp_path / "copy")
        assert main(["restore", str(tmp_path / "copy"), "--data", str(data)]) == 2
        assert "works in the data folder" in capsys.readouterr().err
        os.kill(first.process.pid, 9)
        first.process.wait()
        # At once, though the first one's children may still be about to notice.
        with running(data, token=first.token) as second:
            assert second.ask("GET", "/readyz").status == 200


def test_a_file_system_without_locks_is_named_as_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(SettingsError, match="must be on a local disk"), folder_lock(tmp_path):
        pass


def test_the_lock_is_not_left_to_children(tmp_path: Path) -> None:
    with folder_lock(tmp_path):
        held = [int(name) for name in os.listdir("/proc/self/fd") if _leads_to(name, tmp_path)]
        assert held
        assert not any(os.get_inheritable(descriptor) for descriptor in held)
        with pytest.raises(SettingsError, match=str(tmp_path)), folder_lock(tmp_path):
            pass
    with folder_lock(tmp_path):
        pass


def _leads_to(name: str, folder: Path) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{name}") == str(folder)
    except OSError:
        return False
