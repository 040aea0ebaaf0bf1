"""Whether a host is this machine: what is sent there crosses no network, and needs no TLS."""

from __future__ import annotations

import ipaddress

__all__ = ["is_loopback"]


def is_loopback(host: str) -> bool:
    """Whether a name or an address, IPv6 with or without brackets, is of this machine alone (RFC 1122, RFC 4291)."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
