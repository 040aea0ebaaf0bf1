"""vectors/oblivious.json: sealed messages, their responses, and the collector's signed keys, good and bad."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

import sottovoce as sv
from sottovoce.core.errors import ObliviousError, SignatureError
from sottovoce.core.signing import SigningKey, to_base64url
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch
from sottovoce.oblivious.binary_http import HttpRequest, HttpResponse, encode_request, encode_response
from sottovoce.oblivious.hpke import PrivateKey
from sottovoce.oblivious.key_configuration import (
    KeyConfiguration,
    encode_configurations,
    read_signed_keys,
    sign_keys,
)
from sottovoce.oblivious.messages import (
    MESSAGE_SIZES,
    SealedRequest,
    _ephemeral,
    _seal,
    _seal_response,
    open_request,
    seal_request,
)
from sottovoce.protocol.reports import SignedKeys

__all__ = ["oblivious_vectors"]

ABOUT = (
    "Oblivious HTTP (RFC 9458) with DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. A device with this secret "
    "seals these requests to exactly these messages, and reads these responses and signed keys, and no bad one. "
    "The content of a request is `content`, repeated `times`."
)


def _bytes(label: str, length: int = 32) -> bytes:
    return hashlib.shake_256(label.encode()).digest(length)


def oblivious_vectors() -> dict[str, Any]:
    """The whole file."""
    key = PrivateKey.derive(_bytes("collector"))
    ours = KeyConfiguration(7, key.public)
    two = KeyConfiguration(8, PrivateKey.derive(_bytes("another")).public, ((1, 1), (1, 3)))
    secret = _bytes("device")
    first, *others = [_sealed(one, key, request, secret) for one, request in _requests(ours, two)]
    return {
        "about": ABOUT,
        "sizes": list(MESSAGE_SIZES),
        "device_secret": secret.hex(),
        "sealed": [first, *({k: v for k, v in one.items() if k not in ("plaintext", "message")} for one in others)],
        "responses": _responses(ours, key, secret),
        "keys": _keys(ours, two),
    }


def _requests(ours: KeyConfiguration, two: KeyConfiguration) -> list[tuple[KeyConfiguration, HttpRequest]]:
    survey = sv.Survey(sv.shares(["tea", "coffee", "water"]), epsilon=2.0, title="sealed")
    report = survey.tag + bytes(survey.mechanism.codec.width)
    body = encode_batch(survey.id, [(_bytes("report id", 16), report)])
    headers = ((b"content-type", BATCH_MEDIA_TYPE.encode()),)
    answer = HttpRequest("POST", f"/v1/surveys/{survey.id}/reports", headers=headers, content=body)
    # The longest that fits into the smallest size, and one byte more.
    full = MESSAGE_SIZES[0] - 55 - len(encode_request(HttpRequest("PUT", "/", content=bytes(100)))) + 100
    longer = [HttpRequest("PUT", "/", content=b"s" * length) for length in (full, full + 1, 5000, 60000)]
    return [(ours, answer), (two, answer), (ours, HttpRequest("GET", "/v1/surveys?page=2"))] + [
        (ours, request) for request in longer
    ]


def _sealed(configuration: KeyConfiguration, key: PrivateKey, request: HttpRequest, secret: bytes) -> dict[str, Any]:
    message = seal_request(configuration, request, secret).message
    plaintext = encode_request(request).ljust(len(message) - 55, b"\0")
    if configuration.public == key.public:
        assert open_request({configuration.key_id: key}, message).plaintext == plaintext
    return {
        "configuration": configuration.encode().hex(),
        "request": _described(request),
        "ephemeral_public": _ephemeral(configuration, plaintext, secret).public.hex(),
        "size": len(message),
        "sha256": hashlib.sha256(message).hexdigest(),
        "plaintext": plaintext.hex(),
        "message": message.hex(),
    }


def _described(request: HttpRequest) -> dict[str, Any]:
    uniform = len(set(request.content)) == 1
    return {
        "method": request.method,
        "scheme": request.scheme,
        "authority": request.authority,
        "path": request.path,
        "headers": [[name.decode(), value.decode()] for name, value in request.headers],
        "content": (request.content[:1] if uniform else request.content).hex(),
        "times": len(request.content) if uniform else 1,
    }


def _responses(configuration: KeyConfiguration, key: PrivateKey, secret: bytes) -> dict[str, Any]:
    request = HttpRequest("GET", "/v1/key")
    sealed = seal_request(configuration, request, secret)
    opened = open_request({configuration.key_id: key}, sealed.message)
    response = HttpResponse(200, ((b"content-type", b"application/json"),), b'{"key":"..."}')
    plaintext = encode_response(response).ljust(96, b"\0")
    good = _seal_response(opened._context, plaintext, _bytes("response nonce", 16))
    bad = {
        "cut short": good[:-1],
        "altered": good[:20] + bytes([good[20] ^ 1]) + good[21:],
        "only a nonce": good[:16],
        "empty": b"",
        "nonzero padding": _seal_response(opened._context, plaintext[:-1] + b"x", _bytes("nonce", 16)),
        "a request": _seal_response(opened._context, encode_request(request), _bytes("nonce", 16)),
        "a status that is none": _seal_response(opened._context, b"\1\x43\x00", _bytes("nonce", 16)),
        "of another request": _other(configuration, key, plaintext),
    }
    for one in bad.values():
        _refused(sealed, one)
    return {
        "request": _described(request),
        "configuration": configuration.encode().hex(),
        "good": {"sealed": good.hex(), "status": 200, "content": response.content.hex()},
        "bad": [{"what": what, "sealed": one.hex()} for what, one in bad.items()],
    }


def _other(configuration: KeyConfiguration, key: PrivateKey, plaintext: bytes) -> bytes:
    other = _seal(configuration, encode_request(HttpRequest("GET", "/")), PrivateKey.derive(_bytes("other")))
    opened = open_request({configuration.key_id: key}, other.message)
    return _seal_response(opened._context, plaintext, _bytes("response nonce", 16))


def _refused(sealed: SealedRequest, response: bytes) -> None:
    try:
        sealed.open(response)
    except ObliviousError:
        return
    raise AssertionError("a bad response was accepted")


def _keys(ours: KeyConfiguration, two: KeyConfiguration) -> dict[str, Any]:
    signing = SigningKey(_bytes("signing"))
    good = sign_keys(signing, (ours, two))
    stranger = sign_keys(SigningKey(_bytes("stranger")), (ours,))
    p256 = bytes([9]) + (0x0010).to_bytes(2) + b"\4" + bytes(64) + (4).to_bytes(2) + bytes([0, 1, 0, 1])
    mixed = len(p256).to_bytes(2) + p256 + encode_configurations([ours])
    other = KeyConfiguration(3, ours.public, ((1, 3),))
    encoded = encode_configurations([ours])
    survey = to_base64url(signing.sign(encode_configurations([ours, two])))
    damaged = {"cut short": encoded[:-1], "no suite": encoded[:37] + bytes(2), "empty": b"", "one byte": b"\0"}
    bad: dict[str, bytes] = {
        "signed by another key, and says so": msgspec.json.encode(stranger),
        "signed by another key": msgspec.json.encode({**msgspec.structs.asdict(stranger), "key": good.key}),
        "signed as a survey": msgspec.json.encode({**msgspec.structs.asdict(good), "signature": survey}),
        "a field too many": msgspec.json.encode({**msgspec.structs.asdict(good), "more": 1}),
        "no JSON": b"{",
        "only other algorithms": _signed(signing, encode_configurations([other])),
        **{what: _signed(signing, one) for what, one in damaged.items()},
    }
    for body in bad.values():
        try:
            read_signed_keys(body, signing.public)
        except (ObliviousError, SignatureError):
            continue
        raise AssertionError("bad keys were accepted")
    assert read_signed_keys(_signed(signing, mixed), signing.public) == (ours,)
    return {
        "pinned": signing.public.hex(),
        "good": [
            {"body": msgspec.json.encode(good).decode(), "configurations": [ours.encode().hex(), two.encode().hex()]},
            {"body": _signed(signing, mixed).decode(), "configurations": [ours.encode().hex()]},
        ],
        "bad": [{"what": what, "body": body.decode()} for what, body in bad.items()],
    }


def _signed(signing: SigningKey, encoded: bytes) -> bytes:
    signature = signing.sign(encoded, b"sottovoce keys\n")
    return msgspec.json.encode(SignedKeys(to_base64url(encoded), to_base64url(signature), to_base64url(signing.public)))
