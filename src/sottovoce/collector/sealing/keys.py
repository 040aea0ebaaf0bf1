"""The file of the collector's private sealing keys, and what a running service makes of it.

The file is created once, changed by command, never replaced silently. One key is current, which devices are told;
retired ones go on opening what was sealed to them; a prepared one opens already, and is told to devices when it becomes
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
from sottovoce.oblivious.key_configuration import KeyConfiguration, SignedKeys, sign_keys
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
    """The keys of a file; a new key in a new file of mode 0600 if there is none. Two who start together get the same.

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
    found = tuple(_key(line) for line in text.splitlines())
    keys = tuple(key for key in found if key is not None)
    if (
        len(keys) < len(found)
        or len({one.key_id for one in keys}) < len(keys)
        or [one.state for one in keys].count("current") != 1
        or [one.state for one in keys].count("prepared") > 1
    ):
        raise SettingsError(
            f"{path} is damaged: each line must be a number, a state and a key, one of them current. It was not "
            "changed: answers on their way are sealed to the keys it contained. Restore a copy"
        )
    return keys


def existing_keys(path: Path) -> tuple[HeldKey, ...]:
    """The same, for an operator who may have named the wrong folder."""
    try:
        return read_keys(path)
    except FileNotFoundError:
        raise _no_keys(path) from None


def prepare_key(path: Path) -> tuple[HeldKey, ...]:
    """Add a key that opens messages and is not yet told to devices, so that every service can hold it first."""
    with _changing(path) as keys:
        if any(one.state == "prepared" for one in keys):
            raise SettingsError("a key is prepared already; copy the file to every service, then rotate")
        return _write(path, (HeldKey(_next_id(keys), "prepared", _new_key()), *keys))


def rotate_keys(path: Path) -> tuple[HeldKey, ...]:
    """Let the prepared key, or else a new one, be the current one; the one that was goes on opening messages."""
    with _changing(path) as keys:
        new = next((one for one in keys if one.state == "prepared"), None)
        new = new or HeldKey(_next_id(keys), "prepared", _new_key())
        older = (replace(one, state="retired") for one in keys if one.key_id != new.key_id)
        return _write(path, (replace(new, state="current"), *older))


def forget_key(path: Path, key_id: int) -> tuple[HeldKey, ...]:
    """Remove a retired or prepared key for ever: nobody can open what was sealed to it any more."""
    with _changing(path) as keys:
        state = next((one.state for one in keys if one.key_id == key_id), None)
        if state is None:
            held = ", ".join(str(one.key_id) for one in keys)
            raise SettingsError(f"there is no key {key_id}; the keys here are {held}")
        if state == "current":
            raise SettingsError(
                f"key {key_id} is the current one: devices seal to it; rotate first, and forget it later"
            )
        return _write(path, tuple(one for one in keys if one.key_id != key_id))


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
            # Whoever held the lock before has replaced the file: then there is a newer one to lock.
            if os.path.samestat(os.fstat(descriptor), os.stat(path)):
                yield read_keys(path)
                return
        finally:
            os.close(descriptor)


def _no_keys(path: Path) -> SettingsError:
    return SettingsError(
        f"there are no sealing keys at {path}; the collector makes them at its first start: name its data folder with "
        "--data"
    )


def _write(path: Path, keys: tuple[HeldKey, ...]) -> tuple[HeldKey, ...]:
    try:
        replace_file(path, _text(keys), _FILE_MODE)
    except OSError as error:
        raise SettingsError(f"the sealing keys cannot be written to {path}: {error.strerror or error}") from error
    return keys


def _text(keys: tuple[HeldKey, ...]) -> bytes:
    lines = [f"{one.key_id} {one.state} {to_base64url(one.key.private_bytes())}\n" for one in keys]
    return "".join(lines).encode()


def _key(line: str) -> HeldKey | None:
    found = _LINE.fullmatch(line)
    if found is None or int(found[1]) >= _IDS or found[2] not in get_args(KeyState):
        return None
    try:
        return HeldKey(int(found[1]), cast(KeyState, found[2]), PrivateKey(from_base64url(found[3], KEY_BYTES)))
    except SignatureError:
        return None


def _new_key() -> PrivateKey:
    return PrivateKey.derive(secrets.token_bytes(KEY_BYTES))


def _next_id(keys: tuple[HeldKey, ...]) -> int:
    """The number after the newest key's that is free: numbers of forgotten keys come back as late as possible."""
    held = {one.key_id for one in keys}
    if len(held) == _IDS:
        raise SettingsError(f"{_IDS} keys are held, the most there can be; forget the oldest")
    return next(number for step in range(1, _IDS) if (number := (keys[0].key_id + step) % _IDS) not in held)


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
