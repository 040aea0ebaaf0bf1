"""vectors/seats.json: as the library derives seats, and as a second client does from the file's own words."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path

from sottovoce.device.turns import derive_seat

CASES = json.loads((Path(__file__).parents[2] / "vectors" / "seats.json").read_text("utf-8"))["seats"]


def blocks(case: dict[str, str]) -> tuple[int, int]:
    """The seat, and how many blocks it took."""
    head = b"sottovoce seat\0" + bytes.fromhex(case["id"]) + int(case["window"]).to_bytes(8, "big")
    n, i = int(case["seats"]), 0
    while True:
        digest = hmac.digest(bytes.fromhex(case["secret"]), head + i.to_bytes(4, "big"), hashlib.sha256)
        x = int.from_bytes(digest[:8], "big")
        i += 1
        if x < 2**64 - 2**64 % n:
            return 1 + x % n, i


def test_the_library_and_a_second_client_take_the_same_seats() -> None:
    for case in CASES:
        numbers = int(case["window"]), int(case["seats"])
        assert derive_seat(bytes.fromhex(case["secret"]), case["id"], *numbers) == int(case["seat"])
        assert blocks(case)[0] == int(case["seat"])


def test_some_blocks_are_rejected() -> None:
    assert max(blocks(case)[1] for case in CASES) > 2


def test_seats_are_spread_evenly_over_secrets_and_windows() -> None:
    """4,000 seats out of 4, fixed secrets: chi-squared with 3 degrees is below 50 (chance 1e-10 else)."""
    for drawn in (
        [derive_seat(hashlib.sha256(b"%d" % i).digest(), "ab" * 32, 1, 4) for i in range(4000)],
        [derive_seat(bytes(32), "ab" * 32, window, 4) for window in range(1, 4001)],
    ):
        assert sum((drawn.count(seat) - 1000) ** 2 / 1000 for seat in range(1, 5)) < 50
