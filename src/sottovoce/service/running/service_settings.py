"""What the settings of every service share: how they are read and checked, and the settings that each has."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from sottovoce.service.running import settings as kinds
from sottovoce.service.running.log import FORMATS, LEVELS
from sottovoce.service.running.settings import (
    Read,
    ServiceSetting,
    check_settings,
    check_tls_pair,
    declared,
    read_settings,
    setting,
)

__all__ = ["ServiceSettings", "common"]

_COMMON: Final[dict[str, tuple[Read, str, str, str]]] = {
    "host": (
        kinds.host,
        "an address or a host name of this machine",
        "where to listen; 0.0.0.0 for every network, behind TLS",
        "HOST",
    ),
    "port": (
        kinds.whole(0, 65535),
        "a whole number from 0 to 65535 (0: any free port, printed at the start)",
        "where to listen; 0 picks a free one",
        "N",
    ),
    "require_volume": (kinds.switch, "yes or no", "refuse to start where the folder would be lost", "YES"),
    "body_seconds": (
        kinds.seconds(0.1, 3600),
        "a number of seconds from 0.1 to 3600",
        "how long a request's head may take, and its body; slower ones are cut off, or answered 408",
        "SECONDS",
    ),
    "reserve_bytes": (
        kinds.whole(2**25, 2**40),
        "a whole number from 33,554,432 to 2^40",
        "room that is kept free, so that something can be deleted on a full disk",
        "BYTES",
    ),
    "log_level": (kinds.one_of(*LEVELS), "debug, info, warning or error", "what is logged, on standard error", "LEVEL"),
    "log_format": (kinds.one_of(*FORMATS), "text or json", "lines for people, or one JSON object a line", "FORMAT"),
    "tls_certificate": (kinds.file, "the name of a PEM file", "the server's certificate chain; with tls_key", "FILE"),
    "tls_key": (kinds.file, "the name of a PEM file", "the certificate's private key; with tls_certificate", "FILE"),
}
"""The settings by name: type, allowed values, meaning, and the word for the value in help."""


def common(name: str, default: Any, meaning: str = "") -> Any:
    """The field of a setting that every service has, with a meaning of its own where that says more."""
    read, allowed, usual, metavar = _COMMON[name]
    return setting(default, read, allowed, meaning or usual, metavar=metavar)


class ServiceSettings:
    """The base of a frozen dataclass whose fields are made by `setting` and `common`; checked when it is made."""

    prefix: ClassVar[str]
    """The prefix of the service's environment variables."""
    file_variable: ClassVar[str]
    """The environment variable that names the settings file where no flag does."""

    tls_certificate: str
    tls_key: str

    def __post_init__(self) -> None:
        check_settings(self, self.table())
        check_tls_pair(self.tls_certificate, self.tls_key)

    @classmethod
    def table(cls) -> tuple[ServiceSetting, ...]:
        """All settings, in the order of the documentation."""
        return declared(cls, cls.prefix)

    @classmethod
    def is_other(cls, variable: str) -> bool:
        """Whether an environment variable of the prefix belongs to something other than this service."""
        return variable == cls.file_variable

    @classmethod
    def load(
        cls,
        flags: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        file: Path | None = None,
    ) -> Self:
        """The settings of a service: flags before environment before file before defaults.

        Parameters
        ----------
        flags
            The flags of the command line, by the settings' names; None for those that are not given.
        environ
            The environment: of its variables those that begin with `prefix`.
        file
            A TOML file with settings by their names; the one that `file_variable` names unless given.
        """
        environ = environ or {}
        if file is None and environ.get(cls.file_variable):
            file = Path(environ[cls.file_variable])
        return cls(**read_settings(cls.table(), flags or {}, environ, file, cls.is_other))
