"""`serve(settings)`: the whole service, from an empty folder to a clean end.

The process the operator sees takes reports; analysts are answered, and reports counted, in processes beside it.
Nothing is created before the address is ours; whatever fails on the way is told in one line and leaves nothing half
made. An acknowledged report is already durable, so that no way of ending can lose one.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import resource
import signal
import socket
import sqlite3
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import uvloop

from sottovoce.collector.api.service import Service
from sottovoce.collector.app import create_app
from sottovoce.collector.objects.storage import ObjectStorage
from sottovoce.collector.reading.front import ReadingProcess
from sottovoce.collector.reading.pace import Pace
from sottovoce.collector.running.folder_lock import folder_lock
from sottovoce.collector.running.http_server import run_http
from sottovoce.collector.running.log import configure_logging
from sottovoce.collector.running.settings import KEY_FILE, Settings
from sottovoce.collector.running.supervisor import STOP_SECONDS, Supervisor, counting
from sottovoce.collector.running.watch import Watch
from sottovoce.collector.running.watermark import WATERMARK_FILE, Watermark
from sottovoce.collector.store import Store, open_as_set
from sottovoce.collector.store.sqlite import resets_safely
from sottovoce.collector.tokens import create_token, ensure_admin
from sottovoce.core.errors import ObjectStorageError, SettingsError, StoreError
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url

__all__ = ["ServiceStart", "count", "serve"]

_OPEN_FILES: Final = 65_536
"""A connection is a file to the system, whose usual limit of 1,024 is soon reached."""

_GRACE: Final = 5.0
"""Seconds beyond all that a clean stop may take."""

_ECHO: Final = 1.0
"""Seconds in which a signal counts as the same one: programs that pass signals on often do it twice."""

_BETWEEN_TICKS: Final = 0.5
"""Seconds between looks whether a period begins or closes."""

_BETWEEN_MARKS: Final = 1.0
"""Seconds between notes of how far the database has come."""

_log = logging.getLogger("sottovoce.serve")


@dataclass(frozen=True)
class ServiceStart:
    """What an operator must know of a service that has started."""

    address: str
    public: str
    """Where browsers reach it."""
    key: str
    """The public key that signs surveys, in base64url: devices pin it."""
    fingerprint: str
    """Its SHA-256, for people to compare."""
    admin_token: str | None = field(repr=False)
    """Only where one was just made; nobody can show it again."""


def serve(
    settings: Settings,
    *,
    started: Callable[[ServiceStart], object],
    ready: Callable[[ServiceStart], object],
    new_admin_token: bool = False,
) -> None:
    """Run the service until SIGTERM or SIGINT.

    Parameters
    ----------
    settings
        See `Settings`.
    started
        Called once the store is open and the address is taken.
    ready
        Called once the service answers that it is ready.
    new_admin_token
        Whether to make an admin token although there is one.

    Raises
    ------
    SettingsError
        If the address or the folder cannot be used.
    StoreError
        If the database cannot; for one of a newer version of this package too.
    """
    _set_up(settings)
    _check_tls(settings)
    with _listening(settings) as listener, _folder(settings.data), _lock(settings), _store(settings) as store:
        key = SigningKey.load_or_create(settings.data / KEY_FILE)
        address = _address(settings, listener)
        start = ServiceStart(
            address=address,
            public=settings.public_url or address,
            key=to_base64url(key.public),
            fingerprint=fingerprint(key.public),
            admin_token=_admin_token(store, new_admin_token),
        )
        started(start)
        _warn(settings)
        uvloop.run(_serve(settings, listener, store, key, lambda: ready(start)))


def count(settings: Settings, *, ready: Callable[[], object]) -> None:
    """Only the counting processes, until SIGTERM or SIGINT: for a machine beside the one that listens."""
    if settings.workers == 0:
        raise SettingsError("workers is 0, so that nothing would be counted; it must be from 1 to 64 here")
    if not settings.database and not settings.data.is_dir():
        raise SettingsError(f"the data folder {settings.data} is not there; name that of the service, or its database")
    _set_up(settings)
    with _store(settings):
        pass
    uvloop.run(_count(settings, ready))


async def _serve(
    settings: Settings, listener: socket.socket, store: Store, key: SigningKey, ready: Callable[[], object]
) -> None:
    app = create_app(settings, store, key)
    advance = _watermark(settings, app.service)
    keeping = _keeping(app.service)
    stop = _stop_event(settings.body_seconds + STOP_SECONDS + _GRACE)
    pace = Pace(lambda: app.service.committer.statistics)
    reading = app.service.elsewhere = ReadingProcess(settings, app.service.note_estimate, pace)
    readers = Supervisor("reading", [reading.start])
    workers = Supervisor("counting", counting(settings))
    app.service.metrics.watch_workers(lambda: workers.living)
    try:
        await run_http(app, settings, listener, stop, ready)
    finally:
        await asyncio.to_thread(keeping.close)
        await asyncio.gather(readers.stop(), workers.stop(), asyncio.to_thread(advance))
    _log.info("stopped")


def _watermark(settings: Settings, service: Service) -> Callable[[], None]:
    """Compare the database with what was known of it, and go on writing that down; returns what does so once more."""
    watermark = Watermark(settings.data, service.key, service.store)
    stored, compared = -1, False

    def advance() -> None:
        nonlocal stored, compared
        if not compared:
            # A database that cannot be asked yet is compared when it can be: to write first would hide a loss.
            service.metrics.found_missing(watermark.compare())
            compared = True
        if (now := service.committer.statistics.reports) != stored:
            watermark.advance()
            stored = now

    def last() -> None:
        with contextlib.suppress(OSError, StoreError):  # said before, if it has lasted
            advance()

    service.watch.every(_BETWEEN_MARKS, advance, f"the file {settings.data / WATERMARK_FILE} cannot be written")
    return last


def _keeping(service: Service) -> Watch:
    """Open and close periods as long as the service runs, in a thread of its own; what is due now is done first."""
    keeping = Watch()
    keeping.every(_BETWEEN_TICKS, service.keeper.tick, "periods of tracking surveys are not opened or closed in time")
    keeping.start()
    return keeping


async def _count(settings: Settings, ready: Callable[[], object]) -> None:
    stop = _stop_event(STOP_SECONDS + _GRACE)
    workers = Supervisor("counting", counting(settings))
    ready()
    await stop.wait()
    await workers.stop()
    _log.info("stopped")


def _stop_event(patience: float) -> asyncio.Event:
    """Set by the first SIGTERM or SIGINT; a later one ends the process at once, and so does patience that runs out."""
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


def _set_up(settings: Settings) -> None:
    configure_logging(settings.log_level, settings.log_format)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _warn(settings: Settings) -> None:
    """What works and is still unwise."""
    if settings.host not in ("127.0.0.1", "::1", "localhost") and not settings.tls_certificate:
        _log.warning("listening beyond this machine without TLS: put a proxy with TLS in front, or set tls_certificate")
    if not settings.database and settings.workers and not resets_safely():
        _log.info(
            "this Python's SQLite is %s, with a rare fault that 3.51.3 corrects: see SQLite in the page on operations",
            sqlite3.sqlite_version,
        )
    if settings.data.stat().st_mode & 0o077:
        _log.warning("other users of this machine can look into the data folder: chmod 700 is advised")


def _admin_token(store: Store, new: bool) -> str | None:
    first = ensure_admin(store)
    return create_token(store, ("admin",), "made by --new-admin-token", 0)[0] if new and first is None else first


def _address(settings: Settings, listener: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"{'https' if settings.tls_certificate else 'http'}://{host}:{listener.getsockname()[1]}"


@contextlib.contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
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


def _unusable(settings: Settings, error: OSError) -> str:
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
def _folder(path: Path) -> Iterator[None]:
    """The data folder, made for its owner only; if what follows fails and it is still empty, it is gone again."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        _remove(made)
        raise SettingsError(
            f"the data folder {path} cannot be made: {error.strerror}; choose another with --data"
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


def _lock(settings: Settings) -> contextlib.AbstractContextManager[None]:
    """SQLite's folder is one service's alone; services on PostgreSQL need nothing of each other's folders."""
    return contextlib.nullcontext() if settings.database else folder_lock(settings.data)


@contextlib.contextmanager
def _store(settings: Settings) -> Iterator[Store]:
    store = open_as_set(settings)
    with contextlib.closing(store):
        _check_objects(store)
        yield store


def _check_objects(store: Store) -> None:
    """Whether one of the objects that the database names is where the settings say; the others are met when read."""
    name, _ = next(store.object_lengths(), ("", 0))
    if not name:
        return
    if store.objects is None:
        raise SettingsError(
            "objects is empty, and counted reports of this database lie in object storage; set it to where they are"
        )
    # Beside the start: object storage that hangs keeps nobody from sending reports.
    threading.Thread(target=_look_for, args=(store.objects, name), name="sottovoce-objects", daemon=True).start()


def _look_for(objects: ObjectStorage, name: str) -> None:
    with contextlib.suppress(ObjectStorageError):  # whoever needs it says so
        if objects.length(name) is None:
            _log.error(
                "objects lacks %s, which this database names: reports are taken and counted, but those that were moved "
                "cannot be read; set objects to where they are, or bring them back",
                name,
            )


def _check_tls(settings: Settings) -> None:
    if settings.tls_certificate:
        context: Any = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        except OSError as error:
            raise SettingsError(
                f"tls_certificate {settings.tls_certificate} and tls_key {settings.tls_key} cannot be used: "
                f"{error.strerror or error}; both must be PEM files that this user may read and that belong together"
            ) from None
