"""Relay and collector killed under load, in turns: nothing acknowledged is lost, and nothing is counted twice."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from collector.disks import fill, small_disk
from collector.service import kept_port, running, until
from relay.killing import kill_in_turns
from relay.service import RelayProcess, relayed, relaying, sealed
from sottovoce.core.errors import SettingsError
from sottovoce.relay.run import relay as run_relay
from sottovoce.relay.settings import RelaySettings

pytestmark = pytest.mark.slow

KILLS = 6


def test_kill_nine_of_relay_and_collector(tmp_path: Path) -> None:
    outcome = kill_in_turns(tmp_path, KILLS, lambda: secrets.randbelow(150) + 20)
    assert outcome.twice == 0
    assert outcome.lost == 0
    assert outcome.invented == 0
    assert outcome.acknowledged >= KILLS * 20


def test_a_full_disk_and_room_again(tmp_path: Path) -> None:
    survey = relayed(3)
    with small_disk(tmp_path / "small", 24) as small, running(tmp_path / "data") as collector:
        if small is None:
            pytest.skip("this user may not mount a small disk")
        collector.publish(survey)
        with relaying(small / "relay", collector.url, "--hold", "100", "--wait", "1h") as relay:
            key = relay.keys()[0]
            first = sealed(survey, key, survey.randomize("tea"))
            assert relay.put(survey.id, first).status == 200
            filled = fill(small)
            answer = relay.put(survey.id, sealed(survey, key, survey.randomize("tea")))
            assert (answer.status, answer.json["error"]["code"]) == (507, "storage_full")
            until(lambda: relay.ask("GET", "/readyz").status == 503, "the relay says that it is not ready")
            filled.unlink()
            until(lambda: relay.put(survey.id, first).status == 200, "messages are taken again")
            until(lambda: relay.ask("GET", "/readyz").status == 200, "the relay is ready again")


def test_a_full_disk_does_not_hinder_forwarding(tmp_path: Path) -> None:
    survey = relayed(3)
    with small_disk(tmp_path / "small", 24) as small, kept_port() as port:
        if small is None:
            pytest.skip("this user may not mount a small disk")
        flags = ("--port", str(port))
        with running(tmp_path / "data", *flags) as collector:
            collector.publish(survey)
            relay = RelayProcess(small / "relay", f"http://127.0.0.1:{port}")
            key = relay.keys()[0]
            assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
        try:
            for _ in range(2):
                assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
            fill(small)
            with running(tmp_path / "data", *flags, token=collector.token) as again:
                until(lambda: again.status(survey)["n_reports"] == 3, "the batch is counted")
        finally:
            relay.kill()


def test_a_folder_is_one_relays(tmp_path: Path) -> None:
    with relaying(tmp_path / "relay", "http://127.0.0.1:9"), pytest.raises(SettingsError, match="--folder"):
        run_relay(RelaySettings(to="http://127.0.0.1:9", folder=tmp_path / "relay", port=0), ready=print)


def test_a_folder_that_was_put_back_is_noticed(tmp_path: Path) -> None:
    survey, folder = relayed(50), tmp_path / "relay"
    with running(tmp_path / "data") as collector:
        collector.publish(survey)
        with relaying(folder, collector.url) as relay:
            key = relay.keys()[0]
            assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
            assert relay.stop() == 0
        early = {file.name: file.read_bytes() for file in folder.glob("relay.db*")}
        with relaying(folder, collector.url) as relay:
            assert relay.put(survey.id, sealed(survey, key, survey.randomize("tea"))).status == 200
            assert relay.stop() == 0
        for file in folder.glob("relay.db*"):
            file.unlink()
        for name, content in early.items():
            (folder / name).write_bytes(content)
        with relaying(folder, collector.url, "--metrics-token", "secret") as relay:
            assert relay.metric("sottovoce_relay_missing_numbers") == 1
            assert "has lost acknowledged" in relay.log.read_text()
