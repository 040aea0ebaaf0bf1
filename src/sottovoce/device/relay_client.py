"""What a device says to a relay: requests and reports, sealed to the collector, so that the relay reads neither.

Nothing here falls back to anything: without a sealing key that the collector's own key has signed, nothing is sent.
"""

from __future__ import annotations

from typing import Final, final

import msgspec

from sottovoce.core.errors import ObliviousError, ServiceError, SignatureError
from sottovoce.core.signing import PUBLIC_KEY_BYTES, fingerprint, from_base64url
from sottovoce.device.http import BAD_ANSWER, Http, check_confirmed
from sottovoce.device.patience import Patience
from sottovoce.device.store import RecordedAnswer
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse
from sottovoce.oblivious.key_configuration import KeyConfiguration
from sottovoce.oblivious.messages import REQUEST_MEDIA_TYPE, SealedRequest, seal_request
from sottovoce.oblivious.signed_keys import SignedKeys, read_signed_keys

__all__ = ["UNKNOWN_KEY", "RelayClient"]

UNKNOWN_KEY: Final = "unknown_key"
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
        How requests are retried.
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
            if error.code != UNKNOWN_KEY:
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
