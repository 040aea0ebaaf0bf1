"""The settings of a relay: each declared once, with its default, its range and its help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from sottovoce.core.errors import ServiceError, SettingsError
from sottovoce.device.http import collector_url
from sottovoce.service.running import settings as kinds
from sottovoce.service.running.service_settings import ServiceSettings, common
from sottovoce.service.running.settings import RELAY_PREFIX, setting
from sottovoce.service.storage.reserve import DEFAULT_RESERVE

__all__ = ["RELAY_FILE_VARIABLE", "RELAY_SETTINGS", "RelaySettings"]

RELAY_FILE_VARIABLE: Final = "SOTTOVOCE_RELAY_SETTINGS"
"""Names the settings file where no flag does."""

_ANY_ORIGIN: Final = ("*",)


def _collector(given: object) -> str:
    """The collector's address, or empty for none yet."""
    url = kinds.text(given)
    try:
        return collector_url(url) if url else ""
    except ServiceError:
        raise ValueError from None


@dataclass(frozen=True)
class RelaySettings(ServiceSettings):
    """All settings of `sottovoce relay`; checked when they are made.

    Examples
    --------
    >>> settings = RelaySettings(to="https://stats.example.org/", wait="6h")
    >>> settings.to, settings.wait
    ('https://stats.example.org', 21600.0)
    >>> RelaySettings.load({"to": "https://stats.example.org"}, {"SOTTOVOCE_RELAY_HOLD": "5000"}).hold
    5000
    >>> RelaySettings()
    Traceback (most recent call last):
    sottovoce.core.errors.SettingsError: to is empty: ...
    """

    prefix: ClassVar[str] = RELAY_PREFIX
    file_variable: ClassVar[str] = RELAY_FILE_VARIABLE

    to: str = setting(
        "",
        _collector,
        "the collector's address, such as https://stats.example.org; plain http only to this machine",
        "the collector that messages are for",
        metavar="URL",
        required=True,
    )
    folder: Path = setting(  # noqa: RUF009 - a field, not a shared object
        Path("sottovoce-relay"),
        kinds.folder,
        "the name of a folder",
        "folder of the relay's database (relay.db); it must be on a local disk",
        metavar="FOLDER",
    )
    require_volume: bool = common(
        "require_volume",
        False,
        "refuse to start where the folder would be gone with its container; the container image sets it",
    )
    host: str = common("host", "127.0.0.1")
    port: int = common("port", 8471)
    hold: int = setting(
        0,
        kinds.whole(0, 10**8),
        "a whole number from 0 to 10^8",
        "messages of a survey that are waited for before they are forwarded; never fewer than the survey states, which "
        "is what 0 stands for",
    )
    wait: float = setting(
        21600.0,
        kinds.duration(0, 31 * 86400),
        "seconds from 0 to 2,678,400, or a number with s, m, h or d after it, such as 6h",
        "after which messages are forwarded although there are fewer than hold; never fewer than the survey states",
        metavar="TIME",
    )
    time_precision: int = setting(
        600,
        kinds.whole(1, 86400),
        "a whole number of seconds from 1 to 86,400",
        "seconds: nothing finer about when a message came is ever kept",
        metavar="SECONDS",
    )
    max_messages: int = setting(
        1_000_000,
        kinds.whole(1, 10**8),
        "a whole number from 1 to 10^8",
        "most messages that are held; beyond it messages are answered 503",
    )
    queue_messages: int = setting(
        10_000,
        kinds.whole(1, 10**7),
        "a whole number from 1 to 10^7",
        "most messages between their arrival and the disk; beyond it messages are answered 503",
    )
    max_messages_per_second: int = setting(
        0,
        kinds.whole(0, 10**9),
        "a whole number from 0 (no limit) to 10^9",
        "of one survey; beyond it messages are answered 429; 0: no limit",
    )
    per_address: int = setting(
        0,
        kinds.whole(0, 10**6),
        "a whole number from 0 (addresses are not looked at) to 10^6",
        "requests per minute from one address (IPv6: one /64); beyond it they are answered 429; counted in memory "
        "under a key that is thrown away every minute; 0: no address is looked at",
    )
    part: int = setting(
        1000,
        kinds.whole(1, 10**5),
        "a whole number from 1 to 100,000",
        "most messages in one request to the collector",
    )
    retry_seconds: float = setting(
        60.0,
        kinds.seconds(0.1, 3600),
        "a number of seconds from 0.1 to 3600",
        "longest pause between attempts to reach a collector that is down",
        metavar="SECONDS",
    )
    body_seconds: float = common("body_seconds", 10.0)
    reserve_bytes: int = common(
        "reserve_bytes",
        DEFAULT_RESERVE,
        "room that messages cannot have, so that the relay can forward and forget on a full disk; at most a sixteenth "
        "of the disk",
    )
    ca_file: str = setting(
        "",
        kinds.file,
        "the name of a PEM file",
        "certificates to trust for the collector's TLS, instead of the system's",
        metavar="FILE",
    )
    metrics_token: str = setting(
        "",
        kinds.text,
        "empty or a text",
        "requests with it (Authorization: Bearer ...) may read /metrics; empty: nobody",
        metavar="TOKEN",
        secret=True,
    )
    log_level: str = common("log_level", "info", "what is logged, on standard error; never an address")
    log_format: str = common("log_format", "text")
    tls_certificate: str = common("tls_certificate", "")
    tls_key: str = common("tls_key", "")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.to:
            raise SettingsError("to is empty: name the collector that messages are for, such as --to https://...").at(
                "to"
            )
        if self.hold > self.max_messages:
            raise SettingsError(
                f"hold is {self.hold}: it must not be above max_messages, {self.max_messages}; a batch of that many "
                "would never be reached"
            ).at("hold")

    @property
    def allow_origins(self) -> tuple[str, ...]:
        """Pages of every origin may ask: a survey's page can be served anywhere, and messages carry no cookie."""
        return _ANY_ORIGIN


RELAY_SETTINGS: Final = RelaySettings.table()
"""All of them, in the order of the documentation."""
