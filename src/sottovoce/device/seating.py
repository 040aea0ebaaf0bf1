"""The seat of a device: its round in a panel, or its period in a window of a tracking survey.

It follows from a secret that the device drew once, so it is uniform, independent of every value, the same after a
restart or a restored backup, and unknown to everybody else until the device reports.
"""

from __future__ import annotations

import hashlib
import hmac
from itertools import count
from typing import Final

from sottovoce.device.store import DeviceStore

__all__ = ["derive_seat", "seat_in"]

_LABEL: Final = b"sottovoce seat\0"
_DRAWS: Final = 2**64


def derive_seat(secret: bytes, panel_id: str, window: int, seats: int) -> int:
    """The seat from 1 to `seats` in a window: uniform, by rejection, over the HMACs of the secret.

    Examples
    --------
    >>> derive_seat(bytes(32), "ab" * 32, 1, 1)
    1
    >>> sorted({derive_seat(bytes(32), "ab" * 32, window, 4) for window in range(1, 100)})
    [1, 2, 3, 4]
    """
    message = _LABEL + bytes.fromhex(panel_id) + window.to_bytes(8, "big")
    accepted = _DRAWS // seats * seats
    for attempt in count():
        block = hmac.new(secret, message + attempt.to_bytes(4, "big"), hashlib.sha256).digest()
        drawn = int.from_bytes(block[:8], "big")
        if drawn < accepted:
            return 1 + drawn % seats
    raise AssertionError("unreachable")


def seat_in(store: DeviceStore, panel_id: str, window: int, seats: int) -> int:
    """This device's seat; one that an earlier version of its store drew stays."""
    drawn = store.drawn_seat(panel_id) if window == 1 else None
    return derive_seat(store.secret(), panel_id, window, seats) if drawn is None else drawn
