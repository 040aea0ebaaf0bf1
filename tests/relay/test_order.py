"""The order in which a batch leaves."""

from __future__ import annotations

import math
import secrets
from collections import Counter

from scipy.stats import chi2

from sottovoce.relay.forwarder import Parts

SEEDS = 20_000


def order(seed: bytes, left: list[tuple[int, int]], most: int = 1) -> list[int]:
    parts, found = Parts(seed, left), []
    while part := parts.next(most, 2**20):
        found += part
        parts.remove(part)
    return found


def test_every_order_is_as_likely_as_any_other() -> None:
    """A fair order fails with probability 1e-9; an order that is half as likely again adds about 200."""
    left = [(number, 512) for number in (7, 8, 1000, 2**40)]
    found = Counter(tuple(order(secrets.token_bytes(32), left)) for _ in range(SEEDS))
    orders = math.factorial(len(left))
    expected = SEEDS / orders
    statistic = sum((n - expected) ** 2 / expected for n in found.values()) + (orders - len(found)) * expected
    assert statistic < chi2.isf(1e-9, orders - 1)


def test_a_part_has_one_size_and_fits_into_a_body() -> None:
    sizes = {number: (512, 2048, 65536)[number % 3] for number in range(300)}
    parts, seen = Parts(secrets.token_bytes(32), [*sizes.items()]), []
    while part := parts.next(40, 2**17):
        (size,) = {sizes[number] for number in part}
        assert len(part) <= min(40, 2**17 // size)
        seen += part
        parts.remove(part)
    assert sorted(seen) == sorted(sizes)


def test_one_message_that_is_longer_than_a_part_is_a_part() -> None:
    assert Parts(bytes(32), [(1, 65536)]).next(10, 100) == [1]
