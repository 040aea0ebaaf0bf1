"""`serve(settings)`: the whole service, from an empty folder to a clean end.

The process the operator sees takes reports; analysts are answered, and reports counted, in processes beside it.
Nothing is created before the address is ours; a failure on the way is reported in one line and leaves nothing half
made. An acknowledged report is already durable, so that no way of ending can lose one.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import uvloop

from sottovoce.collector.api.admission import create_token, ensure_admin
from sottovoce.collector.api.service import Service
from sottovoce.collector.app import create_app
from sottovoce.collector.running.analyst_front import Pace, ReadingProcess
from sottovoce.collector.running.signer import own_key
from sottovoce.collector.running.supervisor import STOP_SECONDS, Supervisor, counting
from sottovoce.collector.sealing.keys import SEALING_FILE, load_or_create_keys
from sottovoce.collector.settings import KEY_FILE, Settings
from sottovoce.collector.store import Store, open_as_set
from sottovoce.collector.store.object_storage import ObjectStorage
from sottovoce.collector.store.sqlite import resets_safely
from sottovoce.collector.surveys.log import forget_checkpoint
from sottovoce.core.errors import ObjectStorageError, SettingsError, StoreError
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url
from sottovoce.service.http.server import run_http
from sottovoce.service.refusal import Refusal
from sottovoce.service.running.process import address, check_tls, folder, listening, set_up, stop_event, warn_of_place
from sottovoce.service.running.volume import check_volume, folder_lock
from sottovoce.service.running.watch import Watch
from sottovoce.service.running.watermark import WATERMARK_FILE, Watermark

__all__ = ["ServiceStart", "count", "serve"]

_GRACE: Final = 5.0
"""Seconds beyond all that a clean stop may take."""

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
    """The address at which browsers reach it."""
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
    accept_new_key: bool = False,
    accept_lost_log: bool = False,
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
    accept_new_key
        Whether to go on with another signing key than the one that signed the surveys of this database.
    accept_lost_log
        Whether to sign the database's log of surveys although it does not continue the one that was signed before.

    Raises
    ------
    SettingsError
        If the address or the folder cannot be used, or the signing key is not the one of this database.
    StoreError
        If the database cannot; for one of a newer version of this package too.
    """
    set_up(settings)
    check_tls(settings)
    _check_volume(settings)
    with listening(settings) as listener, folder(settings.data, "--data"), _lock(settings), _store(settings) as store:
        key = own_key(store, settings.data, accept_new=accept_new_key)
        if accept_lost_log:
            forget_checkpoint(settings.data)
        load_or_create_keys(settings.data / SEALING_FILE)
        here = address(settings, listener)
        start = ServiceStart(
            address=here,
            public=settings.public_url or here,
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
    set_up(settings)
    if not settings.database:
        _check_volume(settings)
    with _store(settings):
        pass
    uvloop.run(_count(settings, ready))


async def _serve(
    settings: Settings, listener: socket.socket, store: Store, key: SigningKey, ready: Callable[[], object]
) -> None:
    app = create_app(settings, store, key)
    _noting_heads(app.service)
    advance = _watermark(settings, app.service)
    keeping = _keeping(app.service)
    stop = stop_event(settings.body_seconds + STOP_SECONDS + _GRACE)
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


def _noting_heads(service: Service) -> None:
    """Sign and note every head of the log soon, whichever service on this database has published.

    One that nobody asks would else know only old heads, and after a loss go another way from there. And an operator
    is to read what is wrong before anybody asks.
    """

    def note() -> None:
        with contextlib.suppress(Refusal):  # the log has said why
            service.log.checkpoint()

    service.watch.every(_BETWEEN_MARKS, note, "the log of surveys cannot be read")


def _keeping(service: Service) -> Watch:
    """Open and close periods as long as the service runs, in a thread of its own; what is due now is done first."""
    keeping = Watch()
    keeping.every(_BETWEEN_TICKS, service.keeper.tick, "periods of tracking surveys are not opened or closed in time")
    keeping.start()
    return keeping


async def _count(settings: Settings, ready: Callable[[], object]) -> None:
    stop = stop_event(STOP_SECONDS + _GRACE)
    workers = Supervisor("counting", counting(settings))
    ready()
    await stop.wait()
    await workers.stop()
    _log.info("stopped")


def _warn(settings: Settings) -> None:
    """What works and is still unwise."""
    warn_of_place(settings, settings.data)
    if not settings.database and settings.workers and not resets_safely():
        _log.info(
            "this Python's SQLite is %s, with a rare fault that 3.51.3 corrects: see SQLite in the page on operations",
            sqlite3.sqlite_version,
        )


def _admin_token(store: Store, new: bool) -> str | None:
    first = ensure_admin(store)
    return create_token(store, ("admin",), "made by --new-admin-token", 0)[0] if new and first is None else first


def _check_volume(settings: Settings) -> None:
    """SQLite's folder holds everything; beside PostgreSQL only the keys must last, which may be mounted as secrets."""
    if settings.require_volume and settings.database:
        check_volume(settings.data, "the keys that devices trust and seal to", keys=(KEY_FILE, SEALING_FILE))
    elif settings.require_volume:
        check_volume(settings.data, "acknowledged reports, and the keys that devices trust,")


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
    with contextlib.suppress(ObjectStorageError):  # code that needs it reports the error
        if objects.length(name) is None:
            _log.error(
                "objects lacks %s, which this database names: reports are taken and counted, but those that were moved "
                "cannot be read; set objects to where they are, or bring them back",
                name,
            )
