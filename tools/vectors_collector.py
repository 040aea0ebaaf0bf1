"""Vectors of what travels between devices, the collector and analysts: signatures, batches, aggregates, tokens.

Ed25519 signatures are deterministic, and the key is a fixed one that no collector must ever use.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import sottovoce as sv
from sottovoce.collector.intake.checking import Intake
from sottovoce.collector.intake.survey_cache import SurveyCache
from sottovoce.collector.store.records import SurveyRecord
from sottovoce.core.errors import SottovoceError
from sottovoce.core.signing import SigningKey, fingerprint, to_base64url
from sottovoce.device.fetch import CollectorClient
from sottovoce.formats import aggregate_bytes
from sottovoce.formats.wire import REPORT_ID_BYTES, encode_batch
from sottovoce.randomness import ByteSource
from sottovoce.service.refusal import Refusal

__all__ = ["collector_vectors"]

Tape = Callable[[str], Any]
Envelope = dict[str, Any]
Pair = tuple[bytes, bytes]

KEY = SigningKey(bytes(range(32)))
OTHER = SigningKey(bytes(range(1, 33)))

FIELD, GROUP = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
"""The prime of Ed25519's field, and the number of points that its base point reaches (RFC 8032)."""

EIGHTH = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
"""Height of two points of order 8."""

MOST = 10
"""Most reports that a body may hold, where these bodies are judged."""

COLOURS = sv.Survey(
    sv.shares(["red", "green", "blue"]), epsilon=1.0, mechanism="randomized_response", title="Farbe, “sotto voce”"
)
AGES = sv.Survey(sv.shares(range(18, 118)), epsilon=2.0, mechanism="unary_optimized", title="Age")
PEOPLE = sv.Panel({"age": range(100), "country": ["DE", "FR"]}, rounds=4, epsilon=1.0, title="People")
YOUNG = sv.adaptive.round_of(PEOPLE, 2, "age < 30")
RELAY = sv.Relay("https://relay.example.org", 1000)
HIDDEN = sv.Survey(
    sv.shares(["no", "yes"]), epsilon=1.0, mechanism="randomized_response", title="Through a relay", relay=RELAY
)
STRANGERS = sv.Panel({"age": range(100)}, rounds=4, epsilon=1.0)


def collector_vectors(tape: Tape) -> dict[str, Any]:
    """Everything; `tape` makes a recorder of known bytes from a label."""
    return {
        "about": "What travels over HTTP, good and bad; vectors/README.md says what each part is.",
        "key": {
            "private": bytes(range(32)).hex(),
            "public": to_base64url(KEY.public),
            "fingerprint": fingerprint(KEY.public),
        },
        "envelopes": [
            {"tag": survey.tag.hex() if isinstance(survey, sv.Survey) else None, "envelope": envelope(survey)}
            for survey in (COLOURS, AGES, PEOPLE, YOUNG, HIDDEN)
        ],
        "bad_envelopes": [_refused_envelope(*case) for case in _bad_envelopes()],
        "bad_keys": [_refused_key(*case) for case in _bad_keys()],
        "bad_rounds": [_refused_round(*case) for case in _bad_rounds()],
        "batches": [_batch(survey, n, tape) for survey, n in ((COLOURS, 1), (COLOURS, 3), (AGES, 2), (YOUNG, 1))],
        "bodies": [_judged(*case) for case in (*_binary(tape), *_json(tape))],
        "aggregates": [
            _aggregate(survey, n, tape) for survey, n in ((COLOURS, 0), (COLOURS, 5), (AGES, 3), (YOUNG, 4))
        ],
        "bad_aggregates": [_refused_aggregate(*case) for case in _bad_aggregates(tape)],
        "tokens": [_token(number, tape) for number in range(3)],
    }


# --- surveys as they are signed ---------------------------------------------------------------


def envelope(survey: Any, key: SigningKey = KEY, statement: str | None = None) -> Envelope:
    """A survey as a collector answers with it; `statement` in place of its canonical form."""
    text = survey.to_json() if statement is None else statement
    return {
        "id": hashlib.sha256(text.encode()).hexdigest(),
        "statement": text,
        "signature": to_base64url(key.sign(text.encode())),
        "key": to_base64url(key.public),
        "attachments": [],
        "state": "open",
    }


