"""How far the database has come, in a sealed file beside it: a log that was cut or put back is found out.

The file holds one number, the largest that durable reports were given, and a seal made with the signing key. It tells
no time and nothing of any report. A database whose numbers are lower at the next start has lost acknowledged reports.
"""

from __future__ import annotations

import hmac
import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol, final

from sottovoce.core.files import leftover_parts, replacing
from sottovoce.core.signing import SigningKey

__all__ = ["WATERMARK_FILE", "Watermark"]

WATERMARK_FILE: Final = "watermark"
"""A file in the data folder."""

_PURPOSE: Final = b"sottovoce watermark 1"

_LONGEST: Final = 256

_log: Final = logging.getLogger("sottovoce.serve")


class _Numbers(Protocol):
    def last_number(self) -> int:
        """The largest number that durable reports were ever given."""


@final
class Watermark:
    """The file of one service. Several on one database have a file each: only a lower number means a loss.

    Parameters
    ----------
    folder
        The data folder.
    key
        The key of the service, which seals the file.
    store
        The store that gives the numbers.
    """

    def __init__(self, folder: Path, key: SigningKey, store: _Numbers) -> None:
        self._place = folder / WATERMARK_FILE
        self._key = key.derived(_PURPOSE)
        self._store = store
        self._written = -1

    def compare(self) -> int:
        """Say what is wrong, if anything is; how many numbers are missing from the database.

        What is said is said at one start: the file then holds what the database does. Where it cannot be written, on a
        full disk for instance, `advance` does so later.
        """
        for part in leftover_parts(self._place):
            part.unlink(missing_ok=True)
        sealed, now = self._sealed(), self._store.last_number()
        missing = max(sealed - now, 0)
        if missing:
            _log.error(
                "the database has lost acknowledged reports: it was at number %s, and is at %s. Its write-ahead log "
                "was cut, or it was put back to an earlier state. Devices do not send these reports again: if its "
                "files exist elsewhere, stop the service and put them back",
                f"{sealed:,}",
                f"{now:,}",
            )
        with suppress(OSError):
            self._write(now)
        return missing

    def advance(self) -> None:
        """Write down how far the database has come; the store's errors and `OSError` are raised."""
        number = self._store.last_number()
        if number > self._written:
            self._write(number)

    def _sealed(self) -> int:
        """What the file says; 0 if there is none, or none that we wrote."""
        try:
            with self._place.open("rb") as file:
                content = file.read(_LONGEST)
        except FileNotFoundError:
            return 0
        except OSError as error:
            _log.error("%s cannot be read: %s; losses before this start go unnoticed", self._place, error.strerror)
            return 0
        number, _, _ = content.partition(b" ")
        if not (number.isdigit() and hmac.compare_digest(content, self._line(int(number)))):
            _log.error(
                "%s is damaged, or sealed with another signing key: losses before this start go unnoticed, and a new "
                "one is written",
                self._place,
            )
            return 0
        return int(number)

    def _write(self, number: int) -> None:
        with replacing(self._place, 0o600) as part:
            part.write_bytes(self._line(number))
            # When it was written would tell when somebody answered.
            os.utime(part, (0, 0))
        self._written = number

    def _line(self, number: int) -> bytes:
        return b"%d %s\n" % (number, hmac.digest(self._key, b"%d" % number, "sha256").hex().encode())
