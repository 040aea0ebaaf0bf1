"""The image itself, where Podman can run it: locked up as the manifests lock it up, it serves, ends and refuses."""

from __future__ import annotations

import json
import os
import resource
import secrets
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from collector.service import PATIENCE, until
from deploy.files import ROOT, instructions
from sottovoce.collector.store.migrations import latest

PODMAN = shutil.which("podman")
BASE = next(rest.partition("=")[2] for name, rest in instructions() if name == "ARG" and rest.startswith("BASE="))


def podman(*words: str, patience: float = PATIENCE) -> subprocess.CompletedProcess[str]:
    assert PODMAN is not None
    return subprocess.run([PODMAN, *words], capture_output=True, text=True, check=False, timeout=patience)


def there(image: str) -> bool:
    return podman("image", "exists", image).returncode == 0


@pytest.fixture(scope="module")
def image() -> str:
    """The one that SOTTOVOCE_TEST_IMAGE names, or one that is built from `dist` on a base that is here already."""
    if PODMAN is None:
        pytest.skip("podman is not installed")
    if given := os.environ.get("SOTTOVOCE_TEST_IMAGE"):
        return given
    if not there(BASE):
        pytest.skip(f"the base image is not here: podman pull {BASE}")
    if not list((ROOT / "dist").glob("*.whl")):
        pytest.skip("there are no wheels: make dist")
    tag = "localhost/sottovoce-test:latest"
    containerfile = str(ROOT / "deploy" / "Containerfile")
    built = podman("build", "--format=docker", f"--file={containerfile}", f"--tag={tag}", str(ROOT), patience=900)
    assert built.returncode == 0, built.stderr[-2000:]
    return tag


def locked_up(*more: str) -> list[str]:
    """How compose.yaml and the manifests start a container."""
    open_files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limits = [f"--ulimit=nofile={open_files}:{open_files}", "--ulimit=nproc=4096:4096"]
    return ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--tmpfs=/tmp", *limits, *more]


@pytest.fixture
def volume(image: str) -> Iterator[str]:
    name = f"sottovoce-test-{secrets.token_hex(4)}"
    assert podman("volume", "create", name).returncode == 0
    yield name
    podman("volume", "rm", "--force", name)


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        ((), "lies in a volume without a name"),
        (("--image-volume=ignore",), "lies in the container's own layer"),
        (("--tmpfs=/data",), "lies in memory (tmpfs)"),
    ],
)
def test_without_a_volume_nothing_starts(image: str, flags: tuple[str, ...], reason: str) -> None:
    for command in (["serve"], ["relay", "--to", "https://stats.example.org"]):
        ended = podman("run", "--rm", "--network=none", *locked_up(*flags), image, *command)
        assert ended.returncode == 2
        assert reason in ended.stderr


def test_a_service_on_a_volume_serves_and_ends_on_a_signal(image: str, volume: str) -> None:
    name = volume  # of the container too
    flags = locked_up("--network=none", f"--volume={volume}:/data", f"--name={name}")
    assert podman("run", "--detach", *flags, image, "serve", "--json").returncode == 0
    try:
        check = ("exec", name, "python", "-I", "/opt/sottovoce/healthcheck.py")
        until(lambda: podman(*check).returncode == 0, "the service is ready")
        assert podman("exec", name, "id", "-u").stdout.strip() == "10001"
        assert podman("exec", name, "touch", "/opt/sottovoce/here").returncode != 0
        written = podman("exec", name, "sottovoce", "backup", "/data/monday.zip", "--json")
        assert json.loads(written.stdout)["tokens"] == 1
        assert podman("stop", "--time=60", name).returncode == 0
        assert podman("inspect", "--format={{.State.ExitCode}}", name).stdout.strip() == "0"
    finally:
        podman("rm", "--force", name)
    change = f"INSERT INTO migrations VALUES ({latest('sqlite') + 1}, 'of later')"
    newer = f"import sqlite3; file = sqlite3.connect('/data/collector.db'); file.execute({change!r}); file.commit()"
    flags = ["--rm", "--network=none", *locked_up(f"--volume={volume}:/data")]
    assert podman("run", *flags, "--entrypoint=python", image, "-c", newer).returncode == 0
    ended = podman("run", *flags, image)
    assert ended.returncode == 2
    assert "run the version that wrote it, or a newer one" in ended.stderr


def test_nothing_of_the_checkout_is_in_the_image(image: str) -> None:
    looking = ["--entrypoint=ls", image, "-A", "/", "/opt", "/opt/sottovoce"]
    found = set(podman("run", "--rm", "--network=none", *locked_up(), *looking).stdout.split())
    assert "healthcheck.py" in found
    assert not {".git", "src", "tests", "dist", "wheels", "constraints.txt"} & found
