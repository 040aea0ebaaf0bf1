"""The stack for trying: locked up, with its secrets in files, and a relay that meets the collector only at its door."""

from __future__ import annotations

import re
from typing import Any

import pytest

from deploy.files import DEPLOY, ROOT, compose, image_environment
from sottovoce.cli.parser import build_parser
from sottovoce.collector.settings import Settings
from sottovoce.relay.settings import RelaySettings

SERVICES = compose()["services"]
OURS = {name: one for name, one in SERVICES.items() if "/sottovoce:" in one["image"]}


def mounts(service: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["target"]: one for one in service.get("volumes", [])}


def secrets(service: dict[str, Any]) -> dict[str, str]:
    """Where each secret is seen."""
    given = [one if isinstance(one, dict) else {"source": one} for one in service.get("secrets", [])]
    return {one["source"]: one.get("target", f"/run/secrets/{one['source']}") for one in given}


@pytest.mark.parametrize("name", SERVICES)
def test_every_container_is_locked_up(name: str) -> None:
    one = SERVICES[name]
    assert one["read_only"] is True
    assert one["cap_drop"] == ["ALL"]
    assert one["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in one
    assert "cap_add" not in one
    user, group = one["user"].split(":")
    assert int(user) > 0
    assert int(group) > 0
    assert any(place.startswith("/tmp:") for place in one["tmpfs"])
    assert re.search(r":\d", one["image"]), "a version, and not the latest"
    assert set(mounts(one)) <= {"/data", "/var/lib/postgresql/data", "/var/run/postgresql", "/etc/nginx/nginx.conf"}
    # Those of ours have the image's own check.
    assert name in OURS or one["healthcheck"]["test"][0] == "CMD"


@pytest.mark.parametrize("name", SERVICES)
def test_no_secret_is_a_variable_or_a_flag(name: str) -> None:
    one = SERVICES[name]
    for variable, value in one.get("environment", {}).items():
        private = re.search(r"PASSWORD|TOKEN|_DATABASE$|_KEY$", variable)
        assert not private or value.startswith("/run/secrets/"), variable
    assert "postgresql://" not in str(one)
    assert secrets(one).keys() <= compose()["secrets"].keys()
    assert [source["file"] for source in compose()["secrets"].values()] == [
        f"./secrets/{source}" for source in compose()["secrets"]
    ]
    assert "deploy/secrets/" in (ROOT / ".gitignore").read_text("utf-8").splitlines()


@pytest.mark.parametrize("name", OURS)
def test_commands_and_variables_are_understood(name: str) -> None:
    one = OURS[name]
    arguments = build_parser().parse_args(one["command"])
    variables = image_environment() | one["environment"]
    variables.pop("SOTTOVOCE_SETTINGS", None)  # a file that is not here
    flags = {key: value for key, value in vars(arguments).items() if key == "workers"}
    settings = RelaySettings.load({}, variables) if one["command"][0] == "relay" else Settings.load(flags, variables)
    assert settings.require_volume
    assert mounts(one)["/data"]["type"] == "volume"
    assert mounts(one)["/data"]["source"] in compose()["volumes"]


def test_services_share_their_keys_and_no_folder() -> None:
    services = {name: one for name, one in OURS.items() if one["command"] == ["serve", "--workers", "0"]}
    assert len(services) == 2
    for one in services.values():
        assert secrets(one) == {
            "collector.toml": "/run/secrets/collector.toml",
            "signing.key": "/data/signing.key",
            "sealing.keys": "/data/sealing.keys",
        }
    folders = [mounts(one)["/data"]["source"] for one in OURS.values()]
    assert len(set(folders)) == len(folders)
    conf = (DEPLOY / "proxy" / "nginx.conf").read_text("utf-8")
    assert set(re.findall(r"server ([\w-]+):8470;", conf)) == services.keys()
    assert SERVICES["proxy"]["depends_on"].keys() == services.keys()


def test_the_relay_sees_nothing_of_the_collector_but_its_door() -> None:
    def near(name: str) -> set[str]:
        return {other for other in SERVICES if set(SERVICES[other]["networks"]) & set(SERVICES[name]["networks"])}

    assert near("relay") == {"relay", "proxy"}
    assert near("postgres") == {name for name in OURS if name != "relay"} | {"postgres"}
    assert not secrets(OURS["relay"]).keys() & {"collector.toml", "signing.key", "sealing.keys", "database.password"}
    published = {name for name, one in SERVICES.items() if one.get("ports")}
    assert published == {"proxy", "relay"}
    networks = compose()["networks"]
    assert [name for name, one in networks.items() if not (one or {}).get("internal")] == ["outside"]


def test_nobody_starts_before_what_they_need() -> None:
    for one in SERVICES.values():
        for needed, how in one.get("depends_on", {}).items():
            assert needed in SERVICES
            assert how["condition"] == "service_healthy"
    assert all(how["restart"] for how in SERVICES["proxy"]["depends_on"].values()), "it looks up addresses once"
    assert "postgres" in SERVICES["collector-1"]["depends_on"]
