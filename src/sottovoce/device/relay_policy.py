"""Which relays the owner of a device accepts, and whether there must be one; it depends on the survey alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Self, final
from urllib.parse import urlsplit

from sottovoce.core.errors import MismatchError, ServiceError
from sottovoce.device.http import collector_url
from sottovoce.surveys.relay import Relay, relay_url

__all__ = ["RelayPolicy"]


@final
@dataclass(frozen=True)
class RelayPolicy:
    """What the owner demands of a survey's relay."""

    insists: bool = False
    allowed: frozenset[str] | None = None
    """Addresses of relays; None for any. Whoever insists trusts the relay they named, and no other unless they say so:
    any collector can state one of its own."""

    @classmethod
    def of(cls, relay: str | None, insists: bool, allowed: Collection[str] | None) -> Self:
        """From the settings of a device; `relay` is the one that it fetches through."""
        if insists and relay is None:
            raise ServiceError(
                "insist_on_relay needs relay (--relay), the address of the relay that surveys are fetched through: "
                "without one, the collector would see this device's address",
                "bad_address",
            )
        if isinstance(allowed, str):
            raise ServiceError("relays must be a list of addresses, for example ['https://relay.example.org']")
        if insists and relay is not None and allowed is None:
            return cls(insists, frozenset({collector_url(relay, insecure=True, who="relay")}))
        return cls(insists, None if allowed is None else frozenset(map(relay_url, allowed)))

    def check(self, survey: Any, collector: str) -> None:
        """Raise `MismatchError` unless the owner lets this survey be answered, as far as its relay is concerned."""
        relay: Relay | None = getattr(survey, "relay", None)
        objection = self.objection("" if relay is None else relay.url, collector)
        if objection:
            raise MismatchError(f"{objection}; nothing was answered")

    def objection(self, relay: str, collector: str) -> str:
        """Why the answer to a survey may not go through the relay that it states, or to the collector if that is empty.

        Empty if it may. Answers that were recorded under other settings are asked about again when they are sent.
        """
        if not relay:
            return "this survey states no relay, and this device sends through a relay only" if self.insists else ""
        if self.allowed is not None and relay not in self.allowed:
            return (
                f"this survey states the relay {relay}, which this device's owner has not allowed (add it to relays, "
                "or by --allow-relay)"
            )
        if urlsplit(relay)[:2] == urlsplit(collector)[:2]:
            return "the relay that this survey states is at the collector's own address, and so separates nothing"
        return ""
