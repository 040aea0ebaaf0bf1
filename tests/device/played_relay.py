"""A relay played by the standard library's HTTP server, in front of a played collector."""

from __future__ import annotations

import msgspec

from device.played import Played, Reply, as_json, refusal
from sottovoce.core.errors import ObliviousError
from sottovoce.core.signing import SigningKey
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import KeyConfiguration, sign_keys
from sottovoce.oblivious.messages import open_request

SEALED = {"Content-Type": "message/ohttp-res"}


class PlayedRelay(Played):
    """`boxes` has the messages of every survey in the order of arrival, repetitions included."""

    def __init__(self, collector: Played) -> None:
        super().__init__()
        self.collector = collector
        self.keys = {1: PrivateKey.derive(bytes(32))}
        """The collector's, the newest first."""
        self.boxes: dict[str, list[bytes]] = {}

    def rotate(self, number: int) -> None:
        """The collector publishes a new key, and has forgotten all others."""
        self.keys = {number: PrivateKey.derive(bytes([number]) * 32)}

    def signed(self, signer: SigningKey | None = None) -> bytes:  # type: ignore[override]
        """What GET /v1/keys answers."""
        configurations = tuple(KeyConfiguration(number, key.public) for number, key in self.keys.items())
        return msgspec.json.encode(sign_keys(self.collector.key if signer is None else signer, configurations))

    def opened(self, survey_id: str) -> list[HttpRequest]:
        """The requests in a box, as the collector reads them."""
        return [open_request(self.keys, message).request() for message in self.boxes.get(survey_id, [])]

    def _honest(self, method: str, parts: list[str]) -> Reply:
        match [method, *parts]:
            case ["GET", "v1", "keys"]:
                return 200, {"Content-Type": "application/json"}, self.signed()
            case ["POST", "v1", "requests" | "boxes", *box]:
                try:
                    found = open_request(self.keys, self.bodies[-1])
                except ObliviousError as error:
                    return refusal(422, error.code)
                if box:
                    self.boxes.setdefault(box[0], []).append(self.bodies[-1])
                    return as_json(200, {"accepted": 1})
                return 200, SEALED, found.seal(self._collected(found.request()))
        return refusal(404, "not_found")

    def _collected(self, request: HttpRequest) -> HttpResponse:
        if request.method == "POST":
            self.collector.bodies.append(request.content)
        status, headers, content = self.collector._honest(request.method, request.path.strip("/").split("/"))
        return HttpResponse(status, tuple((n.lower().encode(), v.encode()) for n, v in headers.items()), content)
