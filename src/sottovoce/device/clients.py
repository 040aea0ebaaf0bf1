"""How a device reaches collectors and relays: a connection of its own for every request, each client made once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, final
from urllib.parse import urlsplit

from sottovoce.core.errors import ServiceError
from sottovoce.device.effort import Effort
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import Http
from sottovoce.device.oblivious_http import ObliviousHttp
from sottovoce.device.patience import Patience
from sottovoce.device.relay_client import RelayClient
from sottovoce.device.trust import Trust

__all__ = ["Clients", "Connect", "Network"]

Connect: TypeAlias = Callable[[str], CollectorClient]
"""Makes the client of the collector at an address."""


@final
@dataclass(frozen=True)
class Network:
    """Settings of connections; see `Http`."""

    timeout: float
    ca_file: str | None
    proxy: str | None
    insecure: bool

    def http(self, url: str, who: str) -> Http:
        """A connection that is never used again."""
        return Http(
            url,
            timeout=self.timeout,
            ca_file=self.ca_file,
            proxy=self.proxy,
            insecure=self.insecure,
            keep_alive=False,
            who=who,
        )


@final
class Clients:
    """The collectors and relays of a device, by their addresses.

    Parameters
    ----------
    relay
        Address of the relay that collectors are reached through; None to connect to them.
    connect
        Makes clients of collectors in place of all settings.
    """

    def __init__(
        self,
        network: Network,
        trust: Trust,
        patience: Patience | None,
        effort: Effort,
        relay: str | None,
        connect: Connect | None,
    ) -> None:
        self._network, self._trust, self._patience, self._effort = network, trust, patience, effort
        self._through = relay
        self._connect = self._client if connect is None else connect
        self._collectors: dict[str, CollectorClient] = {}
        self._relays: dict[str, RelayClient] = {}
        if relay is not None:
            self.relay(relay)  # refuses a bad address now

    def collector(self, url: str) -> CollectorClient:
        """The collector at an address."""
        if url not in self._collectors:
            self._collectors[url] = self._connect(url)
        return self._collectors[url]

    def relay(self, url: str) -> RelayClient:
        """The relay at an address."""
        if url not in self._relays:
            self._relays[url] = RelayClient(self._network.http(url, "relay"), self._patience)
        return self._relays[url]

    def close(self) -> None:
        """Close idle connections."""
        while self._collectors:
            self._collectors.popitem()[1].close()
        while self._relays:
            self._relays.popitem()[1].close()

    def _client(self, url: str) -> CollectorClient:
        if self._through is None:
            return CollectorClient(self._network.http(url, "collector"), self._patience, self._effort)
        relay = self.relay(self._through)
        through = ObliviousHttp(url, relay, self._trust, insecure=self._network.insecure)
        if urlsplit(relay.url)[:2] == urlsplit(through.url)[:2]:
            raise ServiceError(
                "the relay to fetch through is at the collector's own address, which would see this device's; name a "
                "relay at another address",
                "bad_address",
            )
        return CollectorClient(through, self._patience, self._effort)
