"""Keys that are made before any service has started are those of every service that is given them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from collector.service import running
from sottovoce.cli import main


def test_services_that_are_given_the_keys_have_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keys = tmp_path / "keys"
    assert main(["keys", "create", "--data", str(keys), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (keys, *sorted(keys.iterdir()))] == [0o700, 0o600, 0o600]
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    for file in keys.iterdir():
        (data / file.name).write_bytes(file.read_bytes())
    with running(data) as service:
        assert service.fingerprint == told["fingerprint"]
    assert (data / "sealing.keys").read_bytes() == (keys / "sealing.keys").read_bytes()


@pytest.mark.parametrize("name", ["signing.key", "sealing.keys"])
def test_keys_that_are_there_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    (tmp_path / name).write_text("old")
    assert main(["keys", "create", "--data", str(tmp_path)]) == 2
    assert f"{tmp_path / name} is there already, and keys are never replaced" in capsys.readouterr().err
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [(name, "old")]


def test_people_are_told_the_fingerprint_and_nothing_private(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["keys", "create", "--data", str(tmp_path / "keys")]) == 0
    out = capsys.readouterr().out
    assert "fingerprint" in out
    for file in (tmp_path / "keys").iterdir():
        for word in file.read_text().split():
            assert len(word) < 43 or word not in out
