"""vectors/collector.json three times: as the library answers, as a second client answers, as the real service answers.

The second client is written from docs/contributors/wire_format/ alone and shares nothing with the library.
"""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import re
import struct
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

import sottovoce as sv
from collector.service import running
from sottovoce.collector.api.admission import check_token
from sottovoce.collector.intake import checking as intake
from sottovoce.collector.intake.checking import ReportCode
from sottovoce.collector.store.records import TokenRecord
from sottovoce.core import errors
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url
from sottovoce.device.fetch import CollectorClient
from sottovoce.formats import aggregate_bytes
from sottovoce.formats.wire import BATCH_MEDIA_TYPE, encode_batch

VECTORS = Path(__file__).resolve().parents[2] / "vectors"
BODIES_AT_MOST = 10


@cache
def read() -> Any:
    return json.loads((VECTORS / "collector.json").read_text("utf-8"))


def every(part: str, name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", read()[part], ids=lambda case: str(case.get(name, ""))[:40])


def surveys() -> dict[str, Any]:
    stated = [sv.Survey.from_json(one["envelope"]["statement"]) for one in read()["envelopes"]]
    return {survey.id: survey for survey in stated}


class Told:
    """A collector that answers with one thing."""

    url = "https://collector.example"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def get(self, path: str, *, most: int, kind: Any) -> Any:
        return self.answer


# --- as the library answers -----------------------------------------------------------------


def key() -> SigningKey:
    return SigningKey(bytes.fromhex(read()["key"]["private"]))


def test_the_key() -> None:
    assert to_base64url(key().public) == read()["key"]["public"]
    assert fingerprint(key().public) == read()["key"]["fingerprint"]


@every("envelopes", "tag")
def test_the_library_takes_good_envelopes(case: dict[str, Any]) -> None:
    told = case["envelope"]
    found = CollectorClient(Told(told)).survey(told["id"], key().public).survey
    assert (found.id, found.to_json()) == (told["id"], told["statement"])
    assert to_base64url(key().sign(found.canonical)) == told["signature"]


@every("bad_envelopes", "fault")
def test_the_library_refuses_bad_envelopes(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        CollectorClient(Told(case["envelope"])).survey(case["asked"], key().public)


@every("bad_keys", "fault")
def test_the_library_refuses_keys_that_anybody_can_sign_for(case: dict[str, Any]) -> None:
    for trusted in (None, bytes_of(case["envelope"]["key"])):
        with pytest.raises(getattr(errors, case["error"])):
            CollectorClient(Told(case["envelope"])).survey(case["asked"], trusted)


@every("bad_rounds", "fault")
def test_the_library_refuses_bad_rounds(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        CollectorClient(Told(case["envelope"])).latest_round(surveys()[case["survey"]], key().public)


@every("batches", "survey")
def test_the_library_writes_batches(case: dict[str, Any]) -> None:
    pairs = [(bytes.fromhex(one["id"]), bytes.fromhex(one["report"])) for one in case["reports"]]
    assert encode_batch(case["survey"], pairs).hex() == case["body"]
    surveys()[case["survey"]].aggregate().add([report for _, report in pairs])


@every("aggregates", "survey")
def test_the_library_writes_and_reads_aggregates(case: dict[str, Any]) -> None:
    survey = surveys()[case["survey"]]
    aggregate = survey.aggregate().add([bytes.fromhex(report) for report in case["reports"]])
    assert aggregate.counts.tolist() == case["counts"]
    assert aggregate_bytes.to_bytes(aggregate).hex() == case["bytes"]
    assert aggregate_bytes.from_bytes(survey, bytes.fromhex(case["bytes"])) == aggregate


@every("bad_aggregates", "fault")
def test_the_library_refuses_bad_aggregates(case: dict[str, Any]) -> None:
    with pytest.raises(getattr(errors, case["error"])):
        aggregate_bytes.from_bytes(surveys()[case["survey"]], bytes.fromhex(case["bytes"]))


@every("tokens", "id")
def test_the_library_knows_a_token_by_what_is_kept(case: dict[str, Any]) -> None:
    class Kept:
        def token(self, token_id: str) -> TokenRecord | None:
            kept = TokenRecord(case["id"], bytes.fromhex(case["kept"]), frozenset({"read"}), "", 0)
            return kept if token_id == kept.id else None

    assert check_token(Kept(), case["token"]) is not None
    assert check_token(Kept(), case["token"][:-1] + ("B" if case["token"][-1] == "A" else "A")) is None


# --- as a second client answers -------------------------------------------------------------


def verified(told: dict[str, Any], asked: str, trusted: bytes) -> dict[str, Any]:
    """The statement of an envelope, or ValueError; written from the page."""
    if bytes_of(told["key"]) != trusted or is_weak(trusted):
        raise ValueError("key")
    statement, signature = told["statement"].encode(), bytes_of(told["signature"])
    try:
        Ed25519PublicKey.from_public_bytes(trusted).verify(signature, b"sottovoce survey 1\0" + statement)
    except InvalidSignature:
        raise ValueError("signature") from None
    if hashlib.sha256(statement).hexdigest() != asked:
        raise ValueError("id")
    return dict(json.loads(statement))


def is_weak(key: bytes) -> bool:
    """Whether anybody can sign for a key, or it has a second spelling: on the curve, 8 P is the neutral element or not.

    Heights of small order from doubling: on -x^2 + y^2 = 1 + d x^2 y^2 the doubled point lies at
    (y^2 + x^2)/(2 + x^2 - y^2), and x^2 follows from y. Written without the list that the library has.
    """
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p)
    y = int.from_bytes(key, "little") % 2**255
    for _ in range(3 if y < p else 0):
        square = (y * y - 1) * pow(d * y * y + 1, -1, p)
        y = (y * y + square) * pow(2 + square - y * y, -1, p) % p
    return y >= p or y == 1


def bytes_of(text: str) -> bytes:
    if not re.fullmatch("[0-9A-Za-z_-]*", text):
        raise ValueError("base64url")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(raw).rstrip(b"=").decode() != text:
        raise ValueError("base64url")
    return raw


@every("envelopes", "tag")
def test_a_second_client_takes_good_envelopes(case: dict[str, Any]) -> None:
    told, trusted = case["envelope"], bytes_of(read()["key"]["public"])
    assert verified(told, told["id"], trusted)["format"] == 2
    assert case["tag"] in (None, told["id"][:8])
    private = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(read()["key"]["private"]))
    assert private.sign(b"sottovoce survey 1\0" + told["statement"].encode()) == bytes_of(told["signature"])


# What is signed and still wrong takes a parser of statements; the client of the page has one.
@pytest.mark.parametrize(
    "case",
    [one for one in read()["bad_envelopes"] if not one["fault"].endswith(", signed")],
    ids=lambda case: case["fault"],
)
def test_a_second_client_refuses_bad_envelopes(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"key|signature|id|base64url"):
        verified(case["envelope"], case["asked"], bytes_of(read()["key"]["public"]))


@every("bad_keys", "fault")
def test_a_second_client_refuses_bad_keys(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="key"):
        verified(case["envelope"], case["asked"], bytes_of(case["envelope"]["key"]))


@every("batches", "survey")
def test_a_second_client_writes_the_same_bodies(case: dict[str, Any]) -> None:
    rows = [bytes.fromhex(one["id"]) + bytes.fromhex(one["report"]) for one in case["reports"]]
    assert {len(row) for row in rows} == {16 + 4 + case["report_bytes"]}
    assert (b"SVR1" + bytes.fromhex(case["survey"]) + b"".join(rows)).hex() == case["body"]
    told = [(one["id"], bytes_of(one["report"]).hex()) for one in json.loads(case["json"])["reports"]]
    assert told == [(one["id"], one["report"]) for one in case["reports"]]


def counts_of(data: bytes, survey_id: str, cells: int) -> list[int]:
    """The counts of an aggregate, or ValueError; written from the page."""
    head = 4 + 32 + 8 + 8
    if len(data) != head + 8 * cells + 32 or data[:4] != b"SVA\1" or data[4:36].hex() != survey_id:
        raise ValueError("no aggregate of this survey")
    if struct.unpack_from("<Q", data, 44)[0] != cells or hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("damaged")
    return list(struct.unpack_from(f"<{cells}q", data, head))


def test_a_second_client_reads_aggregates() -> None:
    for case in read()["aggregates"]:
        data, cells = bytes.fromhex(case["bytes"]), len(case["counts"])
        assert counts_of(data, case["survey"], cells) == case["counts"]
        assert struct.unpack_from("<Q", data, 36)[0] == len(case["reports"])
    for case in read()["bad_aggregates"]:
        with pytest.raises(ValueError, match=r"aggregate|damaged"):
            counts_of(bytes.fromhex(case["bytes"]), case["survey"], 3)


def test_tokens_are_kept_as_the_page_says() -> None:
    for case in read()["tokens"]:
        prefix, token_id, secret = case["token"].split("_", 2)
        assert (prefix, token_id, len(bytes_of(secret))) == ("sv", case["id"], 32)
        assert hashlib.sha256(secret.encode()).hexdigest() == case["kept"]


# --- as the real service answers ------------------------------------------------------------


def test_the_service_answers_every_body_as_it_must(tmp_path: Path) -> None:
    colours, ages, people, young, hidden = surveys().values()
    flags = "--max-batch-reports", str(BODIES_AT_MOST), "--minimum-reports", "1"
    with running(tmp_path / "data", *flags) as service:
        for survey in (colours, ages, people, hidden):
            service.publish(survey)
        first = sv.adaptive.round_of(people, 1, "age < 18")
        for number, asked in ((1, first), (2, young)):
            opened = service.ask("POST", f"/v1/surveys/{people.id}/rounds", json={"statement": asked.to_json()})
            assert opened.status == 201, (number, opened)
            if number == 1:
                assert service.ask("POST", f"/v1/surveys/{asked.id}/seal").status == 200
        for case in read()["bodies"]:
            sent = bytes.fromhex(case["body"]) if "body" in case else case["json"].encode()
            kind = BATCH_MEDIA_TYPE if "body" in case else "application/json"
            answer = service.ask(
                "POST",
                f"/v1/surveys/{case['survey']}/reports",
                body=sent,
                headers={"Authorization": "", "Content-Type": kind},
            )
            assert answer.status == case["status"], (case, answer)
            if "code" in case:
                assert answer.json["error"]["code"] == case["code"], case
            else:
                told = [{"position": one["position"], "code": one["code"]} for one in answer.json["refused"]]
                assert (answer.json["accepted"], told) == (case["accepted"], case["refused"]), case


def test_every_verdict_has_a_body() -> None:
    verdicts = {code for part in get_args(ReportCode) for code in (get_args(part) or (part,))}
    assert {one["code"] for case in read()["bodies"] for one in case.get("refused", ())} == verdicts
    raised = set(re.findall(r'Refusal\(\s*\d+,\s*"(\w+)"', inspect.getsource(intake)))
    # These depend on a survey's state, calendar or groups; the tests of intake, of periods and of groups have them.
    elsewhere = {"survey_deleted", "survey_grouped", "survey_sealed", "survey_tracking"}
    assert {case["code"] for case in read()["bodies"] if "code" in case} == raised - elsewhere
