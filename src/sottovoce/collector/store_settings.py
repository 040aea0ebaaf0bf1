"""Where a service's store is, and how large it may get: read without loading a database."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

__all__ = ["StoreSettings"]


class StoreSettings(Protocol):
    """What the settings of a service say of its store."""

    @property
    def database(self) -> str:
        """As for `open_store`."""

    @property
    def data(self) -> Path:
        """As for `open_store`."""

    @property
    def max_database_bytes(self) -> int:
        """Its `max_bytes`."""

    @property
    def reserve_bytes(self) -> int:
        """As for `open_store`."""

    @property
    def objects(self) -> str:
        """As for `open_store`."""
