"""The limit per address: counted under a key of the minute, and by the network that one household has."""

from __future__ import annotations

from sottovoce.relay.service import AddressLimit


def test_a_minute_is_forgotten_with_its_key() -> None:
    now = [0.0]
    limit = AddressLimit(1, clock=lambda: now[0])
    before = limit._key
    assert [limit.admit("192.0.2.1") for _ in range(2)] == [0.0, 60.0]
    now[0] = 59.0
    assert limit.admit("192.0.2.1") == 1.0
    now[0] = 60.0
    assert limit.admit("192.0.2.1") == 0.0
    assert limit._key != before
    assert len(limit._counts) == 1


def test_one_network_is_one_address() -> None:
    limit = AddressLimit(1, clock=lambda: 0.0)
    assert limit.admit("2001:db8:1:2::1") == 0.0
    assert limit.admit("2001:db8:1:2:ffff::1%eth0") > 0
    assert limit.admit("2001:db8:1:3::1") == 0.0
    assert limit.admit("::ffff:192.0.2.7") == 0.0
    assert limit.admit("192.0.2.7") > 0


def test_no_address_is_in_memory() -> None:
    limit = AddressLimit(5)
    limit.admit("203.0.113.77")
    assert b"203.0.113.77" not in repr(vars(limit)).encode()
    assert bytes([203, 0, 113, 77]) not in b"".join(limit._counts)


def test_with_zero_nobody_looks() -> None:
    assert not AddressLimit(0).looks
