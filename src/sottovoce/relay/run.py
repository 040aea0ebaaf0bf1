"""`relay(settings)`: the whole relay, from an empty folder to a clean end."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from contextlib import closing
from typing import Final

import uvloop

from sottovoce.relay.api import RELAY_ROUTES
from sottovoce.relay.service import RelayService
from sottovoce.relay.settings import RelaySettings
from sottovoce.relay.store import RELAY_FILE, RelayStore
from sottovoce.service.http.application import Application
from sottovoce.service.http.server import run_http
from sottovoce.service.running.process import address, check_tls, folder, listening, set_up, stop_event, warn_of_place
from sottovoce.service.running.volume import check_volume, folder_lock

__all__ = ["relay"]

_GRACE: Final = 20.0
"""Seconds beyond a slow body that a clean stop may take."""

_log: Final = logging.getLogger("sottovoce.relay")


def relay(settings: RelaySettings, *, ready: Callable[[str], object]) -> None:
    """Run the relay until SIGTERM or SIGINT.

    Parameters
    ----------
    settings
        See `RelaySettings`.
    ready
        Called with the relay's address once it answers that it is ready.

    Raises
    ------
    SettingsError
        If the address or the folder cannot be used.
    StoreError
        If the database cannot; for one of a newer version of this package too.
    """
    set_up(settings)
    check_tls(settings)
    if settings.require_volume:
        check_volume(settings.folder, "acknowledged messages")
    with (
        listening(settings) as listener,
        folder(settings.folder, "--folder"),
        folder_lock(settings.folder, "--folder"),
        closing(RelayStore(settings.folder / RELAY_FILE, reserve_bytes=settings.reserve_bytes)) as store,
    ):
        warn_of_place(settings, settings.folder)
        here = address(settings, listener)
        uvloop.run(_relay(settings, listener, store, lambda: ready(here)))


async def _relay(
    settings: RelaySettings, listener: socket.socket, store: RelayStore, ready: Callable[[], object]
) -> None:
    service = RelayService(settings, store)
    stop = stop_event(settings.body_seconds + _GRACE)
    service.start()
    await run_http(Application(service, RELAY_ROUTES), settings, listener, stop, ready)
    _log.info("stopped")
