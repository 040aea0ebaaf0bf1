"""Nothing is written where it would be gone with the container, unless the operator says so."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from collector.disks import small_disk
from collector.service import environment, running
from sottovoce.cli import main
from sottovoce.collector.running.backup import backup
from sottovoce.collector.store import open_store
from sottovoce.core.errors import SettingsError
from sottovoce.service.running.volume import check_volume, mount_points, why_gone

LAYER = "812 640 0:56 / / ro,relatime - overlay overlay rw,lowerdir=/a,upperdir=/b,workdir=/c"
MEMORY = "818 812 0:60 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw,size=65536k"
NAMED = "830 812 254:0 /var/lib/docker/volumes/sottovoce/_data {} rw,relatime master:1 - ext4 /dev/vda rw"
NAMELESS = NAMED.replace("/sottovoce/", f"/{'0a' * 32}/")
POD = "/var/lib/kubelet/pods/4a55/volumes/{}/data"
EMPTY_DIR = NAMED.replace("/var/lib/docker/volumes/sottovoce/_data", POD.replace("{}", "kubernetes.io~empty-dir"))
CLAIM = NAMED.replace("/var/lib/docker/volumes/sottovoce/_data", POD.replace("{}", "kubernetes.io~csi"))
SECRET = "840 830 0:71 /..data/{0} {1}/{0} ro,relatime - tmpfs tmpfs rw,size=16k"

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (None, "lies in the container's own layer"),
        (NAMED, None),
        (CLAIM, None),
        (NAMELESS, "lies in a volume without a name, which no later container gets"),
        (EMPTY_DIR, "lies in an emptyDir, which goes with its pod"),
        (MEMORY.replace("/tmp", "{}"), "lies in memory (tmpfs)"),
    ],
    ids=["none", "named", "claim", "nameless", "emptyDir", "tmpfs"],
)
def test_what_lasts(line: str | None, reason: str | None) -> None:
    listed = "\n".join([LAYER, MEMORY, *([line.format("/data")] if line else [])])
    for path in (Path("/data"), Path("/data/deeper/not/there")):
        assert why_gone(path, mount_points(listed)) == reason
    assert why_gone(Path("/database"), mount_points(listed)) == "lies in the container's own layer"


def test_a_later_mount_hides_an_earlier_one() -> None:
    listed = "\n".join([LAYER, NAMED.format("/data"), MEMORY.replace("/tmp", "/data")])
    assert why_gone(Path("/data"), mount_points(listed)) == "lies in memory (tmpfs)"


def test_keys_may_be_mounted_by_themselves(tmp_path: Path) -> None:
    keys = ("signing.key", "sealing.keys")
    listed = tmp_path / "mountinfo"
    both = [SECRET.format(key, tmp_path) for key in keys]

    def check(*lines: str) -> None:
        listed.write_text("\n".join([LAYER, *lines]))
        check_volume(tmp_path, "the keys", keys=keys, listed=listed)

    with pytest.raises(SettingsError, match="own layer"):
        check(*both)  # mounted, the list says, and not there
    for key in keys:
        (tmp_path / key).touch()
    check(*both)
    with pytest.raises(SettingsError, match="the keys would be lost with the container"):
        check(both[0])
    with pytest.raises(SettingsError, match="own layer"):
        check()
    listed.write_text("\n".join([LAYER, *both]))
    with pytest.raises(SettingsError, match="reports would be lost"):
        check_volume(tmp_path, "reports", listed=listed)


def test_a_system_without_the_list_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="set require_volume to no where that file does not exist"):
        check_volume(tmp_path, "reports", listed=tmp_path / "none")


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """What a command says that does not start, where the environment is that of the image."""

    def run(*words: object) -> str:
        image = {"SOTTOVOCE_REQUIRE_VOLUME": "yes", "SOTTOVOCE_RELAY_REQUIRE_VOLUME": "yes"}
        monkeypatch.setattr(os, "environ", environment(**image))
        assert main([str(word) for word in words]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        (line,) = err.splitlines()
        return line

    return run


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    with small_disk(tmp_path / "memory", 64) as disk:
        if disk is None:
            pytest.skip("this user may not mount")
        yield disk


def test_nothing_is_made_in_memory(in_memory: Path, tmp_path: Path, said: Callable[..., str]) -> None:
    open_store("", tmp_path / "old").close()
    backup("", tmp_path / "old", tmp_path / "copy.zip")
    data = in_memory / "data"
    for words, lost in (
        (("serve", "--port", "0", "--data", data), "acknowledged reports, and the keys that devices trust,"),
        (
            ("serve", "--port", "0", "--data", data, "--database", "postgresql://nobody@127.0.0.1:1/none"),
            "the keys that devices trust and seal to",
        ),
        (("relay", "--to", "https://stats.example.org", "--port", "0", "--folder", data), "acknowledged messages"),
        (("restore", tmp_path / "copy.zip", "--data", data), "what is restored"),
    ):
        line = said(*words)
        assert f"the data folder {data} lies in memory (tmpfs): {lost} would be lost with the container" in line
        assert "Nothing was written. Mount a volume with a name there (podman run" in line
        assert f"--volume sottovoce:{data}" in line
        assert list(in_memory.iterdir()) == []
    data.mkdir()
    assert "lies in memory" in said("serve", "--only-work", "--data", data)
    assert list(data.iterdir()) == []


def test_whoever_says_so_has_it_in_memory(in_memory: Path) -> None:
    with running(in_memory / "data", "--require-volume", "no", SOTTOVOCE_REQUIRE_VOLUME="yes") as service:
        assert service.ask("GET", "/readyz").status == 200


@AS_ROOT
def test_a_volume_is_enough(tmp_path: Path) -> None:
    data, volume = tmp_path / "data", tmp_path / "volume"
    data.mkdir(mode=0o700)
    volume.mkdir(mode=0o700)
    with mounted(volume, data), running(data, SOTTOVOCE_REQUIRE_VOLUME="yes") as service:
        assert service.ask("GET", "/readyz").status == 200
        assert (volume / "signing.key").is_file()


@contextlib.contextmanager
def mounted(source: Path, target: Path) -> Iterator[None]:
    """One folder seen at the place of another, as a volume is."""
    subprocess.run(["mount", "--bind", source, target], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", target], check=True)
