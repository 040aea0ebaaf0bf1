"""The settings of the collector: each declared once, with its default, its range and its help."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from sottovoce.core.errors import SettingsError
from sottovoce.core.limits import DEFAULT_COUNTERS, MAX_CELLS
from sottovoce.core.progress import PROGRESS_VARIABLE
from sottovoce.formats.wire import DEFAULT_BODY_BYTES
from sottovoce.service.running import settings as kinds
from sottovoce.service.running.service_settings import ServiceSettings, common
from sottovoce.service.running.settings import RELAY_PREFIX, setting
from sottovoce.service.storage.reserve import DEFAULT_RESERVE

__all__ = ["KEY_FILE", "OTHER_VARIABLES", "SETTINGS", "SETTINGS_VARIABLE", "TOKEN_VARIABLE", "URL_VARIABLE", "Settings"]

KEY_FILE: Final = "signing.key"
"""A file in the data folder."""

SETTINGS_VARIABLE: Final = "SOTTOVOCE_SETTINGS"
"""Names the settings file where no flag does."""

URL_VARIABLE: Final = "SOTTOVOCE_URL"
TOKEN_VARIABLE: Final = "SOTTOVOCE_TOKEN"
"""Variables in which analysts keep the collector's address and their token."""

OTHER_VARIABLES: Final = frozenset({SETTINGS_VARIABLE, URL_VARIABLE, TOKEN_VARIABLE, PROGRESS_VARIABLE})
"""Variables of the prefix that are not settings of the service: the name of its file, those of analysts, and the
switch for progress."""

_PREFIX: Final = "SOTTOVOCE_"

_TESTS: Final = "SOTTOVOCE_TEST_"
"""The beginning of variables for the tests of this package."""


@dataclass(frozen=True)
class Settings(ServiceSettings):
    """All settings of `sottovoce serve`; checked when they are made.

    Examples
    --------
    >>> settings = Settings.load({"port": "9000"}, {"SOTTOVOCE_PORT": "9001", "SOTTOVOCE_WORKERS": "2"})
    >>> settings.port, settings.workers
    (9000, 2)
    >>> Settings.load({}, {"SOTTOVOCE_PROT": "1"})
    Traceback (most recent call last):
    sottovoce.core.errors.SettingsError: the environment variable SOTTOVOCE_PROT is not a setting; did you mean ...
    >>> Settings(port=0).minimum_reports
    100
    >>> Settings(port=70_000)
    Traceback (most recent call last):
    sottovoce.core.errors.SettingsError: port is 70000 (from the program): it must be a whole number from 0 to 65535 ...
    """

    prefix: ClassVar[str] = _PREFIX
    file_variable: ClassVar[str] = SETTINGS_VARIABLE

    host: str = common("host", "127.0.0.1")
    port: int = common("port", 8470)
    data: Path = setting(  # noqa: RUF009 - a field, not a shared object
        Path("sottovoce-data"),
        kinds.folder,
        "the name of a folder",
        "folder of the SQLite database (collector.db), the keys (signing.key, sealing.keys) and the watermark",
        metavar="FOLDER",
    )
    require_volume: bool = common(
        "require_volume",
        False,
        "refuse to start where the data folder would be gone with its container; the container image sets it",
    )
    database: str = setting(
        "",
        kinds.database,
        "empty (SQLite in the data folder) or postgresql://user:password@host/name",
        "empty: SQLite in the data folder; or a PostgreSQL address, better in a variable than in a flag",
        metavar="URL",
        secret=True,
    )
    objects: str = setting(
        "",
        kinds.objects,
        "empty, a folder, or a URL that fsspec understands, such as s3://bucket/folder; not memory:, and no chain (::)",
        "where counted reports move to when their span of time_precision is over, so that the database holds only the "
        "latest; empty: they stay in the database",
        metavar="URL",
        secret=True,
    )
    workers: int = setting(
        1, kinds.whole(0, 64), "a whole number from 0 to 64", "counting processes; 0 where others count elsewhere"
    )
    minimum_reports: int = setting(
        100,
        kinds.whole(1, 10**12),
        "a whole number from 1 to 10^12",
        "no estimate of a survey before that many reports, which anybody can reach with invented ones; a survey may "
        "ask for more, not for fewer",
    )
    max_counters: int = setting(
        DEFAULT_COUNTERS,
        kinds.whole(0, MAX_CELLS),
        f"a whole number from 0 to {MAX_CELLS:,}",
        "most integers of a survey that are counted here; larger ones are only gathered, for an engine to count",
    )
    time_precision: int = setting(
        3600,
        kinds.whole(60, 31 * 86400),
        "a whole number of seconds from 60 to 2,678,400 (31 days)",
        "seconds: nothing finer about when a report came is ever kept",
        metavar="SECONDS",
    )
    max_body_bytes: int = setting(
        DEFAULT_BODY_BYTES,
        kinds.whole(1024, 2**30),
        "a whole number from 1024 to 1,073,741,824",
        "longest body of a request; longer ones are answered 413",
        metavar="BYTES",
    )
    max_batch_reports: int = setting(
        10_000, kinds.whole(1, 10**6), "a whole number from 1 to 1,000,000", "most reports in one body"
    )
    queue_reports: int = setting(
        100_000,
        kinds.whole(1, 10**8),
        "a whole number from 1 to 10^8, not below max_batch_reports",
        "most reports between their arrival and the disk; beyond it requests are answered 503",
    )
    max_reports_per_second: int = setting(
        0,
        kinds.whole(0, 10**9),
        "a whole number from 0 (no limit) to 10^9",
        "of one survey; beyond it requests are answered 429; 0: no limit",
    )
    body_seconds: float = common("body_seconds", 10.0)
    lease_seconds: float = setting(
        30.0,
        kinds.seconds(0.5, 3600),
        "a number of seconds from 0.5 to 3600",
        "after which another counting process takes over from one that died",
        metavar="SECONDS",
    )
    max_database_bytes: int = setting(
        0,
        kinds.whole(2**20, 2**50, or_zero=True),
        "0 (no limit) or a whole number from 1,048,576 to 2^50",
        "largest SQLite database; beyond it reports are answered 507; 0: no limit",
        metavar="BYTES",
    )
    reserve_bytes: int = common(
        "reserve_bytes",
        DEFAULT_RESERVE,
        "room that reports cannot have, so that an operator can delete on a full disk; with SQLite at most a sixteenth "
        "of the disk",
    )
    log_level: str = common(
        "log_level", "info", "what is logged, on standard error; can be changed while the service runs"
    )
    log_format: str = common("log_format", "text")
    allow_origins: tuple[str, ...] = setting(
        (),
        kinds.origins,
        "web origins such as https://survey.example, or *; several with commas between them (a list in the file)",
        "web pages whose scripts may send reports",
        metavar="ORIGINS",
    )
    public_url: str = setting(
        "",
        kinds.origin,
        "empty or a web origin such as https://survey.example, without a path",
        "where browsers reach the service, if a proxy stands before it; with https the dashboard's cookie is Secure",
        metavar="URL",
    )
    tls_certificate: str = common("tls_certificate", "")
    tls_key: str = common("tls_key", "")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.queue_reports < self.max_batch_reports:
            raise SettingsError(
                f"queue_reports is {self.queue_reports}: it must not be below max_batch_reports, "
                f"{self.max_batch_reports}; a body of that many would never fit"
            )

    @classmethod
    def is_other(cls, variable: str) -> bool:
        return variable.startswith((_TESTS, RELAY_PREFIX)) or variable in OTHER_VARIABLES


SETTINGS: Final = Settings.table()
"""All of them, in the order of the documentation."""
