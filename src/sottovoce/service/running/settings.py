"""Settings of a service from flags, the environment and a file, each declared once as a field of a dataclass.

A flag beats an environment variable, which beats the settings file, which beats the default. An error gives
the setting's name, where its value came from, what is allowed and what to do. The functions from `text` on are the
types of settings: they turn what an operator wrote into the value, or raise ValueError.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from sottovoce.core.errors import SettingsError

__all__ = [
    "RELAY_PREFIX",
    "Read",
    "ServiceSetting",
    "check_settings",
    "check_tls_pair",
    "database",
    "declared",
    "duration",
    "file",
    "folder",
    "host",
    "objects",
    "one_of",
    "origin",
    "origins",
    "read_settings",
    "seconds",
    "setting",
    "switch",
    "text",
    "whole",
]

RELAY_PREFIX: Final = "SOTTOVOCE_RELAY_"
"""The prefix of variables of a relay, which may run on the same machine as a collector."""

Read: TypeAlias = Callable[[object], Any]
"""A function from what was given to the setting's value; it raises ValueError for what is not allowed."""

_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}

_YES: Final = ("yes", "true", "1")
_NO: Final = ("no", "false", "0")

_ORIGIN: Final = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+")


def text(given: object) -> str:
    """Any text without a NUL."""
    if not isinstance(given, str) or "\0" in given:
        raise ValueError
    return given


def whole(smallest: int, largest: int, *, or_zero: bool = False) -> Read:
    """A whole number in a range, as people write it: 1000, 1,000 or 1e3; with `or_zero` also 0."""

    def read(given: object) -> int:
        if isinstance(given, bool) or not isinstance(given, (int, str)):
            raise ValueError
        try:
            exact = Decimal(given.strip().replace(",", "") if isinstance(given, str) else given)
        except InvalidOperation:
            raise ValueError from None
        if not exact.is_finite() or exact.adjusted() > 30 or exact != exact.to_integral_value():
            raise ValueError
        number = int(exact)
        if not smallest <= number <= largest and not (or_zero and number == 0):
            raise ValueError
        return number

    return read


def seconds(smallest: float, largest: float) -> Read:
    """A number in a range."""

    def read(given: object) -> float:
        if isinstance(given, bool) or not isinstance(given, (int, float, str)):
            raise ValueError
        number = float(given)
        if not math.isfinite(number) or not smallest <= number <= largest:
            raise ValueError
        return number

    return read


def duration(smallest: float, largest: float) -> Read:
    """Seconds in a range, as a number or as people write them: 90s, 15m, 6h, 2d.

    Examples
    --------
    >>> [duration(0, 1e6)(given) for given in ("6h", "90s", 600)]
    [21600.0, 90.0, 600.0]
    """

    def read(given: object) -> float:
        written = re.fullmatch(r"\s*([0-9.]+)\s*([smhd])\s*", given) if isinstance(given, str) else None
        if written is None:
            return float(seconds(smallest, largest)(given))
        return float(seconds(smallest, largest)(float(written[1]) * _UNITS[written[2]]))

    return read


def one_of(*words: str) -> Read:
    """One of these words, in any case of letters."""

    def read(given: object) -> str:
        word = text(given).lower()
        if word not in words:
            raise ValueError
        return word

    return read


def switch(given: object) -> bool:
    """Yes or no, as people, shells and TOML write it.

    Examples
    --------
    >>> switch("yes"), switch("0"), switch(True)
    (True, False, True)
    """
    if isinstance(given, bool):
        return given
    word = text(given).lower()
    if word not in _YES + _NO:
        raise ValueError
    return word in _YES


def host(given: object) -> str:
    """An address or a host name."""
    name = text(given).strip("[]")
    if not re.fullmatch(r"[0-9A-Za-z_.:%-]{1,253}", name):
        raise ValueError
    return name


def folder(given: object) -> Path:
    """A folder's name; ~ is the home folder."""
    name = str(given) if isinstance(given, Path) else text(given)
    if not name:
        raise ValueError
    return Path(name).expanduser()


def file(given: object) -> str:
    """A file's name, or empty for none."""
    name = str(given) if isinstance(given, Path) else text(given)
    return str(Path(name).expanduser()) if name else ""


def database(given: object) -> str:
    """The address of a PostgreSQL database, or empty for none."""
    url = text(given)
    if url and not re.match(r"postgres(ql)?://.", url):
        raise ValueError
    return url


def objects(given: object) -> str:
    """A folder or a URL of fsspec's, or empty for none; ~ is the home folder."""
    if isinstance(given, Path):
        given = str(given)
    address = text(given)
    # A cache in between would answer for the storage; what is in memory is one process's, and gone with it.
    if "::" in address or address.lower().startswith("memory:"):
        raise ValueError
    return address if not address or "://" in address else str(Path(address).expanduser())


def origin(given: object) -> str:
    """One web origin without a slash at its end, or empty for none."""
    name = text(given).removesuffix("/")
    if name and not _ORIGIN.fullmatch(name):
        raise ValueError
    return name


def origins(given: object) -> tuple[str, ...]:
    """Web origins, as a list or with commas between them."""
    if isinstance(given, str):
        given = [part.strip() for part in given.split(",") if part.strip()]
    if not isinstance(given, (list, tuple)):
        raise ValueError
    listed = tuple(text(part) for part in given)
    if not all(origin == "*" or _ORIGIN.fullmatch(origin) for origin in listed):
        raise ValueError
    return listed


