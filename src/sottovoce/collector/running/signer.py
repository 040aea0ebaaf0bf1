"""The signing key: made beside the sealing keys, and checked to be the one that signs the surveys of the database.

Devices pin the first key they see. A service with another one, from a folder that was not copied or a backup that was
restored without it, would publish what they all refuse; and two services on one database with a key each would be
trusted by one half of the devices each. The database remembers the public key, so that this is found at the start.
"""

from __future__ import annotations

import contextlib
import logging
from pathlib import Path
from typing import Final

from sottovoce.collector.sealing.keys import SEALING_FILE, load_or_create_keys
from sottovoce.collector.settings import KEY_FILE
from sottovoce.collector.store.base import Store
from sottovoce.collector.surveys.log import SurveyLog, forget_checkpoint
from sottovoce.core.errors import SettingsError, SignatureError
from sottovoce.core.signing import SigningKey, fingerprint, verify
from sottovoce.service.running.process import folder

__all__ = ["create_keys", "key_advice", "own_key"]


_log: Final = logging.getLogger("sottovoce.serve")

_REMEDY: Final = (
    "Nothing was changed. Put the file {path} back from your copy; every service on one database needs the same file. "
    "If it is lost, start the service once with --accept-new-key: surveys that were published before can then not be "
    "answered any more, and devices that have pinned the old key refuse the new one until their owners accept it"
)


def own_key(store: Store, folder: Path, *, accept_new: bool = False) -> SigningKey:
    """The key in the data folder, made if there is none; refused if surveys of this database have another one.

    Parameters
    ----------
    accept_new
        Whether the operator has said that the old key is lost.
    """
    path = folder / KEY_FILE
    known = store.signer()
    if not path.exists() and not accept_new and (known is not None or store.standing()):
        raise SettingsError(
            f"{folder} has no {KEY_FILE}, and the surveys of this database are signed with {_named(known)}. "
            + _REMEDY.format(path=path)
        )
    key = SigningKey.load_or_create(path)
    if _is_other(store, known, key):
        if not accept_new:
            raise _another(path, known, key)
        _log.warning(
            "from now on surveys are signed with the key of fingerprint %s, in place of %s: devices that have pinned "
            "the old one refuse them",
            fingerprint(key.public),
            _named(known),
        )
        forget_checkpoint(folder)  # another key signs another log
        store.set_signer(key.public, replace=True)
    elif (stands := store.set_signer(key.public)) != key.public:  # another service was just faster
        raise _another(path, stands, key)
    return key


def key_advice(store: Store, folder: Path) -> str:
    """What is to be done about key and log before a service starts on a restored database; empty for nothing."""
    path, known = folder / KEY_FILE, store.signer()
    if not path.exists():
        return (
            f"A backup does not hold the signing key, and there is none in {folder}: copy signing.key there before the "
            f"service starts. The surveys are signed with {_named(known)}"
        )
    key = SigningKey.load_or_create(path)
    if _is_other(store, known, key):
        return f"{path} is not the key that signed these surveys: replace it with {_named(known)}"
    return SurveyLog(folder, key, store).advice()


def _is_other(store: Store, known: bytes | None, key: SigningKey) -> bool:
    """Whether surveys of this database were signed with another key."""
    if known is not None:
        return known != key.public
    # A database of an earlier version does not say; its newest survey tells.
    standing = store.standing()
    newest = store.survey(standing[-1][0]) if standing else None
    if newest is None:
        return False
    with contextlib.suppress(SignatureError):
        verify(key.public, newest.canonical, newest.signature)
        return False
    return True


def _another(path: Path, known: bytes | None, key: SigningKey) -> SettingsError:
    return SettingsError(
        f"{path} is the key of fingerprint {fingerprint(key.public)}, and the surveys of this database are signed "
        f"with {_named(known)}. " + _REMEDY.format(path=path)
    )


def _named(known: bytes | None) -> str:
    return "another key" if known is None else f"the key of fingerprint {fingerprint(known)}"


def create_keys(data: Path) -> SigningKey:
    """Make both files in a folder that has neither; returns the key that signs surveys."""
    for name in (KEY_FILE, SEALING_FILE):
        if (data / name).exists():
            raise SettingsError(
                f"{data / name} is there already, and keys are never replaced: devices trust them. Nothing was "
                "changed; name a folder without keys with --data"
            )
    with folder(data, "--data"):
        load_or_create_keys(data / SEALING_FILE)
        return SigningKey.load_or_create(data / KEY_FILE)
