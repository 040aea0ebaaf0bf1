"""Vectors of seats: what a device derives from its secret, for a panel or for a window of a tracking survey."""

from __future__ import annotations

import hashlib
from typing import Any

from sottovoce.device.turns import derive_seat

__all__ = ["seat_vectors"]

CASES = [(1, 1), (1, 2), (1, 13), (2, 13), (3, 13), (2**53 - 1, 13), (1, 52), (1, 3660), (1, 60_000)]
"""Windows and seats."""

REJECTING = 2**63 + 1
"""So many seats that nearly half of all blocks are rejected; no survey has them, but the rule is the same."""


def seat_vectors() -> dict[str, Any]:
    """Secrets, ids, windows, numbers of seats, and the seats that follow."""
    cases = [(secret, *case) for secret in range(2) for case in CASES]
    cases += [(secret, 1, REJECTING) for secret in range(2, 14)]
    return {
        "about": "For i = 0, 1, ..: x = the first 8 bytes, big-endian, of HMAC-SHA256(secret, 'sottovoce seat' + 00 + "
        "id (32 bytes) + window (8 bytes, big-endian) + i (4 bytes, big-endian)), until x < (2**64 // seats) * seats; "
        "then the seat is 1 + x mod seats. A panel has window 1. Integers stand as decimal text.",
        "seats": [_seat(*case) for case in cases],
    }


def _seat(secret: int, window: int, seats: int) -> dict[str, str]:
    key, survey = (hashlib.sha256(f"{name} {secret}".encode()) for name in ("secret", "survey"))
    return {
        "secret": key.hexdigest(),
        "id": survey.hexdigest(),
        "window": str(window),
        "seats": str(seats),
        "seat": str(derive_seat(key.digest(), survey.hexdigest(), window, seats)),
    }
