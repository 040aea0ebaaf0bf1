"""Requests to a collector through a relay: no connection goes to the collector, and the relay cannot read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, final

import msgspec

from sottovoce.core.errors import ServiceError
from sottovoce.device.http import LONGEST_ANSWER, collector_url, http_query, parse_json_answer, refusal_of
from sottovoce.device.relay_client import UNKNOWN_KEY, RelayClient
from sottovoce.device.trust import Trust
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse
from sottovoce.oblivious.key_configuration import KeyConfiguration

__all__ = ["ObliviousHttp"]

_JSON: Final = "application/json"


@final
class ObliviousHttp:
    """What `CollectorClient` needs of `Http`, over a relay. The collector's address names whom to trust, no more.

    Parameters
    ----------
    url
        The collector's address; it is not connected to, and not sent.
    relay
        The relay, which is in front of that collector.
    trust
        Whose signature the sealing keys must have; the first key seen is pinned if there is none.
    insecure
        As for `collector_url`.
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
            if error.code != UNKNOWN_KEY:
                raise
        self._key = None
        return self._relay.ask(self._sealing_key(), request, most)

    def _sealing_key(self) -> KeyConfiguration:
        if self._key is None:
            trusted = self._trust.trusted(self.url)
            found, signer = self._relay.sealing_key(trusted)
            if trusted is None:
                self._trust.pin(self.url, signer)  # before anything is sealed: the survey's key must be the same
            self._key = found
        return self._key
