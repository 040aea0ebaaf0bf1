"""Settings of a service from flags, the environment and a file, each declared once as a field of a dataclass.

A flag beats an environment variable, which beats the settings file, which beats the default. Whatever is wrong is told
with the setting's name, where it came from, what is allowed and what to do.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NoReturn

from sottovoce.collector.running.setting_kinds import Read
from sottovoce.core.errors import SettingsError

__all__ = ["ServiceSetting", "check_settings", "check_tls_pair", "declared", "read_settings", "setting"]


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
    """Begins the names of the service's environment variables."""
    secret: bool = False
    """Whether its value may hold a password, so that no message shows it."""
    required: bool = False
    """Whether its default is no value to go on with."""

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
        raise SettingsError(f"{self.name}{shown} (from {source}): it must be {self.allowed}{default}")


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
        ServiceSetting(name=one.name, default=one.default, prefix=prefix, **one.metadata) for one in fields(kind)
    )


def check_settings(settings: Any, known: Sequence[ServiceSetting]) -> None:
    """Check every field of a frozen dataclass that a program has made."""
    for one in known:
        object.__setattr__(settings, one.name, one.checked(getattr(settings, one.name), "the program"))


def check_tls_pair(certificate: str, key: str) -> None:
    """Refuse half of a certificate."""
    if bool(certificate) != bool(key):
        given, missing = ("tls_certificate", "tls_key") if certificate else ("tls_key", "tls_certificate")
        raise SettingsError(f"{given} is given and {missing} is not: TLS needs both; give both or neither")


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
        What the command line says, by the settings' names; None for what it does not say.
    environ
        The environment: of its variables those that begin with the settings' prefix.
    file
        A TOML file with settings by their names.
    is_other
        Whether a variable of that prefix is no setting of this service.
    """
    by_name = {one.name: one for one in known}
    values: dict[str, Any] = {} if file is None else _from_file(by_name, file)
    values |= _from_environment(known, environ, is_other)
    for name, given in flags.items():
        if given is not None:
            found = by_name.get(name) or _unknown("the flag", name, by_name)
            values[name] = found.checked(given, f"the flag {found.flag}")
    return values


def _from_environment(
    known: Sequence[ServiceSetting], environ: Mapping[str, str], is_other: Callable[[str], bool]
) -> dict[str, Any]:
    by_variable = {one.variable: one for one in known}
    values = {}
    for variable in sorted(environ):
        if variable.startswith(known[0].prefix) and not is_other(variable):
            found = by_variable.get(variable) or _unknown("the environment variable", variable, by_variable)
            values[found.name] = found.checked(environ[variable], f"the environment variable {variable}")
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
        found = known.get(key) or _unknown_key(known, file, key, given)
        values[key] = found.checked(given, f"the settings file {file}")
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
    if isinstance(given, dict) or (isinstance(given, list) and any(isinstance(one, dict) for one in given)):
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
