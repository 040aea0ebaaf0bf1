"""How a device reaches collectors and relays: a connection of its own for every request, each client made once.

Through a relay, requests and reports are sealed to the collector: no connection goes to the collector, and the relay
reads neither. Nothing falls back to anything: without a sealing key that the collector's own key has signed, nothing is
sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, final
from urllib.parse import urlsplit

import msgspec

from sottovoce.core.errors import ObliviousError, ServiceError, SignatureError
from sottovoce.core.signing import PUBLIC_KEY_BYTES, fingerprint, from_base64url
from sottovoce.device.effort import Effort
from sottovoce.device.fetch import CollectorClient
from sottovoce.device.http import (
    BAD_ANSWER,
    LONGEST_ANSWER,
    Http,
    Patience,
    check_confirmed,
    collector_url,
    http_query,
    parse_json_answer,
    refusal_of,
)
from sottovoce.device.store import RecordedAnswer
from sottovoce.device.trust import Trust
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse
from sottovoce.oblivious.key_configuration import KeyConfiguration, read_signed_keys
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, SealedRequest, seal_request
from sottovoce.protocol.reports import SignedKeys

__all__ = ["Clients", "Connect", "Network", "ObliviousHttp", "RelayClient"]


_UNKNOWN_KEY: Final = "unknown_key"
"""The collector has forgotten the sealing key: fetch its keys again."""

_MOST_KEYS: Final = 2**16


@final
class RelayClient:
    """A relay, in front of one collector.

    Parameters
    ----------
    http
        The connection to the relay.
    patience
        The policy by which requests are retried.
    """

    def __init__(self, http: Http, patience: Patience | None = None) -> None:
        self._http = http
        self._patience = Patience() if patience is None else patience

    def __repr__(self) -> str:
        return f"<RelayClient {self.url}>"

    @property
    def url(self) -> str:
        """Its address in canonical form."""
        return self._http.url

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def sealing_key(self, trusted: bytes | None) -> tuple[KeyConfiguration, bytes]:
        """The collector's preferred sealing key, and the key that has signed it: the trusted one, if there is one.

        Raises
        ------
        SignatureError
            If the trusted key has not signed it: the relay, or somebody on the way, may have replaced it.
        """
        body = self._http.get_bytes("/v1/keys", most=_MOST_KEYS)
        try:
            signer = _claimed(body) if trusted is None else trusted
            return read_signed_keys(body, signer)[0], signer
        except SignatureError:
            problem = "" if trusted is None else f" by the collector's key {fingerprint(trusted)[:16]}"
        except ObliviousError as error:
            raise ServiceError(f"the relay at {self.url}: {error}", BAD_ANSWER) from None
        raise SignatureError(
            f"the relay at {self.url} sent sealing keys that are not signed{problem}; nothing was sent. Ask the "
            "operator of the collector, through another channel, whether its key has changed"
        )

    def ask(self, key: KeyConfiguration, request: HttpRequest, most: int) -> HttpResponse:
        """The collector's response to a request that the relay passes on at once and cannot read."""
        sealed = _seal(key, request, None)
        response = self._http.post_bytes(
            "/v1/requests", sealed.message, content_type=REQUEST_MEDIA_TYPE, most=most + _MOST_KEYS
        )
        try:
            return sealed.open(response)
        except ObliviousError as error:
            raise ServiceError(f"the response through the relay at {self.url}: {error}", BAD_ANSWER) from None

    def send(self, kept: RecordedAnswer, secret: bytes) -> None:
        """Hand over a recorded answer; on return it is durable at the relay.

        It is sealed to the same bytes every time, while the collector's sealing key is the same: the relay holds it
        once, however often it is sent. The collector counts it once in any case, by the report's id.
        """
        try:
            self._hand_over(kept, secret)
        except ServiceError as error:
            if error.code != _UNKNOWN_KEY:
                raise
            self._hand_over(kept, secret)

    def _hand_over(self, kept: RecordedAnswer, secret: bytes) -> None:
        key, _ = self._patience.ask(lambda: self.sealing_key(kept.key))
        message = _seal(key, _report_request(kept), secret).message
        path = f"/v1/boxes/{kept.survey}"
        answer = self._patience.ask(lambda: self._http.post(path, body=message, content_type=REQUEST_MEDIA_TYPE))
        check_confirmed(answer, "relay")


def _claimed(body: bytes) -> bytes:
    """The key that is said to have signed the keys; read before any is trusted."""
    try:
        return from_base64url(msgspec.json.decode(body, type=SignedKeys).key, PUBLIC_KEY_BYTES)
    except (msgspec.MsgspecError, UnicodeDecodeError, SignatureError):
        pass
    raise ObliviousError("bad_keys", "its keys are not those of a collector; is this the address of a relay?")


