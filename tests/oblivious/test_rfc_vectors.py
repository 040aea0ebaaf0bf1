"""The published examples: RFC 9180 (A.1.1), RFC 9292 (Sec. 5) and RFC 9458 (Appendix A)."""

from __future__ import annotations

from sottovoce.oblivious.binary_http import (
    HttpRequest,
    HttpResponse,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
)
from sottovoce.oblivious.hpke import HpkeContext, PrivateKey, set_up_recipient, set_up_sender
from sottovoce.oblivious.key_configuration import KeyConfiguration, decode_configurations, encode_configurations
from sottovoce.oblivious.messages import _open_response, _seal, _seal_response, open_request


def raw(text: str) -> bytes:
    return bytes.fromhex(text)


EPHEMERAL = raw("7268600d403fce431561aef583ee1613527cff655c1343f29812e66706df3234")
RECIPIENT = raw("6db9df30aa07dd42ee5e8181afdb977e538f5e1fec8a06223f33f7013e525037")
INFO = b"Ode on a Grecian Urn"
PLAINTEXT = b"Beauty is truth, truth beauty"
CIPHERTEXT = raw("f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a")


def contexts() -> list[HpkeContext]:
    sender, recipient = PrivateKey.derive(EPHEMERAL), PrivateKey.derive(RECIPIENT)
    return [set_up_sender(recipient.public, INFO, sender), set_up_recipient(sender.public, recipient, INFO)]


def test_hpke_derives_the_key_pairs() -> None:
    sender, recipient = PrivateKey.derive(EPHEMERAL), PrivateKey.derive(RECIPIENT)
    assert sender.private_bytes().hex() == "52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736"
    assert sender.public.hex() == "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
    assert recipient.private_bytes().hex() == "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8"
    assert recipient.public.hex() == "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d"


def test_hpke_seals_and_opens() -> None:
    for context in contexts():
        assert context.seal(PLAINTEXT, b"Count-0") == CIPHERTEXT
        assert context.open(CIPHERTEXT, b"Count-0") == PLAINTEXT


def test_hpke_exports() -> None:
    exported = {
        b"": "3853fe2b4035195a573ffc53856e77058e15d9ea064de3e59f4961d0095250ee",
        b"\0": "2e8f0b54673c7029649d4eb9d5e33bf1872cf76d623ff164ac185da9e88c21a5",
        b"TestContext": "e9e43065102c3836401bed8c3c3c75ae46be1639869391d62c61f1ec7af54931",
    }
    for context in contexts():
        assert {name: context.export(name, 32).hex() for name in exported} == exported


def test_binary_http_request() -> None:
    encoded = raw(
        "0003474554056874747073000a2f68656c6c6f2e747874406c0a757365722d6167656e74346375726c2f372e31362e33206c6962"
        "6375726c2f372e31362e33204f70656e53534c2f302e392e376c207a6c69622f312e322e3304686f73740f7777772e6578616d70"
        "6c652e636f6d0f6163636570742d6c616e677561676506656e2c206d690000"
    )
    headers = (
        (b"user-agent", b"curl/7.16.3 libcurl/7.16.3 OpenSSL/0.9.7l zlib/1.2.3"),
        (b"host", b"www.example.com"),
        (b"accept-language", b"en, mi"),
    )
    request = HttpRequest("GET", "/hello.txt", headers=headers)
    assert encode_request(request) == encoded
    # Empty parts at the end may be absent, and zeros may follow.
    assert {decode_request(same) for same in (encoded, encoded[:-2], encoded + bytes(9))} == {request}


def test_binary_http_response() -> None:
    encoded = raw("0140c8001d5468697320636f6e74656e7420636f6e7461696e732043524c462e0d0a0d07747261696c65720474657874")
    response = HttpResponse(200, (), b"This content contains CRLF.\r\n", ((b"trailer", b"text"),))
    assert encode_response(response) == encoded
    assert decode_response(encoded) == response
    early = b"\x01" + raw("4066") + raw("00") + encoded[1:]
    assert decode_response(early) == response, "an interim response is passed over"


def test_a_whole_exchange() -> None:
    key = PrivateKey(raw("3c168975674b2fa8e465970b79c8dcf09f1c741626480bd4c6162fc5b6a98e1a"))
    published = raw("01002031e1f05a740102115220e9af918f738674aec95f54db6e04eb705aae8e79815500080001000100010003")
    configuration = KeyConfiguration(1, key.public, ((1, 1), (1, 3)))
    assert configuration.encode() == published
    assert decode_configurations(encode_configurations([configuration])) == (configuration,)

    plaintext = raw("00034745540568747470730b6578616d706c652e636f6d012f")
    assert decode_request(plaintext) == HttpRequest("GET", "/", authority="example.com")
    ephemeral = PrivateKey(raw("bc51d5e930bda26589890ac7032f70ad12e4ecb37abb1b65b1256c9c48999c73"))
    sealed = _seal(configuration, plaintext, ephemeral)
    assert sealed.message.hex() == (
        "010020000100014b28f881333e7c164ffc499ad9796f877f4e1051ee6d31bad19dec96c208b4726374e469135906992e1268c594"
        "d2a10c695d858c40a026e7965e7d86b83dd440b2c0185204b4d63525"
    )
    opened = open_request({1: key}, sealed.message)
    assert opened.plaintext == plaintext

    response = raw("c789e7151fcba46158ca84b04464910d86f9013e404feea014e7be4a441f234f857fbd")
    assert _seal_response(opened._context, raw("0140c8"), response[:16]) == response
    assert _open_response(opened._context, response) == raw("0140c8")
    assert sealed.open(response) == HttpResponse(200)
