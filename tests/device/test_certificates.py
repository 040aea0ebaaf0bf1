"""A server whose certificate is refused: what is said, that nothing was sent, and that SSL_CERT_FILE is honoured."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import sottovoce as sv
from device.conftest import MakeDevice
from device.played import Played
from sottovoce.core.errors import ServiceError
from sottovoce.surveys.survey import Survey

NOW = datetime.datetime.now(datetime.UTC)
DAY = datetime.timedelta(days=1)


def certificate(folder: Path, *, name: x509.GeneralName, until: datetime.datetime) -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "collector")])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(NOW - 30 * DAY)
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([name]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    places = folder / "certificate.pem", folder / "key.pem"
    places[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    places[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return places


def over_tls(played: Played, places: tuple[Path, Path]) -> str:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*places)
    played._server.socket = context.wrap_socket(played._server.socket, server_side=True, do_handshake_on_connect=False)
    played._server.handle_error = lambda *_: None  # a handshake that is broken off is what is tested
    return played.url.replace("http:", "https:")


HERE = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))


@pytest.mark.parametrize(
    ("name", "until", "words"),
    [
        (HERE, NOW + DAY, ("self-signed certificate", "SSL_CERT_FILE", "ca_file")),
        (HERE, NOW - DAY, ("certificate has expired", "must renew it", "clock")),
        (x509.DNSName("stats.example.org"), NOW + DAY, ("is not valid for '127.0.0.1'", "the address that the")),
    ],
    ids=["unknown authority", "expired", "another name"],
)
def test_what_is_wrong_is_said_and_nothing_is_sent(
    played: Played,
    survey: Survey,
    device: MakeDevice,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: x509.GeneralName,
    until: datetime.datetime,
    words: tuple[str, ...],
) -> None:
    places = certificate(tmp_path, name=name, until=until)
    url = over_tls(played, places)
    if "SSL_CERT_FILE" not in words:
        monkeypatch.setenv("SSL_CERT_FILE", str(places[0]))
    with pytest.raises(ServiceError) as caught:
        device().answer(url, survey.id, 7)
    said = str(caught.value)
    assert all(word in said for word in words), said
    assert "was sent nothing" in said
    assert "try again" not in said
    assert caught.value.code == "bad_certificate"
    assert played.requests == []
    with pytest.raises(ServiceError, match="was sent nothing"):
        sv.connect(url, "sv_00000000_" + "A" * 43).surveys()


def test_an_authority_of_one_s_own_is_named_by_the_variable(
    played: Played, survey: Survey, device: MakeDevice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = certificate(tmp_path, name=HERE, until=NOW + DAY)
    url = over_tls(played, places)
    monkeypatch.setenv("SSL_CERT_FILE", str(places[0]))
    assert device().answer(url, survey.id, 7).state == "sent"
    assert [one.title for one in sv.connect(url, "sv_00000000_" + "A" * 43).surveys()] == ["Colours"]
    monkeypatch.delenv("SSL_CERT_FILE")
    other = sv.Survey(sv.shares(3), epsilon=0.1)
    played.publish(other)
    assert device(ca_file=str(places[0])).answer(url, other.id, 1).state == "sent"
