"""What every service of this package does around its work: log, signals, socket, folder, TLS."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Protocol

from sottovoce.core.addresses import is_loopback
from sottovoce.core.errors import SettingsError
from sottovoce.service.running.log import configure_logging

__all__ = ["ProcessSettings", "address", "check_tls", "folder", "listening", "set_up", "stop_event", "warn_of_place"]

_OPEN_FILES: Final = 65_536
"""A connection is a file to the system, whose usual limit of 1,024 is soon reached."""

_ECHO: Final = 1.0
"""Seconds in which a signal counts as the same one: programs that pass signals on often do it twice."""

_log = logging.getLogger("sottovoce.serve")


class ProcessSettings(Protocol):
    """The settings that services have in common."""

    @property
    def host(self) -> str:
        """The address to listen at."""

    @property
    def port(self) -> int:
        """The port to listen at."""

    @property
    def tls_certificate(self) -> str:
        """A PEM file, or empty."""

    @property
    def tls_key(self) -> str:
        """A PEM file, or empty."""

    @property
    def body_seconds(self) -> float:
        """How long a request's head may take, and its body."""

    @property
    def log_level(self) -> str:
        """The least severe lines that are logged."""

    @property
    def log_format(self) -> str:
        """The form of a line in the log."""


def set_up(settings: ProcessSettings) -> None:
    """The log, and as many open files as the system allows."""
    configure_logging(settings.log_level, settings.log_format)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def stop_event(patience: float) -> asyncio.Event:
    """An event set by the first SIGTERM or SIGINT; a second one, or a timeout, ends the process at once."""
    stop = asyncio.Event()
    asked = 0.0

    def give_up() -> None:
        _log.error("not stopped within %.0f s: ended all the same; what was acknowledged is kept", patience)
        os._exit(1)

    def ask() -> None:
        nonlocal asked
        if stop.is_set():
            if time.monotonic() > asked + _ECHO:
                os._exit(1)
            return
        asked = time.monotonic()
        _log.info("stopping: no new requests, those under way are finished")
        stop.set()
        # A thread, since a database that hangs may hold up the event loop too.
        last = threading.Timer(patience, give_up)
        last.daemon = True
        last.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ask)
    return stop


def warn_of_place(settings: ProcessSettings, data: Path) -> None:
    """Say what works and is still unwise: no TLS on a network, a folder that others may read."""
    if not is_loopback(settings.host) and not settings.tls_certificate:
        _log.warning("listening beyond this machine without TLS: put a proxy with TLS in front, or set tls_certificate")
    if data.stat().st_mode & 0o077:
        _log.warning("other users of this machine can look into the data folder: chmod 700 is advised")


def address(settings: ProcessSettings, listener: socket.socket) -> str:
    """The URL at which the service listens."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.tls_certificate else 'http'}://{host}:{listener.getsockname()[1]}"


@contextlib.contextmanager
def listening(settings: ProcessSettings) -> Iterator[socket.socket]:
    """The address, ours alone: a second service on it is refused here and not by chance later."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(_unusable(settings, error)) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(socket.SOMAXCONN)
        except OSError as error:
            raise SettingsError(_unusable(settings, error)) from None
        yield listener


def _unusable(settings: ProcessSettings, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {settings.port} of {settings.host} is taken: another program listens there; stop it, or choose "
            "another with --port (0 picks a free one)"
        )
    if error.errno == errno.EACCES:
        return (
            f"port {settings.port} is not for this user: those below 1024 need privileges; choose another with --port"
        )
    return f"host {settings.host} is not an address of this machine ({error.strerror or error}); choose one with --host"


@contextlib.contextmanager
def folder(path: Path, flag: str) -> Iterator[None]:
    """The data folder, made for its owner only; if what follows fails and it is still empty, it is gone again."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        _remove(made)
        raise SettingsError(
            f"the data folder {path} cannot be made: {error.strerror}; choose another with {flag}"
        ) from None
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        _remove(made)
        raise SettingsError(f"the data folder {path} cannot be written to; make it this user's, or choose another")
    try:
        yield
    except BaseException:
        _remove(made)
        raise


def _remove(folders: list[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):  # not empty: then there is something to keep
            folder.rmdir()


def check_tls(settings: ProcessSettings) -> None:
    """Refuse a certificate that cannot be used."""
    if settings.tls_certificate:
        context: Any = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        except OSError as error:
            raise SettingsError(
                f"tls_certificate {settings.tls_certificate} and tls_key {settings.tls_key} cannot be used: "
                f"{error.strerror or error}; both must be PEM files that this user may read and that belong together"
            ) from None
