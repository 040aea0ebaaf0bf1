"""The service's log on standard error, as text or JSON, without personal data.

A line of access holds the method, the address's template, the status and how long it took; never the address a request
came from, what it asked for, or any of its headers. Uploads of reports have no line, and neither has what devices and
browsers ask for when somebody answers: a log of these moments would be finer than the coarse time that the collector
keeps. They are counted, in /metrics.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from typing import Final, TextIO, final

from sottovoce.core.errors import SettingsError

__all__ = ["FORMATS", "LEVELS", "configure_logging", "current_level", "log_access", "set_level"]

LEVELS: Final = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}

FORMATS: Final = ("text", "json")

_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
"""A method is any word that somebody chose to send: only these are repeated."""

_ACCESS: Final = logging.getLogger("sottovoce.access")

_HANDLER: Final = "sottovoce"

_FIELDS: Final = "sottovoce_fields"


@final
class _Lines(logging.Formatter):
    """A line for people: time, level, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields = "".join(f" {name}={value}" for name, value in _fields(record).items())
        said = _told(record).replace("\n", "\n    ")
        return f"{_when(record)} {record.levelname.lower():<7} {_printable(said)}{fields}"


@final
class _JsonLines(logging.Formatter):
    """A formatter that writes one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        said = {"time": _when(record), "level": record.levelname.lower(), "logger": record.name}
        return json.dumps({**said, "message": _told(record), **_fields(record)}, ensure_ascii=True)


def configure_logging(level: str = "info", format: str = "text", stream: TextIO | None = None) -> None:
    """Send this process's log to standard error; asked again, replace what was asked before."""
    if format not in FORMATS:
        raise SettingsError(f"log_format must be {' or '.join(FORMATS)}").at("log_format")
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.set_name(_HANDLER)
    handler.setFormatter(_JsonLines() if format == "json" else _Lines())
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if handler.get_name() == _HANDLER]:
        root.removeHandler(old)
    root.addHandler(handler)
    # What libraries say below a warning may hold addresses and paths.
    root.setLevel(logging.WARNING)
    set_level(level)


def set_level(level: str) -> None:
    """What is logged from now on, in this process."""
    if level not in LEVELS:
        raise SettingsError(f"log_level must be one of {', '.join(LEVELS)}").at("log_level")
    logging.getLogger("sottovoce").setLevel(LEVELS[level])


def current_level() -> str:
    """The level that is logged now."""
    effective = logging.getLogger("sottovoce").getEffectiveLevel()
    return next((name for name, number in reversed(LEVELS.items()) if effective >= number), "debug")


def log_access(method: str, template: str, status: int, seconds: float) -> None:
    """A line about a request that was answered."""
    if _ACCESS.isEnabledFor(logging.INFO):
        known = method if method in _METHODS else "other"
        fields = {"method": known, "route": template, "status": status, "ms": round(1000 * seconds, 1)}
        _ACCESS.info("answered", extra={_FIELDS: fields})


def _fields(record: logging.LogRecord) -> dict[str, object]:
    fields = getattr(record, _FIELDS, None)
    return fields if isinstance(fields, dict) else {}


def _told(record: logging.LogRecord) -> str:
    # Without the exception's own words, which may quote what was sent; the type says enough for a line.
    kind = record.exc_info[0] if record.exc_info else None
    return record.getMessage() + (f" ({kind.__qualname__})" if kind else "")


def _when(record: logging.LogRecord) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\n" else "?" for letter in text)