def _bad_envelopes() -> Iterator[tuple[str, Envelope]]:
    good = envelope(COLOURS)
    yield "another key, which signed it", envelope(COLOURS, OTHER)
    yield "another key's signature", {**good, "signature": envelope(COLOURS, OTHER)["signature"]}
    yield "another survey's signature", {**good, "signature": envelope(AGES)["signature"]}
    bare = KEY._private.sign(COLOURS.canonical)
    yield "a signature over the statement alone", {**good, "signature": to_base64url(bare)}
    yield "a signature that is too short", {**good, "signature": good["signature"][:-4]}
    yield "a larger epsilon", {**good, "statement": good["statement"].replace('"epsilon":1', '"epsilon":2')}
    yield "another survey than was asked for", {**good, "id": AGES.id}
    yield "spaces, signed", envelope(COLOURS, statement=json.dumps(json.loads(good["statement"]), ensure_ascii=False))
    yield (
        "a number in another spelling, signed",
        envelope(COLOURS, statement=good["statement"].replace('"epsilon":1', '"epsilon":1.0')),
    )
    yield (
        "an unknown mechanism, signed",
        envelope(COLOURS, statement=good["statement"].replace("randomized_response", "honest_answer")),
    )
    yield "a text that is no JSON, signed", envelope(COLOURS, statement="survey")


def _bad_keys() -> Iterator[tuple[str, bytes]]:
    """Keys under which one signature holds for every message, or for one in a few: anybody can sign."""
    heights = {
        "a key of order 1": 1,
        "a key of order 2": FIELD - 1,
        "a key of order 4": 0,
        "the other key of order 4": 2**255,
        "a key of order 8": EIGHTH,
        "another key of order 8": FIELD - EIGHTH + 2**255,
        "a second spelling of the key of order 1": FIELD + 1,
        "a second spelling of a key of order 4": FIELD,
    }
    for fault, height in heights.items():
        yield fault, height.to_bytes(32, "little")


def _forged(key: bytes) -> Envelope:
    """A survey that nobody signed, under a key P with 8 P = 0: R = 0 and s = 0 hold wherever k P = 0.

    That is where k, the hash that Ed25519 makes of R, the key and the message, is a multiple of 8.
    """
    signature = (1).to_bytes(32, "little") + bytes(32)
    for number in count():
        survey = sv.Survey(
            sv.shares(["red", "green"]), epsilon=1.0, mechanism="randomized_response", title=f"Forged {number}"
        )
        signed = hashlib.sha512(signature[:32] + key + b"sottovoce survey 1\0" + survey.canonical).digest()
        if int.from_bytes(signed, "little") % GROUP % 8 == 0:
            break
    return {**envelope(survey), "key": to_base64url(key), "signature": to_base64url(signature)}


def _refused_key(fault: str, key: bytes) -> dict[str, Any]:
    told = _forged(key)
    error = _error(fault, lambda: CollectorClient(_Told(told)).survey(told["id"], None))  # type: ignore[arg-type]
    return {"fault": fault, "asked": told["id"], "envelope": told, "error": error}


class _Told:
    """A collector that answers with one thing, whatever it is asked."""

    url = "https://collector.example"

    def __init__(self, answer: Envelope) -> None:
        self._answer = answer

    def get(self, path: str, *, most: int, kind: Any) -> Envelope:
        return self._answer


def _refused_envelope(fault: str, told: Envelope) -> dict[str, Any]:
    error = _error(fault, lambda: CollectorClient(_Told(told)).survey(told["id"], KEY.public))  # type: ignore[arg-type]
    return {"fault": fault, "asked": told["id"], "envelope": told, "error": error}


def _bad_rounds() -> Iterator[tuple[str, Envelope]]:
    yield "a round of another panel", envelope(sv.adaptive.round_of(STRANGERS, 2, "age < 30"))
    yield "a survey that is no round", envelope(COLOURS)
    yield "the panel itself", envelope(PEOPLE)
    yield "a round signed by another key", envelope(YOUNG, OTHER)


def _refused_round(fault: str, told: Envelope) -> dict[str, Any]:
    error = _error(fault, lambda: CollectorClient(_Told(told)).latest_round(PEOPLE, KEY.public))  # type: ignore[arg-type]
    return {"fault": fault, "survey": PEOPLE.id, "envelope": told, "error": error}


