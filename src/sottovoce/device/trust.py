"""What a device trusts: keys and the surveys that they signed, relays that its owner accepts, and logs of surveys.

A collector that shows some people another survey than others must leave it out of the log, hide the statement behind
its entry, or show two logs. The first is refused here; so is the second where a relay keeps the collector from knowing
who asks for the statement; the third by any client that has seen both. The requests tell nobody which device asks: see
`sottovoce.transparency.evidence`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Final, Self, TypeAlias, final
from urllib.parse import urlsplit

from sottovoce.core.errors import LedgerError, MismatchError, ServiceError, SignatureError, TransparencyError
from sottovoce.core.signing import PUBLIC_KEY_BYTES, check_public_key, from_base64url
from sottovoce.device.fetch import CollectorClient, Published
from sottovoce.device.http import collector_url
from sottovoce.device.store import DeviceStore, LogConflict
from sottovoce.device.turns import Clock, day_of
from sottovoce.surveys.panel import Panel
from sottovoce.surveys.relay import Relay, relay_url
from sottovoce.surveys.survey import Survey, Tracking
from sottovoce.transparency.evidence import block_of, check_log_proof
from sottovoce.transparency.tree_head import read_checkpoint

__all__ = ["LogCheck", "RelayPolicy", "Stranger", "Trust"]


_ATTEMPTS: Final = 10
"""Other processes with the same store may be remembering as well."""


Stranger: TypeAlias = Callable[[CollectorClient, str], CollectorClient]
"""The client that asks a collector for what is public: through the owner's relay or else this one, if there is any."""


@final
@dataclass(frozen=True)
class LogCheck:
    """What a device knows of the logs of collectors, and checks.

    A log that was seen once is needed from then on; `required` needs one of collectors that have never shown any.
    """

    store: DeviceStore
    clock: Clock
    required: bool
    stranger: Stranger

    def check(self, collector: CollectorClient, key: bytes, survey: Survey | Panel | Tracking) -> None:
        """Raise `TransparencyError` unless the log allows to answer this survey; remember its head.

        The survey must be in the log, and its statement must be what a stranger gets who asks for it by its hash: an
        entry alone says nothing to others. The key, and not the address, says whose log it is.
        """
        if not self._is_in_log(collector, key, survey.id):
            return
        relay: Relay | None = getattr(survey, "relay", None)
        shown = self.stranger(collector, "" if relay is None else relay.url).statement(survey.id)
        if shown != survey.canonical:
            raise _hidden(collector.url, survey.id, is_missing=shown is None)

    def _is_in_log(self, collector: CollectorClient, key: bytes, survey_id: str) -> bool:
        """Whether the log proves so; False if there is none, and none is needed."""
        for _ in range(_ATTEMPTS):
            note = self.store.checkpoint(key)
            remembered = None if note is None else read_checkpoint(note, key)
            proof = collector.log_proof(survey_id, 0 if remembered is None else block_of(remembered.size))
            if proof is None:
                if note is not None or self.required:
                    raise _missing(collector.url, was_there=note is not None)
                return False
            try:
                check_log_proof(proof, key, survey_id, remembered)
            except TransparencyError as error:
                if error.conflict and note is not None:
                    conflict = LogConflict(collector.url, key, note, proof.checkpoint, day_of(self.clock))
                    self.store.keep_conflict(conflict)
                    raise _contradiction(collector.url, error) from None
                raise TransparencyError(f"{error}. Nothing was answered; the collector is at {collector.url}") from None
            if self.store.remember(key, note, proof.checkpoint):
                return True
        raise LedgerError("other processes keep changing what this device remembers; nothing was answered, try again")


def _missing(url: str, *, was_there: bool) -> TransparencyError:
    why = (
        "although it had one before"
        if was_there
        else "and this device's owner requires one (require_log, --require-log)"
    )
    return TransparencyError(
        f"the collector at {url} shows no log of its surveys, {why}; nothing was answered. Without it nobody can tell "
        "whether all are asked the same: ask its operator, through another channel"
    )


def _hidden(url: str, survey_id: str, *, is_missing: bool) -> TransparencyError:
    what = "nobody else can fetch its statement" if is_missing else "others get another statement under its id"
    return TransparencyError(
        f"survey {survey_id[:12]} is in the log of the collector at {url}, and {what}; nothing was answered. Ask its "
        "operator, through another channel, and compare with others ('sottovoce log check')"
    )


def _contradiction(url: str, error: TransparencyError) -> TransparencyError:
    return TransparencyError(
        f"{error}. The collector at {url} shows this device two lists of surveys, or has lost some of them; nothing "
        "was answered. Both signed checkpoints are kept as evidence: 'sottovoce ledger --json' shows them. Ask its "
        "operator, through another channel, and compare with others ('sottovoce log check')",
        conflict=True,
    )


@final
@dataclass(frozen=True)
class RelayPolicy:
    """What the owner demands of a survey's relay."""

    insists: bool = False
    allowed: frozenset[str] | None = None
    """Addresses of relays; None for any. A person who insists trusts the named relay, and no other unless they say so:
    any collector can state one of its own."""

    @classmethod
    def of(cls, relay: str | None, insists: bool, allowed: Collection[str] | None) -> Self:
        """Trust by the settings of a device; `relay` is the one that it fetches through."""
        if insists and relay is None:
            raise ServiceError(
                "insist_on_relay needs relay (--relay), the address of the relay that surveys are fetched through: "
                "without one, the collector would see this device's address",
                "bad_address",
            ).at("relay")
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


@final
class Trust:
    """Fetches surveys that are signed by the owner's key, or by the key pinned for the collector's address.

    Parameters
    ----------
    store
        The store in which keys are pinned.
    key
        The only key that is trusted; without one, the first key that a collector sends.
    mechanisms
        Mechanisms of other packages that surveys may use.
    """

    def __init__(self, store: DeviceStore, key: bytes | str | None, mechanisms: Collection[str]) -> None:
        self._store = store
        self.key = None if key is None else _public_key(key)
        self.mechanisms = mechanisms

    def trusted(self, collector: str) -> bytes | None:
        """The key that the collector at this address must have; None if none is known yet."""
        return self.key if self.key is not None else self._store.pinned(collector)

    def pin(self, collector: str, key: bytes) -> None:
        """Trust the first key seen at this address from now on."""
        if self._store.pin(collector, key) != key:
            raise SignatureError("the collector sent two different keys; nothing was answered")

    def fetch(self, collector: CollectorClient, question: str) -> Published:
        """The survey, verified with the trusted key; the first key seen is pinned if there is none."""
        trusted = self.trusted(collector.url)
        published = collector.survey(question, trusted, self.mechanisms)
        if trusted is None:
            self.pin(collector.url, published.key)
        return published


def _public_key(key: bytes | str) -> bytes:
    try:
        return check_public_key(from_base64url(key, PUBLIC_KEY_BYTES) if isinstance(key, str) else key)
    except SignatureError as error:
        raise SignatureError(f"key must be the collector's public key; {error}").at("key") from None