@dataclass(frozen=True)
class ServiceSetting:
    """One setting, and the four places it may come from."""

    name: str
    """Its name in Python and its key in the settings file."""
    default: Any
    meaning: str
    allowed: str
    metavar: str
    read: Read = field(repr=False)
    prefix: str
    """The prefix of the service's environment variables."""
    secret: bool = False
    """Whether its value may hold a password, so that no message shows it."""
    required: bool = False
    """Whether it must be set, because its default cannot be used."""

    @property
    def flag(self) -> str:
        """The option of the command that runs the service."""
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        """The environment variable."""
        return self.prefix + self.name.upper()

    @property
    def shown_default(self) -> str:
        """The default as an operator would write it; empty for nothing."""
        if isinstance(self.default, bool):
            return "yes" if self.default else "no"
        if isinstance(self.default, tuple):
            return ",".join(self.default)
        return f"{self.default:g}" if isinstance(self.default, float) else str(self.default)

    def checked(self, given: object, source: str) -> Any:
        """The value of what was given, or a `SettingsError` that says where it came from."""
        try:
            return self.read(given)
        except ValueError:
            pass
        shown = "" if self.secret else f" is {_shown(given)}"
        default = "" if self.required else f"; leave it out for the default, {self.shown_default or 'none'}"
        raise SettingsError(f"{self.name}{shown} (from {source}): it must be {self.allowed}{default}").at(self.name)


def setting(
    default: Any,
    read: Read,
    allowed: str,
    meaning: str,
    *,
    metavar: str = "N",
    secret: bool = False,
    required: bool = False,
) -> Any:
    """A field of a dataclass of settings."""
    about = {"read": read, "allowed": allowed, "meaning": meaning, "metavar": metavar}
    about |= {"secret": secret, "required": required}
    return field(default=default, metadata=about, repr=not secret)


def declared(kind: Any, prefix: str) -> tuple[ServiceSetting, ...]:
    """All settings of a dataclass whose fields were made by `setting`, in their order."""
    return tuple(
        ServiceSetting(name=field.name, default=field.default, prefix=prefix, **field.metadata)
        for field in fields(kind)
    )


def check_settings(settings: Any, known: Sequence[ServiceSetting]) -> None:
    """Check every field of a frozen dataclass that a program has made."""
    for setting in known:
        object.__setattr__(settings, setting.name, setting.checked(getattr(settings, setting.name), "the program"))


def check_tls_pair(certificate: str, key: str) -> None:
    """Refuse half of a certificate."""
    if bool(certificate) != bool(key):
        given, missing = ("tls_certificate", "tls_key") if certificate else ("tls_key", "tls_certificate")
        raise SettingsError(f"{given} is given and {missing} is not: TLS needs both; give both or neither").at(missing)


def read_settings(
    known: Sequence[ServiceSetting],
    flags: Mapping[str, object],
    environ: Mapping[str, str],
    file: Path | None,
    is_other: Callable[[str], bool],
) -> dict[str, Any]:
    """The values that are given somewhere, by the settings' names.

    Parameters
    ----------
    flags
        The flags of the command line, by the settings' names; None for those that are not given.
    environ
        The environment; only variables that begin with the settings' prefix are read.
    file
        A TOML file with settings by their names.
    is_other
        Whether a variable of that prefix belongs to something other than this service.
    """
    by_name = {setting.name: setting for setting in known}
    values: dict[str, Any] = {} if file is None else _from_file(by_name, file)
    values |= _from_environment(known, environ, is_other)
    for name, given in flags.items():
        if given is not None:
            setting = by_name.get(name) or _unknown("the flag", name, by_name)
            values[name] = setting.checked(given, f"the flag {setting.flag}")
    return values


def _from_environment(
    known: Sequence[ServiceSetting], environ: Mapping[str, str], is_other: Callable[[str], bool]
) -> dict[str, Any]:
    by_variable = {setting.variable: setting for setting in known}
    values = {}
    for variable in sorted(environ):
        if variable.startswith(known[0].prefix) and not is_other(variable):
            setting = by_variable.get(variable) or _unknown("the environment variable", variable, by_variable)
            values[setting.name] = setting.checked(environ[variable], f"the environment variable {variable}")
    return values


def _from_file(known: Mapping[str, ServiceSetting], file: Path) -> dict[str, Any]:
    try:
        content = file.read_bytes()
    except OSError as error:
        raise SettingsError(
            f"the settings file {file} cannot be read: {error.strerror}; name a TOML file that this user may read"
        ) from None
    table = _parsed(file, content)
    values = {}
    for key, given in table.items():
        setting = known.get(key) or _unknown_key(known, file, key, given)
        values[key] = setting.checked(given, f"the settings file {file}")
    return values


def _parsed(file: Path, content: bytes) -> dict[str, Any]:
    remedy = 'lines read like port = 8470, or host = "127.0.0.1"'
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        reason = f"no UTF-8 (at line {line})"
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
    raise SettingsError(f"the settings file {file} is not TOML: {reason}; {remedy}")


def _unknown_key(known: Mapping[str, ServiceSetting], file: Path, key: str, given: object) -> ServiceSetting:
    if isinstance(given, dict) or (isinstance(given, list) and any(isinstance(item, dict) for item in given)):
        raise SettingsError(
            f"in {file}, {_plain(key)} is a table, and settings stand in none: leave its heading out, and write each "
            "setting on a line of its own, like port = 8470"
        )
    return _unknown(f"in {file},", key, known)


def _unknown(where: str, name: str, known: Mapping[str, ServiceSetting]) -> NoReturn:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0)[0]
    raise SettingsError(f"{where} {_plain(name)} is not a setting; did you mean {near}?")


def _plain(name: str) -> str:
    return name if re.fullmatch(r"[\w.-]{1,60}", name) else _shown(name)


def _shown(given: object) -> str:
    text = str(given).lower() if isinstance(given, bool) else repr(given)  # true, as TOML writes it
    return text if len(text) <= 60 else f"{text[:57]}..."