def _report_request(kept: RecordedAnswer) -> HttpRequest:
    """The request that would hand in the report directly."""
    return HttpRequest(
        "POST",
        f"/v1/surveys/{kept.survey}/reports",
        headers=((b"content-type", BATCH_MEDIA_TYPE.encode()),),
        content=encode_batch(kept.survey, [(kept.report_id, kept.report)]),
    )


def _seal(key: KeyConfiguration, request: HttpRequest, secret: bytes | None) -> SealedRequest:
    try:
        return seal_request(key, request, secret)
    except ObliviousError as error:
        raise ServiceError(f"nothing was sent: {error}", BAD_ANSWER, 422) from None


_JSON: Final = "application/json"


@final
class ObliviousHttp:
    """The methods of `Http` that `CollectorClient` needs, over a relay. The collector's address says whom to trust.

    Parameters
    ----------
    url
        The collector's address; it is not connected to, and not sent.
    relay
        The relay, which is in front of that collector.
    trust
        The keys of collectors. The collector's own must have signed the sealing keys; without one, the first is pinned.
    insecure
        Allow plain http, as in `collector_url`.
    """

    def __init__(self, url: str, relay: RelayClient, trust: Trust, *, insecure: bool = False) -> None:
        self.url = collector_url(url, insecure=insecure)
        self._relay, self._trust = relay, trust
        self._key: KeyConfiguration | None = None

    def __repr__(self) -> str:
        return f"<ObliviousHttp {self.url} through {self._relay.url}>"

    def close(self) -> None:
        """Close idle connections."""
        self._relay.close()

    def get(
        self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER, kind: Any = Any
    ) -> Any:
        """The JSON under a path, decoded as a value of this kind only."""
        return parse_json_answer(self.get_bytes(path, params, most=most), kind)

    def get_bytes(self, path: str, params: Mapping[str, object] | None = None, *, most: int = LONGEST_ANSWER) -> bytes:
        """The bytes under a path."""
        target = f"{path}?{http_query(params)}" if params else path
        return self._content(HttpRequest("GET", target), most)

    def post(self, path: str, json: object = None, *, body: bytes | None = None, content_type: str = _JSON) -> Any:
        """Send JSON, or a body of another type; returns the response's JSON, None if it is empty."""
        content = msgspec.json.encode(json) if body is None else body
        headers = ((b"content-type", content_type.encode()),)
        return parse_json_answer(self._content(HttpRequest("POST", path, headers=headers, content=content)))

    def _content(self, request: HttpRequest, most: int = LONGEST_ANSWER) -> bytes:
        response = self._ask(request, most)
        if not 200 <= response.status < 300:
            named = dict(response.headers).get(b"retry-after")
            raise refusal_of(response.status, None if named is None else named.decode("latin-1"), response.content)
        return response.content

    def _ask(self, request: HttpRequest, most: int) -> HttpResponse:
        try:
            return self._relay.ask(self._sealing_key(), request, most)
        except ServiceError as error:
            if error.code != _UNKNOWN_KEY:
                raise
        self._key = None
        return self._relay.ask(self._sealing_key(), request, most)

    def _sealing_key(self) -> KeyConfiguration:
        if self._key is None:
            trusted = self._trust.trusted(self.url)
            key, signer = self._relay.sealing_key(trusted)
            if trusted is None:
                self._trust.pin(self.url, signer)  # before anything is sealed: the survey's key must be the same
            self._key = key
        return self._key


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
        self._strangers: dict[tuple[str, str], CollectorClient] = {}
        if relay is not None:
            self.relay(relay)  # refuses a bad address now

    def collector(self, url: str) -> CollectorClient:
        """The collector at an address."""
        if url not in self._collectors:
            self._collectors[url] = self._connect(url)
        return self._collectors[url]

    def stranger(self, collector: CollectorClient, relay: str) -> CollectorClient:
        """A client that asks the same collector for what is public, the way anybody would.

        Through the owner's relay, or else the given one; empty for none. Without a relay it is the client itself, whose
        requests have connections of their own and say nothing about this device.
        """
        if not relay or self._through is not None:
            return collector
        if (collector.url, relay) not in self._strangers:
            through = ObliviousHttp(collector.url, self.relay(relay), self._trust, insecure=self._network.insecure)
            self._strangers[collector.url, relay] = CollectorClient(through, self._patience, self._effort)
        return self._strangers[collector.url, relay]

    def relay(self, url: str) -> RelayClient:
        """The relay at an address."""
        if url not in self._relays:
            self._relays[url] = RelayClient(self._network.http(url, "relay"), self._patience)
        return self._relays[url]

    def close(self) -> None:
        """Close idle connections."""
        self._strangers.clear()  # they use connections of relays
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
            ).at("relay")
        return CollectorClient(through, self._patience, self._effort)
