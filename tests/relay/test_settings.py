"""The relay's settings: the page lists them all, and what is wrong is told with where it came from."""

from __future__ import annotations

from pathlib import Path

import pytest

from refusing import refuses
from sottovoce.collector.settings import Settings
from sottovoce.core.errors import SettingsError
from sottovoce.relay.settings import RELAY_SETTINGS, RelaySettings

PAGE = Path(__file__).parents[2] / "docs" / "relay.md"
TO = "https://stats.example.org"


def test_the_page_lists_every_setting_as_the_help_says_it() -> None:
    section = PAGE.read_text(encoding="utf-8").split("## All settings")[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:3] == "| `"]
    assert rows == [
        [
            f"`{one.name}`",
            f"`{one.flag}`",
            f"`{one.variable}`",
            f"`{one.shown_default}`" if one.shown_default else "",
            one.allowed,
            one.meaning,
        ]
        for one in RELAY_SETTINGS
    ]


def test_a_collector_beside_a_relay_does_not_mind_its_variables(tmp_path: Path) -> None:
    file = tmp_path / "relay.toml"
    file.write_text('wait = "2d"\nhold = 7\n')
    environ = {"SOTTOVOCE_RELAY_TO": TO, "SOTTOVOCE_RELAY_SETTINGS": str(file), "SOTTOVOCE_PORT": "1"}
    settings = RelaySettings.load({"hold": "9"}, environ)
    assert (settings.to, settings.wait, settings.hold, settings.port) == (TO, 172_800.0, 9, 8471)
    assert Settings.load({}, {"SOTTOVOCE_RELAY_HOLD": "5"}).port == 8470


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"to": ""}, "to"),
        ({"to": "http://stats.example.org"}, "to"),  # nothing stands in for it
        ({"to": "https://user@stats.example.org"}, "to"),
        ({"to": TO, "wait": "soon"}, "wait"),
        ({"to": TO, "wait": "90d"}, "wait"),
        ({"to": TO, "hold": 10, "max_messages": 9}, "hold"),
        ({"to": TO, "tls_key": "key.pem"}, "tls_certificate"),
    ],
)
def test_what_is_refused(given: dict[str, object], field: str) -> None:
    with refuses(SettingsError, field):
        RelaySettings(**given)  # type: ignore[arg-type]


def test_a_token_is_in_no_message() -> None:
    assert "secret" not in repr(RelaySettings(to=TO, metrics_token="secret"))
