"""The sealing keys of a running service: what devices are told, and what opens messages.

The file is looked at whenever it may have changed, so that a rotation reaches every service without a restart.
"""

from __future__ import annotations

import logging
import os
import threading
from pathlib import Path
from typing import Final, final

from sottovoce.collector.sealing.key_file import HeldKey, load_or_create_keys, read_keys
from sottovoce.core.errors import SettingsError
from sottovoce.core.signing import SigningKey
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, SignedKeys, sign_keys
from sottovoce.service.running.outage import Repeats

__all__ = ["SEALING_FILE", "SealingKeys"]

SEALING_FILE: Final = "sealing.keys"
"""In the data folder."""

_repeats: Final = Repeats(logging.getLogger("sottovoce.serve"), logging.ERROR)


@final
class SealingKeys:
    """The keys in a data folder, made when they are first needed. Safe to use from several threads."""

    def __init__(self, folder: Path, signing: SigningKey):
        self._path = folder / SEALING_FILE
        self._signing = signing
        self._lock = threading.Lock()
        self._seen: object = None
        self._held: dict[int, PrivateKey] = {}
        self._signed: SignedKeys | None = None

    def held(self) -> dict[int, PrivateKey]:
        """Every private key by its number."""
        with self._lock:
            self._look()
            return self._held

    def signed(self) -> SignedKeys:
        """The current public key, signed."""
        with self._lock:
            return self._look()

    def _look(self) -> SignedKeys:
        """Read the file if it has changed. One that cannot be read any more changes nothing: devices seal meanwhile."""
        if self._signed is None:
            load_or_create_keys(self._path)
            self._seen = _mark(self._path)  # before it is read: what is changed meanwhile is read again
            return self._take(read_keys(self._path))
        try:
            seen = _mark(self._path)
            if seen != self._seen:
                self._take(read_keys(self._path))
                self._seen = seen
        except (SettingsError, OSError) as error:
            _repeats.say(f"the sealing keys cannot be read any more, and those read before are used: {error}")
        return self._signed

    def _take(self, keys: tuple[HeldKey, ...]) -> SignedKeys:
        self._held = {one.key_id: one.key for one in keys}
        told = tuple(KeyConfiguration(one.key_id, one.key.public) for one in keys if one.state == "current")
        self._signed = sign_keys(self._signing, told)
        return self._signed


def _mark(path: Path) -> tuple[int, int, int]:
    """Changes with every replacement of the file."""
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size
