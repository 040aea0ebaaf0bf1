"""Which hosts are this machine, and who says so."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from sottovoce.core.addresses import is_loopback
from sottovoce.relay.settings import RelaySettings
from sottovoce.service.running.process import warn_of_place

HERE = ("localhost", "LocalHost", "127.0.0.1", "127.0.0.2", "::1", "[::1]")
ELSEWHERE = ("0.0.0.0", "::", "128.0.0.1", "example.org", "localhost.example.org", "")


@pytest.mark.parametrize("host", HERE)
def test_this_machine(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_another_machine_or_every_network(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(("host", "warned"), [("127.0.0.2", False), ("0.0.0.0", True)])
def test_a_service_warns_of_a_network_only(
    host: str, warned: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tmp_path.chmod(0o700)
    with caplog.at_level(logging.WARNING):
        warn_of_place(RelaySettings(to="https://stats.example.org", host=host), tmp_path)
    assert ("listening beyond this machine" in caplog.text) == warned
