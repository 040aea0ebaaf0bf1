"""The keys of a collector that has not started yet: for several services, which must all have the same."""

from __future__ import annotations

from pathlib import Path

from sottovoce.collector.running.settings import KEY_FILE
from sottovoce.collector.sealing.key_file import load_or_create_keys
from sottovoce.collector.sealing.keys import SEALING_FILE
from sottovoce.core.errors import SettingsError
from sottovoce.core.signing import SigningKey
from sottovoce.service.running.process import folder

__all__ = ["create_keys"]


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
