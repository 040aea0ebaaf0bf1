"""The file of the collector's private sealing keys, and what a running service makes of it.

The file is created once, changed by command, never replaced silently. One key is current, and devices get
it; retired ones go on opening what was sealed to them; a prepared one opens already, and devices get it when it becomes
the current one. Without a key its messages cannot be opened. A running service looks at the file whenever it may have
changed, so that a rotation reaches every service without a restart.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import re
import secrets
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias, cast, final, get_args

from sottovoce.core.errors import SettingsError, SignatureError
from sottovoce.core.files import create_file, replace_file
from sottovoce.core.signing import SigningKey, from_base64url, to_base64url
from sottovoce.oblivious.hpke import KEY_BYTES, PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.protocol.reports import SignedKeys
from sottovoce.service.running.outage import Repeats

__all__ = [
    "SEALING_FILE",
    "HeldKey",
    "KeyState",
    "SealingKeys",
    "existing_keys",
    "forget_key",
    "load_or_create_keys",
    "prepare_key",
    "read_keys",
    "rotate_keys",
]

KeyState: TypeAlias = Literal["prepared", "current", "retired"]

_FILE_MODE: Final = 0o600
_IDS: Final = 256
_LINE: Final = re.compile(r"([0-9]{1,3}) ([a-z]+) ([0-9A-Za-z_-]{43})")


@final
@dataclass(frozen=True)
class HeldKey:
    """One key pair of the collector."""

    key_id: int
    state: KeyState
    key: PrivateKey


def load_or_create_keys(path: Path) -> tuple[HeldKey, ...]:
    """The keys of a file, or a new key in a new file of mode 0600. Services that start together get one key.

    A file that is damaged is an error: replacing it would lose every answer that is sealed to its keys.
    """
    with contextlib.suppress(FileNotFoundError):
        return read_keys(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            create_file(path, _text((HeldKey(1, "current", _new_key()),)), _FILE_MODE)
    except OSError as error:
        raise SettingsError(f"the sealing keys cannot be written to {path}: {error.strerror or error}") from error
    return read_keys(path)


def read_keys(path: Path) -> tuple[HeldKey, ...]:
    """The keys of a file, the newest first."""
    try:
        text = path.read_text("ascii")
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SettingsError(f"the sealing keys in {path} cannot be read: {reason}") from error
    lines = tuple(_key(line) for line in text.splitlines())
    keys = tuple(key for key in lines if key is not None)
    if (
        len(keys) < len(lines)
        or len({key.key_id for key in keys}) < len(keys)
        or [key.state for key in keys].count("current") != 1
        or [key.state for key in keys].count("prepared") > 1
    ):
        raise SettingsError(
            f"{path} is damaged: each line must be a number, a state and a key, one of them current. It was not "
            "changed: answers on their way are sealed to the keys it contained. Restore a copy"
        )
    return keys


def existing_keys(path: Path) -> tuple[HeldKey, ...]:
    """The keys of a file that must exist, for an operator who may have named the wrong folder."""
    try:
        return read_keys(path)
    except FileNotFoundError:
        raise _no_keys(path) from None


def prepare_key(path: Path) -> tuple[HeldKey, ...]:
    """Add a key that opens messages and is not yet given to devices, so that every service can hold it first."""
    with _changing(path) as keys:
        if any(key.state == "prepared" for key in keys):
            raise SettingsError("a key is prepared already; copy the file to every service, then rotate")
        return _write(path, (HeldKey(_next_id(keys), "prepared", _new_key()), *keys))


def rotate_keys(path: Path) -> tuple[HeldKey, ...]:
    """Let the prepared key, or else a new one, be the current one; the one that was goes on opening messages."""
    with _changing(path) as keys:
        new = next((key for key in keys if key.state == "prepared"), None)
        new = new or HeldKey(_next_id(keys), "prepared", _new_key())
        older = (replace(key, state="retired") for key in keys if key.key_id != new.key_id)
        return _write(path, (replace(new, state="current"), *older))


def forget_key(path: Path, key_id: int) -> tuple[HeldKey, ...]:
    """Remove a retired or prepared key for ever: nobody can open what was sealed to it any more."""
    with _changing(path) as keys:
        state = next((key.state for key in keys if key.key_id == key_id), None)
        if state is None:
            held = ", ".join(str(key.key_id) for key in keys)
            raise SettingsError(f"key {key_id} does not exist; the keys here are {held}").at("key_id")
        if state == "current":
            raise SettingsError(
                f"key {key_id} is the current one: devices seal to it; rotate first, and forget it later"
            ).at("key_id")
        return _write(path, tuple(key for key in keys if key.key_id != key_id))


@contextlib.contextmanager
def _changing(path: Path) -> Iterator[tuple[HeldKey, ...]]:
    """The keys of a file that nobody else changes meanwhile: a change that got lost would lose a key."""
    while True:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise _no_keys(path) from None
        except OSError as error:
            raise SettingsError(f"the sealing keys in {path} cannot be read: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            # The holder of the lock before has replaced the file: then there is a newer one to lock.
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield read_keys(path)
                return
        finally:
            os.close(descriptor)


def _no_keys(path: Path) -> SettingsError:
    return SettingsError(
        f"{path} has no sealing keys; the collector makes them at its first start: name its data folder with --data"
    )


def _write(path: Path, keys: tuple[HeldKey, ...]) -> tuple[HeldKey, ...]:
    try:
        replace_file(path, _text(keys), _FILE_MODE)
    except OSError as error:
        raise SettingsError(f"the sealing keys cannot be written to {path}: {error.strerror or error}") from error
    return keys


def _text(keys: tuple[HeldKey, ...]) -> bytes:
    lines = [f"{key.key_id} {key.state} {to_base64url(key.key.private_bytes())}\n" for key in keys]
    return "".join(lines).encode()


def _key(line: str) -> HeldKey | None:
    match = _LINE.fullmatch(line)
    if match is None or int(match[1]) >= _IDS or match[2] not in get_args(KeyState):
        return None
    try:
        return HeldKey(int(match[1]), cast(KeyState, match[2]), PrivateKey(from_base64url(match[3], KEY_BYTES)))
    except SignatureError:
        return None


def _new_key() -> PrivateKey:
    return PrivateKey.derive(secrets.token_bytes(KEY_BYTES))


def _next_id(keys: tuple[HeldKey, ...]) -> int:
    """The number after the newest key's that is free: numbers of forgotten keys come back as late as possible."""
    held = {key.key_id for key in keys}
    if len(held) == _IDS:
        raise SettingsError(f"{_IDS} keys are held, the most there can be; forget the oldest")
    return next(number for step in range(1, _IDS) if (number := (keys[0].key_id + step) % _IDS) not in held)


SEALING_FILE: Final = "sealing.keys"
"""A file in the data folder."""

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
        self._held = {key.key_id: key.key for key in keys}
        current = tuple(KeyConfiguration(key.key_id, key.key.public) for key in keys if key.state == "current")
        self._signed = sign_keys(self._signing, current)
        return self._signed


def _mark(path: Path) -> tuple[int, int, int]:
    """Changes with every replacement of the file."""
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size