def _error(fault: str, attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except SottovoceError as error:
        return type(error).__name__
    raise ValueError(f"{fault} is accepted")


# --- reports ----------------------------------------------------------------------------------


def _pairs(survey: Any, n: int, tape: Tape) -> list[Pair]:
    """Report ids and reports drawn from known bytes."""
    mechanism = survey.mechanism
    found = []
    for number in range(n):
        recorder = tape(f"sottovoce collector {survey.id} {number}")
        report_id = recorder(REPORT_ID_BYTES)
        given: Any = [float(number % 2)] if survey is YOUNG else number % 3
        payload = mechanism.encode(mechanism.randomize(given, ByteSource(recorder)))
        found.append((report_id, survey.tag + payload))
    return found


def _written(pair: Pair) -> dict[str, str]:
    return {"id": pair[0].hex(), "report": to_base64url(pair[1])}


def _batch(survey: Any, n: int, tape: Tape) -> dict[str, Any]:
    pairs = _pairs(survey, n, tape)
    return {
        "survey": survey.id,
        "report_bytes": survey.mechanism.report_bytes,
        "reports": [{"id": report_id.hex(), "report": report.hex()} for report_id, report in pairs],
        "body": encode_batch(survey.id, pairs).hex(),
        "json": json.dumps({"reports": [_written(pair) for pair in pairs]}),
    }


def _binary(tape: Tape) -> Iterator[tuple[str, Any, bytes]]:
    pairs = _pairs(COLOURS, 3, tape)
    good, (first, report) = encode_batch(COLOURS.id, pairs), pairs[0]
    yield "three reports", COLOURS, good
    yield "the same report three times", COLOURS, encode_batch(COLOURS.id, [pairs[0]] * 3)
    yield "an id of zeros", COLOURS, encode_batch(COLOURS.id, [(bytes(16), report)])
    yield "empty", COLOURS, b""
    yield "other letters in front", COLOURS, b"SVR2" + good[4:]
    yield "a header alone", COLOURS, encode_batch(COLOURS.id, [])
    yield "a header cut short", COLOURS, good[:35]
    yield "a byte too few", COLOURS, good[:-1]
    yield "a byte too many", COLOURS, good + b"\0"
    yield "another survey's header", COLOURS, encode_batch(AGES.id, pairs)
    yield "another survey's batch", COLOURS, encode_batch(AGES.id, _pairs(AGES, 1, tape))
    yield (
        "another survey's tag in the second row",
        COLOURS,
        encode_batch(COLOURS.id, [pairs[0], (pairs[1][0], AGES.tag + report[4:]), pairs[2]]),
    )
    yield "a value that is too large, alone", COLOURS, encode_batch(COLOURS.id, [(first, COLOURS.tag + b"\3")])
    yield (
        "unused bits in the last of two",
        AGES,
        encode_batch(AGES.id, [_pairs(AGES, 1, tape)[0], (first, AGES.tag + bytes(12) + b"\x10")]),
    )
    yield "a bit that is neither 0 nor 1", YOUNG, encode_batch(YOUNG.id, [(first, YOUNG.tag + b"\2")])
    yield "as many as may be", COLOURS, encode_batch(COLOURS.id, [pairs[0]] * MOST)
    yield "one more than may be", COLOURS, encode_batch(COLOURS.id, [pairs[0]] * (MOST + 1))
    yield "reports of a panel itself", PEOPLE, encode_batch(PEOPLE.id, [(first, report)])
    yield "sent directly to a survey with a relay", HIDDEN, encode_batch(HIDDEN.id, _pairs(HIDDEN, 1, tape))
    yield "a survey that nobody published", STRANGERS, encode_batch(STRANGERS.id, [(first, report)])


def _json(tape: Tape) -> Iterator[tuple[str, Any, str]]:
    pairs = _pairs(COLOURS, 2, tape)
    one, two = map(_written, pairs)
    yield "one report", COLOURS, json.dumps(one)
    yield "two reports", COLOURS, json.dumps({"reports": [one, two]})
    yield "spaces and another order", COLOURS, json.dumps({"report": one["report"], "id": one["id"]}, indent=2)
    yield "no report", COLOURS, json.dumps({"reports": []})
    yield "not JSON", COLOURS, "report"
    yield "a list", COLOURS, json.dumps([one])
    yield "an unknown field", COLOURS, json.dumps({**one, "value": "red"})
    yield "both forms at once", COLOURS, json.dumps({**one, "reports": [two]})
    yield "a field twice", COLOURS, json.dumps(one)[:-1] + f', "id": "{one["id"]}"}}'
    yield "an id in upper case", COLOURS, json.dumps({**one, "id": one["id"].upper()})
    yield "an id that is too short, beside a good one", COLOURS, json.dumps({"reports": [{**one, "id": "00"}, two]})
    yield "padding", COLOURS, json.dumps({**one, "report": one["report"] + "="})
    yield "the other base64", COLOURS, json.dumps({**one, "report": "+/+/+/A"})
    yield "unused bits", COLOURS, json.dumps({**one, "report": to_base64url(pairs[0][1])[:-1] + "B"})
    yield "a report that is too long", COLOURS, json.dumps({**one, "report": to_base64url(pairs[0][1] + b"\0")})
    yield "another survey's tag", COLOURS, json.dumps({**one, "report": to_base64url(AGES.tag + b"\0")})
    yield "a value that is too large", COLOURS, json.dumps({**one, "report": to_base64url(COLOURS.tag + b"\3")})


class _Shelf:
    """The surveys that are published here."""

    def survey(self, survey_id: str) -> SurveyRecord | None:
        for one in (COLOURS, AGES, PEOPLE, YOUNG, HIDDEN):
            if one.id == survey_id:
                return SurveyRecord(one.id, one.canonical, b"", one.title, one.kind, one.epsilon, 1, 0)
        return None

    def attachment(self, digest: str) -> bytes | None:
        return None


def _judged(about: str, survey: Any, body: bytes | str) -> dict[str, Any]:
    """A body, the survey it is sent to, and what a collector must answer."""
    intake = Intake(SurveyCache(_Shelf()), MOST)
    found: dict[str, Any] = {"about": about, "survey": survey.id}
    found |= {"body": body.hex()} if isinstance(body, bytes) else {"json": body}
    try:
        taken = (
            intake.read_batch(survey.id, body)
            if isinstance(body, bytes)
            else intake.read_json(survey.id, body.encode())
        )
    except Refusal as error:
        return {**found, "status": error.status, "code": error.code}
    accepted = 0 if taken.arrival is None else taken.arrival.n
    refused = [{"position": one.position, "code": one.code} for one in taken.refused]
    return {**found, "status": 200 if accepted else 422, "accepted": accepted, "refused": refused}


# --- what analysts get and send -----------------------------------------------------------------


def _aggregate(survey: Any, n: int, tape: Tape) -> dict[str, Any]:
    reports = [report for _, report in _pairs(survey, n, tape)]
    aggregate = survey.aggregate().add(reports)
    return {
        "survey": survey.id,
        "reports": [report.hex() for report in reports],
        "counts": aggregate.counts.tolist(),
        "bytes": aggregate_bytes.to_bytes(aggregate).hex(),
    }


def _bad_aggregates(tape: Tape) -> Iterator[tuple[str, bytes]]:
    good = bytes.fromhex(_aggregate(COLOURS, 5, tape)["bytes"])

    def sealed(body: bytes) -> bytes:
        return body + hashlib.sha256(body).digest()

    yield "empty", b""
    yield "other letters in front", sealed(b"SVB" + good[3:-32])
    yield "another version", sealed(good[:3] + b"\2" + good[4:-32])
    yield "another survey", bytes.fromhex(_aggregate(AGES, 3, tape)["bytes"])
    yield "a byte too few", good[:-1]
    yield "a byte too many", good + b"\0"
    yield "another number of counts", sealed(good[:44] + (4).to_bytes(8, "little") + good[52:-32])
    yield "a count that was changed", good[:52] + b"\x63" + good[53:]
    yield "a digest that was changed", good[:-1] + bytes([good[-1] ^ 1])


def _refused_aggregate(fault: str, data: bytes) -> dict[str, Any]:
    error = _error(fault, lambda: aggregate_bytes.from_bytes(COLOURS, data))
    return {"fault": fault, "survey": COLOURS.id, "bytes": data.hex(), "error": error}


def _token(number: int, tape: Tape) -> dict[str, str]:
    recorder = tape(f"sottovoce token {number}")
    token_id, secret = recorder(4).hex(), to_base64url(recorder(32))
    kept = hashlib.sha256(secret.encode()).hexdigest()
    return {"token": f"sv_{token_id}_{secret}", "id": token_id, "kept": kept}
